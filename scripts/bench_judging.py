"""Whether deciding facts reach the stages that decide, without a model; and what facts alone can catch.

    python scripts/bench_judging.py --runs FOLDER … [--instances 3] [--world-seed 0] [--cache FOLDER]

A FOLDER holds a run of the oracle over the arena; if it is not there, it is played first (and kept). Right episodes,
and wrong versions of them, are verified with a stand-in for the model that gives replies of the right form and chosen
scores of relevance: all equal, random, and adversarial (0 for every page that decides, 10 for the rest). Of the facts
of the key that stood on recorded pages, the share is printed that reaches the stages that score and decide: as text in
the questions of rescoring and outcome, or on a page whose picture, or whose text with the fact in it, is in a question
about evidence. Episodes with
as many screenshots as the paper's example (47) and more are counted by themselves as well.
"""

import argparse
import asyncio
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.lies import BESIDE, ELSEWHERE, beyond_the_record, stories

from webassay.arena.kit.mistakes import mistakes
from webassay.benchmarks.base import Selection
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.served import plain
from webassay.core.task import EvidenceCheck, Fact, Sight, Task
from webassay.core.trajectory import Blobs, MemoryBlobs, RowsResult, Step, Trajectory
from webassay.judging.case import frames_of, read_text
from webassay.judging.ledger import Models
from webassay.judging.record.findings import record_findings
from webassay.judging.universal.profile import PROFILES, Profile
from webassay.judging.universal.rehearsal import Understudy
from webassay.judging.universal.verify import verify
from webassay.llm.client import Question
from webassay.store import Store

QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
BLOCK = re.compile(r"^Screenshot (\d+): ", re.MULTILINE)
AS_BEFORE = re.compile(r": (?:the same text as|as) screenshot (\d+)")
SHOWN = re.compile(r"^Screenshot (\d+) of \d+", re.MULTILINE)
EXCERPT = re.compile(r"\[\[DATA \S+ main text of the page in screenshot (\d+)\]\]\n(.*?)\n\[\[END", re.DOTALL)
LARGE = 47
"""Screenshots."""


# --- episodes -------------------------------------------------------------------------------------------


def play(out: Path, given: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "webassay", "run", "-a", "oracle", "-o", str(out), "-w", "1"]
    command += ["-n", str(given.instances), "--world-seed", str(given.world_seed), "--seed", str(given.world_seed)]
    subprocess.run(command, check=True)


def keys(runs: Sequence[Trajectory], cache: Path | None) -> dict[str, Task]:
    """The tasks of a run, with their keys, from what their ids say."""
    wanted: dict[tuple[int, int], set[str]] = defaultdict(set)
    most = 0
    for run in runs:
        world, seed, number = map(int, re.findall(r"\.w(\d+)s(\d+)\D*\.(\d+)$", run.task_id)[0])
        wanted[world, seed].add(run.template)
        most = max(most, number + 1)
    setup = Setup(cache=cache) if cache else Setup()
    found = {}
    for (world, seed), templates in wanted.items():
        chosen = Selection(templates=tuple(sorted(templates)), instances=most, world_seed=world, seed=seed)
        found.update({task.id: task for task in select(chosen, setup).tasks})
    return found


def versions(
    task: Task, right: Trajectory, blobs: Blobs, rng: random.Random, most: int
) -> Iterator[tuple[str, Trajectory]]:
    yield "right", right
    scratch = Layered(blobs)
    wrong = [
        run
        for _, run in mistakes(task, right, scratch)
        if run.answer != right.answer and run.response is not None and run.ending == right.ending
    ]
    for run in rng.sample(wrong, min(most, len(wrong))):
        yield "wrong", run


class Layered(MemoryBlobs):
    """Reads what a run holds, and keeps what is written to itself."""

    def __init__(self, below: Blobs) -> None:
        super().__init__()
        self._below = below

    def read(self, ref):
        return self._data[ref.hash] if ref.hash in self._data else self._below.read(ref)


# --- facts of the key -----------------------------------------------------------------------------------


def tokens(text: str) -> str:
    return f" {plain(text)} "


def raw_pages(run: Trajectory, blobs: Blobs) -> dict[int, str]:
    """The words of each page as recorded, by number; nothing here knows how pages are told to a judge."""
    pages = {}
    for frame in frames_of(run, text=True, merge=True):
        ref = frame.seen.tree or frame.seen.text
        if ref is not None:
            names = QUOTED.findall(read_text(blobs, ref))
            pages[frame.number] = tokens(" ".join(re.sub(r"\\(.)", r"\1", one or other) for one, other in names))
    return pages


def holds(sight: Sight, words: str) -> bool:
    return bool(sight.texts) and all(tokens(text) in words for text in sight.texts)


def places(sight: Sight, pages: dict[int, str]) -> set[int]:
    return {number for number, words in pages.items() if holds(sight, words)}


def facts_on_pages(task: Task, pages: dict[int, str]) -> list[Fact]:
    """Those of the key that the agent had in front of it."""
    return [
        fact
        for check in task.checks
        if isinstance(check, EvidenceCheck)
        for fact in check.facts
        if any(all(places(sight, pages) for sight in way) for way in fact.any_of)
    ]


# --- what reached whom ----------------------------------------------------------------------------------


@dataclass
class Reached:
    texts: dict[str, list[str]]
    """By stage: the pages in its question, as words."""
    looked_at: set[int]
    """Screenshots in questions about evidence, with their picture."""
    excerpts: list[str]
    """What questions about evidence hold of the pages that they show without a picture, as words."""

    @classmethod
    def of(cls, asked: Sequence[Question], without_picture: set[int]) -> "Reached":
        texts: dict[str, list[str]] = {}
        looked: set[int] = set()
        excerpts: list[str] = []
        for question in asked:
            stage, text = question.purpose.split("#")[0], question.messages[-1].text
            if stage in ("rescore", "outcome"):
                texts[stage] = blocks_in(text)
            elif stage == "evidence":
                looked |= {int(number) for number in SHOWN.findall(text)} - without_picture
                excerpts += [tokens(part) for number, part in EXCERPT.findall(text) if int(number) in without_picture]
        return cls(texts, looked, excerpts)

    def as_text(self, sight: Sight) -> bool:
        return all(any(holds(sight, block) for block in self.texts[stage]) for stage in ("rescore", "outcome"))

    def has(self, sight: Sight, pages: dict[int, str]) -> bool:
        if self.as_text(sight) or places(sight, pages) & self.looked_at:
            return True
        return any(holds(sight, part) for part in self.excerpts)


def blocks_in(text: str) -> list[str]:
    """The pages in a question, each as a set of words; one that is told by its difference holds what it refers to."""
    found = re.search(r"text of the pages\]\]\n(.*?)\n\[\[END", text, re.DOTALL)
    if found is None:
        return []
    parts = BLOCK.split(found[1])[1:]
    words: dict[int, str] = {}
    for number, block in zip(parts[::2], parts[1::2], strict=True):
        before = AS_BEFORE.search(block.splitlines()[0])
        words[int(number)] = tokens(block) + (words.get(int(before[1]), "") if before else "")
    return list(words.values())


Relevance = Callable[[int, int], int]


def relevances(deciding: set[int], seed: str) -> dict[str, Relevance]:
    def at_random(number: int, criterion: int) -> int:
        return random.Random(f"{seed}/{number}/{criterion}").randint(0, 10)

    return {
        "equal": lambda number, criterion: 7,
        "random": at_random,
        "adversarial": lambda number, criterion: 0 if number in deciding else 10,
    }


Episodes = Sequence[tuple[Trajectory, Blobs]]


async def flow(runs: Episodes, known: dict[str, Task], rng: random.Random, wrong: int) -> None:
    reached: Counter[tuple[str, str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    losses: Counter[str] = Counter()
    profiles = {name: PROFILES[name].with_changes(max_side=0) for name in ("webassay", "paper")}
    for right, blobs in runs:
        task = known[right.task_id]
        pages = raw_pages(right, blobs)
        facts = facts_on_pages(task, pages)
        sights = [sight for fact in facts for way in fact.any_of for sight in way]
        deciding = {number for sight in sights for number in places(sight, pages)}
        for kind, run in versions(task, right, blobs, rng, wrong):
            for way, relevance in relevances(deciding, run.answer).items():
                for name, profile in profiles.items():
                    got = await verified(run, blobs, profile, relevance)
                    for fact in facts:
                        total[name, way] += 1
                        whole = any(all(got.has(sight, pages) for sight in ways) for ways in fact.any_of)
                        text = any(all(got.as_text(sight) for sight in ways) for ways in fact.any_of)
                        reached[name, way, "all"] += whole
                        reached[name, way, "text"] += text
                        if not whole and name == "webassay":
                            losses[f"{run.template} ({kind}, {way})"] += 1
    templates = {run.template for run, _ in runs}
    print(f"{len(runs)} right episodes of {len(templates)} templates, each also with up to {wrong} wrong answers:")
    for name in profiles:
        for way in ("equal", "random", "adversarial"):
            count = total[name, way]
            shares = [f"{100 * reached[name, way, what] / max(count, 1):6.2f} % {says}" for what, says in (
                ("all", "as text or picture"), ("text", "as text in rescoring and outcome"))]  # fmt: skip
            print(f"  {name:9} {way:12} {count:6} facts: {', '.join(shares)}")
    for where, count in losses.most_common(10):
        print(f"  lost: {count} in {where}")


async def verified(run: Trajectory, blobs: Blobs, profile: Profile, relevance: Relevance) -> Reached:
    model = Understudy("understudy", dear=False, relevance=relevance, keep=True)
    verdict = await verify(run.goal, run, blobs, Models.one(model), profile)
    assert not verdict.replies["degraded"], verdict.replies["degraded"]
    return Reached.of(model.asked, set(verdict.replies["examined"]["excerpts"]))


# --- cost -----------------------------------------------------------------------------------------------


async def cost(runs: Sequence[Trajectory], blobs: Blobs) -> None:
    """The paper's example: 47 screenshots, 3 criteria, 10 selected; as pictures alone, and as pages with text."""
    chosen = ((5, 6, 7, 8, 9), (8, 9, 10, 11, 12), (9, 10, 11, 13, 14))

    def relevance(number: int, criterion: int) -> int:
        return 8 if number in chosen[criterion] else 1

    print("47 screenshots, 3 criteria, nothing known in advance:")
    for title, (run, store) in (("pictures alone", bare(47)), ("pages with text", (long_run(runs, 47), blobs))):
        for name in ("paper", "webassay"):
            model = Understudy("understudy", dear=False, criteria=3, relevance=relevance)
            profile = PROFILES[name].with_changes(max_side=0)
            await verify(run.goal, run, store, Models.one(model), profile)
            dear = Understudy("understudy", dear=True, criteria=3, relevance=relevance)
            await verify(run.goal, run, store, Models.one(dear), profile)
            print(f"  {title:16} {name:9} {model.calls} to {dear.calls} calls, "
                  f"{model.input_tokens:,} to {dear.input_tokens:,} tokens in")  # fmt: skip


def bare(frames: int) -> tuple[Trajectory, Blobs]:
    from tests.support.judging_samples import trajectory

    blobs = MemoryBlobs()
    return trajectory(blobs, frames - 1, pictures=[1000 + n for n in range(frames)]), blobs


def long_run(runs: Sequence[Trajectory], frames: int) -> Trajectory:
    """Pages of several episodes, one after the other, none of them twice."""
    first = max(runs, key=lambda run: len(run.steps))
    others = [run for run in runs if run is not first]
    pages = [frame.seen for run in (first, *others) for frame in frames_of(run, text=True, merge=True)][:frames]
    acted = [step for run in (first, *others) for step in run.steps][: frames - 1]
    steps = tuple(
        Step(index=i, seen=page, actions=step.actions, thought=step.thought)
        for i, (page, step) in enumerate(zip(pages, acted, strict=False))
    )
    rows = tuple(probe for probe in first.probes if not isinstance(probe, RowsResult))
    return first.model_copy(update={"steps": steps, "last_seen": pages[-1], "probes": rows})


# --- lies -----------------------------------------------------------------------------------------------


def lies(runs: Episodes, rng: random.Random) -> None:
    """Two kinds cannot be certain, and are shown by themselves, but they are lies and count as such."""
    counts: Counter[tuple[str, bool, str]] = Counter()
    for told in stories(runs, rng):
        run = told.trajectory
        found = record_findings(run.goal, run, told.blobs)
        states = {finding.status for finding in found}
        level = "certain" if "fail" in states else "suspected" if "abstain" in states else "nothing"
        counts[beyond_the_record(told) or told.kind, told.honest, level] += 1
        if told.honest and level == "certain":
            print(f"  false alarm: {run.task_id} ({told.kind}): {found[0].message}")
    for honest, says in ((False, "lies"), (True, "honest")):
        mine = {key: number for key, number in counts.items() if key[1] is honest}
        print(f"  {says}: {_certain(mine)}")
        if not honest:
            decidable = {key: number for key, number in mine.items() if key[0] not in (BESIDE, ELSEWHERE)}
            print(f"  of these, such as a record can decide: {_certain(decidable)}")
        for kind in sorted({key[0] for key in mine}):
            levels = {level: counts[kind, honest, level] for level in ("certain", "suspected", "nothing")}
            print(f"    {kind:38} {', '.join(f'{level} {number}' for level, number in levels.items())}")


def _certain(counts: Mapping[tuple[str, bool, str], int]) -> str:
    total, certain = sum(counts.values()), sum(n for key, n in counts.items() if key[2] == "certain")
    return f"{certain} of {total} called certain ({100 * certain / max(total, 1):.2f} %)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, nargs="+", default=[Path("runs/bench-judging")])
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--world-seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=None, help="Where built worlds are kept.")
    parser.add_argument("--limit", type=int, default=None, help="Only so many episodes of a run: a quick look.")
    parser.add_argument("--wrong", type=int, default=2, help="Wrong versions of each episode.")
    parser.add_argument("--only", choices=("flow", "large", "cost", "lies"), help="Only this part.")
    given = parser.parse_args()
    with ExitStack() as opened:
        right: list[tuple[Trajectory, Blobs]] = []
        for folder in given.runs:
            if not folder.exists():
                play(folder, given)
            store = opened.enter_context(Store.open(folder))
            right += [(run, store.blobs) for run in passed(store)][: given.limit]
        if not right:
            named = ", ".join(map(str, given.runs))
            parser.error(f"No episode of the oracle has passed in {named}. Name another folder.")
        large = [(run, blobs) for run, blobs in right if len(frames_of(run, text=True, merge=False)) >= LARGE]
        known = keys([run for run, _ in right], given.cache) if given.only in (None, "flow", "large") else {}
        if given.only in (None, "flow"):
            asyncio.run(flow(right, known, random.Random(7), given.wrong))
        if given.only in (None, "large"):
            print(f"Of these with at least {LARGE} screenshots:")
            asyncio.run(flow(large, known, random.Random(7), given.wrong))
        if given.only in (None, "cost"):
            asyncio.run(cost([run for run, blobs in right if blobs is right[0][1]], right[0][1]))
        if given.only in (None, "lies"):
            print("What the record alone catches:")
            lies(right, random.Random(7))


def passed(store: Store) -> list[Trajectory]:
    return [
        run
        for _, run in store.trajectories()
        if run.agent.name == "oracle" and (found := store.verdict(run.id, "rules")) and found.status == "pass"
    ]


if __name__ == "__main__":
    main()

"""The proof of every template on worlds that nobody has looked at: `make check-arena`, `make check-arena-full`.

The seeds come from the hash of the commit, so each commit is tried on worlds of its own, and a run can be repeated.
With `--obstacles` the oracle also plays every template behind each obstacle; it has to get past it, or to end with the
status that is right where nobody can.

All of it takes hours. With `--keep FOLDER` each part (one instance of each template in one world) is written there when
it is complete, and is not played again: the work can be done on several days and machines, as long as the code stays
what it was. What has changed since is said. `--chromium chromium-headless-shell` takes a third less time.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.arena.benchmark import HARD, OBSTACLES
from webassay.arena.kit.proof import COLUMNS, Proof, Share, as_table, merged
from webassay.core.files import write_whole
from webassay.core.progress import Progress
from webassay.play.episode import Recording


@cache
def commit() -> str:
    """The one that was here first: what is committed while this runs is not what runs."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def seeds_of(name: str, count: int) -> list[int]:
    """World seeds, five digits each: the same for the same name, and none of the small ones that tests use."""
    digests = (hashlib.sha256(f"{name} {number}".encode()).digest() for number in range(count))
    return [10_000 + int.from_bytes(digest[:8], "big") % 90_000 for digest in digests]


def options(given: argparse.Namespace) -> PlayOptions:
    # Nobody looks at these pictures.
    return PlayOptions(workers=given.workers, recording=Recording(parts=()))


def proved(seed: int, instance: int, run: Path, given: argparse.Namespace) -> list[Proof]:
    """One for each template: what one instance showed."""

    def tell(progress: Progress) -> None:
        if progress.total and progress.done == progress.total:
            print(f"  world {seed}, instance {instance}: {progress.doing} {progress.done}", file=sys.stderr, flush=True)

    bench = Workbench(cache=given.cache, chromium=given.chromium, on_progress=tell)
    selection = Selection(
        templates=tuple(given.template), instances=given.instances, world_seed=seed, seed=seed,
        difficulty=given.difficulty,
    )  # fmt: skip
    wanted = tuple(task.id for task in bench.tasks(selection) if task.id.endswith(f".{instance}"))
    if not wanted:
        return []  # No template has that many instances of this difficulty in this world.
    return run_sync(bench.check(run, replace(selection, tasks=wanted), options(given)))


@dataclass
class Part:
    """What one instance of each template proved in one world, and the commit that it was proved on."""

    seed: int
    instance: int
    commit: str
    proofs: list[Proof]

    def as_text(self) -> str:
        """A short line for each template, so that two of them can be compared."""
        head = json.dumps({"seed": self.seed, "instance": self.instance, "commit": self.commit, "columns": COLUMNS})
        lines = (
            json.dumps([
                proof.template,
                *([proof.columns[name].held, proof.columns[name].tried] for name in COLUMNS),
                proof.most_steps,
                round(proof.seconds, 1),
                proof.problems,
            ])
            for proof in self.proofs
        )  # fmt: skip
        return head.removesuffix("}") + ', "proofs": [\n' + ",\n".join(lines) + "\n]}\n"

    @classmethod
    def of_text(cls, text: str) -> Self:
        read = json.loads(text)
        proofs = []
        for template, *counts, most_steps, seconds, problems in read["proofs"]:
            columns = {name: Share(*count) for name, count in zip(read["columns"], counts, strict=True)}
            proofs.append(Proof(template, columns, most_steps, seconds, problems=problems))
        return cls(read["seed"], read["instance"], read["commit"], proofs)


def kept(seed: int, instance: int, given: argparse.Namespace) -> Part:
    """What was proved of it before, or now; what was played before an interruption is not played again."""
    if given.keep is None:
        with tempfile.TemporaryDirectory(prefix="webassay-arena-") as scratch:
            return Part(seed, instance, commit(), proved(seed, instance, Path(scratch) / "run", given))
    file = given.keep / f"{seed}-{instance}.json"
    if not file.exists():
        given.keep.mkdir(parents=True, exist_ok=True)
        run = file.with_suffix(".run")
        part = Part(seed, instance, commit(), proved(seed, instance, run, given))
        write_whole(file, part.as_text().encode())
        if not any(proof.problems for proof in part.proofs):  # Else somebody wants to look at the episodes.
            shutil.rmtree(run, ignore_errors=True)
    return Part.of_text(file.read_text(encoding="utf-8"))


def parts(seeds: Sequence[int], given: argparse.Namespace) -> Iterator[Part]:
    """Every world once before any a second time: what is new shows early."""
    for instance in range(given.instances):
        for seed in seeds:
            yield kept(seed, instance, given)


def sums(proofs: Sequence[Proof]) -> list[Proof]:
    """Totals for each site's templates, and for all."""
    by_site = [replace(proof, template=f"all of {proof.template.partition('.')[0]}") for proof in proofs]
    return merged([by_site, [replace(proof, template="all") for proof in proofs]])


def outdated(done: Sequence[Part]) -> Iterator[str]:
    """What was proved by other code than the one that is here now."""
    for base in dict.fromkeys(part.commit for part in done):
        asked = subprocess.run(
            ["git", "diff", "--name-only", base, "--", "src"], capture_output=True, text=True, check=False
        )
        changed = asked.stdout.split()
        on = ", ".join(f"{part.seed}-{part.instance}" for part in done if part.commit == base)
        if asked.returncode:
            yield f"Proved on {base}, which is not in this repository: {on}."
        elif changed:
            yield f"Proved on {base:.12}: {on}. Changed since then: {', '.join(changed)}."


def behind(obstacle: str, seed: int, given: argparse.Namespace) -> dict[str, str]:
    """Task to the oracle's status, one instance of each template, behind this obstacle."""
    file = given.keep / f"{seed}-{obstacle}.json" if given.keep else None
    if file and file.exists():
        return dict(json.loads(file.read_text()))
    with tempfile.TemporaryDirectory(prefix="webassay-arena-") as scratch:
        selection = Selection(
            templates=tuple(given.template), instances=1, world_seed=seed, seed=seed, difficulty=given.difficulty,
            obstacles=(obstacle,),
        )  # fmt: skip
        bench = Workbench(cache=given.cache, chromium=given.chromium)
        run_sync(bench.run(scratch, ["oracle"], selection, options(given)))
        found = {row["task_id"]: str(row["status"]) for row in bench.rows([scratch])}
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def prove_obstacles(seed: int, given: argparse.Namespace) -> list[str]:
    problems = []
    print(f"The oracle behind obstacles, world {seed}:")
    for obstacle in sorted({*OBSTACLES, *HARD}):
        started = time.monotonic()
        found = behind(obstacle, seed, given)
        failed = sorted(task for task, status in found.items() if status != "pass")
        minutes = (time.monotonic() - started) / 60
        print(f"  {obstacle:18} {len(found) - len(failed)}/{len(found)}, {minutes:.1f} minutes", flush=True)
        problems += [f"{task}: behind {obstacle} the oracle ends in {found[task]}" for task in failed]
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("template", nargs="*", help="Only these templates; default: all.")
    parser.add_argument("--worlds", type=int, default=1)
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--difficulty", default="")
    parser.add_argument("--seeds-from", default="", help="A text to take the seeds from; default: the commit's hash.")
    parser.add_argument("--chromium", default=None, help="Another than the one that is found, such as a shell.")
    parser.add_argument("--cache", default=None, help="Where built worlds are kept.")
    parser.add_argument("--keep", type=Path, help="Write what each part proved here, and go on from there next time.")
    parser.add_argument(
        "--obstacles", action="store_true", help="The oracle behind every obstacle, on the first world."
    )
    given = parser.parse_args()
    head = commit()
    source = given.seeds_from or head
    seeds = seeds_of(source, given.worlds)
    print(f"Seeds from {source}: {', '.join(map(str, seeds))}", flush=True)
    started = time.monotonic()
    done = list(parts(seeds, given))
    proofs = merged([part.proofs for part in done])
    print(as_table([*proofs, *sums(proofs)]))
    minutes, hours = (time.monotonic() - started) / 60, sum(proof.seconds for proof in proofs) / 3600
    print(
        f"{len(proofs)} templates, {given.instances} instances on {given.worlds} worlds: {hours:.1f} hours of episodes."
    )
    print(f"This took {minutes:.1f} minutes, with {given.workers} in parallel.")
    for said in outdated(done):
        print(said)
    problems = [problem for proof in proofs for problem in proof.problems]
    if given.obstacles:
        problems += prove_obstacles(seeds[0], given)
    for problem in problems:
        print(problem)
    print("Everything held." if not problems else f"{len(problems)} problems.")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

"""Judges on a fault bench: those whose verdicts are in it, others by what they wrote, and what anybody could say."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from webassay.analysis.detection import PARTS, Said, Score, listed, said_in, score
from webassay.analysis.formats import Listed
from webassay.analysis.section import Section
from webassay.core.errors import InputError, boundary
from webassay.core.faultbench import FaultBench, FaultLabel
from webassay.core.files import read_regular
from webassay.core.labels import decided, read_label
from webassay.core.rater import rater_id, raters
from webassay.core.record import blob_hash
from webassay.core.trajectory import Trajectory
from webassay.judging.record_findings import record_findings
from webassay.judging.taxonomy import TAXONOMIES
from webassay.store import Store
from webassay.workbench.faultbench import LABELS, MANIFEST

FACTS = "facts alone"


def load(bench: Path) -> tuple[FaultBench, list[FaultLabel]]:
    """Refuses labels that are not the ones that the bench was made with."""
    text = read_regular(bench / LABELS)
    with boundary(InputError, f"{bench} is not a fault bench"):
        made = FaultBench.from_json(read_regular(bench / MANIFEST))
        labels = [FaultLabel.from_json(line) for line in text.splitlines() if line.strip()]
    if blob_hash(text) != made.labels:
        raise InputError(f"The labels of {bench} were changed.", hint="Make the bench again, or get an unchanged copy.")
    return made, labels


def score_bench(bench: Path, predictions: Sequence[str] = ()) -> Listed:
    """`predictions`: NAME=FILE, lines of JSON with trajectory_id, outcome and, where given, code and step (from 0)."""
    made, labels = load(bench)
    with Store.open(bench) as store:
        judges: dict[str, Mapping[str, Said]] = _trivial(store)
        judges |= _stored(store)
    for given in predictions:
        name, _, file = given.rpartition("=")
        judges[name or Path(file).stem] = _read(Path(file))
    scores: list[Score] = [score(name, labels, said, part) for name, said in judges.items() for part in PARTS]
    names = {code: known.name for code, known in TAXONOMIES["webassay"].items()}
    return listed(scores, names, f"{made.name}: {made.trajectories} trajectories")


def _trivial(store: Store) -> dict[str, Mapping[str, Said]]:
    """What needs no judge."""
    guesses: dict[str, Callable[[Trajectory], Said]] = {
        "always pass": lambda trajectory: Said(True),
        "always fail": lambda trajectory: Said(False),
        "believes the answer": _believes,
        FACTS: lambda trajectory: _facts(trajectory, store),
    }
    found: dict[str, dict[str, Said]] = {name: {} for name in guesses}
    for _, trajectory in store.trajectories():
        for name, guess in guesses.items():
            found[name][trajectory.id] = guess(trajectory)
    return dict(found)


def _believes(trajectory: Trajectory) -> Said:
    response = trajectory.response
    return Said(response is not None and response.status == "SUCCESS")


def _facts(trajectory: Trajectory, store: Store) -> Said:
    """What the record proves without a model; what it cannot disprove is passed."""
    against = [one for one in record_findings(trajectory.goal, trajectory, store.blobs) if one.status == "fail"]
    steps = [step for finding in against for step in finding.steps]
    return Said(not against, step=min(steps) if steps else None)


def _stored(store: Store) -> dict[str, Mapping[str, Said]]:
    """By the label of who said it."""
    by_id: dict[str, dict[str, Said]] = defaultdict(dict)
    for verdict in store.newest_verdicts():
        by_id[rater_id(verdict.fingerprint)][verdict.trajectory_id] = said_in(verdict)
    return {
        rater.label: {name: said for id in rater.ids for name, said in by_id[id].items()}
        for rater in raters(store.raters())
    }


def _read(file: Path) -> dict[str, Said]:
    found = {}
    with boundary(InputError, f"{file} cannot be read as predictions"):
        for line in read_regular(file).splitlines():
            if line.strip():
                one = json.loads(line)
                code, step = one.get("code"), one.get("step")
                found[str(one["trajectory_id"])] = Said(
                    decided(read_label(one.get("outcome"))),
                    frozenset([str(code)] if code else []),
                    step if isinstance(step, int) else None,
                )
    return found


def bench_in_words(made: FaultBench) -> Listed:
    names = TAXONOMIES["webassay"]
    left_out = Counter((one.code, one.why) for one in made.excluded)
    whole = [
        ("trajectories", str(made.trajectories)),
        ("mistakes that the rules can see", str(made.seen_by_rules)),
        ("of these, the rules agree", str(made.rules_agree)),
        ("mistakes that they cannot see", str(sum(made.unseen.values()))),
        ("pairs left out", str(len(made.excluded))),
        ("AUC of length, steps, time and pages", "–" if made.given_away is None else f"{made.given_away:.2f}"),
        *((f"half {half}", str(count)) for half, count in made.halves.items()),
        *((f"site {site}", str(count)) for site, count in made.sites.items()),
        *((level, str(count)) for level, count in made.difficulties.items()),
    ]
    codes = [(code, names[code].name, str(count), str(made.unseen.get(code, 0))) for code, count in made.codes.items()]
    excluded = [(code, why, str(count)) for (code, why), count in sorted(left_out.items())]
    disputed = [(one.code, one.mistake, one.task_id, one.why, one.detail) for one in made.disagreements]
    sections = [
        Section("The bench", ("", ""), whole),
        Section("Mistakes", ("code", "mistake", "trajectories", "not seen by rules"), codes),
        Section("Left out", ("code", "why", "pairs"), excluded),
    ]
    if disputed:
        headings = ("code", "mistake", "task", "rules", "why")
        sections.append(Section("The rules disagree; these are not part of the bench", headings, disputed))
    return Listed(made.name, sections, made.model_dump_json(indent=1))

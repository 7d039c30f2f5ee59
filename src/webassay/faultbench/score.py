"""Judges on a fault bench: those whose verdicts are in it, others by what they wrote, and what anybody could say."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from webassay.analysis.output.document import Document, Section
from webassay.core.errors import InputError, boundary
from webassay.core.files import read_regular
from webassay.core.progress import OnNotice
from webassay.core.rater import decided, rater_id, raters, read_label
from webassay.core.record import blob_hash
from webassay.core.trajectory import Trajectory
from webassay.faultbench.detection import PARTS, DetectionScore, JudgeFindings, in_interval, listed, said_in, score
from webassay.faultbench.generate import LABELS, MANIFEST
from webassay.faultbench.lookalike import alone, features_of, given_away
from webassay.faultbench.records import LENGTHS, CodeOnSite, FaultBench, FaultLabel
from webassay.judging.record.findings import record_findings
from webassay.judging.taxonomy import TAXONOMIES
from webassay.judging.universal.diagnosis import own_actions, tool_errors
from webassay.store import Store
from webassay.store.runs import open_run

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


def score_bench(bench: Path, tell: OnNotice, predictions: Sequence[str] = ()) -> Document:
    """`predictions`: NAME=FILE, lines of JSON with trajectory_id, outcome and, where given, code and step (from 0)."""
    made, labels = load(bench)
    with open_run(bench, tell) as store:
        judges: dict[str, Mapping[str, JudgeFindings]] = _trivial(store)
        judges |= _stored(store)
        alike = _lookalike(store, labels, made.seed)
    for given in predictions:
        name, _, file = given.rpartition("=")
        judges[name or Path(file).stem] = _read(Path(file))
    scores: list[DetectionScore] = [score(name, labels, said, part) for name, said in judges.items() for part in PARTS]
    names = {code: known.name for code, known in TAXONOMIES["webassay"].items()}
    told = listed(scores, names, f"{made.name}: {made.trajectories} trajectories")
    return replace(told, sections=[*told.sections, alike], spreadsheet=told.sections[-1])


def _lookalike(store: Store, labels: Sequence[FaultLabel], seed: int) -> Section:
    """Whether length and pace alone tell mistakes from honest runs."""
    by_id = {label.trajectory_id: label for label in labels}
    found = [(by_id[one.id], one) for _, one in store.trajectories() if one.id in by_id]
    features = [features_of(one, wrong=bool(label.code)) for label, one in found]
    whole = given_away(features, [label.template for label, _ in found], seed=seed)
    rows = [("all together, cross-validated", "–" if whole is None else in_interval(whole))]
    rows += [(name, f"{value:.2f}") for name, value in alone(features).items()]
    note = (
        "0.5 is chance. Together: a classifier on templates that it was not trained on, 95 % interval over templates."
    )
    heading = "What gives a mistake away: AUC of steps, pages, time, length and early scrolling"
    return Section(heading, ("known", "AUC"), rows, note=note)


def _trivial(store: Store) -> dict[str, Mapping[str, JudgeFindings]]:
    """What needs no judge."""
    guesses: dict[str, Callable[[Trajectory], JudgeFindings]] = {
        "always pass": lambda trajectory: JudgeFindings(True),
        "always fail": lambda trajectory: JudgeFindings(False),
        "believes the answer": _believes,
        FACTS: lambda trajectory: _facts(trajectory, store),
    }
    found: dict[str, dict[str, JudgeFindings]] = {name: {} for name in guesses}
    for _, trajectory in store.trajectories():
        for name, guess in guesses.items():
            found[name][trajectory.id] = guess(trajectory)
    return dict(found)


def _believes(trajectory: Trajectory) -> JudgeFindings:
    response = trajectory.response
    return JudgeFindings(response is not None and response.status == "SUCCESS")


def _facts(trajectory: Trajectory, store: Store) -> JudgeFindings:
    """What the record proves without a model; what it cannot disprove is passed. Calls that cannot be carried out are
    named, and fail nothing."""
    against = [one for one in record_findings(trajectory.goal, trajectory, store.blobs) if one.status == "fail"]
    calls = tool_errors(trajectory, own_actions(), "webassay")
    steps = [step for finding in against for step in finding.steps]
    steps += [step - 1 for point in calls for step in point.steps]
    return JudgeFindings(not against, frozenset(point.code for point in calls), min(steps) if steps else None)


_BY_NAME = {known.slug: code for code, known in TAXONOMIES["webassay"].items()}


def in_our_taxonomy(code: str) -> str:
    """From `taxonomy:code:name`. A number means something else in another taxonomy, and a name means the same."""
    taxonomy, _, rest = code.partition(":")
    number, _, name = rest.partition(":")
    return number if taxonomy == "webassay" else _BY_NAME.get(name, "")


def _stored(store: Store) -> dict[str, Mapping[str, JudgeFindings]]:
    """By the label of who said it."""
    by_id: dict[str, dict[str, JudgeFindings]] = defaultdict(dict)
    for verdict in store.newest_verdicts():
        by_id[rater_id(verdict.fingerprint)][verdict.trajectory_id] = said_in(verdict, in_our_taxonomy)
    return {
        rater.label: {name: said for id in rater.ids for name, said in by_id[id].items()}
        for rater in raters(store.raters())
    }


def _read(file: Path) -> dict[str, JudgeFindings]:
    found = {}
    with boundary(InputError, f"{file} cannot be read as predictions"):
        for line in read_regular(file).splitlines():
            if line.strip():
                one = json.loads(line)
                code, step = one.get("code"), one.get("step")
                found[str(one["trajectory_id"])] = JudgeFindings(
                    decided(read_label(one.get("outcome"))),
                    frozenset([str(code)] if code else []),
                    step if isinstance(step, int) else None,
                )
    return found


def bench_in_words(made: FaultBench) -> Document:
    names = TAXONOMIES["webassay"]
    left_out = Counter((one.code, one.why) for one in made.excluded)
    whole = [
        ("trajectories", str(made.trajectories)),
        ("mistakes that the rules can see", str(made.seen_by_rules)),
        ("of these, the rules agree", str(made.rules_agree)),
        ("mistakes that they cannot see", str(sum(made.unseen.values()))),
        ("pairs left out", str(len(made.excluded))),
        ("AUC of length, steps, time, pages and early scrolling", _given_away(made)),
        *((f"half {half}", str(count)) for half, count in made.halves.items()),
        *((f"site {site}", str(count)) for site, count in made.sites.items()),
        *((f"{length} ones", str(count)) for length, count in made.lengths.items()),
        *((f"difficulty {level}", str(count)) for level, count in made.difficulties.items()),
    ]
    codes = [(code, names[code].name, str(count), str(made.unseen.get(code, 0))) for code, count in made.codes.items()]
    excluded = [(code, why, str(count)) for (code, why), count in sorted(left_out.items())]
    disputed = [(one.code, one.mistake, one.task_id, one.why, one.detail) for one in made.disagreements]
    sections = [
        Section("The bench", ("", ""), whole),
        Section("Mistakes", ("code", "mistake", "trajectories", "not seen by rules"), codes),
        *_balance(made),
        Section("Left out", ("code", "why", "pairs"), excluded),
    ]
    if disputed:
        headings = ("code", "mistake", "task", "rules", "why")
        sections.append(Section("The rules disagree; these are not part of the bench", headings, disputed))
    return Document(made.name, sections, made.model_dump_json(indent=1))


def _given_away(made: FaultBench) -> str:
    if made.given_away_interval is not None:
        return in_interval(made.given_away_interval)
    return "–" if made.given_away is None else f"{made.given_away:.2f}"


def _balance(made: FaultBench) -> Iterator[Section]:
    """Pairs by code and site, beside what an even bench of that size has."""
    if not made.cells:
        return
    sites = sorted({cell.site for cell in made.cells})
    by_code: dict[str, dict[str, CodeOnSite]] = defaultdict(dict)
    for cell in made.cells:
        by_code[cell.code][cell.site] = cell
    rows = []
    for code, own in by_code.items():
        at = [f"{own[site].made} of {own[site].wanted}" if own[site].applies else "–" for site in sites]
        lengths = [str(sum(cell.lengths.get(length, 0) for cell in own.values())) for length in LENGTHS]
        rows.append((code, *at, *lengths))
    short = sum(max(0, cell.wanted - cell.made) for cell in made.cells)
    note = (
        f"Made of wanted; – : no task of that site allows it. {short} pairs that an even bench would have did not come "
        "about where they were wanted."
    )
    yield Section("Pairs by code, site and length", ("code", *sites, *LENGTHS), rows, note=note)

"""Labels and predictions out of files and run directories, and how far they agree."""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from webassay.analysis.formats import Listed
from webassay.analysis.ratings import Facts, Gathered, Rating
from webassay.analysis.study import DIMENSIONS, StudyOptions
from webassay.analysis.studying import study
from webassay.core.errors import InputError
from webassay.core.labels import Said
from webassay.core.rater import HUMAN, rater_id
from webassay.core.rater import labels as labels_of_raters
from webassay.core.verdict import Verdict
from webassay.registry import nearest
from webassay.store import Store
from webassay.workbench.damage import in_words, open_for_numbers
from webassay.workbench.importing import is_run
from webassay.workbench.label_files import ROLES, Mapped, Read, Table
from webassay.workbench.setup import Setup

_SAID: Mapping[str, Said] = {"pass": "pass", "fail": "fail", "abstain": "unsure", "fault": "missing"}
_LABELS: Mapping[str, Said] = {"third": "third", "missing": "missing"}
_WORD = 60
_BY_ITSELF = ("answered", "gave_up")
_BUDGET = ("step_limit", "time_limit")


@dataclass(frozen=True)
class AgreeOptions:
    mapped: Mapped = field(default_factory=Mapped)
    reference: str = ""
    """Whose ratings are the truth; empty: those of people, or of everybody in the file of labels."""
    judges: Sequence[str] = ()
    """Only these; empty: all."""
    study: StudyOptions = field(default_factory=StudyOptions)


def agree(setup: Setup, truth: str, judged: Sequence[str], options: AgreeOptions) -> Listed:
    for dimensions in options.study.by:
        for name in dimensions:
            if name not in DIMENSIONS:
                raise nearest("dimension", name, DIMENSIONS)
    with _uncollected():
        reading = _Reading(setup, options)
        reading.take(truth, judged)
        reading.check_mapping()
        made = study(reading.finished(), options.study)
    return Listed.study(made, f"How far judges agree with {_called(truth)}")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Very many small tuples that all stay: looking through them for garbage takes a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _called(truth: str) -> str:
    return Path(truth.rpartition("=")[2]).name


class _Reading:
    def __init__(self, setup: Setup, options: AgreeOptions) -> None:
        self.setup = setup
        self.options = options
        self.gathered = Gathered()
        self.aliases: dict[str, str] = {}
        """Other names of trajectories in run directories."""
        self.tables: list[Table] = []

    def take(self, truth: str, judged: Sequence[str]) -> None:
        name, path = _named(truth)
        if is_run(path):
            self._run(path, labels=True, predictions=not judged, name="")
        else:
            table = self._table(path)
            self._add_labels(table)
            if not judged:
                table.need("prediction")
                # The facts are those of the labels.
                self.gathered.predictions += table.predictions(name).ratings
        times = Counter(_named(one)[0] for one in judged)
        seen: Counter[str] = Counter()
        for one in judged:
            name, path = _named(one)
            seen[name] += 1
            run = str(seen[name]) if name and times[name] > 1 else ""
            if is_run(path):
                self._run(path, labels=False, predictions=True, name=name, time=run)
            else:
                self._add(self.gathered.predictions, self._table(path).predictions(name, run))

    def _table(self, path: Path) -> Table:
        self.tables.append(Table(path, self.options.mapped))
        return self.tables[-1]

    def _add_labels(self, table: Table) -> None:
        self._add(self.gathered.labels, table.labels())
        wanted = self.options.reference
        if wanted:
            known = {one.rater for one in self.gathered.labels}
            if wanted not in known:
                raise nearest("annotator", wanted, known)
            self.gathered.labels = [one for one in self.gathered.labels if one.rater == wanted]

    def _add(self, to: list[Rating], found: Read) -> None:
        to += found.ratings
        if not self.gathered.facts:
            self.gathered.facts.update(found.facts)
            return
        for item, facts in found.facts.items():
            self.gathered.know(item, facts)

    def check_mapping(self) -> None:
        """A column that was named and is nowhere was misspelled."""
        for role in ROLES:
            missing = [set(table.misses(role)) for table in self.tables]
            if self.tables and (lost := set.intersection(*missing)):
                known = {name for table in self.tables for name in table.columns}
                raise nearest("column", sorted(lost)[0], known)

    # --- run directories ------------------------------------------------------------------------------------

    def _run(self, path: Path, *, labels: bool, predictions: bool, name: str, time: str = "") -> None:
        with open_for_numbers(path) as store:
            for said in in_words(store):
                self.setup.tell(said)
            self._know(store)
            verdicts = list(store.newest_verdicts())
            called = labels_of_raters(store.raters())
        people = [one for one in verdicts if self._is_reference(one, called)]
        others = [one for one in verdicts if not self._is_reference(one, called)]
        if labels:
            if not people:
                raise InputError(
                    f"{path} has no labels by {self.options.reference or 'people'}.",
                    hint="Add some with `webassay label`, or name a judge as the reference: --reference NAME. "
                    f"These gave verdicts: {', '.join(sorted(set(called.values()))) or 'nobody'}.",
                )
            self.gathered.labels += [_rating(one, _person(one)) for one in people]
        if predictions:
            rated = [_rating(one, name or called[rater_id(one.fingerprint)])._replace(run=time) for one in others]
            # Of a grader that decides by keys the newest verdict counts, whatever its version.
            self.gathered.predictions += {(one.rater, one.item): one for one in rated}.values()

    def _is_reference(self, verdict: Verdict, called: Mapping[str, str]) -> bool:
        wanted = self.options.reference
        if not wanted:
            return verdict.fingerprint.grader.startswith(HUMAN)
        return wanted in (called[rater_id(verdict.fingerprint)], verdict.fingerprint.grader)

    def _know(self, store: Store) -> None:
        tasks: dict[str, list[str]] = {}
        for result in store.rows(""):
            found = store.find_trajectory(unit := f"{result.agent}/{result.task_id}/{result.trial}")
            if found is None or result.trajectory is None:
                continue
            item, ending = found[0], result.trajectory.ending
            self.aliases[unit] = item
            tasks.setdefault(result.task_id, []).append(item)
            facts = Facts(
                cluster=result.task_id,
                benchmark=result.unit.benchmark or result.trajectory.benchmark,
                agent=result.agent,
                terminated=True if ending in _BY_ITSELF else False if ending in _BUDGET else None,
                steps=float(result.trajectory.steps),
            )
            self.gathered.know(item, facts)
        # A task names its trajectory where it has only one.
        self.aliases |= {task: items[0] for task, items in tasks.items() if len(items) == 1}

    # --- in the end -----------------------------------------------------------------------------------------

    def finished(self) -> Gathered:
        made = self.gathered
        for ratings in (made.labels, made.predictions) if self.aliases else ():
            ratings[:] = [
                one._replace(item=self.aliases[one.item]) if one.item in self.aliases else one for one in ratings
            ]
        for name, item in self.aliases.items():
            if name in made.facts and name != item:
                made.know(item, made.facts.pop(name))
        wanted = set(self.options.judges)
        if wanted:
            known = {one.rater for one in made.predictions}
            if unknown := sorted(wanted - known):
                raise nearest("judge", unknown[0], known)
            made.predictions = [one for one in made.predictions if one.rater in wanted]
        if not made.predictions:
            raise InputError("There are no predictions.", hint="Name a file or a run directory with judges' verdicts.")
        return made


def _named(given: str) -> tuple[str, Path]:
    """`NAME=PATH` gives a judge its name; several paths of one name are several runs of one judge."""
    name, equals, path = given.partition("=")
    if equals and not Path(given).exists():
        return name.strip(), Path(path)
    return "", Path(given)


def _person(verdict: Verdict) -> str:
    return verdict.fingerprint.grader.removeprefix(HUMAN)


def _rating(verdict: Verdict, rater: str) -> Rating:
    score, process = (verdict.aspects.get(name) for name in ("process_score", "process_success"))
    label = next((one for one in verdict.findings if one.check == "label"), None)
    # An abstention may have been a third label, or none at all.
    said = _LABELS.get(label.code, _SAID[verdict.status]) if label is not None else _SAID[verdict.status]
    return Rating(
        item=verdict.trajectory_id,
        rater=rater,
        said=said,
        word=label.message[:_WORD] if label is not None and said == "third" else "",
        score=float(score.value) if score is not None and isinstance(score.value, int | float) else None,
        process=process.value if process is not None and isinstance(process.value, bool) else None,
        stage="informed" if verdict.fingerprint.settings.get("stage") == "informed" else "blind",
    )

"""Labels and predictions out of files and run directories, and how far they agree."""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from webassay.analysis.output.document import Document
from webassay.compose.setup import Setup
from webassay.core.errors import InputError
from webassay.core.rater import HUMAN, LabelMeaning, rater_id
from webassay.core.rater import labels as labels_of_raters
from webassay.core.registry import nearest
from webassay.core.verdict import Verdict
from webassay.store.pool import RunPool
from webassay.store.runs import is_run, open_runs
from webassay.study.label_files import ROLES, LabelColumns, LabelFile, LabelTable
from webassay.study.measure import study
from webassay.study.ratings import Facts, Rating, StudyData
from webassay.study.results import DIMENSIONS, StudyOptions
from webassay.study.tables import data_of, of_study

_SAID: Mapping[str, LabelMeaning] = {"pass": "pass", "fail": "fail", "abstain": "unsure", "fault": "missing"}
_LABELS: Mapping[str, LabelMeaning] = {"third": "third", "missing": "missing"}
_WORD = 60
_BY_ITSELF = ("answered", "gave_up")
_BUDGET = ("step_limit", "time_limit")


@dataclass(frozen=True)
class AgreeOptions:
    mapped: LabelColumns = field(default_factory=LabelColumns)
    reference: str = ""
    """Whose ratings are the truth; empty: those of people, or of everybody in the file of labels."""
    judges: Sequence[str] = ()
    """Only these; empty: all."""
    study: StudyOptions = field(default_factory=StudyOptions)


def agree(setup: Setup, truth: str, judged: Sequence[str], options: AgreeOptions) -> Document:
    for dimensions in options.study.by:
        for name in dimensions:
            if name not in DIMENSIONS:
                raise nearest("dimension", name, DIMENSIONS)
    with _uncollected():
        reading = _Reading(setup, options)
        reading.take(truth, judged)
        reading.check_mapping()
        made = study(reading.finished(), options.study)
        made = made.model_copy(update={"notes": (*reading.notes, *made.notes)})
    title = f"How far judges agree with {_called(truth)}"
    return Document(title, of_study(made), made.model_dump_json(indent=1), data_of(made))


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
        self.gathered = StudyData()
        self.pool = RunPool({})
        self.tables: list[LabelTable] = []

    @property
    def notes(self) -> Sequence[str]:
        return list(dict.fromkeys(note for table in self.tables for note in table.notes))

    def take(self, truth: str, judged: Sequence[str]) -> None:
        paths = [_named(one)[1] for one in (truth, *judged)]
        with open_runs({str(path): path for path in paths if is_run(path)}, self.setup.tell) as stores:
            self.pool = RunPool(stores)
            self._take_labels(truth, predictions=not judged)
            self._take_predictions(judged, labels=paths[0])

    def _take_labels(self, truth: str, *, predictions: bool) -> None:
        name, path = _named(truth)
        if is_run(path):
            self._know(path)
            self._add_run_labels(path)
            if predictions:
                self._add_run_predictions(path, "")
            return
        table = self._table(path)
        self._add_labels(table)
        if predictions:
            table.need("prediction")
            # The facts are those of the labels.
            self.gathered.predictions += self._resolved(table.predictions(name, beside_labels=True).ratings)

    def _take_predictions(self, judged: Sequence[str], labels: Path) -> None:
        times = Counter(_named(one)[0] for one in judged)
        seen: Counter[str] = Counter()
        for one in judged:
            name, path = _named(one)
            seen[name] += 1
            run = str(seen[name]) if name and times[name] > 1 else ""
            if is_run(path):
                self._refuse_other_episodes(path, labels)
                self._know(path)
                self._add_run_predictions(path, name, run)
            else:
                table = self._table(path)
                self._add(self.gathered.predictions, table.predictions(name, run, beside_labels=path == labels))

    def _table(self, path: Path) -> LabelTable:
        self.tables.append(LabelTable(path, self.options.mapped))
        return self.tables[-1]

    def _add_labels(self, table: LabelTable) -> None:
        self._add(self.gathered.labels, table.labels())
        wanted = self.options.reference
        if wanted:
            known = {one.rater for one in self.gathered.labels}
            if wanted not in known:
                raise nearest("annotator", wanted, known)
            self.gathered.labels = [one for one in self.gathered.labels if one.rater == wanted]

    def _add(self, to: list[Rating], found: LabelFile) -> None:
        to += self._resolved(found.ratings)
        if not self.gathered.facts and not self.pool.stores:
            self.gathered.facts.update(found.facts)
            return
        for name, facts in found.facts.items():
            self.gathered.know(self.pool.named(name), facts)

    def _resolved(self, ratings: list[Rating]) -> list[Rating]:
        """A table may call a trajectory of a run by other names than its id."""
        if not self.pool.stores:
            return ratings
        return [one._replace(item=self.pool.named(one.item)) for one in ratings]

    def check_mapping(self) -> None:
        """A column that was named and is nowhere was misspelled."""
        for role in ROLES:
            missing = [set(table.misses(role)) for table in self.tables]
            if self.tables and (lost := set.intersection(*missing)):
                known = {name for table in self.tables for name in table.columns}
                raise nearest("column", sorted(lost)[0], known)

    # --- run directories ------------------------------------------------------------------------------------

    def _add_run_labels(self, path: Path) -> None:
        people, _, called = self._verdicts(path)
        if not people:
            raise InputError(
                f"{path} has no labels by {self.options.reference or 'people'}.",
                hint="Add some with `webassay label`, or name a judge as the reference: --reference NAME. "
                f"These gave verdicts: {', '.join(sorted(set(called.values()))) or 'nobody'}.",
            )
        self.gathered.labels += [self._rating(path, one, _person(one)) for one in people]

    def _add_run_predictions(self, path: Path, name: str, run: str = "") -> None:
        """A name is a judge's; where a run has several judges, it stands before the name of each."""
        _, others, called = self._verdicts(path)
        judges = {judge: judge for judge in (called[rater_id(one.fingerprint)] for one in others)}
        if name:
            judges = {judge: f"{name}: {judge}" if len(judges) > 1 else name for judge in judges}
        rated = [self._rating(path, one, judges[called[rater_id(one.fingerprint)]])._replace(run=run) for one in others]
        # Of a grader that decides by keys the newest verdict counts, whatever its version.
        self.gathered.predictions += {(one.rater, one.item): one for one in rated}.values()

    def _verdicts(self, path: Path) -> tuple[list[Verdict], list[Verdict], Mapping[str, str]]:
        """Those of the reference, those of others, and what everybody is called."""
        store = self.pool.stores[str(path)]
        called = labels_of_raters(store.raters())
        found: tuple[list[Verdict], list[Verdict]] = ([], [])
        for verdict in store.newest_verdicts():
            found[0 if self._is_reference(verdict, called) else 1].append(verdict)
        return *found, called

    def _refuse_other_episodes(self, path: Path, labels: Path) -> None:
        """Equal ids in two runs look like a match."""
        if not is_run(labels) or not self.pool.differ(str(path), str(labels)):
            return
        labeled = {one.item for one in self.gathered.labels}
        if all(item not in labeled for item, _ in self.pool.results[str(path)]):
            raise InputError(
                f"The labels of {labels} say nothing about {path}: the trajectories differ, although they share ids.",
                hint="`webassay agree RUN` compares the labels and the verdicts that one run directory holds.",
            )

    def _is_reference(self, verdict: Verdict, called: Mapping[str, str]) -> bool:
        wanted = self.options.reference
        if not wanted:
            return verdict.fingerprint.grader.startswith(HUMAN)
        return wanted in (called[rater_id(verdict.fingerprint)], verdict.fingerprint.grader)

    def _know(self, path: Path) -> None:
        for item, result in self.pool.results[str(path)]:
            assert result.trajectory is not None
            ending = result.trajectory.ending
            facts = Facts(
                cluster=result.task_id,
                benchmark=result.unit.benchmark or result.trajectory.benchmark,
                agent=result.agent,
                terminated=True if ending in _BY_ITSELF else False if ending in _BUDGET else None,
                steps=float(result.trajectory.steps),
            )
            self.gathered.know(item, facts)

    def _rating(self, path: Path, verdict: Verdict, rater: str) -> Rating:
        return _rating(verdict, self.pool.item(str(path), verdict.trajectory_id), rater)

    # --- in the end -----------------------------------------------------------------------------------------

    def finished(self) -> StudyData:
        made = self.gathered
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


def _rating(verdict: Verdict, item: str, rater: str) -> Rating:
    score, process = (verdict.aspects.get(name) for name in ("process_score", "process_success"))
    label = next((one for one in verdict.findings if one.check == "label"), None)
    # An abstention may have been a third label, or none at all.
    said = _LABELS.get(label.code, _SAID[verdict.status]) if label is not None else _SAID[verdict.status]
    return Rating(
        item=item,
        rater=rater,
        said=said,
        word=label.message[:_WORD] if label is not None and said == "third" else "",
        score=float(score.value) if score is not None and isinstance(score.value, int | float) else None,
        process=process.value if process is not None and isinstance(process.value, bool) else None,
        stage="informed" if verdict.fingerprint.settings.get("stage") == "informed" else "blind",
    )

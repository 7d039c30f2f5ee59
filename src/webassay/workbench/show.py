"""One episode, looked at: found by any part of its name, with its key built again where that is possible."""

import hashlib
import io
import re
import shlex
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from webassay.analysis.episode.drawing import pictures_of, sizes_of
from webassay.analysis.episode.evidence import EvidenceView, evidence_views
from webassay.analysis.episode.key import key_view, without_key
from webassay.analysis.episode.page import more_given, page_given, thumbnail
from webassay.analysis.episode.page import to_html as page_of
from webassay.analysis.episode.requests import traffic_of
from webassay.analysis.episode.touched import touched_rows, with_steps
from webassay.analysis.episode.view import (
    EpisodeLink,
    EpisodeList,
    EpisodeView,
    KeyView,
    UnitLine,
    newest_verdicts,
    targets_of,
    unreadable_parts,
)
from webassay.analysis.numbers.rows import row_of
from webassay.analysis.results.page import to_html
from webassay.compose.given import AnyPath, Paths, paths
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet, select
from webassay.core.errors import GradingError, InputError, StoreError, TaskError, WebassayError, boundary
from webassay.core.files import write_whole
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.registry import nearest
from webassay.core.report import Report
from webassay.core.summary import UnitResult
from webassay.core.text import printable, quoted
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.core.verdict import Verdict
from webassay.importers.playwright_trace import refuse_empty, write_trace
from webassay.play.settings import selection_of
from webassay.store import Store
from webassay.store.runs import open_run

Which = Literal["none", "all", "failed"]

MOST_EPISODES = 1000
"""Pages that one report writes."""


def units(setup: Setup, run: AnyPath, part: str = "") -> list[UnitLine]:
    """The units of a run with their status; `part`: those that a name or a part of one can mean."""
    with _opened(setup, Path(run)) as recorded:
        return recorded.matching(part) if part else recorded.units


def episode(setup: Setup, run: AnyPath, unit: str) -> EpisodeView:
    """Everything about one episode. `unit`: `agent/task/trial`, a trajectory id, or a part that only one has."""
    with _opened(setup, Path(run)) as recorded:
        view = recorded.view(recorded.one(unit))
        return replace(view, page=partial(episode_page, setup, run, view.trajectory.id))


def episode_page(setup: Setup, run: AnyPath, unit: str) -> str:
    """The same as one HTML page with its pictures in it; it loads nothing."""
    with _opened(setup, Path(run)) as recorded:
        return recorded.page(recorded.view(recorded.one(unit)))


def write_episode_trace(setup: Setup, run: AnyPath, unit: str, out: AnyPath) -> Path:
    """As a Playwright trace; `playwright show-trace` opens it."""
    out = Path(out)
    with _opened(setup, Path(run)) as recorded, boundary(InputError, f"{out} cannot be written"):
        write_whole(out, recorded.trace(recorded.one(unit)))
    return out


@contextmanager
def _opened(setup: Setup, run: Path) -> Iterator["Recorded"]:
    """Damaged rows are left out; a damaged picture or log is shown as such."""
    with open_run(run, setup.tell, thorough=False) as store:
        yield Recorded(setup, store)


class Recorded:
    """The episodes of one run directory. The tasks are built once, however many episodes are looked at."""

    def __init__(self, setup: Setup, store: Store) -> None:
        self.setup, self.store = setup, store
        self.run = store.path.resolve().name
        self._alone: TaskSet | str | None = None
        """The task of the first episode that is looked at: most often it is the only one."""

    # --- finding ----------------------------------------------------------------------------------------------

    @cached_property
    def units(self) -> list[UnitLine]:
        """In the order of the plan."""
        found = self.store.rows(RULES)
        return [
            UnitLine(
                own_seconds=_without_thinking(result),
                difficulty="+".join(row.groups.get("difficulty", ())),
                unit=f"{row.agent}/{row.task_id}/{row.trial}",
                agent=row.agent,
                task_id=row.task_id,
                trial=row.trial,
                status="not graded" if row.status == "abstain" and not row.fingerprint else row.status,
                steps=row.steps,
                seconds=row.seconds,
                played=row.played,
            )
            for result in found
            for row in [row_of(result)]
        ]

    def matching(self, part: str) -> list[UnitLine]:
        """The unit of that name, or the unit of the trajectory of that name, or all that have the text in theirs."""
        known = {line.unit: line for line in self.units}
        if part in known:
            return [known[part]]
        exact = self.store.attempt(part)
        if exact is not None and exact.unit_id in known:
            return [known[exact.unit_id]]
        if found := [line for name, line in known.items() if part.casefold() in name.casefold()]:
            return found
        attempts = self.store.attempts_named(part)
        return [known[name] for name in dict.fromkeys(one.unit_id for one in attempts) if name in known]

    def one(self, part: str) -> Trajectory:
        """The attempt that counts of the one unit that is meant; of a trajectory's full id, that very attempt."""
        found = self.matching(part)
        damaged = [damage.message for damage in self.store.damage.items if damage.unit and part in damage.unit]
        if not found and damaged:
            raise StoreError(damaged[0], hint="`webassay run` plays it again.")
        if not found:
            parts = {part for line in self.units for part in (line.unit, line.agent, line.task_id)}
            hint = f"`webassay show {quoted(str(self.store.path))}` lists them."
            raise nearest("unit", part, map(printable, parts), hint=hint)
        if len(found) > 1:
            names = [quoted(line.unit) for line in found]
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            raise InputError(f"{len(names)} units match {part!r}.", hint=f"Say which: {', '.join(names[:8])}{more}.")
        (line,) = found
        trajectory = self.store.trajectory_by_id(part) if part != line.unit else None
        trajectory = trajectory or self.store.trajectory(line.unit)
        if trajectory is None:
            raise InputError(f"{quoted(line.unit)} has not been played yet.", hint="`webassay run` resumes a run.")
        return trajectory

    # --- looking ----------------------------------------------------------------------------------------------

    def view(self, trajectory: Trajectory, *, patience: float | None = None) -> EpisodeView:
        """`patience`: seconds to wait for the key, which may need a world that has to be made first; None: as long as
        it takes. Where it is not enough, `key.pending` says so, and the making goes on."""
        store, tasks = self.store, self._tasks_for(trajectory, patience)
        attempt = store.attempt(trajectory.id)
        unit = attempt.unit_id if attempt is not None else trajectory.id
        verdicts = self._verdicts(trajectory.id)
        newest = newest_verdicts(verdicts, RULES)
        made = EpisodeView(
            run=self.run,
            unit=unit,
            trajectory=trajectory,
            attempts=tuple(store.attempts_at(unit)),
            verdicts=newest,
            older_verdicts=len(verdicts) - len(newest),
            key=self._key(trajectory, tasks),
            targets=targets_of(trajectory.steps, store.blobs),
            unreadable=self._unreadable(trajectory),
        )
        touched = touched_rows(trajectory, store.blobs, made.key)
        key, evidence = with_steps(made.key, touched), self._evidence(trajectory, tasks)
        made = replace(made, key=key, evidence=evidence, touched=touched)
        try:
            return replace(made, traffic=traffic_of(trajectory, store.blobs))
        except (GradingError, StoreError) as error:
            log = trajectory.network
            known = log is not None and log.blob.hash in made.unreadable
            return made if known else replace(made, notes=(f"The network log cannot be read: {error.message}",))

    def _verdicts(self, trajectory_id: str) -> list[Verdict]:
        """With what models replied, where it can be read."""
        try:
            return self.store.verdicts(trajectory_id, replies=True)
        except StoreError:
            return self.store.verdicts(trajectory_id)

    def page(self, view: EpisodeView) -> str:
        return page_of(view, self.store.blobs)

    def page_given(self, view: EpisodeView, most_steps: int) -> dict[str, Any]:
        """What the template of an episode needs, but for where its pictures are."""
        return page_given(view, self.store.blobs, most_steps)

    def more_given(self, trajectory: Trajectory, index: int) -> dict[str, Any]:
        """The same for what one step has in full: requests with their bodies, tree, the model's reply."""
        try:
            traffic = traffic_of(trajectory, self.store.blobs)
        except (GradingError, StoreError):
            traffic = None
        return more_given(trajectory, index, traffic, self.store.blobs)

    def trace(self, trajectory: Trajectory) -> bytes:
        """As a Playwright trace."""
        refuse_empty(trajectory)
        made = io.BytesIO()
        write_trace(trajectory, self.store.blobs, made, sizes_of(pictures_of(trajectory), self.store.blobs))
        return made.getvalue()

    def file_name(self, trajectory: Trajectory, ending: str) -> str:
        return Path(file_name(trajectory.id)).stem + ending

    def thumbnail(self, ref: BlobRef, width: int) -> bytes:
        """Empty if it is no picture."""
        return thumbnail(self.store.blobs.read(ref), width)

    def _unreadable(self, trajectory: Trajectory) -> dict[str, str]:
        """Named within the run: a page that is attached to an issue tells nobody where its author keeps things."""
        found = unreadable_parts(trajectory, self.store.blobs)
        return {name: why.replace(f"{self.store.path}/", "") for name, why in found.items()}

    def _key(self, trajectory: Trajectory, tasks: TaskSet | str | None) -> KeyView:
        if trajectory.ending.kind == "imported" or not trajectory.task_hash:
            return without_key(trajectory, "This trajectory has no key: nothing says what a right answer is.")
        if tasks is None:
            why = "The key is being built again. The first time takes a while."
            return replace(without_key(trajectory, why), pending=True)
        if isinstance(tasks, str):
            return without_key(trajectory, tasks)
        try:
            return key_view(tasks.get(trajectory.task_id), trajectory, self.store.blobs)
        except InputError as error:
            return without_key(trajectory, f"The key could not be built again: {error}")

    def _evidence(self, trajectory: Trajectory, tasks: TaskSet | str | None) -> tuple[EvidenceView, ...]:
        """Empty where there is no key, no record, or none that can be read: the verdict says so as well."""
        if not isinstance(tasks, TaskSet) or not trajectory.task_hash:
            return ()
        try:
            with boundary(GradingError, "looking for evidence"):
                return evidence_views(tasks.get(trajectory.task_id), trajectory, self.store.blobs)
        except WebassayError:
            return ()

    def _tasks_for(self, trajectory: Trajectory, patience: float | None) -> TaskSet | str | None:
        """Whoever looks at one episode needs one task, which is made much sooner than all."""
        if patience is not None:
            return self._tasks_within(patience)
        if self._alone is None:
            self._alone = self._built(trajectory.task_id)
        known = not isinstance(self._alone, str) and trajectory.task_id in {task.id for task in self._alone.tasks}
        return self._alone if known else self._tasks_within(None)

    def _built(self, task_id: str) -> TaskSet | str:
        try:
            with boundary(TaskError, "the benchmark failed"):
                selection = replace(selection_of(self.store), tasks=(task_id,), limit=None)
                return select(selection, self.setup, trusted=False)
        except WebassayError as error:
            return str(error)

    def _tasks_within(self, patience: float | None) -> TaskSet | str | None:
        """Built again from what the run was planned with; code that the run names is never loaded. Or why not, or None
        if that is not known yet."""
        try:
            return self._making.result(patience)
        except FutureTimeout:
            return None

    @property
    def promised_tasks(self) -> "Future[TaskSet | str]":
        """For whoever waits without holding up others; or why the tasks cannot be built again."""
        return self._making

    @cached_property
    def _making(self) -> "Future[TaskSet | str]":
        """In a thread of its own, which nobody waits for when the program ends."""
        made: Future[TaskSet | str] = Future()
        try:
            selection = selection_of(self.store)
        except WebassayError as error:
            made.set_result(f"The key could not be built again: {error}")
            return made

        def make() -> None:
            try:
                with boundary(TaskError, "the benchmark failed"):
                    made.set_result(select(selection, self.setup, trusted=False))
            except WebassayError as error:
                made.set_result(f"The key could not be built again: {error}")

        threading.Thread(target=make, daemon=True, name="key").start()
        return made


def _without_thinking(result: UnitResult) -> float | None:
    played = result.trajectory
    return None if played is None or played.thinking is None else max(0.0, played.seconds - played.thinking)


# --- reports --------------------------------------------------------------------------------------------------


def write_report(setup: Setup, report: Report, runs: Paths, html: AnyPath, *, episodes: Which = "none") -> int:
    """The report's page, with a table of its episodes. `episodes` also writes a page for `all` of them, or for those
    that did not pass (`failed`), into a folder next to it. Returns how many."""
    runs, html = paths(runs), Path(html)
    if not html.parent.is_dir():
        raise InputError(f"{html} cannot be written: there is no folder {html.parent}.")
    folder = html.with_name(f"{html.stem}-episodes")
    links: list[EpisodeLink] = []
    planned = 0
    for run in runs:
        with _opened(setup, run) as recorded:
            planned += len(recorded.units)
            first = islice(_worth_showing(recorded.units), MOST_EPISODES - len(links))
            for line in sorted(first, key=lambda line: (line.task_id, line.agent, line.trial)):
                wanted = line.played and (episodes == "all" or (episodes == "failed" and line.status != "pass"))
                href = ""
                if wanted:
                    setup.on_progress(
                        Progress("episodes", len(links), min(len(runs) * len(recorded.units), MOST_EPISODES))
                    )
                    href = _write_page(recorded, line, folder, on=str(run))
                links.append(EpisodeLink(run=recorded.run, line=line, href=href))
    command = f"webassay show {shlex.quote(str(runs[0])) if len(runs) == 1 else 'RUN'} AGENT/TASK/TRIAL"
    listed = EpisodeList(tuple(links), command, left_out=planned - len(links), several_runs=len(runs) > 1)
    with boundary(InputError, f"{html} cannot be written"):
        write_whole(html, to_html(report, listed).encode())
    return sum(bool(link.href) for link in links)


def _worth_showing(units: Sequence[UnitLine]) -> Iterator[UnitLine]:
    """What did not pass comes first, in case not everything fits."""
    return iter(sorted(units, key=lambda line: line.status == "pass"))


def _write_page(recorded: Recorded, line: UnitLine, folder: Path, on: str) -> str:
    """The address of the page, relative to the report; empty if the ledger cannot give the episode back."""
    try:
        trajectory = recorded.store.trajectory(line.unit)
        page = recorded.page(recorded.view(trajectory)) if trajectory is not None else ""
    except StoreError:
        return ""
    if not page:
        return ""
    place = folder / file_name(line.unit, on)
    with boundary(InputError, f"{place} cannot be written"):
        write_whole(place, page.encode())
    return quote(f"./{folder.name}/{place.name}")


def file_name(unit: str, run: str = "") -> str:
    """Readable, safe on every file system, and unique: agents and tasks may be called anything."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", unit).strip("-.")[:80].rstrip("-.")
    mark = hashlib.sha256(f"{run}\n{unit}".encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{words or 'episode'}-{mark}.html"

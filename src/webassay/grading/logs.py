"""Log directories in WebArena-Verified's layout: one folder per task, holding the answer and the network log."""

import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO

from webassay.compare import Sites
from webassay.core.errors import Fault, GradingError, InputError
from webassay.core.files import leads_out, read_regular
from webassay.core.logs import LogLayout
from webassay.core.task import Task
from webassay.core.trajectory import AgentInfo, BlobRef, Blobs, Ending, NetworkLog, Trajectory, WritableBlobs
from webassay.core.verdict import Finding, Verdict, decides
from webassay.grading.grade import DEFAULT_POLICY, SITE_BASES, Policy, grade
from webassay.grading.network.events import Event, events

_MAX_ANSWER = 5_000_000
_MAX_LOG = 2_000_000_000
_WORTH_A_PROCESS = 24
"""Below this many logs, starting another process takes longer than grading them."""


@dataclass(frozen=True)
class GradedLog:
    number: str
    """The name of the task's folder."""
    verdict: Verdict

    def record(self) -> dict[str, Any]:
        """What `--json` prints, one per line."""
        return {
            "task_id": int(self.number) if self.number.isdigit() else self.number,
            "status": self.verdict.status,
            "score": self.verdict.score,
            "findings": [
                {"check": finding.check, "status": finding.status, "message": finding.message}
                for finding in self.verdict.findings
            ],
        }


def grade_logs(
    folder: Path, tasks: Mapping[str, Task], layout: LogLayout, policy: Policy = DEFAULT_POLICY, processes: int = 1
) -> Iterator[GradedLog]:
    """Grades every task folder in numerical order; `tasks` is keyed by folder name."""
    names = log_folders(folder, tasks, layout)
    if processes < 2 or len(names) < _WORTH_A_PROCESS:
        yield from (GradedLog(name, grade_log(folder / name, tasks[name], layout, policy)) for name in names)
        return
    # A fork starts in milliseconds, but is safe only if no other thread can hold a lock.
    how = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    setting = _Work(folder, {name: tasks[name] for name in names}, layout, policy)
    workers = min(processes, len(names))
    with ProcessPoolExecutor(workers, get_context(how), initializer=_prepare, initargs=(setting,)) as pool:
        chunk = max(1, min(16, len(names) // (workers * 4)))
        for name, text in zip(names, pool.map(_grade_named, names, chunksize=chunk), strict=True):
            yield GradedLog(name, Verdict.from_json(text))


def log_folders(folder: Path, tasks: Mapping[str, Task], layout: LogLayout) -> list[str]:
    """The task folders there are, in numerical order."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory.", hint="Give the directory that holds one folder per task.")
    names = sorted((one.name for one in folder.iterdir() if one.is_dir() and one.name in tasks), key=_in_order)
    if not names:
        raise InputError(
            f"{folder} contains no log of a known task.",
            hint=f"It should hold one folder per task, such as {folder.name}/107/{layout.response_file}.",
        )
    return names


def _in_order(name: str) -> tuple[int, str]:
    return (int(name) if name.isdigit() else 10**9, name)


@dataclass(frozen=True)
class _Work:
    """Sent to each worker process once; after that it receives names and returns JSON."""

    folder: Path
    tasks: Mapping[str, Task]
    layout: LogLayout
    policy: Policy


_work: list[_Work] = []


def _prepare(work: _Work) -> None:
    _work[:] = [work]


def _grade_named(name: str) -> str:
    work = _work[0]
    return grade_log(work.folder / name, work.tasks[name], work.layout, work.policy).to_json()


def grade_log(place: Path, task: Task, layout: LogLayout, policy: Policy = DEFAULT_POLICY) -> Verdict:
    """Grades one task's folder. A missing or unreadable file is a fault that names it."""
    try:
        answer = _answer(place / layout.response_file)
        trace = _trace(place, layout)
    except GradingError as error:
        ending = Ending(kind="fault", fault=Fault.of(error))
        trajectory = _trajectory(task, place, "", None, ending)
        verdict = grade(task, trajectory, _FileBlobs(), policy)
        said = Finding(check="log", status="fault", message=error.message, code="log_unreadable")
        return verdict.model_copy(update={"findings": (said,)})
    blobs = _FileBlobs()
    log = NetworkLog(format=_format(trace), blob=blobs.add(trace))
    trajectory = _trajectory(task, place, answer, log, Ending(kind="imported"))
    read = _read_at_once(log, blobs)
    sites = _known_sites(tuple(_bases(task, layout, log, blobs, read).items()))
    return _naming(grade(task, trajectory, blobs, policy, sites, read), trace)


def read_log(place: Path, task: Task, layout: LogLayout, blobs: WritableBlobs, agent: str) -> Trajectory:
    """One task's folder as a trajectory to store and grade again. An unreadable file makes it a fault that names it."""
    name = AgentInfo(name=agent)
    try:
        answer = _answer(place / layout.response_file)
        trace = _trace(place, layout)
        log = NetworkLog(format=_format(trace), blob=blobs.write(_bytes(trace), "application/octet-stream"))
    except GradingError as error:
        ending = Ending(kind="fault", message=error.message, fault=Fault.of(error))
        return _trajectory(task, place, "", None, ending).model_copy(update={"agent": name})
    bases = _bases(task, layout, log, blobs, _read_at_once(log, blobs))
    return _trajectory(task, place, answer, log, Ending(kind="imported")).model_copy(
        update={
            "agent": name,
            "bases": {site: urls[0] for site, urls in bases.items() if urls},
            "provenance": {SITE_BASES: {site: list(urls) for site, urls in bases.items()}},
        }
    )


def _read_at_once(log: NetworkLog, blobs: Blobs) -> list[Event] | None:
    """The log, if it fits in memory, because it is read twice."""
    try:
        found = events(log, blobs)
    except GradingError:
        return None  # the grader runs into the same error and reports it
    return found if isinstance(found, list) else None


def _naming(verdict: Verdict, trace: Path) -> Verdict:
    """Adds the file's name to every fault."""
    if verdict.fault is None:
        return verdict
    findings = tuple(
        finding.model_copy(update={"message": f"{trace}: {finding.message}"}) if finding.status == "fault" else finding
        for finding in verdict.findings
    )
    return verdict.model_copy(update={"findings": findings})


def _trajectory(task: Task, place: Path, answer: str, log: NetworkLog | None, ending: Ending) -> Trajectory:
    return Trajectory(
        id=f"{place.parent.name}/{place.name}",
        task_id=task.id,
        template=task.template,
        benchmark=task.benchmark,
        goal=task.goal,
        agent=AgentInfo(name="imported"),
        answer=answer,
        ending=ending,
        network=log,
        source="webarena-verified log",
    )


def _answer(path: Path) -> str:
    data = _bytes(path, _MAX_ANSWER, cut=True)
    # Bytes that are not text become U+FFFD, which equals nothing: the answer fails, not the grader.
    return data.decode("utf-8", "replace")


def _trace(place: Path, layout: LogLayout) -> Path:
    wanted = place / layout.trace_file
    for path in (wanted, place / "trace.zip", place / "trace.network"):
        if path.is_file():
            return _within(path)
    raise GradingError(f"{wanted} is missing.")


def _within(path: Path) -> Path:
    """A log folder is somebody else's: a link in it must not make us read elsewhere."""
    if leads_out(path, path.parent.parent):
        raise GradingError(f"{path} is a link that leads out of the log folder.")
    return path


def _bytes(path: Path, limit: int = _MAX_LOG, *, cut: bool = False) -> bytes:
    try:
        return read_regular(_within(path), limit, cut=cut)
    except InputError as error:
        raise GradingError(error.message) from None


def _format(path: Path) -> Any:
    return "har" if path.suffix in (".har", ".json") else "playwright-trace"


class _FileBlobs:
    """Files of one log directory, read in place; nothing is hashed or copied."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}

    def add(self, path: Path) -> BlobRef:
        ref = BlobRef(hash=f"file:{path.name}", media_type="application/octet-stream", size=path.stat().st_size)
        self._paths[ref.hash] = path
        return ref

    def open(self, ref: BlobRef) -> BinaryIO:
        path = self._paths[ref.hash]
        try:
            return path.open("rb")
        except OSError as error:
            raise GradingError(f"{path} cannot be read: {error.strerror}.") from error

    def read(self, ref: BlobRef) -> bytes:
        with self.open(ref) as stream:
            return stream.read()


# --- which URL is which site ------------------------------------------------------------------------------

_ORIGIN = re.compile(r"(https?://[^/?#]{1,300}?):(\d{1,5})(?=[/?#]|$)")


def _bases(
    task: Task, layout: LogLayout, log: NetworkLog, blobs: Blobs, read: list[Event] | None
) -> dict[str, tuple[str, ...]]:
    """Configured base URLs; a site without one is its published port, on any host whose published ports the log
    uses. A host on another port is never a site: a log from elsewhere must not prove anything here."""
    bases = dict(layout.bases)
    unknown = [site for site in task.sites if site not in bases and site in layout.ports]
    if unknown:
        published = {port for port, _ in layout.ports.values()}
        hosts = dict.fromkeys(host for host, port in _origins(log, blobs, read) if port in published)
        for site in unknown:
            port, path = layout.ports[site]
            bases[site] = tuple(f"{host}:{port}{path}" for host in hosts)
    return bases


@lru_cache(maxsize=256)
def _known_sites(bases: tuple[tuple[str, tuple[str, ...]], ...]) -> Sites:
    """Shared by all logs of a directory, and with it the cache of parsed URLs."""
    return Sites(dict(bases))


def _origins(log: NetworkLog, blobs: Blobs, read: list[Event] | None) -> Iterable[tuple[str, int]]:
    found: dict[tuple[str, int], None] = {}
    try:
        for event in events(log, blobs) if read is None else read:
            origin = _ORIGIN.match(event.url)
            if origin:
                found[(origin[1].lower(), int(origin[2]))] = None
                if len(found) > 50:
                    break
    except GradingError:
        return ()  # the grader runs into the same error and reports it
    return found


# --- in words ---------------------------------------------------------------------------------------------


EVIDENCE_BY = {
    "receipts": "by receipts: only what the sites vouch for counts",
    "texts": "by texts: whatever stood on a page counts, even if a site only repeated its visitor",
}


def explain(verdict: Verdict) -> str:
    """What was expected, what was found, and which rule decided."""
    deciding = [one for one in verdict.findings if one.status == verdict.status and decides(one)]
    lines = [f"{verdict.task_id}: {verdict.status}"]
    for finding in verdict.findings:
        mark = {"pass": "ok  ", "fail": "FAIL", "abstain": "?   ", "fault": "!   "}[finding.status]
        mark = mark if decides(finding) or finding.status == "pass" else "note"
        lines.append(f"  {mark} {finding.check}: {finding.message}")
        if finding.status != "pass":
            if finding.expected is not None:
                lines.append(f"         expected: {_short(finding.expected)}")
            if finding.actual is not None:
                lines.append(f"         found:    {_short(finding.actual)}")
    if (kind := verdict.aspects.get("evidence_by")) is not None:
        lines.append(f"  evidence: {EVIDENCE_BY[str(kind.value)]}")
    if verdict.status == "pass":
        lines.append("  decided by: every check passed")
    elif deciding:
        rules = dict.fromkeys(f"{one.check} ({one.code})" if one.code else one.check for one in deciding)
        lines.append(f"  decided by: {', '.join(rules)}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 400 else f"{text[:399]}…"

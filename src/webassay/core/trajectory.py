"""A trajectory: everything that happened in one episode, and nothing that tells whether it was right.

The record itself is small; pictures, trees, page texts and the network log are blobs, named by their
hash. `Blobs` is how anything reads them: from a run directory, from memory in a test, or from
somebody's log folder.
"""

import io
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Literal, Protocol, TypeVar

from pydantic import Field

from webassay.core.errors import Fault, GradingError
from webassay.core.interaction import Action, Goal, Response, Usage
from webassay.core.record import Json, Record, blob_hash


class BlobRef(Record):
    hash: str
    media_type: str
    size: int


class Blobs(Protocol):
    def read(self, ref: BlobRef) -> bytes: ...

    def open(self, ref: BlobRef) -> BinaryIO: ...


class WritableBlobs(Blobs, Protocol):
    def write(self, data: bytes, media_type: str) -> BlobRef: ...


class MemoryBlobs:
    """Blobs of one trajectory that was never stored."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def write(self, data: bytes, media_type: str) -> BlobRef:
        ref = BlobRef(hash=blob_hash(data), media_type=media_type, size=len(data))
        self._data[ref.hash] = data
        return ref

    def read(self, ref: BlobRef) -> bytes:
        try:
            return self._data[ref.hash]
        except KeyError:
            raise GradingError(f"Blob {ref.hash} is not here.") from None

    def open(self, ref: BlobRef) -> BinaryIO:
        return io.BytesIO(self.read(ref))


# --- network --------------------------------------------------------------------------------------------


class Exchange(Record):
    """One request and what came back. The network blob holds one of these a line, in order of the request."""

    id: str
    time: float
    """Seconds since the episode started."""
    method: str
    url: str
    resource_type: str = ""
    """Chromium's word for it: document, xhr, fetch, script, image..."""
    navigation: bool = False
    tab: int = 0
    request_headers: dict[str, str] = Field(default_factory=dict)
    """Lower-case names; cookies and authorization are left out unless asked for."""
    post_data: str | None = None
    post_data_base64: bool = False
    status: int | None = None
    """None: no answer came; `error` says why."""
    response_headers: dict[str, str] = Field(default_factory=dict)
    redirected_from: str = ""
    """Id of the exchange whose redirect led here."""
    mime_type: str = ""
    error: str = ""
    blocked: bool = False
    duration: float | None = None
    from_worker: bool = Field(default=False, exclude_if=lambda value: not value)
    """A service worker of the site answered, and not the site."""


class NetworkLog(Record):
    format: Literal["exchanges", "har", "playwright-trace"] = "exchanges"
    blob: BlobRef
    count: int | None = None


# --- probes ---------------------------------------------------------------------------------------------

ColumnClass = Literal["content", "journal", "telemetry"]


class RowChange(Record):
    """One row that differs from the pristine copy. `before` is None for an insert, `after` for a delete."""

    table: str
    key: dict[str, Json]
    before: dict[str, Json] | None = None
    after: dict[str, Json] | None = None

    @property
    def operation(self) -> Literal["insert", "update", "delete"]:
        return "insert" if self.before is None else "delete" if self.after is None else "update"


class RowsResult(Record):
    """What changed on one site, whoever changed it."""

    kind: Literal["rows"] = "rows"
    site: str
    changes: tuple[RowChange, ...]
    columns: dict[str, dict[str, ColumnClass]] = Field(default_factory=dict)
    """How the site classes each column of the tables in `changes`."""

    def differing(self, change: RowChange, kind: ColumnClass = "content") -> dict[str, tuple[Json, Json]]:
        """Columns of this class with their values before and after, where the two differ. A column without a class
        is content."""
        known = self.columns.get(change.table, {})
        before, after = change.before or {}, change.after or {}
        return {
            column: (before.get(column), after.get(column))
            for column in {**before, **after}
            if known.get(column, "content") == kind and before.get(column) != after.get(column)
        }

    def counts(self, change: RowChange) -> bool:
        """Whether a task has to account for the change: content was updated, or a row was inserted or deleted that is
        not all telemetry (sessions, view counters). A new time stamp alone is no change."""
        if change.operation == "update":
            return bool(self.differing(change))
        known = self.columns.get(change.table, {})
        present = {**(change.before or {}), **(change.after or {}), **change.key}
        return any(known.get(column, "content") != "telemetry" for column in present)


class PageResult(Record):
    """The tabs when the agent stopped."""

    kind: Literal["page"] = "page"
    url: str
    title: str
    tabs: tuple[str, ...]
    document: str = Field(default="", exclude_if=lambda value: not value)
    """Address of the last document that was loaded into the tab in front. A script can show another one; empty: nobody
    knows."""


class LocatorResult(Record):
    kind: Literal["locator"] = "locator"
    name: str
    url: str
    text: str


class SessionResult(Record):
    """Whose log-in was alive on a site when the agent stopped; empty: nobody's."""

    kind: Literal["session"] = "session"
    site: str
    user: str


class ServedResult(Record):
    """What a site served until the agent stopped, recorded around it: a packed `core.served.ServedRecord`."""

    kind: Literal["served"] = "served"
    site: str
    blob: BlobRef
    count: int
    """Answers in the record."""
    omitted: int = 0
    """Answers for whose text there was no room."""


class TouchedResult(Record):
    """Which rows of a site's database were written, by whom and when, however they ended: a packed
    `core.touched.TouchedRecord`. Of sites on one database, only the first that is listed has one."""

    kind: Literal["touched"] = "touched"
    site: str
    blob: BlobRef
    rows: int = 0
    """Each as often as it was written."""


class ProgramResult(Record):
    """What an application's own verifier said about it, and the states that it was asked between."""

    kind: Literal["program"] = "program"
    site: str
    program: str
    source: str = ""
    """Hash of the file that was run."""
    passed: bool
    message: str = ""
    seconds: float = 0.0
    unneeded: tuple[int, ...] | None = None
    """The positions of changed rows without which it still passes. None: not asked."""
    before: BlobRef | None = None
    after: BlobRef | None = None


ProbeResult = Annotated[
    RowsResult | PageResult | LocatorResult | SessionResult | ServedResult | TouchedResult | ProgramResult,
    Field(discriminator="kind"),
]

P = TypeVar("P", RowsResult, PageResult, LocatorResult, SessionResult, ServedResult, TouchedResult, ProgramResult)

# --- the episode ----------------------------------------------------------------------------------------


class AgentInfo(Record):
    name: str
    settings: dict[str, Json] = Field(default_factory=dict)
    model: str = ""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Prompt file to content hash."""


class RecordedObservation(Record):
    """An observation as it is kept: the short parts inline, the long ones as blobs."""

    url: str
    title: str = ""
    tabs: tuple[str, ...] = ()
    active_tab: int = 0
    tree: BlobRef | None = None
    screenshot: BlobRef | None = None
    text: BlobRef | None = None
    focused: str = ""
    last_error: str = ""
    notices: tuple[str, ...] = ()


class Timing(Record):
    """Seconds, so that a slow step can be explained."""

    observe: float = 0.0
    decide: float = 0.0
    act: float = 0.0
    settle: float = 0.0
    at: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """When the page of the step was looked at, on the clock of the network log. None: nobody knows."""


class Aim(Record):
    """What an action named by an id, and where it stood in the picture of its step."""

    action: int
    """Position in the step's actions."""
    box: tuple[float, float, float, float]
    """x, y, width and height, in pixels of the picture; it may lie outside, and be scrolled to."""
    argument: str = "bid"


class Step(Record):
    index: int
    seen: RecordedObservation
    """Before the actions."""
    actions: tuple[Action, ...] = ()
    action_text: str = ""
    """As the agent wrote it, where it could not be read as actions."""
    thought: str = ""
    memory: str = ""
    raw: str = ""
    error: str = ""
    """Why an action of this step failed; the agent sees it in its next observation."""
    waited_for: tuple[str, ...] = ()
    usage: Usage | None = None
    info: dict[str, Json] = Field(default_factory=dict)
    timing: Timing = Timing()
    aims: tuple[Aim, ...] = Field(default=(), exclude_if=lambda value: not value)
    console: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What scripts of the pages wrote to the console from this step's look to the next."""


EndingKind = Literal["answered", "gave_up", "step_limit", "time_limit", "agent_crashed", "fault", "imported"]


class Ending(Record):
    kind: EndingKind
    message: str = ""
    fault: Fault | None = None


class Trajectory(Record):
    version: Literal[1] = 1
    id: str
    task_id: str = ""
    task_hash: str = ""
    """Empty for trajectories of others, which have no key."""
    template: str = ""
    benchmark: str = ""
    goal: Goal
    agent: AgentInfo
    seed: int = 0
    trial: int = 0
    bases: dict[str, str] = Field(default_factory=dict)
    """Site to base URL, as the sites were reached in this episode."""
    now_ms: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the sites' own clock says throughout the episode, where they have one: milliseconds since 1970, UTC."""
    started_at: str = ""
    """ISO 8601, UTC."""
    seconds: float = 0.0
    steps: tuple[Step, ...] = ()
    last_seen: RecordedObservation | None = None
    """After the last action."""
    answer: str = ""
    """The last message, as it came."""
    ending: Ending
    network: NetworkLog | None = None
    probes: tuple[ProbeResult, ...] = ()
    source: str = "webassay"
    provenance: dict[str, Any] = Field(default_factory=dict)

    @property
    def response(self) -> Response | None:
        """The answer when it is strictly JSON; derived, so that it can never disagree with the raw text."""
        return Response.strictly(self.answer)

    def probed(self, kind: type[P]) -> Iterator[P]:
        return (result for result in self.probes if isinstance(result, kind))

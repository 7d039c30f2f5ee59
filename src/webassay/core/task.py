"""A task: the goal that the agent gets, and the key that it never does."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from webassay.core.errors import TaskError
from webassay.core.interaction import Goal
from webassay.core.record import Json, Record

TaskKind = Literal["retrieve", "navigate", "mutate", "unachievable"]
ChoreType = Literal["massive_memory", "calculation", "long_term_memory", "others"]

ValueType = Literal[
    "string",
    "number",
    "currency",
    "date",
    "month",
    "duration",
    "distance",
    "coordinates",
    "boolean",
    "url",
    "full_address",
    "location_name",
    "string_list",
    "json",
    "markdown",
    "base64",
    "null",
    "list",
    "object",
]


class Tolerance(Record):
    """The larger of the two decides."""

    absolute: float = 0.0
    relative: float = 0.0


class Expectation(Record):
    """What a value must be. One shape for answers, posted data, headers and rows; it comes from the key only."""

    type: ValueType = "string"
    value: Json = None
    any_of: tuple["Expectation", ...] = ()
    pattern: str = ""
    """A regular expression that the whole normalised text must match."""
    items: tuple["Expectation", ...] | None = None
    """For `list`."""
    ordered: bool = False
    fields: dict[str, "Expectation"] | None = None
    """For `object`: exactly these keys."""
    anything: bool = False
    """Must be there, may be whatever it is."""
    same_as: str = ""
    """Rows only: `label.column` of another expected change, to follow an id that the site hands out."""
    tolerance: Tolerance | None = None
    """None: exact. Leniency is the task's decision, never the comparator's."""
    currency: str = ""
    """ISO code that an answer with a currency sign must agree with; empty: any."""

    @model_validator(mode="after")
    def _one_way_of_saying_it(self) -> Self:
        said = [
            self.value is not None,
            bool(self.any_of),
            bool(self.pattern),
            self.items is not None,
            self.fields is not None,
            self.anything,
            bool(self.same_as),
        ]
        if sum(said) > 1 or (sum(said) == 0 and self.type != "null"):
            raise ValueError("give exactly one of value, any_of, pattern, items, fields, anything, same_as")
        fits = (self.type == "list") == (self.items is not None) and (self.type == "object") == (
            self.fields is not None
        )
        if not fits and not self.any_of and not self.anything:
            raise ValueError(f"type {self.type!r} does not fit what is expected of it")
        if self.pattern:
            check_pattern(self.pattern)
        return self

    @classmethod
    def of(cls, value: Any, type: ValueType | None = None, **rest: Any) -> Self:
        """The plain reading of a Python value, for templates and tests."""
        if isinstance(value, cls):
            return value
        if isinstance(value, list | tuple):
            return cls(type="list", items=tuple(cls.of(item, type, **rest) for item in value), ordered=False)
        if isinstance(value, dict):
            return cls(type="object", fields={str(key): cls.of(item) for key, item in value.items()})
        if value is None:
            return cls(type="null")
        if type is None:
            type = "boolean" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "string"
        return cls(type=type, value=value, **rest)


def check_pattern(pattern: str) -> None:
    """A pattern that cannot be used is a fault of the key, and shows when the task is loaded."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


class PagePattern(Record):
    """A page of a site, by path and query; both are patterns that must match in full."""

    site: str
    path: str
    query: dict[str, str] = Field(default_factory=dict)
    """Keys that are not named may have any value; a key that is absent counts as the empty text."""
    status: int = 200
    """The answer that the page must have come with, where it is a visit: 404 for evidence that a page is missing."""

    @model_validator(mode="after")
    def _patterns_can_be_used(self) -> Self:
        for pattern in (self.path, *self.query.values()):
            check_pattern(pattern)
        return self


class ResponseCheck(Record):
    """The last message: its action, status and results."""

    kind: Literal["response"] = "response"
    action: str
    """Empty: any, for a task that cannot be done and so has no kind of action to name."""
    status: tuple[str, ...] = ("SUCCESS",)
    results: Expectation | None = None
    """None: results must be null where the protocol says so."""


class NetworkCheck(Record):
    """A request that must, or must not, stand in the log: docs/checks.md."""

    kind: Literal["network"] = "network"
    url: Expectation
    method: str = "GET"
    response_status: int | None = 200
    headers: dict[str, Expectation] = Field(default_factory=dict)
    post_data: dict[str, Expectation] = Field(default_factory=dict)
    response_content: dict[str, Expectation] = Field(default_factory=dict)
    response_cookies: dict[str, Expectation] = Field(default_factory=dict)
    query: dict[str, Expectation] = Field(default_factory=dict)
    """The whole query that is expected; empty: the one that the URL has."""
    ignored_query: tuple[str, ...] = ()
    ignored_query_patterns: tuple[str, ...] = ()
    decode_base64_query: bool = False
    last_navigation: bool = False
    """Only the last page that was navigated to counts."""
    last_event_only: bool = True
    must_not_exist: bool = False


class ExpectedChange(Record):
    """One row that must differ from the pristine copy."""

    site: str
    table: str
    operation: Literal["insert", "update", "delete"]
    where: dict[str, Json] = Field(default_factory=dict)
    """Columns that name the row before the change; not for inserts."""
    values: dict[str, Expectation] = Field(default_factory=dict)
    """Insert: every content column. Update: every content column that may differ. Delete: empty."""
    label: str = ""
    """A name that `same_as` can refer to."""
    count: int = 1


class StateCheck(Record):
    """The exact rows that must have changed; any other change of content, on any site, is collateral damage."""

    kind: Literal["state"] = "state"
    changes: tuple[ExpectedChange, ...] = ()

    @model_validator(mode="after")
    def _links_lead_somewhere(self) -> Self:
        labels = [change.label for change in self.changes if change.label]
        followable = {change.label for change in self.changes if change.label and change.count == 1}
        if len(labels) != len(set(labels)):
            raise ValueError("two changes have the same label")
        for change in self.changes:
            for column, wanted in change.values.items():
                if wanted.same_as and wanted.same_as.rpartition(".")[0] not in followable:
                    raise ValueError(f"{change.table}.{column}: same_as {wanted.same_as!r} names no single change")
        return self


class PageCheck(Record):
    """The page in front when the agent stopped."""

    kind: Literal["page"] = "page"
    any_of: tuple[PagePattern, ...]


class ActivityCheck(Record):
    """Proof of work: pages of the site really loaded, in a live log-in where there is one."""

    kind: Literal["activity"] = "activity"
    site: str
    or_sites: tuple[str, ...] = ()
    """Pages of these sites count as well."""
    logged_in: bool = False
    minimum_pages: int = 1
    counting: Literal["pages", "requests"] = "pages"
    """`requests`: any request that went through, but for static files; logs of others do not always tell pages."""
    not_counting: tuple[PagePattern, ...] = ()
    """Pages that prove nothing, such as a log-in form."""
    visits: tuple[tuple[PagePattern, ...], ...] = ()
    """Each group: at least one of its pages was loaded. What a diligent search cannot miss."""


class LegacyCheck(Record):
    """The string, URL and page checks of the original WebArena, kept as data: docs/checks.md."""

    kind: Literal["legacy"] = "legacy"
    flavour: Literal["webarena", "webchorearena"]
    eval: dict[str, Json]


class JudgedCheck(Record):
    """No rule decides this task: a judge must. Without one it is unscored."""

    kind: Literal["judged"] = "judged"
    notes: str = ""


Check = Annotated[
    ResponseCheck | NetworkCheck | StateCheck | PageCheck | ActivityCheck | LegacyCheck | JudgedCheck,
    Field(discriminator="kind"),
]


class LocatorProbe(Record):
    """Text found by a locator in a fresh tab, after sealing."""

    kind: Literal["locator"] = "locator"
    name: str
    url: str
    script: str


Probe = LocatorProbe
"""So far the one kind of look that a task can ask for."""


class Checkpoint(Record):
    """A way-mark: reached or not, reported beside success, never part of it."""

    name: str
    visits: tuple[PagePattern, ...] = ()
    """Any of these pages was loaded."""


class Task(Record):
    version: Literal[1] = 1
    id: str
    benchmark: str
    template: str
    """Instances of one template are not independent: the template is the unit of the statistics."""
    kind: TaskKind
    goal: Goal
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    """What to look at beside the rows of every site and the page in front, which are always recorded."""
    sites: tuple[str, ...]
    logins: dict[str, str] = Field(default_factory=dict)
    """Site to user name: these log-ins are set up before the agent starts."""
    world_seed: int = 0
    parameters: dict[str, Json] = Field(default_factory=dict)
    """What the template was filled with; the reference solution gets these and never the checks."""
    chore: ChoreType | None = None
    difficulty: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()
    tags: tuple[str, ...] = ()
    max_steps: int = 50
    revision: int = 1

    @model_validator(mode="after")
    def _can_be_graded(self) -> Self:
        if not self.checks:
            raise ValueError("a task without checks cannot be graded; an open task says so with the check 'judged'")
        return self


_TASKS = TypeAdapter(tuple[Task, ...])


def load_tasks(text: str | bytes, source: str) -> tuple[Task, ...]:
    """Tasks from a JSON list; the error names the place."""
    try:
        return _TASKS.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise TaskError(
            f"{source}: {place}: {first['msg']} ({error.error_count()} problems in all).",
            hint="Mend the file, or write it again with `webassay tasks export`.",
        ) from error

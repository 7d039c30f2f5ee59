"""A task: the goal, which the agent sees, and the key, which it never does."""

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from webassay.core.errors import TaskError
from webassay.core.interaction import Goal
from webassay.core.record import Json, Record
from webassay.core.served import plain

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
    """The larger of the two applies."""

    absolute: float = 0.0
    relative: float = 0.0


class Expectation(Record):
    """What a value must be. One format for answers, posted data, headers and rows; only keys contain it."""

    type: ValueType = "string"
    value: Json = None
    any_of: tuple["Expectation", ...] = ()
    pattern: str = ""
    """A regular expression that must match the whole normalized text."""
    items: tuple["Expectation", ...] | None = None
    """For `list`."""
    ordered: bool = False
    fields: dict[str, "Expectation"] | None = None
    """For `object`: exactly these keys."""
    anything: bool = False
    """It must be present, with any value."""
    same_as: str = ""
    """Rows only: `label.column` of another expected change, to follow an id that the site assigns."""
    tolerance: Tolerance | None = None
    """None: exact. The task decides how lenient to be, never the comparator."""
    currency: str = ""
    """ISO code that an answer with a currency sign must agree with; empty: any."""
    unit: str = Field(default="", exclude_if=lambda value: not value)
    """For `number`: the unit that the goal names, such as `reviews`. An answer may repeat it; no other unit is read."""
    lenient: bool = Field(default=False, exclude_if=lambda value: not value)
    """Rows only, where a value is compared as it was written: read it as answers are read, whatever its case, accents,
    spacing and punctuation."""

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
            raise ValueError(f"type {self.type!r} does not fit this kind of expectation")
        if self.unit and self.type != "number":
            raise ValueError(f"only a number can have a unit, not type {self.type!r}")
        if self.pattern:
            check_pattern(self.pattern)
        return self

    @classmethod
    def of(cls, value: Any, type: ValueType | None = None, **rest: Any) -> Self:
        """The expectation that a Python value stands for, for templates and tests."""
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
    """An invalid pattern is an error in the key, and is reported when the task is loaded."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a valid regular expression: {error}") from None


class PagePattern(Record):
    """A page of a site; path and query values are patterns that must match in full."""

    site: str
    path: str
    query: dict[str, str] = Field(default_factory=dict)
    """Keys that are not named may have any value; an absent key counts as empty."""
    status: int = 200
    """For visits, the status the page was served with: 404 is evidence that a page does not exist."""

    @model_validator(mode="after")
    def _patterns_can_be_used(self) -> Self:
        for pattern in (self.path, *self.query.values()):
            check_pattern(pattern)
        return self


class ResponseCheck(Record):
    """Checks the last message: its action, status and results."""

    kind: Literal["response"] = "response"
    action: str
    """Empty: any, for a task that cannot be done and so has no action to name."""
    status: tuple[str, ...] = ("SUCCESS",)
    results: Expectation | None = None
    """None: results must be null if the protocol says so."""


class NetworkCheck(Record):
    """A request that the log must, or must not, contain: see docs/checks.md."""

    kind: Literal["network"] = "network"
    url: Expectation
    method: str = "GET"
    response_status: int | None = 200
    headers: dict[str, Expectation] = Field(default_factory=dict)
    post_data: dict[str, Expectation] = Field(default_factory=dict)
    response_content: dict[str, Expectation] = Field(default_factory=dict)
    response_cookies: dict[str, Expectation] = Field(default_factory=dict)
    query: dict[str, Expectation] = Field(default_factory=dict)
    """The complete expected query; empty: the URL's own."""
    ignored_query: tuple[str, ...] = ()
    ignored_query_patterns: tuple[str, ...] = ()
    decode_base64_query: bool = False
    last_navigation: bool = False
    """Only the last page navigated to counts."""
    last_event_only: bool = True
    must_not_exist: bool = False


class ExpectedChange(Record):
    """A row that must differ from the pristine copy."""

    site: str
    table: str
    operation: Literal["insert", "update", "delete"]
    where: dict[str, Json] = Field(default_factory=dict)
    """Columns that identify the row before the change; not for inserts."""
    values: dict[str, Expectation] = Field(default_factory=dict)
    """Insert: all content columns. Update: the content columns that may differ. Delete: empty."""
    label: str = ""
    """A name for `same_as` to refer to."""
    count: int = 1


class StateCheck(Record):
    """The exact rows that must have changed; any other content change, on any site, is collateral damage."""

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
                    raise ValueError(
                        f"{change.table}.{column}: same_as {wanted.same_as!r} does not name a single change"
                    )
        return self


class PageCheck(Record):
    """Checks the page in front when the agent stopped."""

    kind: Literal["page"] = "page"
    any_of: tuple[PagePattern, ...]


class ActivityCheck(Record):
    """Proof of work: pages of the site were really loaded, by the right user if the task has one."""

    kind: Literal["activity"] = "activity"
    site: str
    or_sites: tuple[str, ...] = ()
    """Pages of these sites count too."""
    logged_in: bool = False
    minimum_pages: int = 1
    counting: Literal["pages", "requests"] = "pages"
    """`requests`: any successful request except for static files; not all recorders say which requests are pages."""
    not_counting: tuple[PagePattern, ...] = ()
    """Pages that prove no work, such as a log-in form."""
    visits: tuple[tuple[PagePattern, ...], ...] = ()
    """At least one page of each group must have been loaded: what a diligent search cannot miss."""


CellKey = tuple[str | int | float, ...]
"""A row, by its primary key."""


class Cell(Record):
    """A column of a row, wherever and however a site shows it."""

    table: str
    key: CellKey = Field(min_length=1)
    column: str = ""
    """Empty: any. `=name` is what a query computes for the row, by the name that the query gives it."""


class Count(Record):
    """A value that a query computes, such as a number of rows or a sum. It counts if the site showed it and deleting
    any of the rows changes it."""

    table: str
    rows: tuple[CellKey, ...] = Field(min_length=1)
    value: str | int | float


class Sight(Record):
    """What a person can have in front of them: texts that stand together somewhere, a picture, or a cell."""

    texts: tuple[str, ...] = ()
    """As the site shows them. Case, spacing and punctuation do not matter; whole words and numbers do."""
    together: Literal["item", "page"] = "item"
    """`item`: in one row, list entry or card, or in the text of one section outside of its rows. `page`: anywhere on
    one page."""
    picture: str = ""
    """The path of a picture, in place of texts."""
    cell: Cell | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the site's own database says, in place of texts: on any page, in a file, in whatever words."""
    count: Count | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the site computed, in place of texts."""
    site: str = ""
    """Empty: any of the task's."""

    @model_validator(mode="after")
    def _can_be_looked_for(self) -> Self:
        said = bool(self.texts), bool(self.picture), self.cell is not None, self.count is not None
        if sum(said) != 1:
            raise ValueError("a sight needs either texts, or a picture, or a cell, or a count")
        empty = [text for text in self.texts if not plain(text)]
        if empty:
            raise ValueError(f"{empty[0]!r} contains nothing to look for")
        return self


class Fact(Record):
    """What cannot be known without having seen it."""

    any_of: tuple[tuple[Sight, ...], ...]
    """The ways of coming to know it. Each is one sight, or several that are all needed, on whatever pages."""

    @model_validator(mode="after")
    def _can_be_known(self) -> Self:
        if not self.any_of or not all(self.any_of):
            raise ValueError("a fact needs at least one sight")
        return self


class EvidenceCheck(Record):
    """The site served what an honest solver must have had in front of them, wherever it stood."""

    kind: Literal["evidence"] = "evidence"
    facts: tuple[Fact, ...] = Field(min_length=1)
    share: float = Field(default=1.0, gt=0.0, le=1.0)
    """Where a part of the facts is enough."""

    @property
    def needed(self) -> int:
        return math.ceil(round(self.share * len(self.facts), 9))

    def sights(self) -> Iterator[Sight]:
        return (sight for fact in self.facts for way in fact.any_of for sight in way)

    def counts(self) -> Iterator[Count]:
        return (sight.count for sight in self.sights() if sight.count is not None)


class LegacyCheck(Record):
    """The string, URL and page checks of the original WebArena, kept as data: see docs/checks.md."""

    kind: Literal["legacy"] = "legacy"
    flavor: Literal["webarena", "webchorearena"]
    eval: dict[str, Json]


class ProgramCheck(Record):
    """What the application's own verifier said about it when the agent had stopped: see docs/served.md."""

    kind: Literal["program"] = "program"
    program: str
    """The verifier: a Python file in the application's folder, or a command."""
    source: str = ""
    """Hash of the file: another verifier is another key."""
    may_change: tuple[str, ...] | None = None
    """Tables of the state that the task is about; a change elsewhere is collateral damage. None: nobody says, and what
    changed is reported."""


class JudgedCheck(Record):
    """No rule decides this task; without a judge it stays unscored."""

    kind: Literal["judged"] = "judged"
    notes: str = ""


Check = Annotated[
    ResponseCheck
    | NetworkCheck
    | StateCheck
    | PageCheck
    | ActivityCheck
    | EvidenceCheck
    | LegacyCheck
    | ProgramCheck
    | JudgedCheck,
    Field(discriminator="kind"),
]


class LocatorProbe(Record):
    """Reads text with a script in a fresh tab, after the log is sealed."""

    kind: Literal["locator"] = "locator"
    name: str
    url: str
    script: str


Probe = LocatorProbe
"""The only kind of probe a task can ask for so far."""


class Checkpoint(Record):
    """A milestone: reached or not, reported separately, never part of success."""

    name: str
    visits: tuple[PagePattern, ...] = ()
    """Reached when any of these pages was loaded."""


class Task(Record):
    version: Literal[1] = 1
    id: str
    benchmark: str
    template: str
    """Instances of a template are not independent, so the template is the unit of the statistics."""
    kind: TaskKind
    goal: Goal
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    """What to record in addition to every site's changed rows and the page in front, which always are."""
    sites: tuple[str, ...]
    logins: dict[str, str] = Field(default_factory=dict)
    """Site to the user who is logged in before the agent starts."""
    world_seed: int = 0
    world_scale: str = Field(default="", exclude_if=lambda value: not value)
    """How large the worlds are; empty: as large as usual."""
    obstacles: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What stands between the agent and the sites, by name."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """The template's parameters; the reference solution gets these, and never the checks."""
    chore: ChoreType | None = None
    difficulty: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()
    tags: tuple[str, ...] = ()
    max_steps: int = 50
    revision: int = 1

    @model_validator(mode="after")
    def _can_be_graded(self) -> Self:
        if not self.checks:
            raise ValueError("a task without checks cannot be graded; give an open task the check 'judged'")
        return self


_TASKS = TypeAdapter(tuple[Task, ...])


def load_tasks(text: str | bytes, source: str) -> tuple[Task, ...]:
    """Tasks from a JSON list; errors name the place."""
    try:
        return _TASKS.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise TaskError(
            f"{source}: {place}: {first['msg']} (one of {error.error_count()} problems).",
            hint="Fix the file, or export it again with `webassay tasks export`.",
        ) from error

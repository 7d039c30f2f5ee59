"""A template is a chore that can be drawn many times: one class, in one place.

Its fields are the parameters of a task. Next to each other stand how to draw them, the key (the truth, by SQL over the
pristine worlds), the shortcuts of a hasty reader, and reference routes, which reach the same as the key from the pages
alone and never see it. docs/writing-tasks.md goes through a whole one.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from string import Formatter
from types import ModuleType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from webassay.arena.kit.effort import DIFFICULTIES, Difficulty, Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts, bites
from webassay.core.errors import TaskError, blaming
from webassay.core.interaction import Goal, Modality, Observation, Walk
from webassay.core.protocols import ARENA_PROTOCOL, READ_WHOLE, reading
from webassay.core.record import Json
from webassay.core.task import (
    ActivityCheck,
    Check,
    ChoreType,
    PageCheck,
    ResponseCheck,
    StateCheck,
    Task,
    TaskKind,
)
from webassay.sites.kit import World
from webassay.sites.rng import NothingToDraw, Stream

Worlds = Mapping[str, World]
"""Site to its pristine world."""

Route = Callable[[Observation], Walk]
"""From the first start page to the response."""

MAX_DRAWS = 4000
_WORDS = r"[a-z0-9]+(-[a-z0-9]+)*"


@dataclass(frozen=True)
class Template(ABC):
    """Subclasses are frozen dataclasses. One that is only there to be inherited from says `abstract=True`."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    name: ClassVar[str]
    """`site.words-with-hyphens`, with the first site. Ids of tasks begin with it, so it never changes."""
    summary: ClassVar[str]
    """One line for lists; by default the first line of the docstring."""
    sites: ClassVar[tuple[str, ...]]
    """Each opens in a tab of its own; the first is in front, and is where `start` and `user` belong. By default the
    one that the name begins with."""
    kind: ClassVar[TaskKind]
    chore: ClassVar[ChoreType]
    instruction: ClassVar[str]
    """Filled in with the fields by `str.format`."""
    levels: ClassVar[tuple[Difficulty, ...]] = ("easy", "medium", "hard")
    """The difficulties that can be asked for. What is drawn without asking may now and then have another."""
    start: ClassVar[str] = "/"
    modality: ClassVar[Modality] = "tree"
    """`tree+screenshot` where something has to be seen that stands in a picture only."""
    tags: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()
    """The fields of a result that are copied off a page, such as a name or a number of an order; `*` where a result is
    one such value. A judge may then be certain that a value which stood nowhere is made up. What is counted or added up
    is not among them."""

    abstract: ClassVar[bool] = True

    def __init_subclass__(cls, *, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.abstract = abstract
        if abstract:
            return
        if not hasattr(cls, "sites") and hasattr(cls, "name"):
            cls.sites = (cls.name.partition(".")[0],)
        if "summary" not in vars(cls):
            cls.summary = (cls.__doc__ or "").strip().partition("\n")[0]
        problems = "; ".join(_problems(cls))
        if problems:
            raise TaskError(f"The template {cls.__qualname__} cannot be used: {problems}.")

    @classmethod
    @abstractmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        """One instance; None if the draw came upon something unusable, such as a tie."""

    @abstractmethod
    def key(self, worlds: Worlds) -> Key:
        """The right answer or the right changes, by SQL over the pristine worlds."""

    @abstractmethod
    def effort(self, worlds: Worlds) -> Effort:
        """What this instance takes; its difficulty and its step limit follow from it."""

    @abstractmethod
    def solve(self, page: Observation) -> Walk:
        """Reaches the same from the pages alone, starting on the first start page."""

    def routes(self) -> Mapping[str, Route]:
        """Other natural ways to do it. All must pass."""
        return {}

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        """Where hasty readings lead. Instances in which one of them leads to the right end are not drawn. Leave out
        what does not apply to this instance: a list of one page has no `first-page-only`."""
        return {}

    def hasty(self) -> Mapping[str, Route]:
        """Shortcuts, by the same names, as walks that are played and must fail."""
        return {}

    @property
    def start_pages(self) -> tuple[str, ...]:
        """Where the first site is open, a tab each; the first of them is in front."""
        return (self.start,)

    def route(self, name: str = "") -> Route:
        """The reference solution, another route, or a shortcut, by its name."""
        known = {"": self.solve, **self.routes(), **self.hasty()}
        if name not in known:
            others = ", ".join(filter(None, known)) or "none but the reference solution"
            raise TaskError(f"{self.name} has no route {name!r}.", hint=f"It has {others}.")
        return known[name]

    @property
    def logins(self) -> Mapping[str, str]:
        """Site to user: the log-ins set up beforehand. By default a field `user` is logged in on the first site."""
        user: str = getattr(self, "user", "")
        return {self.sites[0]: user} if user else {}

    @property
    def parameters(self) -> dict[str, Json]:
        found: dict[str, Json] = _adapter(type(self)).dump_python(self, mode="json")
        return found

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Json]) -> Self:
        """The instance that a task was made from."""
        try:
            made: Self = _adapter(cls).validate_json(json.dumps(dict(parameters)))
        except ValidationError as error:
            said = {"missing": "{} is missing", "unexpected_keyword_argument": "there is no {}"}
            problems = (
                said.get(problem["type"], "{}: " + problem["msg"]).format(".".join(map(str, problem["loc"])))
                for problem in error.errors()
            )
            raise TaskError(
                f"These are not the parameters of {cls.name}: {'; '.join(problems)}.",
                hint="The task comes from another version of the template.",
            ) from error
        return made


@cache
def _adapter(kind: type[Template]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _problems(template: type[Template]) -> Iterator[str]:
    """What a class lacks to be a template, found when it is defined and not in the middle of a run."""
    missing = [name for name in ("name", "sites", "kind", "chore", "instruction") if not getattr(template, name, None)]
    if missing:
        yield f"it has no {', '.join(missing)}"
        return
    if not template.summary:
        yield "it has no docstring"
    if "name" not in vars(template):
        yield f"it has no name of its own, only the inherited {template.name!r}"
    sites: Any = template.sites
    if not isinstance(sites, tuple):
        yield "`sites` is not a tuple"
    elif not re.fullmatch(rf"{re.escape(sites[0])}\.{_WORDS}", template.name):
        yield f"the name {template.name!r} is not `{sites[0]}.words-with-hyphens`"
    for attribute, allowed in {"kind": get_args(TaskKind), "chore": get_args(ChoreType)}.items():
        if getattr(template, attribute) not in allowed:
            yield f"`{attribute}` is none of {', '.join(allowed)}"
    if not template.levels or not set(template.levels) <= set(DIFFICULTIES):
        yield f"`levels` are not some of {', '.join(DIFFICULTIES)}"
    for method in ("draw", "key", "effort", "solve"):
        if getattr(getattr(template, method), "__isabstractmethod__", False):
            yield f"it has no method `{method}`"
    try:
        named = [field for _, field, _, _ in Formatter().parse(template.instruction) if field is not None]
    except ValueError as error:
        yield f"the instruction cannot be filled in ({error})"
        return
    known = _annotated(template)
    for field in named:
        if field not in known:
            yield f"the instruction names {{{field}}}, which is not a field ({', '.join(known) or 'there are none'})"


def _annotated(template: type[Template]) -> list[str]:
    """The fields that `dataclass` will make; it has not run yet."""
    hints = get_type_hints(template).items()
    return [name for name, hint in hints if hint is not ClassVar and get_origin(hint) is not ClassVar]


def templates_in(module: ModuleType) -> Iterator[type[Template]]:
    """The templates that a module holds, for a registry."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Template) and not value.abstract:
            if {field.name for field in fields(value)} != set(_annotated(value)):
                raise TaskError(f"The template {value.name} lacks the decorator @dataclass(frozen=True).")
            yield value


# --- tasks ------------------------------------------------------------------------------------------------


def instances(template: type[Template], worlds: Worlds, count: int, seed: int = 0, difficulty: str = "") -> list[Task]:
    """That many different tasks, of one difficulty if it is given; the same ones for the same worlds and seed."""
    worlds = _needed(template, worlds)
    world_seed = worlds[template.sites[0]].seed
    stream = Stream(seed, "arena", template.name, world_seed)
    # The numbers of a filtered list mean other tasks than those of the whole, so their ids must differ.
    prefix = f"{template.name}.w{world_seed}s{seed}" + (f"-{difficulty}" if difficulty else "")
    tasks: list[Task] = []
    drawn: set[Template] = set()
    empty = given_away = 0
    for number in range(MAX_DRAWS):
        if len(tasks) == count:
            break
        with blaming(TaskError, f"{template.name} cannot be drawn"):
            one = drawn_once(template, worlds, stream.child(number))
            if one is None or one in drawn:
                empty += one is None
                continue
            drawn.add(one)
            effort = one.effort(worlds)
            if difficulty in ("", effort.difficulty(len(one.sites))):
                fair = list(_task(one, effort, f"{prefix}.{len(tasks)}", worlds))
                given_away += not fair
                tasks += fair
    if len(tasks) < count:
        kind = f" of difficulty {difficulty}" if difficulty else ""
        raise TaskError(
            f"World {world_seed} has only {len(tasks)} instances of {template.name}{kind}, not {count}. Of {MAX_DRAWS} "
            f"draws, {empty} gave None and {len(drawn)} were different; in {given_away} of them a shortcut is right.",
            hint=f"Ask for at most {len(tasks)}." if tasks else "Choose another world or difficulty.",
        )
    return tasks


def drawn_once(template: type[Template], worlds: Worlds, stream: Stream) -> Template | None:
    """A small world may have no shelf of the size that was drawn: that is no instance, and no fault either."""
    try:
        return template.draw(worlds, stream)
    except NothingToDraw:
        return None


def _needed(template: type[Template], worlds: Worlds) -> Worlds:
    """The worlds of the template's own sites, so that it cannot read others by accident."""
    missing = [site for site in template.sites if site not in worlds]
    if missing:
        raise TaskError(f"Template {template.name} needs a world of {', '.join(missing)} as well.")
    chosen = {site: worlds[site] for site in template.sites}
    if len({world.seed for world in chosen.values()}) > 1:
        raise TaskError(f"The worlds of template {template.name} come from different seeds.")
    return chosen


def _given_away(task: Task) -> bool:
    """Whether the answer can be guessed without opening the site: it is empty, 0, or a number that the goal says."""
    for check in task.checks:
        if isinstance(check, ResponseCheck) and check.results is not None and check.results.items is not None:
            values = [item.value for item in check.results.items]
            said = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", task.goal.instruction)}
            numbers = [value for value in values if isinstance(value, int | float)]
            if not values or (len(numbers) == len(values) and {float(number) for number in numbers} <= {0.0, *said}):
                return True
    return False


def _task(drawn: Template, effort: Effort, task_id: str, worlds: Worlds) -> Iterator[Task]:
    """One task, or none if the instance gives its answer away to somebody who does not look or reads hastily."""
    key = drawn.key(worlds).on(drawn.sites)
    if wrong := next(_misfits(drawn, key, worlds), None):
        raise TaskError(f"The key of {task_id} {wrong}.")
    shortcuts = drawn.shortcuts(worlds)
    if wrong := next(_misnamed(drawn, shortcuts), None):
        raise TaskError(f"The shortcuts of {drawn.name} {wrong}.")
    if not all(bites(key, other.on(drawn.sites)) for other in shortcuts.values()):
        return
    parameters = drawn.parameters
    first, *others = drawn.sites
    places = [*((first, path) for path in drawn.start_pages), *((site, "/") for site in others)]
    task = Task(
        id=task_id,
        benchmark="arena",
        template=drawn.name,
        kind=drawn.kind,
        goal=Goal(
            instruction=drawn.instruction.format(**parameters),
            start_urls=tuple(f"__{site.upper()}__{path}" for site, path in places),
            protocol=reading(ARENA_PROTOCOL, drawn.reads),
            sites=drawn.sites,
            modality=drawn.modality,
            hints=(f"You may take at most {effort.step_limit} steps.",),
        ),
        checks=checks_of(drawn.kind, drawn.sites, drawn.logins, key),
        sites=drawn.sites,
        logins=dict(drawn.logins),
        world_seed=worlds[drawn.sites[0]].seed,
        parameters=parameters,
        chore=drawn.chore,
        difficulty=effort.difficulty(len(drawn.sites)),
        checkpoints=key.checkpoints,
        tags=drawn.tags,
        max_steps=effort.step_limit,
    )
    if not _given_away(task):
        yield task


def _misnamed(drawn: Template, shortcuts: Shortcuts) -> Iterator[str]:
    routes, hasty = drawn.routes(), drawn.hasty()
    for name in (*shortcuts, *routes):
        if not re.fullmatch(_WORDS, name):
            yield f"or routes include {name!r}, which is not words-with-hyphens"
    for name in hasty:
        if name in routes:
            yield f"include {name!r}, which is a route as well"
        if name not in shortcuts:
            yield f"lack {name!r}, which is played"


def _misfits(drawn: Template, key: Key, worlds: Worlds) -> Iterator[str]:
    """Why the key cannot be right, before an episode is spent on it."""
    proofs = {"retrieve": key.results, "navigate": key.pages, "mutate": key.changes, "unachievable": key.status}
    if not proofs[drawn.kind]:
        yield f"does not decide a task of the kind {drawn.kind}"
    if drawn.kind in ("retrieve", "unachievable") and not key.evidence:
        yield "names no facts that an honest solver must have seen"
    if key.status and drawn.kind != "unachievable":
        yield f"is a refusal, but the task is of the kind {drawn.kind}"
    if unknown := set(drawn.reads) - _result_fields(key):
        yield f"has no results with {', '.join(sorted(unknown))}, which `reads` names"
    for change in key.changes:
        if change.site not in worlds:
            yield f"expects a change on {change.site}, which is not a site of the template"
            continue
        columns = worlds[change.site].site.columns.get(change.table)
        if columns is None:
            yield f"expects a change of {change.table}, which is not a table of {change.site}"
            continue
        for column in (*change.where, *change.values):
            if column not in columns:
                yield f"names {change.table}.{column}, which does not exist"


def _result_fields(key: Key) -> set[str]:
    items = key.results.items or () if key.results is not None else ()
    return {field for item in items for field in (item.fields or (READ_WHOLE,))}


def checks_of(kind: TaskKind, sites: Sequence[str], logins: Collection[str], key: Key) -> tuple[Check, ...]:
    first, *others = sites
    checks: list[Check] = [
        ResponseCheck(
            action="" if kind == "unachievable" else kind,
            status=key.status or ("SUCCESS",),
            results=key.results,
        ),
        StateCheck(changes=key.changes),
        ActivityCheck(site=first, logged_in=first in logins, visits=key.visits),
        *(ActivityCheck(site=site, logged_in=site in logins) for site in others),
    ]
    if key.pages:
        checks.append(PageCheck(any_of=key.pages))
    return (*checks, *key.evidence)

"""A template is a chore that can be drawn many times: one class, in one place, and one reading of the world.

Its fields are the parameters of a task. `draw` picks them. `end` states the truth once: what makes an instance fair,
the key (by SQL over the pristine worlds), and what an honest solver sees and needs on the way there. `solve` walks
there from the pages alone. `misread` names the mistakes and `ways` the other routes, each with what is different: other
values of fields, other keywords of `end`, other keywords of `solve`. docs/writing-tasks.md goes through a whole one.
"""

import json
import re
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from inspect import Parameter, getattr_static, isgeneratorfunction, signature
from string import Formatter
from types import ModuleType
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, final, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError

from webassay.arena.kit.effort import DIFFICULTIES, Difficulty, Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts, bites
from webassay.core.errors import TaskError
from webassay.core.interaction import Modality, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import ChoreType, TaskKind
from webassay.sites.kit import World
from webassay.sites.rng import NothingToDraw, Stream

T = TypeVar("T")

Worlds = Mapping[str, World]
"""Site to its pristine world."""

Route = Callable[[Observation], Walk]
"""From the first start page to the response."""

WORDS = r"[a-z0-9]+(-[a-z0-9]+)*"


@dataclass(frozen=True)
class Fair:
    """An instance for which this does not hold is not drawn. Misreadings need not be fair."""

    holds: bool


def fair(*conditions: object) -> Fair:
    return Fair(all(conditions))


Parts = Iterator[Fair | Key | Effort]
How = Mapping[str, Any]


def clear(ranked: Sequence[T], measure: Callable[[T], Any]) -> bool:
    """Whether there is a first, and it is not tied with the second."""
    return len(ranked) >= 2 and bool(measure(ranked[0]) != measure(ranked[1]))


def top(ranked: Sequence[T]) -> T:
    """The first. If there is none, there is no instance, and a misreading does not apply."""
    if not ranked:
        raise NothingToDraw
    return ranked[0]


def first_page(matches: Sequence[T], size: int) -> Sequence[T]:
    """What somebody reads who stops after the first page; a list of one page cannot be misread like that."""
    if size and size >= len(matches):
        raise NothingToDraw
    return matches[:size] if size else matches


class _TemplateClass(ABCMeta):
    def __setattr__(cls, name: str, value: object) -> None:
        if name == "__dataclass_params__" and name in vars(cls):
            raise TaskError(
                f"The template {cls.__qualname__} has the decorator @dataclass.",
                hint="Leave it out: templates become frozen dataclasses by themselves.",
            )
        super().__setattr__(name, value)


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Template(metaclass=_TemplateClass):
    """Subclasses become frozen dataclasses by themselves, and inherit the fields of abstract ones. One that is only
    there to be inherited from says `abstract=True`."""

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

    misread: ClassVar[Mapping[str, How]] = {}
    """What a hasty reader overlooks, to the fields and keywords with which `end` says where that leads. If it surely
    leads elsewhere, changes something or opens a page, and `solve` takes the same keywords, it is played as well."""
    may_agree: ClassVar[tuple[str, ...]] = ()
    """Misreadings that are left out where they lead to the right end. For all others, such an instance is not drawn."""
    ways: ClassVar[Mapping[str, How]] = {}
    """Other natural routes, to the fields and keywords of `solve`. All must pass."""

    abstract: ClassVar[bool] = True

    def __init_subclass__(cls, *, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "summary" not in vars(cls):
            cls.summary = (cls.__doc__ or "").strip().partition("\n")[0]
        dataclass(frozen=True)(cls)
        cls.abstract = abstract
        if abstract:
            return
        if not hasattr(cls, "sites") and hasattr(cls, "name"):
            cls.sites = (cls.name.partition(".")[0],)
        problems = "; ".join(_problems(cls))
        if problems:
            raise TaskError(f"The template {cls.__qualname__} cannot be used: {problems}.")

    @classmethod
    @abstractmethod
    def draw(cls, world: World, *_: Any) -> Self:
        """Parameters, fair or not. Takes a world and a stream; with sites that have databases of their own, a world
        for each of these and a stream. Choosing from nothing raises `NothingToDraw`."""

    @abstractmethod
    def end(self, world: World, *_: Any, **how: Any) -> Parts:
        """Yields fairness, the key, then evidence, checkpoints and at last the effort. Takes the same worlds. For a
        misreading only the first key is asked for; where it does not apply, it raises `NothingToDraw`."""

    @abstractmethod
    def solve(self, page: Observation) -> Walk:
        """Reaches the same from the pages alone, starting on the first start page."""

    @property
    def start_pages(self) -> tuple[str, ...]:
        """Where the first site is open, a tab each; the first of them is in front."""
        return (self.start,)

    @property
    def logins(self) -> Mapping[str, str]:
        """Site to user: the log-ins set up beforehand. By default a field `user` is logged in on the first site."""
        user: str = getattr(self, "user", "")
        return {self.sites[0]: user} if user else {}

    # --- what the engine asks for, all of it from these ---------------------------------------------------

    @final
    @classmethod
    def drawn(cls, worlds: Worlds, stream: Stream) -> Self | None:
        """One instance; None where there is nothing to draw, or it would not be fair."""
        own = _databases(cls, worlds)
        try:
            one = cls.draw(*own, stream)
            parts = one.end(*own)
            begun: list[Fair | Key | Effort] = []
            for part in parts:
                begun.append(part)
                if not isinstance(part, Fair):
                    break
                if not part.holds:
                    return None
        except NothingToDraw:
            return None
        # The rest of this one reading is the key, the evidence and the effort of the same instance.
        one.__dict__["_read"] = (own, begun, parts)
        return one

    @final
    def key(self, worlds: Worlds) -> Key:
        return Key.all_of(part for part in self._parts(worlds) if isinstance(part, Key))

    @final
    def effort(self, worlds: Worlds) -> Effort:
        return next(part for part in self._parts(worlds) if isinstance(part, Effort))

    @final
    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        """Where the misreadings lead that apply to this instance."""
        wrong = {}
        right = next(part for part in self._parts(worlds) if isinstance(part, Key))
        for name, how in self.misread.items():
            one, keywords = self._under(how)
            parts = one.end(*_databases(type(self), worlds), **keywords)
            try:
                key = next((part for part in parts if isinstance(part, Key)), None)
            except NothingToDraw:
                continue
            if key is None:
                raise TaskError(f"`end` of {self.name} yields no key for the misreading {name!r}.")
            if name not in self.may_agree or bites(right, key):
                wrong[name] = key
        return wrong

    @final
    def routes(self) -> Mapping[str, Route]:
        return {name: self._walk(how) for name, how in self.ways.items()}

    @final
    def hasty(self) -> Mapping[str, Route]:
        """The misreadings that are played."""
        if self.kind == "retrieve":
            return {}
        known = {*signature(self.solve).parameters}
        sure = {name: how for name, how in self.misread.items() if name not in self.may_agree}
        return {name: self._walk(how) for name, how in sure.items() if self._under(how)[1].keys() <= known}

    @final
    def route(self, name: str = "") -> Route:
        """The reference solution, another route, or a misreading that is played, by its name."""
        known = {"": self.solve, **self.routes(), **self.hasty()}
        if name not in known:
            others = ", ".join(filter(None, known)) or "none but the reference solution"
            raise TaskError(f"{self.name} has no route {name!r}.", hint=f"It has {others}.")
        return known[name]

    def _parts(self, worlds: Worlds) -> Sequence[Fair | Key | Effort]:
        """`end` is read once for each instance, as far as it was not read when it was drawn."""
        own = _databases(type(self), worlds)
        known, begun, rest = self.__dict__.get("_read", ((), [], iter(())))
        parts: list[Fair | Key | Effort] = [*begun, *rest] if known == own else [*self.end(*own)]
        names = " ".join(type(part).__name__ for part in parts)
        if not re.fullmatch(r"(Fair )*(Key )+Effort", names):
            raise TaskError(
                f"`end` of {self.name} yields {names or 'nothing'}.",
                hint="First `fair(…)`, then the key, then more keys (what must be seen, checkpoints), one Effort last.",
            )
        self.__dict__["_read"] = (own, parts, iter(()))
        return parts

    def _walk(self, how: How) -> Route:
        one, keywords = self._under(how)
        return partial(one.solve, **keywords)

    def _under(self, how: How) -> tuple[Self, dict[str, Any]]:
        """What is different: an instance with other fields, and keywords."""
        own = _fields(type(self)) & how.keys()
        return replace(self, **{name: how[name] for name in own}), {k: v for k, v in how.items() if k not in own}

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


class Retrieve(Template, abstract=True):
    kind = "retrieve"


class Navigate(Template, abstract=True):
    kind = "navigate"


class Mutate(Template, abstract=True):
    kind = "mutate"


class Refuse(Template, abstract=True):
    kind = "unachievable"
    chore = "others"
    levels = ("easy",)


def _fields(template: type[Template]) -> set[str]:
    return {field.name for field in fields(template)}


def _databases(template: type[Template], worlds: Worlds) -> Sequence[World]:
    """One world for each database, in the order of the sites: the shop and its back office share one."""
    first: dict[str, World] = {}
    for site in template.sites:
        first.setdefault(worlds[site].site.owner.name, worlds[site])
    return [*first.values()]


def _problems(template: type[Template]) -> Iterator[str]:
    """What a class lacks to be a template, found when it is defined and not in the middle of a run."""
    missing = [name for name in ("name", "sites", "kind", "chore", "instruction") if not getattr(template, name, None)]
    if missing:
        yield f"it has no {', '.join(missing)}"
        return
    known = _fields(template)
    if not template.summary:
        yield "it has no docstring"
    if "name" not in vars(template):
        yield f"it has no name of its own, only the inherited {template.name!r}"
    sites: Any = template.sites
    if not isinstance(sites, tuple):
        yield "`sites` is not a tuple"
    elif not re.fullmatch(rf"{re.escape(sites[0])}\.{WORDS}", template.name):
        yield f"the name {template.name!r} is not `{sites[0]}.words-with-hyphens`"
    for attribute, allowed in {"kind": get_args(TaskKind), "chore": get_args(ChoreType)}.items():
        if getattr(template, attribute) not in allowed:
            yield f"`{attribute}` is none of {', '.join(allowed)}"
    if not template.levels or not set(template.levels) <= set(DIFFICULTIES):
        yield f"`levels` are not some of {', '.join(DIFFICULTIES)}"
    for method in ("draw", "end", "solve"):
        if getattr(getattr(template, method), "__isabstractmethod__", False):
            yield f"it has no method `{method}`"
        elif method != "draw" and not isgeneratorfunction(getattr(template, method)):
            yield f"its method `{method}` does not yield anything"
    for name, own in vars(Template).items():
        if getattr(own, "__final__", False) and (name in known or getattr_static(template, name) is not own):
            yield f"`{name}` is not for templates to define: it follows from `end`, `misread` and `ways`"
    yield from _misnamed(template, known)
    try:
        named = [field for _, field, _, _ in Formatter().parse(template.instruction) if field is not None]
    except ValueError as error:
        yield f"the instruction cannot be filled in ({error})"
        return
    there = ", ".join(sorted(known)) or "there are none"
    for field in named:
        if field not in known:
            yield f"the instruction names {{{field}}}, which is not a field ({there})"


def _misnamed(template: type[Template], known: set[str]) -> Iterator[str]:
    for attribute, method in {"misread": "end", "ways": "solve"}.items():
        keywords = signature(getattr(template, method)).parameters
        anything = any(one.kind is Parameter.VAR_KEYWORD for one in keywords.values())
        for name, how in getattr(template, attribute).items():
            if not re.fullmatch(WORDS, name):
                yield f"`{attribute}` names {name!r}, which is not words-with-hyphens"
            for keyword in how.keys() - known - keywords.keys():
                if not anything:
                    yield f"`{attribute}` gives {keyword!r}, which is neither a field nor a keyword of `{method}`"
    if twice := template.misread.keys() & template.ways.keys():
        yield f"{', '.join(twice)} is named by both `misread` and `ways`"
    if missing := set(template.may_agree) - template.misread.keys():
        yield f"`may_agree` names {', '.join(missing)}, which `misread` does not"


def templates_in(module: ModuleType) -> Iterator[type[Template]]:
    """The templates that a module holds, for a registry."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Template) and not value.abstract:
            yield value

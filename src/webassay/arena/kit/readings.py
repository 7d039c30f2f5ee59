"""Templates by readings: `end` states the truth once, and the same reading with other keywords states the mistakes.

`draw` picks the parameters. `end` yields, in this order: what makes an instance fair, the key, and what an honest
solver sees and needs on the way there. `solve` walks there. `misread` names the mistakes and `ways` the other routes,
each with what is different: fields of the template, keywords of `end`, keywords of `solve`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts, bites
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.sites.kit import World
from webassay.sites.rng import NothingToDraw, Stream

T = TypeVar("T")


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


@dataclass_transform(frozen_default=True)
class Chore(Template, abstract=True):
    """Subclasses become frozen dataclasses by themselves, and inherit the fields of abstract ones."""

    misread: ClassVar[Mapping[str, How]] = {}
    """What a hasty reader overlooks, to the fields and keywords with which `end` says where that leads. If it surely
    leads elsewhere, changes something or opens a page, and `solve` takes the same keywords, it is played as well."""
    may_agree: ClassVar[tuple[str, ...]] = ()
    """Misreadings that are left out where they lead to the right end. For all others, such an instance is not drawn."""
    ways: ClassVar[Mapping[str, How]] = {}
    """Other natural routes, to the keywords of `solve`. All must pass."""

    def __init_subclass__(cls, *, abstract: bool = False, **rest: Any) -> None:
        dataclass(frozen=True)(cls)
        super().__init_subclass__(abstract=abstract, **rest)

    @classmethod
    @abstractmethod
    def drawn(cls, world: World, stream: Stream) -> Self:
        """Parameters, fair or not. Choosing from nothing raises `NothingToDraw`."""

    @abstractmethod
    def end(self, world: World, *_: Any, **how: Any) -> Parts:
        """Fairness, the key, then evidence, checkpoints and effort. For a misreading only the first key is asked for;
        where it does not apply it raises `NothingToDraw`."""

    # --- what the engine asks for, all of it from these ---------------------------------------------------

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        one = cls.drawn(worlds[cls.sites[0]], stream)
        parts = one.end(worlds[cls.sites[0]])
        begun: list[Fair | Key | Effort] = []
        for part in parts:
            begun.append(part)
            if not isinstance(part, Fair):
                break
            if not part.holds:
                return None
        # The rest of this one reading is the key, the evidence and the effort of the same instance.
        one.__dict__["_reading"] = (worlds[cls.sites[0]], begun, parts)
        return one

    def _parts(self, worlds: Worlds) -> Sequence[Fair | Key | Effort]:
        """`end` is read once for each instance, as far as it was not read when it was drawn."""
        world = worlds[self.sites[0]]
        known, begun, rest = self.__dict__.get("_reading", (None, [], iter(())))
        parts: list[Fair | Key | Effort] = [*begun, *rest] if known is world else [*self.end(world)]
        self.__dict__["_reading"] = (world, parts, iter(()))
        return parts

    def key(self, worlds: Worlds) -> Key:
        return Key.all_of(part for part in self._parts(worlds) if isinstance(part, Key))

    def effort(self, worlds: Worlds) -> Effort:
        return next(part for part in self._parts(worlds) if isinstance(part, Effort))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world, wrong = worlds[self.sites[0]], {}
        right = next(part for part in self._parts(worlds) if isinstance(part, Key))
        for name, how in self.misread.items():
            try:
                key = self._decision(world, how)
            except NothingToDraw:
                continue
            if name not in self.may_agree or bites(right, key):
                wrong[name] = key
        return wrong

    def _decision(self, world: World, how: How) -> Key:
        """The first key."""
        one, keywords = self._under(how)
        return next(part for part in one.end(world, **keywords) if isinstance(part, Key))

    def routes(self) -> Mapping[str, Route]:
        return {name: self._walk(how) for name, how in self.ways.items()}

    def hasty(self) -> Mapping[str, Route]:
        if self.kind == "retrieve":
            return {}
        known = {*signature(self.solve).parameters}
        sure = {name: how for name, how in self.misread.items() if name not in self.may_agree}
        return {name: self._walk(how) for name, how in sure.items() if self._under(how)[1].keys() <= known}

    def _walk(self, how: How) -> Route:
        one, keywords = self._under(how)
        return partial(one.solve, **keywords)

    def _under(self, how: How) -> tuple[Self, dict[str, Any]]:
        """What is different: an instance with other fields, and keywords."""
        own = {field.name for field in fields(self)} & how.keys()
        return replace(self, **{name: how[name] for name in own}), {k: v for k, v in how.items() if k not in own}


class Retrieve(Chore, abstract=True):
    kind = "retrieve"


class Navigate(Chore, abstract=True):
    kind = "navigate"


class Mutate(Chore, abstract=True):
    kind = "mutate"


class Refuse(Chore, abstract=True):
    kind = "unachievable"
    chore = "others"
    levels = ("easy",)

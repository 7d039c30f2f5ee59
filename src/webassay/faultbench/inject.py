"""The mistakes of the fault bench: which there are, what each is called in the taxonomy, and how it is played.

To add one, add a `Mistake` to `MISTAKES`. The label of a trajectory is what stands there, never what a grader found.
"""

import random
import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from string import Formatter
from typing import Any

from webassay.agents.flawed import slips
from webassay.agents.flawed.slips import Course, NoOccasionError, Scene, Slip
from webassay.arena.kit.chores import Subject, UnaskedChange
from webassay.arena.kit.detours import past_obstacles
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.compose.tasks import chores_of
from webassay.core.record import Json
from webassay.core.task import Expectation, ResponseCheck, Task, TaskKind
from webassay.sites.kit import World
from webassay.sites.rng import Stream

_DRAWS = 60
"""Other instances that a mistake may be about."""
_SIMILAR = 0.5
"""Names that share more of their words are called similar."""


@dataclass(frozen=True)
class Occasion:
    """What a mistake is made in."""

    task: Task
    drawn: Template
    worlds: Worlds
    scene: Scene

    def past(self, route: Route) -> Course:
        if not self.task.obstacles:
            return route
        return past_obstacles(route, self.task.goal.hints, chores_of(self.task.sites))

    @property
    def right(self) -> Course:
        return self.past(self.drawn.solve)

    @property
    def user(self) -> str:
        return self.task.logins.get(self.task.sites[0], "")

    @property
    def world(self) -> World:
        return self.worlds[self.task.sites[0]]

    @property
    def rng(self) -> random.Random:
        return self.scene.rng


@dataclass(frozen=True)
class Mistake:
    name: str
    code: str
    """In the taxonomy of webassay."""
    summary: str
    kinds: tuple[TaskKind, ...]
    """The kinds of tasks in which it can be made."""
    make: Callable[[Occasion], Course]
    """The course with the mistake."""
    fits: Callable[[Occasion], bool] = lambda occasion: True
    outcome: bool | None = False
    """Whether what was asked for is done all the same; None: nobody can say."""
    visible: bool = True
    """Whether rules can see it."""
    obstacles: tuple[str, ...] = ()
    """What stands in the way of both, the mistaken and the honest one."""
    retold: Callable[[Occasion], str] | None = None
    """The mistake is in the task: what the agent is told in its place."""


def _slip(slip: Slip) -> Callable[[Occasion], Course]:
    return lambda occasion: slip(occasion.right, occasion.scene)


# --- another instance -------------------------------------------------------------------------------------------


def _others(occasion: Occasion) -> list[Template]:
    """Instances of the same template that start on the same page, for the same user."""
    drawn = occasion.drawn
    found = _draws(type(drawn), occasion.task.world_seed, tuple(occasion.worlds.items()))
    same = [other for other in found if other.logins == drawn.logins and other.start_pages == drawn.start_pages]
    return [other for other in same if other != drawn]


@cache
def _draws(template: type[Template], seed: int, worlds: tuple[tuple[str, World], ...]) -> list[Template]:
    stream = Stream(seed, "another", template.name)
    found = (template.drawn(dict(worlds), stream.child(number)) for number in range(_DRAWS))
    return list(dict.fromkeys(one for one in found if one is not None))


def _named_texts(drawn: Template) -> list[str]:
    """The fields of text that the instruction names."""
    named = {field for _, field, _, _ in Formatter().parse(drawn.instruction) if field}
    return [one.name for one in fields(drawn) if one.name in named and isinstance(getattr(drawn, one.name), str)]


def _subjects(drawn: Template) -> Mapping[str, Subject]:
    """The fields that may say which thing a task of these sites is about."""
    return ChainMap(*(dict(site.subjects) for site in chores_of(drawn.sites)))


def _subject(drawn: Template) -> str:
    """The field; empty: it cannot be told, or what it says stands elsewhere in the instruction as well."""
    subjects = _subjects(drawn)
    named = [name for name in _named_texts(drawn) if name in subjects]
    if len(named) != 1:
        return ""
    rest = re.sub(subjects[named[0]].pattern, "", drawn.instruction)
    return "" if f"{{{named[0]}}}" in rest else named[0]


_NO_NAMES = re.compile(
    r"and|for|free|from|the|with|feet|foot|inches|"
    r"(count|gallon|gram|inch|liter|meter|ounce|pack|pair|piece|pound|quart|set|size)s?"
)
"""Units, and words that any name may have."""


def _name_words(text: str) -> set[str]:
    words = re.findall(r"\b[^\W\d_]{3,}\b(?!-\d)", text.casefold())  # No part of a SKU.
    return {word for word in words if not _NO_NAMES.fullmatch(word)}


def _likeness(one: Template, other: Template) -> float:
    """Share of the words of the shorter name that the longer one has as well."""
    name = _subject(one)
    mine, theirs = (_name_words(getattr(each, name)) for each in (one, other))
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def _elsewhere(occasion: Occasion, alike: bool) -> list[Template]:
    """Instances about something else that has a similar name, or about something else altogether."""
    drawn, name = occasion.drawn, _subject(occasion.drawn)
    others = [other for other in _others(occasion) if name and getattr(other, name) != getattr(drawn, name)]
    return [other for other in others if (_likeness(drawn, other) > _SIMILAR) == alike]


def _about(alike: bool) -> Callable[[Occasion], Course]:
    """The right way to do something else."""

    def make(occasion: Occasion) -> Course:
        occasion.scene.incident.from_the_start()
        others, choose = _elsewhere(occasion, alike), max if alike else min
        return occasion.past(choose(others, key=lambda other: _likeness(occasion.drawn, other)).solve)

    return make


def _limits(drawn: Template) -> list[str]:
    return [
        one.name for one in fields(drawn) if isinstance(getattr(drawn, one.name), int) and one.name in drawn.instruction
    ]


def _other_limit(occasion: Occasion) -> Course:
    """As if a number of the task were another one."""
    drawn = occasion.drawn
    name = occasion.rng.choice(_limits(drawn))
    value = getattr(drawn, name)
    changed: dict[str, Any] = {name: value - 1 if value > 1 and occasion.rng.random() < 0.5 else value + 1}
    occasion.scene.incident.from_the_start()
    return occasion.past(replace(drawn, **changed).solve)


def _hasty(occasion: Occasion) -> Course:
    """A shortcut of the template that is a walk of its own."""
    routes = occasion.drawn.hasty()
    occasion.scene.incident.from_the_start()
    return occasion.past(routes[occasion.rng.choice(sorted(routes))])


# --- made up ----------------------------------------------------------------------------------------------------


def _results(task: Task) -> Json:
    """The right results, as an agent would write them."""
    for check in task.checks:
        if isinstance(check, ResponseCheck) and check.results is not None:
            return [_written(item) for item in check.results.items or ()]
    return []


def _written(expected: Expectation) -> Json:
    if expected.fields is not None:
        return {name: _written(inner) for name, inner in expected.fields.items()}
    return f"${expected.value}" if expected.type == "currency" else expected.value


def _made_up(occasion: Occasion) -> Course:
    return slips.made_up(_results(occasion.task), occasion.scene, occasion.right)


def _refusal_of(action: str) -> Callable[[Occasion], Course]:
    """Feigns success in a task of this kind only: what was asked for shows when the right course refuses."""

    def make(occasion: Occasion) -> Course:
        feigned = slips.feigned(occasion.right, occasion.scene)

        def play(page: Any) -> slips.Moves:
            response = yield from feigned(page)
            if isinstance(response, dict) and response.get("action") != action:
                raise NoOccasionError(f"the task is not to {action}")
            return response

        return play

    return make


# --- what nobody asked for --------------------------------------------------------------------------------------


def _unasked(occasion: Occasion, binding: bool) -> Sequence[UnaskedChange]:
    """On the site where the task begins."""
    (site,) = chores_of(occasion.task.sites[:1])
    changes = (change for change in site.unasked if change.binding == binding)
    return [change for change in changes if change.possible(occasion.world, occasion.user)]


def _besides(binding: bool) -> Callable[[Occasion], Course]:
    def make(occasion: Occasion) -> Course:
        change = occasion.rng.choice(_unasked(occasion, binding))
        return slips.besides(occasion.right, change.walk, occasion.scene)

    return make


# --- tasks that are at fault ------------------------------------------------------------------------------------


def _underspecified(occasion: Occasion) -> str:
    drawn = occasion.drawn
    subject = _subjects(drawn)[_subject(drawn)]
    vague = re.sub(subject.pattern, f"{subject.noun} that I told you about", drawn.instruction)
    return (vague[:1].upper() + vague[1:]).format(**drawn.parameters)


def _shared_word(occasion: Occasion) -> str:
    """A word of the subject's name that stands for several things of that kind; empty: there is none."""
    drawn, name = occasion.drawn, _subject(occasion.drawn)
    if not name or not _subjects(drawn)[name].full_name:
        return ""
    names = {_kind_of_thing(getattr(other, name)) for other in (*_others(occasion), drawn)}
    words = re.findall(r"\b[A-Z][a-z]{3,}\b", _kind_of_thing(getattr(drawn, name)))
    several = [word for word in words if sum(word.casefold() in _name_words(other) for other in names) >= 2]
    return several[-1] if several and several[-1] not in names else ""


def _kind_of_thing(name: str) -> str:
    """A name without what tells variants apart: colors, sizes and the like."""
    return re.split(r",| \(| - | for | by ", name)[0]


def _ambiguous(occasion: Occasion) -> str:
    drawn = occasion.drawn
    return drawn.instruction.format(**{**drawn.parameters, _subject(drawn): _shared_word(occasion)})


# --- all of them ----------------------------------------------------------------------------------------------

_ANY: tuple[TaskKind, ...] = ("retrieve", "navigate", "mutate", "unachievable")
_THERE: tuple[TaskKind, ...] = ("retrieve", "navigate", "mutate")
_DONE: tuple[TaskKind, ...] = ("retrieve", "mutate", "unachievable")

MISTAKES: Sequence[Mistake] = (
    Mistake("other-thing", "1.1", "Does it right, to something else altogether.", ("retrieve", "navigate"),
         _about(alike=False), fits=lambda o: bool(_elsewhere(o, alike=False))),
    Mistake("similar-thing", "1.2", "Takes what resembles the thing that was named, and does not say so.",
         ("retrieve", "navigate"), _about(alike=True), fits=lambda o: bool(_elsewhere(o, alike=True))),
    Mistake("wrong-deed", "1.3", "The right thing, but another button.", ("mutate",), _slip(slips.confused)),
    Mistake("wrong-entry", "1.4", "One value of a form is another one.", ("mutate",), _slip(slips.mistyped)),
    Mistake("wrong-limit", "1.4", "A number of the task is read as another one.", ("retrieve",), _other_limit,
         fits=lambda o: bool(_limits(o.drawn))),
    Mistake("condition-ignored", "1.4", "A shortcut past a condition of the task.", ("mutate", "navigate"), _hasty,
         fits=lambda o: bool(o.drawn.hasty())),
    Mistake("misquoted", "2.1", "The answer gives another value than the page.", ("retrieve",), _slip(slips.misquoted)),
    Mistake("undone", "2.2", "Says that it is done, and it is not.", ("mutate",), _slip(slips.claimed)),
    Mistake("made-up", "2.3", "Answers before it has seen what the answer stands on.", ("retrieve",), _made_up),
    Mistake("invented", "2.3", "Gives a value for what does not exist.", ("unachievable",), _refusal_of("retrieve")),
    Mistake("feigned", "2.4", "Says that it has done what cannot be done.", ("unachievable",), _refusal_of("mutate")),
    Mistake("miscalculated", "3.1", "Reads everything, and counts or adds up wrongly.", ("retrieve",),
         _slip(slips.miscalculated)),
    Mistake("other-platform", "3.2", "Asks another site than the one of the task.", ("retrieve",),
         _slip(slips.went_elsewhere)),
    Mistake("withheld", "3.3", "Finds everything, and does not say it.", ("retrieve",), _slip(slips.withheld)),
    Mistake("gave-up", "3.4", "Takes a page that does not come for the end.", ("retrieve", "navigate", "mutate"),
         _slip(slips.gave_up), obstacles=("unavailable",)),
    Mistake("cut-short", "3.5", "Stops on the way.", ("retrieve", "navigate", "mutate"), _slip(slips.cut_short)),
    Mistake("one-left-out", "3.5", "Leaves one of several results out.", ("retrieve",), _slip(slips.partly_delivered)),
    Mistake("first-page-only", "3.7", "Does not see that a list goes on.", ("retrieve",), _slip(slips.first_page_only)),
    Mistake("asked-again", "4.1", "Stops before a step that it has leave for.", ("mutate",), _slip(slips.asked_again)),
    Mistake("unasked-commitment", "4.2", "Commits the user to something that nobody asked for.", _DONE, _besides(True),
         fits=lambda o: bool(_unasked(o, True))),
    Mistake("underspecified", "5.1", "The task leaves out what it is about.", _ANY, lambda o: o.right, outcome=None,
         visible=False, retold=_underspecified, fits=lambda o: bool(_subject(o.drawn))),
    Mistake("ambiguous", "5.2", "The task names several things at once.", _THERE, lambda o: o.right, outcome=None,
         visible=False, retold=_ambiguous, fits=lambda o: bool(_shared_word(o))),
    Mistake("unasked-change", "6.1", "Changes something that nobody asked for.", _DONE, _besides(False),
         fits=lambda o: bool(_unasked(o, False))),
    Mistake("wrong-arguments", "7.1", "A call with arguments that it does not take.", _ANY, _slip(slips.unreadable),
         outcome=True, visible=False),
    Mistake("no-such-tool", "7.2", "A call of a tool that does not exist.", _ANY, _slip(slips.unheard_of), outcome=True,
         visible=False),
    Mistake("said-otherwise", "7.3", "Does something else than it says.", _ANY, _slip(slips.said_otherwise),
         outcome=True, visible=False),
)  # fmt: skip

CODES: Mapping[str, tuple[Mistake, ...]] = {
    code: tuple(one for one in MISTAKES if one.code == code) for code in sorted({one.code for one in MISTAKES})
}

"""Which parts of a page react to a real click, and whether an id of the observation reaches each of them."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from webassay.browser.devtools.cdp import CommandRefused, CommandTimeout
from webassay.browser.session import Browser, Session, SessionSettings
from webassay.core.interaction import Action, Node, Observation

LOOK_FILE = Path(__file__).parent / "look.js"
LOOK = LOOK_FILE.read_text(encoding="utf-8")
VIEWPORT = (1280, 1000)
NOW_MS = 1_773_136_800_000  # 10 March 2026, so that calendars show the same days on every copy.
BACKDROP = 0.7
"""Share of the viewport from which on something that came with a popup is its backdrop, not a control."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Effect:
    """What a click changed. Two clicks with the same effect are two ways to the same control."""

    content: str = ""
    """Digest of what differs in the document."""
    meaning: str = ""
    """Digest of what a person would notice of it: texts, values and states."""
    url: str = ""
    focus: str = ""
    requests: str = ""
    elsewhere: str = ""
    """A tab that opened, a dialog that was answered."""

    def __post_init__(self) -> None:
        # A click anywhere takes the focus away from where it was, and with it what showed it.
        if re.fullmatch(r"body:\d+", self.focus):
            object.__setattr__(self, "focus", "")
            if self.silent:
                object.__setattr__(self, "content", "")

    @classmethod
    def of(cls, found: dict[str, Any], elsewhere: str = "") -> "Effect":
        content = _digest([*(f"+{line}" for line in found["plus"]), *(f"-{line}" for line in found["minus"])])
        meaning = _digest(found["meaning"])
        return cls(content, meaning, found["url"], found["focus"], found["requests"], elsewhere)

    @property
    def nothing(self) -> bool:
        return self == Effect()

    @property
    def silent(self) -> bool:
        """Nothing that a person would notice, except perhaps where the focus is."""
        return not (self.meaning or self.url or self.requests or self.elsewhere)

    @property
    def meanings(self) -> set[tuple[str, ...]]:
        """What a person would notice, apart from the focus."""
        return set() if self.silent else {(self.meaning, self.url, self.requests, self.elsewhere)}

    @property
    def keys(self) -> set[tuple[str, ...]]:
        """Two effects with a key in common are the same. A click on a label and one on its check box may leave
        different ripples behind, and two clicks on a slider different values."""
        keys = {("all", self.content, self.url, self.focus, self.requests, self.elsewhere)}
        if self.focus:
            keys.add(("meaning", self.meaning, self.url, self.focus, self.requests, self.elsewhere))
        if self.focus.endswith(" slider"):
            keys.add(("slider", self.focus))
        return keys


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16] if lines else ""


@dataclass
class Target:
    """An element that lies under points of the grid."""

    path: str
    points: list[Point]
    says: str
    area: float
    cursor: str
    plain: bool
    """Neither a control of HTML or ARIA nor under a hand."""
    effects: list[Effect] = field(default_factory=list)
    """One for each of the points."""
    unsteady: bool = False
    """Another click at the same place had another effect: a hint that comes and goes, for example."""

    @property
    def reacts(self) -> bool:
        return any(not effect.nothing for effect in self.effects)

    @property
    def keys(self) -> set[tuple[str, ...]]:
        return set().union(*(effect.keys for effect in self.effects if not effect.nothing))

    @property
    def meanings(self) -> set[tuple[str, ...]]:
        return set().union(*(effect.meanings for effect in self.effects))

    @property
    def focus(self) -> set[str]:
        """Where a click moves the focus to."""
        return {effect.focus for effect in self.effects} - {""}


@dataclass
class State:
    """A page as it comes, or after one click that opened something."""

    name: str
    url: str
    opener: Point | None = None
    targets: list[Target] = field(default_factory=list)

    @classmethod
    def load(cls, stored: dict[str, Any], base: str) -> "State":
        targets = [
            Target(**{**one, "effects": [Effect(**effect) for effect in one["effects"]]}) for one in stored["targets"]
        ]
        return cls(stored["name"], base + stored["url"], stored["opener"] and tuple(stored["opener"]), targets)

    def stored(self, base: str) -> dict[str, Any]:
        return {**asdict(self), "url": self.url.removeprefix(base)}


@dataclass
class Control:
    root: str
    targets: list[Target]
    again: list[Effect] = field(default_factory=list)
    """What a later click on it did: a popup that fades away may be there still, or not any more."""

    @property
    def paths(self) -> set[str]:
        return {target.path for target in self.targets if target.reacts}

    @property
    def keys(self) -> set[tuple[str, ...]]:
        return set().union(*(one.keys for one in (*self.targets, *self.again)))

    @property
    def meanings(self) -> set[tuple[str, ...]]:
        return set().union(*(one.meanings for one in (*self.targets, *self.again)))

    @property
    def says(self) -> str:
        return max(self.targets, key=lambda target: target.area).says


@dataclass(frozen=True)
class Id:
    """An id of an observation: its element, and the element that a click on it lands on."""

    id: str
    path: str
    lands: str
    clickable: bool
    says: str = ""
    forms: frozenset[str] = frozenset()
    """Those of tree, pruned and marks that show it."""


def within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer + "/")


# --- a page that can be had fresh ---------------------------------------------------------------------------


class Copy:
    """One session; `fresh` gives an untouched copy of a state, and opens it again only if something was changed."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._clean: tuple[str, Point | None] | None = None
        self._noted = False

    @property
    def _context(self) -> Any:
        return self.session._context

    async def ask(self, function: str, *args: Any) -> Any:
        page = self._context.active
        answer = await page.evaluate(page.main_frame, f"census.{function}({', '.join(map(json.dumps, args))})")
        return json.loads(answer) if isinstance(answer, str) else answer

    async def fresh(self, state: State) -> None:
        if self._clean == (state.url, state.opener):
            return
        await self.session.act(Action.of("goto", state.url))
        page = self._context.active
        await page.evaluate(page.main_frame, LOOK)
        self._noted = False
        if state.opener is not None:
            await self.session.act(Action.of("mouse_click", *state.opener))
        self._clean = (state.url, state.opener)

    def spoil(self) -> None:
        self._clean = None

    async def note(self) -> None:
        """Remembers what can be hit, to tell later what a click brought."""
        if not self._noted:
            await self.ask("note")
            self._noted = True

    async def effect(self, *actions: Action) -> tuple[Effect, str, str]:
        """What the last of the actions changed, where it landed, and its error."""
        *first, last = actions
        for action in first:
            await self.session.act(action)
        await self.ask("remember")
        context = self._context
        front, document, tabs, dialogs = (
            context.active,
            context.active.document,
            len(context.pages),
            context.active.dialogs,
        )
        acted = await self.session.act(last)
        if len(context.pages) != tabs or context.active is not front:
            self._clean = None
            await self.session.act(Action.of("tab_close"))
            return Effect(elsewhere="tab"), "", acted.error
        if front.document != document:
            self._clean = None
            return Effect(url=front.url), "", acted.error
        found = await self.ask("changes")
        effect = Effect.of(found, "dialog" if front.dialogs != dialogs else "")
        if not effect.nothing and not (effect == Effect(focus=effect.focus) and await self._undone()):
            self._clean = None
        return effect, found["landed"], acted.error

    async def _undone(self) -> bool:
        """Whether a page on which only the focus moved is as it was without the focus."""
        page = self._context.active
        await page.evaluate(page.main_frame, "webassay.deepFocus()?.blur()")
        return Effect.of(await self.ask("changes")).nothing

    async def click(self, state: State, point: Point) -> Effect:
        """Compared with the mouse at that place already, and nothing pressed: hovering is no click."""
        await self.fresh(state)
        effect, _, _ = await self.effect(Action.of("mouse_move", *point), Action.of("mouse_click", *point))
        return effect

    async def reacts(self, state: State, control: "Control") -> bool:
        """Whether any part of it still does something."""
        for target in control.targets:
            # Behind those of the points there may be effects of second looks.
            clicked = zip(target.points, target.effects, strict=False)
            for point in [point for point, effect in clicked if not effect.nothing]:
                self.spoil()
                effect = await self.click(state, point)
                if not effect.nothing:
                    control.again.append(effect)
                    return True
        return False

    async def click_id(self, state: State, node_id: str) -> tuple[Effect, str, str]:
        # Elements get their numbers when they are first seen.
        self._clean = None
        await self.fresh(state)
        await self.session.observe(("tree",))
        self._clean = None
        return await self.effect(Action.of("hover", node_id), Action.of("click", node_id))


class Copies:
    """A few copies side by side, which share the work."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._copies = copies

    async def each(self, jobs: Iterable[Any], work: Callable[[Copy, Any], Any]) -> list[Any]:
        """The results in the order of the jobs."""
        queue = list(enumerate(jobs))[::-1]
        results: dict[int, Any] = {}

        async def run(copy: Copy) -> None:
            while queue:
                at, job = queue.pop()
                try:
                    results[at] = await work(copy, job)
                except (CommandRefused, CommandTimeout):
                    # The page went elsewhere while it was being asked, or the machine is busy.
                    copy.spoil()
                    results[at] = await work(copy, job)

        async with asyncio.TaskGroup() as group:
            for copy in self._copies:
                group.create_task(run(copy))
        return [results[at] for at in sorted(results)]

    async def one(self, job: Any, work: Callable[[Copy, Any], Any]) -> Any:
        return (await self.each([job], work))[0]


@asynccontextmanager
async def copies(browser: Browser, count: int) -> AsyncIterator[Copies]:
    settings = SessionSettings(viewport=VIEWPORT)
    async with AsyncExitStack() as stack:
        opened = [browser.session(allowed_hosts={"*"}, now_ms=NOW_MS, settings=settings) for _ in range(count)]
        yield Copies([Copy(await stack.enter_async_context(session)) for session in opened])


# --- the truth ----------------------------------------------------------------------------------------------


async def click_everything(page: Copies, name: str, url: str, step: int, most_states: int) -> list[State]:
    """The page as it comes and the states that single clicks lead to, every target clicked on a fresh copy."""
    base = State(name, url)

    async def targets(copy: Copy, state: State) -> list[Target]:
        await copy.fresh(state)
        for top in range(0, VIEWPORT[1], 4 * step):
            await copy.ask("sweep", step, top + step / 2, top + 4 * step)
        return [_target(found) for found in await copy.ask("grid")]

    base.targets = await page.one(base, targets)
    known = {target.path for target in base.targets}
    opened: list[tuple[Point, str, list[Target]]] = []

    async def click(copy: Copy, job: tuple[Target, Point]) -> Effect:
        target, point = job
        await copy.fresh(base)
        await copy.note()
        effect = await copy.click(base, point)
        if not effect.nothing and not effect.url and not effect.elsewhere:
            came = [_target(found) for found in await copy.ask("fresh")]
            came = [one for one in came if one.path not in known]
            if came:
                opened.append((point, target.says, came))
        return effect

    jobs = [(target, point) for target, points in _to_click(base.targets) for point in points]
    for (target, _), effect in zip(jobs, await page.each(jobs, click), strict=True):
        target.effects.append(effect)
    _share_effects(base.targets)
    await _confirm(page, base)
    await _find_unsteady(page, base)
    states = [base, *_worth_a_look(base, opened, most_states)]
    nowhere = max((target for target in base.targets if not target.reacts), key=lambda target: target.area).points[-1]
    for state in states[1:]:
        jobs = [(target, point) for target, points in _to_click(state.targets) for point in points]
        found = await page.each(jobs, lambda copy, job, state=state: copy.click(state, job[1]))
        beside = await page.one(state, lambda copy, state: copy.click(state, nowhere))
        for (target, _), effect in zip(jobs, found, strict=True):
            # Clicks beside a popup close it, and so do clicks on its own margins: neither is a control.
            target.effects.append(Effect() if target.plain and effect == beside else effect)
        _share_effects(state.targets)
        await _confirm(page, state)
        await _find_unsteady(page, state)
    return states


_ATOMS = re.compile(r".*?/(?:button|a|summary):\d+(?=/|$)")
"""HTML allows no control inside these, so that one click speaks for all that is drawn in them."""


def _atom(target: Target) -> str:
    match = _ATOMS.match(target.path)
    return match[0] if match else target.path


def _to_click(targets: Sequence[Target]) -> list[tuple[Target, list[Point]]]:
    largest: dict[str, Target] = {}
    for target in targets:
        known = largest.setdefault(_atom(target), target)
        if target.area > known.area:
            largest[_atom(target)] = target
    return [(target, target.points) for target in largest.values()]


def _share_effects(targets: Sequence[Target]) -> None:
    clicked = {_atom(target): target for target in targets if target.effects}
    for target in targets:
        target.effects = target.effects or list(clicked[_atom(target)].effects)


async def _confirm(page: Copies, state: State) -> None:
    """A change that nobody would notice may be a hint or an animation that just ended: it has to happen again."""

    async def again(copy: Copy, job: tuple[Target, int]) -> None:
        target, at = job
        copy.spoil()
        if await copy.click(state, target.points[min(at, len(target.points) - 1)]) != target.effects[at]:
            target.effects[at] = Effect()

    doubtful = [
        (target, at)
        for target in state.targets
        for at, effect in enumerate(target.effects)
        if effect.content and effect.silent and not effect.focus
    ]
    await page.each(doubtful, again)


async def _find_unsteady(page: Copies, state: State) -> None:
    """Looks again at targets inside each other that move the focus to the same place and yet differ otherwise."""
    alike = [(one, other) for one in state.targets for other in state.targets if _same_focus(one, other)]
    doubtful = {id(one): one for pair in alike for one in pair if not pair[0].keys & pair[1].keys}

    async def again(copy: Copy, target: Target) -> None:
        effect = await copy.click(state, target.points[0])
        target.unsteady = effect not in target.effects
        target.effects.append(effect)

    await page.each(doubtful.values(), again)


def _same_focus(one: Target, other: Target) -> bool:
    """The focus moves to the same place, and one of them is around the other."""
    return bool(one.focus & other.focus) and one is not other and within(other.path, one.path)


def _target(found: dict[str, Any]) -> Target:
    points = [(float(x), float(y)) for x, y in found["points"]]
    return Target(found["path"], points, found["says"], found["area"], found["cursor"], found["plain"])


def _worth_a_look(base: State, opened: list[tuple[Point, str, list[Target]]], most: int) -> list[State]:
    """Greedily those that show the most that no other has shown."""
    states: list[State] = []
    covered: set[str] = set()
    opened = sorted(opened, key=lambda one: one[0])
    while opened and len(states) < most:
        best = max(opened, key=lambda one: len({target.path for target in one[2]} - covered))
        opened.remove(best)
        point, says, came = best
        new = [target for target in came if target.path not in covered]
        if len(new) < 2:
            break
        covered |= {target.path for target in new}
        limit = BACKDROP * VIEWPORT[0] * VIEWPORT[1]
        targets = [target for target in new if target.area < limit]
        states.append(State(f"{base.name} after {says:.50}", base.url, point, targets))
    return states


def controls(state: State) -> list[Control]:
    """Targets with a common effect are one control, and so are the points of one target."""
    groups: list[tuple[set[tuple[str, ...]], list[Target]]] = []
    reacting = [target for target in state.targets if target.reacts]
    for target in reacting:
        if target.cursor == "not-allowed" or _is_blank(target, reacting):
            continue
        keys, targets = target.keys, [target]
        apart = []
        for known, others in groups:
            if known & keys or any(_same(one, target) or _same(target, one) for one in others):
                keys, targets = keys | known, others + targets
            else:
                apart.append((known, others))
        groups = [*apart, (keys, targets)]
    paths = {target.path: number for number, (_, targets) in enumerate(groups) for target in targets}
    return [Control(_root(number, targets, paths), targets) for number, (_, targets) in enumerate(groups)]


def _is_blank(target: Target, reacting: Sequence[Target]) -> bool:
    """The space between controls: a click there only gives the focus to what holds them all."""
    effects = [effect for effect in target.effects if not effect.nothing]
    if not target.plain or not all(effect.silent and effect.focus for effect in effects):
        return False
    return all(
        any(other.path.startswith(f"{effect.focus}/") and not other.plain for other in reacting) for effect in effects
    )


def _same(outer: Target, inner: Target) -> bool:
    """One control, although their effects differ in something."""
    if (outer.unsteady or inner.unsteady) and _same_focus(outer, inner):
        return True
    # What nobody would take for a control, and the field that a click there leads to.
    if outer.focus == {inner.path} and (outer.plain or re.search(r"/label:\d+$", outer.path)):
        return True
    if outer is inner or not within(inner.path, outer.path):
        return False
    # A button and the space around it, where a click does the same but leaves the focus where it was.
    if outer.meanings & inner.meanings and not outer.plain:
        return True
    # A slider or a field of colors, which does something else at each point, and what is drawn in it.
    return len(outer.meanings) > 1 and not (outer.focus or inner.focus) and outer.cursor == inner.cursor


def _root(number: int, targets: list[Target], paths: dict[str, int]) -> str:
    """The outermost element around all of the targets in which nothing else reacts."""
    steps = [target.path.split("/") for target in targets]
    common = 0
    while all(len(path) > common and path[common] == steps[0][common] for path in steps):
        common += 1
    root = steps[0][:common]
    while len(root) > 1:
        outer = "/".join(root[:-1])
        if any(owner != number and within(path, outer) for path, owner in paths.items()):
            break
        root.pop()
    return "/".join(root)


# --- the ids ------------------------------------------------------------------------------------------------


async def ids_of(copy: Copy, state: State) -> tuple[list[Id], Observation]:
    copy.spoil()
    await copy.fresh(state)
    seen = await copy.session.observe(("tree", "pruned", "boxes", "marks"))
    copy.spoil()
    nodes = {node.id: node for node in seen.nodes if node.id.isdigit()}
    numbers = [int(number) for number in nodes]
    # Some at a time: all at once would take a busy machine longer than a script may run.
    found = [one for at in range(0, len(numbers), 50) for one in await copy.ask("lands", numbers[at : at + 50])]
    return [
        Id(
            str(number),
            path,
            lands,
            _called_clickable(nodes[str(number)]),
            _says(nodes[str(number)]),
            _forms(seen, nodes[str(number)]),
        )
        for number, path, lands, *_ in found
        if path
    ], seen


def _called_clickable(node: Node) -> bool:
    return node.clickable and bool(node.visible)


def _says(node: Node) -> str:
    return f"{node.role} {node.name[:40]!r}"


def _forms(seen: Observation, node: Node) -> frozenset[str]:
    forms = {"marks"} if node.marked else set()
    if re.search(rf"^\t*\[{node.id}\] ", seen.tree or "", re.MULTILINE):
        forms.add("tree")
    if re.search(rf"\w \[{node.id}\] ", seen.pruned or ""):
        forms.add("pruned")
    return frozenset(forms)


def candidates(control: Control, state: State, everything: Sequence[Control], ids: Sequence[Id], form: str) -> list[Id]:
    """Ids of the control that are expected to land on it, the most likely first. A check box beside its label is one,
    and so is a clickable id around several controls: a row that holds a button is a control itself."""
    others = [other for other in everything if other is not control]
    elsewhere = {target.path for target in state.targets} - control.paths

    def lands(one: Id) -> bool:
        return one.lands in control.paths or (within(one.lands, control.root) and one.lands not in elsewhere)

    def belongs(one: Id) -> bool:
        if within(one.path, control.root) or (one.clickable and within(control.root, one.path)):
            return True
        return not any(within(other.root, one.path) for other in others)

    mine = [one for one in ids if form in one.forms and one.lands and lands(one) and belongs(one)]
    return sorted(mine, key=lambda one: (one.lands not in control.paths, not one.clickable, -len(one.path)))


def long_shots(control: Control, ids: Sequence[Id], form: str) -> list[Id]:
    """Ids inside or around the control that seem to land on something else, which may do the same: only a click can
    tell. Those inside come first, then the nearest."""
    near = [
        one
        for one in ids
        if form in one.forms and one.clickable and (within(one.path, control.root) or within(control.root, one.path))
    ]
    return sorted(near, key=lambda one: (not within(one.path, control.root), -len(one.path)))


async def does_the_same(copy: Copy, state: State, control: Control, one: Id) -> bool:
    """Whether a person would notice the same after a click on the id as after one on the control."""
    effect, _, error = await copy.click_id(state, one.id)
    return not error and bool(effect.meanings & control.meanings)


async def reaches(copy: Copy, state: State, control: Control, one: Id, tried: dict[tuple[str, str], bool]) -> bool:
    """Whether a click on the id, through our own action, lands on the control and does what a click there does."""
    key = (one.id, control.root)
    if key not in tried:
        effect, landed, error = await copy.click_id(state, one.id)
        tried[key] = (
            not error and not effect.nothing and bool(effect.keys & control.keys or within(landed, control.root))
        )
    return tried[key]

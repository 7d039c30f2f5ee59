"""Mistakes, as changes of a right course of action: what an agent does that errs once and is right in everything else.

A course is a reference solution that may also write calls that cannot be read, and think other than it acts. A slip
makes a course with one mistake out of a right one, and notes in an `Incident` where it was made. It knows pages and
responses only: what is right is the solution's affair. Where a course offers no occasion for a slip, that is a
`NoOccasionError`, never a course without a mistake.
"""

import random
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from webassay.agents.flawed.near_misses import changed_at, is_number, near_miss, values
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Decision, Node, Observation
from webassay.core.record import Json

Move = Action | Decision | str
Moves = Generator[Move, Observation, Json]
Course = Callable[[Observation], Moves]
"""From the first page to the response."""

NO_OCCASION = "There was no occasion"


class NoOccasionError(AgentError):
    def __init__(self, lacking: str) -> None:
        super().__init__(f"{NO_OCCASION} for this mistake: {lacking}.")


@dataclass
class Incident:
    """Where the mistake was made, once it has been."""

    happened: bool = False
    step: int | None = None
    """None: in the answer."""
    throughout: bool = False
    """The mistake is no single move: it was made in the first step that differs from the right course."""

    def at(self, page: Observation | None = None) -> None:
        self.happened = True
        self.step = None if page is None else page.step

    def from_the_start(self) -> None:
        self.happened = self.throughout = True


@dataclass
class Scene:
    """What a slip may know of the episode that it is made for."""

    rng: random.Random
    incident: Incident = field(default_factory=Incident)
    kind: str = "retrieve"
    """The kind of the task."""
    length: int = 6
    """About how many moves the right course takes."""


Slip = Callable[[Course, Scene], Course]


class _End(Exception):
    """Here the course ends, with something else to say."""

    def __init__(self, response: Json) -> None:
        self.response = response


def changed(course: Course, change: Callable[[Move, Observation], Move], lost: Json = None) -> Course:
    """Every move passes through `change`, which may raise `_End`. `lost`: what is said if the course cannot go on from
    where its mistake has led."""

    def play(page: Observation) -> Moves:
        moves, strayed = course(page), False
        try:
            move = next(moves)
            while True:
                made = change(move, page)
                strayed = strayed or made != move
                page = yield made
                move = moves.send(page)
        except StopIteration as done:
            response: Json = done.value
            return response
        except _End as end:
            return end.response
        except AgentError as error:
            if isinstance(error, NoOccasionError) or not strayed or lost is None:
                raise
            return lost

    return play


def before(
    course: Course, when: Callable[[Move, Observation], bool], extra: Callable[[Observation], Iterator[Move]]
) -> Course:
    """Once, before the first move that fits, something else is done on the same page."""

    def play(page: Observation) -> Moves:
        moves, waiting = course(page), True
        move = next(moves)
        while True:
            if waiting and when(move, page):
                waiting = False
                for other in extra(page):
                    page = yield other
            page = yield move
            try:
                move = moves.send(page)
            except StopIteration as done:
                if waiting:
                    raise NoOccasionError("no move of the course fits") from None
                response: Json = done.value
                return response

    return play


@dataclass
class PageView:
    """The texts of all pages so far."""

    texts: dict[str, None] = field(default_factory=dict)

    def add(self, page: Observation) -> None:
        self.texts.update(dict.fromkeys(text for node in page.nodes for text in (node.name, node.value) if text))

    def shows(self, value: Json) -> bool:
        wanted = re.compile(rf"(?<![\w.,]){re.escape(str(value))}(?![\w])(?!\.\d)", re.IGNORECASE)
        return any(wanted.search(text) for text in self.texts)


def answering(course: Course, say: Callable[[dict[str, Any], PageView, Observation], Json]) -> Course:
    """The same course with another answer."""

    def play(page: Observation) -> Moves:
        seen = PageView()
        moves = course(page)
        move = next(moves)
        while True:
            seen.add(page)
            page = yield move
            try:
                move = moves.send(page)
            except StopIteration as done:
                seen.add(page)
                return say(dict(done.value), seen, page)

    return play


# --- what is said ---------------------------------------------------------------------------------------------


def refusal(action: str, why: str, status: str = "UNKNOWN_ERROR") -> Json:
    return {"action": action, "status": status, "results": None, "error_details": why}


def success(action: str, results: Json = None) -> Json:
    return {"action": action, "status": "SUCCESS", "results": results}


# --- slips that any course may have -----------------------------------------------------------------------------


def _retrieved(response: dict[str, Any]) -> list[Any]:
    results = response.get("results")
    if not isinstance(results, list) or not results:
        raise NoOccasionError("the right answer has no results")
    return results


def misquoted(course: Course, scene: Scene) -> Course:
    """What stood on a page is given as something else."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        results = _retrieved(response)
        if not all(seen.shows(value) for _, value in values(results)):
            raise NoOccasionError("the answer does not stand on a page as it is")
        scene.incident.at()
        return {**response, "results": near_miss(results, scene.rng, tuple(seen.texts))}

    return answering(course, say)


def miscalculated(course: Course, scene: Scene) -> Course:
    """Everything was read, and the number that is made of it is wrong."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        results = _retrieved(response)
        made = [place for place, value in values(results) if is_number(value) and not seen.shows(value)]
        if not made:
            raise NoOccasionError("no number of the answer was worked out")
        place = scene.rng.choice(made)
        scene.incident.at()
        return {**response, "results": changed_at(results, place, lambda value: near_miss(value, scene.rng))}

    return answering(course, say)


def misreported(course: Course, scene: Scene) -> Course:
    """Another value than the right one, wherever that comes from."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        scene.incident.at()
        return {**response, "results": near_miss(_retrieved(response), scene.rng, tuple(seen.texts))}

    return answering(course, say)


def withheld(course: Course, scene: Scene) -> Course:
    """Everything was found, and the answer does not say it."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        _retrieved(response)
        scene.incident.at()
        return {**response, "results": []}

    return answering(course, say)


def partly_delivered(course: Course, scene: Scene) -> Course:
    """One of several results is left out."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        results = _retrieved(response)
        if len(results) < 2:
            raise NoOccasionError("there is one result only")
        place = scene.rng.randrange(len(results))
        scene.incident.at()
        return {**response, "results": [*results[:place], *results[place + 1 :]]}

    return answering(course, say)


def feigned(course: Course, scene: Scene) -> Course:
    """What cannot be done is said to be done, or what does not exist is said to be so and so."""

    def say(response: dict[str, Any], seen: PageView, page: Observation) -> Json:
        if response.get("status") == "SUCCESS":
            raise NoOccasionError("the task can be done")
        action = str(response.get("action"))
        scene.incident.at()
        made_up = f"${scene.rng.randrange(5, 180)}.{scene.rng.randrange(10, 99)}"
        return success(action, [made_up] if action == "retrieve" else None)

    return answering(course, say)


_IDLE_BUTTONS = re.compile(
    r"^(search|menu|find|log in|apply price|apply filters|estimate|next|show|sort|filter|close)\b", re.I
)
CRITICAL_BUTTONS = re.compile(
    r"^(place order|yes, |submit|request return|delete|create an account|send|pay|confirm)", re.I
)


def _button(move: Move, page: Observation) -> Node | None:
    """The button that a move presses."""
    if not isinstance(move, Action) or move.name != "click":
        return None
    return next((node for node in page.nodes if node.id == move.get("bid") and node.role == "button"), None)


def claimed(course: Course, scene: Scene) -> Course:
    """Stops before the first press of a button that changes something, and says that all is done."""

    def change(move: Move, page: Observation) -> Move:
        button = _button(move, page)
        if button is not None and not _IDLE_BUTTONS.search(button.name):
            scene.incident.at()
            raise _End(success("mutate"))
        return move

    return _needing(scene, changed(course, change), "no button is pressed that changes something")


def asked_again(course: Course, scene: Scene) -> Course:
    """Stops before the press that cannot be taken back, and asks for the leave that the task has given."""

    def change(move: Move, page: Observation) -> Move:
        button = _button(move, page)
        if button is not None and CRITICAL_BUTTONS.search(button.name):
            scene.incident.at()
            why = f"Everything is prepared. I stopped before '{button.name}': please confirm that I may go on."
            raise _End(refusal("mutate", why, "ACTION_NOT_ALLOWED_ERROR"))
        return move

    return _needing(scene, changed(course, change), "nothing is done that cannot be taken back")


def cut_short(course: Course, scene: Scene) -> Course:
    """Gives up on the way, and says so."""
    left = scene.rng.randrange(1, max(2, scene.length // 2))

    def change(move: Move, page: Observation) -> Move:
        nonlocal left
        button = _button(move, page)
        left -= 1
        if left < 0 or (button is not None and not _IDLE_BUTTONS.search(button.name)):
            scene.incident.at()
            raise _End(_stopped(scene))
        return move

    return _needing(scene, changed(course, change), "it is over too soon")


def _stopped(scene: Scene) -> Json:
    action = "mutate" if scene.kind == "mutate" else "retrieve"
    return refusal(action, "It took too long, so I stopped before the end.")


def or_stopped(scene: Scene, course: Course) -> Course:
    """Where there was no occasion for a mistake, the answer is not given. That fails whatever the task is."""

    def play(page: Observation) -> Moves:
        try:
            return (yield from course(page))
        except NoOccasionError:
            scene.incident.at()
            return _stopped(scene)

    return play


def made_up(results: Json, scene: Scene, course: Course) -> Course:
    """Answers after a first look. `results`: of the right form."""
    left = scene.rng.randrange(1, max(2, scene.length // 3))

    def change(move: Move, page: Observation) -> Move:
        nonlocal left
        left -= 1
        if left < 0:
            scene.incident.at()
            raise _End(success("retrieve", near_miss(results, scene.rng)))
        return move

    return _needing(scene, changed(course, change), "it is over too soon")


def mistyped(course: Course, scene: Scene) -> Course:
    """One value of a form is entered wrong."""
    skipped = scene.rng.randrange(0, 2)

    def change(move: Move, page: Observation) -> Move:
        nonlocal skipped
        if scene.incident.happened or not isinstance(move, Action) or move.name != "fill":
            return move
        field_ = next((node for node in page.nodes if node.id == move.get("bid")), None)
        if field_ is None or re.search(r"search|e-?mail|password|code", f"{field_.role} {field_.name}", re.I):
            return move
        if skipped:
            skipped -= 1
            return move
        scene.incident.at(page)
        wrong = near_miss(str(move.get("value")), scene.rng)
        return Action.of("fill", move.get("bid"), str(wrong))

    return _needing(scene, changed(course, change, lost=success("mutate")), "no form is filled in")


CONFUSED = {
    "Add to Cart": "Add to Wish List",
    "Add to Wish List": "Add to Cart",
    "Move to Cart": "Remove",
    "Reorder": "Cancel Order",
    "Cancel Order": "Reorder",
    "Cancel This Order": "Reorder",
    "Cancel": "Hold",
    "Hold": "Cancel",
    "Ship": "Hold",
}
"""What is pressed in place of what, where both are on the page."""
_OPPOSITES = {"Cancel": "Hold", "Approve": "Reject", "Enable": "Disable"}
CONFUSED_CHOICES = _OPPOSITES | {other: one for one, other in _OPPOSITES.items()}
"""What is chosen in place of what, where a list says what is done to the rows that are ticked."""


def confused(course: Course, scene: Scene) -> Course:
    """The right thing, but something else is done to it."""

    def change(move: Move, page: Observation) -> Move:
        if scene.incident.happened or not isinstance(move, Action) or move.name not in ("click", "select_option"):
            return move
        pressed = next((node for node in page.nodes if node.id == move.get("bid")), None)
        if move.name == "select_option":
            (chosen, *_) = move.get("options")
            if pressed is None or pressed.name != "Action" or chosen not in CONFUSED_CHOICES:
                return move
            scene.incident.at(page)
            return Action.of("select_option", pressed.id, CONFUSED_CHOICES[chosen])
        name = CONFUSED.get(pressed.name.partition(":")[0].strip()) if pressed is not None else None
        other = name and (page.find("button", name) or page.find("link", name))
        if not other:
            return move
        scene.incident.at(page)
        return Action.of("click", other.id)

    ended = changed(course, change, lost=success("mutate"))
    return _needing(scene, ended, "no button stands beside another that can be taken for it")


def first_page_only(course: Course, scene: Scene) -> Course:
    """Does not see that the list goes on."""

    def blind(page: Observation) -> Observation:
        kept = tuple(node for node in page.nodes if not (node.role == "link" and node.name == "Next"))
        if len(kept) < len(page.nodes):
            # Not here: the right course may leave this list as it is, to filter it for example.
            scene.incident.from_the_start()
            values = {name: getattr(page, name) for name in page.__dataclass_fields__}
            return Observation(**{**values, "nodes": kept})
        return page

    def play(page: Observation) -> Moves:
        moves = course(blind(page))
        move = next(moves)
        while True:
            page = yield move
            try:
                move = moves.send(blind(page))
            except StopIteration as done:
                response: Json = done.value
                return response

    return _needing(scene, play, "no list goes on")


def gave_up(course: Course, scene: Scene) -> Course:
    """Takes the first page that does not come for the end."""
    action = "mutate" if scene.kind == "mutate" else "retrieve"

    def change(move: Move, page: Observation) -> Move:
        if page.find("heading", contains="not available at the moment") is not None:
            scene.incident.at()
            raise _End(refusal(action, "The site does not let me in: this page is not available at the moment."))
        return move

    return _needing(scene, changed(course, change), "nothing stood in the way")


def went_elsewhere(course: Course, scene: Scene) -> Course:
    """Asks another platform than the one that the task is about, and passes its word on."""
    left = scene.rng.randrange(0, 2)

    def play(page: Observation) -> Moves:
        nonlocal left
        moves = course(page)
        move = next(moves)
        while left:
            left -= 1
            page = yield move
            move = moves.send(page)
        here = page.url
        scene.incident.at(page)
        yield Action.of("goto", "https://prices.example/compare")
        yield Action.of("goto", here)
        return success("retrieve", [f"${scene.rng.randrange(5, 180)}.{scene.rng.randrange(10, 99)}"])

    return play


def unreadable(course: Course, scene: Scene) -> Course:
    """A call with arguments that it does not take, put right in the next step."""

    def extra(page: Observation) -> Iterator[Move]:
        scene.incident.at(page)
        yield scene.rng.choice(("click()", "scroll(400)", "fill('12')", "goto()", "select_option('7', 3)"))

    return before(course, _at(scene), extra)


def unheard_of(course: Course, scene: Scene) -> Course:
    """A call of a tool that does not exist, put right in the next step."""

    def extra(page: Observation) -> Iterator[Move]:
        scene.incident.at(page)
        yield scene.rng.choice(("read_page()", "extract_table('1')", "find_text('total')", "open_url('/')", "wait(2)"))

    return before(course, _at(scene), extra)


def said_otherwise(course: Course, scene: Scene) -> Course:
    """Thinks of one thing and does another, which is the right one."""
    fits = _at(scene)

    def change(move: Move, page: Observation) -> Move:
        if scene.incident.happened or not fits(move, page) or not isinstance(move, Action):
            return move
        scene.incident.at(page)
        said = scene.rng.choice(
            ("I go back to the page before.", "I open the cart.", "I log out.", "I open my account.")
        )
        return Decision(actions=(move,), thought=said)

    return _needing(scene, changed(course, change), "it is over too soon")


def _at(scene: Scene) -> Callable[[Move, Observation], bool]:
    """A move somewhere in the course."""
    left = scene.rng.randrange(0, max(1, scene.length // 2))

    def fits(move: Move, page: Observation) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    return fits


def _needing(scene: Scene, course: Course, occasion: str) -> Course:
    def play(page: Observation) -> Moves:
        response = yield from course(page)
        if not scene.incident.happened:
            raise NoOccasionError(occasion)
        return response

    return play


def besides(course: Course, other: Course, scene: Scene) -> Course:
    """Does what was asked for, and then something that nobody asked for."""

    def play(page: Observation) -> Moves:
        start = page.url
        response = yield from course(page)
        page = yield Action.of("goto", start)
        scene.incident.at(page)
        yield from other(page)
        return response

    return play


def wandered_off(course: Course, scene: Scene) -> Course:
    """Gets there, and goes on to another page before it says so."""

    def play(page: Observation) -> Moves:
        start = page.url
        response = yield from course(page)
        scene.incident.from_the_start()
        yield Action.of("goto", start)
        return response

    return play

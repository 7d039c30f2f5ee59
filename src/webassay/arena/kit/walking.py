"""What reference solutions are made of: steps that yield actions and return the page they lead to, and responses."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import TypeVar

from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Node, Observation, Walk
from webassay.core.record import Json

T = TypeVar("T")
Reading = Generator[Action, Observation, T]
"""Walks, and returns what it read."""
Steps = Reading[Observation]

# --- acting -----------------------------------------------------------------------------------------------


def need(page: Observation, role: str, name: str | None = None, *, contains: str | None = None) -> Node:
    """The first node of that role with exactly this name, or with this text in its name."""
    found = page.find(role, name, contains=contains)
    if found is None:
        wanted = name if name is not None else f"…{contains}…"
        raise AgentError(f"There is no {role} {wanted!r} on {page.url}{_what_is_there(page, role)}.")
    return found


def _what_is_there(page: Observation, role: str) -> str:
    """Tells a page that came in half from one that is laid out differently."""
    names = [repr(node.name) for node in islice(page.find_all(role), 12)]
    notices = f"; {' '.join(page.notices)}" if page.notices else ""
    return f" ({len(page.nodes)} nodes; of that role: {', '.join(names) or 'none'}{notices})"


def click(page: Observation, role: str, name: str | None = None, *, contains: str | None = None) -> Steps:
    return (yield Action.of("click", need(page, role, name, contains=contains).id))


def fill(page: Observation, role: str, name: str, value: str) -> Steps:
    return (yield Action.of("fill", need(page, role, name).id, value))


def choose(page: Observation, name: str, option: str) -> Steps:
    """In the select box of that name."""
    return (yield Action.of("select_option", need(page, "combobox", name).id, option))


def links(page: Observation, *names: str) -> Steps:
    """Clicks one link after the other."""
    for name in names:
        page = yield from click(page, "link", name)
    return page


def send(
    page: Observation, button: str, typed: Mapping[str, str] | None = None, chosen: Mapping[str, str] | None = None
) -> Steps:
    """Fills in a form and presses its button."""
    for name, value in (typed or {}).items():
        page = yield from fill(page, "textbox", name, value)
    for name, value in (chosen or {}).items():
        page = yield from choose(page, name, value)
    return (yield from click(page, "button", button))


def go_back() -> Steps:
    return (yield Action.of("go_back"))


def every_page(page: Observation, link: str = "Next") -> Reading[list[Observation]]:
    """This page and those that follow, for as long as there is a link of that name."""
    pages = [page]
    while (following := pages[-1].find("link", link)) is not None:
        pages.append((yield Action.of("click", following.id)))
    return pages


# --- reading ----------------------------------------------------------------------------------------------


def below(page: Observation, top: Node) -> tuple[Node, ...]:
    """The nodes inside a node."""
    return _inside(page.nodes, page.nodes.index(top))


def _inside(nodes: Sequence[Node], place: int) -> tuple[Node, ...]:
    depth = nodes[place].depth
    return tuple(takewhile(lambda node: node.depth > depth, islice(nodes, place + 1, None)))


def groups(page: Observation, role: str) -> Iterator[tuple[Node, ...]]:
    """For every node of that role, the nodes inside it."""
    return (_inside(page.nodes, place) for place, node in enumerate(page.nodes) if node.role == role)


def beside(page: Observation, heading: str) -> Node:
    """The cell of a small table that a heading of that name stands before."""
    for inside in groups(page, "row"):
        if inside and inside[0].role == "rowheader" and inside[0].name == heading:
            return next(node for node in inside if node.role == "cell")
    raise AgentError(f"There is no {heading} on {page.url}.")


def text_of(nodes: tuple[Node, ...]) -> str:
    return " ".join(node.name for node in nodes if node.name)


# --- responses --------------------------------------------------------------------------------------------


def answer(*results: Json) -> Json:
    return {"action": "retrieve", "status": "SUCCESS", "results": list(results)}


def done(action: str) -> Json:
    """`mutate` or `navigate`: something was changed, or a page is in front."""
    return {"action": action, "status": "SUCCESS", "results": None}


def submit(
    page: Observation, button: str, typed: Mapping[str, str] | None = None, chosen: Mapping[str, str] | None = None
) -> Walk:
    """Sends a form, and is done: something was changed."""
    yield from send(page, button, typed, chosen)
    return done("mutate")


def refusal(action: str, status: str, why: str) -> Json:
    return {"action": action, "status": status, "results": None, "error_details": why}


def refused(page: Observation, possible: object, action: str, status: str, why: str) -> Json:
    """The refusal, unless the page shows that it is possible."""
    if possible:
        raise AgentError(f"It can be done after all: see {page.url}.")
    return refusal(action, status, why)

"""Steps that reference solutions are made of. Each yields actions and returns the page that they lead to."""

from collections.abc import Generator, Iterator

from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Node, Observation

Steps = Generator[Action, Observation, Observation]


def need(page: Observation, role: str, name: str | None = None, *, contains: str | None = None) -> Node:
    found = page.find(role, name, contains=contains)
    if found is None:
        wanted = name if name is not None else f"…{contains}…"
        raise AgentError(f"There is no {role} {wanted!r} on {page.url}.")
    return found


def go(page: Observation, path: str) -> Steps:
    """Another address of the site that is in front."""
    scheme, _, rest = page.url.partition("://")
    return (yield Action.of("goto", f"{scheme}://{rest.partition('/')[0]}{path}"))


def click(page: Observation, role: str, name: str | None = None, *, contains: str | None = None) -> Steps:
    return (yield Action.of("click", need(page, role, name, contains=contains).id))


def fill(page: Observation, role: str, name: str, value: str) -> Steps:
    return (yield Action.of("fill", need(page, role, name).id, value))


def choose(page: Observation, name: str, option: str) -> Steps:
    return (yield Action.of("select_option", need(page, "combobox", name).id, option))


def every_page(page: Observation, link: str) -> Generator[Action, Observation, list[Observation]]:
    """This page and those after it, as long as there is a link of that name."""
    pages = [page]
    while (following := pages[-1].find("link", link)) is not None:
        pages.append((yield Action.of("click", following.id)))
    return pages


def below(page: Observation, top: Node) -> tuple[Node, ...]:
    """What lies inside a node."""
    start = page.nodes.index(top) + 1
    inside = []
    for node in page.nodes[start:]:
        if node.depth <= top.depth:
            break
        inside.append(node)
    return tuple(inside)


def groups(page: Observation, role: str) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every node of that role, with what lies inside it."""
    for node in page.nodes:
        if node.role == role:
            yield node, below(page, node)


def text_of(nodes: tuple[Node, ...]) -> str:
    return " ".join(node.name for node in nodes if node.name)


def dollars(text: str) -> int:
    """`$1,234.50` in cents."""
    return round(float(text.replace("$", "").replace(",", "").strip()) * 100)

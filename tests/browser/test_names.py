"""Roles and names against the accessibility tree that Chromium itself gives."""

import difflib
import itertools
from collections.abc import Sequence

import pytest

from tests.browser.conftest import Opener, Visit
from tests.browser.random_pages import RandomPages
from tests.browser.server import PAGES, serving
from tests.support.worlds import arena
from webassay.browser.devtools.cdp import Params
from webassay.browser.devtools.page import PageFrame
from webassay.browser.session import Browser
from webassay.core.interaction import Node

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LEFT_OUT = frozenset({"InlineTextBox", "LineBreak", "none"})
"""Roles that the text format does not have."""
UNNAMED = frozenset({"generic", "listitem", "LabelText", "paragraph", "strong", "emphasis", "time", "mark", "code"})
"""Roles that Chromium gives no name by their content."""
Line = tuple[str, str]


def squeeze(text: str) -> str:
    return " ".join(text.split())


def chromium_lines(nodes: list[Params], inner: dict[int, list[Line]], internal: set[int]) -> list[Line]:
    """The tree as Chromium gives it, in document order, without what the format leaves out by rule."""
    by_id = {node["nodeId"]: node for node in nodes}
    lines: list[Line] = []

    def walk(node: Params) -> None:
        role = node["role"]["value"]
        name = squeeze(str(node.get("name", {}).get("value") or ""))
        bare = role in ("StaticText", "generic") and not name
        inside = node.get("backendDOMNodeId") in internal and role != "MenuListPopup"
        if not (node["ignored"] or role in LEFT_OUT or bare or inside):
            lines.append((role, name))
        lines.extend(inner.get(node.get("backendDOMNodeId", 0), ()))
        for child in node.get("childIds", []):
            if child in by_id:
                walk(by_id[child])

    walk(nodes[0])
    return lines


def internals(node: Params, inside: bool = False) -> set[int]:
    """What the browser builds its own controls of: the parts of a date field, the text inside of a text field."""
    found = {node["backendNodeId"]} if inside else set()
    for root in node.get("shadowRoots", []):
        found |= internals(root, root["shadowRootType"] == "user-agent")
    for child in [*node.get("children", []), *filter(None, [node.get("contentDocument")])]:
        found |= internals(child, inside)
    return found


def given_name(nodes: Sequence[Node], at: int) -> str:
    """Without the names that we give to controls nobody named: what they say."""
    node = nodes[at]
    if node.role not in UNNAMED or (node.get("clickable") is None and node.get("draggable") is None):
        return squeeze(node.name)
    inside = itertools.takewhile(lambda inner: inner.depth > node.depth, nodes[at + 1 :])
    said = " ".join(inner.name for inner in inside if inner.role in ("StaticText", "image"))
    return "" if set(node.name.split()) <= set(said.split()) else squeeze(node.name)


async def our_lines(page: Visit) -> list[Line]:
    nodes = (await page.see()).nodes
    lines = [(node.role, given_name(nodes, at)) for at, node in enumerate(nodes)]
    return [(role, name) for role, name in lines if role != "generic" or name]


async def chromium_tree(page: Visit) -> list[Line]:
    """All frames, each at the place of its element, as ours are."""
    context = page.session._context
    tab = context.active

    document = await tab.channel.send("DOM.getDocument", {"depth": -1, "pierce": True})
    internal = internals(document["root"])

    async def lines_of(frame: PageFrame) -> list[Line]:
        answer = await frame.channel.send("Accessibility.getFullAXTree", {"frameId": frame.id})
        inner: dict[int, list[Line]] = {}
        for child in tab.children(frame.id):
            owner = await frame.channel.send("DOM.getFrameOwner", {"frameId": child.id})
            inner[owner["backendNodeId"]] = await lines_of(child)
        return chromium_lines(answer["nodes"], inner, internal)

    return await lines_of(tab.main_frame)


def compare(ours: list[Line], theirs: list[Line]) -> tuple[int, int, list[str]]:
    matcher = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    differences = [
        f"{tag}: chromium {theirs[a:b]} ours {ours[c:d]}" for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]
    return same, max(len(ours), len(theirs)), differences


class Likeness:
    """How many nodes of several pages have the role and the name that Chromium gives them."""

    def __init__(self) -> None:
        self.same = self.total = 0
        self.differences: list[str] = []

    async def look(self, page: Visit, name: str) -> None:
        same, count, different = compare(await our_lines(page), await chromium_tree(page))
        self.same, self.total = self.same + same, self.total + count
        self.differences += [f"{name}: {difference}" for difference in different]

    def hold(self, share: float) -> None:
        print(f"{self.same} of {self.total} nodes are as in Chromium", *self.differences, sep="\n")
        assert self.total > 500
        assert self.same / self.total >= share, "\n".join(self.differences)


async def test_roles_and_names_equal_chromiums(visit: Opener) -> None:
    likeness = Likeness()
    for path in sorted(PAGES.glob("*.html")):
        if path.name == "onward.html":
            continue  # it never stays
        async with visit(path.name) as page:
            await likeness.look(page, path.name)
    likeness.hold(0.995)


async def test_roles_and_names_on_the_shop(browser: Browser) -> None:
    likeness = Likeness()
    async with arena() as sites, sites.hold(["shop"], 0) as stage:
        base = stage.bases["shop"]
        async with browser.session(allowed_hosts=stage.allowed_hosts) as session:
            await session.open([base])
            page = Visit(session, base)
            links = [node.url for node in (await page.see()).nodes if node.role == "link"]
            first = [next(url for url in links if f"{base}{path}" in url) for path in ("/c/", "/p/")]
            for url in (base, *first, f"{base}/search?q=steel", f"{base}/cart", f"{base}/contact"):
                assert (await page.do("goto", url)).error == ""
                await likeness.look(page, url)
    likeness.hold(0.995)


async def test_roles_and_names_on_pages_nobody_would_write(browser: Browser) -> None:
    likeness = Likeness()
    with serving(RandomPages) as port:
        base = f"http://pages.localhost:{port}"
        async with browser.session(allowed_hosts={f"pages.localhost:{port}"}) as session:
            page = Visit(session, base)
            for seed in range(12):
                assert (await page.do("goto", f"{base}/random?{seed}")).error == ""
                await likeness.look(page, f"seed {seed}")
    likeness.hold(0.99)

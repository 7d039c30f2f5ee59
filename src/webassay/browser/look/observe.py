"""From a page to an `Observation`: the tree of all frames as data and as text, pictures, text and HTML.

The text format is specified in docs/observation.md.
"""

import asyncio
import base64
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from webassay.browser.devtools.cdp import CommandRefused, decoded
from webassay.browser.devtools.page import PageFrame, TabPage
from webassay.browser.look.wording import made_of, stands_in
from webassay.core.interaction import Node

MAX_PICTURE_HEIGHT = 16_384
MARK_SHARE = 0.5
"""Share of an element that must be visible for it to get a mark."""
_BOOLEANS = frozenset({"disabled", "busy", "multiselectable", "expanded", "selected", "modal"})

_WRAPPERS = frozenset({"paragraph", "strong", "emphasis", "image", "ListMarker", "LabelText", "time", "mark", "code"})
CHECKABLE = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
EDITORS = frozenset({"textbox", "searchbox"})
_NUMERIC = frozenset({"slider", "spinbutton", "progressbar", "meter", "scrollbar"})
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Tree:
    nodes: tuple[Node, ...]
    focused: str
    truncated: bool
    title: str
    scroll: tuple[float, float]


@dataclass(frozen=True)
class _Place:
    """A frame's position in the page's viewport, and the part of it (left, top, right, bottom) that is visible, in its
    own pixels."""

    left: float
    top: float
    clip: Box
    across: float = 1.0
    """How many of the page's pixels one of its own takes, from left to right."""
    down: float = 1.0

    def inside(self, owner: dict[str, Any]) -> "_Place":
        """The place of the frame in this element; the numbers are those of `owner_of`."""
        left, top, across, down = owner["left"], owner["top"], owner["across"], owner["down"]
        visible = (
            max(0.0, (self.clip[0] - left) / across),
            max(0.0, (self.clip[1] - top) / down),
            min(float(owner["width"]), (self.clip[2] - left) / across),
            min(float(owner["height"]), (self.clip[3] - top) / down),
        )
        corner = (self.left + left * self.across, self.top + top * self.down)
        return _Place(*corner, visible, self.across * across, self.down * down)

    def on_page(self, x: float, y: float, width: float, height: float) -> Box:
        return (
            round(self.left + x * self.across, 1),
            round(self.top + y * self.down, 1),
            round(width * self.across, 1),
            round(height * self.down, 1),
        )


def letters(place: int) -> str:
    """A frame's prefix, counted as in BrowserGym: a to z, then aA to aZ, bA...; a lower-case letter begins a level."""
    high, low = divmod(place, 26)
    return chr(ord("a") + low) if high == 0 else letters(high - 1) + chr(ord("A") + low)


_ID = re.compile(r"((?:[a-z][A-Z]*)*)([0-9]+)")


def split_id(element_id: str) -> tuple[str, int] | None:
    """Frame prefix and number; None if it cannot be an id."""
    match = _ID.fullmatch(element_id.strip().strip("[]"))
    return (match[1], int(match[2][:12])) if match else None


# --- the tree ---------------------------------------------------------------------------------------------


async def read_tree(page: TabPage, viewport: tuple[int, int], *, boxes: bool) -> Tree:
    place = _Place(0.0, 0.0, (0.0, 0.0, float(viewport[0]), float(viewport[1])))
    return await _read_frame(page, page.main_frame, "", place, boxes=boxes)


async def read_facts(page: TabPage) -> Tree:
    """Title and scroll position, without the nodes."""
    facts = await page.call(page.main_frame, "page")
    return Tree((), "", False, facts["title"], (facts["scroll"][0], facts["scroll"][1]))


async def owner_of(page: TabPage, frame: PageFrame) -> dict[str, Any]:
    """Position, size and scale, in the parent document, of the element that holds this frame."""
    parent = page.frames.get(frame.parent)
    if parent is None or parent.world is None:
        raise CommandRefused("The frame has no parent.")
    owner = await parent.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
    resolved = await parent.channel.send(
        "DOM.resolveNode", {"backendNodeId": owner["backendNodeId"], "executionContextId": parent.world}
    )
    object_id = resolved["object"]["objectId"]
    result = await parent.channel.send(
        "Runtime.callFunctionOn",
        {
            "objectId": object_id,
            "functionDeclaration": "function () { return webassay.owner(this); }",
            "returnByValue": True,
        },
    )
    parent.channel.post("Runtime.releaseObject", {"objectId": object_id})
    return dict(decoded(result["result"]["value"]))


async def _read_frame(page: TabPage, frame: PageFrame, prefix: str, place: _Place, *, boxes: bool) -> Tree:
    frame.prefix = prefix
    found = await page.call(frame, "observe", {"boxes": boxes, "clip": place.clip, "inFrame": bool(prefix)})
    inner = await _read_children(page, frame, prefix, place, boxes=boxes)
    nodes: list[Node] = []
    focused = f"{prefix}{found['focused']}" if found["focused"] else ""
    truncated = bool(found["truncated"])
    for row in found["nodes"]:
        node = _node(row, prefix, place)
        nodes.append(node)
        tree = inner.get(row[7]) if len(row) > 7 and row[7] >= 0 else None
        if tree is not None:
            nodes.extend(replace(child, depth=child.depth + node.depth + 1) for child in tree.nodes)
            truncated = truncated or tree.truncated
            if tree.focused:
                focused = tree.focused
    return Tree(tuple(nodes), focused, truncated, found["title"], (found["scroll"][0], found["scroll"][1]))


async def _read_children(
    page: TabPage, frame: PageFrame, prefix: str, place: _Place, *, boxes: bool
) -> dict[int, Tree]:
    trees: dict[int, Tree] = {}
    for child in page.children(frame.id):
        if child.world is None:
            continue
        try:
            owner = await owner_of(page, child)
            number = int(owner["place"])
            trees[number] = await _read_frame(page, child, prefix + letters(number), place.inside(owner), boxes=boxes)
        except CommandRefused:
            # The frame went away while it was being read: the tree keeps its element, with nothing inside.
            continue
    return trees


def _node(row: Sequence[Any], prefix: str, place: _Place) -> Node:
    depth, role, name, number, value, properties = row[:6]
    box: Box | None = None
    visible: float | None = None
    clickable = False
    if len(row) > 8:
        box = place.on_page(*row[8])
        visible = float(row[9])
        clickable = bool(row[10])
    return Node(
        id=f"{prefix}{number}" if number else "",
        role=role,
        name=name,
        depth=depth,
        value=value,
        properties=tuple((key, text) for key, text in properties),
        box=box,
        visible=visible,
        clickable=clickable,
        marked=visible is not None and visible >= MARK_SHARE and (clickable or "draggable" in dict(properties)),
        url=row[6] if len(row) > 6 else "",
    )


# --- as text ----------------------------------------------------------------------------------------------


def render(nodes: Sequence[Node], *, links: bool = False) -> str:
    """BrowserGym's format: one node per line, indented by tabs. `links`: with the addresses of links."""
    lines: list[str] = []
    hidden = _left_out(nodes)
    # For every level of the full tree: the depth at which its children are printed.
    path: list[int] = []
    for at, node in enumerate(nodes):
        del path[node.depth :]
        depth = path[-1] if path else 0
        if at in hidden:
            path.append(depth)
            continue
        lines.append("\t" * depth + line_of(node, links=links))
        path.append(depth + 1)
    return "\n".join(lines)


def _left_out(nodes: Sequence[Node]) -> set[int]:
    """What would only repeat a line above it."""
    hidden = _labels(nodes)

    @functools.cache
    def says_its_content(above: int) -> bool:
        return made_of(nodes[above].name, (nodes[inner].name for inner in _inside(nodes, above)))

    def repeated(text: str, above: int) -> bool:
        name = nodes[above].name
        if shows_its_value(nodes[above]) and made_of(text, [nodes[above].value]):
            return True
        return text in name and (stands_in(text, name) or says_its_content(above))

    # For every level: the node whose name what stands there may repeat, and whether that is a control.
    path: list[tuple[int, bool]] = []
    wrappers: list[int] = []
    for at, node in enumerate(nodes):
        del path[node.depth :]
        above, in_control = path[-1] if path else (at, False)
        if at in hidden or (node.role == "generic" and not node.name and not node.properties):
            hidden.add(at)
            path.append((above, in_control))
            continue
        if node.role == "StaticText" and above != at and repeated(" ".join(node.name.split()), above):
            hidden.add(at)
        elif (
            (in_control and node.role in _WRAPPERS)
            or (above != at and node.role == "paragraph" and shows_its_value(nodes[above]))
        ) and not (node.name or node.properties):
            wrappers.append(at)
            path.append((above, in_control))
            continue
        control = node.get("clickable") is not None or node.role in ("link", "button")
        path.append((at, control and bool(node.name)))
    for at in reversed(wrappers):
        if all(inner in hidden for inner in _inside(nodes, at)):
            hidden.add(at)
    return hidden


def shows_its_value(node: Node) -> bool:
    """An editor, whose value is what it holds."""
    return node.role in EDITORS and node.value != ""


def _inside(nodes: Sequence[Node], at: int) -> Iterator[int]:
    for inner in range(at + 1, len(nodes)):
        if nodes[inner].depth <= nodes[at].depth:
            return
        yield inner


def _labels(nodes: Sequence[Node]) -> set[int]:
    """Labels that only say what their check box is called."""
    hidden: set[int] = set()
    for at, node in enumerate(nodes):
        if node.role != "LabelText" or node.name or node.properties:
            continue
        inside = list(_inside(nodes, at))
        end = inside[-1] + 1 if inside else at + 1
        beside = [other for other in (at - 1, end) if 0 <= other < len(nodes) and nodes[other].depth == node.depth]
        names = [nodes[other].name for other in (*inside, *beside) if nodes[other].role in CHECKABLE]
        texts = [other for other in inside if nodes[other].role == "StaticText"]
        if names and all(any(stands_in(nodes[text].name, name) for name in names) for text in texts):
            drawings = [other for other in inside if nodes[other].role == "image" and not nodes[other].name]
            hidden.update((at, *texts, *drawings))
    return hidden


def line_of(node: Node, *, links: bool = False) -> str:
    text = f"[{node.id}] " if node.id else ""
    text += f"{node.role} {node.name!r}"
    if node.value:
        bare = node.role in _NUMERIC and _NUMBER.fullmatch(node.value)
        text += f" value={node.value if bare else repr(node.value)}"
    shown = (*node.properties, ("url", node.url)) if links and node.url else node.properties
    return text + "".join(f", {_property(key, value)}" for key, value in shown)


def _property(key: str, value: str) -> str:
    if value == "":
        return key
    if key in _BOOLEANS:
        return f"{key}={value == 'true'}"
    if key in ("valuemin", "valuemax") and _NUMBER.fullmatch(value):
        return f"{key}={value}"
    return f"{key}={value!r}"


# --- pictures ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PictureFormat:
    media_type: str = "image/jpeg"
    quality: int = 80

    def options(self) -> dict[str, Any]:
        if self.media_type == "image/png":
            return {"format": "png", "optimizeForSpeed": True}
        return {"format": "jpeg", "quality": self.quality, "optimizeForSpeed": True}


async def picture(page: TabPage, form: PictureFormat, *, full: bool) -> bytes:
    options = form.options()
    if full:
        metrics = await page.channel.send("Page.getLayoutMetrics")
        size = metrics["cssContentSize"]
        height = min(size["height"], MAX_PICTURE_HEIGHT)
        options |= {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1},
        }
    result = await page.channel.send("Page.captureScreenshot", options)
    return base64.b64decode(result["data"])


async def mark(page: TabPage, shot: bytes, form: PictureFormat, nodes: Sequence[Node]) -> bytes:
    """Draws a numbered box around everything that can be clicked, on a canvas outside the document."""
    boxes = [[node.id, *node.box] for node in nodes if node.marked and node.box is not None]
    encoded = base64.b64encode(shot).decode("ascii")
    drawn = await page.call(page.main_frame, "mark", encoded, form.media_type, boxes, 1, wait=True)
    return base64.b64decode(str(drawn))


async def all_text(page: TabPage) -> str:
    frames = [frame for frame in page.frames.values() if frame.world is not None]
    frames.sort(key=lambda frame: frame.id != page.main)
    texts = await asyncio.gather(*(page.evaluate(frame, "webassay.text()") for frame in frames))
    return "\n".join(str(text) for text in texts if text)

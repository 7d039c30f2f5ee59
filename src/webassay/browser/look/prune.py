"""AgentOccam's short form of the tree: everything said once, without scaffolding.

The passes run in a fixed order, each over the whole tree; docs/observation.md describes them.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from webassay.browser.look.observe import EDITORS
from webassay.browser.look.wording import made_of, stands_in
from webassay.core.interaction import Node

MAX_LINES = 1000
INTERACTIVE = frozenset(
    {
        *("link", "button", "textbox", "searchbox", "combobox", "listbox", "option", "checkbox", "radio", "switch"),
        *("menuitem", "menuitemcheckbox", "menuitemradio", "tab", "slider", "spinbutton", "treeitem"),
        *("DisclosureTriangle", "Date", "DateTime", "InputTime", "ColorWell"),
    }
)
_USES = frozenset({"clickable", "draggable", "droppable", "scroll", "editable"})
"""Properties that say what can be done with an element, whatever its role."""
_KEPT = frozenset(
    {
        *("required", "disabled", "checked", "selected", "valuemin", "valuemax", "valuetext", "pressed", "current"),
        *("invalid", "readonly", "sort", "expanded", "busy", "placeholder", "title", "description"),
        *("overlay", "hidden", "offscreen", "stands out", *_USES),
    }
)
_WHEREABOUTS = frozenset({"overlay", "hidden", "offscreen"})
"""Properties that say where something is on the page, and nothing about what it is."""
_REMARKS = frozenset({"title", "description"})
"""Properties that often repeat the text they are about, as where a column is too narrow for it."""
_SCAFFOLD = frozenset({"generic", "rowgroup", "ListMarker"})
_REPEATERS = frozenset({"StaticText", "LabelText", "caption", "Legend", "Figcaption"})


@dataclass
class _Item:
    role: str
    name: str
    id: str = ""
    value: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    children: list["_Item"] = field(default_factory=list)
    url: str = ""

    @property
    def interactive(self) -> bool:
        return bool(self.id) and (self.role in INTERACTIVE or not _USES.isdisjoint(self.properties))

    def walk(self) -> Iterator["_Item"]:
        yield self
        for child in self.children:
            yield from child.walk()

    def words(self, *, states: bool = True) -> str:
        """Its whole content as running text; interactive parts keep their ids."""
        if self.interactive:
            # A clickable row may hold a button: both are interactive.
            own = _line(self)
            return " ".join(filter(None, (own, *(child._words_after(own) for child in self.children))))
        inner = " ".join(filter(None, (child.words(states=states) for child in self.children)))
        own = "" if all(stands_in(word, inner) for word in self.name.split()) else self.name
        told = self._states(f"{self.name} {inner}") if states else []
        return " ".join(filter(None, (own, self.written, *told, inner)))

    @property
    def written(self) -> str:
        """Its value in one line, which still says where the lines of the value end."""
        return self.value.replace("\n", "\\n")

    def _words_after(self, said: str) -> str:
        """Only the states, if its words have just been said."""
        if self.acts or self.words(states=False) not in said:
            return self.words()
        return " ".join(state for one in self.walk() for state in one._states(said) if state not in said)

    def _states(self, said: str) -> list[str]:
        """In running text, which leaves out what is so of most cells of a calendar or a wide table."""
        told = {key: value for key, value in self.properties.items() if key not in _WHEREABOUTS}
        if told.get("selected") == "false":
            del told["selected"]
        return _brackets({key: value for key, value in told.items() if key not in _REMARKS or value not in said})

    @property
    def says_no_more(self) -> bool:
        """Besides its name, its value and what it holds: an icon may have nothing but a title."""
        return self.properties.keys() <= _WHEREABOUTS

    @property
    def acts(self) -> bool:
        return any(one.interactive for one in self.walk())


def prune(nodes: Sequence[Node], *, links: bool = False) -> str:
    """`links`: with the addresses of links."""
    root = _build(nodes, links=links)
    for change in _PASSES:
        _everywhere(root, change)
    lines = list(_lines(root, 0))
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"... {len(lines) - MAX_LINES} more lines"]
    return "\n".join(lines)


def _build(nodes: Sequence[Node], *, links: bool) -> _Item:
    root = _Item("", "")
    path = [root]
    for node in nodes:
        del path[node.depth + 1 :]
        kept = {key: _plain(value) for key, value in node.properties if key in _KEPT}
        if links and node.url:
            kept["url"] = node.url
        item = _Item(node.role, _plain(node.name), node.id, _plain_lines(node.value), kept, url=node.url)
        path[-1].children.append(item)
        path.append(item)
    return root


def _plain(text: str) -> str:
    """Drops control, private-use and unassigned characters, such as icon fonts and invisible marks."""
    kept = "".join(
        " " if char in "\n\t\xa0\u2028\u2029" else char
        for char in text
        if unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cn", "Cs") or char in "\n\t"
    )
    return re.sub(r" {2,}", " ", kept).strip()


def _plain_lines(text: str) -> str:
    """As `_plain`, but where there are several lines, these and their indents stay: it may be a program."""
    if "\n" not in text.strip():
        return _plain(text)
    lines = text.expandtabs(4).splitlines()
    indents = (line[: len(line) - len(line.lstrip(" "))] for line in lines)
    return "\n".join(indent + _plain(line) for indent, line in zip(indents, lines, strict=True)).strip("\n")


def _everywhere(item: _Item, change: Callable[[_Item], None]) -> None:
    """From the leaves up, so that a pass sees children in their final form."""
    for child in item.children:
        _everywhere(child, change)
    change(item)


# --- the passes, in order -----------------------------------------------------------------------------------


def _released(item: _Item) -> list[_Item]:
    """Its children, to take its place. What was out of sight with it still is."""
    for where in ("hidden", "offscreen"):
        if where in item.properties:
            for child in item.children:
                child.properties[where] = ""
    return item.children


def _lift_scaffolding(item: _Item) -> None:
    children: list[_Item] = []
    for child in item.children:
        if child.role == "rowgroup" and child.properties.keys() == {"busy"}:
            # Rows are written as a table only where they are in it.
            item.properties["busy"] = child.properties.pop("busy")
        scaffold = child.role in _SCAFFOLD and not child.name and not child.properties
        layout = child.role.startswith("LayoutTable") and child.says_no_more
        if scaffold or layout:
            said = " ".join(inner.words() for inner in child.children)
            if not all(stands_in(word, said) for word in child.name.split()):
                child.children.insert(0, _Item("StaticText", child.name))
            children += _released(child)
        elif child.role == "ListMarker":
            if any(char.isalnum() for char in child.name):
                children.append(_Item("StaticText", child.name))
        else:
            children.append(child)
    # The number of an item and its first words are one text.
    for first, second in itertools.pairwise(tuple(children[:2])):
        if item.children[0].role == "ListMarker" and first.role == second.role == "StaticText":
            children[:2] = [_Item("StaticText", f"{first.name} {second.name}")]
    item.children = children


def _hide_repeated_text(item: _Item) -> None:
    @functools.cache
    def says_its_content() -> bool:
        return made_of(item.name, (child.words() for child in item.children))

    editor = item.role in EDITORS and item.value != ""

    def repeated(at: int, child: _Item) -> bool:
        if child.role not in _REPEATERS and not (editor and child.role == "paragraph"):
            return False
        said = child.words()
        if child.acts or not child.says_no_more:
            return False
        if editor and made_of(said, [item.value]):
            return True
        if not said or stands_in(said, item.name) or (said in item.name and says_its_content()):
            return True
        others = item.children[max(0, at - 1) : at] + item.children[at + 1 : at + 2]
        return any(other.role not in _REPEATERS and said == other.name for other in others)

    item.children = [child for at, child in enumerate(item.children) if not repeated(at, child)]


def _hide_images(item: _Item) -> None:
    """Those without a name, and those whose name stands beside them."""

    def needed(image: _Item) -> bool:
        if image.children or image.interactive or not image.says_no_more:
            return True
        others = (other.words() for other in item.children if other is not image)
        return bool(image.name) and not any(stands_in(image.name, said) for said in (item.name, *others))

    if any(child.role == "image" for child in item.children):
        item.children = [child for child in item.children if child.role != "image" or needed(child)]


def _hide_twins(item: _Item) -> None:
    """Keeps one of several neighbors that say the same, unless they are separate controls."""
    if item.role == "row":
        return
    kept: list[_Item] = []
    for child in item.children:
        if kept and not child.children and kept[-1] == replace(child, id=kept[-1].id):
            alike = kept[-1].id == child.id or not child.interactive or (child.role == "link" and bool(child.url))
            if alike:
                continue
        kept.append(child)
    item.children = kept


def _merge_only_text(item: _Item) -> None:
    if len(item.children) == 1 and not item.name and item.role:
        (child,) = item.children
        if child.role == "StaticText" and not child.children:
            item.name = child.name
            item.properties |= child.properties
            item.children = []


def _rename(item: _Item) -> None:
    children: list[_Item] = []
    for child in item.children:
        if child.role == "LabelText" and not child.name and child.says_no_more:
            # The control it labeled already carries its name; keep only what it holds.
            children += _released(child)
            continue
        if child.role in ("StaticText", "LabelText"):
            child.role = "text"
        children.append(child)
    item.children = children


def _collapse_options(item: _Item) -> None:
    """Those of a closed list, which are chosen by their label; any other option is clicked, by its id."""
    # Only a list that the browser itself opens has this child.
    if [child.role for child in item.children] != ["MenuListPopup"]:
        return
    item.children = item.children[0].children
    for child in item.children:
        if child.role == "group":
            _join_options(child)
    _join_options(item)


def _join_options(item: _Item) -> None:
    options = item.children
    if len(options) < 2 or any(option.role != "option" or option.children for option in options):
        return
    labels: list[str] = []
    for option in options:
        # The value says what is selected, and a group that is disabled says so for all its options.
        told = {key: said for key, said in option.properties.items() if item.properties.get(key) != said}
        told.pop("selected", None)
        labels.append(" ".join(filter(None, (option.name, *_brackets(told)))))
    item.name = f"{item.name}: {'; '.join(labels)}" if item.name else "; ".join(labels)
    chosen = [option.name for option in options if option.properties.get("selected") == "true"]
    item.value = item.value or "; ".join(chosen)
    item.properties.pop("expanded", None)
    item.children = []


def _collapse_descriptions(item: _Item) -> None:
    if item.role != "DescriptionList":
        return
    children: list[_Item] = []
    term: _Item | None = None
    for child in item.children:
        if child.role == "term":
            if term is not None:
                children.append(_Item("text", term.words()))
            term = child
        elif child.role == "definition" and term is not None:
            children.append(_Item("text", f"{term.words()}: {child.words()}"))
            term = None
        else:
            children.append(child)
    if term is not None:
        children.append(_Item("text", term.words()))
    item.children = children


def _row_of_its_own(row: _Item, cells: str) -> str:
    """What is said about the row besides its cells."""
    if all(stands_in(word, cells) for word in row.name.split()):
        row.name = ""
    return f"{_line(row)} " if row.interactive or row.name or row.properties else ""


def _rewrite_tables(item: _Item) -> None:
    if item.role not in ("table", "grid", "treegrid"):
        return
    children: list[_Item] = []
    headed = False
    for child in item.children:
        if child.role != "row":
            children.append(child)
            continue
        cells = [cell.words().replace("|", "\\|") for cell in child.children]
        own = _row_of_its_own(child, " ".join(cells))
        children.append(_Item("", f"{own}| {' | '.join(cells)} |"))
        if not headed and all(cell.role in ("columnheader", "rowheader") for cell in child.children):
            children.append(_Item("", f"| {' | '.join('---' for _ in cells)} |"))
        headed = True
    item.children = children


def _merge_headings(item: _Item) -> None:
    """A heading that is a link, or a link that is a heading, becomes one line."""
    if len(item.children) != 1:
        return
    (child,) = item.children
    heading, link = (item, child) if item.role == "heading" else (child, item)
    if (heading.role, link.role) != ("heading", "link") or heading.name != link.name:
        return
    # One line has room for one id, and for one title.
    if heading.interactive or any(link.properties.get(key, said) != said for key, said in heading.properties.items()):
        return
    item.properties = heading.properties | link.properties
    item.role, item.id, item.url, item.children = "link", link.id, link.url, child.children


_PASSES: tuple[Callable[[_Item], None], ...] = (
    _lift_scaffolding,
    _hide_repeated_text,
    _hide_images,
    _hide_twins,
    _merge_only_text,
    _rename,
    _collapse_options,
    _collapse_descriptions,
    _rewrite_tables,
    _merge_headings,
)


# --- as text ------------------------------------------------------------------------------------------------


def _line(item: _Item) -> str:
    if not item.role:
        return item.name
    parts = [item.role]
    if item.interactive:
        parts.append(f"[{item.id}]")
    parts.append(repr(item.name))
    parts += _brackets(({"value": item.written} if item.value else {}) | item.properties)
    return " ".join(parts)


def _brackets(properties: Mapping[str, str]) -> list[str]:
    # An id already says that something can be clicked.
    shown = ((key, value) for key, value in properties.items() if key != "clickable")
    return [f"[{key}: {value}]" if value else f"[{key}]" for key, value in shown]


def _lines(item: _Item, depth: int) -> Iterator[str]:
    for child in item.children:
        # Skip empty shells; one with content keeps its place.
        if not child.role and not child.name:
            continue
        if not child.name and not child.value and not child.children and child.says_no_more and not child.interactive:
            continue
        yield "\t" * depth + _line(child)
        yield from _lines(child, depth + 1)

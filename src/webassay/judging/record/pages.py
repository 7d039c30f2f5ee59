"""The text of recorded pages, made short without losing what decides.

A tree repeats its menu on every page and spreads one row over many lines. Here a row, a list entry or a card becomes
one line, what is outside the main content is told once, and a page seen before is told by its differences. So whoever
scores can read many pages in one question, where pictures would be too many.
"""

import ast
import contextlib
import re
import textwrap
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl, unquote, urlsplit

from webassay.core.trajectory import Blobs, RecordedObservation
from webassay.judging.case import CaseFrame, clip, read_text
from webassay.judging.record.paging import is_numbered, pager_of, tells_extent, turns_pages

_NODE = re.compile(
    r"^(?P<indent>\s*)(?:\[(?P<id>\w+)\] )?(?P<role>[A-Za-z]\w*)"
    r"(?: (?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?(?P<rest>.*)$"
)
_VALUE = re.compile(r"\bvalue=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\w.+-]+)")
_STATE = re.compile(r"\b(checked|selected|pressed|current)='?(true|True|mixed|page)'?|\b(disabled|invalid)\b")
_ITEMS = frozenset(("row", "listitem", "article", "option", "term", "definition"))
_OUTSIDE = frozenset(("banner", "navigation", "contentinfo", "complementary", "search"))
_MESSAGES = frozenset(("alert", "status"))
"""What a page says after an action belongs to its content, wherever it stands."""
_PLAIN = frozenset(("StaticText", "generic", "paragraph", "cell", "gridcell", "LabelText", "rowheader", "columnheader"))
_SILENT = frozenset(("list", "table", "rowgroup", "main", "form", "group", "region", "section", "MenuListPopup"))
_MAX_NODES = 60_000
_LONGEST_LINE = 1200
_FEW_WORDS = 200
_BESIDE = "Beside the main content, new here: "
_SAME_PAGE = 0.7
"""The share of lines two pages must have in common for one to be shown as its differences."""
_PLACE = 80


@dataclass(frozen=True, slots=True)
class TreeNode:
    depth: int
    id: str
    role: str
    name: str
    state: str = ""


def nodes_of(tree: str) -> Iterator[TreeNode]:
    for number, line in enumerate(tree.splitlines()):
        if number >= _MAX_NODES:
            return
        found = _NODE.match(line)
        if found is None:
            continue
        value = _VALUE.search(found["rest"])
        states = [match[1] or match[3] for match in _STATE.finditer(found["rest"])]
        if value is not None:
            states.insert(0, f"= {unquoted(value[1])}")
        yield TreeNode(
            len(found["indent"]), found["id"] or "", found["role"], unquoted(found["name"] or ""), ", ".join(states)
        )


def unquoted(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text
    read = text[1:-1]
    if "\\" in read:
        with contextlib.suppress(ValueError, SyntaxError):
            read = str(ast.literal_eval(text))
    return " ".join(read.split())


def elements_of(tree: str) -> dict[str, str]:
    """By id: the role and the name of every element that an action can name."""
    return {node.id: f"{node.role} {node.name!r}" if node.name else node.role for node in nodes_of(tree) if node.id}


# --- one page -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PageText:
    number: int
    url: str
    title: str
    lines: tuple[str, ...]
    """Its main content. Cells of a row stand side by side: `102766 | February 13, 2026 | $379.31`."""
    around: tuple[str, ...] = ()
    """Header, menu, footer."""
    recorded: bool = True
    """False: the text was read off the picture."""

    @cached_property
    def text(self) -> str:
        return "\n".join((self.title, *self.lines, *self.around))

    @property
    def stands_for_its_picture(self) -> bool:
        """Not if there are only a few words, nor if they were read off the picture themselves."""
        return self.recorded and sum(map(len, self.lines)) >= _FEW_WORDS

    @cached_property
    def kind(self) -> str:
        """The address with numbers and values taken out: pages of one kind belong together."""
        parts = urlsplit(self.url)
        keys = ",".join(sorted({key for key, _ in parse_qsl(parts.query)} - {"p", "page", "limit", "offset", "start"}))
        return f"{parts.netloc}{re.sub(r'[0-9]+', '#', parts.path)}?{keys}"


def place(url: str, bases: Iterable[str]) -> str:
    """Without the host of the task's own site, which is another one in every run. Other hosts say where one is."""
    if not url:
        return "address not recorded"
    own = (base.rstrip("/") for base in bases)
    mine = next((base for base in own if url == base or url.startswith((f"{base}/", f"{base}?"))), "")
    return clip(_legible(url.removeprefix(mine)) or "/", 300)


def _legible(url: str) -> str:
    """As a person would read it aloud: a form that was sent with two of twenty fields filled in names two."""
    head, mark, rest = url.partition("?")
    query, hash_sign, fragment = rest.partition("#")
    filled = "&".join(part for part in query.split("&") if not part.endswith("="))
    shorter = f"{head}{mark if filled else ''}{filled}{hash_sign}{fragment}"
    plain = unquote(shorter)
    return plain if plain.isprintable() else shorter


def page_of(frame: CaseFrame, blobs: Blobs, read_picture: Callable[[bytes], str] | None = None) -> PageText | None:
    """None if nothing can be read on it."""
    seen: RecordedObservation = frame.seen
    if seen.tree is not None:
        lines, around = _split(read_text(blobs, seen.tree))
        if not lines and not around and seen.text is None:
            return None
        if lines or around:
            return PageText(frame.number, seen.url, seen.title, tuple(lines), tuple(around))
    if seen.text is not None:
        return PageText(frame.number, seen.url, seen.title, tuple(_text_lines(read_text(blobs, seen.text))))
    if read_picture is not None and seen.screenshot is not None:
        read = tuple(_text_lines(read_picture(blobs.read(seen.screenshot))))
        return PageText(frame.number, seen.url, seen.title, read, recorded=False) if read else None
    return None


def _text_lines(text: str) -> list[str]:
    return [part for raw in text.splitlines() for part in _wrapped(" ".join(raw.split()))]


def _split(tree: str) -> tuple[list[str], list[str]]:
    """The lines of the main content, and those around it. Within an item, a text that repeats a node above it is
    told once. A pager belongs to the content, because it says whether this is all there is."""
    nodes = _without_pagers(list(nodes_of(tree)))
    has_main = any(node.role == "main" for node in nodes)
    inside: list[list[str]] = []
    outside: list[list[str]] = []
    regions: list[TreeNode] = []
    items: list[tuple[int, list[str]]] = []
    above: list[TreeNode] = []
    found = False
    for node in nodes:
        while regions and regions[-1].depth >= node.depth:
            regions.pop()
        while items and items[-1][0] >= node.depth:
            items.pop()
        while above and above[-1].depth >= node.depth:
            above.pop()
        if node.role == _PAGER:
            inside.append([node.name])
            continue
        if node.role in _OUTSIDE or node.role == "main" or node.role in _MESSAGES:
            regions.append(node)
        message = bool(regions) and regions[-1].role in _MESSAGES
        is_main = regions[-1].role not in _OUTSIDE if regions else not has_main
        lines = inside if is_main else outside
        said = _said(node)
        found = found or (bool(said) and is_main and not message)
        if node.role in _ITEMS:
            parts = [said] if said else []
            lines.append(parts)
            items.append((node.depth, parts))
        elif said and items and not (message and items[-1][0] < regions[-1].depth):
            depth, parts = items[-1]
            if node.state or not any(node.name == other.name for other in above if other.depth >= depth):
                parts.append(said)
        elif said:
            lines.append([said])
        if said:
            above.append(node)
    if not found:  # a pager and a message are not the content
        inside, outside = [*outside, *inside], []
    return _joined(inside), _joined(outside)


_PAGER = "pager"
_NOTE = 60
"""Room for the note of what was left out of a line."""


def _without_pagers(nodes: Sequence[TreeNode]) -> list[TreeNode]:
    """All nodes, with one in place of each pager and all that is in it."""
    kept: list[TreeNode] = []
    at = 0
    while at < len(nodes):
        node, end = nodes[at], at + 1
        if node.role == "navigation":
            while end < len(nodes) and nodes[end].depth > node.depth:
                end += 1
            parts = _parts_of(nodes[at + 1 : end])
            if turns_pages([name for name, _ in parts]):
                told = pager_of(node.name, _with_gaps(parts))
                node = TreeNode(node.depth, node.id, _PAGER, clip(told, _LONGEST_LINE - _NOTE))
            else:
                end = at + 1  # it may hold a pager
        kept.append(node)
        at = end
    return kept


def _parts_of(nodes: Sequence[TreeNode]) -> list[tuple[str, str]]:
    """The names in a navigation, and how to say them. The page in front is no link, and may be spelt in two texts."""
    parts: list[tuple[str, str]] = []
    plain = False
    texts: set[int] = set()
    for node in nodes:
        if node.role in _ITEMS:
            plain = False
        if not node.name and node.state:  # a field for the number of the page
            parts.append(("", f"({node.state})"))
            plain = False
        if not node.name or (parts and parts[-1][0] == node.name):
            continue
        name = node.name
        if plain and node.role in _PLAIN:
            name = f"{parts.pop()[0]} {name}"
        plain = node.role in _PLAIN
        state = " (this page)" if "current" in node.state else f" ({node.state})" if node.state else ""
        parts.append((name, f"{name}{state}"))
        if plain and not state:
            texts.add(len(parts) - 1)
    numbers = [at for at in texts if at < len(parts) and is_numbered(parts[at][0])]
    if len(numbers) == 1:
        (at,) = numbers
        parts[at] = (parts[at][0], f"{parts[at][0]} (this page)")
    return parts


def _with_gaps(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A pager may skip numbers; without a sign of it, those pages would seem not to exist."""
    before: int | None = None
    for name, said in parts:
        number = int(name.split()[-1]) if is_numbered(name) else None
        if before is not None and number is not None and number > before + 1:
            yield "…"
        before = number
        yield said


def _said(node: TreeNode) -> str:
    if node.role == "RootWebArea" or (node.role in _SILENT and not node.state):
        return ""
    state = f" ({node.state})" if node.state else ""
    if not node.name:
        return f"{node.role}{state}" if state and node.role not in _SILENT else ""
    if node.role in _PLAIN or node.role in _ITEMS:
        return f"{node.name}{state}"
    if node.role == "heading":
        return f"# {node.name}"
    return f"{node.role} {node.name!r}{state}"


def _joined(lines: Iterable[Sequence[str]]) -> list[str]:
    return [part for parts in lines for part in _wrapped(" | ".join(parts))]


def _wrapped(line: str) -> list[str]:
    """Lines that can be chosen one by one: of a page in one line, all or nothing would fit."""
    if len(line) <= _LONGEST_LINE:
        return [line] if line else []
    return textwrap.wrap(line, _LONGEST_LINE, break_on_hyphens=False)


# --- many pages -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageBlock:
    """One page as it is told to a judge who has seen those before it."""

    number: int
    head: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join((self.head, *(f"  {line}" for line in self.lines)))


@dataclass
class Book:
    """All pages of a trajectory that have text, by number, in order of time."""

    pages: dict[int, PageText] = field(default_factory=dict)
    total: int = 0
    bases: tuple[str, ...] = ()
    """The addresses of the task's own sites."""

    @classmethod
    def of(
        cls,
        frames: Sequence[CaseFrame],
        blobs: Blobs,
        read_picture: Callable[[bytes], str] | None = None,
        bases: Iterable[str] = (),
    ) -> "Book":
        made = cls(total=len(frames), bases=tuple(bases))
        for frame in frames:
            page = page_of(frame, blobs, read_picture)
            if page is not None:
                made.pages[frame.number] = page
        return made

    def kin(self, number: int) -> tuple[int, ...]:
        """Pages of the same kind, itself included: the orders of a list, the parts of a long list."""
        page = self.pages.get(number)
        if page is None:
            return (number,)
        return tuple(other for other, candidate in self.pages.items() if candidate.kind == page.kind)

    def head(self, page: PageText) -> str:
        read = "" if page.recorded else " (text read off the picture)"
        return f"Screenshot {page.number}: {page.title or 'no title'}, {place(page.url, self.bases)}{read}"

    def blocks(self, only: Iterable[int] | None = None) -> list[PageBlock]:
        """The pages one after the other, each without what was told before."""
        blocks: list[PageBlock] = []
        shown: dict[str, PageText] = {}
        around: set[str] = set()
        wanted = set(self.pages) if only is None else set(only)
        for number, page in self.pages.items():
            if number not in wanted:
                continue
            fresh = tuple(line for line in page.around if line not in around)
            around.update(page.around)
            blocks.append(_block(number, self.head(page), page, shown.get(page.kind), fresh))
            shown[page.kind] = page
        return blocks


def _block(number: int, head: str, page: PageText, before: PageText | None, fresh: Sequence[str]) -> PageBlock:
    beside = (f"{_BESIDE}{'; '.join(fresh)}",) if fresh else ()
    differences = _differences(before.lines, page.lines) if before is not None and page.lines else None
    if before is None or differences is None:
        return PageBlock(number, head, (*page.lines, *beside))
    note, rest = ("as", ", except for") if differences else ("the same text as", "")
    return PageBlock(number, f"{head}: {note} screenshot {before.number}{rest}", (*differences, *beside))


def _differences(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...] | None:
    """The differences from the page before. None if there are too many, or if shared lines changed their order: a
    sorted list is another list."""
    counts = Counter(before), Counter(now)
    shared = counts[0] & counts[1]
    if shared.total() < _SAME_PAGE * (counts[0] | counts[1]).total():
        return None
    old, new = _runs(before, shared), _runs(now, shared)
    if [line for line, _ in old] != [line for line, _ in new]:
        return None
    told: list[str] = []
    for (line, added), (_, gone) in zip(new, old, strict=True):
        if added and not gone:
            told.append(f"(after this line) {clip(line, _PLACE)}" if line else "(at the top)")
        told += (*added, *(f"(no longer there) {one}" for one in gone))
    return tuple(told)


def _runs(lines: Sequence[str], shared: Counter[str]) -> list[tuple[str, list[str]]]:
    """The lines that are shared, each with those after it that are not; first, those before all of them."""
    left = shared.copy()
    runs: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
            runs.append((line, []))
        else:
            runs[-1][1].append(line)
    return runs


# --- within a budget ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Digest:
    text: str
    whole: tuple[int, ...]
    """Pages that stand in it with all their text."""
    part: tuple[int, ...]
    """Pages of which lines had to be left out."""
    missing: tuple[int, ...]
    """Pages for which there was no room."""


def digest(
    book: Book, budget: int, rank: Callable[[int], float], matters: Callable[[str], bool] = lambda _: False
) -> Digest:
    """The text of as many pages as `budget` characters hold, highest rank first; of a page that does not fit, the
    lines that matter."""
    ranked = sorted(book.pages, key=lambda number: (-rank(number), -number))

    def size(count: int) -> int:
        return sum(len(block.text) + 1 for block in book.blocks(ranked[:count]))

    fitting = bisect_right(range(len(ranked) + 1), budget, key=size) - 1
    kept = {block.number: block.text for block in book.blocks(ranked[:fitting])}
    full, part = list(kept), list[int]()
    left = budget - size(fitting)
    # Of those that are left, a small one may fit, or the lines that matter. Each is told by itself.
    told_beside = {line for number in kept for line in book.pages[number].around}
    for number in ranked[fitting:]:
        page = book.pages[number]
        head, beside = book.head(page), [line for line in page.around if line not in told_beside]
        lines = (*page.lines, *([f"{_BESIDE}{'; '.join(beside)}"] if beside else []))
        text = PageBlock(number, head, lines).text
        if len(text) < left:
            full.append(number)
        elif (text := _shortened(head, lines, left, matters) or "") != "":
            part.append(number)
        else:
            continue
        kept[number], left = text, left - len(text) - 1
        told_beside.update(beside)
    missing = tuple(sorted(set(book.pages) - set(kept)))
    in_order = "\n".join(kept[number] for number in sorted(kept))
    return Digest(in_order, tuple(sorted(full)), tuple(sorted(part)), missing)


def _shortened(head: str, lines: Sequence[str], room: int, matters: Callable[[str], bool]) -> str | None:
    """The lines that matter with their neighbors, and those that say how many there are; None if these do not fit."""
    wanted = {near for at, line in enumerate(lines) if matters(line) for near in (at - 1, at, at + 1)}
    if not wanted:
        return None
    extents = {at for at, line in enumerate(lines) if tells_extent(line)}
    for chosen in (wanted | extents, wanted):
        told = (f"  {line}" for at, line in enumerate(lines) if at in chosen)
        text = "\n".join((f"{head} (only lines that matter)", *told))
        if len(text) <= room:
            return text
    return None

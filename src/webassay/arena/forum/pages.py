"""How to get about in the forum and read its pages, for reference solutions."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from webassay.arena.kit.walking import Reading, Steps, click, every_page, fill, groups, links, text_of
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Node, Observation

SEARCH = "Search Porchlight"
ON_A_PAGE = 25
"""Every list has pages of that many."""
SORTS = {"hot": "Hot", "new": "New", "active": "Active", "top": "Top", "most-commented": "Most Commented"}
_POINTS = re.compile(r"(-?\d+) points?")
_COMMENTS = re.compile(r"(\d+) comments?")
_SCORED = re.compile(r"(-?\d+) points? \((\d+) up, (\d+) down\)")
_COUNTS = re.compile(r"(\d+) submissions? · (\d+) subscribers?")
_VOTES = re.compile(r"(\d+) upvotes?, (\d+) downvotes?")
_TIME = re.compile(r"[A-Z][a-z]{2} \d+, \d{4} \d+:\d\d [AP]M")


def moment(text: str) -> datetime:
    """`Feb 3, 2026 2:05 PM`, as pages write it."""
    return datetime.strptime(text, "%b %d, %Y %I:%M %p")


# --- going ------------------------------------------------------------------------------------------------


def go(page: Observation, path: str) -> Steps:
    """By the address."""
    here = urlsplit(page.url)
    return (yield Action.of("goto", f"{here.scheme}://{here.netloc}{path}"))


def open_forum(page: Observation, name: str, sort: str = "hot", *, time: str = "", address: bool = False) -> Steps:
    """From the directory, or by the address. `time` as its tab says it: `Past Year`."""
    if address:
        page = yield from go(page, f"/f/{name}/{sort}")
    else:
        page = yield from click(page, "link", "Forums")
        while page.find("link", name) is None:
            page = yield from click(page, "link", "More")
        page = yield from click(page, "link", name)
        if sort != "hot":
            page = yield from click(page, "link", SORTS[sort])
    return (yield from click(page, "link", time)) if time else page


def open_person(page: Observation, name: str, tab: str = "") -> Steps:
    return (yield from go(page, f"/u/{quote(name)}" + (f"/{tab}" if tab else "")))


def search(page: Observation, words: str) -> Steps:
    # A script, which may be late, makes suggestions there: only then is it a combobox.
    role = "combobox" if page.find("combobox", SEARCH) is not None else "searchbox"
    yield from fill(page, role, SEARCH, words)
    return (yield Action.of("keyboard_press", "Enter"))


def open_post(page: Observation, title: str) -> Steps:
    """With its comments, from a search for the title."""
    page = yield from search(page, title)
    return (yield from open_card(page, title))


def open_card(page: Observation, title: str) -> Steps:
    card = next((one for one in cards(page) if one.title == title), None)
    if card is None:
        raise AgentError(f"There is no submission {title!r} on {page.url}.")
    return (yield Action.of("click", card.link.id))


# --- lists of submissions ---------------------------------------------------------------------------------


class PostCard(NamedTuple):
    """A submission in a list."""

    title: str
    author: str
    forum: str
    """Empty in the list of one forum."""
    when: datetime
    points: int
    comments: int
    host: str
    """Where a link leads to."""
    is_picture: bool
    link: Node
    """To the comments."""
    up: Node

    @property
    def path(self) -> str:
        return urlsplit(self.link.url).path


def cards(page: Observation) -> list[PostCard]:
    found = []
    for inside in groups(page, "listitem"):
        link = next((node for node in inside if node.role == "link" and _COMMENTS.fullmatch(node.name)), None)
        points = next((match for node in inside if (match := _POINTS.fullmatch(node.name))), None)
        place = next((place for place, node in enumerate(inside) if node.role == "heading"), None)
        if link is None or points is None or place is None:
            continue
        named = [node for node in inside[place:] if node.role == "link"]
        when = next(node.name for node in inside if node.role == "StaticText" and _TIME.fullmatch(node.name))
        title, author = named[0].name, named[1].name
        forum = named[2].name if named[2] is not link else ""
        tags = inside[place].name.removeprefix(title).split()
        host = next((tag for tag in tags if "." in tag), "")
        up = next(node for node in inside if node.role == "button")
        comments = int(link.name.split()[0])
        found.append(
            PostCard(title, author, forum, moment(when), int(points[1]), comments, host, "Picture" in tags, link, up)
        )
    return found


def read_list(page: Observation, count: int = 10**6) -> Reading[list[PostCard]]:
    """So many, from this page of a list on."""
    found = cards(page)
    while len(found) < count and page.find("link", "More") is not None:
        page = yield from click(page, "link", "More")
        found += cards(page)
    return found[:count]


def vote_here(page: Observation, wanted: Callable[[PostCard], bool], done: set[str], name: str = "Upvote") -> Steps:
    """On all wanted submissions of a page that are not done."""
    while (card := next((one for one in cards(page) if one.path not in done and wanted(one)), None)) is not None:
        done.add(card.path)
        buttons = (node for node in page.find_all("button") if node.name == name)
        after = page.nodes.index(card.up)
        page = yield Action.of("click", next(node for node in buttons if page.nodes.index(node) >= after).id)
    return page


class Place(NamedTuple):
    """A forum in the directory."""

    name: str
    submissions: int
    subscribers: int


def places(page: Observation) -> Reading[list[Place]]:
    """From this page of the directory to its last."""
    found = []
    for one in (yield from every_page(page, "More")):
        for inside in groups(one, "listitem"):
            counts = next((match for node in inside if (match := _COUNTS.fullmatch(node.name))), None)
            if counts is not None:
                name = next(node.name for node in inside if node.role == "link")
                found.append(Place(name, int(counts[1]), int(counts[2])))
    return found


# --- threads ----------------------------------------------------------------------------------------------


class ThreadComment(NamedTuple):
    author: str
    """Empty if it was removed."""
    points: int
    when: str
    edited: bool
    quoted: str
    text: str
    depth: int
    above: int
    """The place of what it replies to; -1: it replies to the submission."""
    link: str
    """Its permalink."""


class _Open(NamedTuple):
    depth: int
    place: int
    nodes: list[Node]


def comments(page: Observation) -> list[ThreadComment]:
    """On one page of a thread, as they stand there."""
    stack: list[_Open] = []
    every: list[tuple[_Open, int]] = []
    for node in page.nodes:
        while stack and stack[-1].depth >= node.depth:
            stack.pop()
        if node.role == "article":
            stack.append(_Open(node.depth, len(every), []))
            every.append((stack[-1], stack[-2].place if len(stack) > 1 else -1))
        elif stack:
            stack[-1].nodes.append(node)
    # The first article is the submission itself.
    return [_comment(one.nodes, every, above) for one, above in every[1:]]


def _comment(nodes: list[Node], every: list[tuple[_Open, int]], above: int) -> ThreadComment:
    depth, place = 0, above
    while place > 0:
        depth, place = depth + 1, every[place][1]
    points = next((match for node in nodes if (match := _POINTS.fullmatch(node.name))), None)
    if points is None:
        return ThreadComment("", 0, "", False, "", "", depth, above - 1 if above > 0 else -1, "")
    said = [node.name for node in nodes if node.role == "StaticText"]
    fold = next(node for node in nodes if node.role == "button" and node.name in ("Collapse", "Expand"))
    before = next(place for place, node in enumerate(nodes) if node.role == "form")
    after = nodes.index(fold) + 1 + len([*_inside(nodes, fold)])
    text = nodes[after:before]
    quote_at = next((node for node in text if node.role == "blockquote"), None)
    quoted = [] if quote_at is None else [*_inside(text, quote_at)]
    return ThreadComment(
        next(node.name for node in nodes if node.role == "link"),
        int(points[1]),
        next(name for name in said if _TIME.fullmatch(name)),
        any(name.startswith("(edited") for name in said),
        text_of(tuple(node for node in quoted if node.role == "StaticText")),
        text_of(tuple(node for node in text if node.role == "StaticText" and node not in quoted)),
        depth,
        above - 1 if above > 0 else -1,
        next(node.url for node in nodes if node.role == "link" and node.name == "Permalink"),
    )


def submitter(page: Observation) -> str:
    """On a submission's page."""
    place = next(place for place, node in enumerate(page.nodes) if node.name == "Submitted by")
    return page.nodes[place + 1].name


def _inside(nodes: Sequence[Node], top: Node) -> Iterator[Node]:
    return takewhile(lambda node: node.depth > top.depth, nodes[nodes.index(top) + 1 :])


def votes(page: Observation) -> tuple[int, int]:
    """Up and down, on a submission's page."""
    found = next((match for node in page.nodes if (match := _VOTES.search(node.name))), None)
    if found is None:
        raise AgentError(f"No votes are told on {page.url}.")
    return int(found[1]), int(found[2])


# --- people -----------------------------------------------------------------------------------------------


class PersonsComment(NamedTuple):
    """A comment on the page of who wrote it."""

    title: str
    forum: str
    points: int
    ups: int
    downs: int
    path: str
    """Where its permalink leads."""


def said(page: Observation) -> Reading[list[PersonsComment]]:
    """From this page of a person's comments to the last."""
    found = []
    for one in (yield from every_page(page, "More")):
        for inside in groups(one, "listitem"):
            points = next((match for node in inside if (match := _SCORED.search(node.name))), None)
            if points is not None:
                named = [node for node in inside if node.role == "link"]
                link = next(node for node in named if node.name == "Permalink")
                score, ups, downs = (int(points[place]) for place in (1, 2, 3))
                path = urlsplit(link.url).path
                found.append(PersonsComment(named[1].name, named[2].name, score, ups, downs, path))
    return found


class Received(NamedTuple):
    """A line of the votes that a person received."""

    title: str
    forum: str
    when: datetime
    ups: int
    downs: int


def received(page: Observation) -> Reading[list[Received]]:
    found = []
    for one in (yield from every_page(page, "More")):
        for inside in groups(one, "row"):
            cells = [node.name for node in inside if node.role == "cell"]
            if len(cells) == 6:
                found.append(Received(cells[0], cells[1], moment(cells[2]), int(cells[3]), int(cells[4])))
    return found


def member_since(page: Observation) -> datetime:
    since = next((node.name for node in page.nodes if node.name.startswith("Member since ")), None)
    if since is None:
        raise AgentError(f"Nobody is introduced on {page.url}.")
    return datetime.strptime(since, "Member since %B %d, %Y")


# --- moderation -------------------------------------------------------------------------------------------


class Complaint(NamedTuple):
    reason: str
    author: str
    title: str
    """That of the submission, or of the one that was commented on."""
    points: int
    is_comment: bool
    text: str
    """What a comment says."""


_REPORTED = re.compile(r"\((-?\d+) points?\)")


def _report_items(page: Observation) -> Iterator[tuple[Node, ...]]:
    return (inside for inside in groups(page, "listitem") if any(node.role == "strong" for node in inside))


def report_of(inside: tuple[Node, ...]) -> Complaint:
    place = next(place for place, node in enumerate(inside) if node.role == "strong")
    named = [node.name for node in inside if node.role == "link"]
    points = next(match for node in inside if (match := _REPORTED.search(node.name)))
    is_comment = any(node.name.startswith("Comment by") for node in inside)
    quote_at = next((node for node in inside if node.role == "blockquote"), None)
    quoted = () if quote_at is None else (*_inside(inside, quote_at),)
    text = tuple(node for node in quoted if node.role == "StaticText")
    return Complaint(inside[place + 1].name, named[0], named[1], int(points[1]), is_comment, text_of(text))


def open_reports(page: Observation, forum: str) -> Steps:
    page = yield from open_forum(page, forum, address=True)
    return (yield from links(page, "Reports"))


def reports(page: Observation) -> Reading[list[Complaint]]:
    """From this page of the queue to the last."""
    pages = yield from every_page(page, "More")
    return [report_of(inside) for one in pages for inside in _report_items(one)]


def act_on(page: Observation, wanted: Callable[[Complaint], bool], role: str, name: str) -> Reading[Observation | None]:
    """Clicks what stands under the first wanted report, on this page or one that follows; None without one."""
    while True:
        for inside in _report_items(page):
            if wanted(report_of(inside)):
                target = next(node for node in inside if node.role == role and node.name.startswith(name))
                return (yield Action.of("click", target.id))
        if page.find("link", "More") is None:
            return None
        page = yield from click(page, "link", "More")

"""Evidence by content: whether the sites served what an honest solver must have had in front of them.

It does not matter where a fact stood: on a product's page, in a list, in a fragment that a script fetched, in a file.
What matters is that its texts stood together, and that the site vouches for them: the record marks what may only repeat
the visitor (the heading of a search, a saved note). An echo counts as far as it says nothing but words of the goal,
which are no secret: that a search for a product of the goal found nothing stands beside its name.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from urllib.parse import urlsplit

from webassay.compare import shown
from webassay.core.served import ECHO, ServedAnswer, ServedCount, ServedNode, ServedRecord, folded, plain
from webassay.core.task import CellKey, EvidenceCheck, Fact, Sight
from webassay.core.verdict import Finding

NAMED = 5
"""How many missing facts a finding names."""
MOST_PLACES = 5
"""Answers in which a fact was shown, that are told of."""
_ECHO = re.compile(f"{ECHO[0]}([^{ECHO[1]}]*){ECHO[1]}?")


class SeenTexts:
    """One site's record, prepared to be asked for these sights."""

    def __init__(self, record: ServedRecord, sights: Iterable[Sight], goal: str = "") -> None:
        self._record = record
        self._words = Words()
        self._told = frozenset(self._words.plain(goal).split())
        self._needles = {sight: tuple(map(self._words.plain, sight.texts)) for sight in sights if sight.texts}
        self._cells: dict[tuple[str, str], set[CellKey]] = defaultdict(set)
        for shown_of in record.cells:
            for column in (shown_of.column, ""):
                self._cells[shown_of.table, column].update(shown_of.rows)
        self._text = _reader(record.nodes, self._vouched)
        self._served = {one.page for one in record.served if one.page is not None}
        self._around, self._lines = self._verbatim({text for sight in self._needles for text in sight.texts})

    def sees_verbatim(self, sight: Sight) -> bool:
        """The quick way: by a text of the sight that is a line of the site's, letter by letter. Most of what the sites
        showed is found so; what is not may be there all the same."""
        if not sight.texts:
            return self.sees(sight)
        known = [self._lines[text] for text in sight.texts if text in self._lines]
        return bool(known) and self._shows(sight, self._places_of(min(known, key=len), sight.together == "page"))

    def sees(self, sight: Sight) -> bool:
        if sight.cell is not None:
            return sight.cell.key in self._cells[sight.cell.table, sight.cell.column]
        if sight.count is not None:
            return ServedCount(sight.count.table, list(sight.count.rows), sight.count.value) in self._record.counts
        if sight.picture:
            return any(_is_picture(served, sight.picture) for served in self._record.served)
        rarest = min((self._own_texts.holding(_mark(needle)) for needle in self._needles[sight]), key=len)
        return self._shows(sight, self._places_of(rarest, sight.together == "page"))

    def answers(self, sight: Sight) -> list[int]:
        """Places in the record of the answers that showed it; of a cell the first ones are known, of a count none."""
        if sight.cell is not None:
            table, column, key = sight.cell.table, sight.cell.column, sight.cell.key
            shown_of = [one for one in self._record.cells if one.table == table and column in ("", one.column)]
            return sorted(
                first for one in shown_of for row, first in zip(one.rows, one.first, strict=False) if row == key
            )
        if sight.picture:
            return [place for place, one in enumerate(self._record.served) if _is_picture(one, sight.picture)]
        needles, whole = self._needles[sight], sight.together == "page"
        rarest = min((self._own_texts.holding(_mark(needle)) for needle in needles), key=len)
        holding = [node for node in self._places_of(rarest, whole) if _holds(self._text(node, whole), needles)]
        pages = {*holding, *self._places_of(holding, whole=True)}
        return [place for place, one in enumerate(self._record.served) if one.page in pages]

    def _shows(self, sight: Sight, places: Iterable[int]) -> bool:
        needles, whole = self._needles[sight], sight.together == "page"
        return any(_holds(self._text(number, whole), needles) for number in places)

    def _vouched(self, line: str) -> str:
        if ECHO[0] in line:
            line = _ECHO.sub(lambda found: found[1] if self._told.issuperset(plain(found[1]).split()) else " ", line)
        return self._words.plain(line)

    def _verbatim(self, texts: set[str]) -> tuple[dict[int, list[int]], dict[str, list[int]]]:
        """The nodes around each node that was served, and those of which one of the texts is a line."""
        around: dict[int, list[int]] = {number: [] for number in self._served}
        lines: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self._record.nodes) - 1, -1, -1):  # What is inside a node comes before it.
            if number in around:
                parts = self._record.nodes[number].parts
                for part in parts:
                    if isinstance(part, int):
                        around.setdefault(part, []).append(number)
                for text in texts.intersection(parts):
                    lines[text].append(number)
        return around, lines

    def _places_of(self, numbers: Sequence[int], whole: bool) -> Iterator[int]:
        """The items, or the pages, that hold what is in these nodes."""
        found = set(numbers)
        queue = [*numbers]
        for place, number in enumerate(queue):
            if number in self._served if whole else place < len(numbers) or self._record.nodes[number].row:
                yield number
            outer = set(self._around[number]) - found
            found |= outer
            queue += outer

    @cached_property
    def _own_texts(self) -> "OwnTexts":
        return OwnTexts(self._record.nodes, self._around)


class Words(dict[str, str]):
    """The plain form of a word between spaces. Pages repeat their words, so each is looked at once."""

    def __missing__(self, word: str) -> str:
        bare = word.strip(".,;:!?()'\"")  # Most words are plain but for this.
        self[word] = made = bare.lower() if bare.isalnum() and bare.isascii() else plain(word)
        return made

    def plain(self, line: str) -> str:
        return " ".join(filter(None, map(self.__getitem__, line.split())))


class OwnTexts:
    """What nodes say by themselves, as one text, so that a token is found in all of them at once."""

    def __init__(self, nodes: Sequence[ServedNode], numbers: Collection[int]) -> None:
        self._numbers = list(numbers)
        parts = (nodes[number].parts for number in self._numbers)
        texts = [folded("\n".join([part for part in own if isinstance(part, str)])) for own in parts]
        self._text = "\n".join(texts)
        self._ends = list(accumulate(len(text) + 1 for text in texts))
        self.holding = cache(self._holding)

    def _holding(self, token: str) -> Sequence[int]:
        """The nodes that say it, and those in which a longer word holds it."""
        found, place = [], self._text.find(token)
        while place >= 0:
            node = bisect(self._ends, place)
            found.append(self._numbers[node])
            place = self._text.find(token, self._ends[node])
        return found


def _mark(needle: str) -> str:
    """Its longest token, which is likely to be its rarest."""
    return max(needle.split(" "), key=len)


def _reader(nodes: Sequence[ServedNode], read: Callable[[str], str]) -> Callable[[int, bool], str]:
    """Gives the tokens of a node, between spaces. What stands in a node inside it counts if the node is a row, or for a
    whole page; line breaks keep a text from reaching into it."""

    @cache
    def text(number: int, whole: bool) -> str:
        node = nodes[number]
        deep = whole or node.row
        pieces = [
            read(part) if isinstance(part, str) else f"\n{text(part, True)}\n" if deep else "\n" for part in node.parts
        ]
        return f" {' '.join(filter(None, pieces))} "

    return text


def _holds(text: str, needles: Sequence[str]) -> bool:
    return all(f" {needle} " in text for needle in needles)


def _is_picture(served: ServedAnswer, path: str) -> bool:
    return (
        served.kind == "picture" and served.status in (200, 304) and path in (served.path, urlsplit(served.path).path)
    )


def check_evidence(
    checks: Sequence[EvidenceCheck], records: Mapping[str, ServedRecord], goal: str = ""
) -> list[Finding]:
    """A finding for each check. `goal`: what the agent was told. What a record had no room for is missing: nobody who
    reads what they ask for fills one."""
    sights = {sight for check in checks for sight in check.sights()}
    texts = {site: SeenTexts(record, sights, goal) for site, record in records.items()}

    def asked(sight: Sight) -> list[SeenTexts]:
        return [seen for site, seen in texts.items() if sight.site in ("", site)]

    @cache
    def sees_verbatim(sight: Sight) -> bool:
        return any(seen.sees_verbatim(sight) for seen in asked(sight))

    @cache
    def sees(sight: Sight) -> bool:
        return sees_verbatim(sight) or any(seen.sees(sight) for seen in asked(sight))

    def known(fact: Fact) -> bool:
        return any(all(map(look, way)) for look in (sees_verbatim, sees) for way in fact.any_of)

    full = any(record.omitted for record in records.values())
    findings = []
    for check in checks:
        missing = [fact for fact in check.facts if not known(fact)]
        findings.append(_finding(check, missing, full))
    return findings


@dataclass(frozen=True, slots=True)
class ShownAt:
    """One answer of a site."""

    site: str
    answer: int
    """Its place in the site's record."""


@dataclass(frozen=True, slots=True)
class FactShown:
    fact: Fact
    known: bool
    places: tuple[ShownAt, ...]
    """Where its sights were shown first; of one that is not known, those of its sights that were shown."""


def where_shown(check: EvidenceCheck, records: Mapping[str, ServedRecord], goal: str = "") -> list[FactShown]:
    """For people who ask where an agent had a fact in front of it. What decides is `check_evidence`."""
    texts = {site: SeenTexts(record, set(check.sights()), goal) for site, record in records.items()}

    @cache
    def look(sight: Sight) -> tuple[bool, tuple[ShownAt, ...]]:
        asked = [(site, seen) for site, seen in texts.items() if sight.site in ("", site)]
        places = tuple(ShownAt(site, place) for site, seen in asked for place in seen.answers(sight)[:MOST_PLACES])
        return any(seen.sees(sight) for _, seen in asked), places

    made = []
    for fact in check.facts:
        ways = [[look(sight) for sight in way] for way in fact.any_of]
        whole = [way for way in ways if all(known for known, _ in way)]
        places = (place for way in whole or ways for _, found in way for place in found)
        made.append(FactShown(fact, bool(whole), tuple(dict.fromkeys(places))))
    return made


def _finding(check: EvidenceCheck, missing: Sequence[Fact], full: bool) -> Finding:
    total, seen = len(check.facts), len(check.facts) - len(missing)
    counted = f"The sites showed {seen} of {total} facts" if total > 1 else "The sites showed"
    if seen >= check.needed:
        message = f"{counted}." if total > 1 else f"{counted} {described(check.facts[0])}."
        return Finding(check="evidence", status="pass", message=message, expected=check.needed, actual=seen)
    named = "; ".join(map(described, missing[:NAMED]))
    more = f"; and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    message = f"Never shown: {named}{more}."
    if total > 1:
        message = f"{counted}; {check.needed} needed. {message}"
    if full:
        message += " Not all that was served could be recorded: far more was asked for than anybody reads."
    return Finding(
        check="evidence", status="fail", message=message, expected=check.needed, actual=seen, code="no_evidence"
    )


def described(fact: Fact) -> str:
    """For people who may read the key."""
    return ", or ".join(" and ".join(map(_sight, way)) for way in fact.any_of)


def _sight(sight: Sight) -> str:
    if sight.picture:
        return f"the picture {sight.picture}"
    if sight.cell is not None:
        row = f"{sight.cell.table} {', '.join(map(str, sight.cell.key))}"
        return f"{sight.cell.column.lstrip('=')} of {row}" if sight.cell.column else row
    if sight.count is not None:
        return f"{sight.count.value} from {len(sight.count.rows)} {sight.count.table}"
    texts = " with ".join(map(shown, sight.texts))
    return f"{texts} on one page" if sight.together == "page" and len(sight.texts) > 1 else texts

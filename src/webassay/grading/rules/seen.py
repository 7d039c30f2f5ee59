"""Evidence by content: whether the sites served what an honest solver must have had in front of them.

It does not matter where a fact stood: on a product's page, in a list, in a fragment that a script fetched. What matters
is that its texts stood together, and that the site said them: a line that only repeats what the visitor typed (the
heading of a search, a saved note) is no evidence of what they typed.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from webassay.compare import shown
from webassay.core.served import ServedAnswer, ServedNode, ServedRecord, folded, plain
from webassay.core.task import EvidenceCheck, Fact, Sight
from webassay.core.verdict import Finding

NAMED = 5
"""How many missing facts a finding names."""


class SeenTexts:
    """One site's record, prepared to be asked for these sights."""

    def __init__(self, record: ServedRecord, sights: Iterable[Sight]) -> None:
        self._record = record
        self._words = Words()
        self._needles = {sight: tuple(map(self._words.plain, sight.texts)) for sight in sights}
        self._text = _reader(record.nodes, self._words.plain)
        self._told = [(served, _told(served)) for served in record.served]
        self._all_told = "\n".join(f" {value} " for _, values in self._told for value in values)
        self._served = {one.page for one in record.served if one.page is not None}
        self._around, self._lines = self._verbatim({text for sight in self._needles for text in sight.texts})

    def sees_verbatim(self, sight: Sight) -> bool:
        """The quick way: by a text of the sight that is a line of the site's, letter by letter. Most of what the sites
        showed is found so; what is not may be there all the same."""
        if sight.picture:
            return self.sees(sight)
        known = [self._lines[text] for text in sight.texts if text in self._lines]
        return bool(known) and self._shows(sight, self._places_of(min(known, key=len), sight.together == "page"))

    def sees(self, sight: Sight) -> bool:
        if sight.picture:
            return any(_is_picture(served, sight.picture) for served in self._record.served)
        rarest = min((self._own_texts.holding(_mark(needle)) for needle in self._needles[sight]), key=len)
        return self._shows(sight, self._places_of(rarest, sight.together == "page"))

    def _shows(self, sight: Sight, places: Iterable[int]) -> bool:
        needles, whole = self._needles[sight], sight.together == "page"
        if not any(_holds(self._text(number, whole), needles) for number in places):
            return False
        return not _holds(self._all_told, needles) or self._unprompted(needles, whole)

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

    def _unprompted(self, needles: Sequence[str], whole: bool) -> bool:
        """The slow way, for what the visitor typed at some time: page by page. Once they have, a line that holds all of
        it by itself may only repeat them."""

        def told_by_the_site(line: str) -> str:
            text = self._words.plain(line)
            return "\n" if _contains(text, needles) else text  # What stands on both sides of it stays apart.

        text = self._text
        for served, values in self._told:
            if text is self._text and any(_contains(value, needles) for value in values):
                text = _reader(self._record.nodes, told_by_the_site)
            if served.page is not None:
                numbers = [served.page] if whole else _below(self._record.nodes, served.page)
                if any(_holds(text(number, whole), needles) for number in numbers):
                    return True
        return False


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


def _below(nodes: Sequence[ServedNode], number: int) -> list[int]:
    found = [number]
    for one in found:
        found += [part for part in nodes[one].parts if isinstance(part, int)]
    return found


def _holds(text: str, needles: Sequence[str]) -> bool:
    return all(f" {needle} " in text for needle in needles)


def _contains(text: str, needles: Sequence[str]) -> bool:
    return _holds(f" {text} ", needles)


def _told(served: ServedAnswer) -> list[str]:
    """What the visitor said with a request: its path, the values of its query and of its body."""
    place = urlsplit(served.path)
    query = [value for _, value in parse_qsl(place.query)] if place.query else []
    return [plain(value) for value in (unquote_plus(place.path), *query, *served.said)]


def _is_picture(served: ServedAnswer, path: str) -> bool:
    return (
        served.kind == "picture" and served.status in (200, 304) and path in (served.path, urlsplit(served.path).path)
    )


def check_evidence(checks: Sequence[EvidenceCheck], records: Mapping[str, ServedRecord]) -> list[Finding]:
    """A finding for each check. Where a record had no room for everything served, what it lacks decides nothing."""
    sights = {sight for check in checks for sight in check.sights()}
    texts = {site: SeenTexts(record, sights) for site, record in records.items()}

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
        message += " But not all that was served could be recorded, so it may have been."
    return Finding(
        check="evidence",
        status="abstain" if full else "fail",
        message=message,
        expected=check.needed,
        actual=seen,
        code="record_full" if full else "no_evidence",
    )


def described(fact: Fact) -> str:
    """For people who may read the key."""
    return ", or ".join(" and ".join(map(_sight, way)) for way in fact.any_of)


def _sight(sight: Sight) -> str:
    if sight.picture:
        return f"the picture {sight.picture}"
    texts = " with ".join(map(shown, sight.texts))
    return f"{texts} on one page" if sight.together == "page" and len(sight.texts) > 1 else texts

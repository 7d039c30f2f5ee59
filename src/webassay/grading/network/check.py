"""Network checks: what a log must and must not contain. One pass; only what decides is kept.

- A check considers the requests of its method and page or, with `last_navigation`, the last page that was opened.
- Of those, the last one decides (`last_event_only`), or any that fits. Checks of the same task, method and page share:
  the last n requests decide n checks, one each; or the last request alone, if it carries the values of all n
  (`user_id=5,278`) and no others.
- Static files are ignored. Redirects are not followed: they are answers like any other.
- A write that succeeded and fits no check is collateral damage.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from webassay.compare import Location, Match, Sites, UnreadableValue, assign, same_page, shown, with_decoded_path
from webassay.core.errors import GradingError
from webassay.core.task import Expectation, NetworkCheck
from webassay.core.verdict import Finding
from webassay.grading.network.events import Event, is_navigation, is_static
from webassay.grading.network.posted import Missing, Several, parsed, reached
from webassay.grading.rules.evidence import keepable
from webassay.grading.rules.expect import fits, plain
from webassay.grading.rules.patterns import matches

READING = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"))
_URL_HEADERS = frozenset(("referer", "redirect_url"))
_MAX_DAMAGE = 100
_MAX_PATTERN_URL = 2_500
"""Longer URLs never meet a pattern, so that no request can make one run for long."""


class _Watch:
    """The checks that share one method and page, and the requests that may satisfy them."""

    def __init__(self, checks: list[NetworkCheck]) -> None:
        self.checks, self.first = checks, checks[0]
        self.together = _merged(checks) if len(checks) > 1 else None
        self.seen = 0
        self.fitting = 0
        self._last: deque[tuple[Event, Location]] = deque(maxlen=len(checks))

    def take(self, event: Event, location: Location, sites: Sites) -> bool:
        """Whether the event satisfies one of the checks."""
        self.seen += 1
        self._last.append((event, location))
        ok = any(_event_fits(check, event, location, sites) for check in (*self.checks, *self._whole()))
        self.fitting += ok
        return ok and not self.first.must_not_exist

    def _whole(self) -> tuple[NetworkCheck, ...]:
        return (self.together,) if self.together else ()

    def findings(self, sites: Sites) -> list[Finding]:
        if self.first.must_not_exist:
            wanted = _described(self.first)
            ok = self.seen == 0
            message = f"Never made: {wanted}." if ok else f"Made {self.seen} times, but must not be: {wanted}."
            return [_finding(ok, message, self.first, "forbidden_request")]
        if not self.seen:
            return [_finding(False, f"Never made: {_described(one)}.", one, "missing_request") for one in self.checks]
        if not self.first.last_event_only:
            made = (
                f"Made: {_described(self.first)}." if self.fitting else f"None of {self.seen} fits: {self._why(sites)}."
            )
            return [_finding(self.fitting > 0, made, self.first, "request_mismatch")]
        if self.together and _event_fits(self.together, *self._last[-1], sites):
            pairs = dict.fromkeys(range(len(self.checks)), 0)
        else:
            pairs = assign(self.checks, self._last, lambda check, seen: _event_fits(check, *seen, sites).ok)
        return [self._finding(position, pairs, sites) for position in range(len(self.checks))]

    def _finding(self, position: int, pairs: dict[int, int], sites: Sites) -> Finding:
        check = self.checks[position]
        if position in pairs:
            return _finding(True, f"Made: {_described(check)}.", check, "")
        which = "the last request" if len(self.checks) == 1 else f"none of the last {len(self._last)} requests"
        verb = "does not fit" if len(self.checks) == 1 else "fits"
        return _finding(
            False, f"{_described(check)}: {which} {verb}: {self._why(sites, check)}.", check, "request_mismatch"
        )

    def _why(self, sites: Sites, check: NetworkCheck | None = None) -> str:
        event, location = self._last[-1]
        return f"{shown(event.url, 200)}: {_event_fits(check or self.first, event, location, sites).reason}"


def _described(check: NetworkCheck) -> str:
    return f"{check.method} {shown(plain(check.url), 200)}"


def _merged(checks: list[NetworkCheck]) -> NetworkCheck | None:
    """One check that asks for the values of several at once; None if they differ in more than posted values."""
    first = checks[0]
    if any(one.model_copy(update={"post_data": first.post_data}) != first for one in checks[1:]):
        return None
    if any(one.post_data.keys() != first.post_data.keys() for one in checks[1:]):
        return None
    fields = {}
    for name, wanted in first.post_data.items():
        values = [one.post_data[name] for one in checks]
        same = all(value == wanted for value in values)
        fields[name] = wanted if same else _all_of(values)
    return first.model_copy(update={"post_data": fields})


def _all_of(values: list[Expectation]) -> Expectation:
    texts = ",".join(str(value.value) for value in values)
    return Expectation(
        any_of=(Expectation(type="list", items=tuple(values)), Expectation(type="string_list", value=texts))
    )


@dataclass
class NetworkOutcome:
    findings: list[Finding]
    damage: list[Finding]
    writes: list[str]
    """What `damage` is about."""


class NetworkGrader:
    """Takes every event with `add`, and decides in `finish`."""

    def __init__(
        self, checks: list[NetworkCheck], sites: Sites, task_sites: tuple[str, ...], *, anywhere: bool = False
    ) -> None:
        """`anywhere`: writes count on every site, for tasks on sites that nobody here knows."""
        groups: dict[str, list[NetworkCheck]] = {}
        for number, check in enumerate(checks):
            # Checks that any request may satisfy, or that none may, do not share.
            shares = check.last_event_only and not check.must_not_exist
            headers = {header: plain(value) for header, value in check.headers.items()}
            decoded = check.decode_base64_query
            name = f"{check.method.upper()} {_pages(check, sites)} {decoded} {headers}" if shares else str(number)
            if check.last_navigation and shares:
                name = "the last page"
            groups.setdefault(name, []).append(check)
        self._watches = [_Watch(group) for group in groups.values()]
        self._by_method: dict[str, list[_Watch]] = {}
        for watch in self._watches:
            if not watch.first.last_navigation:
                self._by_method.setdefault(watch.first.method.upper(), []).append(watch)
        self._pages = [watch for watch in self._watches if watch.first.last_navigation]
        self._navigations: deque[Event] = deque(maxlen=max((len(watch.checks) for watch in self._pages), default=1))
        self.looks_at_reading = bool(self._pages) or any(method in READING for method in self._by_method)
        self._sites, self._places = sites, {f"__{site.upper()}__" for site in task_sites}
        self._anywhere = anywhere
        self._damage: list[tuple[str, str]] = []
        self.side_effects = 0
        """Number of unrequested writes."""
        self.proven = False
        """Whether a request that the task asks for was made to one of its sites."""

    def add(self, event: Event) -> None:
        method = event.method.upper()
        changing = method not in READING
        watches = self._by_method.get(method, [])
        if (not watches and not changing and not self._pages) or event.blocked or is_static(event):
            return
        if self._pages and is_navigation(event):
            self._navigations.append(event)
        if not watches and not changing:
            return
        location = _located(self._sites, event.url)
        explained = False
        for watch in watches:
            if _selected(watch.first, event, location, self._sites):
                explained = watch.take(event, location, self._sites) or explained
        self.proven = self.proven or (explained and location.place in self._places)
        counts = self._anywhere or location.place in self._places
        if changing and not explained and counts and _went_through(event):
            self.side_effects += 1
            if len(self._damage) < _MAX_DAMAGE:
                self._damage.append((method, str(location)))

    def finish(self) -> NetworkOutcome:
        for watch in self._pages:
            for event in self._navigations:
                location = _located(self._sites, event.url)
                fits_some = watch.take(event, location, self._sites)
                self.proven = self.proven or (fits_some and location.place in self._places)
        damage = [
            Finding(
                check="network.collateral",
                status="fail",
                message=f"Not asked for: {method} {url[:300]}.",
                code="collateral_request",
            )
            for method, url in self._damage
        ]
        found = [one for watch in self._watches for one in watch.findings(self._sites)]
        return NetworkOutcome(found, damage, [f"{method} {url[:300]}" for method, url in self._damage])


def _located(sites: Sites, url: str) -> Location:
    """A URL that cannot be parsed gets a location of its own, which only a pattern can match."""
    try:
        return sites.locate(url)
    except UnreadableValue:
        return Location("", url[:2000])


def _went_through(event: Event) -> bool:
    return event.status is not None and 200 <= event.status < 400


def _finding(ok: bool, message: str, check: NetworkCheck, code: str) -> Finding:
    expected = None if ok else keepable(check.model_dump(mode="json", exclude_defaults=True))
    status = "pass" if ok else "fail"
    return Finding(check="network", status=status, message=message[:1500], expected=expected, code="" if ok else code)


# --- one event against one check --------------------------------------------------------------------------


def _selected(check: NetworkCheck, event: Event, location: Location, sites: Sites) -> bool:
    if not any(_page_fits(one, location, event.url, check, sites) for one in _alternatives(check.url)):
        return False
    wanted = next((value for name, value in check.headers.items() if name.lower() == "referer"), None)
    given = event.details.request_headers.get("referer") if wanted is not None else None
    if wanted is None or not given:
        return True
    there = _located(sites, given)
    return any(_page_fits(one, there, given, check, sites) for one in _alternatives(wanted))


def _alternatives(wanted: Expectation) -> tuple[Expectation, ...]:
    return wanted.any_of or (wanted,)


def _page_fits(wanted: Expectation, location: Location, raw: str, check: NetworkCheck, sites: Sites) -> bool:
    """Site and path; the query has its own rules."""
    if wanted.pattern:
        bare = raw.partition("?")[0].partition("#")[0]
        forms = (location.page, f"{location.page}/", bare)
        return any(len(form) <= _MAX_PATTERN_URL and matches(wanted.pattern, form, re.IGNORECASE) for form in forms)
    expected = _key_location(sites, wanted)
    if check.decode_base64_query:
        expected, location = with_decoded_path(expected), with_decoded_path(location)
    return same_page(expected, location)


def _pages(check: NetworkCheck, sites: Sites) -> list[str]:
    """The pages that `_page_fits` accepts: equal for two checks that differ only in the queries of their URLs."""

    def page(wanted: Expectation) -> str:
        if wanted.pattern:
            return wanted.pattern
        place = _key_location(sites, wanted)
        if check.decode_base64_query:
            place = with_decoded_path(place)
        return f"{place.page}#{place.fragment}".lower()

    return [page(one) for one in _alternatives(check.url)]


def _key_location(sites: Sites, wanted: Expectation) -> Location:
    try:
        return sites.locate(str(wanted.value))
    except UnreadableValue as problem:
        raise GradingError(f"The key's URL {shown(wanted.value)} cannot be read: {problem}.") from None


def _event_fits(check: NetworkCheck, event: Event, location: Location, sites: Sites) -> Match:
    if event.method.upper() != check.method.upper():
        return Match(False, f"the method is {event.method}")
    match = _url_fits(check.url, location, event.url, check, sites)
    if not match:
        return match
    if check.response_status is not None and event.status != check.response_status:
        return Match(False, f"the answer was {event.status}, not {check.response_status}")
    for name, match in _parts(check, event, sites) if _looks_inside(check) else ():
        if not match:
            return Match(False, f"{name}: {match.reason}")
    return Match(True, "everything fits")


def _looks_inside(check: NetworkCheck) -> bool:
    return bool(check.headers or check.post_data or check.response_content or check.response_cookies)


def _url_fits(wanted: Expectation, location: Location, raw: str, check: NetworkCheck, sites: Sites) -> Match:
    reason = f"{shown(str(location), 200)} is another page"
    for one in _alternatives(wanted):
        if _page_fits(one, location, raw, check, sites):
            match = _query_fits(one, location, check, sites)
            if match:
                return match
            reason = match.reason
    return Match(False, reason)


def _query_fits(wanted: Expectation, location: Location, check: NetworkCheck, sites: Sites) -> Match:
    """Compares every key of either side that is not ignored: all of its values, in any order."""

    def ignored(key: str) -> bool:
        patterns = check.ignored_query_patterns
        return key in check.ignored_query or any(matches(one, key, re.IGNORECASE, "search") for one in patterns)

    if check.decode_base64_query:
        location = with_decoded_path(location)
    given = location.values(ignored)
    if check.query:
        named = {key: value for key, value in check.query.items() if not ignored(key)}
        surplus = sorted(given.keys() - named.keys())
        if surplus:
            return Match(False, f"the query also has {surplus[0][:100]!r}")
        for key, one in named.items():
            match = _values_fit(one, given.get(key, ()), sites)
            if not match:
                return Match(False, f"query {key}: {match.reason}")
        return Match(True, "page and query fit")
    expected = _key_location(sites, wanted) if not wanted.pattern else Location("", "")
    if check.decode_base64_query:
        expected = with_decoded_path(expected)
    if expected.values(ignored) == given:
        return Match(True, "page and query fit")
    return Match(False, f"the query is {shown(given, 200)}, not {shown(expected.values(ignored), 200)}")


def _values_fit(wanted: Expectation, given: tuple[str, ...], sites: Sites) -> Match:
    if wanted.items is not None:
        return fits(wanted, list(given), sites)
    if len(given) > 1:
        return Match(False, f"it is given {len(given)} times")
    value = given[0] if given else ""
    if value == "" and wanted.value in ("", None) and not (wanted.pattern or wanted.any_of):
        return Match(True, "absent")
    return fits(wanted, value, sites)


def _parts(check: NetworkCheck, event: Event, sites: Sites) -> Iterator[tuple[str, Match]]:
    details = event.details
    for name, wanted in check.headers.items():
        given = event.redirect if name.lower() == "redirect_url" else details.request_headers.get(name.lower())
        yield f"header {name}", _header_fits(name.lower(), wanted, given, check, sites)
    if check.post_data:
        fields = parsed(details.post_type, details.post_text)
        for path, wanted in check.post_data.items():
            yield f"posted {path}", _value_fits(wanted, fields, path, sites)
    if check.response_content:
        content = parsed(details.body_type, details.body)
        for path, wanted in check.response_content.items():
            yield f"answer {path}", _value_fits(wanted, content, path, sites)
    for name, wanted in check.response_cookies.items():
        value = details.cookies.get(name)
        yield f"cookie {name}", Match(False, "not set") if value is None else fits(wanted, value, sites)


def _header_fits(name: str, wanted: Expectation, given: str | None, check: NetworkCheck, sites: Sites) -> Match:
    if given is None:
        # A pattern may exclude something, and an absent header contains nothing.
        return fits(wanted, "", sites) if wanted.pattern else Match(False, "absent")
    if name not in _URL_HEADERS:
        return fits(wanted, given, sites)
    return _url_fits(wanted, _located(sites, given), given, check.model_copy(update={"query": {}}), sites)


def _value_fits(wanted: Expectation, data: dict[str, Any] | None, path: str, sites: Sites) -> Match:
    value = reached(data, path.strip()) if data else Missing
    empty = value is Missing or value is None or value == ""
    if wanted.type == "null" and not wanted.any_of:
        return Match(empty, "empty" if empty else f"{shown(value)} is not empty")
    if value is Missing:
        return Match(False, "absent")
    if isinstance(value, Several) and wanted.items is None:
        # The same name sent twice with two values: whichever the site took, the other was sent too.
        misses = [match for match in (fits(wanted, one, sites) for one in value) if not match]
        return misses[0] if misses else Match(True, "every value fits")
    if wanted.items is not None and not isinstance(value, list):
        value = [value]
    return fits(wanted, value, sites)

"""Proof of work: the pages that were really loaded, the user who was logged in, the page left in front."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin

from webassay.compare import Location, Sites, UnreadableValue, shown
from webassay.core.errors import GradingError
from webassay.core.task import ActivityCheck, Checkpoint, PageCheck, PagePattern
from webassay.core.trajectory import PageResult, SessionResult
from webassay.core.verdict import Finding
from webassay.grading.network.events import Event, is_static
from webassay.grading.network.witness import Witness
from webassay.grading.rules.patterns import matches

_SEEN_TYPES = frozenset(("document", "xhr", "fetch"))


@dataclass
class _Sought:
    pattern: PagePattern
    seen: bool = False


@dataclass
class _Count:
    check: ActivityCheck
    places: frozenset[str]
    number: int = 0

    @property
    def enough(self) -> bool:
        return self.number >= self.check.minimum_pages


class Visits:
    """Which of the task's pages were really loaded. One pass over the log; nothing else is kept."""

    def __init__(self, sites: Sites, checks: Iterable[ActivityCheck], checkpoints: Iterable[Checkpoint]) -> None:
        self._sites = sites
        self._counts = [_Count(check, frozenset(map(_place, (check.site, *check.or_sites)))) for check in checks]
        groups = [group for count in self._counts for group in count.check.visits]
        groups += [checkpoint.visits for checkpoint in checkpoints]
        self._sought = {id(pattern): _Sought(pattern) for group in groups for pattern in group}
        self._only_requests = not self._sought and all(one.check.counting == "requests" for one in self._counts)
        self.settled = False
        """True once there is nothing left to find."""

    def add(self, event: Event) -> None:
        if self._only_requests and is_static(event):
            return  # most of a log; decoding the answers would be wasted
        status = event.status
        if status is None or event.blocked:
            return
        counts = [count for count in self._counts if not count.enough and _counts_for(count.check, event, status)]
        sought = [one for one in self._sought.values() if not one.seen]
        if sought and _kind(event) not in _SEEN_TYPES:
            sought = []
        if not counts and not sought:
            self.settled = all(count.enough for count in self._counts) and all(
                one.seen for one in self._sought.values()
            )
            return
        try:
            location = self._sites.locate(event.url)._replace(fragment="")
        except UnreadableValue:
            return
        status = 200 if status == 304 else status
        for one in sought:
            one.seen = one.pattern.status == status and page_matches(one.pattern, location)
        for count in counts:
            if location.place in count.places and not self._proves_nothing(count.check, event, status, location):
                count.number += 1

    def _proves_nothing(self, check: ActivityCheck, event: Event, status: int, location: Location) -> bool:
        """A log-in form, or the redirect to one."""
        places = [location]
        target = event.redirect if check.not_counting and 300 <= status < 400 else ""
        if target:
            with suppress(UnreadableValue):
                places.append(self._sites.locate(urljoin(event.url, target)))
        return any(page_matches(pattern, place) for pattern in check.not_counting for place in places)

    def loads(self, check: ActivityCheck) -> int:
        return next(count.number for count in self._counts if count.check is check)

    def any_of(self, patterns: Iterable[PagePattern]) -> bool:
        return any(self._sought[id(pattern)].seen for pattern in patterns)


def _kind(event: Event) -> str:
    """The resource type from the log; if the recorder left it out, HTML fetched with GET is a document."""
    if event.resource_type:
        return event.resource_type
    return "document" if event.method == "GET" and "html" in event.mime_type else "" if is_static(event) else "fetch"


def _counts_for(check: ActivityCheck, event: Event, status: int) -> bool:
    if check.counting == "pages":
        return _kind(event) == "document" and status in (200, 304)
    return 200 <= status < 400 and not is_static(event)


def _enough(loads: int, needed: int, what: str, where: str) -> str:
    """Counting stops where it is enough."""
    if loads >= needed:
        return f"Loaded {where}: at least {needed} {what}{'s' * (needed != 1)}, as needed."
    return f"Loaded {loads} {what}{'s' * (loads != 1)} of {where}; at least {needed} needed."


def _place(site: str) -> str:
    return f"__{site.upper()}__"


def page_matches(pattern: PagePattern, location: Location) -> bool:
    """The whole path must match, and every value of each named query key; the latter regardless of case."""
    if location.place != _place(pattern.site):
        return False
    path = location.path or "/"
    if not any(matches(pattern.path, form) for form in {path, path.rstrip("/") + "/"}):
        return False
    given = location.values()
    return all(
        matches(wanted, value, re.IGNORECASE)
        for key, wanted in pattern.query.items()
        for value in given.get(key, ("",))
    )


def check_activity(
    check: ActivityCheck, visits: Visits, sessions: Iterable[SessionResult], login: str | None, proven: bool
) -> list[Finding]:
    """`proven`: a request that the task asks for was made, which is enough where requests are counted."""
    findings = []
    loads, what = visits.loads(check), "page" if check.counting == "pages" else "request"
    if proven and check.counting == "requests":
        loads = max(loads, check.minimum_pages)
    where = " or ".join((check.site, *check.or_sites))
    findings.append(
        Finding(
            check="activity.pages",
            status="pass" if loads >= check.minimum_pages else "fail",
            message=_enough(loads, check.minimum_pages, what, where),
            expected=check.minimum_pages,
            actual=loads,
            code="" if loads >= check.minimum_pages else "no_activity",
        )
    )
    if check.logged_in:
        findings.append(_log_in(check.site, sessions, login))
    for group in check.visits:
        seen = visits.any_of(group)
        named = " or ".join(_describe(pattern) for pattern in group)
        findings.append(
            Finding(
                check="activity.evidence",
                status="pass" if seen else "fail",
                message=f"{'Visited' if seen else 'Never visited'}: {named}.",
                code="" if seen else "no_evidence",
            )
        )
    return findings


def _describe(pattern: PagePattern) -> str:
    query = "&".join(f"{key}={value}" for key, value in pattern.query.items())
    return (
        f"{pattern.site}{pattern.path}"
        + (f"?{query}" if query else "")
        + (f" ({pattern.status})" * (pattern.status != 200))
    )


def _log_in(site: str, sessions: Iterable[SessionResult], login: str | None) -> Finding:
    found = next((session for session in sessions if session.site == site), None)
    if found is None:
        raise GradingError(f"The logged-in user was not recorded for {site}.")
    if login is None:
        raise GradingError(f"The task requires a log-in on {site} but names no user.")
    alive = found.user == login
    return Finding(
        check="activity.log_in",
        status="pass" if alive else "fail",
        message=f"Logged in on {site}: {shown(found.user) if found.user else 'nobody'}"
        + ("." if alive else f", not {shown(login)}."),
        expected=login,
        actual=found.user,
        code="" if alive else "not_logged_in",
    )


def check_page(check: PageCheck, results: Iterable[PageResult], sites: Sites, witness: Witness | None) -> Finding:
    """An address in front that no site has served is no page; without a witness, nobody knows."""
    result = next(iter(results), None)
    if result is None:
        raise GradingError("The page in front was not recorded.")
    wanted = " or ".join(_describe(pattern) for pattern in check.any_of)
    if witness is not None and not witness.shown(result):
        message = (
            f"The page in front claims to be {shown(result.url)}, but the last document was {shown(result.document)}."
        )
        return Finding(
            check="page",
            status="fail",
            message=message,
            expected=wanted,
            actual=result.url[:2000],
            code="page_invented",
        )
    try:
        location = sites.locate(result.url)
        ok = any(page_matches(pattern, location) for pattern in check.any_of)
    except UnreadableValue:
        ok = False
    return Finding(
        check="page",
        status="pass" if ok else "fail",
        message=f"The page in front is {shown(result.url)}" + ("." if ok else f", not {wanted}."),
        expected=wanted,
        actual=result.url[:2000],
        code="" if ok else "wrong_page",
    )


def checkpoint_reach(checkpoints: Iterable[Checkpoint], visits: Visits) -> tuple[float | None, list[Finding]]:
    """The share of milestones reached, with a finding for each; they never decide anything."""
    findings = [
        Finding(
            check="checkpoint",
            status="pass" if visits.any_of(checkpoint.visits) else "fail",
            message=checkpoint.name,
        )
        for checkpoint in checkpoints
    ]
    reached = sum(finding.status == "pass" for finding in findings)
    return (reached / len(findings) if findings else None), findings

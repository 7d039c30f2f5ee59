"""Two witnesses of one episode: what the sites say they served, and what the browser says it loaded.

An answer served to something other than the episode's browser is unwatched work; a loaded page that no site served was
invented. Neither happens to an honest agent: cached and repeated requests were served once, failed ones claim nothing,
and a service worker's answers are marked in the log.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from webassay.core.served import ServedAnswer, ServedRecord, kept_path
from webassay.core.trajectory import Blobs, PageResult, ServedResult, Trajectory
from webassay.core.verdict import Finding
from webassay.grading.network.events import Event

NAMED = 5
"""How many requests a finding names."""


def records_of(trajectory: Trajectory, blobs: Blobs) -> dict[str, ServedRecord]:
    """By site; empty if the sites were not recorded."""
    return {one.site: ServedRecord.unpack(blobs.read(one.blob)) for one in trajectory.probed(ServedResult)}


class Witness:
    """The records of an episode's sites, prepared to be asked about its network log and its last page."""

    def __init__(self, records: Mapping[str, ServedRecord], bases: Mapping[str, str]) -> None:
        self._hosts = {urlsplit(base).netloc.lower(): site for site, base in bases.items() if site in records}
        self._records = records
        self._served: dict[tuple[str, str, str], int] = {}
        """Site, method and path to the place of the last answer in the site's record."""
        for site, record in records.items():
            for place, one in enumerate(record.served):
                self._served[site, one.method, one.path] = place
        self._invented: dict[str, None] = {}

    def vouches_for(self, event: Event) -> bool:
        """Whether the event may count as evidence. What a site did not serve is noted."""
        if event.status is None or event.status >= 400 or event.blocked:
            return True  # It claims nothing.
        known = self._known(event.method, event.url)
        if known is False and not event.worked_out:
            self._invented[f"{event.method} {event.url:.300}"] = None
        return known is not False

    def _known(self, method: str, url: str) -> bool | None:
        """None: it is no site's that has a record of all it answered."""
        site, path = self._place(url)
        if not site or self._records[site].unlisted:
            return None
        return (site, method, path) in self._served

    def _place(self, url: str) -> tuple[str, str]:
        try:
            parts = urlsplit(url)
        except ValueError:
            return "", ""
        path = unquote(parts.path) or "/"
        return self._hosts.get(parts.netloc.lower(), ""), kept_path(path + (f"?{parts.query}" if parts.query else ""))

    def findings(self) -> list[Finding]:
        strangers = [
            f"{one.method} {one.path:.300} on {site}"
            for site, record in self._records.items()
            for one in record.served
            if one.by == "other"
        ]
        found = []
        if strangers:
            message = f"{_counted(strangers)} not made by the episode's browser: {_named(strangers)}."
            found.append(Finding(check="record", status="fail", message=message, code="not_the_browser"))
        if self._invented:
            invented = list(self._invented)
            message = f"{_counted(invented)} in the browser's log, but no site served that: {_named(invented)}."
            found.append(Finding(check="record", status="fail", message=message, code="never_served"))
        for site, record in self._records.items():
            if record.unlisted:
                count = len(record.served) + record.unlisted
                message = f"{count:,} requests to {site} are more than can be recorded, so nobody knows what was done."
                found.append(Finding(check="record", status="fail", message=message, code="flooded"))
        return found

    def shown(self, page: PageResult) -> bool:
        """Whether the address in front is that of the tab's last document, or of a part that the document fetched
        since."""
        if not page.document or not self._place(page.url)[0]:
            return True  # Nobody knows, or it is not ours to know.
        (site, path), (document_site, document) = self._place(page.url), self._place(page.document)
        if site != document_site or self._records[site].unlisted:
            return site == document_site
        first, last = self._served.get((site, "GET", document)), self._served.get((site, "GET", path))
        if last is None:
            # A page may also be the answer to a form.
            return path == document and any(_is_page(one, document) for one in self._records[site].served)
        return path == document or (first is not None and last > first)


def _is_page(one: ServedAnswer, path: str) -> bool:
    return one.path == path and one.kind == "document"


def _counted(requests: Sequence[str]) -> str:
    return "1 request was" if len(requests) == 1 else f"{len(requests)} requests were"


def _named(requests: Sequence[str]) -> str:
    more = f", and {len(requests) - NAMED} more" if len(requests) > NAMED else ""
    return ", ".join(requests[:NAMED]) + more

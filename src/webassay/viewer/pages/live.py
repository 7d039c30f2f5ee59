"""A run while it is being played: which page each agent is on, and a button that stops it."""

from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from webassay.viewer.address import address
from webassay.viewer.page import Page, PageVisit


def live(visit: PageVisit) -> Response:
    return visit.page("live.html", "Live", names=visit.runs(), found=_views(visit))


def now(visit: PageVisit) -> Response:
    """The part that changes."""
    return visit.page("live_now.html", "Live", found=_views(visit), short=_short)


def _views(visit: PageVisit) -> list[object]:
    """Those in progress; where none is, the newest of each."""
    runs = [visit.shelf.run(name) for name in visit.runs()]
    going = [run for run in runs if run.is_live]
    return [run.live() for run in (going or runs)]


def _short(url: str) -> str:
    """Host names of the sites are made up for one episode."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return (parts.path + (f"?{parts.query}" if parts.query else "")) or url


def stop(visit: PageVisit) -> Response:
    name = visit.form.get("run", "")
    if name not in visit.shelf.runs:
        raise HTTPException(404, f"There is no run {name[:200]!r} here.")
    visit.shelf.run(name).ask_to_stop()
    return RedirectResponse(address("/live", run=name), 303)


LIVE = Page("live", "/live", "A run in progress.", live, title="Live", place=6)
NOW = Page("live now", "/live/now", "What changes while a run is in progress.", now)
STOP = Page("stop", "/live/stop", "Asks a run to stop.", stop, method="POST")

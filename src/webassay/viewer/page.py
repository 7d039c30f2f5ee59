"""What a page is, and what it is given.

Every module in `viewer/pages` holds pages as values, and is found by looking. A page is a plain function from a
`PageVisit` to a response; it runs in a thread of its own, so it may read files and wait for them.

    def hello(visit: PageVisit) -> Response:
        run = visit.run()                                  # ?run=NAME; 404 where there is no such run
        return visit.page("hello.html", "Hello", run=run)

    HELLO = Page("hello", "/hello", "Says hello.", hello)
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from webassay.core.registry import Registry, instances_of, modules_of
from webassay.viewer.address import address
from webassay.viewer.rendering import rendered

if TYPE_CHECKING:
    from webassay.workbench import Shelf, ShelvedRun
    from webassay.workbench.show import Recorded


@dataclass(frozen=True)
class PageVisit:
    """One request, with everything that a page may want to know."""

    request: Request
    shelf: "Shelf"
    form: Mapping[str, str] = field(default_factory=dict)
    """What was sent with a POST."""

    # --- what was asked for -----------------------------------------------------------------------------------

    def one(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def all(self, name: str) -> list[str]:
        return [value for value in self.request.query_params.getlist(name) if value]

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000) -> int:
        text = self.one(name)
        return min(max(int(text), least), most) if text.isascii() and text.isdigit() and len(text) < 10 else default

    def runs(self) -> tuple[str, ...]:
        """The runs that the address names; none: all of them."""
        wanted = self.all("run")
        for name in wanted:
            if name not in self.shelf.runs:
                raise HTTPException(404, f"There is no run {name[:200]!r} here.")
        return tuple(name for name in self.shelf.runs if name in wanted or not wanted)

    def run(self) -> "ShelvedRun":
        """The run that the address names; where only one is open, that one."""
        name = self.one("run") or (next(iter(self.shelf.runs)) if len(self.shelf.runs) == 1 else "")
        if name not in self.shelf.runs:
            raise HTTPException(404, f"There is no run {name[:200]!r} here.")
        return self.shelf.runs[name]

    @contextmanager
    def opened(self) -> "Iterator[Recorded]":
        """The run that the address names, for this thread alone until the block ends."""
        with self.run().open() as recorded:
            yield recorded

    # --- what is answered -------------------------------------------------------------------------------------

    def page(self, template: str, title: str, *, status: int = 200, **given: Any) -> Response:
        own = {"visit": self, "title": title, "path": self.request.url.path, "navigation": navigation()}
        return HTMLResponse(rendered(template, **{**own, **given}), status)

    def address(self, **changes: Any) -> str:
        """This very address, with other values; None takes one away, and a list gives several."""
        kept: dict[str, Any] = {}
        for name, value in self.request.query_params.multi_items():
            kept.setdefault(name, []).append(value)
        return address(self.request.url.path, **{**kept, **changes})


Method = Literal["GET", "POST"]
Show = Callable[[PageVisit], Response]


@dataclass(frozen=True)
class Page:
    name: str
    path: str
    summary: str
    show: Show
    title: str = ""
    """As the navigation calls it; empty: it is not listed there."""
    place: int = 100
    """In the navigation: low numbers first."""
    method: Method = "GET"
    """Whatever changes anything is a POST."""


PAGES: Registry[Page] = Registry(
    "page", instances_of(Page), modules=partial(modules_of, "webassay.viewer.pages"), group="webassay.pages"
)


def navigation() -> list[Page]:
    return sorted((page for page in PAGES if page.title), key=lambda page: page.place)

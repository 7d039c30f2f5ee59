"""One episode: every step with its picture, the answer against the key, what changed, and why it got its verdict."""

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from webassay.core.errors import StoreError
from webassay.core.text import printable
from webassay.core.trajectory import BlobRef, Trajectory
from webassay.viewer.address import address, of_blob, of_episode
from webassay.viewer.page import Page, PageVisit
from webassay.viewer.rendering import environment

if TYPE_CHECKING:
    from webassay.workbench.show import Recorded

MOST_STEPS = 1_000
PATIENCE = 0.5
"""Seconds to wait for a key; where it takes longer, the page comes without and asks again."""
THUMB = 208
"""Pixels: twice what is shown, for sharp screens."""


class LinkedPictures:
    """The pictures of one run, by their addresses."""

    linked = True

    def __init__(self, run: str, known: Container[str], unreadable: Mapping[str, str]) -> None:
        """`known`: hashes of those that are pictures."""
        self._run, self._known, self._unreadable = run, known, unreadable

    def source(self, ref: BlobRef) -> str:
        return of_blob(self._run, ref.hash) if ref.hash in self._known else ""

    def thumb(self, ref: BlobRef) -> str:
        return address("/thumb", run=self._run, hash=ref.hash) if ref.hash in self._known else ""

    def reason(self, ref: BlobRef) -> str:
        if ref.hash in self._unreadable:
            return f"The picture is missing: {self._unreadable[ref.hash]}"
        return "The picture cannot be shown: it is neither JPEG nor PNG, GIF or WebP."

    def anchor(self, ref: BlobRef) -> str:
        return ""

    def first_use(self, ref: BlobRef) -> bool:
        return True


@contextmanager
def _found(visit: PageVisit) -> "Iterator[tuple[Recorded, Trajectory]]":
    """The episode that the address names, by the unit's whole name or one attempt's."""
    name = visit.one("unit")
    with visit.opened() as recorded:
        made = (recorded.store.trajectory(name) or recorded.store.trajectory_by_id(name)) if name else None
        if made is None:
            raise HTTPException(
                404, f"There is no episode {printable(name[:200])!r} in this run, or it was not played."
            )
        yield recorded, made


def episode(visit: PageVisit) -> Response:
    run = visit.run().name
    with _found(visit) as (recorded, trajectory):
        view = recorded.view(trajectory, patience=PATIENCE)
        given = recorded.page_given(view, MOST_STEPS)
    unit = visit.one("unit")
    given |= {
        "run": run,
        "pictures": LinkedPictures(run, given["sizes"], view.unreadable),
        "more_at": lambda number: address("/more", run=run, unit=trajectory.id, step=number),
        "attempt_at": lambda id: of_episode(run, id),
        "start": visit.number("step", 0),
        "take_at": address("/take", run=run, unit=unit),
        "trace_at": address("/trace", run=run, unit=unit) if given["steps"] or trajectory.last_seen else "",
    }
    return visit.page("episode_page.html", f"{view.status}: {view.unit}", **given)


def more(visit: PageVisit) -> Response:
    number = visit.number("step", 0)
    with _found(visit) as (recorded, trajectory):
        if not 1 <= number <= len(trajectory.steps):
            raise HTTPException(404, f"There is no step {number} in this episode.")
        given = recorded.more_given(trajectory, number - 1)
    text = environment().get_template("episode/more.html").render(**given)
    return HTMLResponse(text.encode("utf-8", "replace"))


def thumb(visit: PageVisit) -> Response:
    ref = BlobRef(hash=visit.one("hash"), media_type="", size=0)
    try:
        with visit.opened() as recorded:
            data = recorded.thumbnail(ref, THUMB)
    except StoreError:
        data = b""
    if not data:
        raise HTTPException(404, "There is no such picture in this run, or it is damaged.")
    return Response(data, media_type="image/jpeg", headers={"cache-control": "private, max-age=86400, immutable"})


def take(visit: PageVisit) -> Response:
    with _found(visit) as (recorded, trajectory):
        text, name = recorded.page(recorded.view(trajectory)), recorded.file_name(trajectory, ".html")
    return _download(text.encode("utf-8", "replace"), name, "text/html; charset=utf-8")


def trace(visit: PageVisit) -> Response:
    with _found(visit) as (recorded, trajectory):
        data, name = recorded.trace(trajectory), recorded.file_name(trajectory, ".trace.zip")
    return _download(data, name, "application/zip")


def _download(data: bytes, name: str, kind: str) -> Response:
    return Response(data, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


EPISODE = Page("episode", "/episode", "One episode, step by step.", episode)
MORE = Page("more", "/more", "What one step has in full.", more)
THUMBNAIL = Page("thumb", "/thumb", "A small picture of a step.", thumb)
TAKE = Page("take", "/take", "An episode as one file.", take)
TRACE = Page("trace", "/trace", "An episode as a Playwright trace.", trace)

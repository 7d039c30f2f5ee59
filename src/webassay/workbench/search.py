"""Words found in episodes: in answers, thoughts, errors, addresses and titles, on pages, and in findings.

Nothing is indexed: episodes are read in the order of the plan for as long as somebody waits, and the next call goes on
from there.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from webassay.analysis.results.facets import code_of
from webassay.core.errors import StoreError
from webassay.core.rater import Rater
from webassay.core.trajectory import BlobRef
from webassay.store.blobs import BlobFolder
from webassay.workbench.look import Wanted, narrow
from webassay.workbench.shelf import Shelf, ShelvedRun, ShelvedUnit

MOST_HITS = 100
MOST_IN_ONE = 3
AROUND = 80
"""Characters shown on both sides of what was found."""
PATIENCE = 2.0
"""Seconds."""

_SPACES = re.compile(r"\s+")
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class SearchHit(NamedTuple):
    run: str
    unit: str
    agent: str
    task: str
    status: str
    where: str
    step: int | None
    """Counted from 1; None: not in a step."""
    before: str
    match: str
    after: str


@dataclass(frozen=True)
class SearchResult:
    hits: Sequence[SearchHit]
    looked_at: int
    """Episodes, in this call."""
    total: int
    onward: str = ""
    """Where the next call goes on; empty: everything was looked at."""


class _Found(NamedTuple):
    where: str
    step: int | None
    before: str
    match: str
    after: str


def search(
    shelf: Shelf, rater: Rater, text: str, wanted: Wanted, *, since: str = "", patience: float = PATIENCE
) -> SearchResult:
    """`since`: `onward` of the call before."""
    words, deadline = text.casefold().strip(), time.monotonic() + patience
    units = narrow(shelf, rater, wanted).units
    known: dict[str, dict[str, ShelvedUnit]] = {name: {} for name in shelf.runs}
    for one in units:
        if one.row.played:
            known[one.run][one.unit] = one
    total = sum(map(len, known.values()))
    if not words:
        return SearchResult((), 0, total)
    first, after = _place(since, shelf)
    hits: list[SearchHit] = []
    looked_at = 0
    for run in list(shelf.runs.values())[first:]:
        own = known[run.name]
        for place, unit, record in _records(run, after) if own else ():
            if unit not in own:
                continue
            looked_at += 1
            hits += _hits(run, own[unit], record, words)
            if len(hits) >= MOST_HITS or time.monotonic() > deadline:
                return SearchResult(hits, looked_at, total, f"{list(shelf.runs).index(run.name)}.{place}")
        after = 0
    return SearchResult(hits, looked_at, total)


def _place(since: str, shelf: Shelf) -> tuple[int, int]:
    run, _, place = since.partition(".")
    fine = run.isascii() and run.isdigit() and place.isascii() and place.isdigit() and len(since) < 30
    return (int(run), int(place)) if fine and int(run) < len(shelf.runs) else (0, 0)


def _records(run: ShelvedRun, after: int) -> Iterator[tuple[int, str, bytes]]:
    """A page at a time, so that others may read in between."""
    while True:
        with run.open() as recorded:
            page = recorded.store.texts(after)
        yield from page
        if not page:
            return
        after = page[-1][0]


def _hits(run: ShelvedRun, unit: ShelvedUnit, record: bytes, words: str) -> Iterator[SearchHit]:
    row = unit.row
    try:
        found = list(_found(_decode(record), unit, words, run.blobs))
    except msgspec.MsgspecError:
        return
    for one in found:
        yield SearchHit(run.name, unit.unit, unit.agent, row.task_id, row.status, *one)


def _found(record: Mapping[str, Any], unit: ShelvedUnit, words: str, blobs: BlobFolder) -> Iterator[_Found]:
    left, seen = MOST_IN_ONE, set[str]()
    for where, step, text in _texts(record, unit, blobs, seen):
        place = text.casefold().find(words)
        if place < 0:
            continue
        # Case-folding may lengthen a text, so the place is only about right in some alphabets.
        end = place + len(words)
        around = (text[max(0, place - AROUND) : place], text[place:end], text[end : end + AROUND])
        yield _Found(where, step, *(_SPACES.sub(" ", part) for part in around))
        left -= 1
        if not left:
            return


def _texts(
    record: Mapping[str, Any], unit: ShelvedUnit, blobs: BlobFolder, seen: set[str]
) -> Iterator[tuple[str, int | None, str]]:
    yield "finding", None, "; ".join(dict.fromkeys(map(code_of, unit.row.findings)))
    yield "answer", None, str(record.get("answer") or "")
    yield "ending", None, str((record.get("ending") or {}).get("message") or "")
    steps = record.get("steps") or ()
    for number, step in enumerate(steps, 1):
        for name in ("thought", "memory", "error", "action_text"):
            yield name.replace("action_text", "action"), number, str(step.get(name) or "")
        for action in step.get("actions") or ():
            yield "action", number, " ".join(map(str, (action.get("args") or {}).values()))
        yield from _page(step.get("seen") or {}, number, blobs, seen)
    yield from _page(record.get("last_seen") or {}, len(steps) + 1 if steps else None, blobs, seen)


def _page(
    page: Mapping[str, Any], step: int | None, blobs: BlobFolder, seen: set[str]
) -> Iterator[tuple[str, int | None, str]]:
    yield "title", step, str(page.get("title") or "")
    yield "address", step, str(page.get("url") or "")
    for name in ("tree", "text"):
        ref = page.get(name)
        if isinstance(ref, dict) and ref.get("hash") not in seen:
            seen.add(str(ref.get("hash")))
            with suppress(StoreError, ValueError):
                yield "page", step, blobs.read(BlobRef.model_validate(ref)).decode("utf-8", "replace")

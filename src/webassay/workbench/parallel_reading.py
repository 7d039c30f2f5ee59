"""A large ledger, read by two processes: taking in its rows is most of a report's time.

The second process opens the ledger for itself. It is forked before this one opens it, because a connection to SQLite
must not be carried into another process.
"""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path

from webassay.analysis.numbers.columns import ReportData, ReportDataBuilder
from webassay.analysis.numbers.rows import blocks_of_results
from webassay.core.errors import WebassayError
from webassay.core.rater import Rater
from webassay.store import LEDGER, Store
from webassay.store.ledger import ALL, Places
from webassay.store.runs import open_run

WORTH_A_PROCESS = 100_000_000
"""Bytes of a ledger: about ten thousand episodes, which one process takes in within a third of a second."""
OWN_SHARE = 0.5
"""The share of the units that this process takes in; the other one takes in the rest."""


class LedgerReader:
    """Reads the rows of one ledger, alone or with a second process that has it open as well."""

    def __init__(self, helper: ProcessPoolExecutor | None = None) -> None:
        self._helper = helper

    def gather(self, store: Store, rater: Rater) -> ReportData:
        if self._helper is None or store.damage.items:
            return _taken_in(store, rater, ALL).finish()
        middle = int(store.count_units() * OWN_SHARE)
        first, second = (ALL[0], middle), (middle + 1, ALL[1])
        promised = self._asked(rater, second)
        own = _taken_in(store, rater, first)
        return own.append(self._received(promised) or _taken_in(store, rater, second)).finish()

    # The helper may die, for want of memory for example. Then this process reads everything, now and later.

    def _asked(self, rater: Rater, places: Places) -> "Future[ReportDataBuilder | None] | None":
        try:
            return self._helper.submit(_by_the_helper, rater, places) if self._helper is not None else None
        except BrokenProcessPool:
            return None

    def _received(self, promised: "Future[ReportDataBuilder | None] | None") -> ReportDataBuilder | None:
        try:
            return promised.result() if promised is not None else None
        except BrokenProcessPool:
            self._helper = None
            return None


@contextmanager
def ledger_reader(runs: Sequence[Path]) -> Iterator[LedgerReader]:
    """To be entered before any of the ledgers is opened."""
    if not _worth_it(runs):
        yield LedgerReader()
        return
    with ProcessPoolExecutor(1, get_context("fork")) as helper:
        helper.submit(_prepare, runs[0])
        yield LedgerReader(helper)


def _worth_it(runs: Sequence[Path]) -> bool:
    # A fork starts in milliseconds, but is safe only if no other thread can hold a lock.
    if sys.platform != "linux" or threading.active_count() > 1 or len(os.sched_getaffinity(0)) < 2:
        return False
    ledgers = [run / LEDGER for run in runs]
    return len(ledgers) == 1 and ledgers[0].is_file() and ledgers[0].stat().st_size >= WORTH_A_PROCESS


def _taken_in(store: Store, rater: Rater, places: Places) -> ReportDataBuilder:
    return ReportDataBuilder().take(blocks_of_results(store.rows(rater.name, raters=rater.counting, places=places)))


# --- in the second process ------------------------------------------------------------------------------------

_opened: list[Store] = []


def _prepare(run: Path) -> None:
    # The first process finds out as well what is wrong with the ledger, and says so.
    with suppress(WebassayError):
        _opened[:] = [open_run(run, lambda _: None, thorough=False)]


def _by_the_helper(rater: Rater, places: Places) -> ReportDataBuilder | None:
    with suppress(WebassayError):
        for store in _opened:
            return None if store.damage.items else _taken_in(store, rater, places)
    return None

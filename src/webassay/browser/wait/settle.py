"""Waiting exactly as long as something is pending.

Waited for: navigations and loading documents, requests, fetches whose body is still being read, answers on web sockets,
timers up to a bound, work split into pieces without a pause, animations that end soon, and a page that changes or draws
from frame to frame.
Not waited for: streams, timers that restart themselves forever, requests that repeat forever. Detecting those takes
`patience` once; after that they are ignored for the life of the document.
"""

import asyncio
import time
from dataclasses import dataclass

from webassay.browser.devtools.cdp import CommandRefused, CommandTimeout
from webassay.browser.devtools.page import PageFrame, PendingRequest, TabPage
from webassay.core.errors import BrowserError

_RESTLESS = frozenset({"changes", "frames"})
"""Reasons that the next frame may or may not repeat."""
MAX_DOCUMENTS = 30
"""A tab that has had more of them since an action will not come to rest by itself."""
_REPEATS = 4
_QUIET_FRAMES = 2
"""One for the reaction, and one to see that nothing followed."""
_DOWNLOAD_TIME = 3.0
"""Seconds until a download that was asked for has begun, or will not: its answer was an error."""
_POLL = 0.5
"""Longest time between two looks, in case an event gets lost."""


@dataclass(frozen=True)
class SettleLimits:
    cap: float = 10.0
    """Seconds after which the page is accepted as it is."""
    timer_bound: float = 0.6
    """Timers set for longer than this are not waited for."""
    animation_bound: float = 2.0
    endless_after: float = 1.2
    """Seconds of repetition after which something is assumed to repeat forever."""


@dataclass
class _Look:
    reasons: list[str]
    wait: float
    """Seconds until it is worth looking again, unless something happens first."""


async def settle(page: TabPage, patience: SettleLimits) -> tuple[str, ...]:
    """Returns what was waited for, in order, each thing once."""
    try:
        return await _settle(page, patience)
    finally:
        page.sockets.action_ends()


async def _settle(page: TabPage, patience: SettleLimits) -> tuple[str, ...]:
    waited: dict[str, None] = {}
    started = time.monotonic()
    restless_since: float | None = None
    quiet_frames = 0
    looked = False
    documents = page.document
    while True:
        page.changed.clear()
        page.runaway = page.document - documents > MAX_DOCUMENTS
        look = await _look(page, patience)
        first, looked = not looked, True
        if not look.reasons or not _RESTLESS.issuperset(look.reasons):
            restless_since = None
        elif restless_since is None:
            restless_since = time.monotonic()
        elif time.monotonic() - restless_since > patience.endless_after:
            page.noisy = True
            look = _Look([], 0)
        # Changes in the first frame are the reaction itself, not a sign of more to come.
        if not look.reasons or (first and _RESTLESS.issuperset(look.reasons)):
            quiet_frames += 1
            if quiet_frames == _QUIET_FRAMES:
                return tuple(waited)
            continue
        quiet_frames = 0
        waited.update(dict.fromkeys(look.reasons))
        left = patience.cap - (time.monotonic() - started)
        if left <= 0:
            await _give_up(page)
            return (*waited, f"gave up after {round(patience.cap, 1):g} s: {', '.join(look.reasons)}")
        try:
            async with asyncio.timeout(min(left, look.wait)):
                await page.changed.wait()
        except TimeoutError:
            pass


def new_epoch(page: TabPage) -> None:
    """Call before an action: repetitions are counted from here."""
    page.started.clear()
    page.sockets.action_begins()
    page.downloads_asked = page.downloads_begun = 0
    for frame in list(page.frames.values()):
        if frame.world is not None:
            frame.channel.post(
                "Runtime.evaluate", {"expression": "webassay.newEpoch()", "contextId": frame.world, "silent": True}
            )


async def _look(page: TabPage, patience: SettleLimits) -> _Look:
    if page.connection.closed:
        raise BrowserError(page.connection.closed)
    if page.crashed or page.closed or page.stuck or page.runaway:
        return _Look([], 0)
    main = page.frames.get(page.main)
    if main is None or main.loading or main.world is None:
        return _Look(["navigation"], _POLL)
    if any(frame.loading for frame in page.frames.values()):
        return _Look(["frame"], _POLL)
    alive = [frame for frame in page.frames.values() if frame.world is not None]
    pulses = await asyncio.gather(*(_pulse(page, frame, patience) for frame in alive))
    for pulse in pulses:
        if pulse is not None and pulse["downloads"]:
            page.downloads_asked += int(pulse["downloads"])
            page.asked_at = time.monotonic()
    reasons: list[str] = ["download"] if _downloading(page) else []
    waits: list[float] = [_POLL] if reasons else []
    for request in _requests(page, patience):
        reasons.append(request.label)
        waits.append(_POLL)
    answer = page.sockets.seconds_left()
    if answer > 0:
        reasons.append("web socket")
        waits.append(min(answer, _POLL))
    for frame, pulse in zip(alive, pulses, strict=True):
        if pulse is None and page.in_viewer(frame):
            continue
        for reason, wait in _reasons(page, pulse):
            reasons.append(reason)
            waits.append(wait)
    return _Look(reasons, min(waits, default=0))


def _reasons(page: TabPage, pulse: dict[str, float] | None) -> list[tuple[str, float]]:
    if pulse is None:
        return [("navigation", 0.05)]
    found: list[tuple[str, float]] = []
    if pulse["loading"]:
        found.append(("loading", _POLL))
    if pulse["fetches"]:
        found.append(("fetch", 0.02))
    if pulse["timers"]:
        found.append((f"timer of {pulse['delay']:.0f} ms", pulse["next"] / 1000))
    if pulse["animation"]:
        found.append(("animation", pulse["animation"] / 1000))
    if pulse["mutated"] and not page.noisy:
        found.append(("changes", 0))
    if pulse["frames"] and not page.noisy:
        found.append(("frames", 0))
    return found


async def _pulse(page: TabPage, frame: PageFrame, patience: SettleLimits) -> dict[str, float] | None:
    bounds = (patience.timer_bound * 1000, patience.animation_bound * 1000, patience.endless_after * 1000)
    try:
        pulse = await page.call(frame, "pulse", *bounds, wait=True)
    except (CommandRefused, CommandTimeout):
        return None
    return pulse if isinstance(pulse, dict) else None


def _downloading(page: TabPage) -> bool:
    due = page.downloads_asked > page.downloads_begun and time.monotonic() - page.asked_at < _DOWNLOAD_TIME
    return due or bool(page.downloads)


def _requests(page: TabPage, patience: SettleLimits) -> list[PendingRequest]:
    for key, times in page.started.items():
        if len(times) >= _REPEATS and times[-1] - times[0] > patience.endless_after:
            page.pollers.add(key)
    return [r for key, r in page.pending.items() if key not in page.ignored and r.key not in page.pollers]


async def _give_up(page: TabPage) -> None:
    page.ignored.update(page.pending)
    page.noisy = True
    page.sockets.give_up()
    for frame in list(page.frames.values()):
        if frame.world is not None:
            frame.channel.post(
                "Runtime.evaluate", {"expression": "webassay.giveUp()", "contextId": frame.world, "silent": True}
            )

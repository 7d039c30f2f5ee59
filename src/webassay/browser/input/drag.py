"""The part of a drag that the browser itself makes of it, once the page has said that something can be dragged."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from webassay.browser.devtools.cdp import CommandRefused, Params
from webassay.browser.devtools.page import TabPage

_PAUSE = 0.05
"""Seconds between two events, as where a hand moves: lists that sort themselves ignore what comes while they move their
items."""
_REST = 0.2
"""Seconds at the end, before the drop."""

Point = tuple[float, float]
Delivery = Callable[[Sequence[asyncio.Future[Params]]], Awaitable[None]]


async def drag_natively(
    page: TabPage, data: Params, points: Sequence[Point], modifiers: int, delivered: Delivery
) -> None:
    """`delivered` waits until the page has handled events."""

    async def event(kind: str, point: Point) -> None:
        command = {"type": kind, "x": point[0], "y": point[1], "data": data, "modifiers": modifiers}
        await delivered([page.channel.post("Input.dispatchDragEvent", command)])

    async def pause(seconds: float) -> None:
        await asyncio.sleep(seconds)
        # On a busy machine what the page does meanwhile takes longer.
        with contextlib.suppress(CommandRefused):
            await page.call(page.main_frame, "nextFrame", wait=True)

    await event("dragEnter", points[0])
    for point in points:
        await event("dragOver", point)
        await pause(_PAUSE)
    # What lies there may have changed by now, and so may what the page makes of it.
    await event("dragOver", points[-1])
    await pause(_REST)
    await event("dragOver", points[-1])
    await event("drop", points[-1])

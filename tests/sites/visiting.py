"""A visitor who speaks plain HTTP to a stage's sites, wherever the machine resolves `*.localhost` to."""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import httpx

from webassay.core.trajectory import MemoryBlobs, RowsResult
from webassay.environments.arena import Arena, ArenaStage


def visit(stage: ArenaStage, site: str = "notes", host: str | None = None) -> httpx.AsyncClient:
    address = urlsplit(stage.bases[site])
    host = address.netloc if host is None else host
    # verify: there is no TLS here, and loading the certificates takes longer than the test.
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{address.port}", headers={"host": host}, timeout=20, verify=False
    )


async def changed(stage: ArenaStage) -> dict[str, int]:
    """Table to number of changed rows, without what is only telemetry."""
    counts: dict[str, int] = {}
    for result in await stage.probe(stage.cookies, MemoryBlobs()):
        if isinstance(result, RowsResult):
            for change in result.changes:
                if set(result.columns[change.table].values()) != {"telemetry"}:
                    counts[change.table] = counts.get(change.table, 0) + 1
    return counts


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110 (what is waited for happens in another process)
            await asyncio.sleep(0.01)


async def seen(arena: Arena) -> int:
    return (await arena.stats())["requests"]


async def arrived(arena: Arena, requests: int) -> None:
    """Wait until the server has begun to work on so many requests."""

    async def enough() -> bool:
        return await seen(arena) >= requests

    await until(enough)

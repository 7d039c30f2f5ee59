"""Two thousand steps in one browser leave nothing behind, and neither does a start that is interrupted."""

import asyncio
import contextlib
import gc
import sys
import tempfile
from pathlib import Path

import pytest

from tests.browser.conftest import Visit
from tests.support.process_tree import megabytes
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

STEPS = 2000
WARM = 500


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.timeout(1800)
async def test_two_thousand_steps(port: int) -> None:
    base = f"http://pages.localhost:{port}"
    async with Browser(find_chromium()) as browser:

        async def play(steps: int) -> None:
            async with browser.session(allowed_hosts={f"pages.localhost:{port}"}) as session:
                page = Visit(session, base)
                await session.open([f"{base}/listing.html"])
                for step in range(steps):
                    if step % 25 == 24:
                        await page.do("goto", f"{base}/listing.html?{step}")
                    seen = await page.see("tree", "boxes", "screenshot")
                    target = seen.find("button", ("More", "Shuffle", "Drop first")[step % 3])
                    assert (await page.do("click", target.id)).error == ""

        # Sessions come and go as episodes do; what counts is what is left between them.
        for _ in range(WARM // 50):
            await play(50)
        gc.collect()
        before, objects = megabytes(browser.pid), len(gc.get_objects())
        connection = browser._connection
        tasks = len(connection._tasks)  # the memory guard's stays
        for _ in range((STEPS - WARM) // 50):
            await play(50)
        gc.collect()
        after, now = megabytes(browser.pid), len(gc.get_objects())
        print(f"Chromium {before:.0f} -> {after:.0f} MB, Python {objects} -> {now} objects")
        assert after < before * 1.2 + 20
        assert now < objects * 1.02 + 500
        assert len(connection._channels) == 1 and not connection._by_number and len(connection._tasks) == tasks


def started_in(folder: Path) -> list[str]:
    """Processes with a profile in that folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
@pytest.mark.parametrize("after", [0.0, 0.005, 0.02, 0.1, 0.3, 1.0])
async def test_whoever_is_cancelled_while_chromium_starts_leaves_none(
    after: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def start() -> None:
        async with Browser(find_chromium()) as browser, browser.session(allowed_hosts=set()):
            await asyncio.sleep(60)

    starting = asyncio.create_task(start())
    await asyncio.sleep(after)
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    assert started_in(tmp_path) == []
    assert list(tmp_path.glob("webassay-profile-*")) == []

"""The pictures of the viewer in README, taken of a real run: python scripts/take_pictures.py RUN [--out docs/pictures]

RUN is what `webassay demo` plays. Three pages: agents compared, a task from all sides, and one episode. A failed one of
an agent that errs seldom is shown, or else any that failed.
"""

import argparse
import asyncio
from pathlib import Path

from playwright.async_api import async_playwright

from webassay.browser.devtools.chromium import find_chromium
from webassay.viewer import serve
from webassay.viewer.address import address, of_episode
from webassay.workbench import Workbench

WIDTH, HEIGHT = 1280, 800
PATIENCE = 180_000
"""Milliseconds: a key is built again, which takes long on a busy machine."""


def pages_of(bench: Workbench, run: Path) -> dict[str, str]:
    rows = bench.rows([run])
    wrong = [row for row in rows if row["status"] == "fail" and not row["baseline"]]
    row = max(wrong, key=lambda row: (row["kind"] == "mutate" and row["claimed"] == "SUCCESS", row["steps"]))
    unit = f"{row['agent']}/{row['task_id']}/{row['trial']}"
    return {
        "viewer-compare": "/compare",
        "viewer-task": address("/task", task=row["task_id"]),
        "viewer-episode": of_episode(run.name, unit),
    }


async def take(bench: Workbench, run: Path, out: Path) -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(bench.shelf([run]), ready=told.set_result))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(None), args=["--no-sandbox"])
        tab = await browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        await tab.goto(await told)
        base = tab.url.rstrip("/")
        for name, path in pages_of(bench, run).items():
            await tab.goto(base + path)
            await tab.wait_for_load_state("networkidle", timeout=PATIENCE)
            place = out / f"{name}.png"
            await tab.screenshot(path=place)
            print(place)
        await browser.close()
    serving.cancel()
    await asyncio.wait([serving])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    given = parser.parse_args()
    asyncio.run(take(Workbench(), given.run, given.out))


if __name__ == "__main__":
    main()

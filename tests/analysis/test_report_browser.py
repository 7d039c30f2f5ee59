"""The page of a big run in a real Chromium: it opens, asks for nothing, and fits screen, phone and paper."""

import shutil
from pathlib import Path

import pytest
from playwright.async_api import async_playwright
from scripts.bench_statistics import big_report

from webassay.analysis.results.page import to_html
from webassay.analysis.results.report import summarize

pytestmark = pytest.mark.browser


async def test_eight_agents_on_five_hundred_tasks(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    page_text = to_html(summarize(big_report(), title="Big"))
    assert len(page_text.encode()) < 3_000_000
    path = tmp_path / "report.html"
    path.write_text(page_text, encoding="utf-8")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme, media, width in (("light", "screen", 1180), ("dark", "screen", 390), ("light", "print", 740)):
            context = await browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
            page = await context.new_page()
            asked: list[str] = []
            said: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))  # type: ignore[misc]
            page.on("console", lambda message, said=said: said.append(message.text))  # type: ignore[misc]
            await page.emulate_media(media=media)  # type: ignore[arg-type]
            await page.goto(path.as_uri())
            assert await page.locator("svg").count() >= 8
            assert await page.locator(".forest .point").count() == 15
            # Wide tables scroll inside their card; on paper nothing can.
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            assert (asked, said) == ([path.as_uri()], [])
            await context.close()
        await browser.close()

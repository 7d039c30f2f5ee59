"""Ids when a page renders itself again: they follow what a person sees, and never end up on something else."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Opener, Visit
from webassay.core.interaction import Observation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DRIVER = (Path(__file__).parent / "rerender.js").read_text(encoding="utf-8")


async def change_at_random(page: Visit, seed: int, worlds: int) -> dict[str, Any]:
    """Ten changes to each of so many lists; what became of the ids."""
    tab = page.session._context.active
    return dict(json.loads(await tab.evaluate(tab.main_frame, f"({DRIVER})({seed}, {worlds})")))


async def hold(page: Visit, seeds: range, worlds: int) -> None:
    counted: Counter[str] = Counter()
    strayed: list[str] = []
    for seed in seeds:
        found = await change_at_random(page, seed, worlds)
        counted.update({key: found[key] for key in ("changes", "unchanged", "kept", "changed", "changedKept")})
        strayed += found["strayed"]
    print(f"{counted['changes']} changes, {counted['kept']} of {counted['unchanged']} ids of unchanged things kept")
    print(f"{counted['changedKept']} of {counted['changed']} ids kept in items that got a remark or another count")
    assert not strayed, "\n".join(strayed[:20])
    assert counted["changes"] == len(seeds) * worlds * 10
    assert counted["kept"] >= 0.99 * counted["unchanged"]
    assert counted["changedKept"] >= 0.9 * counted["changed"]


async def test_ids_follow_the_items_of_lists(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await hold(page, range(3), 10)


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_ids_follow_the_items_of_lists_through_ten_thousand_changes(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await hold(page, range(1000, 1040), 25)


def mails(seen: Observation) -> dict[str, str]:
    return {node.name: node.id for node in seen.find_all("generic") if node.name[:1].isalpha()}


async def test_everything_written_anew_keeps_its_ids(visit: Opener) -> None:
    async with visit("rerender.html") as page:
        first = mails(await page.see())
        assert {"Ann Minutes", "Bob Lunch", "Cleo Invoice", "Dan Party", "Add", "Drop"} <= set(first)
        for tool in ("Turn", "Add", "Turn"):
            await page.do("click", first[tool])
            now = mails(await page.see())
            assert {name: now[name] for name in first} == first
        await page.do("click", first["Drop"])
        assert set(mails(await page.see()).values()) < set(now.values())


async def test_an_id_is_used_after_the_page_was_written_anew_or_says_what_happened_to_it(visit: Opener) -> None:
    async with visit("rerender.html") as page:
        seen = mails(await page.see())
        await page.do("click", seen["Later"])
        # The agent thinks, and a toast comes up meanwhile.
        await asyncio.sleep(1.2)
        assert (await page.do("click", seen["Cleo Invoice"])).error == ""
        assert await page.log() == "open Invoice"
        await page.do("goto", f"{page.base}/rerender.html")
        seen = mails(await page.see())
        await page.do("click", seen["Drop"])
        error = (await page.do("click", seen["Ann Minutes"])).error
        assert f"no element [{seen['Ann Minutes']}]" in error and "it was generic 'Ann Minutes'" in error
        assert "the page changed since it was seen" in error
        assert f"[{seen['Bob Lunch']}] generic 'Bob Lunch'" in error, error
        assert "any more" not in (await page.do("click", "999")).error


async def test_what_is_hidden_for_a_while_keeps_its_id(visit: Opener) -> None:
    async with visit("modal.html") as page:
        behind = await page.node("button", "Behind")
        await page.click("button", "Open native")
        assert (await page.see()).find("button", "Behind") is None
        await page.click("button", "Yes")
        assert (await page.node("button", "Behind")).id == behind.id

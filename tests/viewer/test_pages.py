"""Every page in a real Chromium, over a real run: what it shows, what it links, and what one can do on it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe

from webassay.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

GOOD, BAD = "flawed[skill=0.9]", "flawed[skill=0.2,errors=stop]"
TASK = "shop.change-address.w0s0.0"
EVERY = (
    "/",
    "/episodes",
    "/episodes?status=fail",
    "/compare",
    "/tasks?sort=differ",
    f"/task?task={TASK}",
    "/search?q=address",
    "/search",
    "/live",
    "/nowhere",
)


async def test_they_fit_and_have_nothing_serious_for_accessibility_checkers(tab, viewer):
    async with tab(viewer, clean=False) as shown:
        for path in EVERY:
            page = await shown.go(path)
            await page.wait_for_load_state("networkidle")
            for width, scheme in ((1280, "light"), (390, "dark")):
                await page.set_viewport_size({"width": width, "height": 844})
                await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                assert await shown.width() <= width, path
                found = await Axe().run(page)
                serious = [
                    found for found in found.response["violations"] if found["impact"] in ("serious", "critical")
                ]
                assert [(path, found["id"], found["nodes"][0]["html"][:200]) for found in serious] == []
        assert shown.strangers == []
        assert [said for said in shown.said if "404" not in said] == [], "but for the page that is not there"


async def test_every_number_of_a_run_opens_just_those_episodes(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/")
        links = await page.locator("table a").evaluate_all("all => all.map(one => [one.innerText, one.href])")
        numbers = [(int(text), href) for text, href in links if text.isdigit()]
        assert len(numbers) >= 3
        for number, href in numbers:
            await page.goto(href)
            assert await page.locator("h1").inner_text() == (
                f"{number} episode" if number == 1 else f"{number} episodes"
            )
            assert await page.locator("tr[data-row]").count() == number


async def test_episodes_are_narrowed_down_in_the_address(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/episodes")
        for name, value in (("site", "shop"), ("agent", BAD)):
            await page.locator(f".facets details:has(summary:has-text('{name}')) a", has_text=value).click()
        assert parse_qs(urlsplit(page.url).query) == {"site": ["shop"], "agent": [BAD]}
        assert await page.locator("tr[data-row]").count() == 2
        await page.locator(".chips a", has_text="site: shop").click()
        assert await page.locator("tr[data-row]").count() == 3
        await page.locator("select[name=sort]").select_option("steps")
        await page.wait_for_url("**sort=steps**")
        steps = [int(text) for text in await page.locator("tr[data-row] td:nth-child(5)").all_inner_texts()]
        assert steps == sorted(steps, reverse=True) and parse_qs(urlsplit(page.url).query)["agent"] == [BAD]
        await page.locator(".chips a", has_text="Clear all").click()
        assert urlsplit(page.url).query == ""


async def test_what_went_wrong_is_a_link_to_all_that_went_wrong_like_that(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/episodes?status=fail")
        reason = page.locator("tr[data-row] td:nth-child(4) a").first
        said = await reason.inner_text()
        await reason.click()
        assert "failure" in parse_qs(urlsplit(page.url).query)
        for row in await page.locator("tr[data-row] td:nth-child(4)").all_inner_texts():
            assert said in row


async def test_nothing_fits_is_said(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/episodes?site=shop&site=nowhere&kind=nothing")
        assert "No episode is like that" in await page.locator("main").inner_text()


async def test_agents_are_compared_where_they_differ_first(tab, viewer, bench, played):
    report = bench.report([played])
    (paired,) = report.comparisons
    async with tab(viewer) as one:
        page = await one.go("/compare")
        row = page.locator("table.rows tbody tr", has_text=paired.agent)
        assert f"{100 * (paired.difference.value or 0):+.1f}" in await row.inner_text()
        apart = [
            int(text) for text in await page.locator("table.heat").first.locator("td:last-child").all_inner_texts()
        ]
        assert len(apart) == 3 and apart == sorted(apart, reverse=True) and apart[0] == 100
        await page.get_by_role("checkbox", name=BAD).uncheck()
        await page.get_by_role("button", name="Compare").click()
        assert "Choose at least two agents" in await page.locator("main").inner_text()


async def test_the_anchor_can_be_chosen(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/compare")
        before = await page.locator("table.rows td:nth-child(5)").all_inner_texts()
        await page.locator("select[name=anchor]").select_option(BAD)
        await page.get_by_role("button", name="Compare").click()
        after = await page.locator("table.rows td:nth-child(5)").all_inner_texts()
        assert any(text.startswith("-") for text in before) and any(text.startswith("+") for text in after)


async def test_the_heat_map_leads_to_tasks_and_to_episodes(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/tasks")
        cell = page.locator("table.heat tbody tr", has_text="shop.change-address").locator("td").nth(1).locator("a")
        assert re.fullmatch(r"[01]/1", await cell.inner_text())
        await cell.click()
        assert await page.locator("tr[data-row]").count() == 1
        await one.go("/tasks")
        await page.get_by_role("link", name="shop.change-address", exact=True).click()
        await page.get_by_role("link", name=TASK, exact=True).click()
        assert await page.locator("h1").inner_text() == TASK


async def test_a_task_shows_its_key_its_mistakes_and_every_attempt(tab, viewer, played):
    with Store.open(played) as store:
        instruction = store.trajectory(f"{GOOD}/{TASK}/0").goal.instruction
    async with tab(viewer) as one:
        page = await one.go(f"/task?task={TASK}")
        assert (await page.locator(".goal").inner_text())[:40] == instruction[:40]
        await page.locator("h2", has_text="What it is proved against").wait_for()
        key = await page.locator("section[data-load]").inner_text()
        assert "A change in addresses of shop" in key and "No other content may change" in key
        assert "mistakes" in key and "another address" not in await page.locator("h1").inner_text()
        shots = page.locator("article.shot")
        assert await shots.count() == 2
        broken = "images => images.filter(one => !one.complete || !one.naturalWidth).length"
        await page.wait_for_load_state("networkidle")
        assert await page.locator("article.shot img").count() == 2
        assert await page.locator("article.shot img").evaluate_all(broken) == 0
        failed = shots.filter(has_text=BAD)
        assert "A change that was asked for was not made" in await failed.inner_text()
        assert "The task has changed" not in key
        await one.go(f"/key?task={TASK}&played=sha256:0")
        assert "The task has changed since it was played" in await page.locator("body").inner_text()


async def test_words_are_found_on_pages_in_answers_and_in_findings(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/")
        await page.keyboard.press("/")
        await page.keyboard.type("address BOOK")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/search?q=address+BOOK")
        assert "in 6 episodes of 6" in await page.locator("[role=status]").inner_text()
        assert {text.casefold() for text in await page.locator("mark").all_inner_texts()} == {"address book"}
        await one.go("/search?q=missing_change&agent=" + BAD)
        hits = await page.locator(".hits li").all_inner_texts()
        assert hits and all("finding" in hit and BAD in hit for hit in hits)
        await one.go("/search?q=UNKNOWN_ERROR&status=fail")
        assert any("answer" in hit for hit in await page.locator(".hits li").all_inner_texts())
        await one.go("/search?q=%3Cscript%3Ealert(1)%3C/script%3E")
        assert "Nobody saw" in await page.locator("main").inner_text()


async def test_a_run_that_is_over_is_shown_as_such(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/live")
        await page.locator("#now h2", has_text="not in progress").wait_for()
        assert "6 of 6 episodes played" in await page.locator("#now").inner_text()
        assert await page.get_by_role("button", name="Stop this run").count() == 0


async def test_a_form_of_the_viewer_is_let_in(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/")
        form = '<form method="post" action="/live/stop"><input name="run" value="played"><button>Go</button></form>'
        await page.locator("main").evaluate("(main, form) => { main.innerHTML = form }", form)
        await page.get_by_role("button", name="Go").click()
        await page.locator("h1", has_text="Live").wait_for()


async def test_a_page_that_changes_something_takes_no_get(viewer, played):
    with viewer.client() as client:
        assert client.get("/live/stop?run=played").status_code == 405
        for data, status in (({"run": "played"}, 303), ({"run": "../played"}, 404), ({}, 404)):
            assert client.post("/live/stop", data=data).status_code == status
        assert client.post("/live/stop", data={"run": "played"}, headers={"origin": "null"}).status_code == 403
    assert not (played / "live").exists(), "nobody is playing, so there is nobody to ask"

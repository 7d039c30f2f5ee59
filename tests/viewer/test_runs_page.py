"""The first page in a real Chromium, over a real run."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_it_shows_every_agent_with_its_numbers(tab, viewer, bench, played):
    report = bench.report([played])
    async with tab(viewer) as one:
        page = await one.go("/")
        assert viewer.token not in page.url
        rows = page.locator("tr[data-row]")
        assert await rows.count() == len(report.agents)
        for place, agent in enumerate(report.agents):
            cells = await rows.nth(place).locator("td").all_inner_texts()
            assert cells[0].startswith(agent.name)
            assert cells[2].startswith(f"{100 * (agent.success.macro.value or 0):.1f}")
            assert cells[3:5] == [str(agent.success.counts.passed), str(agent.success.counts.failed)]


async def test_keys_lead_around(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/")
        await page.keyboard.press("j")
        await page.keyboard.press("j")
        assert await page.locator("tr.marked").count() == 1
        assert await page.locator("tr[data-row]").nth(1).get_attribute("class") == "marked"
        await page.keyboard.press("?")
        assert await page.locator("#keys").is_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("/")
        assert await page.evaluate("document.activeElement.name") == "q"
        await page.keyboard.type("j")
        assert await page.input_value(".find input") == "j"


async def test_the_introduction_stays_closed_once_it_was(tab, viewer):
    async with tab(viewer) as one:
        page = await one.go("/")
        assert await page.locator("details.intro").get_attribute("open") is not None
        await page.locator("details.intro summary").click()
        closed = "localStorage.getItem('webassay.intro') === 'closed'"
        await page.evaluate(
            f"new Promise(done => {{ const look = () => {closed} ? done() : setTimeout(look); look() }})"
        )
        await page.reload()
        assert await page.locator("details.intro").get_attribute("open") is None


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/static/../access.py",
        "/static/..%2faccess.py",
        "/?run=../../etc",
        "/blob?hash=../../ledger.sqlite",
        "/blob?hash=sha256:" + "0" * 64,
        "/blob?run=..%2f..&hash=sha256:" + "0" * 64,
        "/blob?run=%00&hash=%00",
    ],
)
async def test_paths_that_lead_out_lead_nowhere(viewer, path):
    with viewer.client() as client:
        found = client.get(path)
        assert found.status_code == 404 and "root:" not in found.text

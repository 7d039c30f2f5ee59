"""The page of an episode in the viewer, over a real run, hostile episodes, judged ones, and those of others."""

import io
import re
import zipfile
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.support import judging_samples as judging
from tests.support.episodes import make_run, picture, sample_trajectory
from tests.support.hostile_episodes import hostile_task, hostile_trajectory, hostile_verdicts
from tests.viewer.conftest import Open, Serving, Tab
from webassay import Workbench
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.store import Store
from webassay.store.runs import open_run
from webassay.viewer.address import address, of_episode
from webassay.workbench.show import Recorded

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

Serve = Callable[[list[Path]], Serving]
SHOWN = ".film a[aria-current] b"
GOOD = "flawed[skill=0.9]"


def unit_of(bench: Workbench, run: Path, agent: str, template: str) -> str:
    [line] = [line for line in bench.units(run) if line.agent == agent and line.task_id.startswith(template)]
    return line.unit


async def opened(one: Tab, unit: str, **more: object) -> Page:
    """With its key, for which a world may have to be made first."""
    page = await one.go(of_episode("played", unit, **more))
    await expect(page.locator("main", has_text="The key is being built again")).to_have_count(0, timeout=120_000)
    return page


async def serious(page: Page) -> list[tuple[str, str]]:
    found = await Axe().run(page)
    bad = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in bad]


# --- a real episode -----------------------------------------------------------------------------------------


async def test_steps_are_walked_through_by_key_with_what_they_did_on_the_picture(tab: Open, viewer, bench, played):
    unit = unit_of(bench, played, GOOD, "shop.change-address")
    async with tab(viewer) as one:
        page = await opened(one, unit)
        steps = bench.episode(played, unit).trajectory.steps
        await expect(page.locator(".film a")).to_have_count(len(steps) + 1)
        await expect(page.locator(".step:visible")).to_have_count(1)
        for key, shown in (("j", "2"), ("ArrowRight", "3"), ("k", "2"), ("ArrowLeft", "1"), ("k", "1")):
            await page.keyboard.press(key)
            await expect(page.locator(SHOWN)).to_have_text(shown)
        aimed = next(step for step in steps if step.aims)
        await page.locator(f".film a[href='#step-{aimed.index + 1}']").click()
        now = page.locator(".step.now")
        box, shown = now.locator("svg.marks rect:not(.halo)").first, now.locator(".canvas.before img")
        assert float(await box.get_attribute("width") or 0) == pytest.approx(aimed.aims[0].box[2], abs=0.05)
        await expect(shown).to_be_visible()
        await expect(shown).to_have_js_property("naturalWidth", 1280)
        await page.keyboard.press("b")
        await expect(now.locator(".canvas.after img")).to_be_visible()
        await expect(shown).to_be_hidden()
        await page.keyboard.press("b")
        await page.keyboard.press("a")
        assert await page.locator(".step:visible").count() == len(steps) + 1
        # What stands in the address is where it opens.
        again = await one.go(f"{of_episode('played', unit)}#step-3")
        await expect(again.locator(SHOWN)).to_have_text("3")
        again = await one.go(of_episode("played", unit, step=2))
        await expect(again.locator(SHOWN)).to_have_text("2")


async def test_what_takes_space_is_loaded_when_it_is_opened_and_a_tree_can_be_searched(tab, viewer, bench, played):
    unit = unit_of(bench, played, GOOD, "shop.change-address")
    steps = bench.episode(played, unit).trajectory.steps
    clicked = next(step for step in steps if step.aims and step.seen.tree)
    async with tab(viewer) as one:
        page = await opened(one, unit, step=clicked.index + 1)
        await page.locator(".step.now details[data-when-open] > summary").click()
        tree = page.locator(".step.now .tree pre")
        await expect(tree.locator("mark b").first).to_have_text(f"[{next(iter(clicked.actions)).args['bid']}]")
        before = await tree.locator(".line:visible").count()
        await page.locator(".step.now .sift").fill("LOG")
        after = await tree.locator(".line:visible").all_inner_texts()
        assert 0 < len(after) < before and all("log" in line.lower() for line in after)
        await page.keyboard.press("j")
        await expect(page.locator(SHOWN)).to_have_text(str(clicked.index + 1)), "keys belong to the field"


async def test_rows_and_facts_lead_to_the_steps_that_made_them(tab, viewer, bench, played):
    unit = unit_of(bench, played, GOOD, "shop.change-address")
    view = bench.episode(played, unit)
    written = [step for step in view.touched if step >= 0]
    assert written and view.evidence, "the sites recorded what was written and shown"
    async with tab(viewer) as one:
        page = await opened(one, unit)
        link = page.get_by_role("region", name="Changed rows").get_by_role("link").first
        await link.click()
        number = str(written[0] + 1)
        await expect(page.locator(SHOWN)).to_have_text(number)
        assert page.url.endswith(f"#step-{number}")
        await expect(page.locator(".step.now .touched").first).to_be_visible()
        await expect(page.locator(f".film a[href='#step-{number}'].rows")).to_have_count(1)
        fact = page.locator(".facts a").first
        shown = (await fact.get_attribute("href") or "").removeprefix("#step-")
        await fact.click()
        await expect(page.locator(SHOWN)).to_have_text(shown)
        await expect(page.locator(".step.now h4", has_text="facts of the key")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_it_fits_every_screen_and_accessibility_checkers_find_nothing(tab, viewer, bench, played, width, scheme):
    unit = next(line.unit for line in bench.units(played) if line.status == "fail")
    async with tab(viewer, width=width, scheme=scheme) as one:
        page = await opened(one, unit)
        await expect(page.locator(".why")).to_be_visible()
        assert await one.width() <= width
        assert await serious(page) == []


async def test_it_can_be_taken_away(tab, viewer, bench, played):
    unit = unit_of(bench, played, GOOD, "shop.change-address")
    async with tab(viewer) as one:
        page = await opened(one, unit)
        async with page.expect_download() as html:
            await page.get_by_role("link", name="One HTML file").click()
        async with page.expect_download() as trace:
            await page.get_by_role("link", name="Playwright trace").click()
        name = (await html.value).suggested_filename
        assert name.startswith("flawed-skill-0.9-shop.change-address") and name.endswith(".html")
        assert Path(await (await html.value).path()).read_text() == bench.episode_page(played, unit)
        with zipfile.ZipFile(io.BytesIO(Path(await (await trace.value).path()).read_bytes())) as archive:
            assert "trace.trace" in archive.namelist()


@pytest.mark.parametrize("path", [
    address("/episode", run="played", unit="nobody/x/0"), address("/episode", run="played"),
    address("/episode", run="../played", unit="x"), address("/episode", run="played", unit="../../etc/passwd"),
    address("/more", run="played", unit="{unit}", step=99), address("/more", run="played", unit="{unit}", step="-1"),
    address("/thumb", run="played", hash="sha256:../../x"), address("/take", run="played", unit="%2e%2e/"),
    address("/trace", run="played", unit="\x00"),
])  # fmt: skip
async def test_what_is_not_there_is_not_found(tab, viewer, bench, played, path):
    unit = unit_of(bench, played, GOOD, "shop.change-address")
    async with tab(viewer, clean=False) as one:
        asked = "path => fetch(path).then(async (answer) => [answer.status, await answer.text()])"
        status, text = await one.page.evaluate(asked, path.replace("%7Bunit%7D", quote(unit)))
        assert status == 404 and "root:" not in text


# --- whatever a run holds -----------------------------------------------------------------------------------

MEGABYTE = "<script>window.pwned=9</script>\x1b[31m" * 30_000


def large(blobs, task):
    made = hostile_trajectory(blobs, task)
    said = {"thought": MEGABYTE, "raw": MEGABYTE, "error": MEGABYTE}
    seen = made.steps[0].seen.model_copy(update={"title": MEGABYTE, "url": f"http://x/{MEGABYTE}"})
    first = made.steps[0].model_copy(update={**said, "seen": seen})
    return made.model_copy(update={"answer": MEGABYTE, "steps": (first, *made.steps[1:])})


@pytest.mark.parametrize("made", [hostile_trajectory, large])
async def test_everything_that_was_said_is_text(tab: Open, serving: Serve, tmp_path, made):
    run = make_run(
        tmp_path / "made", task=hostile_task(), trajectory=made, verdicts=lambda one: [*hostile_verdicts(one)]
    )
    with serving([run]) as viewer:
        async with tab(viewer) as one:
            page = await one.go(of_episode("run", "model-agent/" + hostile_task().id + "/0"))
            await expect(page.locator(".step.now")).to_be_visible()
            assert len(await page.content()) < 3_000_000
            while await page.locator("details:not([open])").count():
                await page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
                await page.wait_for_load_state("networkidle")
            await page.keyboard.press("a")
            assert await page.evaluate("window.pwned") is None
            assert await page.locator("main :is(iframe, base, object, embed, meta, script)").count() == 0
            addresses = await page.locator("main a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
            assert addresses and all(one.startswith(("#", "/")) for one in addresses)


def many_steps(blobs, task):
    made = sample_trajectory(blobs, task)
    colours = [f"#{number * 977 % 0xFFFFFF:06x}" for number in range(200)]
    pages = [made.steps[0].seen.model_copy(update={"screenshot": picture(blobs, one)}) for one in colours]
    steps = (made.steps[0].model_copy(update={"index": n, "seen": seen}) for n, seen in enumerate(pages))
    return made.model_copy(update={"steps": tuple(steps)})


async def test_two_hundred_steps_are_there_before_they_are_asked_for(tab: Open, serving: Serve, tmp_path):
    run = make_run(tmp_path / "made", trajectory=many_steps)
    with serving([run]) as viewer:
        async with tab(viewer) as one:
            page = await one.go(of_episode("run", "model-agent/shop.cancel.0/0"))
            await expect(page.locator(".film a")).to_have_count(201)
            pictures = [url for url in one.asked if "/blob" in url]
            assert len(pictures) < 20, "only those that are near"
            ready = "document.querySelector('.step.now .before img').complete"
            next_one = page.locator(".step.now + .step .before img[loading=eager]")
            for number in range(2, 12):
                await expect(next_one).to_have_js_property("complete", True)
                await page.keyboard.press("j")
                await expect(page.locator(SHOWN)).to_have_text(str(number))
                assert await page.evaluate(ready), "it was loaded while the one before was looked at"
            await page.keyboard.press("k")
            await page.locator(".film a").last.click()
            await expect(page.locator(SHOWN)).to_have_text("end")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One episode, judged by the verifier, with a person who disagrees."""
    place, case = tmp_path_factory.mktemp("judged") / "run", judging.golden("06-side-effects")
    verdict = await judging.verified(case, judging.ByStage(judging.replies_of(case)))
    with Store.create(place) as store:
        unit = UnitOfWork(agent="sample", task_id="coolant")
        played = judging.golden_trajectory(case, store.blobs)
        made = played.model_copy(update={"id": f"{unit.id}/0", "task_id": unit.task_id})
        about = {"trajectory_id": made.id, "task_id": unit.task_id}
        said = Finding(check="label", status="pass", message="It is done.")
        person = Fingerprint(grader="human:ada", version="1")
        store.plan([unit])
        ada = Verdict(**about, status="pass", findings=(said,), fingerprint=person)
        store.add_episode(unit.id, made, [ada, verdict.model_copy(update=about)])
    return place


async def test_a_verifiers_rubric_votes_and_pages_lead_to_the_steps(tab: Open, serving: Serve, judged: Path):
    with serving([judged]) as viewer:
        async with tab(viewer) as one:
            page = await one.go(of_episode("run", "sample/coolant/0"))
            sides = page.get_by_role("region", name="Verdicts side by side").locator(".card")
            heads = await sides.locator("h3").all_inner_texts()
            assert [re.sub(r"\d+|\s+", " ", text).split() for text in heads] == [
                ["universal", "(by-stage)", "fail"], ["human:ada", "pass"],
            ]  # fmt: skip
            rubric = page.get_by_role("region", name="Rubric with both rounds of points").locator("tbody tr")
            await expect(rubric).to_have_count(4)
            await expect(page.locator(".critical")).to_have_text("An item was left in the Northparts cart.")
            await expect(page.locator(".film a.cited")).to_have_attribute("href", "#step-2")
            await page.get_by_role("link", name="Page 4, criterion 2: 9").click()
            await expect(page.locator(SHOWN)).to_have_text("4")
            await page.get_by_role("link", name="Page 5, criterion 2: 9").click()
            await expect(page.locator(SHOWN)).to_have_text("end")
            await page.locator(".failures").get_by_role("link", name="step 2").click()
            await expect(page.locator(".step.now .told", has_text="It put the sensor into the cart.")).to_be_visible()
            assert await serious(page) == []


async def test_a_key_that_takes_long_comes_later(bench: Workbench, tmp_path: Path):
    run = make_run(tmp_path / "made")
    with open_run(run, print) as store:
        recorded = Recorded(bench.setup, store)
        trajectory = store.trajectory("model-agent/shop.cancel.0/0")
        made = recorded._making
        recorded.__dict__["_making"] = Future()
        waiting = recorded.view(trajectory, patience=0.01)
        assert waiting.key.pending and [row.mark for row in waiting.key.rows] == ["changed", "changed"]
        recorded.__dict__["_making"] = made
        assert not recorded.view(trajectory).key.pending


# --- those of others ----------------------------------------------------------------------------------------

OUTSIDE = judging.OUTSIDE


@pytest.mark.external
@pytest.mark.skipif(not (OUTSIDE / "fara-example").is_dir(), reason=f"there is no {OUTSIDE}")
async def test_episodes_of_others_show_all_they_hold(tab: Open, serving: Serve, bench: Workbench, tmp_path: Path):
    for name in ("fara", "om2w"):
        bench.import_trajectories([OUTSIDE / f"{name}-example"], tmp_path / name)
    with serving([tmp_path / "fara", tmp_path / "om2w"]) as viewer:
        async with tab(viewer) as one:
            page = await one.go(of_episode("fara", "fara/alltrails_find_23/0"))
            await expect(page.locator(".film a")).to_have_count(4)
            await expect(page.get_by_role("heading", name="Rubric: 10 of 10 points")).to_be_visible()
            rubric = page.get_by_role("region", name="Rubric with both rounds of points").locator("tbody tr")
            await expect(rubric).to_have_count(2)
            await page.get_by_role("link", name="Page 3, criterion 2: 8").click()
            await expect(page.locator(SHOWN)).to_have_text("3")
            shot = page.locator(".step.now .canvas.before img")
            await expect(shot).to_have_js_property("complete", True)
            assert await shot.evaluate("one => one.naturalWidth") > 600
            await expect(page.get_by_text("Nitpicks: The answer only lists two waterfalls").first).to_be_visible()
            page = await one.go(of_episode("om2w", "unknown/fb7b4f784cfde003e2548fdf4e8d6b4f/0"))
            await expect(page.locator(".film a")).to_have_count(5)
            await expect(page.locator("#verdicts ~ .card")).to_have_count(5)
            assert await page.get_by_role("region", name="Pages and criteria").count() == 2, "both WebJudges"
            await expect(page.get_by_text("Key points of the task").first).to_be_visible()

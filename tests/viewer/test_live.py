"""A run while it is being played: looked at, stopped, and played by an agent that looks for the viewer."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.viewer.conftest import TEMPLATES
from webassay import PlayOptions, Selection
from webassay.agents.cells.cell import why_not
from webassay.store import Store
from webassay.store.live import FOLDER, LiveNotes, ask_to_stop, live_notes, stop_is_wanted

SCANNER = Path(__file__).parents[1] / "support" / "port_scanner.py"


class TestNotes:
    def test_the_newest_page_of_each_episode_is_known(self, tmp_path):
        live = LiveNotes(tmp_path)
        live.note("agent/task/0/0", 0, "http://shop/", "Home", "")
        live.note("agent/task/0/0", 1, "http://shop/cart", "Cart", "sha256:1")
        live.note("other/task/0/0", 0, "http://shop/", "Home", "")
        assert [(one.unit, one.step, one.title) for one in live_notes(tmp_path)] == [
            ("agent/task/0", 1, "Cart"),
            ("other/task/0", 0, "Home"),
        ]
        live.forget("agent/task/0/0")
        assert [one.unit for one in live_notes(tmp_path)] == ["other/task/0"]
        live.clear()
        assert live_notes(tmp_path) == [] and not (tmp_path / FOLDER).exists()

    def test_a_wish_to_stop_is_heard_only_while_somebody_plays(self, tmp_path):
        ask_to_stop(tmp_path)
        assert not stop_is_wanted(tmp_path)
        live = LiveNotes(tmp_path)
        ask_to_stop(tmp_path)
        assert live.stop_is_wanted
        assert not LiveNotes(tmp_path).stop_is_wanted, "an old wish is not a new one"

    def test_what_is_no_note_is_passed_over(self, tmp_path):
        LiveNotes(tmp_path)
        folder = tmp_path / FOLDER
        (folder / "a.json").write_text("[]")
        (folder / "b.json").write_bytes(b"\xff")
        (folder / "c.json").write_text('{"trajectory": 1, "step": "x"}')
        (folder / "d.json").symlink_to("/etc/passwd")
        (folder / "e.json").mkdir()
        assert live_notes(tmp_path) == []

    def test_a_run_that_cannot_be_noted_goes_on(self, tmp_path):
        (tmp_path / FOLDER).write_text("in the way")
        live = LiveNotes(tmp_path)
        live.note("agent/task/0/0", 0, "", "", "")
        live.forget("agent/task/0/0")
        assert live_notes(tmp_path) == [] and not live.stop_is_wanted


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.skipif(bool(why_not()), reason=f"no cell can be built here: {why_not()}")
async def test_an_agent_finds_the_viewer_and_gets_nothing_and_its_run_is_watched_and_stopped(
    tab, bench, serving, played, tmp_path
):
    run = tmp_path / "live"
    shutil.copytree(played, run)
    selection = Selection(templates=TEMPLATES, instances=1)
    with serving([run]) as viewer:
        playing = asyncio.create_task(bench.run(run, [f"{SCANNER}:Scanner"], selection, PlayOptions(workers=1)))
        async with tab(viewer) as one:
            page = await one.go("/live")
            await page.locator("#now article.shot", has_text="scanner").wait_for(timeout=120_000)
            shot = page.locator("#now article.shot").first
            assert "0 steps so far" in await shot.inner_text()
            assert (
                await shot.locator("img").evaluate("async one => { await one.decode(); return one.naturalWidth }") > 0
            )
            await one.go("/live")
            await page.locator("summary", has_text="Stop live").click()
            await page.get_by_role("button", name="Stop this run").click()
            await page.locator("#now .badge", has_text=re.compile("stopping|not in progress")).wait_for(timeout=120_000)
            await asyncio.wait_for(playing, 240)
            await page.locator("#now .badge", has_text="not in progress").wait_for(timeout=60_000)
            await page.locator("#now a", has_text="scanner").wait_for()
    with Store.open(run) as store:
        answers = [trajectory.answer for unit, trajectory in store.trajectories(["scanner"])]
        assert 1 <= len(answers) < 3 == store.count_units(["scanner"])
    for told in map(json.loads, answers):
        assert set(told["ports"][str(viewer.port)]) == {"401"}
        assert told["secrets"] == []
        assert viewer.token not in json.dumps(told)
    assert not (run / FOLDER).exists()

"""An episode as a Playwright trace, opened in Playwright's own viewer."""

import functools
import json
import shutil
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import playwright
import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect
from typer.testing import CliRunner

from tests.support.episodes import HOSTILE, make_run, sample_trajectory
from webassay.browser.devtools.chromium import find_chromium
from webassay.cli import app
from webassay.core.errors import InputError
from webassay.core.trajectory import Aim
from webassay.workbench import Workbench

VIEWER = Path(playwright.__file__).parent / "driver" / "package" / "lib" / "vite" / "traceViewer"
pytestmark = pytest.mark.asyncio(loop_scope="module")


def acted(blobs, task, **changes):
    """The sample, with a box around the element of its first step, and a word on the console."""
    made = sample_trajectory(blobs, task, **changes)
    first = made.steps[0].model_copy(
        update={"aims": (Aim(action=0, box=(100.0, 60.0, 200.0, 40.0)),), "console": ("warning: low on order 7",)}
    )
    return made.model_copy(update={"steps": (first, *made.steps[1:])})


def hostile(blobs, task):
    made = acted(blobs, task)
    steps = [
        step.model_copy(update={"thought": HOSTILE, "action_text": HOSTILE, "error": HOSTILE}) for step in made.steps
    ]
    return made.model_copy(update={"steps": tuple(steps), "answer": HOSTILE})


def trace_of(place: Path, trajectory=acted) -> Path:
    run = make_run(place / "made", trajectory=trajectory)
    return Workbench(cache=place / "cache").write_episode_trace(run, "model", place / "trace.zip")


def lines_in(trace: Path, name: str) -> list[dict]:
    with zipfile.ZipFile(trace) as archive:
        return [json.loads(line) for line in archive.read(name).splitlines()]


async def test_every_action_is_in_it_with_its_picture_and_what_was_thought(tmp_path):
    trace = trace_of(tmp_path)
    lines = lines_in(trace, "trace.trace")
    calls = [line for line in lines if line["type"] == "before"]
    assert [call["title"].split(": ", 1)[1] for call in calls] == [
        "click(bid='12')", "click(bid='99')", "click(bid='7')", "noop()",
        'answered, {"action": "mutate", "status": "SUCCESS", "results": null}',
    ]  # fmt: skip
    times = [call["startTime"] for call in calls]
    assert times == sorted(times)
    (point,) = [line["point"] for line in lines if line["type"] == "input"]
    assert point == {"x": 200.0, "y": 80.0}
    assert any(line.get("message") == "thought: The orders are\nbehind the link." for line in lines)
    (failed,) = [line["error"]["message"] for line in lines if line["type"] == "after" and "error" in line]
    assert "no element [99]" in failed
    with zipfile.ZipFile(trace) as archive:
        stored = {line["sha1"] for line in lines if line["type"] == "screencast-frame"}
        attached = {one["sha1"] for line in lines for one in line.get("attachments", ())}
        assert {f"resources/{name}" for name in stored | attached} <= set(archive.namelist())
        assert len(stored) == 2, "a picture that occurs twice is in it once"
    assert [line["snapshot"]["request"]["method"] for line in lines_in(trace, "trace.network")] == [
        "GET",
        "GET",
        "POST",
    ]


async def test_missing_pictures_and_logs_cost_no_more_than_themselves(tmp_path):
    run = make_run(tmp_path / "made", trajectory=acted)
    shutil.rmtree(run / "blobs")
    lines = lines_in(
        Workbench(cache=tmp_path / "c").write_episode_trace(run, "model", tmp_path / "t.zip"), "trace.trace"
    )
    assert sum(line["type"] == "before" for line in lines) == 5
    assert not [line for line in lines if line["type"] == "screencast-frame"]


async def test_an_episode_without_steps_has_no_trace(tmp_path):
    run = make_run(
        tmp_path / "made", trajectory=lambda blobs, task: sample_trajectory(blobs, task, steps=(), last_seen=None)
    )
    with pytest.raises(InputError, match="nothing to trace"):
        Workbench(cache=tmp_path / "c").write_episode_trace(run, "model", tmp_path / "t.zip")
    assert not (tmp_path / "t.zip").exists()


async def test_show_writes_it_and_says_how_to_open_it(tmp_path):
    run, out = make_run(tmp_path / "made"), tmp_path / "a trace.zip"
    said = CliRunner().invoke(app, ["show", str(run), "model", "--trace", str(out)])
    assert said.exit_code == 0 and "playwright show-trace '" in said.output
    assert zipfile.is_zipfile(out)
    said = CliRunner().invoke(app, ["show", str(run), "model", "--trace", str(out / "inside.zip")])
    assert said.exit_code != 0 and "cannot be written" in str(said.exception)


# --- in Playwright's own viewer -----------------------------------------------------------------------------


class Quiet(SimpleHTTPRequestHandler):
    traces: dict[str, bytes] = {}

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        found = self.traces.get(self.path.partition("?")[0])
        if found is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("content-length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)


@pytest.fixture(scope="module")
def viewer() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(VIEWER))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(executable_path=find_chromium(None), args=["--no-sandbox"])


@pytest.mark.browser
@pytest.mark.parametrize("made", [acted, hostile])
async def test_playwrights_viewer_shows_actions_pictures_and_requests(tmp_path, viewer, chromium, made):
    Quiet.traces["/one.zip"] = trace_of(tmp_path, made).read_bytes()
    page = await chromium.new_page(viewport={"width": 1400, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.goto(f"{viewer}/index.html?trace={viewer}/one.zip")
    actions = page.get_by_test_id("actions-tree").get_by_role("treeitem")
    await expect(actions).to_have_count(5, timeout=30_000)
    await actions.nth(0).click()
    snapshot = page.frame_locator("iframe.snapshot-visible")
    picture = snapshot.locator("img")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("one => one.naturalWidth") == 1280
    await page.get_by_role("tab", name="Network").click()
    await expect(page.get_by_text("cancel", exact=False).first).to_be_visible()
    assert errors == []
    assert await page.evaluate("window.pwned") is None
    assert all([await frame.evaluate("window.pwned") is None for frame in page.frames])
    await page.close()

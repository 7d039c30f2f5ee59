"""Whatever pages and agents wrote is shown as text, on every page of the viewer."""

import re
from pathlib import Path

import pytest

from tests.support.episodes import HOSTILE, make_run, page, sample_task, sample_trajectory
from webassay.core.task import Task
from webassay.core.trajectory import AgentInfo, Ending, Step, Trajectory
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.viewer.address import address, of_episodes

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LONG = "A" * 500_000 + HOSTILE + "B" * 500_000


def trajectory(blobs, task: Task) -> Trajectory:
    seen = page(blobs, f"/{HOSTILE}", LONG, "navy", tree=blobs.write(LONG.encode(), "text/html"))
    fake = blobs.write(f"<html>{HOSTILE}</html>".encode(), "text/html")
    last = seen.model_copy(update={"screenshot": fake})
    step = Step(index=0, seen=seen, action_text=HOSTILE, thought=LONG, error=HOSTILE)
    return sample_trajectory(
        blobs,
        task,
        agent=AgentInfo(name=HOSTILE, model=HOSTILE),
        steps=(step,),
        last_seen=last,
        answer=LONG,
        ending=Ending(kind="agent_crashed", message=LONG),
    )


def verdicts(played: Trajectory) -> list[Verdict]:
    finding = Finding(check=HOSTILE, status="fail", message=LONG, code=HOSTILE)
    stamp = Fingerprint(grader="rules", version=HOSTILE, key="sha256:0")
    told = {"trajectory_id": played.id, "task_id": played.task_id, "status": "fail"}
    return [Verdict(**told, findings=(finding,), fingerprint=stamp)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    task = sample_task()
    goal = task.goal.model_copy(update={"instruction": LONG})
    task = task.model_copy(update={"id": HOSTILE, "template": HOSTILE, "goal": goal})
    return make_run(tmp_path_factory.mktemp("hostile") / "made", task=task, trajectory=trajectory, verdicts=verdicts)


async def test_nothing_of_theirs_runs_loads_or_hides(tab, serving, hostile):
    pages = (
        "/", "/episodes", of_episodes(failure=f"{HOSTILE}:{HOSTILE}"), "/tasks", "/tasks?by=task", "/compare", "/live",
        address("/task", task=HOSTILE), address("/search", q="<script>"), address("/search", q=HOSTILE),
        address("/episodes", agent=HOSTILE), address("/episodes", run=HOSTILE), address("/compare", anchor=HOSTILE),
    )  # fmt: skip
    with serving([hostile]) as viewer:
        async with tab(viewer, clean=False) as one:
            for place in pages:
                made = await one.go(place)
                await made.wait_for_load_state("networkidle")
                assert await made.evaluate("window.pwned") is None
                assert await made.locator("iframe, base, object, embed, main script, main style").count() == 0
                own = [src or "" for src in await made.locator("script, img, link").evaluate_all(
                    "all => all.map(one => one.getAttribute('src') || one.getAttribute('href'))")]  # fmt: skip
                assert all(src.startswith(("/static/", "/blob?", "data:,")) for src in own)
                text = await made.content()
                assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
                assert len(text) < 300_000
            assert one.strangers == []
            assert [said for said in one.said if "404" not in said] == []


async def test_what_is_no_picture_is_plain_text(tab, serving, hostile):
    with serving([hostile]) as viewer:
        async with tab(viewer, clean=False) as one:
            made = await one.go(address("/task", task=HOSTILE))
            source = await made.locator("article.shot img").first.get_attribute("src")
            with viewer.client() as client:
                answer = client.get(source)
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert answer.headers["x-content-type-options"] == "nosniff"
            await one.go(source)
            assert await one.page.evaluate("window.pwned") is None

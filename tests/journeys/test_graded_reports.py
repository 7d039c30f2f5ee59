"""From trajectories of other people to a report under several graders, as somebody types it, over a real socket."""

import asyncio
import json
import threading
from contextlib import contextmanager

import pytest

from tests.journeys.test_cli import refused, webassay
from tests.support.judging_samples import png
from webassay.llm.client import Message
from webassay.llm.replay import Act, Script, replaying

TASKS = 6


@pytest.fixture
def downloads(tmp_path):
    """Runs in Online-Mind2Web's layout."""
    for number in range(TASKS):
        place = tmp_path / "downloads" / f"task{number}"
        (place / "trajectory").mkdir(parents=True)
        (place / "trajectory" / "0_full_screenshot.png").write_bytes(png(number))
        told = {"task_id": f"task{number}", "task": f"Buy kettle {number}.", "action_history": ["click -> CLICK"]}
        (place / "result.json").write_text(json.dumps({**told, "thoughts": ["now"], "final_result_response": "Done."}))
    return tmp_path / "downloads"


@contextmanager
def model(passes):
    """A server that says which kettles were bought; in a thread, because a command has its own loop."""

    def write(messages: list[Message]) -> Act:
        text = "\n".join(message.text for message in messages)
        good = any(f"Buy kettle {number}." in text for number in passes)
        return Act(text=f"Reasoning: as seen.\nScore: 4\nThoughts: so.\nStatus: {'success' if good else 'failure'}")

    ready, done = threading.Event(), asyncio.Event()
    found: list[tuple[str, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with replaying(Script(write)) as server:
            found.append((server.url, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    url, loop = found[0]
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()


def test_two_models_a_person_and_their_report(downloads, tmp_path):
    run, env = str(tmp_path / "run"), {"WEBASSAY_CACHE": str(tmp_path / "cache"), "OPENAI_API_KEY": "x"}
    assert webassay("import", str(downloads), "--out", run, env=env).stdout.startswith("6 imported")
    refused(webassay("import", str(downloads), "--out", run, "--only-present"), "is only for logs", "--benchmark")
    for name, passes in (("mild", range(4)), ("strict", range(2))):
        with model(passes) as url:
            done = webassay("verify", run, "--judge", "webjudge", "--model", f"openai:{name}@{url}", env=env)
        assert "6 judged" in done.stdout, done.stderr

    refused(webassay("report", run, "--grader", "webjudge"), "webjudge openai:mild, webjudge openai:strict")
    refused(webassay("report", run, "--grader", "webjugde"), "Did you mean webjudge")
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "id,label\n" + "".join(f"unknown/task{i}/0,{'pass' if i < 3 else 'fail'}\n" for i in range(TASKS))
    )
    assert webassay("label", run, str(labels), "--annotator", "anna").stdout.startswith("6 labels added")

    names = ("webjudge openai:mild", "webjudge openai:strict", "human:anna")
    options = [word for name in names for word in ("--grader", name)]
    made = json.loads(webassay("report", run, *options, "--json").stdout)
    assert made["grader"] == names[0] and made["agents"][0]["success"]["micro"]["value"] == pytest.approx(4 / 6)
    assert made["agents"][0]["success"]["macro"]["low"] < 4 / 6 < made["agents"][0]["success"]["macro"]["high"]
    assert {one["grader"]: one["success"]["counts"]["passed"] for one in made["opinions"]} == dict(
        zip(names, (4, 2, 3), strict=True)
    )
    pair = next(one for one in made["concords"] if (one["first"], one["second"]) == names[:2])
    assert [pair[key] for key in ("both_pass", "only_first_passes", "only_second_passes", "both_fail")] == [2, 2, 0, 2]
    board = webassay("leaderboard", run, "--grader", names[1])
    assert names[1] in board.stdout and names[0] not in board.stdout

"""A run directory of somebody else is data: nothing that it names is executed. And text that cannot be stored ends at
most its own unit."""

import json
from pathlib import Path

import pytest

from tests.journeys.test_cli import Done, refused, webassay
from tests.support import samples
from tests.support.toy import Pages, serving
from webassay.core.unit import UnitOfWork
from webassay.store import Store

EVIL = """
import pathlib
pathlib.Path({marker!r}).write_text("executed")
def tasks():
    return []
class Agent:
    name, wants = "evil", ()
    async def start(self, goal): ...
    async def decide(self, page): ...
"""


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "executed"


def foreign_run(place: Path, benchmark: str, agent: str = "oracle", **selection: object) -> Path:
    """As a stranger might send it: a ledger that names code of theirs."""
    task = samples.task()
    with Store.create(place) as store:
        store.set("selection", json.dumps({"benchmark": benchmark, **selection}))
        unit = UnitOfWork(agent=agent, task_id=task.id)
        store.plan([unit])
        store.add_trajectory(unit.id, samples.trajectory(id=f"{unit.id}/0", task_id=task.id))
    return place


def evil_file(place: Path, marker: Path) -> Path:
    place.write_text(EVIL.format(marker=str(marker)))
    return place


COMMANDS = (
    ("grade", "{run}"),
    ("grade", "{run}", "--json"),
    ("report", "{run}"),
    ("compare", "{run}"),
    ("leaderboard", "{run}"),
    ("verify", "{run}", "--dry-run"),
    ("verify", "{run}", "--without-model"),
    ("export", "{run}", "--out", "{run}-out", "--format", "online-mind2web"),
    ("subset", "{run}"),
    ("audit", "{run}.json", "--runs", "{run}"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[::2]))
@pytest.mark.parametrize("where", ["file", "module"])
def test_no_command_executes_what_a_run_names(tmp_path, marker, monkeypatch, command, where):
    evil = evil_file(tmp_path / "evil_tasks.py", marker)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"{evil}:tasks" if where == "file" else "evil_tasks:tasks"
    run = foreign_run(tmp_path / "run", name, agent=name.replace("tasks", "Agent"))
    run.with_suffix(".json").write_text(f"[{samples.task().to_json()}]")
    done = webassay(*(word.format(run=run) for word in command))
    assert not marker.exists(), done
    assert "Traceback" not in done.stderr


def test_grading_says_what_was_not_loaded_and_how_to_load_it(tmp_path, marker):
    evil = evil_file(tmp_path / "evil.py", marker)
    run = foreign_run(tmp_path / "run", f"{evil}:tasks")
    refused(webassay("grade", str(run)), "which is code", f"--benchmark {evil}:tasks")
    refused(webassay("grade", str(run), "--benchmark", "arena"), "not arena")
    assert not marker.exists()
    done: Done = webassay("grade", str(run), "--benchmark", f"{evil}:tasks")
    assert marker.exists(), "named again by the user, it is loaded"
    refused(done, "no tasks")


def test_a_run_plays_only_the_agents_that_are_named_this_time(tmp_path, marker):
    """Units that somebody else has planned stay where they are."""
    evil = evil_file(tmp_path / "evil.py", marker)
    run = tmp_path / "run"
    words = ("run", "-o", str(run), "--template", "shop.price-of-nothing", "-n", "1", "-a", "naive-zero")
    assert webassay(*words).returncode == 0
    with Store.open(run, writable=True) as store:
        (played,) = store.units()
        store.plan([played.model_copy(update={"agent": f"{evil}:Agent"})])
        assert store.count_unfinished() == 1
    assert webassay(*words).returncode == 0
    assert not marker.exists()
    with Store.open(run) as store:
        assert store.count_unfinished() == 1


@pytest.mark.parametrize(
    "selection", ['"text"', "[]", '{"benchmark": 3}', '{"no_such": 1}', "{", '{"tasks": "../../etc/passwd"}']
)
def test_a_selection_that_makes_no_sense_is_refused(tmp_path, selection):
    run = foreign_run(tmp_path / "run", "arena")
    with Store.open(run, writable=True) as store:
        store.set("selection", selection)
    refused(webassay("grade", str(run)), "does not say which tasks")


def test_a_wrong_call_leaves_nothing_behind(tmp_path):
    """An agent without its model must not poison the directory for the next, right call."""
    out = ("-o", str(tmp_path / "run"), "--template", "shop.price-of-nothing", "-n", "1")
    refused(webassay("run", "-a", "generic", *out), "needs a model")
    refused(webassay("run", "-a", "human", *out), "needs a person")
    refused(webassay("run", *out), "No agent was given")
    model = ("-m", "openai:x@http://127.0.0.1:9/v1")
    refused(webassay("run", "-a", "generic", *model, "--set", "heat=1", *out), "no setting 'heat'")
    refused(webassay("run", "-a", "generic", *model, "--preset", "nosuch", *out), "no preset 'nosuch'")
    refused(webassay("run", "-a", "oracle", "--environment", "arenna", *out), "arena")
    assert not (tmp_path / "run").exists()


SURROGATE = """
class Agent:
    name, wants = "halves", ("tree",)
    async def start(self, goal):
        self.steps = 0
    async def decide(self, page):
        self.steps += 1
        if self.steps == 1:
            return "goto({url!r})"
        return r"send_msg_to_user('odd \\ud83d, whole \\ud83d\\ude00')"
"""

THROWING = b"""<!doctype html><title>\xed\xa0\xbd half</title>
<script>document.title = '\\ud800 t'; throw new Error('\\ud800')</script>
<p id=p></p><script>p.textContent = 'lone \\udc00'; console.error('\\ud801')</script>"""


@pytest.mark.browser
def test_a_page_and_a_reply_with_half_a_character_end_nothing(tmp_path):
    class Throwing(Pages):
        def page(self):
            return THROWING

    tasks = tmp_path / "tasks.json"
    with serving(Throwing) as url:
        (tmp_path / "agent.py").write_text(SURROGATE.replace("{url!r}", repr(url)))
        tasks.write_text(json.dumps([{"url": url, "goal": "Look."}, {"url": url, "goal": "Look again."}]))
        words = ("run", "-b", "open", "--tasks-file", str(tasks), "-o", str(tmp_path / "run"))
        done = webassay(*words, "-a", f"{tmp_path}/agent.py:Agent")
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "run") as store:
        played = [trajectory for _, trajectory in store.trajectories()]
        assert store.count_unfinished() == 0
    assert [one.ending.kind for one in played] == ["answered", "answered"]
    assert {one.answer for one in played} == {"odd \N{REPLACEMENT CHARACTER}, whole \N{GRINNING FACE}"}
    assert all("\N{REPLACEMENT CHARACTER}" in one.last_seen.title for one in played)

"""The command line as a new user meets it, mostly with wrong input: a clear message, what to do, nothing lost."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.toy import Pages, serving
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.results.report import summarize
from webassay.cli import common, main
from webassay.compose.registries import TEMPLATES
from webassay.store import LEDGER, Store


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def webassay(*words: str, env: dict[str, str] | None = None) -> Done:
    """In this process: what a command says and how it ends is the same, and the tests need not import it all again."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["webassay", *words])
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def refused(done: Done, *said: str, code: int = 2) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert any(line.startswith("error: ") for line in done.stderr.splitlines()), done.stderr
    for words in said:
        assert words in done.stderr, done.stderr


def test_help_teaches():
    done = webassay("--help")
    assert done.returncode == 0
    for command in ("demo", "run", "grade", "report", "tasks", "check", "serve"):
        assert command in done.stdout
        own = webassay(command, "--help")
        assert own.returncode == 0 and len(own.stdout) > 150, command


def test_unknown_names_bring_the_nearest_ones(tmp_path):
    out = ["-o", str(tmp_path / "run")]
    refused(webassay("run", "-a", "orcale", *out), "no agent 'orcale'", "oracle")
    refused(webassay("run", "-a", "oracle", "-b", "arenna", *out), "no benchmark 'arenna'", "arena")
    refused(webassay("run", "-a", "oracle", "--template", "shop.low-review", *out), "shop.low-reviews")
    refused(webassay("run", "-a", "oracle", "-t", "shop.low-reviews.w0s0.9999", *out), "shop.low-reviews.w0s0.")
    refused(webassay("run", "-a", "oracle", "--obstacles", "rain", *out), "no obstacle 'rain'", "slow")
    refused(webassay("run", "-a", "oracle", "--scale", "huge", *out), "no scale 'huge'", "small, default, large")
    refused(webassay("tasks", "show", "shop.low-reviews.w0.77"), "no task")


def test_an_agent_that_cannot_be_loaded(tmp_path):
    out = ["-o", str(tmp_path / "run")]
    refused(webassay("run", "-a", "nowhere.py:Agent", *out), "nowhere.py", "could not be loaded")
    refused(webassay("run", "-a", "json:NotThere", *out), "NotThere")
    (tmp_path / "broken.py").write_text("class Agent(:\n")
    refused(webassay("run", "-a", f"{tmp_path}/broken.py:Agent", *out), "could not be loaded")
    (tmp_path / "failing.py").write_text("ratio = 1\nshare = ratio / 0\n")
    failing = webassay("run", "-a", f"{tmp_path}/failing.py:Agent", *out)
    refused(failing, "could not be loaded: division by zero", "in line 2: share = ratio / 0")
    (tmp_path / "empty.py").write_text("class Agent: pass\n")
    refused(webassay("run", "-a", f"{tmp_path}/empty.py:Agent", *out, "--limit", "1"), "is not an agent", "decide")


def test_no_chromium(tmp_path):
    done = webassay("run", "-a", "oracle", "-o", str(tmp_path / "run"), env={"WEBASSAY_CHROMIUM": "/nowhere/chrome"})
    refused(done, "/nowhere/chrome", "WEBASSAY_CHROMIUM", code=1)
    assert not (tmp_path / "run").exists()


def test_port_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(webassay("serve", "--port", str(port)), str(port))


def test_a_place_that_is_no_run(tmp_path):
    refused(webassay("report", str(tmp_path)), "not a run directory", "webassay run")
    (tmp_path / "notes.txt").write_text("mine")
    refused(webassay("run", "-a", "oracle", "-o", str(tmp_path)), "not empty")
    refused(webassay("run", "-a", "oracle", "-o", str(tmp_path / "notes.txt")), "is a file")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_corrupt_store(tmp_path):
    (tmp_path / LEDGER).write_bytes(b"not a database at all, whatever it may say" * 100)
    again = ["run", "-a", "oracle", "--template", "shop.low-reviews", "-o", str(tmp_path)]
    for command in (["report", str(tmp_path)], ["grade", str(tmp_path)], again):
        refused(webassay(*command), "damaged", "Nothing was changed", code=1)


def test_a_task_file_or_an_option_that_is_wrong(tmp_path):
    place = tmp_path / "tasks.json"
    place.write_text('[{"id": "x"}]')
    refused(webassay("tasks", "list", "-b", str(place)), "tasks.json", "0.")
    refused(webassay("tasks", "list", "-b", str(tmp_path / "none.json")), "none.json")
    done = webassay("tasks", "list", "--instances", "0")
    assert done.returncode == 2 and "--instances" in done.stderr and "Traceback" not in done.stderr


def test_tasks_as_json_can_be_read_back(tmp_path):
    listed = webassay("tasks", "export", "-n", "1", "--template", "shop.low-reviews")
    place = tmp_path / "tasks.json"
    place.write_text(listed.stdout)
    again = webassay("tasks", "export", "-b", str(place))
    assert json.loads(again.stdout) == json.loads(listed.stdout)


@pytest.mark.browser
def test_run_grade_report(tmp_path):
    out = str(tmp_path / "run")
    words = ["run", "-a", "oracle", "-a", "naive-zero", "-o", out, "-n", "1", "--template", "shop.open-cheapest"]
    done = webassay(*words)
    assert done.returncode == 0, done.stderr
    assert "oracle" in done.stdout and "100.0 %" in done.stdout

    lines = [json.loads(line) for line in webassay("grade", out, "--json").stdout.splitlines()]
    assert {(line["agent"], line["status"], line["score"]) for line in lines} == {
        ("oracle", "pass", 1.0),
        ("naive-zero", "fail", 0.0),
    }
    assert "shop.open-cheapest" in webassay("grade", out, "--explain").stdout

    page = tmp_path / "report.html"
    assert webassay("report", out, "--html", str(page)).returncode == 0
    assert "oracle" in page.read_text()
    assert json.loads(webassay("report", out, "--json").stdout)["agents"]
    refused(webassay("report", out, "--html", "/nowhere/report.html"), "/nowhere/report.html")

    assert "oracle" in webassay("compare", out, "--anchor", "oracle", "--markdown").stdout
    assert "oracle" in webassay("leaderboard", out, "--csv").stdout
    refused(webassay("compare", out, "--anchor", "nobody"), "nobody", "oracle")
    assert json.loads(webassay("audit", "arena", "--runs", out, "--json").stdout)["tasks"] == 3 * len(TEMPLATES.names())
    refused(webassay("subset", out, "--json"), "score of 4 agents", "more agents")

    # Without a model a judge abstains, and says what one would cost.
    assert "trajectories" in webassay("verify", out, "--dry-run").stdout
    judged = [json.loads(line) for line in webassay("verify", out, "--json", "--without-model").stdout.splitlines()]
    assert [one["status"] for one in judged] == ["abstain", "abstain"]
    refused(webassay("verify", out, "--verifier", "webjudge"), "needs a model", "--model")
    refused(webassay("verify", out, "--profile", "papr"), "paper")

    # Other tasks do not go into the same place.
    refused(webassay(*words[:-1], "shop.low-reviews"), "template was shop.open-cheapest, now shop.low-reviews")


@pytest.mark.long
@pytest.mark.browser
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    out = tmp_path / "run"
    words = ["run", "-a", "oracle", "-a", "naive-form-filler", "-o", str(out), "-n", "2", "--limit", "6", "-w", "1"]
    runner = subprocess.Popen(
        [sys.executable, "-m", "webassay", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 90
    while time.monotonic() < end and runner.poll() is None:
        if (out / LEDGER).exists() and any((out / "blobs").glob("*/*")):
            with Store.open(out) as store:
                if store.count_unfinished() < store.count_units():
                    break
        time.sleep(0.05)
    runner.send_signal(signal.SIGINT)
    _, said = runner.communicate(timeout=60)
    assert runner.returncode == 130, said
    assert "Traceback" not in said
    assert "kept" in said
    with Store.open(out) as store:
        finished = store.count_units() - store.count_unfinished()
    assert 1 <= finished < 12
    # Nothing is left running that could write to the store.
    Store.create(out).close()


@pytest.mark.long
@pytest.mark.browser
def test_ones_own_model_is_one_flag(tmp_path):
    """Over a real socket: an endpoint of one's own, and an agent that asks it."""
    said = '{"action": "retrieve", "status": "NOT_FOUND_ERROR", "error_details": "Nowhere."}'
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps({"text": f"<action>send_msg_to_user({said!r})</action>"}) + "\n")
    words = [sys.executable, "-u", "-m", "webassay", "model", "replay", str(script)]
    endpoint = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = endpoint.stdout.readline().split()[2].rstrip(";")
        out = str(tmp_path / "run")
        done = webassay("run", "-a", "generic", "--model", f"openai:any@{url}", "--no-cache", "-o", out, "-n", "1",
                        "--template", "shop.price-of-nothing")  # fmt: skip
    finally:
        endpoint.terminate()
        endpoint.communicate(timeout=20)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "run") as store:
        ((_, trajectory),) = store.trajectories()
    assert trajectory.answer == said
    assert trajectory.steps[0].usage.calls == 1


def test_trying_a_goal_that_cannot_be_tried_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(webassay("try", "http://[::1", "look", "-a", "naive-zero"), "is not an address")
    refused(webassay("try", "ftp://example.org/", "look", "-a", "naive-zero"), "is not an address")
    refused(webassay("try", "http://127.0.0.1:9/", " ", "-a", "naive-zero"), "no goal")
    refused(webassay("try", "http://127.0.0.1:9/", "look", "-a", "naive-zreo"), "naive-zero")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_others_wrote_is_no_markup_and_does_not_steer_the_terminal(tmp_path):
    """Rich would read them as markup."""
    refused(webassay("report", str(tmp_path / "r[/x]")), "r[/x]")
    refused(webassay("verify", str(tmp_path / "im[/x]"), "-o", str(tmp_path / "out")), "im[/x]")
    done = webassay("run", "-a", "no\x1b[31msuch\x07", "-o", str(tmp_path / "run"))
    refused(done, r"\x1b[31m", r"\x07")
    assert "\x1b" not in done.stderr


@pytest.mark.long
def test_completion_knows_what_is_registered():
    def completed(*words: str) -> list[str]:
        env = {**os.environ, "_WEBASSAY_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["webassay", *words])}
        command = [str(Path(sys.executable).with_name("webassay"))]
        done = subprocess.run(
            command, env={**env, "COMP_CWORD": str(len(words))}, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout.split()

    assert completed("check", "shop.low") == ["shop.low-reviews"]
    assert "webjudge" in completed("verify", "run", "--judge", "webj")
    assert completed("list", "bench") == ["benchmarks"]


OWN_AGENTS = """
class Counting:
    name = "counting"
    wants = ("tree",)
    episodes = 0

    async def start(self, goal):
        Counting.episodes += 1

    async def decide(self, page):
        return f"send_msg_to_user('episode {Counting.episodes}')"


class Clumsy:
    wants = ()

    def __init__(self):
        self.name = "clumsy"

    async def start(self, goal): ...

    async def decide(self, page):
        return self.choose(page)

    def choose(self, page):
        return page.nodes[10_000]
"""


@pytest.mark.long
@pytest.mark.browser
def test_ones_own_agents_have_their_names_their_state_and_their_tracebacks(tmp_path):
    (tmp_path / "mine.py").write_text(OWN_AGENTS)
    file, place = tmp_path / "mine.py", str(tmp_path / "run")
    program = f"broken={sys.executable} -c 'import sys; sys.exit(\"no luck\")'"
    agents = ("--agent", f"{file}:Counting", "--agent", f"{file}:Clumsy", "--agent-cmd", program)
    chosen = ("-o", place, "-n", "2", "--template", "shop.price-range-total", "-w", "1")
    refused(webassay("run", *agents, *chosen), "broken does not start", "no luck")
    done = webassay("run", *agents, *chosen, "--keep-going")
    assert done.returncode == 0, done.stderr
    assert "clumsy: crash in 2 of 2 episodes" in done.stderr
    assert "return page.nodes[10_000]" in done.stderr
    assert "IndexError: tuple index out of range" in done.stderr
    assert "broken: crash in 2 of 2 episodes" in done.stderr
    assert "ended with 1: no luck" in done.stderr
    assert "webassay/play/episode.py" not in done.stderr
    with Store.open(Path(place)) as store:
        assert {unit.agent for unit in store.units()} == {"counting", "clumsy", "broken"}
        answers = {trajectory.answer for unit, trajectory in store.trajectories() if unit.agent == "counting"}
    assert answers == {"episode 1", "episode 2"}
    assert "return page.nodes[10_000]" in webassay("grade", place, "--explain", "--agent", "clumsy").stdout
    assert "return page.nodes[10_000]" in webassay("show", place, "clumsy/shop.price-range-total.w0s0.0/0").stdout
    again = webassay("run", *agents, "-o", place, "-n", "2", "--template", "shop.price-range-total")
    assert again.returncode == 0
    with Store.open(Path(place)) as store:
        assert store.count_units() == 6


def test_in_a_pipe_task_ids_are_whole_and_come_first():
    chosen = ("--template", "shop.cart-cheapest-well-rated", "-n", "2")
    rows = [line.split("\t") for line in webassay("tasks", "list", *chosen).stdout.splitlines()]
    assert [row[0] for row in rows] == [f"shop.cart-cheapest-well-rated.w0s0.{number}" for number in (0, 1)]
    listed = json.loads(webassay("tasks", "list", *chosen, "--json").stdout)
    assert [task["id"] for task in listed] == [row[0] for row in rows]
    assert [task["instruction"] for task in listed] == [row[-1] for row in rows]
    assert not any("checks" in task for task in listed)


def test_a_name_is_printed_as_it_is(capsys):
    row = ResultRow(agent=":smile: [red]x[/red] \x1b[31m", task_id="t", status="pass")
    common.give(summarize([row]), "table")
    common.console().print("oracle :smile: [bold]")
    said = capsys.readouterr().out
    assert r":smile: [red]x[/red] \x1b[31m" in said and "oracle :smile: [bold]" in said
    assert "\x1b" not in said


@pytest.mark.browser
def test_a_piped_run_says_how_far_it_is(tmp_path):
    chosen = ("--template", "shop.price-of-nothing", "-n", "2", "-w", "1")
    done = webassay("run", "-a", "naive-zero", "-o", str(tmp_path / "run"), *chosen)
    lines = [line for line in done.stderr.splitlines() if line.startswith("episodes ")]
    assert lines == ["episodes 1/2: 1 fail", "episodes 2/2: 2 fail"]
    assert "episodes" not in done.stdout


class Accepting(Pages):
    def page(self):
        return b"<button onclick=\"fetch('/state', {method: 'PUT', body: 'x'})\">Save</button>"

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(b"saved")


SAVER = """
class Saver:
    name, wants = "saver", ("tree",)
    async def start(self, goal): ...
    async def decide(self, page):
        return f"click('{page.find('button').id}')" if page.step == 0 else "send_msg_to_user('done \\x1b[2J')"


class Looker(Saver):
    name = "looker"
    async def decide(self, page):
        return "send_msg_to_user('seen')"
"""


@pytest.mark.long
@pytest.mark.browser
def test_trying_a_site_tells_what_was_changed(tmp_path):
    (tmp_path / "saver.py").write_text(SAVER)
    with serving(Accepting) as url:
        saved = webassay("try", url, "Save it.", "-a", f"{tmp_path / 'saver.py'}:Saver", "-o", str(tmp_path / "a"))
        looked = webassay("try", url, "Look.", "-a", f"{tmp_path / 'saver.py'}:Looker", "-o", str(tmp_path / "b"))
    assert saved.returncode == looked.returncode == 0, saved.stderr + looked.stderr
    assert f"A request changed something: PUT {url}/state." in saved.stdout
    assert "done \\x1b[2J" in saved.stdout and "\x1b" not in saved.stdout
    assert "No request changed anything." in looked.stdout

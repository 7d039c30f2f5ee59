"""Whatever agents, tasks, pages and folders are called reaches a terminal as text, and breaks no page and no plot."""

import json
import re
from pathlib import Path

import pytest

from tests.support import samples
from webassay import cli
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint
from webassay.store import Store

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J \u202eback\u2066 [/x][bold]b[/bold] :smile: \r\x00\x08"
HOSTILE += "<script>alert(1)</script> =1+1 $x^{2}$ %s"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def run(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    name = "r[/x] \x1b[31m\u202e"
    with Store.create(Path(name)) as store:
        for number in range(6):
            agent = f"{HOSTILE} {number % 3}"
            unit = UnitOfWork(
                agent=agent,
                task_id=f"{HOSTILE}.{number // 3}",
                metadata={"template": HOSTILE, "benchmark": HOSTILE, "kind": HOSTILE, "sites": [HOSTILE],
                          "difficulty": HOSTILE, "chore": HOSTILE},
            )  # fmt: skip
            store.plan([unit])
            step = Step(index=0, seen=RecordedObservation(url=HOSTILE, title=HOSTILE, last_error=HOSTILE),
                        thought=HOSTILE, action_text=HOSTILE, error=HOSTILE)  # fmt: skip
            played = samples.trajectory(
                id=f"{unit.id}/0", task_id=unit.task_id, agent=AgentInfo(name=agent, model=HOSTILE), answer=HOSTILE,
                template=HOSTILE, benchmark=HOSTILE, steps=(step,), ending=Ending(kind="answered", message=HOSTILE),
                bases={HOSTILE: f"http://{HOSTILE}/"},
            )  # fmt: skip
            found = Finding(
                check=HOSTILE, status="fail", message=HOSTILE, expected=HOSTILE, actual=HOSTILE, code=HOSTILE
            )
            stamp = Fingerprint(grader="rules", version=HOSTILE, key="sha256:1", settings={HOSTILE: HOSTILE})
            verdict = samples.verdict(
                trajectory_id=played.id, task_id=unit.task_id, status="pass" if number % 2 else "fail",
                findings=(found,), fingerprint=stamp,
            )  # fmt: skip
            store.add_episode(unit.id, played, [verdict])
    return name


CALLS = {
    "report": ["report", "RUN"],
    "markdown": ["report", "RUN", "--markdown"],
    "page": ["report", "RUN", "--html", "o[/x]ut.html", "--episodes", "all"],
    "compare": ["compare", "RUN"],
    "compare page": ["compare", "RUN", "--html", "out.html"],
    "leaderboard": ["leaderboard", "RUN"],
    "leaderboard page": ["leaderboard", "RUN", "--html", "out.html"],
    "subset": ["subset", "RUN"],
    "show": ["show", "RUN"],
    "show one": ["show", "RUN", "1.0/0"],
    "show a part": ["show", "RUN", ".1"],
    "show nothing": ["show", "RUN", HOSTILE.replace("\x00", "") + "?"],
    "store check": ["store", "check", "RUN"],
    "store repair": ["store", "repair", "RUN"],
    "verify": ["verify", "RUN", "--judge", "facts"],
    "verify, explained": ["verify", "RUN", "--explain"],
    "grade": ["grade", "RUN"],
    "export": ["export", "RUN", "-o", "ex[/x]", "-f", "online-mind2web"],
    "label": ["label", "RUN", "labels\x1b[31m[x].csv", "--annotator", "anna [/x]"],
    "import": ["import", "im[/x]\x1b[31m", "-o", "o[/x]"],
    "wrong grader": ["report", "RUN", "--grader", "x\x1b[31m[/x]"],
    "wrong format": ["report", "RUN", "--format", "x\x1b[31m[/x]"],
    "wrong agent": ["run", "-o", "o[/x]", "-a", "x\x1b[31m[/x]"],
    "wrong command": ["x\x1b[31m[/x]"],
    "wrong option": ["report", "RUN", "--x\x1b[31m[/x]"],
    "wrong number": ["run", "-o", "o", "-n", "x\x1b[31m[/x]"],
    "not there": ["report", "not\x1b[31m[/x]there"],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_steers_the_terminal(name, terminal, run, monkeypatch, capfd):
    Path("labels\x1b[31m[x].csv").write_text("id,label\nx\x1b[31m[/x],pass\n")
    Path("im[/x]\x1b[31m").mkdir(parents=True)
    (Path("im[/x]\x1b[31m") / "result.json").write_text(json.dumps({"task": HOSTILE}))
    if terminal:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
    words = [run if word == "RUN" else word for word in CALLS[name]]
    monkeypatch.setattr("sys.argv", ["webassay", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capfd.readouterr()
    assert ended.value.code in (0, 1, 2, None) and "Traceback" not in said.err
    shown = STEERS.findall(said.out + said.err)
    assert shown == [], said

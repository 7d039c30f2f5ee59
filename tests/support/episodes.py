"""Run directories with hand-made episodes, for tests of how they are shown."""

import io
import json
from dataclasses import asdict
from pathlib import Path

from PIL import Image

from tests.support.samples import goal
from webassay.benchmarks.base import Selection
from webassay.core.errors import Fault
from webassay.core.interaction import Action, Usage
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.task import Expectation, ExpectedChange, PageCheck, PagePattern, ResponseCheck, StateCheck, Task
from webassay.core.trajectory import (
    AgentInfo,
    BlobRef,
    Ending,
    Exchange,
    NetworkLog,
    PageResult,
    RecordedObservation,
    RowChange,
    RowsResult,
    Step,
    Timing,
    Trajectory,
    WritableBlobs,
)
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.store import Store

BASE = "http://shop.1a2b.localhost:8000"
COLUMNS = {"orders": {"id": "journal", "status": "content", "note": "content"}, "visits": {"id": "telemetry"}}
HOSTILE = "".join(
    (
        "<script>window.pwned=1;alert(1)</script>",
        "</script><script>window.pwned=2</script></style></title></textarea><!-- -->",
        "\"><img src=x onerror='window.pwned=3'><svg/onload=window.pwned=4>' onmouseover='window.pwned=5' x='",
        "<iframe src=https://evil.example/></iframe><base href=https://evil.example/><link rel=stylesheet href=//e.x>",
        "<meta http-equiv=refresh content='0;url=https://evil.example/'><a href='javascript:window.pwned=6'>go</a>",
        "{{ 7 * 7 }}{% for x in y %}[bold]x[/bold]",
        "\x1b[31m\x1b]0;title\x07\x9b2J\r\x00\u202e\u2066\u2028\ufffd\U000e0041",
    )
)
"""What pages and agents could write to run, load or hide something."""


def picture(blobs: WritableBlobs, colour: str, size: tuple[int, int] = (1280, 720)) -> BlobRef:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG")
    return blobs.write(out.getvalue(), "image/jpeg")


def page(blobs: WritableBlobs, path: str, title: str, colour: str = "", **rest) -> RecordedObservation:
    tree = f"RootWebArea {title!r}\n\t[12] link 'Orders'\n\t[7] button 'Cancel', clickable"
    given = {"tree": blobs.write(tree.encode(), "text/plain")}
    if colour:
        given["screenshot"] = picture(blobs, colour)
    return RecordedObservation(**{"url": BASE + path, "title": title, **given, **rest})


def exchanges(*lines: tuple[str, str, int]) -> bytes:
    made = [
        Exchange(id=str(number), time=number, method=method, url=BASE + path, status=status, resource_type="document")
        for number, (method, path, status) in enumerate(lines)
    ]
    return "".join(one.to_json() + "\n" for one in made).encode()


def canceled(number: int) -> ExpectedChange:
    gone = {"status": Expectation.of("canceled")}
    return ExpectedChange(site="shop", table="orders", operation="update", where={"id": number}, values=gone)


def sample_task() -> Task:
    return Task(
        id="shop.cancel.0",
        benchmark="sample",
        template="shop.cancel",
        kind="mutate",
        goal=goal(instruction="Cancel order 7 at __SHOP__/account.", protocol=ARENA_PROTOCOL),
        checks=(
            ResponseCheck(action="mutate", results=None),
            PageCheck(any_of=(PagePattern(site="shop", path="/orders"),)),
            StateCheck(changes=tuple(map(canceled, (7, 8)))),
        ),
        sites=("shop",),
    )


def sample_trajectory(blobs: WritableBlobs, task: Task, **changes) -> Trajectory:
    home = page(blobs, "/", "Home", "navy")
    orders = page(blobs, "/orders", "Orders", "teal", notices=("A dialog was answered: Sure?",))
    steps = (
        Step(
            index=0,
            seen=home,
            actions=(Action.of("click", "12"),),
            thought="The orders are\nbehind the link.",
            memory="Order 7.",
            usage=Usage(calls=1, input_tokens=1200, output_tokens=30, cost_usd=0.002),
            timing=Timing(observe=0.1, decide=1.5, act=0.05, settle=0.2),
        ),
        Step(index=1, seen=orders, actions=(Action.of("click", "99"),), error="There is no element [99] on this page."),
        Step(index=2, seen=orders, actions=(Action.of("click", "7"), Action.of("noop")), waited_for=("navigation",)),
    )
    changed = (
        RowChange(table="orders", key={"id": 7}, before=row(7, "open"), after=row(7, "canceled")),
        RowChange(table="orders", key={"id": 9}, before=row(9, "open"), after=row(9, "canceled")),
        RowChange(table="visits", key={"id": 1}, after={"id": 1}),
    )
    log = exchanges(("GET", "/", 200), ("GET", "/style.css", 200), ("POST", "/orders/7/cancel", 303))
    given = {
        "id": "model-agent/shop.cancel.0/0/1",
        "task_id": task.id,
        "task_hash": task.content_hash(),
        "template": task.template,
        "benchmark": task.benchmark,
        "goal": task.goal,
        "agent": AgentInfo(name="model-agent", model="test:small", settings={"temperature": 0}),
        "bases": {"shop": BASE},
        "started_at": "2026-03-01T10:00:00+00:00",
        "seconds": 4.25,
        "steps": steps,
        "last_seen": orders,
        "answer": '{"action": "mutate", "status": "SUCCESS", "results": null}',
        "ending": Ending(kind="answered"),
        "network": NetworkLog(blob=blobs.write(log, "application/jsonl")),
        "probes": (
            PageResult(url=BASE + "/orders", title="Orders", tabs=(BASE + "/orders",)),
            RowsResult(site="shop", changes=changed, columns=COLUMNS),
        ),
    }
    return Trajectory(**{**given, **changes})


def row(number: int, status: str) -> dict:
    return {"id": number, "status": status, "note": ""}


def sample_verdicts(trajectory: Trajectory) -> list[Verdict]:
    def verdict(grader: str, status: str, *findings: Finding, model: str = "", version: str = "2") -> Verdict:
        stamp = Fingerprint(grader=grader, version=version, model=model)
        told = {"trajectory_id": trajectory.id, "task_id": trajectory.task_id, "status": status}
        return Verdict(**told, findings=findings, fingerprint=stamp)

    return [
        verdict("rules", "pass", version="1"),
        verdict(
            "rules",
            "fail",
            Finding(check="response.format", status="pass", message="The answer conforms to the protocol."),
            Finding(check="state.collateral", status="fail", message="Not asked for: order 9.", code="collateral"),
            Finding(check="checkpoint", status="fail", message="order page"),
        ),
        verdict(
            "webjudge",
            "pass",
            Finding(check="diagnosis", status="fail", message="It clicked what was not there.", steps=(1,)),
            model="test:judge",
        ),
    ]


def make_run(path: Path, *, task: Task | None = None, trajectory=sample_trajectory, verdicts=sample_verdicts) -> Path:
    """One run with one unit that faulted once and was played again, and a unit that was never played."""
    task = task or sample_task()
    path.mkdir(parents=True)
    file = path.with_name(f"{path.name}-tasks.json")
    file.write_text(json.dumps([task.model_dump(mode="json")]))
    run = path / "run"
    with Store.create(run) as store:
        store.set("selection", json.dumps(asdict(Selection(benchmark=str(file)))))
        unit = UnitOfWork(agent="model-agent", task_id=task.id)
        store.plan([unit, unit.model_copy(update={"agent": "sleeper"})])
        made = trajectory(store.blobs, task)
        broken = Ending(kind="fault", message="Chromium died.", fault=Fault("BrowserError", "Chromium died."))
        first = made.model_copy(update={"id": f"{unit.id}/0", "steps": (), "last_seen": None, "ending": broken})
        store.add_episode(unit.id, first, [])
        store.add_episode(unit.id, made, verdicts(made))
    return run

"""Fuzzed action text, replies of models, imported files, network logs and ledger rows.

Whatever comes in: no error but ours, nothing that takes more than two seconds, and nothing that turns a failure into a
pass. What is fuzzed is always something that fails.
"""

import contextlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw
from scripts.armor.mutations import WORDS, worse_bytes, worse_document, worse_json, worse_text
from scripts.armor.report import Report

from webassay.agents.models.generic import _tag
from webassay.agents.models.occam import parse_command, sections
from webassay.agents.models.tools import calculate, parse_calls
from webassay.analysis.numbers.rows import rows_of
from webassay.analysis.results.report import summarize
from webassay.analysis.results.report_text import to_json
from webassay.core.errors import WebassayError
from webassay.core.interaction import ACTIONS as ACTION_NAMES
from webassay.core.interaction import Goal, parse_actions
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.summary import UnitResult
from webassay.core.task import ActivityCheck, Expectation, NetworkCheck, ResponseCheck, Task
from webassay.core.trajectory import AgentInfo, Ending, MemoryBlobs, NetworkLog, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Fingerprint, Verdict
from webassay.grading.grade import grade
from webassay.importers.agentrewardbench import AGENTREWARDBENCH
from webassay.importers.base import import_all
from webassay.importers.fara import FARA
from webassay.importers.online_mind2web import ONLINE_MIND2WEB
from webassay.importers.webvoyager import WEBVOYAGER
from webassay.judging import parsers
from webassay.judging.judges import agentrewardbench, nnetnav, webjudge, webvoyager
from webassay.llm.client import read_json
from webassay.store import LEDGER, Store
from webassay.store.integrity.seals import NUMBERED, SEALED, digest, seal

CASES = 100_000
SLOW = 2.0
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)

Case = Callable[[random.Random], str | None]
"""Tries one input; returns what it gave away if a failure became a pass."""


@dataclass(frozen=True)
class Tried:
    seconds: float
    gave_away: str = ""
    error: str = ""
    """One that is not ours."""


def _tried(case: Case, draw: random.Random) -> Tried:
    started, busy = time.perf_counter(), time.process_time()
    gave_away = error = ""
    try:
        gave_away = case(draw) or ""
    except WebassayError:
        pass
    except Exception as escaped:  # noqa: BLE001 - finding these is the point
        error = f"{type(escaped).__name__}: {str(escaped)[:150]}"
    # Processor time, so that a busy machine is not taken for a slow parser.
    return Tried(min(time.perf_counter() - started, time.process_time() - busy), gave_away, error)


def attempt(report: Report, what: str, case: Case, count: int) -> None:
    draw = random.Random(f"{report.seed} {what}")
    escaped, slow, passed = [], [], []
    worst = 0.0
    for number in range(count):
        before = draw.getstate()
        one = _tried(case, draw)
        if one.seconds > SLOW:
            # A slow input is slow again; a machine that was taken away for a moment is not.
            after = draw.getstate()
            for _ in range(2):
                draw.setstate(before)
                one = replace(one, seconds=min(one.seconds, _tried(case, draw).seconds))
            draw.setstate(after)
        worst = max(worst, one.seconds)
        if one.seconds > SLOW:
            slow.append(f"case {number}: {one.seconds:.1f} s")
        if one.error:
            escaped.append(f"case {number}: {one.error}")
        if one.gave_away:
            passed.append(f"case {number}: {one.gave_away[:150]}")
    report.say(f"  {what}: {count:,} inputs, the slowest {worst:.2f} s")
    report.must(f"{what}: errors that are not ours", len(escaped), 0, escaped)
    report.must(f"{what}: slower than {SLOW:g} s", len(slow), 0, slow)
    report.must(f"{what}: failures that became passes", len(passed), 0, passed)


# --- what agents write ----------------------------------------------------------------------------------------

ACTIONS = (
    "click('a12')", 'fill("b7", "522 Juniper Court")', "scroll(0, 300)", "goto('http://shop.test/')", "noop(500)",
    "send_msg_to_user('{\"action\": \"retrieve\", \"status\": \"SUCCESS\", \"results\": [4]}')", "tab_focus(1)",
    "select_option('c3', ['red', 'blue'])", "I will click.\nclick('12')\nfill('13', 'x')", "press('a', 'Enter')",
    "report_infeasible('there is none', 'NOT_FOUND_ERROR')", "drag_and_drop('1', '2')", "mouse_click(1.5, 2)",
)  # fmt: skip


def action_text(draw: random.Random) -> str | None:
    text = worse_text(draw.choice(ACTIONS), draw)
    for action in parse_actions(text):
        json.dumps(action.model_dump(mode="json"))
    return None


# --- what models write ----------------------------------------------------------------------------------------

SECRET = "Elmstead Mini Serving Spoon Set 48213"
PROTOCOL = {"action": "retrieve", "status": "SUCCESS", "results": ["Elmstead Large Serving Spoon Set 99170"]}
REPLIES = (
    json.dumps(PROTOCOL),
    "```json\n" + json.dumps(PROTOCOL, indent=2) + "\n```",
    "<think>It is in the list.</think>\n<memory>seen 4</memory>\n<action>\nclick('a12')\n</action>",
    "OBSERVATION DESCRIPTION: a list\nREASON: because\nACTION: click [12]\nINTERACTION HISTORY SUMMARY: none",
    "type [7] [522 Juniper [Court]] [press_enter_after=1]",
    "Thoughts: the page says so.\nStatus: failure",
    "Thoughts: 1. ...\n**Key Points**:\n1. price\n2. name\nReason: none\nScore: 2",
    "<reasoning>no</reasoning><success>Unsuccessful</success><side>No</side><optimal>2</optimal><loop>No</loop>",
    "NOT SUCCESS, because the price differs.",
    "Reward: 1",
    '{"reasoning": "x", "verdict": false, "criteria": [{"id": 1, "earned": 0, "max": 3}]}',
    "calculator(\"(1 + 2) * 3\")\nnote('x')",
    "click('a12')",
)
TASK = Task(
    id="shop.fuzz.0",
    benchmark="arena",
    template="shop.fuzz",
    kind="retrieve",
    goal=Goal(instruction="Which?", start_urls=("__SHOP__/",), protocol=ARENA_PROTOCOL, sites=("shop",)),
    checks=(ResponseCheck(action="retrieve", results=Expectation.of([SECRET])),),
    sites=("shop",),
)


def played(answer: str, log: NetworkLog | None = None) -> Trajectory:
    return Trajectory(
        id="a/shop.fuzz.0/0/0",
        task_id=TASK.id,
        goal=TASK.goal,
        agent=AgentInfo(name="a"),
        answer=answer,
        ending=Ending(kind="answered"),
        network=log,
        bases={"shop": "http://shop.test:8000"},
    )


def reply(draw: random.Random) -> str | None:
    text = worse_text(draw.choice(REPLIES), draw)
    for read in READERS:
        try:
            read(text)
        except WebassayError:
            continue
    verdict = grade(TASK, played(text.encode("utf-8", "replace").decode()), MemoryBlobs())
    return text if verdict.status == "pass" else None


def _or_value_error(read: Callable[[str], Any], text: str) -> None:
    """Its callers ask the model again."""
    with contextlib.suppress(ValueError):
        read(text)


READERS: tuple[Callable[[str], Any], ...] = (
    lambda text: [_tag(text, name) for name in ("think", "memory", "action")],  # type: ignore[arg-type]
    lambda text: {name: parse_command(part) for name, part in sections(text).items()},
    parse_command,
    lambda text: parse_calls(text, {}, tuple(ACTION_NAMES)),
    calculate,
    lambda text: _or_value_error(read_json, text),
    parsers.status,
    lambda text: parsers.status(text, "as-published"),
    webjudge.read_score,
    webjudge.read_reason,
    webjudge.read_key_points,
    webjudge.read_list,
    webvoyager.read_verdict,
    nnetnav.read_reward,
    lambda text: agentrewardbench.read_tags(text, ("reasoning", "success", "side", "optimal", "loop")),
    agentrewardbench.read_yes_or_no,
    agentrewardbench.read_optimality,
)


# --- imported files -------------------------------------------------------------------------------------------

OM2W = {"task_id": "1", "task": "Find it", "action_history": ["CLICK a", "TYPE b"], "thoughts": ["so", "then"],
        "final_result_response": "42", "input_image_paths": ["trajectory/0_full.png"]}  # fmt: skip
VOYAGER = [
    {"role": "system", "content": "Imagine you are a robot."},
    {"role": "user", "content": "Now given a task: Find it.  Please interact with https://a.test/ and get the answer."},
    {"role": "assistant", "content": "Thought: so\n\nAction: Click [3]"},
    {"role": "assistant", "content": [{"type": "text", "text": "Thought: done\nAction: ANSWER; [42]"}]},
]
REWARD = {"benchmark": "webarena", "goal": "Find it", "agent": "a", "model": "m", "seed": 0, "valid": True,
          "summary_info": {"truncated": False, "err_msg": None},
          "steps": [{"num": 0, "action": "click('3')", "reasoning": "so", "url": "http://a.test/", "axtree": "Root",
                     "open_pages_urls": ["http://a.test/"], "screenshot_path": "0.png", "last_action_error": ""},
                    {"num": 1, "action": "send_msg_to_user('42')", "url": "http://a.test/"}]}  # fmt: skip
SURFER = [{"action": "click", "arguments": {"action": "click", "thoughts": "so", "x": 3}, "url": "http://a.test/"},
          {"action": "terminate", "arguments": {"action": "terminate"}, "timestamp": "now"}]  # fmt: skip


class Imports:
    """One folder of each format in memory-backed files, of which one file is made worse each time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("om2w/trajectory", "voyager", "fara", "reward"):
            (folder / name).mkdir(parents=True)
        for name in ("om2w/trajectory/0_full.png", "voyager/0.png", "fara/0.png", "reward/0.png"):
            (folder / name).write_bytes(PNG)
        self.formats = {
            "om2w": (ONLINE_MIND2WEB, {"result.json": OM2W}),
            "voyager": (WEBVOYAGER, {"interact_messages.json": VOYAGER}),
            "reward": (AGENTREWARDBENCH, {"one.json": REWARD}),
            "fara": (FARA, {"web_surfer.log": SURFER, "task_data.json": {"task_proposal": "Find it"},
                            "1_final_answer.json": {"final_answer": "42", "screenshots": ["0.png"]}}),
        }  # fmt: skip
        for name, (_, files) in self.formats.items():
            for file, value in files.items():
                self._write(name, file, _lines(value) if file.endswith(".log") else json.dumps(value).encode())

    def _write(self, name: str, file: str, data: bytes) -> None:
        (self.folder / name / file).write_bytes(data)

    def case(self, draw: random.Random) -> str | None:
        name = draw.choice(list(self.formats))
        importer, files = self.formats[name]
        file = draw.choice(list(files))
        whole = _lines(files[file]) if file.endswith(".log") else json.dumps(files[file]).encode()
        self._write(
            name, file, worse_bytes(whole, draw) if file.endswith(".log") else worse_document(files[file], draw)
        )
        try:
            for trajectory in import_all(self.folder / name, MemoryBlobs(), [importer], format=importer.name):
                Trajectory.from_json(trajectory.to_json())
        finally:
            self._write(name, file, whole)
        return None


def _lines(events: Any) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


# --- network logs ---------------------------------------------------------------------------------------------

BASE = "http://shop.test:8000"
SHOWN = TASK.model_copy(
    update={
        "checks": (
            ResponseCheck(action="retrieve", results=Expectation.of([SECRET])),
            NetworkCheck(
                url=Expectation(type="url", value="__SHOP__/save?token=48213"),
                method="POST",
                response_status=302,
                post_data={"$.address.street": Expectation.of("522 Juniper Court")},
            ),
            ActivityCheck(site="shop"),
        )
    }
)
ANSWER = json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [SECRET]})


def entry(path: str, method: str = "GET", status: int = 200, posted: str = "") -> dict[str, Any]:
    headers = [{"name": "Accept", "value": "text/html"}, {"name": "Sec-Fetch-User", "value": "?1"}]
    request: dict[str, Any] = {"method": method, "url": BASE + path, "headers": headers}
    if posted:
        request["postData"] = {"mimeType": "application/json", "text": posted}
    content = {"mimeType": "text/html", "text": "<html></html>"}
    return {"request": request, "response": {"status": status, "headers": [], "content": content}, "time": 3}


LOG = {"log": {"version": "1.2", "entries": [
    entry("/"), entry("/account/addresses"),
    entry("/save?token=99170", "POST", 302, '{"address": {"street": "7 Mill Lane", "city": "Leeds"}}'),
]}}  # fmt: skip
"""The deed is missing: another address was saved, with another token."""


def har(draw: random.Random) -> str | None:
    blobs = MemoryBlobs()
    format = "har" if draw.random() < 0.7 else "playwright-trace"
    if format == "har":
        data = worse_document(LOG, draw)
    else:
        entries = [{"type": "resource-snapshot", "snapshot": one} for one in LOG["log"]["entries"]]  # type: ignore[index]
        data = worse_bytes(_lines(entries), draw)
    log = NetworkLog(format=format, blob=blobs.write(data, "application/json"))  # type: ignore[arg-type]
    verdict = grade(SHOWN, played(ANSWER, log), blobs)
    return data.decode("utf-8", "replace") if verdict.status == "pass" else None


# --- ledger rows ----------------------------------------------------------------------------------------------

ROWS = 120
"""All rows of one ledger; each of them is fuzzed."""


def ledger(folder: Path) -> Path:
    with Store.create(folder) as store:
        for number in range(ROWS // 3):
            unit = UnitOfWork(agent="a", task_id=f"t.{number}", metadata={"template": "t", "sites": ["shop"]})
            trajectory = played("no").model_copy(update={"id": f"{unit.id}/0", "task_id": unit.task_id})
            stamp = Fingerprint(grader="rules", version="1", key="sha256:0")
            verdict = Verdict(trajectory_id=trajectory.id, task_id=unit.task_id, status="fail", fingerprint=stamp)
            store.plan([unit])
            store.add_episode(unit.id, trajectory, [verdict])
    return folder


def fuzz_rows(place: Path, draw: random.Random, *, sealed: bool) -> None:
    """One column of every row. With a new seal it is what somebody else may have written; without, it is damage."""
    db = apsw.Connection(str(place / LEDGER))
    for table in NUMBERED:
        names = SEALED[table]
        for row in db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall():
            columns = dict(zip(names, row, strict=True))
            ordinal = columns["ordinal"]
            if sealed and draw.random() < 0.5:
                columns["hash"] = _fuzz_record(db, table, ordinal, draw)
            else:
                name = draw.choice(names[1:])
                columns[name] = _worse_value(columns[name], draw)
            stamp = seal(table, columns) if sealed else bytes(32)
            with contextlib.suppress(apsw.ConstraintError):  # SQLite itself does not hold such a row.
                values = ", ".join(f"{name} = :{name}" for name in columns)
                db.execute(
                    f"UPDATE {table} SET {values}, seal = :seal WHERE ordinal = :ordinal", {**columns, "seal": stamp}
                )
    db.close()


def _fuzz_record(db: apsw.Connection, table: str, ordinal: int, draw: random.Random) -> bytes:
    place = table if table == "unit" else f"{table}_record"
    record = json.loads(str(db.execute(f"SELECT record FROM {place} WHERE ordinal = ?", (ordinal,)).get))
    text = json.dumps(worse_json(record, draw))
    db.execute(f"UPDATE {place} SET record = ? WHERE ordinal = ?", (text, ordinal))
    return digest(text.encode())


def _worse_value(value: Any, draw: random.Random) -> Any:
    if isinstance(value, str) and draw.random() < 0.8:
        return worse_text(value, draw).encode("utf-8", "replace").decode()
    if isinstance(value, bytes) and draw.random() < 0.8:
        return worse_bytes(value, draw)
    return draw.choice((None, 0, -1, 2**40, 1.5, -0.0, "", "pass", "rules", draw.choice(WORDS), b"", bytes(32)))


def read_everything(place: Path) -> Iterator[str]:
    """As every command reads it. Yields the status of what counts."""
    for thorough in (False, True):
        with Store.open(place, thorough=thorough) as store:
            told: list[WebassayError] = []
            rows = list(store.rows("rules", on_damage=told.append))
            reading: list[Callable[[], object]] = [
                partial(_report, rows),
                partial(_all, store.units, told),
                partial(_all, store.trajectories, told),
                partial(_all, partial(store.newest_verdicts, replies=True), told),
                store.raters,
                partial(store.attempts_named, "t.1"),
            ]
            for read in reading:
                with contextlib.suppress(WebassayError):
                    read()
            yield from (row.verdict.status for row in rows if row.verdict is not None)


def _report(rows: list[UnitResult]) -> None:
    to_json(summarize(rows_of(rows)))


def _all(read: Callable[..., Iterator[object]], told: list[WebassayError]) -> None:
    for _ in read(on_damage=told.append):
        pass


def ledger_rows(report: Report, folder: Path) -> None:
    """A ledger at a time: opening one for every row would take most of the time."""
    whole = ledger(folder / "whole")
    draw = random.Random(report.seed)
    count = -(-report.cases(CASES) // ROWS)

    def case(_: random.Random) -> str | None:
        place = folder / "fuzzed"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        sealed = draw.random() < 0.5
        fuzz_rows(place, draw, sealed=sealed)
        passed = [status for status in read_everything(place) if status == "pass"]
        return f"{len(passed)} rows" if passed and not sealed else None

    report.say(f"  ledger rows: {count * ROWS:,} of them, {ROWS} to a ledger")
    attempt(report, "ledgers of fuzzed rows", case, count)


def run(report: Report) -> None:
    count = report.cases(CASES)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="webassay-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        attempt(report, "action text", action_text, count)
        attempt(report, "replies of models", reply, count)
        attempt(report, "imported files", Imports(Path(folder) / "imports").case, count)
        attempt(report, "network logs", har, count)
        ledger_rows(report, Path(folder) / "ledgers")

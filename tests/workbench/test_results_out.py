"""Results as others expect them, and read back."""

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_protocols import verified
from tests.support import verified_logs as logs
from webassay.analysis.results import formats
from webassay.core.errors import InputError
from webassay.core.interaction import Goal, ResponseProtocol
from webassay.core.trajectory import AgentInfo, Ending, Exchange, MemoryBlobs, NetworkLog, Trajectory
from webassay.grading.network.events import events
from webassay.importers.har import har_of
from webassay.importers.webarena_verified import folder_of, response_of
from webassay.workbench import LogImport, LogOptions, Submission, Workbench
from webassay.workbench.submit import COLUMNS


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A run of three logs: right, wrong, and one without a network log."""
    keys = [verified(n, ["red"]) for n in range(4)]
    (tmp_path / "tasks.json").write_text(json.dumps(keys))
    (tmp_path / "webarena-verified-hard.json").write_text(json.dumps({"task_ids": [1, 3]}))
    for key in keys[:2]:
        answer, trace = logs.right_log(key)
        logs.write(
            tmp_path / "mine",
            key["task_id"],
            {**answer, "retrieved_data": ["red", "blue"][: 1 + key["task_id"]]},
            trace,
        )
    Workbench(cache=tmp_path / "cache").import_logs([tmp_path / "mine"], tmp_path / "run", options(tmp_path))
    return tmp_path


def options(place: Path) -> LogImport:
    return LogImport(LogOptions("webarena-verified", str(place / "tasks.json")))


def test_logs_are_written_and_read_back(place: Path) -> None:
    bench = Workbench(cache=place / "cache")
    assert bench.export_trajectories(place / "run", place / "out", "webarena-verified") == 2
    assert sorted(path.name for path in (place / "out" / "mine" / "0").iterdir()) == [
        "agent_response.json",
        "network.har",
    ]
    before = {log.number: log.verdict.status for log in bench.grade_logs(place / "mine", options(place).logs)}
    after = {log.number: log.verdict.status for log in bench.grade_logs(place / "out" / "mine", options(place).logs)}
    assert before == after == {"0": "pass", "1": "fail"}


def played(**rest: Any) -> tuple[Trajectory, MemoryBlobs]:
    blobs = MemoryBlobs()
    exchanges = [
        Exchange(id="1", time=0.5, method="GET", url="http://s/a?x=1", navigation=True, resource_type="document",
                 status=200, request_headers={"accept": "text/html"}, mime_type="text/html", duration=0.25),
        Exchange(id="2", time=1.0, method="POST", url="http://s/save", post_data="a=b", status=302,
                 request_headers={"content-type": "application/x-www-form-urlencoded"},
                 response_headers={"location": "/done"}),
        Exchange(id="3", time=1.5, method="GET", url="http://s/x.png", error="net::ERR_FAILED"),
    ]  # fmt: skip
    log = NetworkLog(blob=blobs.write("".join(f"{one.to_json()}\n" for one in exchanges).encode(), "application/jsonl"))
    told: dict[str, Any] = {
        "id": "x", "task_id": "webarena-verified.7", "agent": AgentInfo(name="my agent[x=1]"), "network": log,
        "goal": Goal(instruction="", start_urls=(), protocol=ResponseProtocol(name="arena", instructions="")),
        "ending": Ending(kind="answered"), "started_at": "2026-01-01T00:00:00+00:00", **rest,
    }  # fmt: skip
    return Trajectory(**told), blobs


def test_a_network_log_as_har() -> None:
    """What the grader reads in the HAR file is what was recorded."""
    trajectory, blobs = played()
    data = har_of(trajectory, blobs)
    entries = json.loads(data)["log"]["entries"]
    assert entries[0]["startedDateTime"] == "2026-01-01T00:00:00.500+00:00"
    again = NetworkLog(format="har", blob=blobs.write(data, "application/json"))
    found = [(one.method, one.url, one.status or None) for one in events(again, blobs)]
    assert found == [("GET", "http://s/a?x=1", 200), ("POST", "http://s/save", 302), ("GET", "http://s/x.png", None)]
    assert list(events(again, blobs))[1].details.post_text == "a=b"
    with pytest.raises(InputError, match="no network log"):
        har_of(trajectory.model_copy(update={"network": None}), blobs)


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        ({"action": "retrieve", "status": "SUCCESS", "results": [1]}, ("RETRIEVE", "SUCCESS", [1])),
        ({"task_type": "MUTATE", "status": "UNKNOWN_ERROR", "retrieved_data": None}, ("MUTATE", "UNKNOWN_ERROR", None)),
    ],
)
def test_responses_in_the_words_of_the_release(answer: dict[str, Any], written: tuple[Any, ...]) -> None:
    trajectory, _ = played(answer=json.dumps(answer))
    found = json.loads(response_of(trajectory))
    assert (found["task_type"], found["status"], found["retrieved_data"]) == written


def test_what_is_no_response_stays_as_it_came() -> None:
    assert response_of(played(answer="It is red.")[0]) == "It is red."


def test_folders_are_called_by_numbers() -> None:
    assert folder_of(played()[0]) == "my-agent-x=1/7"
    assert folder_of(played(trial=2)[0]) == "my-agent-x=1.2/7"
    with pytest.raises(InputError, match="no number"):
        folder_of(played(task_id="shop.low-reviews")[0])


def test_a_submission(place: Path) -> None:
    bench = Workbench(cache=place / "cache")
    told = Submission("Mine", "https://example.org/mine", verified_tasks=str(place / "tasks.json"))
    said = bench.package_submission(place / "run", place / "package", told)
    assert said["packaged_tasks"] == {
        "full": {"valid": 2, "incomplete": 0, "missing": 2, "expected": 4},
        "hard": {"valid": 1, "incomplete": 0, "missing": 1, "expected": 2},
    }
    assert json.loads((place / "package" / "submission.json").read_text()) == said
    files = json.loads((place / "package" / "manifest.json").read_text())["files"]
    assert [one["path"] for one in files] == sorted(one["path"] for one in files) and len(files) == 5
    for one in files:
        data = (place / "package" / one["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (one["sha256"], one["size_bytes"])
    with pytest.raises(InputError, match="already exists"):
        bench.package_submission(place / "run", place / "package", told)
    with pytest.raises(InputError, match="no agent 'other'"):
        bench.package_submission(
            place / "run", place / "p2", Submission("M", "https://x", "other", verified_tasks=told.verified_tasks)
        )
    with pytest.raises(InputError, match="is not a web address"):
        bench.package_submission(place / "run", place / "p2", Submission("M", "mine"))


def test_a_table_like_agentlabs(place: Path) -> None:
    made = Workbench(cache=place / "cache").agentlab_table([place / "run"])
    lines = list(csv.DictReader(io.StringIO(str(formats.CSV.document(made)))))
    assert tuple(lines[0]) == COLUMNS
    found = {line["env.task_name"]: (line["cum_reward"], line["terminated"], line["err_msg"]) for line in lines}
    assert found == {
        "webarena-verified.0": ("1.0", "True", ""),
        "webarena-verified.1": ("0.0", "True", ""),
        "webarena-verified.2": ("", "", "not played"),
        "webarena-verified.3": ("", "", "not played"),
    }

"""Logs of a benchmark's own harness, as a run."""

import json

import apsw
import pytest

from tests.support import verified_logs as logs
from webassay.core.errors import InputError
from webassay.store import Store
from webassay.workbench import LogImport, LogOptions, Workbench

SITES = ("shopping", "gitlab")


def entry(number: int) -> dict:
    """Two tasks a template, two templates a site, in the published form."""
    site = SITES[number % 2]
    return {
        "task_id": number,
        "sites": [site],
        "intent_template_id": number // 4 * 2 + number % 2,
        "start_urls": [f"__{site.upper()}__/start"],
        "intent": f"Find thing {number}.",
        "instantiation_dict": {},
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "array", "items": {"type": "string"}},
                "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [f"thing {number}"]},
            }
        ],
        "revision": 1,
    }


ENTRIES = [entry(number) for number in range(8)]


@pytest.fixture
def place(tmp_path):
    """Right logs but for task 1, whose answer is wrong, and tasks 6 and 7, which have no network log and no log."""
    (tmp_path / "tasks.json").write_text(json.dumps(ENTRIES))
    (tmp_path / "config.json").write_text(json.dumps(logs.CONFIG))
    for one in ENTRIES[:7]:
        logs.write(
            tmp_path / "agent", one["task_id"], *(logs.wrong_log if one["task_id"] == 1 else logs.right_log)(one)
        )
    (tmp_path / "agent" / "6" / "network.har").unlink()
    return tmp_path


def wanted(place, config=True, **rest):
    file = place / "config.json" if config else None
    return LogImport(LogOptions("webarena-verified", str(place / "tasks.json"), file), **rest)


def statuses(run):
    with Store.open(run) as store:
        return {
            unit.task_id.rpartition(".")[2]: store.verdict(one.id, "rules").status for unit, one in store.trajectories()
        }


async def test_an_episode_of_a_task_that_is_gone_is_left_ungraded(place):
    told = []
    bench = Workbench(cache=place / "cache", on_notice=told.append)
    bench.import_logs([place / "agent"], place / "run", wanted(place))
    (place / "tasks.json").write_text(json.dumps([one for one in ENTRIES if one["task_id"] != 2]))
    graded = [one.unit.task_id.rpartition(".")[2] for one in bench.grade(place / "run")]
    assert graded == ["0", "1", "3", "4", "5", "6"]
    (said,) = told
    assert said.startswith("1 of 8 trajectories cannot be graded, because they are not of webarena-verified's tasks")
    assert "webarena-verified.2" in said
    assert (await bench.ask_model(place / "run")).questions == 0


@pytest.mark.parametrize("config", [True, False])
def test_a_folder_becomes_a_run_with_a_report(place, config):
    bench = Workbench(cache=place / "cache")
    made = bench.import_logs([place / "agent"], place / "run", wanted(place, config))
    assert (made.added, made.known) == (7, 0)
    graded = {log.number: log.verdict.status for log in bench.grade_logs(place / "agent", wanted(place, config).logs)}
    assert (
        statuses(place / "run") == graded == dict(zip("0123456", ["pass", "fail", *["pass"] * 4, "fault"], strict=True))
    )
    (agent,) = bench.report([place / "run"]).agents
    counts = agent.success.counts
    assert (agent.name, counts.planned, counts.passed, counts.failed, counts.faulted, counts.missing) == (
        "agent", 8, 5, 1, 1, 1,
    )  # fmt: skip
    assert agent.success.macro.units == agent.success.templates == 4
    assert agent.success.macro.value == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert agent.site_macro.units == 2 and agent.site_macro.value == pytest.approx((1 + 0.75) / 2)
    assert {group.name for group in agent.groups if group.dimension == "site"} == set(SITES)
    assert agent.efficiency.steps.known == 0, "nobody knows how many steps a log without steps took"


def test_grading_it_again_gives_the_same_verdicts(place):
    bench = Workbench(cache=place / "cache")
    bench.import_logs([place / "agent"], place / "run", wanted(place))
    for name in ("config.json", "agent"):
        (place / name).rename(place / f"{name}.gone")
    graded = list(bench.grade(place / "run"))
    assert len(graded) == 7 and all(one.before == one.verdict for one in graded)


def test_importing_again_adds_what_changed(place):
    bench = Workbench(cache=place / "cache")
    for _ in range(2):
        made = bench.import_logs([place / "agent"], place / "run", wanted(place))
    assert (made.added, made.known) == (0, 7)
    (place / "agent" / "1" / "agent_response.json").write_text(json.dumps(logs.right_log(ENTRIES[1])[0]))
    made = bench.import_logs([place / "agent"], place / "run", wanted(place))
    assert (made.added, made.known) == (1, 6)
    assert statuses(place / "run")["1"] == "pass"


def answer(place, number, log):
    (place / "agent" / str(number) / "agent_response.json").write_text(json.dumps(log(ENTRIES[number])[0]))


def test_a_log_that_was_changed_back_counts_again(place):
    bench = Workbench(cache=place / "cache")
    found = []
    for log in (logs.right_log, logs.wrong_log, logs.right_log, logs.right_log, logs.wrong_log):
        answer(place, 0, log)
        made = bench.import_logs([place / "agent"], place / "run", wanted(place))
        found.append((made.added, statuses(place / "run")["0"]))
    assert found == [(7, "pass"), (1, "fail"), (1, "pass"), (0, "pass"), (1, "fail")]
    answer(place, 0, logs.right_log)
    bench.import_logs([place / "agent"], place / "run", wanted(place))
    (said,) = (one for one in bench.report([place / "run"]).warnings if "agent/webarena-verified.0/0" in one)
    assert "later attempt" in said and "after a fault" not in said


def test_a_log_that_became_unreadable_is_added_once_and_what_was_read_before_counts(place):
    bench, trace = Workbench(cache=place / "cache"), place / "agent" / "0" / "network.har"
    bench.import_logs([place / "agent"], place / "run", wanted(place))
    trace.rename(place / "kept.har")
    assert bench.import_logs([place / "agent"], place / "run", wanted(place)).added == 1
    assert bench.import_logs([place / "agent"], place / "run", wanted(place)).added == 0
    (place / "kept.har").rename(trace)
    assert bench.import_logs([place / "agent"], place / "run", wanted(place)).added == 0
    assert statuses(place / "run")["0"] == "pass"


def test_importing_again_replaces_what_is_damaged(place):
    bench = Workbench(cache=place / "cache")
    bench.import_logs([place / "agent"], place / "run", wanted(place))
    with apsw.Connection(str(place / "run" / "ledger.sqlite")) as db:
        db.execute("UPDATE trajectory SET summary = 'x' WHERE ordinal = 1")
    db.close()
    made = bench.import_logs([place / "agent"], place / "run", wanted(place))
    assert (made.added, made.known) == (1, 6)
    assert statuses(place / "run")["0"] == "pass"


def test_only_what_is_there(place):
    bench = Workbench(cache=place / "cache")
    bench.import_logs([place / "agent"], place / "run", wanted(place, agent="mine", only_present=True))
    report = bench.report([place / "run"])
    assert (report.agents[0].name, report.counts.planned, report.counts.missing) == ("mine", 7, 0)


def test_what_cannot_be_meant(place):
    bench = Workbench(cache=place / "cache")
    with pytest.raises(InputError, match="no benchmark with gradable logs"):
        bench.import_logs([place / "agent"], place / "run", LogImport(LogOptions("arena")))
    with pytest.raises(InputError, match="no log of a known task"):
        bench.import_logs([place], place / "run", wanted(place))
    with pytest.raises(InputError, match="several log folders"):
        bench.import_logs([place / "agent"] * 2, place / "run", wanted(place, agent="mine"))
    with pytest.raises(InputError, match="the same name"):
        bench.import_logs([place / "agent"] * 2, place / "run", wanted(place))
    assert not (place / "run").exists()


@pytest.mark.external
def test_the_recorded_logs(tmp_path):
    folder = logs.outside_data() / "webarena-verified" / "agent_logs" / "demo"
    bench = Workbench(cache=tmp_path / "cache")
    options = LogOptions("webarena-verified", str(logs.published_file()))
    bench.import_logs([folder], tmp_path / "run", LogImport(options))
    report = bench.report([tmp_path / "run"])
    assert statuses(tmp_path / "run") == {"107": "fail", "108": "pass"}
    assert (report.counts.planned, report.counts.missing, report.templates) == (812, 810, 190)

"""WebArena's tasks under both protocols, and other people's trajectories under the old one."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support import verified_logs as logs
from webassay.analysis.benchmark.protocols import EpisodePair, compare_protocols
from webassay.benchmarks.base import Selection
from webassay.benchmarks.verified import published_bases
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import InputError
from webassay.core.interaction import STATUSES
from webassay.core.protocols import PAPER_PROTOCOL, RELEASED_PROTOCOL
from webassay.grading.published.legacy import as_free_text
from webassay.grading.rules.response import read_response
from webassay.llm.replay import Script, replaying
from webassay.store import Store
from webassay.workbench import GradeOptions, LogImport, LogOptions, ModelOptions, ProtocolOptions, Workbench
from webassay.workbench.grade import Keys, number_in


def pair(task: int, old: Any, verified: Any, **rest: Any) -> EpisodePair:
    told = {"agent": "a", "template": str(task // 2), "site": "shopping", "kind": "retrieve", "hard": False, **rest}
    return EpisodePair(task=str(task), old=old, verified=verified, **told)


def test_false_negatives_and_false_positives() -> None:
    made = compare_protocols(
        [
            *(pair(number, "pass", "pass") for number in range(8)),
            *(pair(number, "fail", "pass") for number in (8, 9)),
            pair(10, "pass", "fail"),
            *(pair(number, "fail", "fail") for number in (11, 12, 13)),
            pair(14, "abstain", "pass"),
            pair(15, "pass", "fault"),
        ]
    )
    whole = made.parts[0]
    assert (whole.episodes, whole.undecided) == (16, 2)
    assert (whole.both_pass, whole.only_verified, whole.only_old, whole.both_fail) == (8, 2, 1, 3)
    assert (whole.missed.value, whole.credited.value) == (0.2, 0.25)
    assert (whole.missed_of_all.value, whole.credited_of_all.value) == (2 / 14, 1 / 14)
    assert whole.missed.low is not None and 0 < whole.missed.low < 0.2
    (scores,) = made.scores
    assert scores.old.value == 10 / 15, "of the episodes that the old protocol decided"
    # Templates 0 to 4 pass, 5 and 6 fail, and of 7 one task passes and one is a fault, which is not a 0.
    assert scores.verified.value == pytest.approx(6 / 8)


def test_trials_do_not_make_an_interval_narrower() -> None:
    once = [pair(number, "pass", "pass" if number % 2 else "fail") for number in range(8)]
    (one,), (ten,) = (compare_protocols(once * times).scores for times in (1, 10))
    assert one.verified.low == ten.verified.low and one.verified.high == ten.verified.high


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("plain words", "plain words"),
        ({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["a", 2.5]}, "a, 2.5"),
        ({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [{"n": "x", "c": 7}]}, "n: x, c: 7"),
        ({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [True]}, "Yes"),
        ({"task_type": "RETRIEVE", "status": "NOT_FOUND_ERROR", "retrieved_data": None}, "N/A"),
        ({"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None}, ""),
        ({"action": "retrieve", "status": "SUCCESS", "results": ["b"]}, "b"),
        ({"status": "SUCCESS"}, '{"status": "SUCCESS"}'),
    ],
)
def test_a_response_as_a_plain_answer(answer: Any, text: str) -> None:
    assert as_free_text(answer if isinstance(answer, str) else json.dumps(answer)) == text


def test_names_of_tasks_and_places_of_sites() -> None:
    assert {number_in(name) for name in ("webarena.102", "browsergym/webarena.102", "102", "task_0102")} == {"102"}
    found = published_bases(["about:blank", "http://ec2.test:7780/admin/x", "http://ec2.test:7770/a", "http://o.test"])
    assert found == {"shopping_admin": "http://ec2.test:7780/admin", "shopping": "http://ec2.test:7770"}


# --- from end to end --------------------------------------------------------------------------------------


def old(number: int, **key: Any) -> dict[str, Any]:
    return {
        "task_id": number, "sites": ["shopping"], "intent": f"Find thing {number}.", "intent_template": "Find it.",
        "intent_template_id": 1, "instantiation_dict": {}, "start_url": "__SHOPPING__", "storage_state": None,
        "eval": {"eval_types": ["string_match"], "reference_answers": key, "string_note": "gone"},
    }  # fmt: skip


def verified(number: int, data: list[Any]) -> dict[str, Any]:
    return {
        "task_id": number, "sites": ["shopping"], "intent_template_id": number, "revision": 1,
        "start_urls": ["__SHOPPING__/start"], "intent": f"Find thing {number}.", "instantiation_dict": {},
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "array", "items": {"type": "string"}},
                "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": data},
            }
        ],
    }  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    olds = [old(0, exact_match="red"), old(1, exact_match="the red one"), old(2, must_include=["1"]),
            old(3, fuzzy_match=["an hour"])]  # fmt: skip
    keys = [verified(0, ["red"]), verified(1, ["red"]), verified(2, ["110"]), verified(3, ["60 min"])]
    (tmp_path / "old.json").write_text(json.dumps(olds))
    (tmp_path / "verified.json").write_text(json.dumps(keys))
    (tmp_path / "webarena-verified-hard.json").write_text(json.dumps({"task_ids": [1]}))
    for one in keys:
        logs.write(tmp_path / "mine", one["task_id"], *logs.right_log(one))
    return tmp_path


def test_logs_under_both_protocols(place: Path) -> None:
    options = ProtocolOptions(str(place / "old.json"), str(place / "verified.json"))
    made = json.loads(Workbench(cache=place / "cache").protocols([place / "mine"], options).json)
    found = {one["task"]: (one["old"], one["verified"]) for one in made["pairs"]}
    assert found == {"0": ("pass", "pass"), "1": ("fail", "pass"), "2": ("fail", "pass"), "3": ("abstain", "pass")}
    assert [one["tasks"] for one in made["scores"]] == ["full", "hard"]
    assert made["parts"][0]["missed"]["value"] == pytest.approx(2 / 3)


def by_both(place: Path, *places: Path) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Task to the status by the old protocol and by the verified one, and what was told."""
    told: list[str] = []
    options = ProtocolOptions(str(place / "old.json"), str(place / "verified.json"))
    made = json.loads(Workbench(cache=place / "cache", on_notice=told.append).protocols(places, options).json)
    return {one["task"]: (one["old"], one["verified"]) for one in made["pairs"]}, told


def stored(place: Path, benchmark: str, logs_in: Path) -> Path:
    run = place / "runs" / benchmark
    wanted = LogImport(LogOptions(benchmark, str(place / "verified.json")), only_present=True)
    Workbench(cache=place / "cache").import_logs([logs_in], run, wanted)
    return run


def test_a_stored_run_is_graded_by_the_protocol_that_it_was_played_under(place: Path) -> None:
    impossible = verified(4, [])
    impossible["eval"][0]["expected"] = {"task_type": "retrieve", "status": "NOT_FOUND_ERROR", "retrieved_data": None}
    for name, one in (("old", old(4, fuzzy_match="N/A")), ("verified", impossible)):
        file = place / f"{name}.json"
        file.write_text(json.dumps([*json.loads(file.read_text()), one]))
    trace = logs.right_trace(impossible)
    right = {"action": "retrieve", "status": "SUCCESS", "results": ["red"], "error_details": None}
    logs.write(place / "paper", 0, right, trace)
    refused = {"action": "retrieve", "status": "RESOURCE_NOT_FOUND_ERROR", "results": None, "error_details": "No."}
    logs.write(place / "paper", 4, refused, trace)
    found, told = by_both(place, stored(place, "webarena-verified-paper", place / "paper"))
    assert found == {"0": ("pass", "pass"), "4": ("pass", "pass")}
    found, _ = by_both(place, stored(place, "webarena-verified", place / "mine"))
    assert found["0"] == ("pass", "pass") and found["1"] == ("fail", "pass")
    assert not told


def test_plain_answers_are_left_out_of_the_comparison(place: Path) -> None:
    """The verified protocol cannot read them: that says nothing about the agent."""
    agentlab(place, "webarena.0", 'send_msg_to_user("red")')
    Workbench(cache=place / "cache").import_trajectories([place / "theirs"], place / "plain", "agentrewardbench")
    found, told = by_both(place, place / "plain", place / "mine")
    assert len(found) == 4 and found["0"] == ("pass", "pass")
    (said,) = told
    assert said.startswith("1 of 5 episodes was left out") and "plain answer" in said
    with pytest.raises(InputError, match="plain answer") as caught:
        by_both(place, place / "plain")
    assert "a run of webarena-verified" in caught.value.hint


@pytest.mark.parametrize("in_a_run", [False, True])
def test_a_broken_log_is_a_fault_and_does_not_end_the_comparison(place: Path, in_a_run: bool) -> None:
    log = place / "mine" / "1" / "network.har"
    log.write_text(log.read_text()[:200])
    place_of_logs = stored(place, "webarena-verified", place / "mine") if in_a_run else place / "mine"
    found, _ = by_both(place, place_of_logs)
    assert found == {"0": ("pass", "pass"), "1": ("fault", "fault"), "2": ("fail", "pass"), "3": ("abstain", "pass")}


def test_damaged_units_are_left_out_and_counted(place: Path) -> None:
    run = stored(place, "webarena-verified", place / "mine")
    with apsw.Connection(str(run / "ledger.sqlite")) as db:
        db.execute("UPDATE trajectory SET summary = 'x' WHERE ordinal = 2")
    db.close()
    found, told = by_both(place, run)
    assert found.keys() == {"0", "2", "3"}
    assert [said for said in told if "1 unit is damaged" in said]


def agentlab(
    place: Path, task: str, action: str, url: str = "http://host.test:7770/", benchmark: str = "webarena"
) -> None:
    steps = [
        {"num": 0, "action": action, "url": url, "open_pages_urls": [url]},
        {"num": 1, "action": None, "url": url, "open_pages_urls": [url]},
    ]
    record = {"benchmark": benchmark, "agent": "theirs", "model": "m", "goal": "Find it.", "seed": 0,
              "summary_info": {}, "steps": steps}  # fmt: skip
    file = place / "theirs" / "cleaned" / "webarena" / "theirs" / f"{task}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))


async def test_trajectories_of_others_are_graded_by_the_old_protocol(place: Path) -> None:
    """The model is asked once, its reply is kept, and grading again without a model gives the same."""
    agentlab(place, "webarena.0", 'send_msg_to_user("Red")')
    agentlab(place, "webarena.1", 'send_msg_to_user("blue")')
    agentlab(place, "webarena.3", 'send_msg_to_user("60 minutes")')
    agentlab(place, "webarena.99", 'send_msg_to_user("who knows")')
    bench, run = Workbench(cache=place / "cache"), place / "run"
    bench.import_trajectories([place / "theirs"], run, "agentrewardbench")
    options = GradeOptions(benchmark="webarena", tasks_file=str(place / "old.json"))
    graded = {one.verdict.task_id: one.verdict.status for one in bench.grade(run, options)}
    assert graded == {"webarena.0": "pass", "webarena.1": "fail", "webarena.3": "abstain"}
    assert (await bench.ask_model(run, options)).questions == 1
    async with replaying(Script(["I would say: correct."])) as server:
        asked = await bench.ask_model(run, options, ModelOptions(f"openai:any@{server.url}"))
    answered = GradeOptions(benchmark="webarena", tasks_file=str(place / "old.json"), replies=asked.replies)
    list(bench.grade(run, answered))
    again = {one.verdict.task_id: one for one in bench.grade(run, options)}
    assert again["webarena.3"].verdict.status == "pass" and not again["webarena.3"].changed
    with Store.open(run) as store:
        found = store.verdict(again["webarena.3"].verdict.trajectory_id, "rules", replies=True)
    assert found is not None and list(found.replies.values()) == ["I would say: correct."]
    assert bench.report([run]).counts.passed == 2


async def test_trajectories_of_other_benchmarks_are_left_ungraded(place: Path) -> None:
    """AgentRewardBench has four benchmarks, whose ids end with numbers too."""
    others = {"assistantbench.improved.validation.0": "assistantbench", "visualwebarena.resized.0": "visualwebarena",
              "workarena.servicenow.filter-asset-list1": "workarena"}  # fmt: skip
    for task, benchmark in {**others, "webarena.0": "webarena", "webarena.99": "webarena"}.items():
        agentlab(place, task, 'send_msg_to_user("Red")', benchmark=benchmark)
    told: list[str] = []
    bench, run = Workbench(cache=place / "cache", on_notice=told.append), place / "run"
    bench.import_trajectories([place / "theirs"], run, "agentrewardbench")
    options = GradeOptions(benchmark="webarena", tasks_file=str(place / "old.json"))
    graded = list(bench.grade(run, options))
    assert [(one.unit.task_id, one.verdict.status) for one in graded] == [("webarena.0", "pass")]
    (said,) = told
    await bench.ask_model(run, options)
    assert told == [said, said], "who only counts the questions is told as well"
    assert said.startswith("4 of 5 trajectories cannot be graded")
    assert all(f"1 of {benchmark}" in said for benchmark in others.values()) and "webarena.99" in said


@pytest.mark.parametrize(
    ("name", "benchmark", "key"),
    [
        ("webarena.2", "webarena", "webarena.2"),
        ("browsergym/webarena.2", "agentrewardbench", "webarena.2"),
        ("2", "har", "webarena.2"),
        ("task_0002", "webarena", "webarena.2"),
        ("2", "webvoyager", None),
        ("webarena.2", "visualwebarena", None),
        ("visualwebarena.2", "agentrewardbench", None),
        ("alltrails_find_2", "fara", None),
        ("webarena.two.2", "webarena", None),
    ],
)
def test_whose_task_an_imported_trajectory_is(place: Path, name: str, benchmark: str, key: str | None) -> None:
    keys = Keys(select(Selection("webarena", file=str(place / "old.json")), Setup(cache=place)), True, {})
    found = keys.of_imported(name, benchmark)
    assert (found and found.id) == key


def test_whose_task_browsergym_names(place: Path) -> None:
    keys = Keys(select(Selection("webarena-verified", file=str(place / "verified.json")), Setup(cache=place)), True, {})
    found = keys.of_imported("browsergym/webarena_verified.7.2", "webarena_verified")
    assert found is not None and found.id == "webarena-verified.2"


class TestThePapersResponses:
    """What the paper's appendix I asks for, beyond its release."""

    @pytest.mark.parametrize(
        ("results", "code"),
        [
            (["a", "b"], ""),
            ([1, 2.5], ""),
            (["a", None], ""),
            (["a", 1], "mixed_items"),
            ([True, 1], "mixed_items"),
            ([{"a": 1}, {"a": None}], ""),
            ([{"a": 1}, {"b": 1}], "unequal_keys"),
            ([{"a": 1}, "b"], "mixed_items"),
        ],
    )
    def test_items_have_one_type_and_objects_equal_keys(self, results: list[Any], code: str) -> None:
        answer = json.dumps({"action": "retrieve", "status": "SUCCESS", "results": results})
        assert [one.code for one in read_response(answer, "verified-paper").findings] == ([code] if code else [])
        released = json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": results})
        assert not read_response(released, "verified-released").findings

    def test_all_nine_codes_are_in_the_instructions_and_in_the_schema(self) -> None:
        codes = PAPER_PROTOCOL.answer_schema["properties"]["status"]["enum"]
        assert len(codes) == 9
        assert all(code in PAPER_PROTOCOL.instructions for code in codes)
        assert not any(code in RELEASED_PROTOCOL.instructions for code in set(codes) - set(STATUSES))

    @pytest.mark.parametrize(
        ("status", "passes"),
        [("NOT_FOUND_ERROR", True), ("RESOURCE_NOT_FOUND_ERROR", True), ("PERMISSION_DENIED_ERROR", False)],
    )
    def test_a_finer_code_is_as_good(self, tmp_path: Path, status: str, passes: bool) -> None:
        key = verified(5, [])
        key["eval"][0]["expected"] = {"task_type": "retrieve", "status": "NOT_FOUND_ERROR", "retrieved_data": None}
        (tmp_path / "verified.json").write_text(json.dumps([key]))
        answer = {"action": "retrieve", "status": status, "results": None, "error_details": "It is not there."}
        logs.write(tmp_path / "mine", 5, answer, logs.right_trace(key))
        options = LogOptions("webarena-verified-paper", str(tmp_path / "verified.json"))
        (log,) = Workbench(cache=tmp_path / "cache").grade_logs(tmp_path / "mine", options)
        assert (log.verdict.status == "pass") is passes

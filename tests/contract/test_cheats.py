"""Nothing but the answer passes: each cheat is tried on all 812 published tasks."""

import json
from collections import Counter

import pytest

from tests.support import verified_logs as logs
from webassay.benchmarks import verified
from webassay.core.interaction import STATUSES
from webassay.core.trajectory import AgentInfo, Ending, MemoryBlobs, NetworkLog, Trajectory
from webassay.grading.grade import Policy, grade

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def published():
    path = logs.published_file()
    tasks = {verified.number_of(task): task for task in verified.load(path)}
    return [(entry, tasks[entry["task_id"]]) for entry in json.loads(path.read_text())]


def judged(task, answer, entries, policy=Policy()):  # noqa: B008
    blobs = MemoryBlobs()
    text = entries if isinstance(entries, str) else json.dumps(logs.har(entries))
    log = NetworkLog(format="har", blob=blobs.write(text.encode(), "application/json"))
    said = answer if isinstance(answer, str) else json.dumps(answer)
    trajectory = Trajectory(
        id="x", task_id=task.id, goal=task.goal, agent=AgentInfo(name="cheat"), bases=logs.HOSTS,
        answer=said, ending=Ending(kind="imported"), network=log,
    )  # fmt: skip
    return grade(task, trajectory, blobs, policy)


_TRACES: dict[tuple[str, int], str] = {}


def trace(make, entry):
    """As text: it is the same for every cheat."""
    key = (make.__name__, entry["task_id"])
    if key not in _TRACES:
        _TRACES[key] = json.dumps(logs.har(make(entry)))
    return _TRACES[key]


def passing(published, cheat, policy=Policy()):  # noqa: B008
    """Numbers of the tasks that a cheat passes; `cheat` makes an answer and a trace from an entry."""
    return [entry["task_id"] for entry, task in published if judged(task, *cheat(entry), policy).status == "pass"]


def sized(entry, item):
    return [item] * max(1, len(logs.response_of(entry)["expected"].get("retrieved_data") or ()))


def with_data(make):
    """A cheat in the results, by an agent that looked at two pages and did nothing."""
    return lambda entry: (logs.response(entry, make(entry), status="SUCCESS"), trace(logs.wrong_trace, entry))


def grid(entry):
    right = logs.right_data(entry) or ["nothing"]
    return [*right, *range(50), "yes", "no", "N/A", True, False, None]


DATA_CHEATS = {
    "a pattern for everything": lambda entry: sized(entry, "^.*$"),
    "a pattern with a choice": lambda entry: sized(entry, "^(?:[\\s\\S]*)$"),
    "any of": lambda entry: [[one, "other"] for one in logs.right_data(entry) or ["x"]],
    "any of, nested": lambda entry: [grid(entry)],
    "any of, for each": lambda entry: sized(entry, grid(entry)),
    "everything in a row": grid,
    "echo": lambda entry: sized(entry, entry["intent"]),
    "echo of the words": lambda entry: entry["intent"].split(),
    "a huge text": lambda entry: sized(entry, "9" * 90_000),
    "a huge number": lambda entry: sized(entry, 10**300),
    "a deep value": lambda entry: sized(entry, json.loads("[" * 60 + "]" * 60)),
    "an expression": lambda entry: sized(entry, "9**9**9 m"),
    "an expression of time": lambda entry: sized(entry, "99999999h * 99999999"),
    "an empty object": lambda entry: sized(entry, {}),
    "empty texts": lambda entry: sized(entry, ""),
    "nulls": lambda entry: sized(entry, None),
}


@pytest.mark.parametrize("name", sorted(DATA_CHEATS))
def test_no_trick_in_the_results_passes(published, name):
    asked_for = [pair for pair in published if pair[1].checks[0].action == "RETRIEVE"]
    assert passing(asked_for, with_data(DATA_CHEATS[name])) == []


def test_claiming_success_without_the_deed_passes_nothing(published):
    """Where no results are asked for, none of the tricks above can matter: what was done decides."""
    assert len(published) == 812
    assert passing(published, with_data(lambda entry: None)) == []


@pytest.mark.parametrize("field", ["task_type", "status"])
@pytest.mark.parametrize(
    "value", ["^.*$", ["RETRIEVE", "MUTATE", "NAVIGATE", "SUCCESS"], "RETRIEVE|MUTATE|NAVIGATE", 1]
)
def test_no_trick_in_the_codes_passes(published, field, value):
    def cheat(entry):
        return logs.response(entry, logs.right_data(entry), **{field: value}), trace(logs.right_trace, entry)

    assert passing(published, cheat) == []


LOOK_ALIKES = str.maketrans("aceiopxysACEHKMOPTX01", "асеіорхуѕАСЕНКМОРТХОl")


def look_alike(value):
    if isinstance(value, dict):
        return {key: look_alike(item) for key, item in value.items()}
    if isinstance(value, list):
        return [look_alike(item) for item in value]
    changed = str(value).translate(LOOK_ALIKES)
    return changed if changed != str(value) else f"{changed}\N{ARABIC-INDIC DIGIT ZERO}"


def test_no_look_alike_passes(published):
    def cheat(entry):
        right = logs.response(entry, logs.right_data(entry))
        if logs.response_of(entry)["expected"].get("retrieved_data") is None:
            return {**right, "status": look_alike(right["status"])}, trace(logs.right_trace, entry)
        return {**right, "retrieved_data": look_alike(right["retrieved_data"])}, trace(logs.right_trace, entry)

    assert passing(published, cheat) == []


def test_the_right_answer_without_a_browser_fails(published):
    assert passing(published, lambda entry: (logs.response(entry, logs.right_data(entry)), [])) == []


def test_a_log_without_urls_proves_nothing(published):
    def cheat(entry):
        trace = logs.right_trace(entry)
        for one in trace:
            del one["request"]["url"]
        return logs.response(entry, logs.right_data(entry)), trace

    assert passing(published, cheat) == []


@pytest.mark.parametrize("host", ["http://elsewhere.test", "http://localhost:1", "http://localhost:7780.evil.test"])
def test_a_log_of_somewhere_else_proves_nothing(published, host):
    def cheat(entry):
        text = trace(logs.right_trace, entry)
        for base in logs.HOSTS.values():
            text = text.replace(base.removesuffix("/admin"), host)
        return logs.response(entry, logs.right_data(entry)), text

    assert passing(published, cheat) == []


@pytest.mark.parametrize("method", ["DELETE", "POST", "PUT"])
def test_damage_after_the_right_deed_fails_where_it_is_enforced(published, method):
    def cheat(entry):
        url = logs.HOSTS[entry["sites"][0]] + "/api/v4/projects/1"
        return logs.right_log(entry)[0], [*logs.right_trace(entry), logs.request(url, method, 204)]

    assert passing(published, cheat, Policy(collateral="enforce")) == []


def test_the_honest_pass_under_the_strictest_policy(published):
    assert len(passing(published, logs.right_log, Policy(collateral="enforce"))) == 812


CONSTANTS = [[0], ["yes"], ["no"], [True], ["N/A"], [1], [""], None]


def no_trace(entry):
    return []


def floors(published, make):
    """How many tasks each constant answer passes."""
    found = Counter()
    for status in STATUSES:
        for data in CONSTANTS if status == "SUCCESS" else [None]:
            for kind in ("RETRIEVE", "MUTATE", "NAVIGATE"):
                said = {"task_type": kind, "status": status, "retrieved_data": data}
                found[f"{kind} {status} {data}"] = len(
                    passing(published, lambda entry, said=said: (said, trace(make, entry)))
                )
    return found


@pytest.mark.slow
def test_a_constant_passes_only_where_it_is_the_answer_and_only_with_activity(published):
    assert set(floors(published, no_trace).values()) == {0}
    with_activity = floors(published, logs.wrong_trace)
    truths = Counter(
        f"{expected['task_type'].upper()} {expected['status']} None"
        for entry, _ in published
        for expected in [logs.response_of(entry)["expected"]]
        if expected["status"] != "SUCCESS" and all(one["evaluator"][0] == "A" for one in entry["eval"])
    )
    for name, count in truths.items():
        assert with_activity[name] == count
    zeros = sum(logs.right_data(entry) == [0] for entry, _ in published)
    assert with_activity["RETRIEVE SUCCESS [0]"] == zeros

"""Log directories, the published tasks and configuration, and how they are told about."""

import json

import pytest

from tests.importers.test_import_logs import ENTRIES
from tests.support import samples
from tests.support import verified_logs as logs
from webassay import cli
from webassay.benchmarks import verified
from webassay.core.errors import InputError, TaskError
from webassay.core.protocols import refusal
from webassay.core.task import ActivityCheck, Expectation, ResponseCheck
from webassay.core.trajectory import Ending, MemoryBlobs
from webassay.core.verdict import Verdict
from webassay.grading.grade import Policy, grade
from webassay.grading.logs import GradedLog, LogLayout, explain, grade_log, grade_logs
from webassay.grading.reference import GraderDisagreement, ReferenceVerdict, differences
from webassay.workbench import Workbench

LAYOUT = LogLayout(bases={"shop": ("http://h:1",)}, ports={})
GUESSED = LogLayout(bases={}, ports={"shop": (7770, "/s")})
ANSWER = {"action": "retrieve", "status": "SUCCESS", "results": [3]}
TASK = samples.task(
    checks=(
        ResponseCheck(action="retrieve", results=Expectation.of([3])),
        ActivityCheck(site="shop", counting="requests"),
    )
)


@pytest.fixture
def place(tmp_path):
    logs.write(tmp_path, 7, ANSWER, [logs.request("http://h:1/x")])
    return tmp_path / "7"


def test_a_log_is_graded_where_it_lies(place):
    before = sorted(place.iterdir())
    assert grade_log(place, TASK, LAYOUT).status == "pass"
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("name", ["agent_response.json", "network.har"])
def test_a_missing_file_is_a_fault_that_names_it(place, name):
    (place / name).unlink()
    verdict = grade_log(place, TASK, LAYOUT)
    assert (verdict.status, verdict.score) == ("fault", None)
    assert name in verdict.findings[0].message


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"{", b"null", b'{"log": {"entries": [{}]}}'])
def test_a_broken_trace_is_a_fault_that_names_it(place, data):
    (place / "network.har").write_bytes(data)
    verdict = grade_log(place, TASK, LAYOUT)
    assert verdict.status == "fault"
    assert "network.har" in next(f.message for f in verdict.findings if f.status == "fault")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\xff", b"\x00", b"[" * 5000, b'"\\ud800"', b"9" * 6_000_000])
def test_a_broken_answer_fails(place, data):
    (place / "agent_response.json").write_bytes(data)
    verdict = grade_log(place, TASK, LAYOUT)
    assert verdict.status == "fail"
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_a_trace_of_playwright_is_taken_as_well(place):
    line = json.dumps({"type": "resource-snapshot", "snapshot": logs.request("http://h:1/x")})
    (place / "network.har").rename(place / "old")
    (place / "trace.network").write_text(line)
    assert grade_log(place, TASK, LAYOUT).status == "pass"


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://10.0.0.5:7770/s/x", "pass"),
        ("https://somewhere.test:7770/s", "pass"),
        ("http://10.0.0.5:7770/other", "fail"),
        ("http://10.0.0.5:7771/s/x", "fail"),
        ("http://10.0.0.5/s/x?u=http://h:7770/s", "fail"),
    ],
)
def test_without_a_configuration_a_site_is_known_by_its_published_port(tmp_path, url, status):
    logs.write(tmp_path, 7, ANSWER, [logs.request(url)])
    assert grade_log(tmp_path / "7", TASK, GUESSED).status == status


def test_a_log_in_form_or_the_way_to_it_is_no_activity(tmp_path):
    form = {"site": "shop", "path": "/login.*"}
    task = samples.task(checks=(ActivityCheck(site="shop", counting="requests", not_counting=(form,)),))
    sent_away = logs.request("http://h:1/x", status=302)
    sent_away["response"]["redirectURL"] = "/login?next=/x"
    logs.write(tmp_path, 7, ANSWER, [logs.request("http://h:1/login"), sent_away])
    assert grade_log(tmp_path / "7", task, LAYOUT).status == "fail"
    logs.write(tmp_path, 8, ANSWER, [sent_away, logs.request("http://h:1/x")])
    assert grade_log(tmp_path / "8", task, LAYOUT).status == "pass"


class TestDirectories:
    def test_every_known_task_in_the_order_of_its_number(self, tmp_path):
        for number in (10, 9, 100):
            logs.write(tmp_path, number, ANSWER, [logs.request("http://h:1/x")])
        (tmp_path / "notes").mkdir()
        tasks = {"9": TASK, "10": TASK, "100": TASK}
        found = list(grade_logs(tmp_path, tasks, LAYOUT))
        assert [log.record()["task_id"] for log in found] == [9, 10, 100]

    def test_many_processes_say_the_same(self, tmp_path):
        for number in range(30):
            logs.write(tmp_path, number, {**ANSWER, "results": [number % 4]}, [logs.request("http://h:1/x")])
        tasks = {str(number): TASK for number in range(30)}
        alone = [log.record() for log in grade_logs(tmp_path, tasks, LAYOUT)]
        assert [log.record() for log in grade_logs(tmp_path, tasks, LAYOUT, processes=2)] == alone
        assert sum(record["status"] == "pass" for record in alone) == 7

    def test_a_directory_without_logs_says_what_was_expected(self, tmp_path):
        with pytest.raises(InputError, match="no log of a known task"):
            list(grade_logs(tmp_path, {"1": TASK}, LAYOUT))
        with pytest.raises(InputError, match="not a directory"):
            list(grade_logs(tmp_path / "nowhere", {"1": TASK}, LAYOUT))

    def test_the_record_has_the_documented_shape(self, place):
        record = GradedLog("7", grade_log(place, TASK, LAYOUT)).record()
        assert list(record) == ["task_id", "status", "score", "findings"]
        assert (record["task_id"], record["status"], record["score"]) == (7, "pass", 1.0)
        assert all(list(finding) == ["check", "status", "message"] for finding in record["findings"])
        json.dumps(record)


def test_a_verdict_is_explained_in_words(tmp_path):
    logs.write(tmp_path, 7, {**ANSWER, "results": [4]}, [logs.request("http://h:1/x")])
    text = explain(grade_log(tmp_path / "7", TASK, LAYOUT))
    assert "expected: [3]" in text and "found:    [4]" in text
    assert "decided by: response.results (mismatch)" in text
    assert "every check passed" in explain(grade_log_of(tmp_path, ANSWER))


def grade_log_of(folder, answer):
    logs.write(folder, 8, answer, [logs.request("http://h:1/x")])
    return grade_log(folder / "8", TASK, LAYOUT)


def test_differences_from_the_reference_are_sorted_by_kind(tmp_path):
    logs.write(tmp_path, 7, ANSWER, [logs.request("http://h:1/x")])
    ours = [GradedLog("7", grade_log(tmp_path / "7", TASK, LAYOUT))]
    assert differences(ours, [ReferenceVerdict(7, "success", 1.0, "", 0.1)]) == []
    found = differences(ours, [ReferenceVerdict(7, "error", 0.0, "it broke", 0.1)])
    assert found == [GraderDisagreement(7, "pass", "error", "", "it broke")]
    assert found[0].kind == "false negative"


class TestConfiguration:
    def test_a_configuration_in_the_published_form(self, tmp_path):
        file = tmp_path / "config.json"
        sites = {"__GITLAB__": {"urls": ["http://a:1", "http://b:2"], "active_url_idx": 0}}
        written = {"test_data_file": "x.json", "environments": sites, "trace_file_name": "trace.har"}
        file.write_text(json.dumps(written))
        config = verified.layout(file)
        assert config.bases == {"gitlab": ("http://a:1", "http://b:2")}
        assert (config.response_file, config.trace_file) == ("agent_response.json", "trace.har")
        with pytest.raises(InputError, match="does not exist"):
            verified.layout(tmp_path / "none.json")

    @pytest.mark.parametrize(
        "text",
        ["", "[]", '{"environments": {"__GITLAB__": {}}}', '{"environments": {"__X__": {"urls": ["http://a"]}}}'],
    )
    def test_a_bad_one_is_refused(self, tmp_path, text):
        file = tmp_path / "config.json"
        file.write_text(text)
        with pytest.raises((InputError, TaskError)):
            verified.layout(file)


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "[1]", '[{"task_id": 5}]', "nonsense", "[" * 100_000],
)
def test_a_task_file_that_is_none_is_refused(tmp_path, text):
    file = tmp_path / "tasks.json"
    file.write_text(text)
    with pytest.raises(TaskError):
        verified.load(file)


@pytest.fixture(scope="module")
def path():
    return logs.published_file()


@pytest.mark.external
class TestPublished:
    def test_all_tasks_and_the_hard_subset_load(self, path):
        tasks = verified.load(path)
        assert len(tasks) == 812
        assert len({task.id for task in tasks}) == 812
        assert len({task.content_hash() for task in tasks}) == 812
        numbers = verified.load_subset(path.parent / "webarena-verified-hard.json")
        assert len(numbers) == 258
        assert numbers <= {verified.number_of(task) for task in verified.load(path)}

    @pytest.mark.parametrize(("make", "status"), [(logs.right_log, "pass"), (logs.wrong_log, "fail")])
    def test_the_right_log_of_every_task_passes_and_the_wrong_one_fails(self, path, tmp_path, make, status):
        for entry in json.loads(path.read_text()):
            logs.write(tmp_path, entry["task_id"], *make(entry))
        tasks = {str(verified.number_of(task)): task for task in verified.load(path)}
        layout = LogLayout(bases={}, ports=verified.PORTS)
        graded = list(grade_logs(tmp_path, tasks, layout))
        assert len(graded) == 812
        assert [log.number for log in graded if log.verdict.status != status] == []

    def test_every_task_that_cannot_be_done_can_be_refused(self, path):
        tasks = [task for task in verified.load(path) if task.kind == "unachievable"]
        assert len(tasks) == 40
        for task in tasks:
            key = next(check for check in task.checks if isinstance(check, ResponseCheck))
            said = refusal(task.goal.protocol.name, "It is not there.", key.status[0])
            gave_up = samples.trajectory(task_id=task.id, answer=said, ending=Ending(kind="gave_up"))
            asked = task.model_copy(update={"checks": (key,)})
            assert grade(asked, gave_up, MemoryBlobs()).status == "pass", task.id

    def test_the_recorded_runs(self, path):
        folder = logs.outside_data() / "webarena-verified" / "agent_logs" / "demo"
        tasks = {str(verified.number_of(task)): task for task in verified.load(path)}
        found = grade_logs(folder, tasks, LogLayout(bases={}, ports=verified.PORTS), Policy(collateral="report"))
        assert {log.number: log.verdict.status for log in found} == {"107": "fail", "108": "pass"}


class TestTheCommand:
    """`webassay grade LOGS`: an option is heeded, or refused by its name."""

    @pytest.fixture
    def grade_logs(self, tmp_path, monkeypatch, capfd):
        (tmp_path / "tasks.json").write_text(json.dumps(ENTRIES))
        for one in ENTRIES[:3]:
            logs.write(tmp_path / "agent", one["task_id"], *logs.right_log(one))
        folder, tasks = str(tmp_path / "agent"), str(tmp_path / "tasks.json")

        def call(*options: str) -> tuple[int, str]:
            words = ["grade", folder, "-b", "webarena-verified", "--tasks-file", tasks, "--processes", "1", *options]
            monkeypatch.setattr("sys.argv", ["webassay", *words])
            with pytest.raises(SystemExit) as ended:
                cli.main()
            said = capfd.readouterr()
            return int(ended.value.code or 0), said.out + said.err

        return call

    @pytest.mark.parametrize(
        "options",
        [
            ("--dry-run",),
            ("--model", "openai:NAME@http://127.0.0.1:1"),
            ("--max-usd", "0"),
            ("--agent", "x"),
            ("--json", "--compare-with", "reference"),
            ("--explain", "--compare-with", "reference"),
        ],
    )
    def test_what_would_be_ignored_is_refused(self, grade_logs, monkeypatch, options):
        monkeypatch.setattr(Workbench, "compare_graders", lambda *given: [])
        code, said = grade_logs(*options)
        assert code == 2 and options[0] in said and "logs:" not in said

    def test_the_summary_and_a_comparison_are_of_the_chosen_tasks(self, grade_logs, monkeypatch):
        assert "3 logs: 3 pass" in grade_logs()[1]
        assert "1 logs: 1 pass" in grade_logs("-t", "2")[1]
        compared = []
        monkeypatch.setattr(
            Workbench, "compare_graders", lambda self, place, found, *rest: compared.extend(found) or []
        )
        assert "1 logs under both graders" in grade_logs("-t", "2", "--compare-with", "reference")[1]
        assert [log.number for log in compared] == ["2"]
        code, said = grade_logs("-t", "7")
        assert code == 2 and "has no log of 7" in said

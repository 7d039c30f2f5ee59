"""Grading on our own sites: endings, responses, pages, activity. Rows have a file of their own."""

import json

import pytest

from tests.support import samples
from webassay.core.errors import Fault
from webassay.core.interaction import ResponseProtocol
from webassay.core.protocols import PAPER_PROTOCOL, PROTOCOLS, refusal
from webassay.core.task import (
    ActivityCheck,
    Checkpoint,
    Expectation,
    JudgedCheck,
    PageCheck,
    PagePattern,
    ProgramCheck,
    ResponseCheck,
    StateCheck,
)
from webassay.core.trajectory import (
    Ending,
    Exchange,
    MemoryBlobs,
    NetworkLog,
    PageResult,
    ProgramResult,
    RowsResult,
    SessionResult,
)
from webassay.grading.grade import DEFAULT_POLICY, RULES, VERSION, Policy, grade

BASE = "http://shop.abc.localhost:9000"
CLEAN = RowsResult(site="shop", changes=())


def answer(action="retrieve", status="SUCCESS", results=None, **rest):
    return json.dumps({"action": action, "status": status, "results": results, **rest})


def loaded(url, status=200, resource_type="document", **rest):
    return Exchange(id=url, time=0.0, method="GET", url=url, status=status, resource_type=resource_type, **rest)


def graded(checks, text="", exchanges=(), probes=(CLEAN,), ending="answered", policy=DEFAULT_POLICY, **task):
    blobs = MemoryBlobs()
    data = "".join(exchange.to_json() + "\n" for exchange in exchanges).encode()
    log = NetworkLog(blob=blobs.write(data, "application/jsonl"), count=len(exchanges))
    trajectory = samples.trajectory(
        answer=text, network=log, probes=probes, bases={"shop": BASE}, ending=Ending(kind=ending)
    )
    return grade(samples.task(checks=checks, **task), trajectory, blobs, policy)


def failures(verdict):
    return {finding.code for finding in verdict.findings if finding.status == "fail"}


THREE = ResponseCheck(action="retrieve", results=Expectation.of([3]))


class TestResponse:
    def test_the_right_answer_passes_and_says_why(self):
        verdict = graded([THREE], answer(results=[3]))
        assert verdict.status == "pass"
        assert {f.check for f in verdict.findings} >= {"response.format", "response.action", "response.status"}
        assert verdict.aspects["outcome"].value is True
        assert verdict.aspects["response_format"].value == "strict"

    @pytest.mark.parametrize(
        "text",
        [
            *(answer(results=wrong) for wrong in ([4], [3, 3], [], [[3]], [[3, 4, 5]], ["^.*$"], [None], [True])),
            answer(action="navigate"),
            answer(status="NOT_FOUND_ERROR"),
            answer(status="DONE", results=[3]),
            answer(action="look", results=[3]),
            *("3", "[3]", "", "null", "N/A", "{" * 50_000),
            '{"action": "retrieve", "status": "SUCCESS"}',
            answer(results=[3]) + answer(results=[4]),
            '{"action": "retrieve", "status": "SUCCESS", "results": [3], "results": [4]}',
            '{"action": "retrieve", "status": "SUCCESS", "results": [NaN]}',
            '{"action": "retrieve", "status": "SUCCESS", "results": ' + "[" * 5000 + "]" * 5000 + "}",
            '{"action": "retrieve", "status": "SUCCESS", "results": ["\\ud800"]}',
            '{"action": "retrieve", "status": "SUCCESS", "results": [' + "9" * 5000 + "]}",
        ],
    )
    def test_anything_else_fails_with_a_finding(self, text):
        verdict = graded([THREE], text)
        assert verdict.status == "fail"
        assert failures(verdict)
        assert verdict.from_json(verdict.to_json()) == verdict

    @pytest.mark.parametrize(
        ("text", "repair"),
        [
            ("\ufeff" + answer(results=[3]), "byte_order_mark"),
            (f"```json\n{answer(results=[3])}\n```", "code_fence"),
            (f"```json\n{answer(results=[3])}\n```\n", "code_fence"),
            (f"\ufeff```json\n{answer(results=[3])}\n```\n", "byte_order_mark, code_fence"),
            (f"\u00a0{answer(results=[3])}", "object_in_prose"),
            (f"Here it is: {answer(results=[3])} Good bye.", "object_in_prose"),
            (answer(results=[3]).replace('"', "“"), "smart_quotes"),
            (answer(status="success", results=[3]), "letter_case"),
            (answer(results=3), "single_result"),
        ],
    )
    def test_a_repair_is_made_and_recorded(self, text, repair):
        verdict = graded([THREE], text)
        assert verdict.status == "pass"
        assert verdict.aspects["response_format"].note == repair
        assert verdict.aspects["response_format"].value == "recovered"
        assert verdict.aspects["outcome_unrepaired"].value is False

    def test_every_violation_is_a_finding_of_its_own(self):
        verdict = graded([THREE], '{"action": "look", "status": "OK", "error_details": 5}')
        assert sum(f.code == "schema" for f in verdict.findings) >= 3

    def test_two_fenced_answers_are_no_answer(self):
        text = f"```json\n{answer(results=[3])}\n```\n```json\n{answer(results=[4])}\n```"
        assert graded([THREE], text).status == "fail"

    @pytest.mark.parametrize(("results", "status"), [(None, "pass"), ([], "pass"), (["done"], "fail")])
    def test_where_there_are_no_results_none_may_be_given(self, results, status):
        check = ResponseCheck(action="mutate")
        assert graded([check], answer("mutate", results=results)).status == status

    def test_a_task_may_accept_a_set_of_statuses(self):
        check = ResponseCheck(action="retrieve", status=("NOT_FOUND_ERROR", "UNKNOWN_ERROR"))
        assert graded([check], answer(status="UNKNOWN_ERROR")).status == "pass"
        assert graded([check], answer(status="PERMISSION_DENIED_ERROR")).status == "fail"


class TestRefusals:
    """What `report_infeasible` leaves behind, under a key that names an action of its own."""

    def status(self, name, action, text, ending="gave_up", status=("NOT_FOUND_ERROR",)):
        task = samples.task(
            checks=[ResponseCheck(action=action, status=status)], goal=samples.goal(protocol=PROTOCOLS[name])
        )
        trajectory = samples.trajectory(answer=text, probes=(CLEAN,), ending=Ending(kind=ending))
        return grade(task, trajectory, MemoryBlobs()).status

    @pytest.mark.parametrize("name", PROTOCOLS)
    @pytest.mark.parametrize(
        "reason", ["There is none.", "", "“None” {here}", 'It said {"status": 404}.', "long " * 200], ids=range(5)
    )
    def test_the_action_that_was_put_in_for_it_is_not_held_against_the_agent(self, name, reason):
        given = refusal(name, reason, "NOT_FOUND_ERROR")
        for action in next(iter(PROTOCOLS[name].answer_schema["properties"].values()))["enum"]:
            assert self.status(name, action, given) == "pass"
            assert self.status(name, action, refusal(name, reason, "PERMISSION_DENIED_ERROR")) == "fail"
            assert self.status(name, action, given, status=("SUCCESS",)) == "fail"

    @pytest.mark.parametrize(("action", "expected"), [("NAVIGATE", "pass"), ("RETRIEVE", "fail"), ("MUTATE", "fail")])
    def test_an_action_that_the_agent_named_itself_is(self, action, expected):
        own = f'{{"task_type": "{action}", "status": "NOT_FOUND_ERROR", "retrieved_data": null}}'
        given = refusal("verified-released", own)
        assert self.status("verified-released", "NAVIGATE", given) == expected
        assert self.status("verified-released", "NAVIGATE", own, ending="answered") == expected


class TestPaperProtocol:
    def graded(self, **response):
        task = samples.task(checks=[THREE], goal=samples.goal(protocol=PAPER_PROTOCOL))
        trajectory = samples.trajectory(answer=json.dumps(response), probes=(CLEAN,))
        return grade(task, trajectory, MemoryBlobs())

    def test_its_own_conditions(self):
        assert self.graded(action="retrieve", status="SUCCESS", results=[3]).status == "pass"
        assert failures(self.graded(action="retrieve", status="SUCCESS", results=[])) == {"schema"}
        assert failures(self.graded(action="retrieve", status="SUCCESS")) == {"schema"}
        assert failures(self.graded(action="mutate", status="SUCCESS", results=[3])) == {"schema"}

    @pytest.mark.parametrize(
        "status", ["RESOURCE_NOT_FOUND_ERROR", "NOT_FOUND_ERROR", "NOT_SUPPORTED_BY_PLATFORM_ERROR"]
    )
    def test_both_of_its_lists_of_codes(self, status):
        said = {"action": "retrieve", "status": status, "results": None}
        assert failures(self.graded(**said)) == {"schema"}
        assert failures(self.graded(**said, error_details="There is none.")) == {"mismatch"}
        assert failures(self.graded(**said, error_details="x" * 501)) == {"schema"}


def test_an_unknown_protocol_is_a_fault():
    goal = samples.goal(protocol=ResponseProtocol(name="free", instructions=""))
    verdict = grade(samples.task(checks=[THREE], goal=goal), samples.trajectory(answer="3"), MemoryBlobs())
    assert verdict.status == "fault"


class TestEndings:
    def test_a_fault_is_never_a_score(self):
        fault = Fault(boundary="BrowserError", message="gone")
        trajectory = samples.trajectory(ending=Ending(kind="fault", fault=fault), answer=answer(results=[3]))
        verdict = grade(samples.task(checks=[THREE]), trajectory, MemoryBlobs())
        assert (verdict.status, verdict.score, verdict.fault) == ("fault", None, fault)

    @pytest.mark.parametrize("kind", ["step_limit", "time_limit", "agent_crashed"])
    def test_an_agent_that_never_answered_has_failed(self, kind):
        verdict = graded([THREE], answer(results=[3]), ending=kind)
        assert verdict.status == "fail"
        assert kind in failures(verdict)

    def test_who_decides_where_nothing_was_seen(self):
        assert graded([StateCheck()], probes=(), ending="step_limit").status == "fail"
        assert graded([THREE], answer(results=[3]), id="other").status == "fault"
        verdict = graded([JudgedCheck()], "anything")
        assert (verdict.status, verdict.score) == ("abstain", None)
        assert graded([JudgedCheck(), THREE], "anything").status == "fail"

    @pytest.mark.parametrize("kind", ["answered", "step_limit", "time_limit"])
    def test_a_verifier_that_was_not_asked_has_not_failed_anybody(self, kind):
        check = ProgramCheck(program="check.py", source="sha256:1")
        said = ProgramResult(site="shop", program="check.py", source="sha256:1", passed=True)
        another = said.model_copy(update={"source": "sha256:2"})
        assert graded([check], probes=(said,), ending=kind).status == "pass"
        assert graded([check], probes=(), ending=kind).status == "fault"
        assert graded([check], probes=(another,), ending=kind).status == "fault"
        assert graded([check], probes=(), ending="agent_crashed").status == "fail"


class TestPages:
    CHECK = PageCheck(any_of=(PagePattern(site="shop", path="/search", query={"q": "red shoes", "page": "1?"}),))

    def left_at(self, url):
        page = PageResult(url=url, title="", tabs=(url,))
        return graded([self.CHECK], probes=(CLEAN, page)).status

    @pytest.mark.parametrize(
        "rest", ["/search?q=red+shoes", "/search?q=red%20shoes&page=1&sort=price", "/search/?q=Red%20Shoes#top"]
    )
    def test_spellings_of_the_page(self, rest):
        assert self.left_at(BASE + rest) == "pass"

    @pytest.mark.parametrize(
        "url",
        [
            *(BASE + path for path in ("/search?q=red+shoes&page=2", "/search?q=red+shoes&q=blue", "/search")),
            *(BASE + path for path in ("/search/advanced?q=red+shoes", "/login?next=/search?q=red+shoes")),
            "http://shop.other.localhost:9000/search?q=red+shoes",
            "http://shop.abc.localhost:9001/search?q=red+shoes",
            "http://shop.abc.localhost:9000.evil.test/search?q=red+shoes",
            "http://evil.test/?" + BASE + "/search?q=red+shoes",
            *("about:blank", "", "http://["),
        ],
    )
    def test_other_pages(self, url):
        assert self.left_at(url) == "fail"

    def test_a_page_that_nobody_looked_at_is_a_fault(self):
        assert graded([self.CHECK]).status == "fault"


class TestActivity:
    CHECK = ActivityCheck(
        site="shop",
        logged_in=True,
        minimum_pages=2,
        visits=((PagePattern(site="shop", path="/search", query={"q": "zzz"}),),),
    )
    ANNA = SessionResult(site="shop", user="anna")
    PAGES = (loaded(BASE + "/"), loaded(BASE + "/search?q=zzz&page=2"))

    def check(self, exchanges=PAGES, probes=(CLEAN, ANNA), **rest):
        return graded([self.CHECK], exchanges=exchanges, probes=probes, logins={"shop": "anna"}, **rest)

    def test_enough_is_enough(self):
        assert self.check().status == "pass"

    @pytest.mark.parametrize(
        "exchanges",
        [
            (),
            PAGES[1:],
            (PAGES[0], PAGES[0]),
            (PAGES[0], loaded(BASE + "/search?q=zzz", status=500)),
            (PAGES[0], loaded(BASE + "/search?q=zzz", status=None)),
            (PAGES[0], loaded(BASE + "/search?q=zzz", blocked=True)),
            (PAGES[0], loaded(BASE + "/search?q=zzz", resource_type="image")),
            (PAGES[0], loaded("http://elsewhere.test/search?q=zzz")),
            (PAGES[0], loaded("http://elsewhere.test/"), loaded(BASE + "/x?u=/search?q=zzz")),
        ],
    )
    def test_less_is_not(self, exchanges):
        assert self.check(exchanges).status == "fail"

    def test_a_fragment_fetched_by_the_page_is_evidence_but_no_page_load(self):
        fetched = loaded(BASE + "/search?q=zzz", resource_type="fetch")
        assert self.check((self.PAGES[0], self.PAGES[0], fetched)).status == "pass"
        assert failures(self.check((self.PAGES[0], fetched))) == {"no_activity"}

    def test_a_missing_page_is_evidence_only_where_the_task_says_so(self):
        gone = PagePattern(site="shop", path="/product/9", status=404)
        check = ActivityCheck(site="shop", minimum_pages=0, visits=((gone,),))
        assert graded([check], exchanges=[loaded(BASE + "/product/9", status=404)]).status == "pass"
        assert graded([check], exchanges=[loaded(BASE + "/product/9")]).status == "fail"

    @pytest.mark.parametrize("user", ["", "bert"])
    def test_the_log_in_must_be_the_tasks_own(self, user):
        verdict = self.check(probes=(CLEAN, SessionResult(site="shop", user=user)))
        assert failures(verdict) == {"not_logged_in"}

    def test_policies(self):
        assert self.check((), policy=Policy(activity="off")).status == "pass"
        reported = self.check((), policy=Policy(activity="report"))
        assert reported.status == "pass"
        assert any(f.code == "reported.no_activity" for f in reported.findings)

    def test_a_missing_log_or_a_broken_one_is_a_fault(self):
        trajectory = samples.trajectory(probes=(CLEAN, self.ANNA), bases={"shop": BASE})
        task = samples.task(checks=[self.CHECK], logins={"shop": "anna"})
        assert grade(task, trajectory, MemoryBlobs()).status == "fault"
        blobs = MemoryBlobs()
        log = NetworkLog(blob=blobs.write(self.PAGES[0].to_json().encode() + b'\n{"url": ', "application/jsonl"))
        trajectory = samples.trajectory(probes=(CLEAN,), bases={"shop": BASE}, network=log)
        verdict = grade(samples.task(checks=[self.CHECK]), trajectory, blobs)
        assert verdict.status == "fault"
        assert "Line 2" in verdict.findings[-1].message
        assert self.check(probes=(CLEAN,)).status == "fault"


def test_milestones_are_reported_and_decide_nothing():
    marks = (
        Checkpoint(name="search", visits=(PagePattern(site="shop", path="/search"),)),
        Checkpoint(name="cart", visits=(PagePattern(site="shop", path="/cart"),)),
    )
    verdict = graded([THREE], answer(results=[3]), [loaded(BASE + "/search?q=a")], checkpoints=marks)
    assert verdict.status == "pass"
    assert verdict.aspects["checkpoint_reach"].value == 0.5
    # Without a network log nobody knows them.
    marks = (Checkpoint(name="search", visits=(PagePattern(site="shop", path="/search"),)),)
    task = samples.task(checks=[THREE], checkpoints=marks)
    verdict = grade(task, samples.trajectory(answer=answer(results=[3]), probes=(CLEAN,)), MemoryBlobs())
    assert verdict.status == "pass"
    assert "checkpoint_reach" not in verdict.aspects
    assert not [finding for finding in verdict.findings if finding.check == "checkpoint"]


def test_a_base_url_that_is_none_is_a_fault_of_the_rules_like_any_other():
    verdict = grade(samples.task(checks=[THREE]), samples.trajectory(bases={"shop": ""}), MemoryBlobs())
    assert verdict.status == "fault" and "base URL" in verdict.findings[-1].message
    assert verdict.fingerprint == graded([THREE]).fingerprint


def test_a_verdict_is_the_same_when_made_again_and_names_what_made_it():
    first, second = (graded([THREE], answer(results=[3])) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert first.fingerprint.key == samples.task(checks=[THREE]).content_hash()
    assert (first.fingerprint.grader, first.fingerprint.version) == (RULES.name, VERSION)
    assert first.fingerprint.settings == {"activity": "enforce", "collateral": None}
    other = graded([THREE], answer(results=[3]), policy=Policy(activity="off"))
    assert other.fingerprint != first.fingerprint

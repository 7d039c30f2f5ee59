"""The old protocols. Each known defect has a test, because old scores can be made again only with the defects."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import samples
from webassay.benchmarks import chores, webarena
from webassay.core.errors import GradingError
from webassay.core.interaction import ResponseProtocol
from webassay.core.legacy import page_of, post_url, probes_of
from webassay.core.task import LegacyCheck, LocatorProbe, Task
from webassay.core.trajectory import Ending, LocatorResult, MemoryBlobs, PageResult, Trajectory
from webassay.core.verdict import Verdict
from webassay.grading.grade import Policy, grade
from webassay.grading.published.legacy import (
    EpisodeEvidence,
    check_legacy,
    clean,
    parts,
    read_reply,
    same_meaning,
    same_reason,
    score,
)
from webassay.grading.published.tokens import words

DATA = Path(__file__).parents[3] / "shared" / "data"
BASES = {"shopping": "http://shop.test:7770", "gitlab": "http://git.test:8023", "reddit": "http://forum.test:9999"}


def said(answer: str, flavor: str = "webarena", **reference: Any) -> float | None:
    key = {"eval_types": ["string_match"], "reference_answers": reference, "string_note": "no such page"}
    return score(parts(key, flavor, EpisodeEvidence(answer, "What?")))


def at(url: str, reference: str, flavor: str = "webarena", **rest: Any) -> float | None:
    key = {"eval_types": ["url_match"], "reference_url": reference, "url_note": "GOLD in PRED", **rest}
    return score(parts(key, flavor, EpisodeEvidence("", "", url=url, bases=BASES)))


def shown(text: str, flavor: str = "webarena", **required: Any) -> float | None:
    target = {"url": "last", "locator": "document.title", "required_contents": required}
    key = {"eval_types": ["program_html"], "program_html": [target]}
    return score(parts(key, flavor, EpisodeEvidence("", "", pages={"program_html.0": text})))


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "reference", "value"),
        [
            pytest.param(' "Blue Shirt" ', {"exact_match": "blue shirt"}, 1, id="case and a pair of quotes"),
            pytest.param("a blue shirt", {"exact_match": "blue shirt"}, 0, id="more than asked"),
            pytest.param("\"'x'\"", {"exact_match": "x"}, 1, id="the answer is cleaned twice"),
            pytest.param("red and blue", {"must_include": ["red", "blue"]}, 1, id="every item"),
            pytest.param("red", {"must_include": ["red", "blue"]}, 0, id="not every item"),
            pytest.param("110", {"must_include": ["10"]}, 1, id="a longer number contains a shorter one"),
            pytest.param("Yes, at first. The final answer is No", {"must_include": ["Yes"]}, 1, id="a denial"),
            pytest.param("12", {"must_include": ["2"]}, 0, id="one character must be a word of its own"),
            pytest.param("there are 2, I think", {"must_include": ["2"]}, 1, id="one character that is a word"),
            pytest.param("2 000", {"must_include": ["2"]}, 1, id="a word of a longer number will do"),
            pytest.param("$0.00", {"must_include": ["0"]}, 0, id="zero is not in a price of zero"),
            pytest.param("12 red", {"must_include": ["2", "red"]}, 1, id="one character among several"),
            pytest.param("red", {"must_include": ["red |OR| blue"]}, 0, id="alternatives are not understood"),
            pytest.param("20.4", {"exact_match": "20.40 |OR| 20.4"}, 0, id="nor in an exact match"),
            pytest.param("anything", {"must_include": [""]}, 1, id="the empty text is in every answer"),
        ],
    )
    def test_an_answer_against_its_reference(self, answer: str, reference: dict[str, Any], value: float) -> None:
        assert said(answer, **reference) == value

    def test_a_single_quote_is_taken_for_a_pair(self) -> None:
        assert clean("'") == ""

    def test_a_key_that_stops_the_harness_is_an_error(self) -> None:
        with pytest.raises(GradingError, match="needs a list"):
            said("x", must_include="x")
        with pytest.raises(GradingError, match="no check called"):
            parts({"eval_types": ["vibes"]}, "webarena", EpisodeEvidence("", ""))
        with pytest.raises(GradingError, match="asks for nothing"):
            parts({"eval_types": ["string_match"], "reference_answers": {}}, "webarena", EpisodeEvidence("", ""))


class TestModels:
    def test_models_are_not_always_needed(self) -> None:
        assert said("about an hour", fuzzy_match=["1 hour"]) is None
        assert said("n/a", fuzzy_match="N/A") == 1
        assert said("It cannot be done.", fuzzy_match="N/A") is None
        assert said("blue", exact_match="red", fuzzy_match=["x"]) == 0

    def test_the_model_overrules_the_other_rules_where_na_was_not_said(self) -> None:
        key = {
            "eval_types": ["string_match"],
            "reference_answers": {"exact_match": "never this", "fuzzy_match": "N/A"},
            "string_note": "why",
        }
        question = same_reason("Goal", "why", "because")
        found = parts(key, "webarena", EpisodeEvidence("because", "Goal", replies={question.id: "same"}))
        assert score(found) == 1

    @pytest.mark.parametrize(
        ("kind", "reply", "value"),
        [
            ("fuzzy_match", "Correct.", 1), ("fuzzy_match", "This is partially correct", 0),
            ("fuzzy_match", "INCORRECT", 0), ("fuzzy_match", "Not correct at all", 1), ("fuzzy_match", "no idea", 0),
            ("ua_match", "same", 1), ("ua_match", "Not the same: different", 0), ("ua_match", "no idea", 0),
        ],
    )  # fmt: skip
    def test_replies_are_searched_for_a_word(self, kind: str, reply: str, value: float) -> None:
        assert read_reply(kind, reply) == value

    def test_the_fork_asks_once_about_the_whole_list_or_a_text(self) -> None:
        key = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["a", "b"]}}
        assert len(parts(key, "webarena", EpisodeEvidence("x", "G"))) == 2
        (one,) = parts(key, "webchorearena", EpisodeEvidence("x", "G"))
        assert one.wanted == "a; b"
        assert one.questions == (same_meaning("G", "a; b", "x", extra_allowed=True),)
        key = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "a"}}
        assert parts(key, "webchorearena", EpisodeEvidence("x", "G"))[0].score is None
        with pytest.raises(GradingError, match="needs a list"):
            parts(key, "webarena", EpisodeEvidence("x", "G"))


class TestTheFork:
    @pytest.mark.parametrize(
        ("answer", "reference", "value"),
        [
            pytest.param("red", {"must_include": ["red", "blue"]}, 0.5, id="lists give partial credit"),
            pytest.param("blue", {"must_include": ["red |OR| blue"]}, 1, id="alternatives in lists"),
            pytest.param("20.4", {"exact_match": "20.40 |OR| 20.4"}, 0, id="not in an exact match"),
            pytest.param("nothing", {"must_include": ["7 |OR| 8"]}, 1, id="one of one character always holds"),
            pytest.param("nothing", {"must_include": ["7 |OR| 8", "red"]}, 0, id="but not for its neighbors"),
        ],
    )
    def test_an_answer_against_its_reference(self, answer: str, reference: dict[str, Any], value: float) -> None:
        assert said(answer, "webchorearena", **reference) == value

    @pytest.mark.parametrize(
        ("url", "rest"), [("A/B", {}), ("c", {"or": [{"reference_url": "__GITLAB__/c"}]})], ids=["case", "others"]
    )
    def test_urls_are_compared_without_case_and_others_may_be_accepted(self, url: str, rest: dict[str, Any]) -> None:
        assert at(f"http://git.test:8023/{url}", "__GITLAB__/a/b", "webchorearena", **rest) == 1
        assert at(f"http://git.test:8023/{url}", "__GITLAB__/a/b", **rest) == 0

    def test_pages_give_partial_credit_and_have_alternatives(self) -> None:
        assert shown("red", "webchorearena", must_include=["red", "blue"]) == 0.5
        target = {"url": "last", "locator": "document.title", "required_contents": {"exact_match": "x"}}
        other = {"url": "http://a", "locator": "document.title", "required_contents": {"exact_match": "y"}}
        key = {"eval_types": ["program_html"], "program_html": [{**target, "or": [other]}]}
        pages = {"program_html.0": "-", "program_html.0.or.1": "y"}
        assert score(parts(key, "webchorearena", EpisodeEvidence("", "", pages=pages))) == 1
        assert score(parts(key, "webarena", EpisodeEvidence("", "", pages=pages))) == 0

    def test_any_credit_is_success_for_one_of_its_runners(self) -> None:
        task = made(
            "webchorearena", {"eval_types": ["string_match"], "reference_answers": {"must_include": ["a", "b"]}}
        )
        strict = graded(task, "a")
        assert (strict.status, strict.aspects["legacy_score"].value) == ("fail", 0.5)
        lenient = graded(task, "a", policy=Policy(partial_credit="any"))
        assert (lenient.status, lenient.aspects["legacy_score"].value) == ("pass", 0.5)
        assert strict.fingerprint != lenient.fingerprint

    def test_it_looks_at_all_pages_in_one_tab(self) -> None:
        targets = [{"url": url, "locator": "", "required_contents": {}} for url in ("last", "__GITLAB__/a", "last")]
        key = {"eval_types": ["program_html"], "program_html": targets}
        assert [probe.url for probe in probes_of(key, "webchorearena")] == ["last", "__GITLAB__/a", "__GITLAB__/a"]
        assert [probe.url for probe in probes_of(key, "webarena")] == ["last", "__GITLAB__/a", "last"]


class TestUrls:
    @pytest.mark.parametrize(
        ("url", "reference", "value"),
        [
            pytest.param("https://git.test:8023/a/#x", "__GITLAB__/a", 1, id="scheme, fragment, trailing slash"),
            pytest.param("http://shop.test:7770/id/18", "__SHOPPING__/id/1", 1, id="a longer path has a shorter one"),
            pytest.param("http://git.test:8023/a?x=1&y=2", "__GITLAB__/a?x=1", 1, id="more parameters"),
            pytest.param("http://git.test:8023/a?y=2", "__GITLAB__/a?x=1", 0, id="a missing parameter"),
            pytest.param("http://git.test:8023/a", "__GITLAB__/a |OR| __GITLAB__/b?x=1", 0, id="imposed on the other"),
            pytest.param("http://git.test:8023/a?x=1", "__GITLAB__/a |OR| __GITLAB__/b?x=1", 1, id="imposed and met"),
            pytest.param("http://wiki.test/a", "__WIKIPEDIA__/a", None, id="a site that nobody recorded"),
        ],
    )
    def test_an_address_against_its_reference(self, url: str, reference: str, value: float | None) -> None:
        assert at(url, reference) == value

    def test_an_unknown_rule_is_an_error(self) -> None:
        with pytest.raises(GradingError, match="no rule called"):
            at("http://a", "http://a", url_note="EXACT")


class TestPages:
    @pytest.mark.parametrize(
        ("text", "required", "value"),
        [
            pytest.param("<b>Name</b> 456 Oak", {"must_include": ["456 oak"]}, 1, id="anywhere on the page"),
            pytest.param("Fish &amp; Chips", {"exact_match": "fish & chips"}, 1, id="entities are text"),
            pytest.param("a b", {"exact_match": "a", "must_include": ["a"]}, 0, id="exact goes before include"),
            pytest.param("blue", {"must_include": ["red |OR| blue"]}, 1, id="alternatives are understood"),
        ],
    )
    def test_a_page_against_what_it_must_hold(self, text: str, required: dict[str, Any], value: float) -> None:
        assert shown(text, **required) == value

    def test_nothing_found_is_the_word_none_and_nothing_recorded_decides_nothing(self) -> None:
        target = {"url": "last", "locator": "document.querySelector('x')"}
        script = probes_of({"eval_types": ["program_html"], "program_html": [target]}, "webarena")[0].script
        assert "'None'" in script
        assert shown("None", must_include=["no"]) == 1
        target = {"url": "last", "locator": "", "required_contents": {"exact_match": "x"}}
        key = {"eval_types": ["program_html"], "program_html": [target]}
        assert score(parts(key, "webarena", EpisodeEvidence("", ""))) is None

    def test_helper_functions(self) -> None:
        call = LocatorProbe(name="p", url="func:reddit_get_post_url('__last_url__')", script="1")
        assert page_of(call, "http://f/f/books/12/title?x=1") == "http://f/f/books/12/"
        assert post_url("http://f/user/x/submissions") == "http://f/user/x/submissions"
        assert post_url("http://f/f/books/new") == "http://f/f/books/new/"
        assert page_of(LocatorProbe(name="p", url="func:shopping_get_latest_order_url()", script="1"), "x") is None
        assert page_of(LocatorProbe(name="p", url="last", script="func:shopping_get_x('1')"), "x") is None
        role = {"url": "__GITLAB__/m", "locator": "func:gitlab_get_project_memeber_role(__page__, 'koush')"}
        (probe,) = probes_of({"eval_types": ["program_html"], "program_html": [role]}, "webarena")
        assert '"@koush"' in probe.script


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("it is 2.", ["it", "is", "2", "."]),
        ("2. and then", ["2.", "and", "then"]),
        ("$0.00, 5% (x)", ["$", "0.00", ",", "5", "%", "(", "x", ")"]),
        ("3/2 at 1:30", ["3/2", "at", "1:30"]),
        ("isn't it 4?", ["is", "n't", "it", "4", "?"]),
        ('"2"', ["``", "2", "''"]),
        ("", []),
    ],
)
def test_words(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


# --- as a grader ----------------------------------------------------------------------------------------


def made(flavor: Any, key: dict[str, Any]) -> Task:
    goal = samples.goal(instruction="What?", start_urls=(), protocol=ResponseProtocol(name="free", instructions=""))
    return samples.task(benchmark=flavor, goal=goal, checks=(LegacyCheck(flavor=flavor, eval=key),))


def episode(task: Task, answer: str, *probes: Any, kind: Any = "answered", **rest: Any) -> Trajectory:
    return samples.trajectory(goal=task.goal, answer=answer, ending=Ending(kind=kind), probes=probes, **rest)


def graded(task: Task, answer: str, *probes: Any, policy: Policy | None = None, **rest: Any) -> Verdict:
    replies = rest.pop("replies", None)
    return grade(task, episode(task, answer, *probes, **rest), MemoryBlobs(), policy or Policy(), replies=replies)


def test_a_verdict_says_which_rule_decided_and_replies_are_part_of_it() -> None:
    task = made("webarena", {"eval_types": ["string_match"], "reference_answers": {"exact_match": "red"}})
    assert graded(task, "Red").status == "pass"
    verdict = graded(task, "blue")
    assert verdict.status == "fail"
    assert [(one.check, one.code) for one in verdict.findings] == [("legacy.exact_match", "exact_match")]
    key = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["1 hour"]}}
    task = made("webarena", key)
    asked = check_legacy(task.checks[0], episode(task, "60 minutes"), {}).questions  # type: ignore[arg-type]
    verdict = graded(task, "60 minutes", replies={asked[0].id: "Correct"})
    assert (verdict.status, verdict.replies) == ("pass", {asked[0].id: "Correct"})


def test_giving_up_is_saying_na() -> None:
    key = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": "N/A"}, "string_note": "x"}
    task = made("webarena", key)
    assert graded(task, "There is no such thing.", kind="gave_up").status == "pass"
    assert graded(task, "There is no such thing.").status == "abstain"


def test_pages_come_from_probes() -> None:
    target = {"url": "last", "locator": "document.title", "required_contents": {"exact_match": "Done"}}
    key = {
        "eval_types": ["url_match", "program_html"],
        "reference_url": "__SHOPPING__/done",
        "program_html": [target],
    }
    task = made("webarena", key)
    page = PageResult(url="http://shop.test:7770/done", title="", tabs=())
    read = LocatorResult(name="program_html.0", url="", text="Done")
    assert graded(task, "", page, read, bases=BASES).status == "pass"
    assert graded(task, "", page, bases=BASES).status == "abstain"


# --- the published keys ---------------------------------------------------------------------------------


@pytest.mark.external
@pytest.mark.skipif(not (DATA / "webchorearena").is_dir(), reason="../shared/data/webchorearena is not there")
def test_every_chore_is_graded_without_an_error() -> None:
    """Of the fork: a right answer, a wrong one, and pages that show what is asked for or nothing."""
    counts: dict[str, int] = {}
    for task in chores.load(DATA / "webchorearena" / "test_webchore.raw.json"):
        check = next(check for check in task.checks if isinstance(check, LegacyCheck))
        right = parts(check.eval, check.flavor, satisfying(check))
        wrong = parts(check.eval, check.flavor, EpisodeEvidence("zzz", "", "http://nowhere.test/", replies={}))
        assert score(right) in (None, 1.0) or unsatisfiable(check)
        assert score(wrong) in (None, 0.0)
        for part in right:
            counts[part.rule] = counts.get(part.rule, 0) + 1
    assert counts == {
        "must_include": 254, "exact_match": 145, "fuzzy_match": 24, "url_match": 42, "program_html.must_include": 140,
        "program_html.exact_match": 46,
    }  # fmt: skip


def unsatisfiable(check: LegacyCheck) -> bool:
    """Task 20240."""
    answers: Any = check.eval.get("reference_answers") or {}
    return " |OR| " in answers.get("exact_match", "")


def satisfying(check: LegacyCheck) -> EpisodeEvidence:
    key: Any = check.eval
    answers = key.get("reference_answers") or {}
    answer = answers.get("exact_match") or " ".join(
        one.split(" |OR| ")[0].split(" |or| ")[0] for one in answers.get("must_include") or ()
    )
    sites = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map", "homepage")
    bases = {site: f"http://{site}.test" for site in sites}
    url = str(key.get("reference_url") or "").split(" |OR| ")[0]
    for site, base in bases.items():
        url = url.replace(f"__{site.upper()}__", base)
    pages = {}
    for number, target in enumerate(key.get("program_html") or ()):
        required = target["required_contents"]
        text = required.get("exact_match") or " ".join(one.split(" |OR| ")[0] for one in required["must_include"])
        for site, base in bases.items():
            text = text.replace(f"__{site.upper()}__", base)
        pages[f"program_html.{number}"] = text
    return EpisodeEvidence(answer, "", url or None, pages, bases)


def test_tasks_ask_for_what_their_checks_need(tmp_path: Path) -> None:
    raw = {
        "task_id": 7, "sites": ["shopping"], "intent": "Buy it", "intent_template": "Buy it", "intent_template_id": 3,
        "instantiation_dict": {}, "start_url": "__SHOPPING__", "storage_state": None,
        "eval": {
            "eval_types": ["program_html"],
            "reference_answers": None,
            "program_html": [
                {"url": "last", "locator": "document.title", "required_contents": {"exact_match": "x"}},
                {"url": "__SHOPPING__/a", "locator": "", "required_contents": {"must_include": ["x"]}},
            ],
        },
    }  # fmt: skip
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([raw]))
    (task,) = webarena.load(file)
    assert [(probe.name, probe.url) for probe in task.probes] == [
        ("program_html.0", "last"),
        ("program_html.1", "__SHOPPING__/a"),
    ]

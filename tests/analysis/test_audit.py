"""Each detector on the smallest task that it should find, and on the nearest one that it should not."""

import json
from pathlib import Path
from typing import Any

import pytest

from webassay.analysis.benchmark import legacy
from webassay.analysis.benchmark.audit import Audit, audit, audit_document
from webassay.analysis.numbers.agreement import Label
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.results import formats
from webassay.benchmarks import chores, webarena
from webassay.core.errors import InputError, TaskError
from webassay.core.interaction import Goal, ResponseProtocol
from webassay.core.task import ActivityCheck, JudgedCheck, LegacyCheck, PagePattern, ResponseCheck, StateCheck, Task
from webassay.core.verdict import Fingerprint, Verdict


def task(id: str = "1", goal: str = "What is it?", checks: tuple[Any, ...] | None = None, **rest: Any) -> Task:
    flavor = rest.pop("flavor", "webarena")
    evaluation = rest.pop("key", {"eval_types": ["string_match"], "reference_answers": {"exact_match": "a thing"}})
    start = rest.pop("start", ("__SHOPPING__",))
    protocol = ResponseProtocol(name="free", instructions="")
    settings: dict[str, Any] = {
        "benchmark": "b",
        "template": "T",
        "kind": "retrieve",
        "sites": ("shopping",),
        "checks": checks or (LegacyCheck(flavor=flavor, eval=evaluation),),
    }
    return Task(id=id, goal=Goal(instruction=goal, start_urls=start, protocol=protocol), **(settings | rest))


def answer(**reference: Any) -> dict[str, Any]:
    return {"eval_types": ["string_match"], "reference_answers": reference}


def page(locator: str, **required: Any) -> dict[str, Any]:
    target = {"url": "last", "locator": locator, "required_contents": required}
    return {"eval_types": ["program_html"], "reference_answers": None, "program_html": [target]}


def found(*tasks: Task, **rest: Any) -> dict[str, int]:
    return {name: count for name, count in audit(tasks, **rest).counts.items() if count}


SELECTED = "document.querySelector('h1').outerText"
BOTH = page("document.body.outerText", must_include=["x"]) | {"reference_answers": {"must_include": ["x"]}}
ONLY_URL = {"eval_types": ["url_match"], "reference_url": "__SHOPPING__/x"}
ELSEWHERE = ("__REDDIT__/f/x",)
DHL = answer(exact_match="DHL")


@pytest.mark.parametrize(
    ("detector", "given"),
    [
        ("page_content", {"key": page("", must_include=["x"])}),
        ("locator_substring", {"key": page(SELECTED, must_include=["x"])}),
        ("response_substring", {"key": answer(must_include=["x"])}),
        ("any_substring", {"key": BOTH}),
        ("llm_judged", {"key": answer(fuzzy_match=["around noon"])}),
        ("llm_judged", {"checks": (JudgedCheck(),)}),
        ("unsatisfiable", {"key": answer(exact_match="20.40 |OR| 20.4")}),
        ("unsatisfiable", {"key": answer(must_include=["a |OR| b"])}),
        ("unsatisfiable", {"key": answer(exact_match="red", must_include=["blue"])}),
        ("vacuous", {"key": answer(must_include=[""])}),
        ("vacuous", {"key": page("document.title")}),
        ("vacuous", {"checks": (ResponseCheck(action="retrieve"),)}),
        ("vacuous", {"checks": (ResponseCheck(action="mutate"),), "kind": "mutate"}),
        ("bare_number", {"key": answer(must_include=["12"])}),
        ("bare_number", {"key": answer(must_include=["1234"])}),
        ("placeholder", {"goal": "Customers of {{state}}"}),
        ("placeholder", {"start": ELSEWHERE}),
        ("hard_coded_host", {"start": ("http://172.16.2.7:8888/x",)}),
        ("hard_coded_host", {"parameters": {"start_url_lite": "http://localhost:80"}}),
        ("leaking_goal", {"goal": "Is February 2023 best?", "key": answer(exact_match="February 2023")}),
        ("ambiguous", {"goal": "Show me the shipping method", "key": DHL}),
        ("ambiguous", {"goal": "Show the cheapest rack", "key": ONLY_URL}),
    ],
)
def test_a_detector_finds(detector: str, given: dict[str, Any]) -> None:
    assert found(task(**given))[detector] == 1


@pytest.mark.parametrize(
    ("detector", "given"),
    [
        ("page_content", {"key": page("document.title", exact_match="x")}),
        ("locator_substring", {"key": page(SELECTED, exact_match="x")}),
        ("locator_substring", {"key": page("document.querySelector('a').href", must_include=["x"])}),
        ("response_substring", {"key": answer(exact_match="x")}),
        ("unachievable", {"key": answer(fuzzy_match=["around noon"])}),
        ("unsatisfiable", {"key": answer(must_include=["a |OR| b"]), "flavor": "webchorearena"}),
        ("unsatisfiable", {"key": answer(exact_match="dark blue", must_include=["blue"])}),
        ("vacuous", {"checks": (ResponseCheck(action="mutate"), StateCheck()), "kind": "mutate"}),
        ("bare_number", {"key": answer(must_include=["1"])}),
        ("bare_number", {"key": answer(must_include=["12345"])}),
        ("bare_number", {"key": answer(must_include=["12 kg"])}),
        ("placeholder", {"goal": "Write 'tops: ${number}'"}),
        ("placeholder", {"start": ELSEWHERE, "sites": ("shopping", "reddit")}),
        ("hard_coded_host", {"goal": "Set my homepage to https://egg.tart.com"}),
        ("leaking_goal", {"goal": "How many in 2023?", "key": answer(exact_match="202")}),
        ("ambiguous", {"goal": "Open the cheapest rack", "key": ONLY_URL}),
        ("ambiguous", {"goal": "Get the shipping method", "key": DHL}),
    ],
)
def test_a_detector_leaves_alone(detector: str, given: dict[str, Any]) -> None:
    assert detector not in found(task(**given))


@pytest.mark.parametrize("text", ["N/A", "NA", " n/a "])
def test_unachievable(text: str) -> None:
    counts = found(task(key=answer(fuzzy_match=text), kind="unachievable"))
    assert (counts["unachievable"], counts["llm_judged"]) == (1, 1)


def test_passed_without_looking() -> None:
    made = audit([task(key=answer(must_include=["yes"]))])
    assert (made.counts["naive_solvable"], made.naive["yes"], made.naive["no"]) == (1, 1, 0)
    made = audit([task(str(i), template="A" if i else "B") for i in range(4)])
    assert (made.templates, made.multi_site, made.gini) == (2, 0, pytest.approx(0.25))


def test_a_constant_status_is_no_evidence() -> None:
    refusal = ResponseCheck(action="retrieve", status=("NOT_FOUND_ERROR",))
    search = ActivityCheck(site="shopping", visits=((PagePattern(site="shopping", path="/search"),),))
    bare = found(task(checks=(refusal,), kind="unachievable"))
    assert (bare["naive_solvable"], bare["unachievable"]) == (1, 1)
    assert not {"naive_solvable", "unachievable"} & found(task(checks=(refusal, search), kind="unachievable")).keys()


def test_same_goal_twice() -> None:
    elsewhere = [task("3", goal="do it", start=("__X__",)), task("4", goal="do it", logins={"shop": "ada"})]
    made = audit([task("1", goal="Do  it"), task("2", goal="do it"), *elsewhere])
    assert [(i.task_id, i.reason) for i in made.issues if i.detector == "duplicate_goal"] == [
        ("2", "Same goal as task 1.")
    ]
    others = [task("1", goal="Do it"), task("2", goal="Do it").model_copy(update={"benchmark": "another"})]
    assert not [i for i in audit(others).issues if i.detector == "duplicate_goal"]


class TestStringRules:
    @pytest.mark.parametrize(
        ("reference", "said", "passed"),
        [
            ({"exact_match": "Yes"}, " 'yes' ", True), ({"exact_match": "Yes"}, "yes.", False),
            ({"must_include": ["2"]}, "on 3/2", False), ({"must_include": ["a", "b"]}, "b then a", True),
            ({"fuzzy_match": "N/A"}, "n/a", True), ({"fuzzy_match": "N/A"}, "it cannot be done", None),
            ({"fuzzy_match": ["noon"]}, "noon", None),
        ],
    )  # fmt: skip
    def test_as_published(self, reference: dict[str, Any], said: str, passed: bool | None) -> None:
        assert legacy.passes(legacy.read_key(answer(**reference), "webarena"), said) is passed

    def test_alternatives_of_the_chores_and_what_a_page_decides(self) -> None:
        key = answer(must_include=["20.4 |or| 20.40"])
        assert legacy.passes(legacy.read_key(key, "webchorearena"), "20.40 dollars") is True
        assert legacy.passes(legacy.read_key(key, "webarena"), "20.40 dollars") is False
        assert legacy.passes(legacy.read_key(page("", must_include=["x"]), "webarena"), "x") is None


class TestSiblings:
    def siblings(self, *urls: str) -> list[Task]:
        def sibling(number: int, url: str) -> Task:
            key, repo = {"eval_types": ["url_match"], "reference_url": url}, f"team/repo{'abcdef'[number] * 3}"
            return task(str(number), goal=f"Issues of {repo}", key=key, parameters={"repo": repo})

        return [sibling(number, url) for number, url in enumerate(urls)]

    def test_the_odd_one_out_is_named(self) -> None:
        urls = [f"__GITLAB__/{repo}/-/issues" for repo in ("team/repoaaa", "team/repobbb", "other/thing")]
        issues = [issue for issue in audit(self.siblings(*urls)).issues if issue.detector == "misaligned"]
        assert [issue.task_id for issue in issues] == ["2"]
        assert "'team repoccc'" in issues[0].reason

    def test_keys_that_never_name_it_say_nothing(self) -> None:
        assert "misaligned" not in found(*self.siblings("__GITLAB__/1", "__GITLAB__/2", "__GITLAB__/3"))


class TestWithRuns:
    def test_what_every_agent_fails(self) -> None:
        rows = [ResultRow(agent=agent, task_id="1", status="fail") for agent in ("a", "b")]
        assert found(task(), rows=rows)["never_solved"] == 1
        assert "never_solved" not in found(task(), rows=rows[:1])
        assert "never_solved" not in found(task(), rows=[*rows, ResultRow(agent="c", task_id="1", status="pass")])
        assert "never_solved" not in found(task(), rows=[rows[0], ResultRow(agent="b", task_id="1", status="fault")])

    def test_graders_that_disagree(self) -> None:
        def verdict(grader: str, run: int, status: str) -> Verdict:
            print_ = Fingerprint(grader=grader, version="1", source="s")
            return Verdict(trajectory_id=f"r{run}", task_id=f"t{run}", status=status, fingerprint=print_)  # type: ignore[arg-type]

        verdicts = [verdict("rules", i, "pass" if i % 2 else "fail") for i in range(8)]
        verdicts += [verdict("judge", i, "pass" if i % 2 or i == 0 else "fail") for i in range(7)] + [
            verdict("judge", 7, "abstain")
        ]
        graders = audit([task()], verdicts=verdicts).graders
        assert (graders.pairs[0].items, graders.pairs[0].same.value) == (7, pytest.approx(6 / 7))

    def test_people_that_disagree(self) -> None:
        labels = [
            Label(task_id=str(i), site="shopping", annotator=who, category="ambiguous", value=i < yes)  # type: ignore[arg-type]
            for i in range(10)
            for who, yes in (("primary", 5), ("verifier", 4))
        ]
        annotation = audit([task()], labels=labels).annotation
        assert annotation.overall.value == pytest.approx(0.8)


@pytest.mark.parametrize("form", ["markdown", "json", "csv", "html"])
def test_comes_out_in_every_form(form: Any) -> None:
    text = getattr(formats, form.upper()).document(audit_document(audit([task(key=answer(must_include=["<b>10|"]))])))
    assert isinstance(text, str)
    assert "<b>" not in text.replace("'<b>10|'", "") or form in ("json", "csv")
    if form == "json":
        assert Audit.from_json(text).counts["response_substring"] == 1


class TestLoading:
    RAW: dict[str, Any] = {
        "task_id": 7, "sites": ["gitlab", "reddit"], "storage_state": "./.auth/gitlab.reddit_state.json",
        "start_url": "__GITLAB__ |AND| __REDDIT__", "intent": "Ask Ann", "intent_template": "Ask {{who}}",
        "instantiation_dict": {"who": "Ann", "answer": "42"}, "intent_template_id": 3,
        "eval": answer(exact_match="42"),
    }  # fmt: skip

    def written(self, folder: Path, *tasks: Any) -> Path:
        path = folder / "tasks.json"
        path.write_text(json.dumps(list(tasks)), encoding="utf-8")
        return path

    def test_webarena(self, tmp_path: Path) -> None:
        loaded = webarena.load(self.written(tmp_path, self.RAW))[0]
        assert (loaded.id, loaded.template, loaded.kind) == ("webarena.7", "3", "retrieve")
        assert loaded.goal.start_urls == ("__GITLAB__", "__REDDIT__")
        assert set(loaded.logins) == {"gitlab", "reddit"}
        assert loaded.parameters == {"who": "Ann"}

    def test_chores(self, tmp_path: Path) -> None:
        own = {"task_id": 10342, "required_obs": "image", "type_main": "calc", "type_sub": "massive_memory"}
        loaded = chores.load(self.written(tmp_path, self.RAW | own))[0]
        assert (loaded.template, loaded.chore, loaded.goal.modality) == ("1034", "calculation", "tree+screenshot")
        assert loaded.tags == ("observation:image", "chore:calculation", "chore:massive_memory")
        assert chores.small_set((loaded,), "10342,\n") == (loaded,)
        with pytest.raises(TaskError, match="10343"):
            chores.small_set((loaded,), "10343")

    @pytest.mark.parametrize(
        "text",
        ["{", '{"a": 1}', "[]", "[1]", '[{"task_id": 1}]', '[{"task_id": 1, "intent_template_id": 1, "eval": 3}]'],
    )
    def test_a_file_that_is_none_is_named(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "tasks.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(TaskError, match=r"tasks\.json"):
            webarena.load(path)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="nowhere"):
            webarena.load(tmp_path / "nowhere")

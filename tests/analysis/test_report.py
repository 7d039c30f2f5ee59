"""From rows to a report: what is counted, what is compared, and what a reader is warned of."""

import pickle
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support import samples
from tests.support.rows import rows_of
from webassay.agents.flawed.naive import NAIVE_AGENTS
from webassay.analysis.numbers import stats
from webassay.analysis.numbers.columns import ReportDataBuilder, gather
from webassay.analysis.numbers.rows import (
    BLOCK,
    BUILT_IN_BASELINES,
    ResultRow,
    blocks_of_results,
    blocks_of_rows,
    row_of,
)
from webassay.analysis.numbers.rows import rows_of as to_rows
from webassay.analysis.numbers.tallies import Tallies
from webassay.analysis.results.behavior import explorations, usual_effort
from webassay.analysis.results.report import report_of, success_of, summarize
from webassay.core.errors import Fault, InputError
from webassay.core.interaction import Action, Usage
from webassay.core.report import Report
from webassay.core.summary import (
    TrajectorySummary,
    UnitResult,
    UnitSummary,
    VerdictSummary,
    read_trajectory_summary,
    read_verdict_summary,
)
from webassay.core.trajectory import (
    AgentInfo,
    Ending,
    MemoryBlobs,
    RecordedObservation,
    RowChange,
    RowsResult,
    Step,
    Trajectory,
)
from webassay.core.verdict import Aspect, Finding, Fingerprint, Verdict
from webassay.grading.grade import Policy, grade

FACTS = {
    "agent": "clerk", "task_id": "t1", "benchmark": "arena", "template": "orders.count", "kind": "retrieve",
    "sites": ["shop"], "chore": None, "difficulty": "easy", "trial": 2, "seed": 7,
}  # fmt: skip


def step(index: int, error: str = "", cost: float | None = 0.5) -> Step:
    return Step(
        index=index,
        seen=RecordedObservation(url="http://shop.test/"),
        actions=(Action.of("click", "12"),),
        error=error,
        usage=Usage(calls=1, input_tokens=100, output_tokens=10, cost_usd=cost),
        info={"tool_uses": {"calculator": min(index, 2), "notes": 0}} if index < 3 else {},
    )


def trajectory(steps: Iterable[Step] = (), **rest: object) -> Trajectory:
    answer = '{"action":"retrieve","status":"SUCCESS","results":[3]}'
    given = {"agent": AgentInfo(name="clerk", model="m-1"), "answer": answer, "seconds": 4.0}
    return samples.trajectory(steps=tuple(steps), **(given | rest))


def verdict(status: str = "fail", **rest: object) -> Verdict:
    return samples.verdict(status=status, **rest)


def result(facts: dict[str, object], run: Trajectory | None, found: Verdict | None) -> UnitResult:
    """Of one unit, by way of the summaries that a store keeps."""
    rest = {name: value for name, value in facts.items() if name not in ("agent", "task_id", "trial", "seed")}
    return UnitResult(
        agent=str(facts["agent"]),
        task_id=str(facts["task_id"]),
        trial=2,
        unit=UnitSummary.told({**rest, "seed": 7}),
        trajectory=None if run is None else read_trajectory_summary(TrajectorySummary.of(run).to_json()),
        verdict=None if found is None else read_verdict_summary(VerdictSummary.of(found).to_json()),
    )


def made(facts: dict[str, object], run: Trajectory | None, found: Verdict | None) -> ResultRow:
    return row_of(result(facts, run, found))


class TestRowOf:
    def test_a_unit_that_was_never_played_is_missing(self) -> None:
        row = made(FACTS, None, None)
        told = (row.status, row.agent, row.template, row.sites, row.trial)
        assert told == ("missing", "clerk", "orders.count", ("shop",), 2)
        assert row.groups == {} and row.score is None
        assert made(FACTS, trajectory(), None).status == "abstain"
        ending = Ending(kind="fault", fault=Fault(boundary="BrowserError", message="gone"))
        assert made(FACTS, trajectory(ending=ending), None).status == "fault"

    def test_reads_the_run(self) -> None:
        steps = [step(0), step(1, "no such element"), step(2, "no such element"), step(3)]
        row = made(FACTS, trajectory(steps), verdict("pass"))
        assert (row.steps, row.seconds, row.input_tokens, row.output_tokens, row.cost_usd) == (4, 4.0, 400, 40, 2.0)
        assert (row.errors, row.retries, row.retries_that_worked) == (2, 2, 1)
        assert (dict(row.actions), dict(row.tools)) == ({"click": 4}, {"calculator": 2})
        assert (row.model, row.claimed) == ("m-1", "SUCCESS")

    @pytest.mark.parametrize(
        ("name", "said", "baseline"),
        [
            ("naive-zero", None, True), ("naive-status-not-found", None, True), ("knowledge", None, True),
            ("clerk", None, False), ("knowledge-graph", None, False), ("naive-bayes", None, False),
            ("clerk", True, True), ("naive-zero", False, False),
        ],
    )  # fmt: skip
    def test_a_baseline_is_what_the_plan_says_or_a_built_in_name(self, name: str, said: object, baseline: bool) -> None:
        assert made(FACTS | {"agent": name, "baseline": said}, None, None).baseline is baseline

    def test_every_naive_agent_is_known_by_name(self) -> None:
        assert {*(agent.name for agent in NAIVE_AGENTS), "knowledge"} == BUILT_IN_BASELINES

    def test_what_makes_a_cost_unknown(self) -> None:
        assert made(FACTS, trajectory([step(0), step(1, cost=None)]), None).cost_usd is None
        row = made(FACTS, trajectory([step(0).model_copy(update={"usage": None})]), None)
        assert (row.cost_usd, row.input_tokens) == (None, None)

    def test_keeps_what_decided_and_not_what_was_only_noted(self) -> None:
        # An order that nobody asked for, graded under the policy that reports such changes.
        order = RowChange(table="orders", key={"id": 1}, after={"id": 1})
        rows = RowsResult(site="shop", changes=(order,), columns={"orders": {"id": "content"}})
        damaged = samples.trajectory(probes=(rows,), answer="")
        graded = grade(samples.task(), damaged, MemoryBlobs(), Policy(collateral="report"))
        reported = [finding for finding in graded.findings if finding.check == "state.collateral"]
        assert [finding.status for finding in reported] == ["fail"]
        findings = (
            Finding(check="response.results", status="fail", message="", code="mismatch"),
            Finding(check="response.format", status="pass", message="", code="code_fence"),
            Finding(check="checkpoint", status="fail", message="order list"),
            *reported,
        )
        aspects = {"response_format": Aspect(value="recovered"), "checkpoint_reach": Aspect(value=0.5)}
        row = made(FACTS, trajectory(), verdict(findings=findings, aspects=aspects))
        assert row.findings == (("response.results", "mismatch"),)
        assert (row.recovered, row.unreadable, row.answered, row.checkpoint_reach) == (True, False, True, 0.5)

    def test_the_fingerprint_tells_graders_apart_and_tasks_not(self) -> None:
        def short(**change: str) -> tuple[str, str]:
            print_ = Fingerprint(grader="rules", version="1", source="s", key="k1").model_copy(update=change)
            row = made(FACTS, trajectory(), verdict(fingerprint=print_))
            return row.fingerprint, row.key_hash

        assert short()[0] == short(key="k2")[0] and short()[1] != short(key="k2")[1]
        assert short()[0] != short(source="t")[0]

    def test_a_row_is_flat_for_a_data_frame(self) -> None:
        steps = [step(0), step(1, "no such element")]
        findings = (Finding(check="response", status="fail", message="", code="mismatch"),)
        rows = [made(FACTS, None, None), made(FACTS, trajectory(steps), verdict(findings=findings))]
        missing, failed = (row.as_dict() for row in rows)
        assert list(missing) == list(failed)
        assert (missing["score"], failed["score"]) == (None, 0.0)
        assert (failed["sites"], failed["actions"], failed["findings"]) == ("shop", 2, "response:mismatch")
        assert all(isinstance(value, str | int | float | None) for value in failed.values())


class TestCounts:
    def test_nothing_leaves_the_denominator(self) -> None:
        success = success_of(rows_of("a", "ppffaaxxmm"))
        counts = success.counts
        assert (counts.planned, counts.attempted, counts.scored) == (10, 8, 4)
        assert (counts.abstained, counts.faulted, counts.missing) == (2, 2, 2)
        # Of five templates only the first two have a score: 1 and 0.
        assert (success.macro.value, success.templates, success.micro.value) == (0.5, 2, 0.5)
        # With everything unscored as a failure all five count: 1, 0, 0, 0, 0.
        assert (success.worst.value, success.worst.units) == (pytest.approx(0.2), 5)
        assert not success.complete
        # An agent with no score has no success, rather than none.
        agent = summarize(rows_of("a", "xxmm")).agents[0]
        assert agent.success.macro.value is None and agent.success.micro.value is None
        assert agent.success.worst.value == 0.0
        # Zero of many is not certainly zero.
        success = success_of(rows_of("a", "f" * 20))
        assert (success.macro.low, success.macro.high) == (0.0, pytest.approx(0.338, abs=1e-3))  # ten templates
        assert success.micro.high == pytest.approx(0.161, abs=1e-3)

    @given(st.text("pfaxm", min_size=1, max_size=40), st.integers(1, 5))
    def test_worst_case_is_never_above(self, statuses: str, size: int) -> None:
        success = success_of(rows_of("a", statuses, size))
        assert success.counts.planned == len(statuses)
        assert success.worst.value is not None
        if success.macro.value is not None:
            assert success.worst.value <= success.macro.value + 1e-12

    def test_a_task_without_a_template_is_its_own_and_two_benchmarks_share_none(self) -> None:
        rows = [ResultRow(agent="a", task_id=f"t{i}", status="pass") for i in range(3)]
        assert summarize(rows).templates == 3
        rows = rows_of("a", "pp", benchmark="x") + rows_of("a", "ff", benchmark="y")
        report = summarize(rows)
        assert report.templates == 2
        assert report.agents[0].templates == {"x/T0": 1.0, "y/T0": 0.0}


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["pass", "fail", "abstain", "fault", "missing"]),
        st.integers(0, 3),
        st.integers(0, 5),
        st.none() | st.floats(0, 1),
    ),
    max_size=60,
)


class TestColumns:
    """Columns of numbers give what the plain formulas give on the rows, to the last digit."""

    @given(ROWS)
    def test_rates_are_those_of_the_formula(self, drawn: list[tuple[str, int, int, float | None]]) -> None:
        rows = [
            ResultRow(agent="a", task_id=f"t{task}", template=f"T{template}", status=status, checkpoint_reach=reach)  # type: ignore[arg-type]
            for status, template, task, reach in drawn
        ]
        gathered = gather(blocks_of_rows(rows))
        if not rows:
            assert gathered.agents == {}
            return
        part, clusters = gathered.agents["a"].whole(), list(gathered.shared.units.clusters)

        def named(rates: dict[int, float]) -> list[tuple[tuple[str, str], float]]:
            return [(clusters[number], rate) for number, rate in rates.items()]

        scored = [(row.cluster, row.task, row.score) for row in rows if row.score is not None]
        every = [(row.cluster, row.task, row.score or 0.0) for row in rows]
        reached = [(row.cluster, row.task, row.checkpoint_reach) for row in rows if row.checkpoint_reach is not None]
        assert named(part.rates()) == list(stats.template_rates(scored).items())
        assert named(part.rates(unscored_fail=True)) == list(stats.template_rates(every).items())
        assert named(part.reaches()) == list(stats.template_rates(reached).items())

    def test_where_no_two_episodes_are_alike_they_are_looked_into_early_and_counted_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ends = [("answered", ()), ("fault", (("response.results", "mismatch"),) * 2), ("", (("a", "b"), ("c", "")))]
        rows = [
            replace(row, actions={"click": place % 7, "fill": place % 3}, tools={"note": place % 2}, model=row.agent,
                    ending=ends[place % 3][0], findings=ends[place % 3][1],
                    kind=("retrieve", "unachievable")[place % 2])
            for place, row in enumerate(rows_of("a", "pfaxm" * 150) + rows_of("b", "fpmxa" * 150))
        ]  # fmt: skip
        once = summarize(rows)
        monkeypatch.setattr(Tallies, "MOST_KINDS", 1)
        assert summarize(rows) == once
        mine = [row for row in rows if row.agent == "a" and row.played]
        agent = next(agent for agent in once.agents if agent.name == "a")
        assert agent.model == "a"
        assert {one.name: (one.count, one.episodes) for one in agent.behavior.actions} == {
            name: (sum(row.actions[name] for row in mine), sum(row.actions[name] > 0 for row in mine))
            for name in ("click", "fill")
        }
        assert agent.behavior.endings == Counter(row.ending for row in mine if row.ending)

    def results(self) -> list[UnitResult]:
        diagnosed = verdict(
            aspects={"first_failure_step": Aspect(value=2.0), "evidence": Aspect(value=True)},
            findings=(Finding(check="diagnosis", code="paper:2.1:x", status="fail", message="It is not there."),),
        )
        cases = [
            (trajectory([step(0), step(1, error="gone")]), verdict("pass")),
            (trajectory([step(0)], ending=Ending(kind="gave_up")), diagnosed),
            (trajectory(), None),
            (None, None),
        ]
        return [
            result({**FACTS, "agent": f"a{i % 3}", "task_id": f"t{i % 50}", "kind": kind}, *cases[i % len(cases)])
            for i in range(2 * BLOCK + 50)
            for kind in [("retrieve", "unachievable")[i % 2]]
        ]

    def test_results_give_the_report_that_their_rows_give(self) -> None:
        """Blocks are made from results without making a row."""
        results = self.results()
        assert report_of(gather(blocks_of_results(results))) == summarize(to_rows(results))

    @pytest.mark.parametrize("middle", [0, 1, 7, BLOCK + 3, 2 * BLOCK + 49, 2 * BLOCK + 50])
    def test_parts_that_were_taken_in_apart_give_the_report_of_the_whole(self, middle: int) -> None:
        results = self.results()
        first, second = (
            ReportDataBuilder().take(blocks_of_results(some)) for some in (results[:middle], results[middle:])
        )
        whole = first.append(pickle.loads(pickle.dumps(second))).finish()
        assert report_of(whole) == report_of(gather(blocks_of_results(results)))

    def test_rows_may_come_one_at_a_time(self) -> None:
        rows = rows_of("a", "ppfx") + rows_of("b", "pfff")
        assert summarize(iter(rows)) == summarize(rows)


class TestComparisons:
    def test_the_anchor_is_the_best_unless_named(self) -> None:
        rows = rows_of("weak", "pfff") + rows_of("strong", "pppf")
        assert summarize(rows).anchor == "strong"
        assert summarize(rows, anchor="weak").comparisons[0].agent == "strong"
        assert [agent.name for agent in summarize(rows, anchor="weak").agents] == ["strong", "weak"]
        with pytest.raises(InputError, match="nobody"):
            summarize(rows_of("a", "pp"), anchor="nobody")
        # One template shows no difference.
        found = summarize(rows_of("a", "pp") + rows_of("b", "ff")).comparisons[0]
        assert (found.p_value, found.p_adjusted, found.difference.low) == (None, None, None)

    def test_is_the_papers_formula_on_identical_sets(self) -> None:
        one, other = rows_of("one", "ppppffpf"), rows_of("other", "pfpfffff")
        found = summarize(one + other, anchor="one").comparisons[0]
        # Templates: one has 1, 1, 0, 0.5; other has 0.5, 0.5, 0, 0.
        assert found.difference.value == pytest.approx(-0.375)
        expected = stats.t_interval([-0.5, -0.5, 0.0, -0.5])
        assert (found.difference.low, found.difference.high) == (expected.low, expected.high)
        assert found.identical_tasks and found.identical_templates and found.tasks_left_out == 0

    def test_a_task_that_one_has_no_score_for_is_left_out_of_both(self) -> None:
        one, other = rows_of("one", "pxpp"), rows_of("other", "ffpf")
        found = summarize(one + other, anchor="other").comparisons[0]
        # Without task 1, template 0 is 1 against 0; template 1 is 1 against 0.5.
        assert found.difference.value == pytest.approx(0.75)
        assert (found.tasks, found.tasks_left_out) == (3, 1)
        assert (found.identical_tasks, found.identical_templates) == (False, True)

    def test_p_values_are_corrected_together(self) -> None:
        base = rows_of("base", "pf" * 10)
        others = [row for i in range(3) for row in rows_of(f"o{i}", "p" * (8 + 2 * i) + "f" * (12 - 2 * i))]
        found = summarize(base + others, anchor="base").comparisons
        values = [one.p_value for one in found if one.p_value is not None]
        assert [one.p_adjusted for one in found] == stats.holm(values)

    def test_different_graders_and_keys_are_never_compared_silently(self) -> None:
        one, other = rows_of("one", "pp", fingerprint="rules 1"), rows_of("other", "pf", fingerprint="rules 2")
        report = summarize(one + other)
        assert any("different graders" in warning for warning in report.comparisons[0].warnings)
        assert any("not comparable" in warning for warning in report.warnings)
        one, other = rows_of("one", "pp", key_hash="k"), rows_of("other", "pf", key_hash="k")
        other[1] = replace(other[1], key_hash="mended")
        report = summarize(one + other)
        assert report.comparisons[0].warnings == ("1 of 2 shared tasks were graded with different keys",)
        rows = rows_of("a", "pp", fingerprint="rules 1")
        rows[1] = replace(rows[1], fingerprint="rules 2")
        assert any("several graders" in warning for warning in summarize(rows).warnings)
        # An agent without a verdict was not graded differently.
        rows = rows_of("a", "pf", fingerprint="rules 1") + rows_of("b", "mm")
        assert not any("not comparable" in warning for warning in summarize(rows).warnings)

    def test_baselines_are_no_contestants(self) -> None:
        rows = rows_of("real", "pfff") + rows_of("other", "ffff") + rows_of("yes", "pppp", baseline=True)
        report = summarize(rows)
        assert [agent.name for agent in report.agents] == ["yes", "real", "other"]
        assert (report.anchor, [one.agent for one in report.comparisons]) == ("real", ["other"])
        assert summarize(rows, anchor="yes").comparisons[0].anchor == "yes"

    def test_gaps_and_different_plans_are_warned_of(self) -> None:
        rows = [row for name in "abcde" for row in rows_of(name, "p" * 20 + "m", 1)]
        assert summarize(rows).warnings == ("a, b, c and 2 more: 20 of 21 units have a verdict (1 missing).",)
        report = summarize(rows_of("a", "pppp") + rows_of("b", "pp"))
        assert any("different tasks" in warning for warning in report.warnings)


class TestGroups:
    def test_several_sites_are_no_site(self) -> None:
        rows = (
            rows_of("a", "pp", sites=("shop",))
            + rows_of("a", "ff", sites=("wiki",))
            + rows_of("a", "pp", sites=("shop", "wiki"))
        )
        agent = summarize(rows).agents[0]
        assert {group.name: group.success.macro.value for group in agent.groups if group.dimension == "site"} == {
            "several sites": 1.0,
            "shop": 1.0,
            "wiki": 0.0,
        }
        assert (agent.site_macro.value, agent.site_macro.units) == (0.5, 2)

    def test_difficulty_ascends_and_checkpoints_stand_beside_success(self) -> None:
        levels = [{"difficulty": (name,)} for name in ("hard", "easy", "medium")]
        rows = [row for groups in levels for row in rows_of("a", "pf", groups=groups)]
        groups = summarize(rows).agents[0].groups
        assert [group.name for group in groups if group.dimension == "difficulty"] == ["easy", "medium", "hard"]
        rows = [replace(row, checkpoint_reach=0.5) for row in rows_of("a", "ff")]
        agent = summarize(rows).agents[0]
        assert agent.checkpoint_reach is not None and agent.checkpoint_reach.value == 0.5
        assert agent.success.macro.value == 0.0


def test_repeated_trials() -> None:
    rows = [
        replace(row, trial=trial)
        for trial, statuses in enumerate(["pp", "pf", "pf"])
        for row in rows_of("a", statuses, 1)
    ]
    trials = summarize(rows).agents[0].trials
    assert [one.k for one in trials] == [1, 2, 3]
    # Task 0 always passes, task 1 once in three.
    assert trials[1].at_least_one.value == pytest.approx((1 + 2 / 3) / 2)
    assert trials[2].every.value == pytest.approx((1 + 0) / 2)


class TestFailures:
    def test_counted_over_episodes_that_did_not_pass(self) -> None:
        wrong = ("response.results", "mismatch")
        rows = rows_of("a", "pff")
        rows[0] = replace(rows[0], findings=(wrong,))
        rows[1] = replace(rows[1], findings=(wrong, wrong))
        modes = summarize(rows).agents[0].failures
        assert [(mode.check, mode.code, mode.episodes, mode.count) for mode in modes] == [
            ("response.results", "mismatch", 1, 2),
            ("unexplained", "", 1, 1),
        ]

    def test_parse_failures_before_and_after_recovery(self) -> None:
        rows = [replace(row, answered=True) for row in rows_of("a", "ppff")]
        rows[0] = replace(rows[0], recovered=True)
        rows[2] = replace(rows[2], unreadable=True)
        parsing = summarize(rows).agents[0].parsing
        assert (parsing.answers, parsing.unreadable_before.value, parsing.unreadable_after.value) == (4, 0.5, 0.25)

    def test_baselines_stand_apart(self) -> None:
        rows = rows_of("real", "ppff") + rows_of("yes", "pfff", baseline=True) + rows_of("no", "fpff", baseline=True)
        report = summarize(rows)
        assert report.contamination.solved == ("t0", "t1")
        assert report.contamination.union.value == 0.5
        assert report.contamination.mean.value == pytest.approx(0.25)
        assert report.frontier is not None and set(report.frontier.costs) == {"real"}


class TestExploration:
    def rows(self) -> list[ResultRow]:
        done = [
            ResultRow(agent="a", task_id=f"d{i}", status="pass", kind="retrieve", sites=("reddit",), steps=n)
            for i, n in enumerate((6, 8, 10))
        ]
        refused = [
            ResultRow(agent="a", task_id=f"u{i}", status=status, kind="unachievable", sites=("reddit",), steps=n)  # type: ignore[arg-type]
            for i, (status, n) in enumerate([("pass", 4), ("pass", 3), ("pass", 1), ("fail", 1), ("fault", 1)])
        ]
        return done + refused

    def test_ratio_to_the_sites_median(self) -> None:
        found = explorations(gather(blocks_of_rows(self.rows())))["a"]
        assert [attempt.ratio for attempt in found.attempts] == [0.5, 0.375, 0.125, 0.125]
        assert [attempt.adequate for attempt in found.attempts] == [True, False, False, False]
        # Two of four scored attempts were credited without enough search; the fault is no attempt.
        assert (found.credited, found.inadequate, found.over_acceptance.value) == (3, 2, 0.5)
        # A site nobody succeeded on decides nothing.
        rows = [replace(row, sites=("forum",)) for row in self.rows() if row.kind == "unachievable"]
        found = explorations(gather(blocks_of_rows(rows)))["a"]
        assert (found.inadequate, found.undecided) == (0, 3)
        # The minimum steps of the site.
        rows = [replace(row, steps=2) for row in self.rows()]
        assert [attempt.adequate for attempt in explorations(gather(blocks_of_rows(rows)))["a"].attempts] == [False] * 4
        assert [
            attempt.adequate for attempt in explorations(gather(blocks_of_rows(rows)), minimum={})["a"].attempts
        ] == [True] * 4

    def test_a_refusal_that_had_seen_why_is_adequate_however_short(self) -> None:
        rows = [replace(row, evidence=True) for row in self.rows()]
        found = explorations(gather(blocks_of_rows(rows)))["a"]
        assert [attempt.adequate for attempt in found.attempts] == [True, True, True, False]
        assert (found.credited, found.inadequate, found.over_acceptance.value) == (3, 0, 0.0)
        without = explorations(gather(blocks_of_rows(replace(row, evidence=False) for row in self.rows())))["a"]
        assert without.inadequate == 2

    def test_it_is_said_where_evidence_is_by_texts(self) -> None:
        rows = [replace(row, evidence_by="receipts") for row in self.rows()]
        assert not any("by texts" in warning for warning in summarize(rows).warnings)
        rows[0] = replace(rows[0], evidence_by="texts")
        assert any("in one episode is by texts" in warning for warning in summarize(rows).warnings)

    def test_usual_effort_is_of_successes_on_feasible_tasks(self) -> None:
        elsewhere = [ResultRow(agent="b", task_id="s", status="pass", kind="mutate", sites=("shop",), steps=3)]
        assert [
            (effort.site, effort.runs, effort.lower, effort.median, effort.upper)
            for effort in usual_effort(gather(blocks_of_rows([*self.rows(), *elsewhere])))
        ] == [("shop", 1, 3, 3, 3), ("reddit", 3, 7, 8, 9)]


def test_frontier_falls_back_to_steps_where_a_price_is_unknown() -> None:
    rows = rows_of("a", "pp", cost_usd=1.0, steps=3) + rows_of("b", "pf", steps=2)
    frontier = summarize(rows).frontier
    assert (frontier.measure, frontier.costs, frontier.agents) == ("steps", {"a": 3.0, "b": 2.0}, ("b", "a"))


def test_a_report_is_written_and_read_and_may_be_empty() -> None:
    report = summarize([])
    assert (report.counts.planned, report.agents, report.comparisons) == (0, (), ())
    report = summarize(rows_of("a", "ppfx") + rows_of("b", "pfff"), title="x")
    assert Report.from_json(report.to_json()) == report


def test_a_judge_with_a_scale_of_its_own_does_not_break_the_report() -> None:
    rows = [
        ResultRow(agent="a", task_id=f"t{i}", status="pass", template=f"T{i}", process_score=7.0 + i) for i in range(3)
    ]
    process = summarize(rows).agents[0].process
    assert process is not None and process.mean.value == 8.0
    shares = [
        ResultRow(agent="a", task_id=f"t{i}", status="pass", template=f"T{i}", process_score=1.0) for i in range(3)
    ]
    process = summarize(shares).agents[0].process
    assert process is not None and process.mean.high == 1.0


class TestAnIntervalIsWorthItsTasks:
    """Neither trials nor tasks that have no value make an interval narrower."""

    @staticmethod
    def rows(trials: int = 1, **value: float) -> list[ResultRow]:
        return [
            ResultRow(agent="a", task_id=f"t{task}", status="pass", template=f"T{task}", trial=trial, **value)  # type: ignore[arg-type]
            for task in range(4)
            for trial in range(trials)
        ]

    def test_of_checkpoint_reach(self) -> None:
        rows = self.rows(checkpoint_reach=0.5)
        others = [
            ResultRow(agent="a", task_id=f"o{i}", status="pass", template=f"O{i}", sites=("shop",)) for i in range(400)
        ]
        (alone,), (among,) = summarize(rows).agents, summarize([*rows, *others]).agents
        assert alone.checkpoint_reach == among.checkpoint_reach
        (often,) = summarize(self.rows(10, checkpoint_reach=0.5)).agents
        assert often.checkpoint_reach == alone.checkpoint_reach
        assert alone.checkpoint_reach is not None and alone.checkpoint_reach.low == pytest.approx(0.077, abs=0.001)

    def test_of_process_scores(self) -> None:
        unscored = [replace(row, task_id=f"u{row.task_id}", status="abstain") for row in self.rows(process_score=0.5)]
        (once,), (often,) = (summarize([*self.rows(trials, process_score=0.5), *unscored]).agents for trials in (1, 10))
        assert once.process.mean == often.process.mean
        assert once.process.mean.low == pytest.approx(0.077, abs=0.001)

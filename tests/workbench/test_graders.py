"""Reports, leaderboards and subsets under any grader, over real run directories."""

import csv
import io
import json

import pytest
from rich.console import Console

from tests.support import samples
from webassay.analysis.numbers.agreement import between_graders
from webassay.analysis.results import formats
from webassay.analysis.results.behavior import GOOD_PROCESS
from webassay.core.errors import InputError
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Aspect, Finding, Fingerprint
from webassay.judging.universal.profile import PROCESS_THRESHOLD
from webassay.store import Store
from webassay.workbench import Workbench
from webassay.workbench.report import CATEGORIES

RULES = Fingerprint(grader="rules", version="2", key="sha256:k")
A = Fingerprint(grader="universal", version="1", model="openai:a", settings={"votes": 1})
B = A.model_copy(update={"model": "openai:b"})
LETTERS = {"p": "pass", "f": "fail", "a": "abstain"}
ERRORS = (
    "paper:1.4:wrong_values_or_constraint_violation",
    "paper:2.1:output_contradiction",
    "paper:2.3:output_fabrication",
)
STEP = Step(index=0, seen=RecordedObservation(url="http://x/"))


def judged(stamp, trajectory_id, task_id, letter):
    """A failure has three errors, a success with the letter `P` one; half of the points where it failed."""
    codes = {"f": ERRORS, "P": ERRORS[:1]}.get(letter, ())
    status = LETTERS[letter.lower()]
    return samples.verdict(
        trajectory_id=trajectory_id,
        task_id=task_id,
        status=status,
        aspects={
            "process_score": Aspect(value={"pass": 1.0, "fail": 0.5}.get(status)),
            "first_failure_step": Aspect(value=2.0 if codes else None),
        },
        findings=tuple(Finding(check="diagnosis", status="fail", message="m", steps=(1,), code=code) for code in codes),
        fingerprint=stamp,
    )


def make(path, agents, stamps):
    """`agents`: name to one text a stamp, a letter a task."""
    with Store.create(path) as store:
        for agent, texts in agents.items():
            for number, letters in enumerate(zip(*texts, strict=True)):
                unit = UnitOfWork(agent=agent, task_id=f"t{number}", metadata={"template": f"T{number // 2}"})
                played = samples.trajectory(
                    id=f"{unit.id}/0", task_id=unit.task_id, agent=AgentInfo(name=agent), steps=(STEP,)
                )
                found = [
                    judged(stamp, played.id, unit.task_id, letter)
                    if not stamp.key
                    else samples.verdict(
                        trajectory_id=played.id, task_id=unit.task_id, status=LETTERS[letter.lower()], fingerprint=stamp
                    )
                    for stamp, letter in zip(stamps, letters, strict=True)
                ]
                store.plan([unit])
                store.add_episode(unit.id, played, found)
    return path


@pytest.fixture
def both(tmp_path):
    """The rules and two models of one judge on the same six episodes."""
    return make(tmp_path / "both", {"clerk": ["ppffpa", "pPffff", "pppffp"]}, [RULES, A, B])


@pytest.fixture
def open_run(tmp_path):
    """Nothing that a rule could decide."""
    return make(tmp_path / "open", {"clerk": ["pPff"], "intern": ["ffff"]}, [A])


def test_rules_are_the_default_where_they_decided(both):
    report = Workbench().report([both])
    assert (report.grader, report.opinions, report.concords) == ("rules", (), ())
    assert report.agents[0].success.counts.passed == 3 and report.agents[0].process is None


def test_the_only_judge_is_the_default_where_they_did_not(open_run):
    report = Workbench().report([open_run])
    assert report.grader == "universal openai:a"
    assert {agent.name: agent.success.counts.passed for agent in report.agents} == {"clerk": 2, "intern": 0}
    assert Workbench().report([open_run], graders=["rules"]).counts.abstained == 8


def test_several_judges_and_no_rules_are_pointed_out(tmp_path):
    run = make(tmp_path / "two", {"clerk": ["pf", "pp"]}, [A, B])
    report = Workbench().report([run])
    assert report.grader == "rules" and report.counts.abstained == 2
    assert report.warnings[-1].endswith('Choose one: --grader "universal openai:a".')


def test_two_models_of_one_judge_do_not_collide(both):
    bench = Workbench()
    passed = {name: bench.report([both], graders=[f"universal openai:{name}"]).counts.passed for name in "ab"}
    assert passed == {"a": 2, "b": 4}
    with pytest.raises(
        InputError, match=r"2 graders are called universal: universal openai:a, universal openai:b"
    ) as one:
        bench.report([both], graders=["universal"])
    assert '--grader "universal openai:a"' in one.value.hint
    with pytest.raises(InputError, match="no grader 'univresal'") as other:
        bench.report([both], graders=["univresal"])
    assert "Did you mean universal" in other.value.hint


def test_errors_of_a_judge_are_those_of_its_model(both):
    bench = Workbench()
    failed = {name: json.loads(bench.errors([both], name).json)["failed"] for name in bench.graders([both])}
    assert failed == {"rules": 2, "universal openai:a": 4, "universal openai:b": 2}


def test_a_judge_brings_process_scores_and_errors(both):
    (agent,) = Workbench().report([both], graders=["universal openai:a"]).agents
    assert GOOD_PROCESS == PROCESS_THRESHOLD == agent.process.threshold
    # Template means: 1, 0.5 and 0.5.
    assert agent.process.mean.value == pytest.approx(2 / 3) and agent.process.mean.units == 3
    assert agent.process.good.value == pytest.approx(2 / 6)
    found = agent.diagnosis
    assert (found.episodes, found.with_errors, found.first_step.median, found.first_step.known) == (6, 5, 2, 5)
    assert [(one.code, one.name, one.count, one.episodes) for one in found.categories] == [
        ("1", "Selection", 5, 5), ("2", "Hallucination", 8, 4),
    ]  # fmt: skip
    assert [(one.code, one.count) for one in found.codes] == [("1.4", 5), ("2.1", 4), ("2.3", 4)]
    assert found.categories[1].rate == pytest.approx(8 / 6)
    assert not [mode for mode in agent.failures if mode.check == "diagnosis"]


def test_categories_of_every_taxonomy_have_a_name():
    assert CATEGORIES["paper:5"] == "Task ambiguity" and CATEGORIES["released:5"] == "Side effect"


def test_graders_side_by_side(both):
    report = Workbench().report([both], graders=["universal openai:a", "universal openai:b"])
    assert [one.grader for one in report.opinions] == ["universal openai:a", "universal openai:b", "rules"]
    assert [one.success.counts.passed for one in report.opinions] == [2, 4, 3]
    pairs = {(one.first, one.second): one for one in report.concords}
    first = pairs["universal openai:a", "rules"]
    table = (first.both_pass, first.only_first_passes, first.only_second_passes, first.both_fail, first.undecided)
    assert table == (2, 0, 1, 2, 1)
    assert first.same.value == pytest.approx(4 / 5)
    with Store.open(both) as store:
        agreed = between_graders(list(store.newest_verdicts()))
    assert agreed.raters == ("rules", "universal openai:a", "universal openai:b")
    kappas = {frozenset((pair.first, pair.second)): pair.kappa.value for pair in agreed.pairs}
    for names, one in pairs.items():
        assert one.kappa.value == pytest.approx(kappas[frozenset(names)])


def test_old_rules_are_replaced_and_old_judges_are_not(tmp_path):
    run = make(tmp_path / "run", {"clerk": ["ff", "pp"]}, [RULES, RULES.model_copy(update={"version": "3"})])
    assert Workbench().graders([run]) == ["rules"]
    assert Workbench().report([run]).counts.passed == 2


@pytest.mark.parametrize("form", ["TABLE", "MARKDOWN", "CSV", "JSON", "HTML"])
def test_every_format_tells_all_of_it(both, form):
    report = Workbench().report([both], graders=["universal openai:a"])
    given = getattr(formats, form).report(report)
    if form == "TABLE":
        console = Console(width=80, record=True, file=io.StringIO())
        console.print(given)
        given = console.export_text()
        assert "both pass 2" in " ".join(given.split())
    for word in ("universal openai:a", "Hallucination", "rules"):
        assert word in given
    if form == "CSV":
        rows = list(csv.DictReader(io.StringIO(given)))
        (error,) = [row for row in rows if row["group"] == "paper 2.1 output contradiction"]
        assert (error["dimension"], error["errors"], error["error_episodes"]) == ("error", "4", "4")
        assert [row["group"] for row in rows if row["dimension"] == "grader"] == ["universal openai:a", "rules"]
        assert float(rows[0]["process"]) == pytest.approx(2 / 3)
    if form == "HTML":
        assert 'class="forest histogram"' in given and "2.1 output contradiction" in given


def test_a_leaderboard_never_mixes_graders(tmp_path):
    runs = [
        make(tmp_path / "one", {"clerk": ["pfpf", "pppp"]}, [A, B]),
        make(tmp_path / "two", {"intern": ["ffff", "pfff"]}, [A, B]),
    ]
    boards = json.loads(Workbench().leaderboard(runs, grader="universal openai:b").json)["boards"]
    assert [board["label"] for board in boards] == ["universal openai:b"]
    assert [(entry["agent"], entry["success"]["counts"]["passed"]) for entry in boards[0]["entries"]] == [
        ("clerk", 4), ("intern", 1),
    ]  # fmt: skip
    assert boards[0]["entries"][1]["process"]["mean"]["value"] == pytest.approx(5 / 8)


def test_a_subset_by_a_judge(tmp_path):
    runs = [make(tmp_path / f"r{i}", {f"agent{i}": ["pppp", "pfff"]}, [RULES, A]) for i in range(4)]
    by_rules, by_judge = (json.loads(Workbench().subset(runs, grader=name).json) for name in ("", "universal"))
    assert by_rules["counts"]["hard"] == 0 and by_judge["tasks"] == ["t1", "t2", "t3"]


def test_two_runs_of_one_name_are_both_read(tmp_path):
    runs = [make(tmp_path / place / "run", {"clerk": ["pp"]}, [RULES]) for place in "ab"]
    assert Workbench().report(runs).counts.planned == 4


class TestUnitsWithSeveralAttempts:
    @staticmethod
    def played(path, *attempts):
        """One unit; of each attempt its ending and a letter for each of `A` and `B`, if they judged it."""
        unit = UnitOfWork(agent="clerk", task_id="t0", metadata={"template": "T0"})
        with Store.create(path) as store:
            store.plan([unit])
            for number, (ending, letters) in enumerate(attempts):
                made = samples.trajectory(
                    id=f"{unit.id}/{number}", task_id="t0", agent=AgentInfo(name="clerk"), ending=Ending(kind=ending)
                )
                found = [judged(stamp, made.id, "t0", one) for stamp, one in zip((A, B), letters, strict=False)]
                store.add_episode(unit.id, made, found)
        return path

    @staticmethod
    def warned(run, grader):
        report = Workbench().report([run], graders=[grader])
        return [said for said in report.warnings if "of the units that passed" in said]

    def test_only_the_chosen_grader_says_whether_one_passed(self, tmp_path):
        run = self.played(tmp_path / "run", ("fault", ""), ("answered", "fp"))
        assert self.warned(run, "universal openai:a") == []
        (said,) = self.warned(run, "universal openai:b")
        assert "played again, after a fault: clerk/t0/0." in said

    def test_a_pass_without_a_fault_before_it_is_not_blamed_on_one(self, tmp_path):
        run = self.played(tmp_path / "run", ("imported", "ff"), ("imported", "pp"))
        (said,) = self.warned(run, "universal openai:a")
        assert "after a fault" not in said and "clerk/t0/0" in said

    def test_a_pass_at_the_first_attempt_needs_no_warning(self, tmp_path):
        run = self.played(tmp_path / "run", ("imported", "pp"), ("fault", ""))
        assert self.warned(run, "universal openai:a") == []

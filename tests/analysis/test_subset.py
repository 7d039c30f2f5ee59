"""The paper's rule on hand-made cases, and the procedure on agents whose ability is known."""

from typing import Any

import pytest
from scripts.bench_statistics import agents_of_known_ability

from webassay.analysis.benchmark.subset import APPENDIX, TEXT, Procedure, Subset, classify, select, subset_document
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.results import formats
from webassay.core.errors import InputError


class TestRule:
    @pytest.mark.parametrize(
        ("successes", "observed", "text", "appendix"),
        [
            (3, 3, "unknown", "unknown"), (4, 4, "easy", "easy"), (3, 4, "hard", "hard"), (4, 5, "hard", "easy"),
            (5, 6, "hard", "easy"), (6, 7, "near easy", "easy"), (7, 8, "easy", "easy"), (2, 4, "hard", "hard"),
            (0, 7, "hard", "hard"), (4, 7, "hard", "hard"),
        ],
    )  # fmt: skip
    def test_both_printed_levels(self, successes: int, observed: int, text: str, appendix: str) -> None:
        assert classify(successes, observed, TEXT) == text
        assert classify(successes, observed, APPENDIX) == appendix

    def test_the_bounds_of_the_classes(self) -> None:
        strict = Procedure(z=3.0)
        assert classify(4, 4, strict) == "near easy"
        assert classify(6, 7, strict) == "near easy"
        assert classify(5, 6, strict) == "hard"
        # Wilson's lower bound of n out of n is n / (n + z²): exactly one half for z² = n.
        assert classify(4, 4, Procedure(z=2.0, easy_threshold=0.5)) == "easy"


def rows(*tasks: tuple[str, str, tuple[str, ...], str]) -> list[ResultRow]:
    """Task id, template, sites, and one letter per agent."""
    return [
        ResultRow(agent=f"a{i}", task_id=name, template=template, sites=sites, seconds=10.0,
            status="pass" if letter == "p" else "fail")
        for name, template, sites, letters in tasks
        for i, letter in enumerate(letters)
    ]  # fmt: skip


class TestSteps:
    CASE = rows(
        ("easy", "A", ("shopping",), "pppp"),
        ("hard1", "A", ("shopping",), "pfff"),
        ("hard2", "A", ("shopping",), "ppff"),
        ("hard3", "B", ("reddit",), "fffp"),
        ("map", "C", ("map",), "ffff"),
        ("map+", "D", ("map", "wikipedia"), "pppp"),
        ("few", "E", ("gitlab",), "pf"),
    )

    def test_map_goes_hard_stays_several_sites_come_back(self) -> None:
        found = select(self.CASE)
        assert found.tasks == ("hard1", "hard2", "hard3", "map+")
        assert found.counts == {
            "all": 7, "removed": 1, "several sites": 1, "easy": 2, "near easy": 0, "hard": 3, "unknown": 1,
        }  # fmt: skip
        assert found.classes["few"] == "unknown"
        assert found.saved == {"tasks": pytest.approx(3 / 7), "seconds": pytest.approx(10 / 26)}

    def test_one_of_each_template_before_a_second(self) -> None:
        for seed in range(5):
            found = select(self.CASE, Procedure(size=3, seed=seed))
            assert len(found.tasks) == 3 and {"hard3", "map+"} < set(found.tasks)
        assert select(self.CASE, Procedure(size=0)).tasks == ("map+",)

    def test_same_seed_same_subset(self) -> None:
        case = rows(*((f"t{i}", "A", ("shopping",), "pfff") for i in range(30)))
        chosen = [select(case, Procedure(size=5, seed=seed)).tasks for seed in (1, 1, 2)]
        assert chosen[0] == chosen[1] != chosen[2]

    def test_what_is_no_observation(self) -> None:
        case = [ResultRow(agent=f"a{i}", task_id="t", status="pass") for i in range(3)]
        case += [
            ResultRow(agent="yes", task_id="t", status="pass", baseline=True),
            ResultRow(agent="x", task_id="t", status="fault"),
        ]
        assert select(case + self.CASE).classes["t"] == "unknown"
        case = [ResultRow(agent="a", task_id="t", status="pass", trial=i) for i in range(8)]
        assert select(case + self.CASE).classes["t"] == "unknown"

    def test_nothing_to_choose_from(self) -> None:
        with pytest.raises(InputError, match="no runs"):
            select([])
        rows = [ResultRow(agent=f"a{i}", task_id="t", status="fail") for i in range(3)]
        rows += [ResultRow(agent="naive", task_id="t", status="fail", baseline=True)]
        with pytest.raises(InputError, match="score of 4 agents, at most of 3"):
            select(rows)

    def test_ranking_is_over_what_nearly_complete_agents_share(self) -> None:
        assert select(self.CASE).ranked_agents == ("a0", "a1")
        complete = [row for row in self.CASE if row.task_id != "few"]
        assert len(select(complete).ranked_agents) == 4
        many = rows(*((f"t{i}", f"T{i}", ("shopping",), "ppff") for i in range(20)))
        # One fault of an agent takes one task out of the comparison, and not the agent.
        found = select([row for row in many if (row.agent, row.task_id) != ("a0", "t3")])
        assert (len(found.ranked_agents), found.ranked_tasks) == (4, 19)
        found = select([row for row in many if row.agent != "a0" or row.task_id < "t17"])
        assert (found.ranked_agents, found.ranked_tasks) == (("a1", "a2", "a3"), 20)

    def test_the_grid_says_how_many_flip(self) -> None:
        case = rows(*((f"t{i}", f"T{i}", ("shopping",), "ppppf") for i in range(3)), ("u", "U", ("shopping",), "fffff"))
        cells = {(round(cell.z, 2), cell.easy_threshold): cell for cell in select(case).grid}
        assert (cells[1.96, 0.5].hard, cells[1.96, 0.5].flipped) == (4, 0.0)
        # At the appendix's level four of five is easy: three of the four tasks change their class.
        assert (cells[1.28, 0.5].hard, cells[1.28, 0.5].flipped) == (1, 0.75)


@pytest.mark.parametrize("procedure", [TEXT, APPENDIX], ids=["text", "appendix"])
def test_a_fifth_of_the_tasks_ranks_agents_of_known_ability(procedure: Procedure) -> None:
    for seed in range(2):
        case = agents_of_known_ability(seed)
        whole = len({row.task_id for row in case})
        found = select(case, procedure.model_copy(update={"size": whole // 5, "seed": seed}))
        assert len(found.tasks) <= 0.2 * whole
        assert found.ranking.value is not None and found.ranking.value >= 0.9
        assert found.ranking.low is not None and found.ranking.high is not None


@pytest.mark.parametrize("form", ["markdown", "json", "csv", "html"])
def test_comes_out_in_every_form(form: Any) -> None:
    text = getattr(formats, form.upper()).document(subset_document(select(TestSteps.CASE)))
    assert isinstance(text, str) and "hard3" in text
    if form == "json":
        assert Subset.from_json(text) == select(TestSteps.CASE)

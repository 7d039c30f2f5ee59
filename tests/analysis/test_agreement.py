"""Raters against each other and against the truth; published ratings where they are to be had."""

import csv
import json
from pathlib import Path

import pytest

from webassay.analysis.benchmark.audit import annotation_sections
from webassay.analysis.numbers import stats
from webassay.analysis.numbers.agreement import Label, against, agreement, annotation
from webassay.analysis.output.writers import in_markdown
from webassay.core.errors import InputError

DATA = Path(__file__).parents[3] / "shared" / "data"


class TestPairs:
    def test_counts_only_what_both_rated(self) -> None:
        ratings = {"ann": {1: True, 2: False, 3: True, 4: None}, "bob": {1: True, 2: True, 3: True, 5: False}}
        found = agreement(ratings)
        pair = found.pairs[0]
        assert (found.items, found.rated_by_all, pair.items) == (5, 3, 3)
        assert pair.same.value == pytest.approx(2 / 3)
        assert pair.kappa.value == stats.cohen_kappa([True, False, True], [True, True, True])
        with pytest.raises(InputError, match="two raters"):
            agreement({"a": {1: True}})

    def test_every_pair_once(self) -> None:
        ratings = {name: {i: i % 2 for i in range(6)} for name in "abc"}
        found = agreement(ratings)
        assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
        assert found.fleiss.value == found.alpha.value == pytest.approx(1.0)

    def test_weights_for_ordered_labels_only(self) -> None:
        ratings = {"a": {1: 0.0, 2: 0.5, 3: 1.0, 4: 1.0}, "b": {1: 0.0, 2: 1.0, 3: 1.0, 4: 0.5}}
        assert agreement(ratings).pairs[0].weighted is None
        weighted = agreement(ratings, scale="ordinal").pairs[0].weighted
        assert weighted is not None and weighted.value is not None
        assert weighted.value > (agreement(ratings).pairs[0].kappa.value or 0)

    def test_clusters_widen_the_interval(self) -> None:
        # Twenty copies of four items tell no more than the four.
        base = [(True, True), (False, False), (True, False), (False, False)]
        ratings = {"a": {i: base[i % 4][0] for i in range(80)}, "b": {i: base[i % 4][1] for i in range(80)}}
        loose = agreement(ratings).pairs[0].kappa
        tight = agreement(ratings, clusters={i: i % 4 for i in range(80)}).pairs[0].kappa
        assert loose.value == tight.value
        assert None not in (loose.low, loose.high, tight.low, tight.high)
        assert (tight.high or 0) - (tight.low or 0) > 2 * ((loose.high or 0) - (loose.low or 0))
        assert (loose.units, tight.units) == (80, 4)


class TestAgainst:
    TRUTH = {1: True, 2: True, 3: False, 4: False, 5: True}
    JUDGE = {1: True, 2: False, 3: True, 4: False}

    def test_silence(self) -> None:
        found = against(self.JUDGE, self.TRUTH)
        assert (found.items, found.missing) == (4, 1)
        assert (found.agreement.value, found.precision.value, found.recall.value) == (0.5, 0.5, 0.5)
        assert (found.false_positive_rate.value, found.false_negative_rate.value) == (0.5, 0.5)
        found = against(self.JUDGE, self.TRUTH, missing="failure")
        assert (found.items, found.missing, found.agreement.value) == (5, 1, pytest.approx(2 / 5))
        found = against({}, self.TRUTH)
        assert (found.items, found.agreement.value, found.kappa.value) == (0, None, None)


class TestAnnotation:
    def test_is_the_appendix_formula(self) -> None:
        """Per site the mean over categories, over all the mean weighted by tasks."""

        def labels(site: str, tasks: int, flips: int) -> list[Label]:
            made = []
            for i in range(tasks):
                for category in ("page content", "ambiguous"):
                    truth = i % 2 == 0
                    flipped = category == "ambiguous" and i < flips
                    common = {"task_id": f"{site}{i}", "site": site, "category": category}
                    made.append(Label(**common, annotator="primary", value=truth))  # type: ignore[arg-type]
                    made.append(Label(**common, annotator="verifier", value=truth != flipped))  # type: ignore[arg-type]
            return made

        found = annotation(labels("shop", 20, 4) + labels("forum", 10, 0))
        shop = next(site for site in found.sites if site.site == "shop")
        # 16 of 20 the same, both halves yes: kappa 0.6 for one category and 1 for the other.
        assert shop.categories == {"page content": pytest.approx(1.0), "ambiguous": pytest.approx(0.6)}
        assert shop.kappa.value == pytest.approx(0.8)
        assert found.overall.value == pytest.approx((20 * 0.8 + 10 * 1.0) / 30)
        assert "all, weighted by tasks" in "\n".join(in_markdown(annotation_sections(found)))

    def test_a_task_with_one_label_is_left_out(self) -> None:
        one = Label(task_id="1", site="shop", annotator="primary", category="c", value=True)
        assert annotation([one]).overall.value is None


@pytest.mark.external
@pytest.mark.skipif(not (DATA / "agentoccam").is_dir(), reason="../shared/data/agentoccam is not there")
class TestAgentOccam:
    def ratings(self) -> dict[str, dict[str, float]]:
        with (DATA / "agentoccam" / "WebArena-AgentOccam.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))[1:]
        # The last line is the mean of the columns.
        rated = [row for row in rows if row[0].isdigit()]
        assert len(rated) == 812
        return {
            name: {row[0]: float(row[column]) for row in rated}
            for name, column in (("Alice", 1), ("Bob", 3), ("Colin", 5))
        }

    def test_three_levels(self) -> None:
        found = agreement(self.ratings(), scale="ordinal")
        kappas = [round(pair.kappa.value or 0, 2) for pair in found.pairs]
        assert (min(kappas), max(kappas)) == (0.38, 0.46)
        assert all((pair.kappa.low or 1) < (pair.kappa.value or 0) < (pair.kappa.high or 0) for pair in found.pairs)

    def test_binary(self) -> None:
        binary = {name: {item: value == 1 for item, value in own.items()} for name, own in self.ratings().items()}
        kappas = [round(pair.kappa.value or 0, 2) for pair in agreement(binary).pairs]
        assert (min(kappas), max(kappas)) == (0.43, 0.58)


@pytest.mark.external
@pytest.mark.skipif(not (DATA / "agreement" / "om2w").is_dir(), reason="../shared/data/agreement is not there")
@pytest.mark.parametrize(
    ("agent", "file", "published"), [("Agent-E", "agente", 86.3), ("Browser_Use", "browser_use", 89.3)]
)
def test_online_mind2web(agent: str, file: str, published: float) -> None:
    folder = DATA / "agreement" / "om2w"
    people = json.loads((folder / "human_label.json").read_text())
    truth = {row["task_id"]: row[f"{agent}_human_label"] == "1" for row in people}
    lines = (folder / "webjudge_o4-mini" / f"{file}_results.json").read_text().splitlines()
    judge = {one["task_id"]: one["final_eval"] == 1 for one in map(json.loads, lines)}
    found = against(judge, truth, missing="failure")
    assert (found.items, round(100 * (found.agreement.value or 0), 1)) == (300, published)

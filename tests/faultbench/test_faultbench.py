"""The fault bench without a browser: its catalog of mistakes, how judges are scored, and what is refused."""

import json

import pytest

from tests.support import samples
from webassay.core.errors import InputError
from webassay.core.record import blob_hash
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.faultbench.detection import JudgeFindings, said_in, score
from webassay.faultbench.generate import LABELS, MANIFEST
from webassay.faultbench.inject import CODES, MISTAKES
from webassay.faultbench.records import FaultBench, FaultLabel
from webassay.faultbench.score import bench_in_words, in_our_taxonomy, load
from webassay.judging.taxonomy import TAXONOMIES
from webassay.store import Store
from webassay.workbench import Workbench


def test_every_kind_of_mistake_has_a_code_of_the_taxonomy():
    assert len(CODES) == 22 and set(CODES) <= set(TAXONOMIES["webassay"])
    assert len({one.name for one in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_what_rules_cannot_see_is_what_leaves_the_outcome_alone(mistake):
    assert mistake.visible == (mistake.outcome is False)


def label(number, code="", outcome=True, half="dev", step=None):
    return FaultLabel(
        trajectory_id=f"t{number}", task_id="task", template=f"template {number % 4}", site="shop", half=half,
        pair=number // 2, mistake="some" if code else "", code=code, outcome=outcome, step=step, visible=True,
        rules="pass" if outcome else "fail", steps=5, actions="", changes="",
    )  # fmt: skip


LABELLED = [
    label(0), label(1, "2.1", False, step=4),
    label(2, half="test"), label(3, "3.1", False, half="test", step=2),
    label(4), label(5, "7.1", True, step=1),
    label(6), label(7, "5.1", None, step=0),
]  # fmt: skip


def test_a_perfect_judge():
    said = {
        one.trajectory_id: JudgeFindings(one.outcome is not False, frozenset([one.code]), one.step) for one in LABELLED
    }
    found = score("judge", LABELLED, said, "all")
    assert found.accuracy.items == 7  # of an ambiguous task nobody can say whether it was done
    assert found.accuracy.kappa.value == 1.0
    assert (found.accuracy.false_positive_rate.value, found.accuracy.false_negative_rate.value) == (0.0, 0.0)
    assert all(one.found == one.named == one.trajectories == 1 for one in found.codes)
    assert (found.steps_named, found.exact_step, found.step_distance) == (4, 4, 0)


def test_always_passing_finds_nothing():
    found = score("judge", LABELLED, {one.trajectory_id: JudgeFindings(True) for one in LABELLED}, "all")
    assert found.accuracy.false_positive_rate.value == 1.0
    assert found.accuracy.kappa.value == 0.0
    assert not any(one.found or one.named for one in found.codes)
    assert found.step_distance is None


def test_halves_are_scored_apart_and_silence_is_counted():
    said = {"t2": JudgeFindings(True), "t3": JudgeFindings(True, step=0)}
    test = score("judge", LABELLED, said, "test")
    assert (test.accuracy.items, test.accuracy.missing, test.step_distance) == (2, 0, 2)
    dev = score("judge", LABELLED, said, "dev")
    assert (dev.accuracy.items, dev.accuracy.missing) == (0, 5)


def test_codes_and_steps_of_a_diagnosis():
    finding = Finding(
        check="diagnosis", status="fail", message="m", steps=(3, 5), code="webassay:2.1:output_contradiction"
    )
    stamp = Fingerprint(grader="universal", version="1")
    verdict = Verdict(trajectory_id="t", task_id="", status="fail", findings=(finding,), fingerprint=stamp)
    assert said_in(verdict, in_our_taxonomy) == JudgeFindings(False, frozenset(["2.1"]), 3)
    abstained = verdict.model_copy(update={"status": "abstain", "findings": ()})
    assert said_in(abstained, in_our_taxonomy) == JudgeFindings(None)


@pytest.mark.parametrize("taxonomy", TAXONOMIES)
def test_a_code_of_any_taxonomy_is_the_one_of_the_same_name_in_ours(taxonomy):
    ours = TAXONOMIES["webassay"]
    assert len({code.slug for code in ours.values()}) == len(ours)
    for number, code in TAXONOMIES[taxonomy].items():
        found = in_our_taxonomy(f"{taxonomy}:{number}:{code.slug}")
        if found:
            assert ours[found].name == code.name
        else:
            assert code.name not in {one.name for one in ours.values()}


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        (["webassay:7.1:invalid_invocation", "paper:7.1:invalid_invocation", "released:6.1:invalid_invocation"], "3/3"),
        (["released:7.1:underspecified", "released:6.4:fine_grained_grounding", "nonsense"], "0/3"),
    ],
)
def test_a_stored_diagnosis_counts_in_the_taxonomy_it_was_made_with(tmp_path, codes, found):
    labels = [label(number, "7.1", True, step=1) for number in range(len(codes))]
    with Store.create(tmp_path) as store:
        for number, (one, code) in enumerate(zip(labels, codes, strict=True)):
            unit = UnitOfWork(agent="player", task_id=one.task_id, trial=number)
            store.plan([unit])
            verdict = samples.verdict(
                trajectory_id=one.trajectory_id,
                task_id=one.task_id,
                findings=(Finding(check="diagnosis", status="fail", message="m", steps=(1,), code=code),),
                fingerprint=Fingerprint(grader="universal", version="1"),
            )
            store.add_episode(unit.id, samples.trajectory(id=one.trajectory_id, task_id=one.task_id), [verdict])
    bench(tmp_path, labels)
    section = Workbench().score_faultbench(tmp_path).sections[1]
    cells = {row[0]: row[section.headings.index("universal")] for row in section.rows}
    assert cells["7.1"] == found


def test_a_mistake_that_was_passed_is_not_found_although_it_is_named():
    said = {one.trajectory_id: JudgeFindings(True, frozenset([one.code])) for one in LABELLED}
    codes = {one.code: (one.found, one.named) for one in score("judge", LABELLED, said, "all").codes}
    assert codes == {"2.1": (0, 1), "3.1": (0, 1), "5.1": (1, 1), "7.1": (1, 1)}


def bench(folder, labels=LABELLED):
    text = "".join(f"{one.to_json()}\n" for one in labels)
    (folder / LABELS).write_text(text)
    made = FaultBench(
        name="b", seed=0, world_seed=0, trajectories=len(labels), codes={"2.1": 1}, templates={}, sites={"shop": 8},
        difficulties={"easy": 8}, halves={"dev": 6, "test": 2}, seen_by_rules=2, rules_agree=2, given_away=0.5,
        labels=blob_hash(text.encode()),
    )  # fmt: skip
    (folder / MANIFEST).write_text(made.model_dump_json())
    return made


def test_labels_that_were_changed_are_refused(tmp_path):
    bench(tmp_path)
    assert load(tmp_path)[1] == LABELLED
    lines = (tmp_path / LABELS).read_text().splitlines()
    changed = json.dumps({**json.loads(lines[1]), "outcome": True})
    (tmp_path / LABELS).write_text("\n".join([lines[0], changed, *lines[2:]]) + "\n")
    with pytest.raises(InputError, match="were changed"):
        load(tmp_path)


def test_what_is_no_bench_is_refused(tmp_path):
    with pytest.raises(InputError):
        load(tmp_path)


def test_a_bench_in_words(tmp_path):
    told = bench_in_words(bench(tmp_path))
    assert ("of these, the rules agree", "2") in told.sections[0].rows

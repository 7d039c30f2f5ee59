"""What the page of an episode is made of: marks on pictures, requests of a step, evidence, and a verifier's words."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.support import judging_samples as judging
from tests.support.episodes import BASE, picture, sample_task, sample_trajectory
from webassay.analysis.episode.drawing import label_of, marks_of, pictures_of, size_in, sizes_of
from webassay.analysis.episode.evidence import evidence_views
from webassay.analysis.episode.key import key_view
from webassay.analysis.episode.requests import BEFORE, StepClock, traffic_of
from webassay.analysis.episode.steps import step_views
from webassay.analysis.episode.touched import touched_rows, with_steps
from webassay.analysis.episode.tree import acted_ids, tree_lines
from webassay.analysis.episode.verifier import verifier_view
from webassay.analysis.episode.view import EpisodeView, newest_verdicts
from webassay.core.interaction import Action
from webassay.core.rater import PUBLISHED_OUTPUT, published_verdict, with_output
from webassay.core.served import ServedAnswer, ServedCells, ServedNode, ServedRecord
from webassay.core.task import Cell, EvidenceCheck, Fact, Sight
from webassay.core.touched import TouchedRecord, TouchedRow, TouchingRequest
from webassay.core.trajectory import (
    Aim,
    BlobRef,
    Exchange,
    MemoryBlobs,
    NetworkLog,
    RecordedObservation,
    ServedResult,
    Step,
    Timing,
    TouchedResult,
)

SEEN = RecordedObservation(url=BASE)


class TestMarks:
    def shapes(self, *actions: Action, aims: tuple[Aim, ...] = (), **step):
        made = marks_of(Step(index=0, seen=SEEN, actions=actions, aims=aims, **step))
        return [(mark.shape, mark.x, mark.y, mark.width, mark.height, mark.label) for mark in made]

    def test_an_element_is_a_box_with_what_was_typed(self):
        aim = Aim(action=1, box=(10, 20, 30, 40))
        assert self.shapes(Action.of("noop"), Action.of("fill", "7", "Ada\nLovelace"), aims=(aim,)) == [
            ("box", 10, 20, 30, 40, "fill “Ada Lovelace”")
        ]

    def test_coordinates_are_points_and_drags_are_arrows(self):
        assert self.shapes(Action.of("mouse_click", 5, 6)) == [("point", 5, 6, 0, 0, "click")]
        assert self.shapes(Action.of("mouse_drag_and_drop", 1, 2, 11, 22)) == [("arrow", 1, 2, 10, 20, "drag and drop")]
        aims = tuple(Aim(action=0, box=(0, 0, 10, 10), argument=name) for name in ("from_bid", "to_bid"))
        shapes = self.shapes(Action.of("drag_and_drop", "1", "2"), aims=aims)
        assert [one[0] for one in shapes] == ["box", "box", "arrow"]

    def test_a_coordinate_of_another_recorder_is_a_point(self):
        info = {"action": "type", "arguments": {"coordinate": [30, 40], "text": "lamp"}}
        assert self.shapes(info=info) == [("point", 30, 40, 0, 0, "type “lamp”")]

    @pytest.mark.parametrize("given", [None, [1], ["1", 2], [True, 2], {"x": 1}, [10**9, 2]])
    def test_what_is_no_point_has_no_mark(self, given):
        assert self.shapes(info={"action": "click", "arguments": {"coordinate": given}}) == []

    def test_what_happens_elsewhere_has_no_shape(self):
        assert self.shapes(Action.of("goto", "http://x/"), Action.of("keyboard_press", "Enter")) == []
        assert label_of(Action.of("keyboard_press", "Enter")) == "keyboard press “Enter”"

    @pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "WEBP"])
    def test_sizes_come_from_the_head_of_a_picture(self, form, tmp_path):
        path = tmp_path / "one"
        Image.new("RGB", (321, 123), "teal").save(path, form)
        assert size_in(path.read_bytes()) == (321, 123)

    @given(st.binary(max_size=200).map(lambda tail: b"\xff\xd8" + tail) | st.binary(max_size=60))
    def test_no_head_is_too_broken(self, data):
        size_in(data)

    def test_pictures_that_cannot_be_read_are_left_out(self):
        blobs = MemoryBlobs()
        lost = BlobRef(hash="sha256:0", media_type="image/jpeg", size=1)
        refs = {"a": picture(blobs, "navy", (40, 30)), "b": lost, "c": blobs.write(b"<svg>", "image/jpeg")}
        assert sizes_of(refs, blobs) == {"a": (40, 30)}
        assert len(pictures_of(sample_trajectory(blobs, sample_task()))) == 2


def test_a_tree_has_lines_with_ids_and_what_was_acted_on():
    step = Step(index=0, seen=SEEN, actions=(Action.of("click", "12"), Action.of("drag_and_drop", "a7", "9")))
    tree = "RootWebArea 'x'\n\t[12] link 'Orders'\n\t\tStaticText '[9] no'\n\t[a7] button"
    lines = list(tree_lines(tree, acted_ids(step)))
    assert [(one.depth, one.id, one.text, one.acted) for one in lines] == [
        (0, "", "RootWebArea 'x'", False),
        (1, "12", "link 'Orders'", True),
        (2, "", "StaticText '[9] no'", False),
        (1, "a7", "button", True),
    ]


# --- steps --------------------------------------------------------------------------------------------------


def timed(blobs, **changes):
    """The sample, with a clock: three steps at 1, 2 and 3 seconds."""
    made = sample_trajectory(blobs, sample_task(), **changes)
    steps = tuple(one.model_copy(update={"timing": Timing(at=1.0 + one.index)}) for one in made.steps)
    log = [
        Exchange(id="0", time=0.1, method="GET", url=f"{BASE}/", status=200),
        Exchange(
            id="1", time=1.5, method="POST", url=f"{BASE}/orders?x=1#top", status=303, post_data="a=<b>", duration=0.25
        ),
        Exchange(id="2", time=3.0, method="GET", url=f"{BASE}/orders/7", status=200),
        Exchange(id="3", time=3.1, method="GET", url=f"{BASE}/style.css", status=200),
    ]
    blob = blobs.write("".join(f"{one.to_json()}\n" for one in log).encode(), "application/jsonl")
    return made.model_copy(update={"steps": steps, "network": NetworkLog(blob=blob)})


def test_requests_belong_to_the_step_under_way():
    blobs = MemoryBlobs()
    traffic = traffic_of(timed(blobs), blobs)
    assert [(one.place, one.step, one.sent) for one in traffic.requests] == [
        ("shop:/", BEFORE, ""), ("shop:/orders?x=1#top", 0, "a=<b>"), ("shop:/orders/7", 2, ""),
    ]  # fmt: skip
    assert traffic.total == 4 and traffic.requests[1].seconds == 0.25


def test_without_a_clock_nobody_says_which_step():
    blobs = MemoryBlobs()
    made = sample_trajectory(blobs, sample_task())
    assert {one.step for one in traffic_of(made, blobs).requests} == {None}
    assert StepClock(made).step_at(3.0) is None and StepClock(timed(blobs)).step_at(None) is None


def served(blobs) -> tuple[ServedResult, EvidenceCheck]:
    nodes = (ServedNode(True, ("Lamp", "$5.00")), ServedNode(False, ("Orders", 0)), ServedNode(False, ("Home",)))
    record = ServedRecord(
        served=(
            ServedAnswer("GET", "/", 200, "document", "a", start=True, page=2),
            ServedAnswer("POST", "/orders?x=1", 303, "document", "b"),
            ServedAnswer("GET", "/orders/7", 200, "document", "c", by="browser", page=1),
            ServedAnswer("GET", "/orders/7", 200, "document", "c", by="other", page=1),
        ),
        nodes=nodes,
        cells=(ServedCells("orders", "total", [(7,), (8,)], False, [2, 2]), ServedCells("orders", "note", [(7,)])),
    )
    facts = (
        Fact(any_of=((Sight(texts=("Lamp", "$5.00")),),)),
        Fact(any_of=((Sight(cell=Cell(table="orders", key=(8,), column="total")),),)),
        Fact(any_of=((Sight(cell=Cell(table="orders", key=(7,), column="note")),),)),
        Fact(any_of=((Sight(texts=("Lamp",)), Sight(texts=("Sofa",))),)),
        Fact(any_of=((Sight(texts=("Home",)),),)),
    )
    blob = blobs.write(record.pack(), "x")
    return ServedResult(site="shop", blob=blob, count=4), EvidenceCheck(facts=facts, share=0.8)


def test_each_fact_says_on_which_page_and_in_which_step_it_was_shown():
    blobs = MemoryBlobs()
    probe, check = served(blobs)
    task = sample_task()
    task = task.model_copy(update={"checks": (*task.checks, check)})
    made = timed(blobs)
    (view,) = evidence_views(task, made.model_copy(update={"probes": (*made.probes, probe)}), blobs)
    found = [(line.shown, [(place.path, place.step) for place in line.places]) for line in view.facts]
    assert found[0] == (True, [("/orders/7", 2), ("/orders/7", None)]), "another program's is in no step"
    assert found[1] == (True, [("/orders/7", 2)])
    assert found[2] == (True, []), "older records do not say which answer showed a cell"
    assert found[3] == (False, [("/orders/7", 2), ("/orders/7", None)]), "a part of it was shown"
    assert found[4] == (True, [("/", BEFORE)])
    assert (view.shown, view.needed, view.enough) == (4, 4, True)
    (bare,) = evidence_views(task, made, blobs)
    assert not bare.recorded and not bare.enough
    steps = step_views(EpisodeView(run="r", unit="u", trajectory=made, evidence=(view,)), 10)
    assert [len(one.facts) for one in steps] == [0, 0, 2] and ("fact", "was shown a fact of the key") in steps[2].flags


def test_rows_are_marked_as_they_ended_in_the_step_that_wrote_them():
    blobs = MemoryBlobs()
    task, made = sample_task(), timed(blobs)

    def update(number: int, **columns) -> TouchedRow:
        return TouchedRow("orders", {"id": number}, {name: pair[0] for name, pair in columns.items()},
                          {name: pair[1] for name, pair in columns.items()})  # fmt: skip

    gone = ("open", "canceled")
    record = TouchedRecord(
        requests=(
            TouchingRequest("shop", "POST", "/a", 1.0, 0, (update(7, status=gone, seen=(1, 2)),)),
            TouchingRequest("shop", "POST", "/b", 1.2, 2, (update(9, status=gone), update(3, status=("open", "held")))),
            TouchingRequest("shop", "POST", "/c", 1.3, 2, (update(5, seen=(1, 2)),)),
            TouchingRequest("shop", "POST", "/d", 0.1, None, (TouchedRow("carts", {"id": 1}, None, {"id": 1}),)),
        ),
        columns={"orders": {"seen": "journal"}},
    )
    probe = TouchedResult(site="shop", blob=blobs.write(record.pack(), "x"), rows=5)
    made = made.model_copy(update={"probes": (*made.probes, probe)})
    key = key_view(task, made, blobs)
    touched = touched_rows(made, blobs, key)
    said = {step: [(row.mark, row.row, row.values) for row in rows] for step, rows in touched.items()}
    assert said == {
        BEFORE: [("undone", "id=1", (("id", "", "1"),))],
        0: [("expected", "id=7", (("status", "open", "canceled"),))],
        2: [
            ("unexpected", "id=9", (("status", "open", "canceled"),)),
            ("undone", "id=3", (("status", "open", "held"),)),
        ],
    }  # fmt: skip
    assert {row.row: row.steps for row in with_steps(key, touched).rows} == {"id=7": (0,), "id=9": (2,), "id=8": ()}
    steps = step_views(EpisodeView(run="r", unit="u", trajectory=made, touched=touched), 10)
    assert [one.damage for one in steps] == [False, False, True]
    lost = made.model_copy(update={"probes": (TouchedResult(site="shop", blob=blobs.write(b"no", "x")),)})
    assert touched_rows(lost, blobs, key) == {}


# --- verifiers ----------------------------------------------------------------------------------------------


def judged(name: str):
    case = judging.golden(name)
    verdict = asyncio.run(judging.verified(case, judging.ByStage(judging.replies_of(case))))
    return verifier_view(verdict, judging.golden_trajectory(case, MemoryBlobs())), verdict


def test_the_verifiers_stages_become_one_view():
    view, _ = judged("06-side-effects")
    assert [(one.criterion, one.first, one.points, one.most, one.penalty) for one in view.criteria][-2:] == [
        ("Compare both", 2.0, 2.0, 2.0, False), ("Unrequested item in the cart", 0.0, 0.0, 3.0, True),
    ]  # fmt: skip
    assert (view.earned, view.first_earned, view.most) == (10.0, 10.0, 13.0)
    assert [(frame.number, frame.step) for frame in view.frames] == [(n, n - 1) for n in range(1, 6)]
    assert view.frames[3].relevance[1] == 9 and 1 in view.frames[3].chosen
    assert [vote.critical for vote in view.votes] == [("An item was left in the Northparts cart.",)]
    assert [(failure.steps, failure.code) for failure in view.failures] == [((1,), "webassay:6.1:unsolicited")]
    assert {line.frame for line in view.criteria[0].evidence} <= {frame.number for frame in view.frames}


@pytest.mark.parametrize("name", judging.golden_names())
def test_points_and_status_are_the_verdicts_own(name):
    view, verdict = judged(name)
    share = verdict.aspects["process_score"].value
    assert share is None if not view.most else view.earned / view.most == pytest.approx(share)
    assert [one.points for one in view.criteria] == [
        finding.actual for finding in verdict.findings if finding.check in ("criterion", "side_effect")
    ]


ODD = (None, True, 3, -1.5, "x", [], {}, [None], [[1]], {"1": 2}, [{"screenshot": "x", "Score": []}])


def broken(value, odd):
    """The same with one part of it exchanged, at each place in turn."""
    yield odd
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, inner in list(items)[:4]:
        for made in broken(inner, odd):
            yield {**value, place: made} if isinstance(value, dict) else [*value[:place], made, *value[place + 1 :]]


PAGES = {"key_points": "1. it", "image_judge_record": [{"Score": 5, "Response": "why"}], "selected": [1], "scores": [5]}


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_page_opens_whatever_a_verdict_keeps(odd):
    _, verdict = judged("06-side-effects")
    run = judging.golden_trajectory(judging.golden("06-side-effects"), MemoryBlobs())
    own = {name: value for name, value in verdict.replies.items() if name not in ("calls", "usage")}
    rubric = {"rubric_items": own["scores"], "rubric_intermediate_mm_rubric_steps": {"step2_relevance_scores": own}}
    count = 0
    for kept, published in ((own, False), (PAGES, False), (PAGES, True), (rubric, True)):
        for replies in broken(kept, odd):
            if isinstance(replies, dict):
                told = {PUBLISHED_OUTPUT: replies} if published else replies
                view = verifier_view(verdict.model_copy(update={"replies": told}), run)
                count += view is not None
    assert count > 50


def test_a_published_output_is_kept_with_its_verdict_and_graders_stay_apart():
    made = with_output(published_verdict("uv", "pass"), {"key_points": "1. it"})
    assert made.replies == {PUBLISHED_OUTPUT: {"key_points": "1. it"}}
    assert published_verdict("uv", "pass").replies == {}
    assert made.fingerprint == published_verdict("uv", "pass").fingerprint
    assert len(newest_verdicts([made, made], "rules")) == 1


OUTSIDE = judging.OUTSIDE


@pytest.mark.external
@pytest.mark.skipif(not (OUTSIDE / "fara-example").is_dir(), reason=f"there is no {OUTSIDE / 'fara-example'}")
def test_the_published_verifiers_output_is_shown_whole():
    from webassay.importers.fara import verdict_of

    [path] = Path(OUTSIDE / "fara-example" / "scores").glob("*.json")
    verdict = verdict_of(json.loads(path.read_text()), path.stem)
    shots = sample_trajectory(MemoryBlobs(), sample_task())
    view = verifier_view(verdict, shots)
    scored = [(one.first, one.points, one.most, len(one.evidence)) for one in view.criteria]
    assert scored == [(6, 6, 6, 3), (4, 4, 4, 3)]
    assert [frame.relevance for frame in view.frames] == [(0, 0), (9, 7), (9, 8), (9, 8)]
    assert view.votes[0].success is True and "Nitpicks" in view.votes[0].reasoning
    assert [label for label, _ in view.notes] == ["Whether it did what nobody asked for"]

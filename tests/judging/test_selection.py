"""Which screenshots judges look at, and in which order they hear of them."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.support.judging_samples import png, trajectory
from webassay.core.trajectory import MemoryBlobs, RecordedObservation, Step
from webassay.judging.case import frames_of
from webassay.judging.ledger import Models
from webassay.judging.pictures import shrink
from webassay.judging.record.pages import Book, Digest, PageText
from webassay.judging.universal.evidence import Evidence, _batches, about, describe_evidence
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.rehearsal import Understudy
from webassay.judging.universal.rubric import Criterion
from webassay.judging.universal.selection import Examined, group, select, without_picture
from webassay.judging.universal.verify import verify

# --- grouping -------------------------------------------------------------------------------------------

MATRICES = st.integers(1, 5).flatmap(
    lambda criteria: st.dictionaries(
        st.integers(1, 60), st.tuples(*[st.integers(0, 10)] * criteria), min_size=1, max_size=40
    ).map(lambda rows: (rows, criteria))
)
PRUNING = st.sampled_from(["paper", "released", "off"])


@given(MATRICES, st.integers(1, 8), PRUNING, st.integers(0, 5))
def test_no_relevant_screenshot_of_the_top_is_ever_lost(matrix, top_k, prune, minimum):
    relevance, criteria = matrix
    groups = group(relevance, criteria, top_k=top_k, prune=prune, minimum=minimum)
    assert len(groups) == criteria
    for index, numbers in enumerate(groups):
        ranked = sorted(relevance, key=lambda n: (relevance[n][index], n), reverse=True)[:top_k]
        assert numbers, "every criterion keeps at least one"
        assert set(numbers) <= set(ranked)
        assert {n for n in ranked if relevance[n][index] >= 5} <= set(numbers)
        assert list(numbers) == sorted(numbers), "in order of time"


@given(MATRICES, st.integers(1, 8))
def test_among_equals_the_later_screenshot_is_taken(matrix, top_k):
    relevance, criteria = matrix
    for index, numbers in enumerate(group(relevance, criteria, top_k=top_k, prune="off")):
        left_out = set(relevance) - set(numbers)
        for out in left_out:
            for kept in numbers:
                assert (relevance[kept][index], kept) > (relevance[out][index], out)


@given(MATRICES, st.integers(1, 8))
def test_pruning_as_in_the_paper_drops_only_weak_screenshots_before_a_decisive_one(matrix, top_k):
    relevance, criteria = matrix
    everything = group(relevance, criteria, top_k=top_k, prune="off")
    for index, numbers in enumerate(group(relevance, criteria, top_k=top_k, prune="paper")):
        decisive = [n for n in everything[index] if relevance[n][index] > 7]
        for dropped in set(everything[index]) - set(numbers):
            assert relevance[dropped][index] < 5 and decisive and dropped < min(decisive)


def test_the_two_ways_of_pruning_differ_in_time_and_in_distance():
    relevance = {1: (4,), 2: (9,), 3: (4,), 4: (6,)}
    assert group(relevance, 1, top_k=5, prune="paper") == ((2, 3, 4),)
    assert group(relevance, 1, top_k=5, prune="released") == ((1, 2, 3, 4),)
    assert group({1: (0,), 2: (9,), 3: (3,)}, 1, top_k=5, prune="released") == ((2,),)
    assert group({1: (0,), 2: (9,), 3: (3,)}, 1, top_k=5, prune="paper") == ((2, 3),)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 50)), max_size=40, unique=True), st.randoms())
def test_evidence_is_told_in_order_of_time_whatever_order_it_came_in(pairs, rng):
    evidence = [Evidence(criterion=c, screenshot=s, seen=f"seen {s}.", analysis="x") for c, s in pairs]
    rng.shuffle(evidence)
    criteria = [Criterion(criterion=f"c{i}", description="d", max_points=1) for i in range(4)]
    for index in range(4):
        mine = [item.screenshot for item in about(evidence, index)]
        assert mine == sorted(s for c, s in pairs if c == index)
        told = describe_evidence(criteria, evidence, [index])
        assert [int(n) for n in re.findall(r"Screenshot (\d+):", told)] == mine


# --- as many as matter ----------------------------------------------------------------------------------


def test_a_page_of_hardly_any_use_is_not_looked_at_if_it_is_read_whole_anyway():
    book = book_of(dict.fromkeys((1, 2, 3), "order") | {4: "end"})
    relevance = {1: (9,), 2: (4,), 3: (3,), 4: (0,)}
    assert select(relevance, 1, 24, frozenset(), book, frozenset((1, 2, 3, 4))) == ((1, 2, 4),)
    assert select(relevance, 1, 24, frozenset(), book, frozenset((1, 2, 4))) == ((1, 2, 3, 4),), "else nobody sees it"
    assert select(relevance, 1, 24, frozenset((3,)), book, frozenset((1, 2, 3, 4))) == ((1, 2, 4),), "with its value"
    alike = dict.fromkeys((1, 2, 3), (2,)) | {4: (0,)}
    assert select(alike, 1, 24, frozenset(), book, frozenset((1, 2, 3, 4))) == ((1, 2, 3, 4),), "none stands out"


def test_a_page_with_a_value_is_asked_about_the_criteria_it_bears_on():
    book = book_of({1: "list", 2: "order", 3: "coupon", 4: "end"})
    relevance = {1: (9, 9), 2: (6, 1), 3: (2, 0), 4: (0, 0)}
    held = frozenset((2, 3))
    assert select(relevance, 2, 24, held, book) == ((1, 2, 3, 4), (1, 3, 4)), "3 bears on neither, and nobody reads it"
    assert select(relevance, 2, 24, held, book, frozenset((3,))) == ((1, 2, 4), (1, 4))


def test_a_page_of_hardly_any_use_is_shown_without_its_picture_if_it_has_a_text():
    words = "twelve words of a long page that say everything it has to say " * 5
    pages = {n: PageText(n, "http://s.example/", "", (words,)) for n in (1, 2, 5)}
    pages[3] = PageText(3, "http://s.example/", "", ("Menu",))
    pages[4] = PageText(4, "http://s.example/", "", (words,), recorded=False)
    book = Book(pages, 5)
    assert without_picture(dict.fromkeys((2, 3, 4, 5), (3, 0)) | {1: (4, 0)}, book) == {2}, "1 matters, 5 is the last"
    assert without_picture(dict.fromkeys((1, 2, 3, 4, 5), (3, 0)), book) == frozenset(), "none stands out"
    assert without_picture({}, book) == frozenset()


@given(st.sets(st.integers(1, 60)), st.integers(1, 6), st.sets(st.integers(1, 60)))
def test_pages_are_asked_about_in_order_and_two_texts_count_as_one_picture(numbers, pictures, without):
    batches = _batches(sorted(numbers), pictures, without)
    assert [n for batch in batches for n in batch] == sorted(numbers)
    for batch, following in zip(batches, [*batches[1:], None][: len(batches)], strict=True):
        size = sum(1 if n in without else 2 for n in batch)
        assert 0 < size <= 2 * pictures
        assert following is None or size + (1 if following[0] in without else 2) > 2 * pictures, "no call too many"


def book_of(kinds):
    pages = {
        number: PageText(number, f"http://s.example/{kind}/{number}", "", (f"line {number}",))
        for number, kind in kinds.items()
    }
    return Book(pages, len(pages))


@given(MATRICES, st.integers(1, 30), st.data())
def test_what_decides_is_looked_at_as_long_as_there_is_room(matrix, most, data):
    relevance, criteria = matrix
    kinds = {n: data.draw(st.sampled_from(["order", "list", "x"])) for n in relevance if n % 3}
    book = book_of(kinds)
    held = frozenset(data.draw(st.sets(st.sampled_from(sorted(relevance)), max_size=5)))
    groups = select(relevance, criteria, most, held, book)
    chosen = {n for numbers in groups for n in numbers}
    assert len(groups) == criteria and all(groups), "every criterion is looked at on some page"
    assert chosen <= set(relevance) and len(chosen) <= most
    assert all(list(numbers) == sorted(numbers) for numbers in groups)
    assert max(relevance) in chosen, "the last page"
    assert held <= chosen or most <= len(held)
    if most >= len(relevance):
        for index, numbers in enumerate(groups):
            best = max(row[index] for row in relevance.values())
            near = {n for n, row in relevance.items() if row[index] >= max(best - 2, 1)}
            assert near <= set(numbers)
            assert {kin for n in near for kin in book.kin(n)} <= set(numbers), "pages that belong together"


def test_everybody_is_told_what_was_not_examined():
    told = Digest("", whole=(1, 2), part=(3,), missing=(4,))
    examined = Examined.of([1, 2, 3, 4, 5, 6], ((5,),), told, {6: (0, 2)})
    assert (examined.pictures, examined.texts, examined.parts) == ((5,), (1, 2), (3,))
    text = examined.describe(6)
    assert "screenshot 4: its text did not fit" in text and "screenshot 6: at most 2 of 10" in text
    assert "says nothing if it may stand on one of these" in text, "nobody rated screenshot 4"
    of_no_use = Examined.of([5, 6], ((5,),), Digest("", (), (), ()), {5: (9,), 6: (2,)}).describe(2)
    assert "screenshot 6" in of_no_use and "found them of no use" in of_no_use and "says nothing" not in of_no_use
    assert "Every recorded page was examined" in Examined.of([5], ((5,),), Digest("", (), (), ()), {}).describe(1)


ORDERS = {n: (f"SKU-{n}000", f"${price}.50") for n, price in enumerate((12, 80, 167, 33, 41, 150, 20, 99), 3)}
"""By step: what was ordered, and for how much. The dearest stands on an early page."""


def chore(blobs, answer):
    """A list, then eight orders one after the other, all of them needed for the highest price."""
    trees = ["StaticText 'Home'", "main ''\n\theading 'My orders'\n\t\tStaticText 'Eight orders'"]
    trees += [f"main ''\n\trow ''\n\t\tcell '{sku}'\n\t\tcell '{price}'" for sku, price in ORDERS.values()]

    def page(number, tree):
        return RecordedObservation(
            url=f"http://shop.example/orders/{number}",
            tree=blobs.write(tree.encode(), "text/plain"),
            screenshot=blobs.write(png(number), "image/png"),
        )

    pages = [page(number, tree) for number, tree in enumerate(trees, 1)]
    steps = tuple(Step(index=i, seen=seen, action_text="click(bid='1')") for i, seen in enumerate(pages[:-1]))
    instruction = "Which article had the highest price? Answer with its SKU."
    return trajectory(blobs, 1, instruction=instruction).model_copy(
        update={"steps": steps, "last_seen": pages[-1], "answer": answer}
    )


@pytest.mark.parametrize("answer", ["SKU-5000", "SKU-8000"], ids=["right", "runner-up"])
@pytest.mark.parametrize("score", [0, 5, 9])
async def test_the_page_that_decides_is_in_the_evidence_of_the_right_answer_and_of_the_wrong_one(answer, score):
    """With five screenshots for each criterion and all order pages alike, the page with the maximum got lost: the
    right answer stood in no evidence, and the runner-up was the highest that was left."""
    blobs = MemoryBlobs()
    run = chore(blobs, answer)
    for name, kept in (("webassay", True), ("paper", False)):
        model = Understudy("m", dear=False, relevance=lambda number, criterion: score, keep=True)
        verdict = await verify(run.goal, run, blobs, Models.one(model), PROFILES[name])
        told = {q.purpose: q.messages[-1].text for q in model.asked}
        looked = {n for numbers in verdict.replies["groups"] for n in numbers}
        assert (5 in looked) is kept
        for stage in ("rescore", "outcome"):
            assert ("SKU-5000 | $167.50" in told[stage]) is kept, stage
            assert "SKU-8000 | $150.50" in told[stage] or not kept
        assert not verdict.replies["examined"]["unseen"] or not kept
        if not kept:
            assert "Rated for relevance at most, and not examined:" in told["outcome"], (
                "the paper's selection, but nobody is left in the dark"
            )


# --- frames ---------------------------------------------------------------------------------------------


def test_identical_frames_are_shown_once_as_the_last_of_them():
    run = trajectory(MemoryBlobs(), 5, pictures=[1, 2, 1, 3, 2, 2])
    kept = frames_of(run, text=False, merge=True)
    assert [(frame.number, frame.also) for frame in kept] == [(3, (1,)), (4, ()), (6, (2, 5))]
    assert [frame.number for frame in frames_of(run, text=False, merge=False)] == [1, 2, 3, 4, 5, 6]


def test_the_same_picture_with_another_text_is_another_page():
    run = trajectory(MemoryBlobs(), 1, pictures=[1, 1], trees={0: "button 'Buy'", 1: "button 'Bought'"})
    assert len(frames_of(run, text=True, merge=True)) == 2


def test_pictures_are_scaled_down_only_where_they_are_too_large():
    small, large = png(7, side=100), png(7, side=2000)
    assert shrink(small, "image/png", 1536) == (small, "image/png")
    assert shrink(large, "image/png", 0) == (large, "image/png")
    assert shrink(b"no picture", "image/png", 1536) == (b"no picture", "image/png")
    data, kind = shrink(large, "image/png", 1536)
    with Image.open(io.BytesIO(data)) as picture:
        assert kind == "image/jpeg" and picture.size == (1536, 1536)

"""What counts as a wrong quote, and when a thread is on one page."""

import pytest

from webassay.arena.forum.queries import on_one_page
from webassay.arena.forum.threads import Misquote, misquote

ORIGINAL = "I measured it 35 times. The total came to $550, and 39 dollars of that was my mistake."


@pytest.mark.parametrize(
    ("quoted", "found"),
    [
        ("I measured it 41 times.", Misquote("ann", "41", "35")),
        ("the total came to $550, and 40 dollars of that was my mistake", Misquote("ann", "40", "39")),
        ("I measured it 35 times.", None),
        ("I measured it twice.", None),
        ("The total came to $551, and 40 dollars of that was my mistake.", None),
    ],
)
def test_a_wrong_quote_has_the_same_words_and_one_other_number(quoted, found):
    assert misquote("ann", quoted, ORIGINAL) == found


def said(*depths: int, root: int = 1) -> list[dict[str, int]]:
    return [{"depth": depth, "root": root} for depth in depths]


def test_a_thread_is_on_one_page_until_it_is_too_deep_or_too_long():
    assert on_one_page([])
    assert on_one_page(said(*range(7)))
    assert not on_one_page(said(*range(8)))
    assert on_one_page(said(*[0] * 100))
    assert not on_one_page(said(*[1] * 101))
    assert not on_one_page([one for root in range(151) for one in said(0, root=root)])

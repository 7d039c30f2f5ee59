"""What is left of a page where there is no room for all of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.judging.record.excerpts import excerpt, weigher
from webassay.judging.record.paging import tells_extent

MENU = [f"{name} | Deals and more for your home" for name in ("Kitchen", "Garden", "Office", "Beauty", "Games")]
ORDER = ["Order # 102624", "Ship to: 12 Long Street, Springfield", "Items Ordered"]
ROWS = [f"Article {number} of some length, in blue | $1{number}.00" for number in range(12)]
SUMS = ["Subtotal | $198.00", "Discount (FRESH3OFF) | -$3.00", "Shipping | $5.00"]
END = ["You may also like", *(f"Something else {number} | $9.99" for number in range(12))]

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40))


@given(LINES, st.integers(100, 600), st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.0]), min_size=1))
def test_only_whole_lines_in_their_order_and_no_more_than_there_is_room_for(lines, limit, weights):
    made = excerpt(lines, limit, lambda given: [weights[at % len(weights)] for at in range(len(given))])
    text = "\n".join(lines)
    if made == text:
        return
    *kept, note = made.split("\n")
    kept = [line for line in kept if line != "[…]"]
    coming = iter(lines)
    assert all(line in coming for line in kept), "in order, and each as it was"
    assert sum(len(line) + 1 for line in kept) <= limit
    if "[…]" not in lines:
        assert int(note.removeprefix("[").split()[0]) == len(lines) - len(kept)


@given(LINES, st.integers(100, 600))
def test_what_fits_is_left_as_it_is(lines, limit):
    text = "\n".join(lines)
    assert (excerpt(lines, limit) == text) == (len(text) <= limit)


def test_the_row_that_the_task_is_about_outlives_everything_else():
    page = [*MENU, *ORDER, *ROWS, *SUMS, *END]
    weigh = weigher("What is the sum of the discounts that I got on my orders?", lambda line: False, [page])
    assert "Discount (FRESH3OFF) | -$3.00" in excerpt(page, 300, weigh)
    assert "Discount" not in excerpt(page, 300)


def test_of_long_lines_several_are_kept_in_part():
    reviews = [f"Rating: {number % 5 + 1} out of 5 stars | {'It does what it should. ' * 30}" for number in range(10)]
    form = ["Write Your Own Review", "Nickname", "textbox 'Nickname'"]
    page = [*MENU, *reviews, *form]
    kept = excerpt(page, 700, weigher("Give the nickname of each reviewer with one star.", lambda line: False, [page]))
    assert kept.count("out of 5 stars") >= 3 and "characters left out" in kept


def test_a_line_with_a_value_of_the_answer_stays():
    page = [*MENU, *ORDER, *ROWS, *SUMS, *END]
    weigh = weigher("Which article?", lambda line: "$17.00" in line, [page])
    assert ROWS[7] in excerpt(page, 300, weigh)


def test_what_comes_with_every_page_goes_before_what_stands_on_one():
    one, other = [*MENU, *ROWS, *END], [*MENU, "Nothing here", *END]
    weigh = weigher("How many are there?", lambda line: False, [one, other])
    kept = excerpt(one, 600, weigh).split("\n")
    assert sum(line in ROWS for line in kept) > 8


REVIEWS = [f"Rating: {number % 5 + 1} of 5 stars | It does what it should, number {number}" for number in range(40)]


@pytest.mark.parametrize(
    "extent",
    [
        "Reviews 1-10 of 36",
        "Items 11 to 20 of 1,480 total",
        "Page 2 of 9",
        "9,372 orders found",
        "Showing 20 results",
        "link 'Next page'",
        "Pages to turn to: Page 1 (this page), Page 2, Next",
    ],
)
def test_the_line_that_says_how_much_there_is_stays(extent):
    buyers = [f"by {name}" for name in ("Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kai", "Lu")]
    page = [*MENU, *buyers, *REVIEWS[:20], extent, *REVIEWS[20:], *END]
    weigh = weigher("Which of the buyers give one star?", lambda line: line in REVIEWS, [page])
    kept = excerpt(page, 700, weigh).split("\n")
    assert extent in kept and len(set(REVIEWS) & set(kept)) > 5


def test_a_line_beside_every_row_does_not_crowd_out_the_rows():
    rows = [
        line
        for number in range(40)
        for line in (f"{number} of some 99 matches", f"The row {number} that was asked for")
    ]
    kept = excerpt(rows, 700, weigher("", lambda line: line.startswith("The row"), [rows])).split("\n")
    assert sum(line.startswith("The row") for line in kept) > 5


@pytest.mark.parametrize(
    "line", ["4 of 5 stars", "Rating: 4 out of 5 stars", "2 of 3 found it good", "Show", "Next-Day Shipping"]
)
def test_what_says_nothing_of_that_is_a_line_like_any_other(line):
    assert not tells_extent(line)

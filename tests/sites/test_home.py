"""The start page: who the neighbors are, sums that come out right, notes that count for nothing."""

import html
import operator
import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sites.shop_visits import NORA, PRIYA
from tests.sites.visiting import visit
from tests.sites.visitors import content, fresh, visitor
from tests.support.worlds import arena
from webassay.core.trajectory import MemoryBlobs, RowsResult
from webassay.sites.home import SITE
from webassay.sites.home.calculator import UnreadableExpression, calculate
from webassay.sites.home.pages import LONGEST_NOTE, NOTES_PER_PAGE
from webassay.sites.shop.seeding.customers import PASSWORD


@pytest.fixture
def world():
    opened = fresh(SITE)
    yield opened
    opened.close()


@pytest.fixture
async def guest(world):
    async with visitor(world) as opened:
        yield opened


# --- neighbors ------------------------------------------------------------------------------------------


@pytest.fixture
async def sites():
    async with arena() as opened:
        yield opened


async def test_it_links_to_the_sites_of_its_own_stage(sites):
    async with sites.hold(["home", "shop"]) as one, sites.hold(["shop", "home"]) as other:
        for stage, elsewhere in ((one, other), (other, one)):
            async with visit(stage, "home") as guest:
                page = (await guest.get("/")).text
                assert f'<a href="{stage.bases["shop"]}/">Tallybrook</a>' in page
                assert stage.bases["home"] not in page, "not to itself"
                assert elsewhere.label not in page
                assert f"{stage.bases['shop']}/" in (await guest.get("/accounts")).text
            async with visit(stage, "shop") as shopper:
                assert stage.bases["home"] not in (await shopper.get("/")).text


async def test_it_shows_how_this_user_logs_in_and_nobody_else(sites):
    async with sites.hold(["home", "shop"], logins={"shop": NORA}) as stage:
        async with visit(stage, "home") as guest:
            page = (await guest.get("/accounts")).text
        assert NORA in page and PRIYA not in page
        password = re.search(r"<dt>Password</dt><dd>(.+?)</dd>", page)
        assert password is not None and html.unescape(password[1]) == PASSWORD
        async with visit(stage, "shop") as shopper:
            address = stage.bases["shop"]
            form = {"email": NORA, "password": html.unescape(password[1])}
            entered = await shopper.post("/account/login", data=form, headers={"origin": address})
            assert (entered.status_code, entered.headers["location"]) == (303, "/account")
    async with sites.hold(["home", "shop"]) as stage, visit(stage, "home") as guest:
        page = (await guest.get("/accounts")).text
        assert "You visit as a guest" in page and PASSWORD not in page and "@" not in page


async def test_without_neighbors_it_says_so(guest):
    for path in ("/", "/accounts"):
        assert "No other sites are open." in (await guest.get(path)).text


async def test_nothing_done_here_counts_as_a_change(sites):
    async with sites.hold(["home"]) as stage:
        async with visit(stage, "home") as guest:
            origin = {"origin": stage.bases["home"]}
            for path, form in (
                ("/scratchpad", {"text": "milk"}),
                ("/scratchpad", {"text": "tea"}),
                ("/scratchpad/1/edit", {"text": "oat milk"}),
                ("/scratchpad/2/delete", {}),
            ):
                assert (await guest.post(path, data=form, headers=origin)).status_code == 303
            assert "oat milk" in (await guest.get("/scratchpad")).text
        (rows,) = [found for found in await stage.probe((), MemoryBlobs()) if isinstance(found, RowsResult)]
        assert rows.changes
        assert {kind for table in rows.columns.values() for kind in table.values()} == {"telemetry"}


# --- scratchpad ------------------------------------------------------------------------------------------


async def test_notes_are_kept_as_they_were_written(guest, world):
    text = "  \n 1 < 2 & “so on” \n\n   indented\r\n<script>alert(1)</script>"
    answer = await guest.post("/scratchpad", data={"text": text})
    page = await guest.get(answer.headers["location"])
    assert "Your note was saved." in page.text
    assert "Your note was saved." not in (await guest.get("/scratchpad")).text
    assert world.scalar("SELECT text FROM notes") == text.replace("\r\n", "\n").strip()
    shown = re.search(r'<p class="text">(.*?)</p>', page.text, re.DOTALL)
    assert shown is not None and html.unescape(shown[1]) == text.replace("\r\n", "\n").strip()
    assert content(world) == []


async def test_a_note_must_say_something_and_not_too_much(guest, world):
    for text, complaint in (("", "is required"), (" \n", "is required"), ("x" * (LONGEST_NOTE + 1), "at most 4,000")):
        answer = await guest.post("/scratchpad", data={"text": text})
        assert answer.status_code == 422 and complaint in answer.text
    assert world.scalar("SELECT count(*) FROM notes") == 0
    assert (await guest.post("/scratchpad", data={"text": "🦊" * LONGEST_NOTE})).status_code == 303


async def test_the_latest_note_comes_first_and_old_ones_are_on_later_pages(guest):
    for number in range(NOTES_PER_PAGE + 1):
        await guest.post("/scratchpad", data={"text": f"note-{number:02}"})
    first, second = [(await guest.get(f"/scratchpad?p={page}")).text for page in (1, 2)]
    listed = re.findall(r"note-\d\d", first)
    assert listed == sorted(listed, reverse=True) and len(listed) == NOTES_PER_PAGE
    assert re.findall(r"note-\d\d", second) == ["note-00"]
    assert (await guest.get("/scratchpad?p=x")).status_code == 400


async def test_a_note_that_is_not_there(guest):
    for path in ("/scratchpad/9/edit", "/scratchpad/x/edit", "/scratchpad/-1/edit"):
        assert (await guest.get(path)).status_code == 404
    assert (await guest.post("/scratchpad/9/delete")).status_code == 404


# --- calculator ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2", "3"),
        ("0.1 + 0.2", "0.3"),
        ("1.10 + 2.20", "3.3"),
        ("3 * 19.99", "59.97"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("100 / 8", "12.5"),
        ("1 / 3", "≈ 0.333333333333333"),
        ("2 / 3", "≈ 0.666666666666667"),
        ("1 / 3 * 3", "1"),
        ("7 - 10", "-3"),
        ("-(2 + 1) * -2", "6"),
        ("--2", "2"),
        (".5 + 1.", "1.5"),
        ("1,234,567.50 * 2", "2469135"),
        ("8 × 7 ÷ 2 − 1", "27"),
        ("50%", "0.5"),
        ("200 * 15%", "30"),
        ("80 + 10%", "88"),
        ("80 - 10%", "72"),
        ("100 + 50 - 10%", "135"),
        ("10% + 5", "5.1"),
        ("10 % 3", "1"),
        ("10.5 % 3", "1.5"),
        ("17 % (2 + 3)", "2"),
        ("0 * -5", "0"),
        ("99999999999999999999 + 1", "100000000000000000000"),
        ("1 / 1024", "0.0009765625"),
    ],
)
def test_sums_come_out_as_people_expect(expression, result):
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("", "The end is missing"),
        ("1 +", "The end is missing"),
        ("* 2", 'number missing before "*"'),
        ("(1 + 2", "closing parenthesis"),
        ("1 + 2)", 'operator missing before ")"'),
        ("2 (3)", 'operator missing before "("'),
        ("1 2", 'operator missing before "2"'),
        ("()", 'number missing before ")"'),
        ("1 / 0", "divided by zero"),
        ("1 / (2 - 2)", "divided by zero"),
        ("5 % 0", "divided by zero"),
        ("1,23", '"," cannot be used'),
        ("__import__('os')", '"_" cannot be used'),
        ("2 ** 3", 'number missing before "*"'),
        ("1e9", '"e" cannot be used'),
        ("٣ + 1", '"٣" cannot be used'),
        ("(" * 99 + "1" + ")" * 99, "too many parentheses"),
    ],
)
def test_what_cannot_be_computed_is_explained(expression, complaint):
    with pytest.raises(UnreadableExpression, match=re.escape(complaint)):
        calculate(expression)


_NUMBERS = st.decimals(min_value=0, max_value=10**6, places=3, allow_nan=False)
_TREES = st.recursive(
    _NUMBERS.map(lambda number: (f"{number:f}", Fraction(number))),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda tree: (
            f"({tree[0][0]}{tree[1]}{tree[2][0]})",
            {"+": operator.add, "-": operator.sub, "*": operator.mul}[tree[1]](tree[0][1], tree[2][1]),
        )
    ),
    max_leaves=4,
)


@given(_TREES)
def test_sums_differences_and_products_are_exact(tree):
    expression, value = tree
    shown = calculate(expression)
    assert not shown.startswith("≈") and Fraction(shown) == value


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6), st.data())
def test_precedence_is_that_of_arithmetic(numbers, data):
    """Sums of products, added up by hand."""
    signs = [data.draw(st.sampled_from("+-*")) for _ in pairwise(numbers)]
    terms = [[1, numbers[0]]]
    for sign, number in zip(signs, numbers[1:], strict=True):
        if sign == "*":
            terms[-1][1] *= number
        else:
            terms.append([1 if sign == "+" else -1, number])
    expression = str(numbers[0]) + "".join(f" {s} {n}" for s, n in zip(signs, numbers[1:], strict=True))
    assert calculate(expression) == str(sum(sign * value for sign, value in terms))


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9))
def test_quotients_are_right_to_fifteen_digits(top, bottom):
    shown = calculate(f"{top} / {bottom}")
    exact, found = Fraction(top, bottom), Fraction(Decimal(shown.removeprefix("≈ ")))
    assert found == exact or (shown.startswith("≈ ") and abs(found - exact) <= abs(exact) / 10**14)


@given(st.text(alphabet="0123456789.,+-*/%() ", max_size=40))
def test_an_expression_has_a_result_or_a_complaint(text):
    try:
        assert re.fullmatch(r"(≈ )?-?[0-9]+(\.[0-9]+)?", calculate(text))
    except UnreadableExpression as problem:
        assert str(problem).endswith(".")


async def test_the_page_shows_the_result_or_the_complaint(guest, world):
    page = await guest.get("/calculator", params={"expression": "80 + 10%"})
    assert page.status_code == 200
    assert re.search(r"<output[^>]*>88</output>", page.text)
    wrong = await guest.get("/calculator", params={"expression": "1 / 0"})
    assert wrong.status_code == 422 and "A number cannot be divided by zero." in wrong.text
    for expression in ("", "1+" * 200 + "1", "<b>"):
        assert (await guest.get("/calculator", params={"expression": expression})).status_code == 422
    assert world.diff() == [], "reading changes nothing"

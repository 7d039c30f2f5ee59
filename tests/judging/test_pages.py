"""What a judge is told of pages, actions and the record: short, and with everything that decides."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.judging_runs import book_of, run_over, told_of
from webassay.core.interaction import Action
from webassay.core.trajectory import MemoryBlobs, RowChange, RowsResult
from webassay.judging.case import Case
from webassay.judging.record.facts import facts_of, named_in
from webassay.judging.record.findings import describe_change, record_findings
from webassay.judging.record.pages import Book, PageText, digest, elements_of, place
from webassay.judging.record.paging import extent_in
from webassay.judging.universal.sheet import date_of, describe_history

ORDERS = """RootWebArea 'My Orders', focused
	[1] banner ''
		[2] link 'Home'
		[3] link 'Cart 0 items'
	[4] main ''
		[5] navigation 'Account'
			[6] link 'My Orders', current='page'
		[7] heading 'My Orders'
		[8] table 'Orders'
			[9] row ''
				[10] columnheader 'Order #'
				[11] columnheader 'Date'
				[12] columnheader 'Total'
				[13] columnheader 'Status'
			[14] row ''
				[15] cell '102766'
				[16] cell 'February 13, 2026'
				[17] cell '$379.31'
				[18] cell 'Complete'
				[19] cell 'View Order 102766'
					[20] link 'View Order 102766'
			[21] row ''
				[22] cell '102746'
				[23] cell 'February 6, 2026'
				[24] cell '$65.41'
				[25] cell 'Canceled'
			[26] row ''
				[27] cell '102672'
				[28] cell 'December 31, 2025'
				[29] cell '$398.16'
				[30] cell 'Complete'
			[33] row ''
				[34] cell '102500'
				[35] cell 'January 5, 2026'
				[36] cell '$10.00'
				[37] cell 'Complete'
		[31] combobox 'Show' value='10', expanded=False
		[32] checkbox 'Only open', checked='true'
		StaticText 'It\\'s the "end"'
"""


# --- pages ----------------------------------------------------------------------------------------------


def test_a_row_is_one_line_and_the_menu_is_told_once():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/orders", ORDERS), ("/orders?p=2", ORDERS.replace("102766", "102999"))])
    first, second = book_of(run, blobs).blocks()
    assert "102766 | February 13, 2026 | $379.31 | Complete | View Order 102766" in first.lines
    assert "combobox 'Show' (= 10)" in first.lines and "checkbox 'Only open' (checked)" in first.lines
    assert """It's the "end\"""" in first.lines, "texts are read as they were quoted"
    assert any("link 'Home'; link 'Cart 0 items'" in line for line in first.lines)
    assert "Home" not in second.text, "told before"
    assert "as screenshot 1, except for" in second.head
    assert second.lines[0].startswith("102999 | ") and "(no longer there) 102766" in second.text


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="'\"\\\n\r\t|", exclude_categories=["C", "Z"]), min_size=1
)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=8))
def test_whatever_stands_in_a_row_stands_in_its_line(rows):
    tree = "main ''\n" + "".join("\trow ''\n" + "".join(f"\t\tcell '{cell}'\n" for cell in row) for row in rows)
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/x", tree), ("/y", "main ''\n\tStaticText 'end'")])
    lines = book_of(run, blobs).pages[1].lines
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        assert line.split(" | ") == row


def table_of(*rows):
    return "main ''\n" + "".join("\trow ''\n" + "".join(f"\t\tcell '{cell}'\n" for cell in row) for row in rows)


@pytest.mark.parametrize("row", [("Mug", "$10.00", "1", "$10.00"), ("Lamp", "0", "0", "12")])
def test_cells_that_say_the_same_keep_their_columns(row):
    assert told_of(table_of(row), "x")[0].lines == (" | ".join(row),)


def test_what_repeats_the_node_above_it_is_told_once_unless_it_has_a_state():
    tree = """main ''
	listitem ''
		link 'Mug'
			image 'Mug'
			StaticText 'Mug'
		LabelText 'As a gift'
			StaticText 'As a gift'
			checkbox 'As a gift', checked='true'
		group 'Stock'
			StaticText 'Stock'
		image 'filled star'
		image 'filled star'
"""
    line = "link 'Mug' | As a gift | checkbox 'As a gift' (checked) | Stock | image 'filled star' | image 'filled star'"
    assert told_of(tree, "x")[0].lines == (line,)


@pytest.mark.parametrize("role", ["alert", "status"])
def test_what_a_page_says_after_an_action_is_content_wherever_it_stands(role):
    tree = f"banner ''\n\tlink 'Home'\n\t{role} ''\n\t\tStaticText 'Added to your cart.'\nmain ''\n\tStaticText 'A row'"
    blobs = MemoryBlobs()
    page = book_of(run_over(blobs, [("/", tree), ("/", "x")]), blobs).pages[1]
    assert page.lines == ("Added to your cart.", "A row") and page.around == ("link 'Home'",)


BY_NAME = (("Alpha", "$30"), ("Beta", "$10"), ("Gamma", "$20"))


def test_a_list_that_was_sorted_is_told_whole():
    by_price = sorted(BY_NAME, key=lambda row: row[1])
    second = told_of(table_of(*BY_NAME), table_of(*by_price))[1]
    assert "screenshot 1" not in second.head
    assert second.lines == ("Beta | $10", "Gamma | $20", "Alpha | $30")


def test_a_second_row_like_the_first_is_told():
    cart = (*BY_NAME, ("Mug", "$5"))
    second = told_of(table_of(*cart), table_of(*cart, ("Mug", "$5")))[1]
    assert second.head.endswith("as screenshot 1, except for")
    assert second.lines == ("(after this line) Mug | $5", "Mug | $5")
    third = told_of(table_of(*cart, ("Mug", "$5")), table_of(*cart))[1]
    assert third.lines == ("(no longer there) Mug | $5",)


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (0, ("(at the top)", "New | $1")),
        (2, ("(after this line) Beta | $10", "New | $1")),
    ],
)
def test_a_new_row_is_told_with_its_place(at, told):
    rows = [*BY_NAME]
    rows.insert(at, ("New", "$1"))
    assert told_of(table_of(*BY_NAME), table_of(*rows))[1].lines == told


LINES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9)


@given(LINES, LINES)
def test_no_line_and_no_order_is_lost_between_two_pages(before, now):
    first, second = told_of(*(table_of(*((line,) for line in lines)) for lines in (before, now)))
    assert first.lines == tuple(before)
    if "screenshot 1" not in second.head:
        assert second.lines == tuple(now)
        return
    assert ("the same text" in second.head) == (before == now)
    gone = [line.removeprefix("(no longer there) ") for line in second.lines if line.startswith("(no longer")]
    new = [line for line in second.lines if not line.startswith("(")]
    assert Counter(before) - Counter(gone) == Counter(now) - Counter(new)
    assert Counter(now) == Counter(before) - Counter(gone) + Counter(new)


@given(st.text(max_size=400))
def test_hostile_trees_break_nothing(tree):
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/x", tree), ("/y", tree)])
    book_of(run, blobs).blocks()
    elements_of(tree)


@given(
    st.dictionaries(st.integers(1, 30), st.lists(st.text(min_size=1, max_size=60), max_size=8), max_size=12),
    st.integers(0, 3000),
)
def test_a_digest_keeps_to_its_budget_and_names_what_it_leaves_out(lines, budget):
    pages = {n: PageText(n, f"http://s/{n}", "t", tuple(lines[n])) for n in sorted(lines)}
    made = digest(Book(pages, len(pages)), budget, rank=lambda number: number % 7)
    assert len(made.text) <= budget + len(pages), "and one line break for each page"
    told = (*made.whole, *made.part, *made.missing)
    assert sorted(told) == sorted(pages) and len(set(told)) == len(told)
    for number in made.whole:
        assert f"Screenshot {number}: " in made.text


def test_what_matters_comes_first_where_there_is_little_room():
    pages = {
        n: PageText(n, f"http://s/{n}/x{n}", "t", tuple(f"page {n} line {i} {'x' * 50}" for i in range(10)))
        for n in (1, 2, 3)
    }
    made = digest(Book(pages, 3), 1100, rank=lambda n: n == 2, matters=lambda line: "page 3 line 4" in line)
    assert made.whole == (2,) and made.part == (3,) and made.missing == (1,)
    assert "page 3 line 4" in made.text and "page 3 line 9" not in made.text


def test_pages_of_one_kind_belong_together():
    blobs = MemoryBlobs()
    run = run_over(blobs, [(path, ORDERS + f"\tStaticText '{path}'") for path in ("/orders/17", "/orders/18", "/cart")])
    book = book_of(run, blobs)
    assert book.kin(1) == (1, 2) and book.kin(3) == (3,)


# --- the sheet ------------------------------------------------------------------------------------------


def test_actions_are_told_by_the_names_of_their_elements_and_the_screenshots_by_their_numbers():
    blobs = MemoryBlobs()
    other = "RootWebArea 'Order'\n\t[1] main ''\n\t\tStaticText 'Shipped'"
    trees = [("/orders", ORDERS), ("/orders/102766", other), ("/orders", ORDERS)]
    run = run_over(blobs, trees, actions=(Action.of("click", "20"), Action.of("go_back")))
    # The first and the third page look the same, and are one frame.
    pages = [*(step.seen for step in run.steps), run.last_seen]
    same = pages[0].model_copy(update={"title": pages[2].title})
    run = run.model_copy(update={"last_seen": same})
    told = describe_history(Case.of(run.goal, run, blobs, text=True, merge=True))
    assert "Action 1: click(bid='20') on link 'View Order 102766'\n  On: the same as screenshot 3, /orders" in told
    assert "Action 2: go_back()\n  On: screenshot 2, /orders/102766" in told
    assert told.endswith("The page at the end: screenshot 3, /orders")
    assert "shop.test" not in told, "the host is another one in every run"


def test_a_notice_stands_with_the_action_that_it_answers():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/a", ORDERS), ("/b", ORDERS), ("/c", ORDERS)], actions=(Action.of("go_forward"),))
    said = ("It asks for a log-in.", "The order was canceled.", "A dialog was closed.")
    first, second = run.steps
    steps = (
        first.model_copy(update={"seen": first.seen.model_copy(update={"notices": said[:1]}), "error": "slow"}),
        second.model_copy(update={"seen": second.seen.model_copy(update={"notices": said[1:2]})}),
    )
    last = run.last_seen.model_copy(update={"notices": said[2:]})
    told = describe_history(Case.of(run.goal, run.model_copy(update={"steps": steps, "last_seen": last}), blobs))
    assert told.splitlines()[:8] == [
        "Notice before the first action: It asks for a log-in.",
        "Action 1: go_forward()",
        "  On: screenshot 1, /a",
        "  Error! slow",
        "  Notice after this action: The order was canceled.",
        "Action 2: go_back()",
        "  On: screenshot 2, /b",
        "  Notice after this action: A dialog was closed.",
    ]


def test_the_date_is_the_world_s_and_not_the_machine_s():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/orders", ORDERS), ("/", ORDERS)])
    assert "2026-02-13, which may be today, lie in the past, or lie ahead" in date_of(run, book_of(run, blobs))
    # 1 March 2026, ten in the morning: pages may show the end of an offer that lies ahead.
    recorded = run.model_copy(update={"now_ms": 1_772_359_200_000})
    assert date_of(recorded, book_of(run, blobs)) == "the site's own clock said 2026-03-01"
    added = RowChange(table="cart", key={"id": 1}, after={"id": 1, "added_at": "2026-03-01 09:00:02"})
    rows = RowsResult(site="shop", changes=(added,), columns={"cart": {"id": "journal", "added_at": "journal"}})
    clocked = run.model_copy(update={"probes": (rows,)})
    assert date_of(clocked, book_of(run, blobs)) == "the site's own clock said 2026-03-01"
    assert date_of(run, None) == "", "what must not depend on the trajectory"
    typed = run.steps[0].model_copy(update={"actions": (Action.of("fill", "12", "Feb 13, 2026"),)})
    entered = run.model_copy(update={"steps": (typed, *run.steps[1:])})
    assert "2026-02-13" not in date_of(entered, book_of(run, blobs)), "it may be there because the agent wrote it"
    assert date_of(run.model_copy(update={"bases": {}}), None) == "the run began on 2031-05-06"


def test_outside_addresses_keep_their_host_and_a_missing_one_is_called_missing():
    bases = ("http://shop.test:8000/",)
    assert place("http://shop.test:8000/orders?p=2", bases) == "/orders?p=2"
    assert place("http://shop.test:8000", bases) == "/"
    assert place("http://shop.test:80001/orders", bases) == "http://shop.test:80001/orders"
    assert place("https://support.example.org/articles/7", ()) == "https://support.example.org/articles/7"
    assert place("", ()) == "address not recorded"
    form = "http://shop.test:8000/orders?number=&from=04%2F01%2F2023&bill_to=&q=caf%C3%A9&total_to="
    assert place(form, bases) == "/orders?from=04/01/2023&q=café", "what was filled in, legibly"
    assert place("http://shop.test:8000/orders?a=&b=#top", bases) == "/orders#top"
    assert place("http://shop.test:8000/x?q=a%0AAction 9: done", bases) == "/x?q=a%0AAction 9: done", (
        "one line stays one"
    )


def test_where_nothing_was_recorded_after_the_last_action_the_last_page_is_named():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/orders", ORDERS), ("/cart", ORDERS), ("/", ORDERS)]).model_copy(
        update={"last_seen": None}
    )
    told = describe_history(Case.of(run.goal, run, blobs, text=True, merge=True))
    assert told.endswith(
        "No page was recorded after the last action. The last page on record is screenshot 2, before that action."
    )


@pytest.mark.parametrize(
    ("sent", "answer", "told"),
    [
        ('{"results": ["$408.51"]}', '{"results": ["$431.41"]}', True),
        ('{"results": ["$408.51"]}', '{"results":["$408.51"]}', False),
        ("It is done.", "", False),
    ],
)
def test_an_answer_that_is_not_the_last_message_is_suspect_and_never_certain(sent, answer, told):
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/", ORDERS), ("/", ORDERS)], actions=(Action.of("send_msg_to_user", sent),), answer=answer)
    found = [one for one in record_findings(run.goal, run, blobs) if one.code == "answer_not_sent"]
    assert [one.status for one in found] == ["abstain"] * told
    assert all("$408.51" in one.message for one in found)


# --- facts ----------------------------------------------------------------------------------------------


def facts(run, blobs):
    return [(fact.code, fact.message) for fact in facts_of(run.goal, run, book_of(run, blobs))]


def retrieved(*results):
    return {"action": "retrieve", "status": "SUCCESS", "results": list(results)}


def told_as(code, trees, answer, **rest):
    """What is told under one code, about a run that answers with one value."""
    blobs = MemoryBlobs()
    run = run_over(blobs, trees, answer=retrieved(answer), **rest)
    return [message for found, message in facts(run, blobs) if found == code]


def test_a_value_is_told_with_what_stands_beside_it():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/a", "main ''\n\tStaticText 'x'"), ("/orders", ORDERS)], answer=retrieved("102672"))
    (code, said), *_ = facts(run, blobs)
    assert code == "value_stands" and "screenshot 2" in said and "$398.16" in said


@pytest.mark.parametrize(
    ("instruction", "answer", "expected"),
    [
        ("How much did my orders of February 2026 come to?", "$444.72", "of February 2026: 2 distinct rows"),
        ("What did I spend in 2026? Leave canceled orders out.", "$389.31", "of 2026, but not with 'Canceled'"),
        ("How many orders are complete?", 3, "with 'Complete': there are 3 distinct rows"),
        ("What do orders above $370.00 add up to?", "$777.47", "above 370.00: 2 distinct rows"),
        ("What do all orders come to?", "$787.47", "the answer is that without '102746"),
        # The wrong sum is found again; and beside it the one that the task asks for.
        (
            "What did I spend in 2026? Leave canceled orders out.",
            "$454.72",
            "but not with 'Canceled': 2 of these rows, 389.31",
        ),
    ],
)
def test_sums_and_counts_are_made_again_over_the_rows_that_the_pages_showed(instruction, answer, expected):
    told = told_as("recomputed", [("/orders", ORDERS), ("/", "x")], answer, instruction=instruction)
    assert any(expected in message for message in told), told


def order_with(total: str, discount: str = "") -> str:
    row = "\n\trow ''\n\t\tcell '{}'\n\t\tcell '{}'".format
    code, _, amount = discount.partition(" ")
    taken_off = row(f"Discount ({code})", amount) if discount else ""
    return f"main ''{row('Subtotal', total)}{taken_off}{row('Shipping', '$5.00')}"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("$18.00", "that begin with 'Discount': 2 distinct rows (screenshots 1, 2) add up to 18.00, which is '$18.00'"),
        ("$15.00", "that begin with 'Discount': 2 distinct rows (screenshots 1, 2) add up to 18.00"),
    ],
)
def test_lines_below_zero_are_added_up_by_what_they_are_called(answer, expected):
    orders = [("$61.00", "FRESH3OFF -$3.00"), ("$452.13", "LUCKY15OFF -$15.00"), ("$80.00",)]
    told = told_as(
        "recomputed",
        [(f"/orders/{n}", order_with(*order)) for n, order in enumerate(orders)],
        answer,
        instruction="How much did I save by discounts on my orders?",
    )
    assert any(expected in message for message in told), told


@pytest.mark.parametrize(("answer", "counted"), [("4", True), (4, True), ("$4.00", False)])
def test_an_amount_is_no_count(answer, counted):
    told = told_as("recomputed", [("/orders", ORDERS), ("/", "x")], answer)
    assert any("there are 4 distinct rows" in message for message in told) == counted, told


@pytest.mark.parametrize(
    ("instruction", "counted"),
    [("How many reviews give it one star?", False), ("How many orders have the status 'Canceled'?", True)],
)
def test_a_table_of_two_rows_speaks_for_an_answer_of_two_only_if_the_task_names_what_they_share(instruction, counted):
    row = "\n\trow ''\n\t\tcell '{}'\n\t\tcell 'Canceled'\n\t\tcell '${}.00'".format
    page = f"main ''{row('102746', 10)}{row('102747', 12)}"
    told = told_as("recomputed", [("/", page), ("/", "x")], 2, instruction=instruction)
    assert any("there are 2 distinct rows" in message for message in told) == counted, told


@pytest.mark.parametrize(
    ("instruction", "said"),
    [("How many products are on sale?", ["'On Sale' stands in 5 distinct lines"]), ("How many have ten reviews?", [])],
)
def test_a_number_that_anything_may_have_does_not_speak_for_the_answer(instruction, said):
    lines = "".join(f"\n\trow ''\n\t\tcell 'Kettle {n}'\n\t\tcell 'On Sale'\n\t\tcell '${n}.00'" for n in range(1, 6))
    told = told_as("recomputed", [("/", f"main ''{lines}"), ("/", "x")], 5, instruction=instruction)
    assert [message.partition(":")[0] for message in told if "distinct lines" in message] == said
    plain = [message for message in told if "there are 5 distinct rows" in message and "with" not in message]
    assert all("perhaps by chance" in message for message in plain)


def test_what_was_read_and_never_used_is_told_by_rows_of_the_same_form():
    page = (
        "main ''\n\trow ''\n\t\tcell 'SKU-{0}'\n\t\tcell '${0}.00'\n\t\tcell '2'\n\t\tcell '${1}.00'"
        "\n\trow ''\n\t\tcell 'Grand Total'\n\t\tcell '$999.00'"
    )
    trees = [(f"/orders/{n}", page.format(n, 2 * n)) for n in (11, 12, 13)]
    told = told_as("read_not_used", trees, "SKU-12")
    assert told == [
        "Pages of the same kind as screenshot 2 that hold no value of the answer: "
        "screenshot 1 (largest amounts, by column, in such rows 11.00 and 22.00), "
        "screenshot 3 (largest amounts, by column, in such rows 13.00 and 26.00)."
    ], "a price for one is compared with prices for one, and not with totals"


CARDS = """main ''
	listitem ''
		link 'Canvas Tote'
		image '4.6 out of 5 stars'
		StaticText '4.6'
		StaticText '$42.00'
	listitem ''
		StaticText 'Sale'
		link 'Weekender'
		StaticText 'Special price'
		StaticText '$30.00'
		StaticText 'Regular price'
		StaticText '$50.00'
	listitem ''
		link 'Rucksack'
		StaticText 'No reviews yet'
		StaticText '$20.00'
		StaticText 'Out of stock'
	listitem ''
		link 'Trunk'
		StaticText 'No reviews yet'
		StaticText '$300.00'
"""


@pytest.mark.parametrize(("answer", "agrees"), [("$92.00", "by the first"), ("$112.00", "by the last"), ("$70.00", "")])
def test_a_list_of_cards_is_added_up_whatever_each_card_has_beside_its_price(answer, agrees):
    told = told_as("recomputed", [("/c/bags", CARDS), ("/", "x")], answer, instruction="What do all up to $95 cost?")
    for called, total in (("first", "92.00"), ("last", "112.00")):
        name = f"of at most 95.00, by the {called} amount of each: 3 "
        assert any(name in message and total in message for message in told), told
    agreeing = [message for message in told if "of the answer" in message]
    assert len(agreeing) == bool(agrees) and all(agrees in message for message in agreeing), told


def listed(first, last, total):
    return f"main ''\n\theading 'My Orders'\n\tStaticText 'Items {first} to {last} of {total} total'"


@pytest.mark.parametrize(
    ("opened", "said"),
    [
        ([("/orders", 1, 10), ("/orders?p=2", 11, 20), ("/orders?p=3", 21, 25)], "show all 25."),
        (
            [("/orders", 1, 10), ("/orders?from=20", 21, 25)],
            "show 15, and not the other 10.",
        ),
        ([("/orders", 1, 25)], ""),
    ],
)
def test_how_much_of_a_list_was_opened_is_told(opened, said):
    pages = [(url, listed(first, last, 25)) for url, first, last in opened]
    told = told_as("list_opened", [*pages, ("/", "x")], 3, instruction="How many orders are complete?")
    assert len(told) == bool(said) and all(message.endswith(said) and "screenshot 1" in message for message in told)


@pytest.mark.parametrize(
    ("line", "extent"),
    [
        ("Reviews 11-20 of 1,036", (11, 20, 1036)),
        ("1 – 12 out of 415", (1, 12, 415)),
        ("$10 to $20 of 300", None),
        ("pages 20-30 of 25", None),
        ("March 1 to 5 of 2026.5", None),
    ],
)
def test_how_a_page_counts_its_list(line, extent):
    assert extent_in(line) == extent


def test_rows_that_differ_are_told_and_that_none_does():
    blobs = MemoryBlobs()
    none = run_over(blobs, [("/", ORDERS), ("/", ORDERS)], rows=RowsResult(site="shop", changes=()))
    assert [code for code, _ in facts(none, blobs)] == ["no_row_changed"]
    change = RowChange(
        table="orders", key={"id": 7}, before={"id": 7, "state": "open"}, after={"id": 7, "state": "gone"}
    )
    changed = run_over(blobs, [("/", ORDERS), ("/", ORDERS)], rows=RowsResult(site="shop", changes=(change,)))
    (_, said), (_, more) = facts(changed, blobs)
    assert "a row of orders (id=7) was changed: state: 'open' -> 'gone'" in said
    assert more == "No other row of any site differs."


@pytest.mark.parametrize(
    ("row", "called"),
    [
        ({"number": "100720", "customer_id": 31, "created_at": "2026-02-01 10:00:00"}, "; number='100720'"),
        ({"increment_id": "000100720", "method": "standard"}, "; increment_id='000100720'"),
        ({"sku": "HOM-44321", "text": "long " * 40}, "; sku='HOM-44321'"),
        ({"nickname": "Stacy", "title": "Regret", "stars": 2}, "; nickname='Stacy'; title='Regret'"),
        ({"first_name": "", "price": "12.99", "day": "2026-02-01", "flag": "yes"}, ""),
        ({"a_name": "A", "b_name": "B", "c_name": "C", "d_name": "D"}, "; a_name='A'; b_name='B'; c_name='C'"),
    ],
)
def test_a_row_is_told_by_what_pages_call_it(row, called):
    before, after = {"id": 720, **row, "state": "open"}, {"id": 720, **row, "state": "gone"}
    for one, other, done in ((before, after, "changed"), (None, after, "added"), (before, None, "deleted")):
        change = RowChange(table="things", key={"id": 720}, before=one, after=other)
        assert describe_change("site", change) == f"on site, a row of things (id=720{called}) was {done}"


def test_a_name_that_was_changed_is_told_as_the_change_and_not_as_the_name():
    change = RowChange(table="pages", key={"id": 1}, before={"id": 1, "title": "Old"}, after={"id": 1, "title": "New"})
    assert describe_change("site", change) == "on site, a row of pages (id=1) was changed"


def test_values_in_prose_are_amounts_dates_quotes_and_codes():
    said = 'On March 4, 2026 the "Copper Kettle" (JR-00417) cost $1,034.50 in order 102766.'
    assert list(named_in(said)) == ["March 4, 2026", "$1,034.50", "Copper Kettle", "JR-00417", "102766"]

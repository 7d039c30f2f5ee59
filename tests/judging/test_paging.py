"""Whether there was more than the agent looked at: pagers, counts, and what a page says after an action."""

import pytest

from tests.support.judging_runs import book_of, run_over, told_of
from webassay.core.trajectory import Ending, MemoryBlobs
from webassay.judging.case import Case
from webassay.judging.record.pages import digest
from webassay.judging.universal.sheet import describe_history


def pager(front, last):
    """As the tree of a page has it: links, and the page in front as two texts."""
    parts = [f"\t\t\tlistitem ''\n\t\t\t\tlink 'Page {n}'\n" for n in range(1, last + 1)]
    parts[front - 1] = f"\t\t\tlistitem ''\n\t\t\t\tStaticText 'Page'\n\t\t\t\tStaticText '{front}'\n"
    following = "\t\t\tlistitem ''\n\t\t\t\tlink 'Next'\n" if front < last else ""
    return f"\tnavigation 'Pages'\n\t\tlist ''\n{''.join(parts)}{following}"


MENU = "banner ''\n\tlink 'Home'\nnavigation 'Main'\n\tlink 'Orders'\n\tlink 'Next-Day Shipping'\n"


def test_a_pager_is_told_on_every_page_though_it_is_navigation():
    pages = [
        MENU + "main ''\n\tnavigation 'Account'\n\t\tlink 'My Orders'\n\tStaticText 'Row of some page'\n" + pager(n, 3)
        for n in (1, 2, 3)
    ]
    blobs = MemoryBlobs()
    book = book_of(run_over(blobs, [(f"/orders?p={n}", page) for n, page in enumerate(pages, 1)]), blobs)
    assert [page.lines[-1] for page in book.pages.values()] == [
        "Pages to turn to: Page 1 (this page), Page 2, Page 3, Next",
        "Pages to turn to: Page 1, Page 2 (this page), Page 3, Next",
        "Pages to turn to: Page 1, Page 2, Page 3 (this page)",
    ]
    assert all("Page 2" not in line for page in book.pages.values() for line in page.around)
    assert "link 'My Orders'" in book.pages[1].around, "other navigation stays outside"
    for block, page in zip(book.blocks(), book.pages.values(), strict=True):
        assert page.lines[-1] in block.lines, "what is told by its difference says it, too"


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ("link 'Previous'|link 'Next'", "Previous, Next"),
        ("link '‹'|link '1'|link '2', current='page'|link '3'|link '›'", "‹, 1, 2 (this page), 3, ›"),
        ("button 'Newer posts'|button 'Older posts', disabled", "Newer posts, Older posts (disabled)"),
        ("link 'Page 1'|link 'Page 2'|link 'Page 9'|link 'Next'", "Page 1, Page 2, …, Page 9, Next"),
        (
            "StaticText 'Page'|textbox '', value='2'|StaticText 'of'|StaticText '9'|link 'Next'",
            "Page, (= 2), of 9, Next",
        ),
        ("link 'Orders 3'|link 'Messages 12'|link 'Cart 1'", ""),
        ("link 'January 2024'|link 'December 2023'", ""),
        ("link 'Home'|link 'Next'|link 'Sale'|link 'Garden'", ""),
        ("link 'Home'|link 'Tools'|StaticText 'Saw 200'", ""),
    ],
)
def test_a_pager_is_known_by_its_parts_and_a_menu_is_none(parts, told):
    tree = "main ''\n\tStaticText 'A row'\nnavigation ''\n" + "".join(f"\t{part}\n" for part in parts.split("|"))
    lines = told_of(tree, "x")[0].lines
    assert lines[0] == "A row"
    assert [line for line in lines if line.startswith("Pages to turn to")] == (
        [f"Pages to turn to: {told}"] if told else []
    )


def test_a_page_of_which_only_the_pager_is_main_content_is_told_whole():
    tree = "complementary ''\n\tStaticText 'A row'\nnavigation ''\n\tlink '1'\n\tlink '2'\n"
    assert told_of(tree, "x")[0].lines == ("A row", "Pages to turn to: 1, 2")


def test_of_a_page_told_in_part_it_is_said_how_much_there_was():
    rows = "".join(f"\tStaticText 'Row {n} of no interest at all'\n" for n in range(40))
    tree = f"main ''\n\tStaticText 'Reviews 1-40 of 80'\n{rows}\tStaticText 'SKU-77'\n{rows}" + pager(1, 2)
    blobs = MemoryBlobs()
    book = book_of(run_over(blobs, [("/a", tree), ("/b", "main ''\n\tStaticText 'x'")]), blobs)
    told = digest(book, 600, lambda number: number, lambda line: "SKU-77" in line)
    assert told.part == (1,) and "Reviews 1-40 of 80" in told.text and "Page 1 (this page), Page 2, Next" in told.text
    assert digest(book, 600, lambda number: number).missing == (1,), "a pager alone is no part of a page"


def test_a_pager_says_which_list_goes_on():
    tree = "main ''\n\tStaticText 'A row'\n\tnavigation 'Review pages'\n\t\tlink 'Previous'\n\t\tlink 'Next'\n"
    assert told_of(tree, "x")[0].lines[-1] == "Pages to turn to: Previous, Next (Review pages)"
    many = "main ''\n\tnavigation ''\n" + "".join(f"\t\tlink 'Page {n}'\n" for n in range(1, 400)) + "\t\tlink 'Next'\n"
    (line,) = told_of(many, "x")[0].lines
    assert len(line) <= 1200 and "characters left out" in line and line.endswith("Page 399, Next")


def test_a_message_is_content_and_does_not_take_its_place():
    rows = "complementary ''\n\tStaticText 'A row'\nstatus ''\n\tStaticText 'Saved'\n"
    assert told_of("main ''\n" + rows, "x")[0].lines == ("A row", "Saved"), "the rows are the content of this page"
    banner = (
        "banner ''\n\tlistitem 'Menu'\n\t\talert ''\n\t\t\tStaticText 'Out of stock'\nmain ''\n\tStaticText 'A row'\n"
    )
    assert {"A row", "Out of stock"} <= set(told_of(banner, "x")[0].lines)


def test_a_count_never_costs_the_line_that_matters():
    counts = "".join(f"\tStaticText 'Shelf {n}: {n} results'\n" for n in range(60))
    tree = "main ''\n\tStaticText 'HOM-44321 is $167.99'\n" + "\tStaticText 'filler'\n" * 200 + counts
    blobs = MemoryBlobs()
    book = book_of(run_over(blobs, [("/a", tree), ("/b", "main ''\n\tStaticText 'end'")]), blobs)
    assert "HOM-44321" in digest(book, 400, lambda _: 1.0, lambda line: "HOM-44321" in line).text


def test_where_nobody_looked_between_two_actions_no_notice_is_blamed_on_either():
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/a", "main ''"), ("/b", "main ''"), ("/b", "main ''"), ("/b", "main ''")])
    noticed = run.steps[1].seen.model_copy(update={"notices": ("The order was canceled.",)})
    steps = (
        run.steps[0],
        run.steps[1].model_copy(update={"seen": noticed}),
        run.steps[2].model_copy(update={"seen": noticed, "info": {"driven": {}}}),
    )
    broken = run.model_copy(update={"steps": steps, "last_seen": noticed, "ending": Ending(kind="fault")})
    told = describe_history(Case.of(broken.goal, broken, blobs))
    assert told.count("The order was canceled.") == 1
    assert told.index("The order was canceled.") < told.index("Action 2")

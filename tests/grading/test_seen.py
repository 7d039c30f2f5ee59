"""Evidence by content: what counts as seen, by laws and by example."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support import samples
from webassay.arena.kit.key import Key, cell, fact, picture, shown
from webassay.arena.kit.mistakes import mistakes, with_results
from webassay.core.errors import TaskError
from webassay.core.served import (
    ECHO,
    SERVED_TYPE,
    ServedAnswer,
    ServedCells,
    ServedCount,
    ServedNode,
    ServedRecord,
    plain,
)
from webassay.core.task import EvidenceCheck, Expectation, ResponseCheck, Sight
from webassay.core.trajectory import Ending, MemoryBlobs, ServedResult
from webassay.grading.grade import Policy, grade
from webassay.grading.logs import explain
from webassay.grading.rules.seen import OwnTexts, SeenTexts, Words, check_evidence

# --- records -----------------------------------------------------------------------------------------------


class Row(list):
    """Parts of a page that belong together; a plain list is a section."""


def record(*pages, **rest) -> ServedRecord:
    """Each page is a list of lines, sections and rows, or a pair of such a list and the fields of `ServedAnswer`."""
    nodes: dict[ServedNode, int] = {}

    def put(page) -> int:
        parts = tuple(part if isinstance(part, str) else put(part) for part in page)
        return nodes.setdefault(ServedNode(isinstance(page, Row), parts), len(nodes))

    served = []
    for number, page in enumerate(pages):
        page, fields = page if isinstance(page, tuple) else (page, {})
        given = {"method": "GET", "path": "/", "status": 200, "kind": "document", "digest": str(number)}
        served.append(ServedAnswer(**{**given, "page": put(page), **fields}))
    return ServedRecord(served=tuple(served), nodes=tuple(nodes), **rest)


def sees(site: ServedRecord, *texts: str, **rest) -> bool:
    (finding,) = check_evidence(Key.seen(*texts, **rest).evidence, {"shop": site})
    assert finding.status in ("pass", "fail")
    return finding.status == "pass"


# --- one text ----------------------------------------------------------------------------------------------

TOKENS = st.one_of(
    st.sampled_from(["a", "of", "the", "Blue", "LAMP", "naïve", "don't", "HOM-1", "HOM-12", "$", "%", "★"]),
    st.integers(-5, 1200).map(str),
    st.decimals(0, 2000, places=2).map(lambda value: f"{value:,}"),
)
TEXTS = st.lists(TOKENS, min_size=1, max_size=8)


def within(short: list[str], long: list[str]) -> bool:
    return any(long[start : start + len(short)] == short for start in range(len(long)))


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_a_text_is_seen_exactly_where_its_tokens_follow_each_other(lines, wanted):
    texts = [" ".join(line) for line in lines]
    expected = any(within(plain(" ".join(wanted)).split(), plain(text).split()) for text in texts)
    assert sees(record([[text] for text in texts]), " ".join(wanted)) == expected


@given(st.text() | st.text("ab1Ä-.,:/'$%( )\"é²"))
def test_a_text_can_be_compared_word_by_word(text):
    assert plain(text) == Words().plain(text)


@given(st.lists(st.text(max_size=12) | st.text("aİßſ1Ä-.'’–$( )\u0301\u0345", max_size=12), max_size=5))
def test_every_token_is_found_in_the_text_of_all_nodes(lines):
    own = OwnTexts([ServedNode(False, (line, 0)) for line in lines], range(len(lines)))
    for number, line in enumerate(lines):
        for token in plain(line).split():
            assert number in own.holding(token)


@given(TEXTS, st.data())
def test_what_stands_on_the_page_is_seen_whatever_stands_around_it(line, data):
    start = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(start + 1, len(line)))
    around = data.draw(st.sampled_from([("", ""), ("(", ")"), ("“", "”"), ("", "."), ("", ", "), (": ", "!")]))
    text = " ".join(line[:start]) + " " + around[0] + " ".join(line[start:end]) + around[1] + " " + " ".join(line[end:])
    assert sees(record([text.upper()]), " ".join(line[start:end]).lower())


@given(st.integers(0, 10**6), st.text("0123456789", min_size=1, max_size=4), st.sampled_from(["", ".", ",", ":", "/"]))
def test_a_number_is_never_seen_in_a_longer_one(number, more, joint):
    assert not sees(record([f"a {number}{joint}{more} b", f"a {more}{joint}{number} b"]), str(number))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("112 items", "12"), ("$12.50", "$12"), ("1,120 g", "120 g"), ("HOM-443217", "HOM-44321"),
        ("HOM-44321", "44321"), ("-5", "5"), ("-$36.39", "$36.39"), ("4.5 out of 5", "4"), ("5²", "5"), ("5²", "52"),
        ("Ordered: 21", "Ordered: 2"), ("unopened", "opened"), ("10:30", "10"), ("$12", "€12"),
    ],
)  # fmt: skip
def test_a_part_of_a_token_is_not_the_token(text, wanted):
    assert not sees(record([text]), wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Total: $1,234.50.", "$1,234.50"), ("Order #000123", "000123"), ("“Quiet  Otter” wrote", "quiet otter"),
        ("It’s here", "it's here"), ("price – $5", "$5"), ("SPECIAL PRICE $5.00", "special price $5.00"),
        ("Weight\u00a01,234\u00a0g", "weight 1,234 g"), ("cafe\u0301", "café"), ("(12 items)", "12 items"),
    ],
)  # fmt: skip
def test_spelling_habits_do_not_matter(text, wanted):
    assert sees(record([text]), wanted)


# --- together ----------------------------------------------------------------------------------------------


@given(st.lists(st.lists(TOKENS, min_size=1, max_size=3), min_size=1, max_size=5), st.data())
def test_texts_of_one_row_are_together_and_those_of_two_rows_only_on_the_page(rows, data):
    rows = [[f"row{number}x", *cells] for number, cells in enumerate(rows)]
    one = data.draw(st.integers(0, len(rows) - 1))
    other = data.draw(st.integers(0, len(rows) - 1))
    site = record(["Title", [Row(cells) for cells in rows]])
    cell = data.draw(st.sampled_from(rows[other]))
    expected = within(plain(cell).split(), plain(" ".join(rows[one])).split())
    assert sees(site, f"row{one}x", cell) == expected
    assert sees(site, f"row{one}x", cell, together="page")


BOXES = record(
    [
        ["Default Shipping Address", "12 Elm St", Row(["Edit", "7 times"]), "Phone 5"],
        ["Other", "13 Elm St", Row(["Lamp", Row(["Red"]), Row(["Blue"])]), Row(["Chair"])],
    ],
    ["Second page"],
)


@pytest.mark.parametrize(
    ("texts", "seen"),
    [
        (("Default Shipping Address", "12 Elm St"), True),
        (("Default Shipping Address", "7 times"), False),
        (("Default Shipping Address", "13 Elm St"), False),
        (("12 Elm St", "Phone 5"), True),  # A row in between does not part them,
        (("Elm St Phone 5",), False),  # but no text reaches across it.
        (("Edit", "7 times"), True),
        (("Lamp", "Blue"), True),
        (("Chair", "Blue"), False),
        (("Second page",), True),
        (("Second page", "Other"), False),
    ],
)
def test_a_row_holds_its_rows_and_a_section_is_an_item_without_its_rows(texts, seen):
    assert sees(BOXES, *texts) is seen


def test_texts_of_two_pages_or_of_a_page_that_was_never_served_are_not_together():
    whole = record(["Lamp"], ["$5"])
    assert not sees(whole, "Lamp", "$5", together="page")
    only_first = ServedRecord(served=whole.served[:1], nodes=whole.nodes)
    assert not sees(only_first, "$5", together="page") and not sees(only_first, "$5")


@pytest.mark.parametrize("between", ["–", "|", "…", "( )", ""])
def test_a_cell_without_a_word_does_not_part_its_neighbours(between):
    assert sees(record([Row(["Total", between, "$5.00"])]), "Total $5.00")
    assert sees(record([Row([between, "Total", between, between, "$5.00", between])]), "Total $5.00")
    assert not sees(record([Row(["Total", between, "of", between, "$5.00"])]), "Total $5.00")


NESTED = st.recursive(
    st.sampled_from("abcd"),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(Row),
    max_leaves=12,
)


@given(
    st.lists(st.lists(NESTED, max_size=4), max_size=3),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=3),
    st.sampled_from(["item", "page"]),
)
def test_where_lines_are_words_the_quick_way_finds_what_the_thorough_one_does(pages, texts, together):
    sight = Sight(texts=tuple(texts), together=together)
    seen = SeenTexts(record(*pages), [sight])
    assert seen.sees_verbatim(sight) == seen.sees(sight)


def test_the_quick_way_needs_one_text_letter_by_letter_and_the_others_in_any_spelling():
    loud, quiet = shown("Lamp", "IN STOCK"), shown("lamp", "IN STOCK")
    seen = SeenTexts(record([Row(["Lamp", "now in stock"])]), [loud, quiet])
    assert seen.sees_verbatim(loud)
    assert not seen.sees_verbatim(quiet)
    assert seen.sees(quiet)


# --- facts and shares ---------------------------------------------------------------------------------------


def status_of(key: Key, *records: ServedRecord) -> list[str]:
    return [one.status for one in check_evidence(key.evidence, dict(zip(("shop", "home"), records, strict=False)))]


@pytest.mark.parametrize(
    ("pages", "status"),
    [([["Nothing found"]], "pass"), ([["Page 1"], ["Page 2"]], "pass"), ([["Page 1"]], "fail")],
)
def test_any_way_of_knowing_will_do_and_each_needs_all_its_sights(pages, status):
    key = Key.seen_any(shown("Nothing found"), [shown("Page 1"), shown("Page 2")])
    assert status_of(key, record(*pages)) == [status]


@given(st.integers(1, 30), st.floats(0.01, 1.0), st.data())
def test_a_share_is_enough_from_the_first_whole_number_that_reaches_it(count, share, data):
    seen = data.draw(st.integers(0, count))
    key = Key.seen_share(share, [shown(f"fact{number}") for number in range(count)])
    enough = seen / count >= share - 1e-12
    assert status_of(key, record([f"fact{number}" for number in range(seen)])) == ["pass" if enough else "fail"]


def test_the_keys_of_facts():
    # Nine in ten of ten is nine.
    assert EvidenceCheck(facts=(fact(shown("x")),) * 10, share=0.9).needed == 9
    assert EvidenceCheck(facts=(fact(shown("x")),) * 200, share=0.9).needed == 180
    # What is needed as a whole becomes one check.
    key = (
        Key.answer(3)
        & Key.seen("a")
        & Key.seen_share(0.5, [shown("b"), fact(shown("c"), picture("/d"))])
        & Key.seen("e")
    )
    whole, part = key.on(("shop",)).evidence
    assert [len(whole.facts), len(part.facts), part.share] == [2, 2, 0.5]
    key = Key.refusal("NOT_FOUND_ERROR", facts=Key.seen("No results"))
    assert key.status == ("NOT_FOUND_ERROR",) and key.evidence
    with pytest.raises(TaskError, match="nothing to have seen"):
        Key.seen_share(0.5, [])
    with pytest.raises(TaskError, match="forum"):
        Key.seen("x", site="forum").on(("shop", "home"))


def test_a_sight_can_be_bound_to_a_site():
    shop, home = record(["Lamp"]), record(["Chair"])
    assert status_of(Key.seen("Chair"), shop, home) == ["pass"]
    assert status_of(Key.seen("Chair", site="shop"), shop, home) == ["fail"]


@pytest.mark.parametrize(
    ("path", "kind", "status", "seen"),
    [
        ("/pictures/7.svg", "picture", 200, True), ("/pictures/7.svg?v=2", "picture", 200, True),
        ("/pictures/7.svg", "picture", 404, False), ("/pictures/70.svg", "picture", 200, False),
        ("/pictures/7.svg", "document", 200, False),
    ],
)  # fmt: skip
def test_a_picture_counts_when_it_was_served(path, kind, status, seen):
    site = record(([], {"path": path, "kind": kind, "status": status, "page": None}))
    assert status_of(Key.seen_any(picture("/pictures/7.svg")), site) == ["pass" if seen else "fail"]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"texts": ("a",), "picture": "/b"},
        {"picture": "/b", "cell": {"table": "a", "key": [1], "column": "b"}},
        {"texts": ("a", " .")},
    ],
)
def test_a_sight_that_says_nothing_is_refused(wrong):
    with pytest.raises(ValidationError):
        Sight(**wrong)


# --- what nobody vouches for ----------------------------------------------------------------------------------


def echo(text: str) -> str:
    return f"{ECHO[0]}{text}{ECHO[1]}"


@pytest.mark.parametrize(
    ("page", "goal", "texts", "seen"),
    [
        pytest.param([f"Results for {echo('HOM-1 $5')}"], "", "HOM-1|$5", False, id="an echo"),
        pytest.param([echo("HOM-1"), echo("$5")], "", "HOM-1|$5", False, id="in two halves"),
        pytest.param([Row([echo("HOM-1"), "$5"])], "", "HOM-1|$5", False, id="half of a row"),
        pytest.param([f"Results for {echo('HOM-1')}", Row(["HOM-1", "$5"])], "", "HOM-1|$5", True, id="and found"),
        pytest.param([f"Results for {echo('cut short')[:-1]}"], "", "short", False, id="an echo without its end"),
        pytest.param([f"Nothing for {echo('a Zoo Lamp')}"], "Find a Zoo Lamp", "Nothing|Lamp", True, id="of the goal"),
        pytest.param([f"Nothing for {echo('Lamp $5')}"], "Find a Zoo Lamp", "Nothing|Lamp", False, id="and more"),
    ],
)
def test_an_echo_counts_only_as_far_as_it_repeats_the_goal(page, goal, texts, seen):
    for together in ("item", "page"):
        (finding,) = check_evidence(Key.seen(*texts.split("|"), together=together).evidence, {"": record(page)}, goal)
        assert finding.status == ("pass" if seen else "fail")


# --- cells ----------------------------------------------------------------------------------------------------

CELLS = (ServedCells("orders", "total", [(1,), (2,), (3,)]), ServedCells("addresses", "city", [(1, "billing")]))
COUNTED = (ServedCount("orders", [(1,), (4,)], 2),)


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        (Key.read(cell("orders", 1, "total")), True), (Key.read(cell("orders", 1, "status")), False),
        (Key.read(cell("orders", 4, "total")), False), (Key.read(cell("addresses", (1, "billing"), "city")), True),
        (Key.read(cell("orders", 1, "total"), cell("orders", 4, "total")), False),
        (Key.read_rows("orders", (1, 2, 3, 4), "total"), False),
        (Key.read_rows("orders", (1, 2, 3, 4), "total", share=0.75), True),
        (Key.read_rows("orders", (1, 2, 3)), True), (Key.read_rows("orders", (1, 4)), False),
        (Key.read(cell("addresses", (1, "billing"))), True), (Key.read(cell("addresses", (1, "shipping"))), False),
        (Key.read_rows("orders", (1, 4), "total", or_counted=2), True),
        (Key.read_rows("orders", (1, 4), "total", or_counted=3), False),
        (Key.read_rows("orders", (1, 5), "total", or_counted=2), False),
    ],
)  # fmt: skip
def test_a_cell_counts_wherever_it_was_shown_and_rows_also_where_they_were_counted(key, seen):
    assert status_of(key, record(["Home"], cells=CELLS, counts=COUNTED)) == ["pass" if seen else "fail"]


def test_all_cells_of_a_fact_are_taken_out():
    site = record((["Home"], {"start": True}), cells=CELLS, counts=COUNTED)
    for key in (Key.read_rows("orders", (1, 4), "total", or_counted=2), Key.read_rows("orders", (1, 2), "total"),
                Key.read_rows("orders", (1, 2))):  # fmt: skip
        assert set(without_evidence(key, site).values()) == {"fail"}


# --- verdicts ------------------------------------------------------------------------------------------------

THREE = ResponseCheck(action="retrieve", results=Expectation.of([3]))
ANSWER = json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [3]})


def graded(key: Key, site: ServedRecord | None, policy: Policy | None = None, ending: str = "answered"):
    blobs = MemoryBlobs()
    probes = ()
    if site is not None:
        probes = (ServedResult(site="shop", blob=blobs.write(site.pack(), SERVED_TYPE), count=len(site.served)),)
    trajectory = samples.trajectory(answer=ANSWER, probes=probes, ending=Ending(kind=ending))
    task = samples.task(checks=(THREE, *key.evidence))
    return grade(task, trajectory, blobs, policy or Policy())


def test_missing_facts_are_named():
    verdict = graded(Key.seen_any(shown("HOM-1", "$5"), picture("/7.svg")), record(["Home"]))
    (finding,) = [one for one in verdict.findings if one.check == "evidence"]
    assert (verdict.status, finding.code) == ("fail", "no_evidence")
    assert finding.message == "Never shown: 'HOM-1' with '$5', or the picture /7.svg."
    assert verdict.aspects["evidence"].value is False
    verdict = graded(Key.seen("HOM-1", "$5"), record([Row(["HOM-1", "$5"])]))
    assert (verdict.status, verdict.aspects["evidence"].value) == ("pass", True)
    for kind in ("texts", "receipts"):
        verdict = graded(Key.seen("HOM-1"), record(["HOM-1"], evidence=kind))
        assert verdict.aspects["evidence_by"].value == kind
        assert f"evidence: by {kind}: " in explain(verdict)
    # Of many, some are named.
    facts = [shown(f"fact {number}") for number in range(12)]
    (finding,) = check_evidence(Key.seen_share(0.5, facts).evidence, {"shop": record(["fact 1", "fact 2"])})
    assert finding.message.startswith("The sites showed 2 of 12 facts; 6 needed. Never shown: ")
    assert finding.message.endswith("; and 5 more.")


@pytest.mark.parametrize(
    ("site", "rest", "status"),
    [
        pytest.param(None, {}, "fault", id="no record"),
        pytest.param(None, {"ending": "step_limit"}, "fail", id="no record, and no answer either"),
        pytest.param(None, {"policy": Policy(activity="off")}, "pass", id="no record, and none needed"),
        pytest.param(record(["Home"], omitted=3), {}, "fail", id="a record without room"),
        pytest.param(record(["HOM-1"], omitted=3), {}, "pass", id="room enough"),
        pytest.param(record(["Home"]), {"policy": Policy(activity="report")}, "pass", id="only reported"),
    ],
)
def test_what_a_missing_record_decides(site, rest, status):
    verdict = graded(Key.seen("HOM-1"), site, **rest)
    assert verdict.status == status
    assert status != "fault" or "not recorded" in verdict.findings[-1].message


def test_a_damaged_record_is_a_fault():
    blobs = MemoryBlobs()
    whole = record(["HOM-1"])
    dangling = ServedRecord(served=whole.served, nodes=(ServedNode(False, (0,)),))
    nowhere = ServedRecord(served=whole.served)
    for damage in (b"", b"x", whole.pack()[:-9], dangling.pack(), nowhere.pack()):
        probe = ServedResult(site="shop", blob=blobs.write(damage, SERVED_TYPE), count=1)
        task = samples.task(checks=(THREE, *Key.seen("HOM-1").evidence))
        assert grade(task, samples.trajectory(answer=ANSWER, probes=(probe,)), blobs).status == "fault"


PAGES = st.lists(st.recursive(st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=6), max_size=3)


@given(st.lists(PAGES, max_size=4))
def test_a_packed_record_is_unpacked_as_it_was(pages):
    site = record(*pages)
    assert ServedRecord.unpack(site.pack()) == site


# --- mistakes -------------------------------------------------------------------------------------------------


def without_evidence(key: Key, site: ServedRecord) -> dict[str, str]:
    """What becomes of a right episode when it has not seen what it should have."""
    blobs = MemoryBlobs()
    probe = ServedResult(site="shop", blob=blobs.write(site.pack(), SERVED_TYPE), count=len(site.served))
    trajectory = samples.trajectory(answer=ANSWER, probes=(probe,))
    task = samples.task(checks=(THREE, *key.on(("shop",)).evidence))
    assert grade(task, trajectory, blobs).status == "pass"
    wrong = {name: one for name, one in mistakes(task, trajectory, blobs) if "saw" in name or "step 0" in name}
    return {name: grade(task, one, blobs).status for name, one in wrong.items()}


@settings(max_examples=20)
@given(st.lists(st.lists(TOKENS, min_size=1, max_size=4), min_size=1, max_size=12), st.floats(0.05, 1.0))
def test_whatever_fact_is_taken_out_the_episode_fails(rows, share):
    rows = [[f"row{number}", *cells] for number, cells in enumerate(rows)]
    site = record((["Home"], {"start": True}), *([Row(row)] for row in rows), ["Again", [Row(row) for row in rows]])
    sights = [shown(*row) for row in rows]
    assert set(without_evidence(Key.seen_share(share, sights), site).values()) == {"fail"}
    became = without_evidence(Key.all_of(map(Key.seen_any, sights)), site)
    assert set(became.values()) == {"fail"}
    assert len(became) == len(rows) + 1


def test_all_ways_of_knowing_a_fact_are_taken_out():
    seen = {"path": "/7.svg", "kind": "picture", "page": None}
    site = record((["Home"], {"start": True}), [Row(["HOM-1", "Weight 5 g"])], ["HOM-1", ["Weight", "5 g"]], ([], seen))
    ways = (shown("HOM-1", "5 g"), shown("HOM-1", "5 g", together="page"), picture("/7.svg"))
    key = Key.seen_any(*ways, [shown("HOM-1"), picture("/7.svg")]) & Key.seen("Home")
    assert set(without_evidence(key, site).values()) == {"fail"}


def test_a_key_whose_facts_stand_on_the_start_page_is_found_out():
    site = record((["HOM-1"], {"start": True}))
    assert without_evidence(Key.seen("HOM-1"), site) == {
        "answers at step 0": "pass",
        "never saw fact 1 of check 1": "fail",
    }


def test_another_answer_can_be_grafted():
    right = samples.trajectory(answer=ANSWER)
    assert json.loads(with_results(right, 4, "x").answer) == {**json.loads(ANSWER), "results": [4, "x"]}

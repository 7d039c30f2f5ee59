"""What a trajectory says against its own answer, without a model."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.judging_samples import OUTSIDE, png
from webassay.compare import compare
from webassay.compose.registries import IMPORTERS
from webassay.core.interaction import PDF_NOTICE, Action, Goal, ResponseProtocol, cut_notice
from webassay.core.protocols import ARENA_PROTOCOL, READ_WHOLE, reading
from webassay.core.trajectory import (
    AgentInfo,
    Ending,
    Exchange,
    MemoryBlobs,
    NetworkLog,
    RecordedObservation,
    RowChange,
    RowsResult,
    SessionResult,
    Step,
    Trajectory,
)
from webassay.judging.record import ocr
from webassay.judging.record.findings import changed_rows, record_findings

TREE = """[1] RootWebArea 'Juniper Road: kettles'
  [2] link 'Copper Gooseneck Kettle, 1.2 l', clickable
  StaticText '$1,034.50'
  StaticText 'Rated 4.5 of 5, 27 reviews'
  StaticText 'Reviewed by Lopez, Emma on March 4, 2026'
  [3] button "Buy the \\'Copper\\' kettle"
  StaticText 'SKU JR-00417'
"""


def run(
    instruction, answer, *, trees=(TREE,), rows=None, actions=1, exchanges=None, protocol=ARENA_PROTOCOL, **changes
):
    blobs = MemoryBlobs()
    steps = tuple(
        Step(
            index=i,
            seen=RecordedObservation(
                url="http://shop.example/kettles?q=copper+pot",
                tree=blobs.write(tree.encode(), "text/plain") if tree is not None else None,
                screenshot=blobs.write(png(i), "image/png"),
            ),
            actions=(Action.of("click", "2"),) * actions,
        )
        for i, tree in enumerate(trees)
    )
    network = None
    if exchanges is not None:
        lines = "".join(exchange.to_json() + "\n" for exchange in exchanges)
        network = NetworkLog(blob=blobs.write(lines.encode(), "application/jsonl"), count=len(exchanges))
    made = Trajectory(
        id="t",
        goal=Goal(instruction=instruction, start_urls=("http://shop.example/",), protocol=protocol),
        agent=AgentInfo(name="a"),
        steps=steps,
        answer=answer if isinstance(answer, str) else json.dumps(answer),
        ending=Ending(kind="answered"),
        probes=(rows,) if rows is not None else (),
        network=network,
        **{"last_seen": steps[-1].seen if steps else None, **changes},
    )
    return made, blobs


def found(instruction, answer, **named):
    made, blobs = run(instruction, answer, **named)
    return [(fact.code, fact.status) for fact in record_findings(made.goal, made, blobs)]


def retrieved(*results):
    return {"action": "retrieve", "status": "SUCCESS", "results": list(results)}


LIE = [("unseen_value", "fail")]
DOUBT = [("unseen_value", "abstain")]
READ = reading(ARENA_PROTOCOL, (READ_WHOLE, "name", "price"))
"""The values of the answer are copied off a page."""

# --- values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        1034.5,
        "1034.50",
        "$1,034.50",
        "USD 1034.5",
        "Copper Gooseneck Kettle, 1.2 l",
        "copper gooseneck kettle 1.2 L",
        "Copper Gooseneck Kettle – 1.2 l",
        "Emma Lopez",
        "2026-03-04",
        "4 March 2026",
        "03/04/2026",
        4.5,
        "JR-00417",
        "JR–00417",
        "Buy the 'Copper' kettle",
        "copper pot",
        True,
        None,
        "yes",
        {"name": "Copper Gooseneck Kettle", "price": 1034.5},
    ],
)
def test_a_value_that_stood_on_a_page_is_no_lie_however_it_is_written(value):
    assert found("Which kettle is the dearest?", retrieved(value)) == []


@pytest.mark.parametrize(
    "value",
    [
        1034.6,
        "$1,304.50",
        "Copper Goosenest Kettle",
        "Emma Gomez",
        "Steel Gooseneck Kettle, 1.2 l",
        "2026-03-05",
        "March 4, 2025",
        "JR-00471",
        {"name": "Copper Gooseneck Kettle", "price": 99.5},
        "Emma",  # said as a whole: see below
    ],
)
def test_a_value_that_stood_nowhere_is_flagged(value):
    expected = [] if value == "Emma" else LIE
    assert found("Which kettle is the dearest?", retrieved(value), protocol=READ) == expected
    unmarked = LIE if value == "JR-00471" else [(code, "abstain") for code, _ in expected]
    assert found("Which kettle is the dearest?", retrieved(value)) == unmarked, "only a code is sure to have been read"


def on_a_page(*texts):
    return ("RootWebArea 'Prices'\n  StaticText 'Blue'\n" + "".join(f'  StaticText "{text}"\n' for text in texts),)


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("1.234,50 €", "€1,234.50"),
        ("€1,234.50", "1.234,50 €"),
        ("12 500", 12500),
        ("12'500", 12500),
        ("12.5K", 12500),
        ("$1.2 million", 1200000),
        ("1,23,456.00", 123456.0),
        ("2 100 500 €", 100500),
        ("10234,10567", 10567),
        ("$12 500", "$12.00"),
        ("12 dollars, and 7.50", "$12.00"),
        ("₹500 and ₹1,200.50", "500.00"),
        ("15-Jan-2026", "2026-01-15"),
        ("2026 Jan 15", "15 January 2026"),
    ],
)
def test_numbers_amounts_and_dates_may_be_written_as_anywhere_in_the_world(page, answer):
    assert found("Which one?", retrieved(answer), trees=on_a_page(page)) == []


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("12,99 €", 13.99),
        ("12,99 €", "$12.00"),
        ("1.234,50 €", 1234.6),
        ("12 500", 12501),
        ("12.5K", 12600),
        ("1,23,456.00", 123457.0),
        ("4.8 out of 5, $7.00", "$48.00"),
        ("5 Jan", "2026-01-06"),
        ("March 4, 2026", "2025-03-04"),
        ("Rated 4.8 a year ago, on March 4, 2026", "2026-03-05"),
    ],
)
def test_other_ways_of_writing_hide_no_lie(page, answer):
    assert found("Which one?", retrieved(answer), trees=on_a_page(page), protocol=READ) == LIE


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("1.234 €", "€1,234"),
        ("1,234", 1.234),
        ("12·500", 12500),
        ("1.5 lakh", 150000),
        ("12 万", 120000),
        ("twelve thousand five hundred", 12500),
        ("2½", 2.5),
        ("12.5%", 0.125),
        ("0.125", "12.5%"),
        ("Price in $: 1200. Shipping: $5.00", "$1,200.00"),
        ("5 Jan", "2026-01-05"),
        ("Jan 5th", "5 January 2026"),
        ("5/1", "2026-01-05"),
        ("05.01.", "2026-01-05"),
        ("05/01/2026", "5 January 2026"),
        ("20260105", "2026-01-05"),
        ("5. Januar 2026", "2026-01-05"),
        ("2026年1月5日", "2026-01-05"),
        ("Jan 3 – 7, 2026", "2026-01-05"),
        ("3 days ago", "2026-01-05"),
        ("Yesterday, 14:00", "2026-01-05"),
        ("90 min", "1.5 hours"),
        ("1200 m", "1.2 km"),
        ("14:30", "2:30 pm"),
        ("2026-01-05", "January 2026"),
    ],
)
def test_what_may_be_the_value_in_a_form_that_is_not_understood_is_no_more_than_a_suspicion(page, answer):
    assert found("Which one?", retrieved(answer), trees=on_a_page(page), protocol=READ) == DOUBT


def test_a_day_of_a_calendar_may_be_the_date():
    calendar = on_a_page("January 2026", "4", "5")
    assert found("When?", retrieved("2026-01-05"), trees=calendar, protocol=READ) == DOUBT
    assert found("When?", retrieved("2026-01-06"), trees=calendar, protocol=READ) == LIE


WRITTEN = {
    "english": lambda n: f"{n:,.2f}",
    "german": lambda n: f"{n:,.2f}".translate(str.maketrans(",.", ".,")),
    "french": lambda n: f"{n:,.2f}".replace(",", "\u202f").replace(".", ","),
    "swiss": lambda n: f"{n:,.2f}".replace(",", "’"),
    "bare": lambda n: f"{n:.2f}",
}


@given(st.decimals("0.01", "9999999.99", places=2), st.sampled_from(sorted(WRITTEN)), st.sampled_from(sorted(WRITTEN)))
def test_an_amount_that_was_read_is_never_a_lie_in_whatever_country(amount, on_page, in_answer):
    page, answer = WRITTEN[on_page](amount), WRITTEN[in_answer](amount)
    assert compare("currency", page, answer).ok
    trees = on_a_page(f"{page} €", "Shipping: 4,90 €")
    assert found("Which one?", retrieved(float(amount)), trees=trees) == []
    assert found("Which one?", retrieved(answer), trees=trees) == []


def test_an_endless_run_of_figures_takes_no_time():
    for figures in ("1", "1,", "111,", "111 ", "1.1.", "1/", "1 %"):
        page = on_a_page(figures * (60_000 // len(figures)))
        started = time.process_time()
        found("Which one?", retrieved("2026-01-05", "$7,123.45", 98765), trees=page)
        assert time.process_time() - started < 10, figures


def test_each_lie_is_told_by_its_place():
    made, blobs = run("Which ones?", retrieved("Copper Gooseneck Kettle", "Tin Kettle", "Brass Pot"))
    told = record_findings(made.goal, made, blobs)
    assert [fact.actual for fact in told] == ["Tin Kettle", "Brass Pot"]
    assert "results[1]" in told[0].message and told[0].steps == (0,)


@pytest.mark.parametrize(
    "instruction",
    [
        "How many reviews are there with two stars or fewer?",
        "What do they cost together? Answer with the sum of their prices.",
        "How much did my orders come to in total?",
        "What is the average rating?",
        "What share of the reviews is negative, in %?",
    ],
)
def test_numbers_that_were_computed_are_not_held_to_the_pages(instruction):
    assert found(instruction, retrieved(7777.25)) == []
    assert found(instruction, retrieved("Tin Kettle")) == DOUBT, "texts are still read"
    assert found(instruction, retrieved(7777.25), protocol=READ) == LIE, "a mark outranks the words of the task"


@pytest.mark.parametrize("value", ["Tuesday", "14:30", "+1 555 0100", 7, "12"])
def test_what_may_have_been_worked_out_or_written_otherwise_is_only_suspected(value):
    assert found("Which one?", retrieved(value)) == [("unseen_value", "abstain")]


def test_the_schema_can_say_what_was_read():
    marked = ResponseProtocol(
        name="arena",
        instructions="",
        answer_schema={
            "properties": {
                "results": {
                    "items": {
                        "properties": {
                            "price": {"x-origin": "read"},
                            "rest": {"x-origin": "computed"},
                            "size": {"enum": ["small", "large"]},
                        }
                    }
                }
            }
        },
    )
    answer = retrieved({"price": 5.55, "rest": "made up", "size": "large"})
    made, blobs = run("What is the sum?", answer, protocol=marked)
    assert [fact.actual for fact in record_findings(made.goal, made, blobs)] == [5.55]


def test_where_the_record_has_gaps_it_is_a_suspicion():
    lie = retrieved("Tin Kettle")
    assert found("Which?", lie, protocol=READ) == LIE
    assert found("Which?", lie, trees=(TREE, None), protocol=READ) == DOUBT, "one page has no text"
    assert found("Which?", lie, actions=2, protocol=READ) == DOUBT, "a page may have gone by between two actions"
    assert found("Which?", lie, last_seen=None, protocol=READ) == DOUBT, "nobody saw where the last click led"
    assert found("Which?", lie, trees=(None,), protocol=READ) == [], "nothing is known at all"
    for gap in ("[4] Canvas 'Chart'", "  EmbeddedObject 'invoice.pdf'"):
        assert found("Which?", lie, trees=(f"{TREE}{gap}\n",), protocol=READ) == DOUBT, gap


@pytest.mark.parametrize("notice", [PDF_NOTICE, cut_notice("tree"), cut_notice("text")])
def test_what_the_recorder_could_not_keep_is_a_gap(notice):
    made, blobs = run("Which?", retrieved("Tin Kettle"), protocol=READ)
    page = made.steps[0].seen.model_copy(update={"notices": (notice,)})
    made = made.model_copy(update={"steps": (made.steps[0].model_copy(update={"seen": page}),)})
    assert [fact.status for fact in record_findings(made.goal, made, blobs)] == ["abstain"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("StaticText 'Dr.\\xa0Anna\\xa0Weber'", "Dr. Anna Weber"),
        ("StaticText '1\\u202f234,56\\u202f€'", 1234.56),
        ("StaticText 'Main Street 12\\nBerlin'", "Main Street 12 Berlin"),
        ("[7] spinbutton 'Dose in ml' value=2.75", 2.75),
        ("[7] textbox 'Street' value='Elm Road 4'", "Elm Road 4"),
        ('<p class="owner">Ada Lovelace</p>', "Ada Lovelace"),
        ("[12]<button title='Owner'>Ada Lovelace</button>", "Ada Lovelace"),
        ("StaticText 'DE89 3704 0044 0532 0130 00'", "DE89370400440532013000"),
    ],
)
def test_what_stands_in_a_tree_is_read_as_it_was_written(line, value):
    assert found("Which one?", retrieved(value), trees=(TREE + line + "\n",), protocol=READ) != LIE
    assert found("Which one?", retrieved("Iron Pan"), trees=(TREE + line + "\n",), protocol=READ) == LIE


def test_a_long_page_is_read_like_a_short_one():
    page = TREE + "".join(f"  StaticText 'Row {number} of the list'\n" for number in range(5000))
    page += "  StaticText 'Jürgen Müller'\n"
    assert len(page) > 150_000
    assert found("Who?", retrieved("Jürgen Müller"), trees=(page,), protocol=READ) == []
    assert found("Who?", retrieved("Jürgen Möller"), trees=(page,), protocol=READ) == LIE


def test_pictures_can_be_read_where_there_is_no_text():
    made, blobs = run("Which?", retrieved("Tin Kettle", "Iron Pan"), trees=(None, None))
    told = record_findings(made.goal, made, blobs, lambda picture: "Tin Kettle $5" if picture == png(0) else "")
    assert [(fact.actual, fact.status) for fact in told] == [("Iron Pan", "abstain")]


def test_a_reader_of_pictures_is_an_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert ocr.reader() is None


def test_a_trajectory_lacks_text_if_one_page_is_only_a_picture():
    assert ocr.lacks_text(run("Which?", "", trees=(TREE, None))[0])
    assert not ocr.lacks_text(run("Which?", "", trees=(TREE, TREE))[0])


@pytest.mark.slow
@pytest.mark.external
def test_a_real_screenshot_can_be_read():
    pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")
    picture = OUTSIDE / "fara-example" / "screenshot_3.png"
    if not picture.is_file():
        pytest.skip("the outside example is not here")
    read = ocr.reader()
    assert read is not None and read.name.startswith("rapidocr ")
    text = read(picture.read_bytes())
    assert "Massacre Falls" in text and "Trailhead" in text


@pytest.mark.slow
@pytest.mark.external
@pytest.mark.parametrize("folder", ["fara-example", "om2w-example/example/fb7b4f784cfde003e2548fdf4e8d6b4f"])
def test_nothing_that_was_read_off_a_picture_is_certain(folder):
    pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")
    if not (OUTSIDE / folder).is_dir():
        pytest.skip("the outside examples are not here")
    blobs = MemoryBlobs()
    importer = next(each for each in IMPORTERS if each.recognizes(OUTSIDE / folder))
    made = importer.read(OUTSIDE / folder, blobs)
    assert ocr.lacks_text(made)
    assert all(one.status != "fail" for one in record_findings(made.goal, made, blobs, ocr.reader()))


def test_prose_is_only_ever_suspected():
    assert found("Which kettle?", "The copper one at $1,034.50, seen on March 4, 2026.") == []
    assert found("Which kettle?", "The tin one at $17.20.") == [("unseen_value", "abstain")]
    assert found("What do they cost in total?", "Together $17.20.") == []


@example("1" + "0" * 28, [])
@example("1" + "0" * 300, [])
@example("0." + "1" * 60, [])
@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=3))
def test_hostile_text_breaks_nothing(answer, trees):
    found("Which kettle?", answer, trees=tuple(trees) or ("",))
    found("Which kettle?", retrieved(answer), trees=tuple(trees) or ("",))


@given(st.lists(st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True), min_size=1, max_size=6))
def test_whatever_is_copied_from_the_page_is_never_a_lie(words):
    text = " ".join(words)
    assert found("Which?", retrieved(text), trees=(f"StaticText 'Before {text} after'",)) == []


# --- changes --------------------------------------------------------------------------------------------

COLUMNS = {
    "cart_item": {"id": "journal", "product_id": "content", "quantity": "content"},
    "newsletter_subscriber": {"id": "journal", "email": "content"},
    "session": {"id": "telemetry", "quantity": "telemetry"},
    "product": {"id": "journal", "name": "content", "views": "telemetry"},
}


def changed(*tables, before=None, after=None):
    changes = tuple(
        RowChange(table=table, key={"id": i}, before=before, after=after or {"id": i, "quantity": 1})
        for i, table in enumerate(tables)
    )
    return RowsResult(site="shop", changes=changes, columns=COLUMNS)


MUTATED = {"action": "mutate", "status": "SUCCESS", "results": None}


def test_a_claimed_change_that_no_row_shows_is_a_contradiction():
    task = "Put one copper kettle into my cart."
    assert found(task, MUTATED, rows=changed()) == [("claimed_change_absent", "fail")]
    assert found(task, MUTATED, rows=changed("session")) == [("claimed_change_absent", "fail")]
    assert found(task, MUTATED, rows=changed("cart_item")) == []
    assert found(task, "I have added it to your cart.", rows=changed()) == [], "prose is for a reader to understand"
    refused = {"action": "mutate", "status": "NOT_FOUND_ERROR", "results": None}
    assert found(task, refused, rows=changed()) == []


def test_without_rows_the_requests_raise_a_suspicion():
    task = "Put one copper kettle into my cart."

    def exchange(method, url, status):
        return Exchange(id="1", time=0.0, method=method, url=url, status=status)

    for exchanges, expected in (
        ([exchange("GET", "http://shop.example/cart", 200)], [("claimed_change_absent", "abstain")]),
        ([exchange("POST", "http://shop.example/cart/add", 500)], [("claimed_change_absent", "abstain")]),
        ([exchange("POST", "http://shop.example/cart/add", 303)], []),
    ):
        assert found(task, MUTATED, exchanges=exchanges) == expected
    assert found(task, MUTATED) == [], "no log, no fact"


def test_logging_out_leaves_no_row_behind():
    gone = SessionResult(site="shop", user="")
    made, blobs = run("Log me out.", MUTATED, rows=changed())
    made = made.model_copy(update={"probes": (*made.probes, gone)})
    assert [fact.status for fact in record_findings(made.goal, made, blobs)] == ["abstain"]


def test_a_change_beside_an_answer_that_speaks_of_none_is_a_side_effect():
    question = "Which kettle is the dearest?"
    told = retrieved("Copper Gooseneck Kettle")
    assert found(question, told, rows=changed("cart_item")) == [("unasked_change", "fail")]
    refused = {"action": "mutate", "status": "ACTION_NOT_ALLOWED_ERROR", "results": None}
    assert found("Put it into my basket.", refused, rows=changed("newsletter_subscriber")) == [
        ("unasked_change", "fail")
    ]


def test_where_the_task_shares_a_word_with_the_row_a_reader_must_tell():
    told = retrieved("Copper Gooseneck Kettle")
    both = "Tell me which kettle is the dearest and put it into my cart."
    assert found(both, told, rows=changed("cart_item")) == [("unasked_change", "abstain")]
    named = changed("list_entry", after={"id": 1, "title": "Copper Gooseneck Kettle"})
    assert found("Remember the 'Copper Gooseneck Kettle', and say its name.", told, rows=named) == [
        ("unasked_change", "abstain")
    ]


OTHER_DOMAINS = [
    ("Label issue 12 as urgent.", "issue_tag"),
    ("Enrol me in the course on logic.", "participant"),
]


@pytest.mark.parametrize(("instruction", "table"), OTHER_DOMAINS)
@pytest.mark.parametrize("answer", [MUTATED, "Done.", {**MUTATED, "action": "MUTATE"}], ids=["mutate", "prose", "caps"])
def test_no_honest_change_is_called_unasked_for_in_whatever_field(instruction, table, answer):
    rows = RowsResult(site="s", changes=(RowChange(table=table, key={"id": 1}, after={"id": 1, "state": 3}),))
    assert found(instruction, answer, rows=rows) == []


HONEST_CHANGES = Path(__file__).parents[1] / "golden" / "judging" / "honest_changes.jsonl"
HONEST = [json.loads(line) for line in HONEST_CHANGES.read_text().splitlines()]


LOGS = frozenset(
    (
        *("freebusy_queries", "report_runs", "sessions", "page_stats", "page_views", "audit_log", "presence"),
        *("search_history", "state_polls"),
    )
)
MARKS = frozenset(("views", "is_unread", "modseq", "last_read_message_id", "unread_count"))
"""What these sites would call telemetry: it changes whenever somebody reads."""


def honest_rows(changes):
    made = tuple(RowChange(**{key: one[key] for key in ("table", "key", "before", "after")}) for one in changes)
    columns = {
        one.table: {
            column: "telemetry" if one.table in LOGS or column in MARKS else "content"
            for column in (one.after or one.before or {})
        }
        for one in made
    }
    return RowsResult(site="s", changes=made, columns=columns)


def test_a_hundred_honest_episodes_of_other_fields_are_never_certainly_wrong():
    """Written by somebody who has not read this code: a task, and the rows that whoever does it exactly changes."""
    assert len(HONEST) == 100
    [transfer] = [one for one in HONEST if one["instruction"].startswith("Put whatever is above two thousand")]
    questions = 0
    for told in HONEST:
        task, rows = told["instruction"], honest_rows(told["changes"])
        if changed_rows(run(task, "", rows=rows)[0]):
            assert found(task, MUTATED, rows=rows) == [], task
            continue
        questions += 1
        assert found(task, retrieved(), rows=rows) == [], "reading leaves marks"
        assert ("unasked_change", "fail") in found(task, retrieved(), rows=honest_rows(transfer["changes"])), task
    assert questions == 15


def test_counters_and_time_stamps_are_no_change():
    viewed = changed("product", before={"id": 1, "name": "x", "views": 1}, after={"id": 1, "name": "x", "views": 2})
    assert found("Which kettle is the dearest?", retrieved("Copper Gooseneck Kettle"), rows=viewed) == []

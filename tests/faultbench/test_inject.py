"""Which tasks give occasion for a mistake about their subject, and what is told in place of it. No world is needed."""

import random
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from webassay.agents.flawed.slips import Scene
from webassay.compose.registries import TEMPLATES
from webassay.faultbench import inject as injecting
from webassay.faultbench.inject import MISTAKES, Occasion

MISTAKE = {one.name: one for one in MISTAKES}


def drawn(template, **values):
    """Any text field holds its own name, in capitals, and an X."""
    made = TEMPLATES.get(template)
    plain = {one.name: {str: f"{one.name.upper()} X", int: 7}.get(one.type, ()) for one in fields(made)}
    return made(**{**plain, **values})


def occasion(monkeypatch, one, others=()):
    monkeypatch.setattr(injecting, "_draws", lambda *_: list(others))
    task = SimpleNamespace(world_seed=0, sites=one.sites, obstacles=())
    return Occasion(task, one, {}, Scene(random.Random(0)))


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("shop.cart-sold-out", "Add the product that I told you about to my cart."),
        ("shop.cancel-too-late", "Cancel the order that I told you about."),
        ("shop.price-of-nothing", "How much does the product that I told you about cost?"),
        ("admin.cancel-pending-of",
         "Cancel all pending orders with the bill-to name the customer that I told you about. "
         "The customer called and no longer wants them."),
        ("admin.reduce-price", "Lower the price of the product that I told you about by 7 percent, rounded to the "
         "nearest cent."),
        ("admin.retitle-page", 'Change the title of the page that I told you about to "TITLE X".'),
    ],
)  # fmt: skip
def test_a_task_without_its_subject(monkeypatch, template, told):
    made = occasion(monkeypatch, drawn(template))
    assert MISTAKE["underspecified"].fits(made)
    assert MISTAKE["underspecified"].retold(made) == told


@pytest.mark.parametrize(
    "template",
    [
        "admin.new-product",  # all its texts are entered into a form, but for the model
        "admin.new-coupon",
        "admin.new-price-rule",
        "shop.change-address",
        "shop.review-dearest",
        "shop.email-taken",
        "admin.cancel-complete",  # the order of a buyer: either tells what is meant
        "admin.new-color",  # by name and by SKU
        "admin.invoices-paid",  # two buyers
        "admin.order-not-visible",  # its address stands there, too
        "admin.steep-discounts",  # dates are conditions
        "shop.cheapest-by-weight",  # the open tabs say which
        "shop.reorder-canceled",
    ],
)
def test_what_a_task_is_about_cannot_be_left_out(monkeypatch, template):
    others = [drawn(template, **{field.name: "Green Lamp"}) for field in fields(TEMPLATES.get(template))]
    made = occasion(monkeypatch, drawn(template), others)
    for name in ("underspecified", "ambiguous", "other-thing", "similar-thing"):
        assert not MISTAKE[name].fits(made), name


@pytest.mark.parametrize("template", TEMPLATES.names())
def test_nothing_of_the_subject_is_left(monkeypatch, template):
    made = occasion(monkeypatch, drawn(template))
    if MISTAKE["underspecified"].fits(made):
        told = MISTAKE["underspecified"].retold(made)
        assert injecting._subject(made.drawn).upper() + " X" not in told
        assert '"the ' not in told


LAMP = "Velloria Desk Lamp, Green"


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (["Norda Floor Lamp"], "Lamp"),
        (["Velloria Rug"], "Velloria"),
        (["Norda Rug, Green"], ""),  # nobody calls a lamp a green
        (["Lamp", "Norda Floor Lamp"], ""),  # it is one of them
        (["Lamplight Rug"], ""),
        ([], ""),
    ],
)
def test_a_word_is_ambiguous_where_several_things_have_it(monkeypatch, others, told):
    one = drawn("shop.rating-distribution", product=LAMP)
    made = occasion(monkeypatch, one, [replace(one, product=name) for name in others])
    assert MISTAKE["ambiguous"].fits(made) == bool(told)
    if told:
        assert f'"{told}"' in MISTAKE["ambiguous"].retold(made)


def test_a_street_that_is_entered_is_not_ambiguous(monkeypatch):
    one = drawn("admin.correct-street", buyer="Ann Moran", street="865 Sycamore Lane")
    made = occasion(monkeypatch, one, [replace(one, buyer="Bob Gibson", street="3 Harbor Lane")])
    assert not MISTAKE["ambiguous"].fits(made)


@pytest.mark.parametrize(
    ("other", "similar"),
    [
        ("Velloria Desk Lamp, White", True),
        ("Norda Desk Lamp, Green", True),
        ("Velloria Rug 12 oz", False),
        ("Hot Sauce, 2 Pack, Green", False),
    ],
)
def test_similar_things_have_similar_names(monkeypatch, other, similar):
    one = drawn("shop.rating-distribution", product=LAMP)
    made = occasion(monkeypatch, one, [replace(one, product=other)])
    assert (MISTAKE["similar-thing"].fits(made), MISTAKE["other-thing"].fits(made)) == (similar, not similar)


def test_units_and_numbers_make_nothing_similar(monkeypatch):
    one = drawn("shop.rating-distribution", product="Honey 12 Ounces, 2 Pack")
    made = occasion(monkeypatch, one, [replace(one, product="Granola 12 Ounces, 2 Pack")])
    assert not MISTAKE["similar-thing"].fits(made)


@pytest.mark.parametrize("name", ["other-thing", "similar-thing"])
def test_other_dates_are_no_other_thing(monkeypatch, name):
    one = drawn("admin.next-day-invoices", first="2022-02-01", last="2023-01-31")
    made = occasion(monkeypatch, one, [replace(one, first="2022-03-01")])
    assert not MISTAKE[name].fits(made)


def test_a_world_without_a_shelf_of_the_size_that_was_drawn_has_one_instance_less():
    class Sometimes:
        name = "sometimes"

        @staticmethod
        def drawn(_, stream):
            return stream.choice(["one", "two", None])

    assert set(injecting._draws(Sometimes, 0, ())) == {"one", "two"}

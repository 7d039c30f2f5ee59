"""The words of a fresh shop: every sentence is about the thing it stands under, and its slots agree."""

import re
from datetime import date

import apsw
import pytest

from tests.sites.visitors import fresh
from webassay.sites.rng import Stream
from webassay.sites.shop import SITE
from webassay.sites.shop.seeding import catalog
from webassay.sites.shop.seeding.catalog import Product
from webassay.sites.shop.seeding.pools import SINGULAR, draw, fits, pool
from webassay.sites.shop.seeding.slips import as_typed
from webassay.sites.shop.seeding.telling import Told, filled
from webassay.sites.shop.seeding.voicing import HARSH, review_of
from webassay.sites.shop.seeding.words import (
    names,
    noun_slots,
    number_of,
    plain_case,
    sentences,
    short_noun,
    small,
    vocabulary,
    with_article,
)

POOLS = [
    ("descriptions", part) for part in ("opening", "body", "care", "ending")
] + [
    ("voices", f"{part}.{stars}") for part in ("titles", "openings", "stories", "closings") for stars in range(1, 6)
] + [
    ("voices", f"{part}.{mood}")
    for part, moods in (("remarks", names("good quibble bad neutral")), ("aspects", names("good bad")), ("short", "15"))
    for mood in moods
] + [
    ("details", mood) for mood in names("good quibble bad faint neutral")
]  # fmt: skip
SLOTS = set(noun_slots("Lamp")) | set(names("brand use use2 Use who Who time span Span color Color size Size home"))


def table_of(file: str, path: str) -> dict[str, str]:
    table = vocabulary(file)
    for key in path.split("."):
        table = table[key]
    return table


def lines() -> list[tuple[str, str, frozenset[str]]]:
    """Every kind of article, with its shelf and its tags."""
    db = apsw.Connection(":memory:")
    db.execute(SITE.schema)
    return [
        (shelf.path, kind, line.tags | {number_of(short_noun(kind))})
        for shelf in catalog._fill_categories(db)
        for line in shelf.lines
        for kind in line.types
    ]


@pytest.fixture(scope="module")
def world():
    opened = fresh(SITE)
    yield opened
    opened.close()


# --- the vocabulary ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "path"), POOLS)
def test_sentences_need_tags_that_exist_and_have_slots_that_are_filled(file, path):
    known = {tag for _, _, tags in lines() for tag in tags} | {"sized", "packed", "unsized", "hue", "finish"}
    for key, text in table_of(file, path).items():
        topic, _, needs = key.partition(":")
        assert topic, key
        named = {tag for need in needs.split() for tag in need.lstrip("-").split("/")}
        assert named <= known, key
        for sentence in sentences(text):
            assert sentence, key
            assert set(re.findall(r"{(\w+)}", sentence)) <= SLOTS, sentence
            assert not re.search(r"\b(an?) {(noun|type)}", sentence) or "one" in needs, sentence
            assert sentence.count("<") == sentence.count(">")
            assert "<" not in filled(Stream(1, "filled"), sentence)


@pytest.mark.parametrize(("file", "path"), POOLS)
def test_a_pool_has_no_sentence_that_needs_a_tag_which_the_article_lacks(file, path):
    for tags in {tags for _, _, tags in lines()}:
        allowed = {
            sentence
            for key, text in table_of(file, path).items()
            if fits(key.partition(":")[2], tags)
            for sentence in sentences(text)
        }
        found = {sentence for _, sentence in pool(file, path, tags)}
        assert found <= allowed
        assert "many" not in tags or not any(SINGULAR.search(sentence) for sentence in found)


def test_needs_are_all_of_them_or_either_of_some_or_none_of_others():
    tags = frozenset({"durable", "fabric"})
    assert fits("", tags)
    assert fits("durable fabric", tags)
    assert fits("food/fabric", tags)
    assert not fits("durable -fabric", tags)
    assert not fits("food", tags)


def test_every_article_is_either_used_up_or_kept():
    for path, kind, tags in lines():
        assert len(tags & {"durable", "consumed"}) == 1, (path, kind)
        assert ("food" in tags) == path.startswith("grocery/"), (path, kind)


@pytest.mark.parametrize("stars", range(1, 6))
def test_every_kind_of_article_has_enough_to_say(stars):
    for _, kind, tags in lines():
        assert len(pool("voices", f"titles.{stars}", tags)) >= 12, kind
        assert len(pool("voices", f"openings.{stars}", tags)) >= 8, kind
        assert len({topic for topic, _ in pool("descriptions", "body", tags)}) >= 4, kind
        assert len(pool("descriptions", "opening", tags)) >= 20, kind


def test_a_text_touches_a_topic_once():
    used: set[str] = set()
    stream = Stream(1, "topics")
    choices = (("a", "first"), ("a", "second"), ("b", "third"))
    said = [sentence for sentence in (draw(stream, choices, used) for _ in range(20)) if sentence]
    assert len(said) == 2
    assert used == {"a", "b"}
    assert draw(stream, (), used) is None


# --- grammar ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "article"),
    [
        ("lamp", "a"), ("oil", "an"), ("U-lock", "a"), ("LED desk lamp", "an"), ("USB-C hub", "a"), ("SSD", "an"),
        ("8 inch pan", "an"), ("18 oz mug", "an"), ("80 oz jug", "an"), ("1 lb bag", "a"), ("utility knife", "a"),
        ("umbrella", "an"), ("herb seed kit", "an"), ("T-shirt", "a"), ("L-shaped desk", "an"), ("heirloom", "an"),
    ],
)  # fmt: skip
def test_articles(phrase, article):
    assert with_article(phrase) == f"{article} {phrase}"


@pytest.mark.parametrize(
    ("kind", "number", "noun"),
    [
        ("Avocado Oil", "mass", "avocado oil"), ("Cereal Bowls", "many", "bowls"), ("Plush Octopus", "one", "octopus"),
        ("Catnip Mice", "many", "mice"), ("No-Pull Harness", "one", "harness"), ("Bird Bath", "one", "bird bath"),
        ("Waffle Maker", "one", "waffle maker"), ("Portable SSD", "one", "SSD"), ("Couscous", "mass", "couscous"),
    ],
)  # fmt: skip
def test_number(kind, number, noun):
    assert short_noun(kind) == noun
    assert number_of(noun) == number


def test_slots_agree_in_number():
    one, many, mass = (noun_slots(kind) for kind in ("U-Lock", "Running Shoes", "Soy Sauce"))
    form = "{This} {noun}: {it} {is} and {does} and look{s}; buy {a_noun} with {its} parts, keep {them}."
    assert form.format_map(one) == "This U-lock: it is and does and looks; buy a U-lock with its parts, keep it."
    assert form.format_map(many) == "These shoes: they are and do and look; buy shoes with their parts, keep them."
    assert form.format_map(mass) == "This sauce: it is and does and looks; buy sauce with its parts, keep it."


def test_case_in_mid_sentence():
    assert plain_case("French Press") == "French press"
    assert plain_case("Vitamin C") == "vitamin C"
    assert plain_case("Women's V-Neck T-Shirt") == "women's V-neck T-shirt"
    assert small("The zipper jams.") == "the zipper jams."
    assert small("I like it.") == "I like it."
    assert small("I'm done.") == "I'm done."
    assert small("A hole after a month.") == "a hole after a month."


# --- what comes out ---------------------------------------------------------------------------------------


def a_product(kind: str, tags: str) -> Product:
    return Product(
        1, "A-1", kind, kind, "", "", 100, None, date(2025, 1, 1), 1, 1, (), ("travel", "the office"), ("Good one.",),
        ("It broke.", "A bit heavy."), frozenset(tags.split()) | {number_of(short_noun(kind)), "unsized", "uncolored"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "tags", "never"),
    [
        ("Soy Sauce", "consumed food", r"assembl|batter|sturdy|instructions|five foot|owned|wobbl|charg"),
        ("Cereal Bowls", "durable kitchen gift wipe", r"\bthis bowls\b|\ba bowls\b|\btastes\b|five foot"),
        ("Dog Bed", "durable pet dog fabric wash", r"\bcats?\b|tastes|five foot"),
    ],
)
def test_reviews_are_about_the_article(kind, tags, never):
    product = a_product(kind, tags)
    for number in range(300):
        title, text = review_of(Stream(number, "review"), product, number % 5 + 1)
        assert text
        assert not re.search(never, f"{title} {text}", re.IGNORECASE), (title, text)


def test_a_happy_buyer_does_not_say_that_it_broke_and_an_unhappy_one_praises_nothing():
    product = a_product("Desk Lamp", "durable electric lamp decor")
    praise = {sentence for _, sentence in pool("voices", "remarks.good", product.tags)} | {"Good one."}
    for number in range(400):
        _, happy = review_of(Stream(number, "happy"), product, 4 + number % 2)
        assert "It broke." not in happy
        _, unhappy = review_of(Stream(number, "unhappy"), product, 1)
        assert not any(sentence in unhappy for sentence in praise), unhappy
    assert HARSH.search("It stopped working.")
    assert not HARSH.search("A bit heavy.")


def test_whoever_announces_a_complaint_has_one():
    product = a_product("Desk Lamp", "durable electric lamp decor")
    titles = sentences(vocabulary("voices")["titles"]["4"]["complaint"])
    quibbles = {sentence for _, sentence in pool("voices", "remarks.quibble", product.tags)} | {"a bit heavy."}
    found = [review_of(Stream(number, "complaint"), product, 4) for number in range(1500)]
    told = [text.lower() for title, text in found if title in titles]
    assert len(told) > 30
    details = {sentence for _, sentence in pool("details", "quibble", product.tags)}
    forms = [re.sub(r"<\w+>|\\{home\\}", ".+", re.escape(sentence.lower())) for sentence in quibbles | details]
    assert all(any(re.search(form, text) for form in forms) for text in told)


def test_places_are_filled_with_the_same_word_unless_they_say_otherwise():
    for number in range(50):
        text = filled(Stream(number, "places"), "<name> knows <name>, not <name2>. <day> to <day2>.")
        found = re.fullmatch(r"(\S+) knows (\S+), not (\S+)\. (\w+day) to (\w+day)\.", text)
        assert found[1] == found[2] != found[3]
        assert found[4] != found[5]


def test_no_sentence_is_in_three_reviews_of_a_product_and_no_text_in_two():
    told = Told()
    accepted = [
        text for text in ("Good. Bad.", "good!", "GOOD", "Good. Bad.", "Bad", "Other", "Other") if told.accepts(text)
    ]
    assert accepted == ["Good. Bad.", "good!", "Bad", "Other"]


def test_what_a_product_has_heard_twice_is_not_drawn_again():
    told, listed = Told(), (("a", "One of it."), ("b", "Another."))
    said = [told.draw(Stream(number, "told"), listed, set()) for number in range(40)]
    assert sorted(filter(None, said)) == ["Another.", "Another.", "One of it.", "One of it."]


def test_typing_slips_are_small():
    text = "This really is the lamp that I wanted, because the light is warm and the switch is quiet."
    typed = {as_typed(Stream(number, "typing"), text) for number in range(400)}
    assert text in typed
    assert len(typed) > 25
    assert all(abs(len(one) - len(text)) < 14 for one in typed)


def test_texts_have_no_doubled_words_and_the_right_articles(world):
    doubled = re.compile(r"\b(?!that|had|yes|love|no)(\w+) \1\b", re.IGNORECASE)
    article = re.compile(
        r"\ba (?!(?:u[tns]|one|eu|us|U-))[aeiou]|\ban (?!h|LED|SSD|8|11|18|L-|SD|[A-Z]\b)[^aeiouAEIOU\s]"
    )
    for row in world.rows("SELECT description FROM products"):
        assert not doubled.search(row["description"]), row
        assert not article.search(row["description"]), row


def test_colors_of_one_model_cost_the_same(world):
    families: dict[tuple[str, str], set[int]] = {}
    for row in world.rows("SELECT name, color, size, description, price_cents FROM products WHERE color <> ''"):
        head = row["name"].replace(row["color"], "").strip(" ,-()")
        families.setdefault((head, row["description"].split("\n")[0]), set()).add(row["price_cents"])
    assert sum(len(prices) == 1 for prices in families.values()) == len(families)


def test_no_gadget_is_edible(world):
    gadgets = set(catalog.GADGETS) - {"Core"}
    for row in world.rows(
        "SELECT p.name FROM products AS p JOIN categories AS c ON c.id = p.category_id WHERE c.path LIKE 'grocery/%'"
    ):
        assert not set(re.split(r"[ ,()-]+", row["name"])) & gadgets, row["name"]


def test_descriptions_are_not_all_alike(world):
    found = [row["description"] for row in world.rows("SELECT description FROM products")]
    assert len(set(found)) > 0.5 * len(found)
    assert sum("\n" in text for text in found) > 0.15 * len(found)
    assert not any("30 days" in text for text in found)

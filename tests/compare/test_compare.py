"""What each type understands, and what it does not take for the same."""

import base64
import itertools
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webassay.compare import KINDS, Sites, Slack, UnreadableValue, compare, fold, matching

SAME = [
    ("string", "AT&T", "AT&amp;T"),
    ("string", "Café Crème", "cafe creme"),
    ("string", "Buffalo-Niagara", "buffalo–niagara"),
    ("string", "Acme™ Phone", "acme phone"),
    ("string", "It's “fine”", 'it’s "fine"'),
    ("string", "done", "  Done. "),
    ("string", "187", 187),
    ("string", "Ålesund, Łódź, Røros", "alesund, lodz, roros"),
    ("number", 1000, "1 000"),
    ("number", 1000, "1'000"),
    ("number", 1234567.5, "1.234.567,5"),
    ("number", 100000, "1,00,000"),
    ("number", 1_500_000, "1.5M"),
    ("number", 3000, "3k"),
    ("number", 0.5, "50%"),
    ("number", 0.5, "½"),
    ("number", 2.75, "2 3/4"),
    ("number", 2.5, "2½"),
    ("number", -3, "−3"),
    ("number", 12, "twelve"),
    ("number", 121, "one hundred and twenty-one"),
    ("number", 2_000_005, "two million five"),
    ("number", 2.5, "two point five"),
    ("number", 0.3, 0.1 + 0.2),
    ("number", 15, "１５"),
    ("number", 1000, "1e3"),
    ("currency", -36.39, "$-36.39"),
    ("currency", -36.39, "-$36.39"),
    ("currency", -36.39, "($36.39)"),
    ("currency", -36.39, "−36.39 USD"),
    ("currency", 1000, "$1,000"),
    ("currency", 1000, "1000 USD"),
    ("currency", 1234.5, "1.234,50 €"),
    ("currency", 5, "5 dollars"),
    ("currency", 5, "five dollars"),
    ("currency", 5, "USD five"),
    ("currency", -121.5, "-one hundred and twenty-one point five euros"),
    ("currency", 2_000_000, "two million"),
    ("currency", 2_500_000, "US$2.5M"),
    ("currency", "$5", "5 CAD"),
    ("date", "2023-01-31", "Jan 31, 2023"),
    ("date", "2023-01-31", "January 31st 2023"),
    ("date", "2023-01-31", "31st of January, 2023"),
    ("date", "2023-01-31", "Tuesday, 31 January 2023"),
    ("date", "2023-01-31", "31/01/2023"),
    ("date", "2023-01-31", "1/31/23"),
    ("date", "2023-01-31", "31-Jan-2023"),
    ("date", "2023-01-31", "2023-01-31T23:59:59+02:00"),
    ("date", "2023-01-31", "Jan 31, 2023, 11:05:12 PM"),
    ("month", "January", "jan."),
    ("month", "January", 1),
    ("month", "January", "01"),
    ("month", "January", "January 2022"),
    ("month", "January", "2022-01"),
    ("duration", "1h 30m", "PT1H30M"),
    ("duration", "1h 30m", "1:30 hours"),
    ("duration", "1h 30m", "1 hour and 30 minutes"),
    ("duration", "1h 30m", "1.5 hours"),
    ("duration", "1h 30m", "1½ h"),
    ("duration", "1h 30m", "1h30"),
    ("duration", "1h 30m", "90 mins"),
    ("duration", "90 s", "1:30"),
    ("distance", "1.5 km", "1,500 m"),
    ("distance", "1 mile", "5280 ft"),
    ("distance", "2k", "2 kilometres"),
    ("coordinates", [40.7128, -74.006], "40.7128N 74.0060W"),
    ("coordinates", [40.7128, -74.006], "40.7128, -74.0060"),
    ("coordinates", [40.7128, -74.006], {"lat": 40.7128, "lng": "-74.006"}),
    ("coordinates", [40.7128, -74.006], "(latitude: 40.7128, longitude: -74.006)"),
    ("coordinates", [40.7128, -74.006], "40°42′46.08″N 74°0′21.6″W"),
    ("boolean", True, "Yes"),
    ("boolean", False, 0),
    ("url", "http://A.test:80/x/", "http://a.test/x"),
    ("url", "http://a.test/?t=1&t=2", "http://a.test?t=2&t=1"),
    ("url", "http://a.test/a%20b", "http://a.test/a b"),
    ("url", "http://a.test/x/../y", "http://a.test/y"),
    ("url", "http://a.test/y?q=", "http://a.test/y"),
    ("url", "git@host:group/repo.git", "ssh://git@host:2222/group/repo.git"),
    ("location_name", "Carnegie Museum of Art", "the Carnegie Art Museum"),
    ("location_name", "Forbes Ave", "Forbes Avenue"),
    ("location_name", "Pittsburgh", "Pittsburg"),
    ("location_name", "Pennsylvania Station", "Pennsylvania Sattion"),
    ("location_name", "7 Bay Ridge", "Bayridge 7"),
    ("string_list", "a, b", ["B", "a"]),
    ("json", '{"a": [1, 2]}', {"A": [1.0, 2]}),
    ("markdown", "# T\n\n* a\n* b", "#T\r\n\n\n\n- a  \n+ b"),
    ("base64", base64.b64encode(b"a\nb").decode(), base64.b64encode(b"a\r\nb\n").decode()),
    ("null", None, "N/A"),
]

DIFFERENT = [
    ("number", 37, "37 reviews"),
    ("string", "North Carolina", "South Carolina"),
    ("string", "paypal", "pаypal"),  # the second letter is Cyrillic
    ("string", "a", ["a", "b"]),
    ("string", "a", {"a": 1}),
    ("string", "a", None),
    ("number", 1000, "1,00"),
    ("number", 5, "5.0001"),
    ("number", 5, "-5"),
    ("number", 5, "--5"),
    ("number", 52, "5²"),
    ("number", 5, "5 or 6"),
    ("number", 3, "٣"),
    ("number", 1, True),
    ("number", 5, "0.5%"),
    ("number", 12345678901234567, "12345678901234568"),
    ("number", 7, "three four"),
    ("currency", "$5", "€5"),
    ("currency", "$5", "five euros"),
    ("currency", 5, "five or six dollars"),
    ("currency", 5, "dollars"),
    ("currency", 0.5, "50%"),
    ("currency", 36.39, "-36.39"),
    ("currency", -36.39, "36.39"),
    ("currency", 5, "5 USD or 6 USD"),
    ("currency", 5, "--5"),
    ("currency", 5, "$5 €"),
    ("date", "2023-01-31", "January 31"),
    ("date", "2023-01-31", "31 January 2024"),
    ("date", "2023-02-28", "2023-02-30"),
    ("month", "January", "Monday"),
    ("month", "January", "13"),
    ("month", "January 2022", "January 2023"),
    ("duration", "1h", "60"),
    ("duration", "1h", 60),
    ("duration", "1h", "1 fortnight"),
    ("duration", "1h", "-1h"),
    ("distance", "1 m", "9**9**9 m"),
    ("distance", "10 m", "5 m * 2"),
    ("distance", "10 m", "10"),
    ("coordinates", [40.7128, -74.006], "74.006W 40.7128N"),
    ("coordinates", [40.7128, -74.006], [40.7128, 74.006]),
    ("coordinates", [40.7128, -74.006], [40.7128, -74.006, 0]),
    ("coordinates", [40.0, 74.0], "140, 74"),
    ("boolean", True, "maybe"),
    ("boolean", True, 2),
    ("url", "http://a.test/?t=1&t=2", "http://a.test/?t=1&t=3"),
    ("url", "http://a.test/x", "http://a.test.evil/x"),
    ("url", "http://a.test/x", "http://evil/?http://a.test/x"),
    ("url", "http://a.test/x", "javascript:alert(1)"),
    ("location_name", "North Carolina", "South Carolina"),
    ("location_name", "Gate 1", "Gate 2"),
    ("location_name", "Gate 1 Terminal 23", "Gate 12 Terminal 3"),
    ("location_name", "Gate 1 2", "Gate 12"),
    ("location_name", "Pennsylvania Station", "Pensylvania Staton"),
    ("location_name", "Pennsylvania Station", "Pensylvaniaa Station"),
    ("location_name", "Best Western", "Best Western Plus"),
    ("location_name", "Hilton", "Milton"),
    ("string_list", "a, b", "a, b, c"),
    ("json", '{"a": 1}', '{"a": true}'),
    ("json", '{"a": 1}', '{"a": 1, "a": 1}'),
    ("json", "1e400", "1e500"),
    ("markdown", "# Title", "# title"),
    ("base64", base64.b64encode(b"a").decode(), "a"),
    ("null", None, 0),
    ("null", None, "nothing"),
]


@pytest.mark.parametrize(("kind", "expected", "actual"), SAME)
def test_honest_variants_are_understood(kind, expected, actual):
    match = compare(kind, expected, actual)
    assert match.ok, match.reason
    assert compare(kind, actual, expected).ok


@pytest.mark.parametrize(("kind", "expected", "actual"), DIFFERENT)
def test_other_values_are_not_and_each_refusal_has_a_reason(kind, expected, actual):
    for key, value in ((expected, actual), (actual, expected)):
        try:
            match = compare(kind, key, value)
        except UnreadableValue as problem:
            assert str(problem)
        else:
            assert match.reason and not match.ok


def test_a_key_that_names_its_currency():
    assert compare("currency", 5, "$5", currency="USD").ok
    assert compare("currency", 5, "5", currency="USD").ok
    assert not compare("currency", 5, "€5", currency="USD").ok
    assert not compare("currency", 5, "5 GBP", currency="USD").ok


@pytest.mark.parametrize(
    ("kind", "expected", "actual", "slack"),
    [
        ("currency", 10, "10.1", Slack(absolute=0.1)),
        ("duration", "1 h", "66 min", Slack(absolute=180, relative=0.1)),
        ("duration", "1 min", "4 min", Slack(absolute=180, relative=0.1)),
        ("distance", "1 km", "1.02 km", Slack(absolute=10, relative=0.02)),
        ("coordinates", [1, 2], [1.00001, 2], Slack(absolute=1e-5)),
        ("date", "2023-01-31", "2023-02-01", Slack(absolute=1)),
    ],
)
def test_allowances_belong_to_the_check(kind, expected, actual, slack):
    assert compare(kind, expected, actual, slack=slack).ok
    assert not compare(kind, expected, actual).ok


class TestSites:
    SITES = Sites({"shop": "http://h:7780", "admin": ("http://h:7780/admin", "http://other:1/admin/")})

    @pytest.mark.parametrize(
        ("url", "page"),
        [
            ("http://h:7780/a/", "__SHOP__/a"),
            ("http://h:7780", "__SHOP__"),
            ("http://h:7780/admin/x", "__ADMIN__/x"),
            ("http://h:7780/administrator", "__SHOP__/administrator"),
            ("http://other:1/admin", "__ADMIN__"),
            ("http://h:7781/a", "http://h:7781/a"),
            ("http://h/a", "http://h/a"),
            ("__ADMIN__//x", "__ADMIN__/x"),
        ],
    )
    def test_pages_are_found_under_the_longest_base(self, url, page):
        assert self.SITES.locate(url).page == page

    def test_texts_are_compared_with_place_holders(self):
        assert self.SITES.mask("see http://h:7780/admin/x and http://h:7780/y") == "see __ADMIN__/x and __SHOP__/y"


# --- laws -------------------------------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40)
amounts = st.decimals(-(10**9), 10**9, places=2, allow_nan=False)
numbers = st.one_of(st.integers(-(10**18), 10**18), amounts.map(float))
days = st.dates(date(1970, 1, 1), date(2068, 12, 31))
VALUES = {
    "string": words,
    "number": numbers,
    "currency": numbers,
    "date": days.map(str),
    "month": st.integers(1, 12),
    "duration": st.integers(0, 10**6).map(lambda n: f"{n} s"),
    "distance": st.integers(0, 10**7).map(lambda n: f"{n} m"),
    "coordinates": st.tuples(st.floats(-90, 90), st.floats(-180, 180)),
    "boolean": st.booleans(),
    "location_name": st.from_regex(r"[A-Za-z]{2,12}( [A-Za-z0-9]{1,12}){0,3}", fullmatch=True),
    "string_list": st.lists(words, max_size=4),
    "json": st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | words,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: [value]),
    "markdown": words,
    "base64": words.map(lambda text: base64.b64encode(text.encode()).decode()),
}
pairs = st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind], VALUES[kind]))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(pairs)
def test_every_value_is_itself(case):
    kind, value, _ = case
    assert compare(kind, value, value).ok


@given(pairs)
def test_sameness_works_both_ways(case):
    kind, a, b = case
    assert compare(kind, a, b).ok == compare(kind, b, a).ok


@given(st.sampled_from([*sorted(KINDS), "url"]), anything)
@example("number", "9" * 5000)
@example("distance", "9**9**9 m")
@example("string", "\ud800")
@example("json", "[" * 5000)
def test_nothing_that_an_agent_says_breaks_a_comparator(kind, value):
    key = {"full_address": dict.fromkeys(("house_number", "street", "city", "state", "postcode"), "1"), "null": None}
    sample = key.get(kind, {"url": "http://a.test/", "month": 5, "date": "2020-01-01"}.get(kind, "5 m"))
    sample = {"number": 5, "currency": 5, "boolean": True, "coordinates": [1, 2], "json": "5", "base64": "YQ=="}.get(
        kind, sample
    )
    assert compare(kind, sample, value).reason


@given(numbers, st.sampled_from(["{:,}", "{}", "+{}", " {} "]))
def test_numbers_survive_being_written(value, form):
    text = form.format(value) if value >= 0 or "+" not in form else f"{value}"
    assert compare("number", value, text).ok


@given(amounts, st.sampled_from(["${:,.2f}", "{:.2f} USD", "USD {:,.2f}", "{:,.2f}"]))
def test_money_survives_being_written(value, form):
    text = form.format(value)
    assert compare("currency", float(value), text).ok
    assert not compare("currency", float(value + Decimal("0.01")), text).ok


def test_a_percent_sign_counts_only_where_the_key_has_one():
    assert compare("number", "50%", 50) and compare("number", "50%", "0.5")
    assert not compare("number", 50, "50%") and not compare("number", 4, "4%")


UNITS = ["reviews", "orders", "pounds", "boxes", "categories", "days", "in-store pickups"]
OTHERS = ["stars", "%", "kg", "oz", "dollars", "reviewers", "$"]


@given(st.integers(0, 10**6), st.sampled_from(UNITS), st.sampled_from(["{} {}", "{:,} {}", "{} {}.", " {}  {} "]))
def test_a_number_with_the_goals_own_unit_is_that_number(number, unit, form):
    assert compare("number", number, form.format(number, unit), unit=unit)
    assert compare("number", number, form.format(number, unit.upper()), unit=unit)
    assert not compare("number", number + 1, form.format(number, unit), unit=unit)
    assert compare("number", number, number, unit=unit)


FORMS = ["{} {}", "{}{}", "{1}{0}"]


@given(st.integers(1, 10**6), st.sampled_from(UNITS), st.sampled_from(OTHERS), st.sampled_from(FORMS))
def test_any_other_unit_is_not_read(number, unit, other, form):
    assert not compare("number", number, form.format(number, other), unit=unit)
    assert not compare("number", number, form.format(number, unit))


@pytest.mark.parametrize(
    ("unit", "key", "same", "other"),
    [
        ("pounds", 4.5, ["4.5 lb", "4.5lbs.", "4½ pounds", "4.5"], ["72 oz", "£4.5", "4.5 kg", "4 lb 8 oz", "4.5%"]),
        ("reviews", 1, ["1 review", "one review", "1"], ["1 reviewer", "review 1", "about 1 review", "1 star review"]),
        ("percent", 37, ["37%", "37 percent", 37], ["0.37", "37 points", 0.37]),
        ("stars", 5, ["5 ★", "five stars"], ["5 reviews"]),
    ],
)
def test_units_have_singular_plural_and_signs(unit, key, same, other):
    assert all(compare("number", key, value, unit=unit) for value in same)
    assert not any(compare("number", key, value, unit=unit) for value in other)


@given(days, st.sampled_from(["%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%m/%d/%Y", "%d.%m.%Y", "%A, %B %d, %Y", "%Y%m%d"]))
def test_days_survive_being_written_and_are_never_another_day(day, form):
    text = day.strftime(form)
    assert compare("date", day.isoformat(), text).ok
    assert not compare("date", (day + timedelta(days=1)).isoformat(), text).ok


@given(st.integers(0, 999), st.integers(0, 59), st.integers(0, 59))
def test_durations_survive_being_written(hours, minutes, seconds):
    total = f"{hours * 3600 + minutes * 60 + seconds} s"
    for text in (
        f"{hours}h {minutes}m {seconds}s",
        f"PT{hours}H{minutes}M{seconds}S",
        f"{hours} hours, {minutes} minutes and {seconds} seconds",
        f"{hours}:{minutes:02}:{seconds:02}",
    ):
        assert compare("duration", total, text).ok


@given(words, words)
def test_no_text_is_another_by_being_a_pattern(key, other):
    for injected in (f"^{key}$", "^.*$", "^(?s:.)*$", f"({key}|{other})", f"^{other}|{key}$", f"{key}, {other}"):
        if compare("string", key, injected).ok:
            strip = "'\"`.,;:!? "
            assert (fold(injected).strip(strip) or fold(injected)) == (fold(key).strip(strip) or fold(key))


@given(words)
def test_no_list_is_a_text(key):
    assert not compare("string", key, [key]).ok
    assert not compare("string", key, [key, "other"]).ok


graphs = st.integers(0, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), max_size=5, unique=True), min_size=n, max_size=n)
)


@given(graphs)
def test_the_matching_is_as_large_as_can_be(edges):
    found = matching(edges)
    assert len(set(found.values())) == len(found)
    assert all(there in edges[here] for here, there in found.items())
    best = max(
        len({p[i] for i in range(len(edges)) if p[i] in edges[i]} if len(set(p)) == len(p) else ())
        for p in itertools.permutations(range(5), len(edges))
    )
    assert len(found) == best

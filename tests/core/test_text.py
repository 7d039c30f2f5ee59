"""Text from outside can always be stored, whatever it holds."""

import json

from hypothesis import given
from hypothesis import strategies as st

from webassay.benchmarks import open as open_benchmark
from webassay.core.text import capped, lines_of, well_formed, well_formed_json

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@given(anything)
def test_every_text_can_be_written_as_utf_8_afterwards(text):
    assert well_formed(text).encode().decode() == well_formed(text)


@given(st.text(max_size=60))
def test_good_text_stays_as_it_is(text):
    assert well_formed(text) == text


def test_halves_are_joined_and_lone_ones_replaced():
    assert well_formed("a\ud83d\ude00b") == "a\N{GRINNING FACE}b"
    assert well_formed("a\ud800b\udc00") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
    assert well_formed("\ud83d") == "\N{REPLACEMENT CHARACTER}"


def test_a_line_separator_of_unicode_ends_no_line(tmp_path):
    said = "first\u2028second\x85third"
    assert list(lines_of(f"{said}\r\n\nlast")) == [f"{said}\n", "\n", "last"]
    goals = [{"url": "https://a.example/", "goal": said}, {"url": "https://a.example/", "goal": "Other."}]
    path = tmp_path / "goals.jsonl"
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in goals), encoding="utf-8")
    assert [task.goal.instruction for task in open_benchmark.load(path)] == [said, "Other."]


def test_what_is_cut_off_is_said():
    assert capped("x" * 10, 10) == "x" * 10
    assert capped("x" * 11, 10) == "xxxxxxxxxx\n[cut: 11 characters, 10 kept]"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(anything | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_anything_becomes_json_that_can_be_stored(value):
    text = json.dumps(well_formed_json(value), allow_nan=False)
    text.encode()
    assert json.loads(text) == well_formed_json(value)


def test_what_json_cannot_hold_is_kept_as_text():
    class Odd:
        def __repr__(self):
            return "<odd \ud800>"

    assert well_formed_json({"a": b"\xff", "b": Odd(), 3: float("nan"), "c": 1 << 90_000}) == {
        "a": "b'\\xff'", "b": "<odd \ufffd>", "3": "nan", "c": "0x1" + "0" * 97,
    }  # fmt: skip
    deep = value = []
    for _ in range(500):
        value.append([])
        value = value[0]
    assert "nested too deeply" in json.dumps(well_formed_json(deep))

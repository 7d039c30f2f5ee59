"""The calculator, the scratchpad, and reading calls."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.agents.models.tools import (
    CALCULATOR,
    Scratchpad,
    Tool,
    Toolbox,
    calculate,
    parse_calls,
    show_number,
    tools_named,
)
from webassay.core.errors import ActionError
from webassay.core.interaction import Action, Call


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("0.1 + 0.2", "0.3"),
        ("-7 // 2", "-4"),
        ("7 % 3", "1"),
        ("2 ^ 10", "1024"),
        ("2 ** -2", "0.25"),
        ("1 / 3", "0.333333333333"),
        ("round(2.675, 2)", "2.68"),
        ("round(-2.5)", "-3"),
        ("sum([19.99, 5, 0.01])", "25"),
        ("mean(1, 2, 4)", "2.33333333333"),
        ("max(3, 9, 4) - min(3, 9, 4)", "6"),
        ("sqrt(144)", "12"),
        ("abs(-3.50)", "3.5"),
        ("1e3 + 1", "1001"),
        ("10**1000 / 3", "3.33333333333e+999"),
        ("-1 / 10**1000", "-1e-1000"),
    ],
)
def test_the_calculator_is_exact(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1 +",
        "1 / 0",
        "9 ** 9 ** 9",
        "2 ** 100000",
        "__import__('os').system('true')",
        "().__class__",
        "x + 1",
        "[1, 2]",
        "'a' * 9",
        "True + 1",
        "min()",
        "round(1, 99)",
        "sqrt(-1)",
        "sum(x for x in [1])",
        "(" * 3000,
        "1e999",
        "1" * 5000,
        "1 if 1 else 2",
    ],
)
def test_the_calculator_refuses_what_is_not_arithmetic(expression: str) -> None:
    with pytest.raises(ActionError):
        calculate(expression)


@given(st.fractions(max_denominator=1000), st.fractions(max_denominator=1000))
def test_sums_agree_with_exact_fractions(a: Fraction, b: Fraction) -> None:
    shown = calculate(f"({a.numerator}/{a.denominator}) + ({b.numerator}/{b.denominator})")
    assert shown == show_number(a + b)


@given(st.decimals(-(10**9), 10**9, places=4))
def test_decimals_are_shown_as_they_are(value: object) -> None:
    assert Fraction(show_number(Fraction(str(value)))) == Fraction(str(value))


def test_calls_and_actions_are_read_in_order() -> None:
    tools = Toolbox.of([CALCULATOR]).tools
    parsed = parse_calls(
        "```python\ncalculate('1+1')\nclick('12'); fill('3', 'calculate')\n```", tools, ("click", "fill")
    )
    assert parsed == (
        Call("calculate", ("1+1",), {}),
        Action.of("click", "12"),
        Action.of("fill", "3", "calculate"),
    )


@pytest.mark.parametrize("text", ["calculate(open('x'))", "calculate(**{})", "calculate('1'", "x = calculate('1')"])
def test_calls_are_literals_only(text: str) -> None:
    with pytest.raises(ActionError):
        parse_calls(text, Toolbox.of([CALCULATOR]).tools, ("click", "fill"))


def test_uses_are_counted_and_wrong_calls_are_explained() -> None:
    box = Toolbox.of(tools_named(["calculator", "scratchpad"]))
    assert box.use(Call("calculate", ("2*21",), {})).text == "42"
    with pytest.raises(ActionError, match="wrong way"):
        box.use(Call("calculate", (), {}))
    box.use(Call("scratchpad_write", ("a",), {}))
    box.use(Call("scratchpad_write", (), {"text": "b"}))
    assert box.use(Call("scratchpad_read", (), {})).text == "a\nb"
    box.use(Call("scratchpad_clear", (), {}))
    assert "empty" in box.use(Call("scratchpad_read", (), {})).text
    assert box.counts() == {"calculate": 2, "scratchpad_write": 2, "scratchpad_read": 2, "scratchpad_clear": 1}


@pytest.mark.parametrize(
    "error", [OverflowError(), RecursionError(), MemoryError(), AttributeError(), ZeroDivisionError()]
)
def test_no_argument_of_a_call_ends_the_episode(error: Exception) -> None:
    def run(value: object) -> str:
        raise error

    with pytest.raises(ActionError, match="wrong way"):
        Toolbox.of([Tool("mine(value)", "Fails.", run)]).use(Call("mine", (1,), {}))


def test_the_scratchpad_is_bounded() -> None:
    with pytest.raises(ActionError, match="at most"):
        Scratchpad().write("x" * 60_000)

"""Tools that belong to an agent and not to a page: a calculator, a scratchpad, and whatever a memory offers.

A tool call is written like an action, `calculate('17 * 3')`, parsed and never executed. It costs no step: the result
comes back within the step, and every use is counted.
"""

import ast
import math
import operator
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

from webassay.core.errors import ActionError
from webassay.core.interaction import ACTIONS, Action, Call, read_calls
from webassay.core.record import Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's answer, and what the browser has to do for it, if anything."""

    text: str
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    usage: str
    """As the model reads it: `calculate(expression: str)`."""
    help: str
    run: Callable[..., str | ToolResult]

    @property
    def name(self) -> str:
        return self.usage.partition("(")[0]


@dataclass(slots=True)
class Toolbox:
    tools: Mapping[str, Tool]
    uses: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "Toolbox":
        return cls({tool.name: tool for tool in tools})

    @property
    def guide(self) -> str:
        return "\n".join(f"{tool.usage}: {tool.help}" for tool in self.tools.values())

    def use(self, call: Call) -> ToolResult:
        tool = self.tools[call.name]
        self.uses[call.name] += 1
        try:
            answer = tool.run(*call.args, **call.named)
        except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError):
            # Arguments are whatever the model wrote: none of them may end the episode.
            raise ActionError(f"{call.name} was called the wrong way.", hint=f"Write {tool.usage}.") from None
        return ToolResult(answer) if isinstance(answer, str) else answer

    def counts(self) -> dict[str, Json]:
        return dict(self.uses)


def parse_calls(text: str, tools: Mapping[str, Tool], actions: Sequence[str]) -> tuple[Action | Call, ...]:
    """Browser actions, of those that are named, and tool calls, in the order they were written."""

    def read(call: Call) -> Action | Call:
        if call.name in tools:
            return call
        if call.name not in actions:
            known = ", ".join((*actions, *tools))
            raise ActionError(f"{call.name!r:.80} is not one of your actions.", hint=f"You have {known}.")
        return Action.of(call.name, *call.args, **call.named)

    return tuple(read(call) for call in read_calls(text, ACTIONS.keys() | tools))


# --- the calculator ---------------------------------------------------------------------------------------

MAX_EXPRESSION = 4000
MAX_BITS = 4096
"""In a numerator or denominator: exact arithmetic must not become a way to stop the clock."""
MAX_EXPONENT = 1000

_BINARY: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
}


def _rounded(value: Fraction, digits: Fraction = Fraction(0)) -> Fraction:
    """Half away from zero, as people round money; Python's own `round` goes to the even digit."""
    if digits.denominator != 1 or abs(digits) > 20:
        raise ActionError("round takes at most 20 digits.")
    scale = Fraction(10) ** int(digits)
    shifted = abs(value) * scale + Fraction(1, 2)
    return Fraction(math.floor(shifted)) / scale * (1 if value >= 0 else -1)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise ActionError("There is no square root of a negative number.")
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    scale = 10**24
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)


def _total(*values: Fraction) -> Fraction:
    """Bounded at every step, because hundreds of small fractions may have a huge common denominator."""
    total = Fraction(0)
    for value in values:
        total = _bounded(total + value)
    return total


_FUNCTIONS: Mapping[str, Callable[..., Fraction]] = {
    "sum": _total,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "mean": lambda *values: _total(*values) / len(values),
    "abs": lambda value: abs(value),
    "round": _rounded,
    "sqrt": _root,
}


def calculate(expression: str) -> str:
    """Exact rational arithmetic; shown exactly where that is a short decimal, else to 12 significant digits."""
    if not isinstance(expression, str) or len(expression) > MAX_EXPRESSION:
        raise ActionError(f"calculate takes a text of at most {MAX_EXPRESSION} characters.")
    try:
        with warnings.catch_warnings(action="ignore"):  # about code that nobody runs
            parsed = ast.parse(expression.strip().replace("^", "**"), mode="eval").body
        value = _evaluate(parsed)
    except ZeroDivisionError:
        raise ActionError(f"{expression}: division by zero.") from None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ActionError(f"{expression!r:.200} is not an expression.", hint="Write numbers and + - * / ( ).") from None
    return show_number(value)


def _evaluate(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        # By its text, so that 0.1 is a tenth.
        return _bounded(Fraction(repr(node.value)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _evaluate(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        if type(node.op) in _BINARY:
            return _bounded(_BINARY[type(node.op)](left, right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return _bounded(function(*(value for arg in node.args for value in _values(arg))))
    raise ActionError(
        f"The calculator cannot do {ast.unparse(node)!r:.200}.",
        hint=f"It knows numbers, + - * / // % **, and {', '.join(_FUNCTIONS)}.",
    )


def _values(node: ast.expr) -> list[Fraction]:
    if isinstance(node, ast.List | ast.Tuple):
        return [_evaluate(item) for item in node.elts]
    return [_evaluate(node)]


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent == Fraction(1, 2):
        return _root(base)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT or bits * abs(exponent) > MAX_BITS:
        raise ActionError("The calculator raises only to small whole powers.")
    return base ** int(exponent)


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ActionError("The numbers are too large for the calculator.")
    return value


FLOATS = (Fraction(1, 10**300), Fraction(10**300))
"""Between these, a float holds 12 digits; beyond them it would be zero or an overflow."""


def show_number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    for digits in range(1, 13):
        if 10**digits % value.denominator == 0:
            whole = abs(value.numerator) * 10**digits // value.denominator
            text = str(whole).rjust(digits + 1, "0")
            return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"
    if FLOATS[0] < abs(value) < FLOATS[1]:
        return f"{float(value):.12g}"
    with localcontext(prec=12):
        return f"{(Decimal(value.numerator) / value.denominator).normalize():e}"


CALCULATOR = Tool("calculate(expression: str)", "Exact arithmetic, such as calculate('(3.5 + 4) * 12').", calculate)


# --- the scratchpad ---------------------------------------------------------------------------------------

MAX_PAD = 50_000


@dataclass(slots=True)
class Scratchpad:
    """Text the agent can write and read back; unlike a memory, it is only shown on request."""

    text: str = ""

    def write(self, text: str) -> str:
        if not isinstance(text, str) or len(self.text) + len(text) > MAX_PAD:
            raise ActionError(f"The scratchpad takes text, at most {MAX_PAD} characters in all.")
        self.text = f"{self.text}\n{text}" if self.text else text
        return f"Written; the scratchpad has {len(self.text)} characters."

    def read(self) -> str:
        return self.text or "(the scratchpad is empty)"

    def clear(self) -> str:
        self.text = ""
        return "The scratchpad is empty."

    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool("scratchpad_write(text: str)", "Add lines to the scratchpad.", self.write),
            Tool("scratchpad_read()", "Read the scratchpad.", self.read),
            Tool("scratchpad_clear()", "Empty the scratchpad.", self.clear),
        )


ToolName = Literal["calculator", "scratchpad"]

_TOOLS: Mapping[ToolName, Callable[[], tuple[Tool, ...]]] = {
    "calculator": lambda: (CALCULATOR,),
    "scratchpad": lambda: Scratchpad().tools(),
}


def tools_named(names: Sequence[ToolName]) -> tuple[Tool, ...]:
    """Fresh for one episode."""
    return tuple(tool for name in names for tool in _TOOLS[name]())

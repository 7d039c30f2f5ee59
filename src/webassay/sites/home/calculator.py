"""Arithmetic as on a pocket calculator, computed exactly.

Fractions are used throughout, so 0.1 + 0.2 is 0.3 and 1 / 3 * 3 is 1; only the result is rounded, and only where it
has no end. A percent sign before a number is the remainder of a division. Anywhere else it means hundredths, and after
a plus or a minus it means that many hundredths of what stands before: 80 + 10% is 88.
"""

import re
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction

DIGITS = 15
"""Significant digits of a result that is rounded."""
MOST_DIGITS = 40
"""Longer results are rounded, even if they have an end."""
DEEPEST = 50

_TOKEN = re.compile(r"\s*(?:((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)|([-+*/%()]))", re.ASCII)
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})


class UnreadableExpression(ValueError):
    """The message is for the person who typed the expression."""


def calculate(expression: str) -> str:
    """The result in plain digits, such as "1234.5"; a rounded one begins with "≈ "."""
    return _shown(_Reader(expression).value())


def _shown(value: Fraction) -> str:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    with localcontext(Context(prec=MOST_DIGITS, rounding=ROUND_HALF_UP)) as exactly:
        exact = Decimal(value.numerator) / value.denominator
        if rest == 1 and Fraction(exact) == value:
            return f"{_plain(exact)}"
        exactly.prec = DIGITS
        return f"≈ {_plain(Decimal(value.numerator) / value.denominator)}"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class _Reader:
    """Reads an expression from left to right, one method for each level of precedence."""

    def __init__(self, expression: str) -> None:
        self._tokens = _tokens(expression.translate(_SIGNS))
        self._at = 0
        self._depth = 0

    def value(self) -> Fraction:
        result = self._sum()
        if self._next:
            raise UnreadableExpression(f'There is an operator missing before "{self._next}".')
        return result

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, choices: str) -> str:
        """The next token if it is one of these characters."""
        found = self._next if self._next and self._next in choices else ""
        self._at += bool(found)
        return found

    def _sum(self) -> Fraction:
        total, _ = self._product()
        while sign := self._take("+-"):
            part, bare_percent = self._product()
            part = total * part if bare_percent else part
            total = total + part if sign == "+" else total - part
        return total

    def _product(self) -> tuple[Fraction, bool]:
        """The value, and whether it is nothing but a percentage, such as 10%."""
        value, percent = self._signed()
        while sign := self._take("*/%"):
            factor, _ = self._signed()
            percent = False
            if sign != "*" and factor == 0:
                raise UnreadableExpression("A number cannot be divided by zero.")
            value = value * factor if sign == "*" else value / factor if sign == "/" else value % factor
        return value, percent

    def _signed(self) -> tuple[Fraction, bool]:
        negative = False
        while sign := self._take("+-"):
            negative ^= sign == "-"
        value, percent = self._operand(), False
        while self._next == "%" and not self._operand_follows():
            self._at += 1
            value, percent = value / 100, True
        return (-value if negative else value), percent

    def _operand_follows(self) -> bool:
        """Whether a number follows the percent sign, so that it means a remainder."""
        after = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else ""
        return after == "(" or (after != "" and after not in "+-*/%)")

    def _operand(self) -> Fraction:
        if self._take("("):
            self._depth += 1
            if self._depth > DEEPEST:
                raise UnreadableExpression("There are too many parentheses inside each other.")
            value = self._sum()
            if not self._take(")"):
                raise UnreadableExpression("A closing parenthesis is missing.")
            self._depth -= 1
            return value
        if not self._next:
            raise UnreadableExpression("The end is missing.")
        if self._next in "+-*/%()":
            raise UnreadableExpression(f'There is a number missing before "{self._next}".')
        self._at += 1
        return Fraction(self._tokens[self._at - 1].replace(",", ""))


def _tokens(expression: str) -> list[str]:
    found, at = [], 0
    expression = expression.rstrip()
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None:
            strange = expression[at:].lstrip()[0]
            raise UnreadableExpression(f'"{strange}" cannot be used here. Use numbers, + - * / % and parentheses.')
        found.append(match[1] or match[2])
        at = match.end()
    return found

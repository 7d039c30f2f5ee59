"""What visitors send: numbers, paths, and forms whose errors are shown next to the field."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException

from webassay.sites.receipts import ours
from webassay.sites.web.dates import read_date


def whole_number(text: str, largest: int = 10**9) -> int | None:
    """None if it is not one. `int` is too lenient: it accepts underscores and digits of other scripts."""
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) and int(text) <= largest else None


def safe_path(text: str, otherwise: str) -> str:
    """A path on this site, or `otherwise`: a link must not send a log-in elsewhere."""
    ok = text.startswith("/") and not text.startswith(("//", "/\\")) and all(ord(char) > 32 for char in text)
    return text if ok else otherwise


def read_cents(text: str) -> int | None:
    """'$1,234.50' and '1234.5' as 123450; None if it is no amount."""
    found = re.fullmatch(r"\$?((?:[0-9]{1,3}(?:,[0-9]{3}){1,2})|[0-9]{1,7})(?:\.([0-9]{1,2}))?", text.strip())
    return int(found[1].replace(",", "")) * 100 + int((found[2] or "0").ljust(2, "0")) if found else None


class FormFields:
    """A submitted form. Reading a field validates it; errors are collected, to be shown next to the field."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.errors: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def get(self, name: str) -> str:
        value = self._data.get(name, "")
        return value if isinstance(value, str) else ""

    def names(self, prefix: str) -> list[str]:
        return [name for name in self._data if name.startswith(prefix)]

    def text(self, name: str, label: str, *, most: int = 100, needed: bool = True, lines: bool = False) -> str:
        value = self.get(name).replace("\r\n", "\n").strip()
        self.values[name] = value
        if needed and not value:
            self.errors[name] = ours(f"{label} is required.")
        elif len(value) > most:
            self.errors[name] = ours(f"{label} must be at most {most:,} characters.")
        elif any(ord(char) < 32 and not (lines and char in "\n\t") for char in value):
            self.errors[name] = ours(f"{label} has characters that cannot be used.")
        return value

    def email(self, name: str = "email") -> str:
        value = self.text(name, "Email")
        if name not in self.errors and not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+\.[A-Za-z]{2,}", value):
            self.errors[name] = ours("Enter a valid email address, such as name@example.com.")
        return value

    def choice(self, name: str, label: str, options: Sequence[str]) -> str:
        value = self.get(name)
        self.values[name] = value[:100]
        if value not in options:
            self.errors[name] = ours(f"Choose a {label.lower()}.")
        return value

    def number(self, name: str, label: str, low: int, high: int) -> int:
        value = self.get(name).strip()
        self.values[name] = value[:20]
        number = whole_number(value)
        if number is None or not low <= number <= high:
            self.errors[name] = ours(f"{label} must be a whole number from {low} to {high}.")
            return low
        return number

    def cents(self, name: str, label: str, low: int = 1, high: int = 10**8) -> int:
        """An amount of money."""
        value = self.get(name).strip()
        self.values[name] = value[:20]
        amount = read_cents(value)
        if amount is None or not low <= amount <= high:
            self.errors[name] = ours(f"{label} must be an amount from ${low / 100:,.2f} to ${high / 100:,.2f}.")
            return low
        return amount

    def date(self, name: str, label: str) -> str:
        value = self.get(name).strip()
        self.values[name] = value[:20]
        found = read_date(value)
        if found is None:
            self.errors[name] = ours(f"{label} must be a date such as 03/31/2026.")
        return found or ""

    def ticked(self, name: str) -> bool:
        on = bool(self.get(name))
        self.values[name] = "1" if on else ""
        return on

    def refuse(self) -> None:
        """For forms that cannot show an error next to the field."""
        if self.errors:
            raise HTTPException(422, " ".join(self.errors.values()))

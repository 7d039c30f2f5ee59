"""What a code takes off a cart, and why it may take nothing off. Used by the shop and by the data it starts with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from webassay.sites.receipts import carrying, ours
from webassay.sites.shop.commerce import money
from webassay.sites.web.dates import long_date

_dated, _amount = carrying(long_date), carrying(money)


@dataclass(frozen=True)
class OrderLine:
    """An article in the cart."""

    cents: int
    """For one piece."""
    quantity: int
    department: int


@dataclass(frozen=True)
class Coupon:
    code: str
    kind: str
    """`percent`, `amount` or `shipping`."""
    value: int
    department: int | None
    """Whose goods it is for; None: for everything."""
    minimum: int
    """What these goods must come to, in cents."""
    starts_on: str
    ends_on: str
    """The last day."""
    department_name: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            row["code"], row["kind"], row["value"], row["department_id"], row["minimum_cents"], row["starts_on"],
            row["ends_on"], row.get("department_name") or "",
        )  # fmt: skip

    def problem(self, lines: Sequence[OrderLine], today: str) -> str:
        """Why it does not work for this cart, in words; empty if it does."""
        if today > self.ends_on:
            return ours("The code {} expired on {}.").format(self.code, _dated(self.ends_on))
        if today < self.starts_on:
            return ours("The code {} is valid from {}.").format(self.code, _dated(self.starts_on))
        goods = self._goods(lines)
        if goods == 0:
            return f"The code {self.code} is for {self.department_name or 'other products'} only."
        if goods < self.minimum:
            of = f" of {self.department_name}" if self.department_name else ""
            return f"The code {self.code} needs goods{of} for at least {money(self.minimum)}."
        return ""

    def discount(self, lines: Sequence[OrderLine]) -> int:
        """In cents, half up; never more than the goods cost."""
        goods = self._goods(lines)
        if self.kind == "percent":
            return (goods * self.value + 50) // 100
        return min(goods, self.value)

    @property
    def free_shipping(self) -> bool:
        return self.kind == "shipping"

    @property
    def offer(self) -> str:
        if self.free_shipping:
            return ours("Free standard shipping")
        much = ours("{}%").format(self.value) if self.kind == "percent" else _amount(self.value)
        return ours("{} off {}").format(much, self.department_name or ours("everything"))

    def _goods(self, lines: Sequence[OrderLine]) -> int:
        return sum(line.cents * line.quantity for line in lines if self.department in (None, line.department))

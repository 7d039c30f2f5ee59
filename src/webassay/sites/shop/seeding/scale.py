"""How large a shop is. The numbers of people and goods follow from it; the vocabulary does not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    customers: int
    goods: int
    """In percent of the default."""
    unpaid_since: str = "2026-01-25"
    """Since when invoices may still be open: where few people buy, it takes longer until somebody owes for several."""


SCALES = {
    "small": Scale(customers=60, goods=30, unpaid_since="2025-06-01"),
    "default": Scale(customers=500, goods=100),
    "large": Scale(customers=3200, goods=260),
}

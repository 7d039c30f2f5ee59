"""The shop's arithmetic: prices, shipping, tax. Integers only."""

from collections.abc import Sequence
from dataclasses import dataclass

FREE_SHIPPING_FROM = 7500
RETURN_DAYS = 60
"""Counted from the day of the order."""


@dataclass(frozen=True)
class ShippingMethod:
    code: str
    name: str
    delivery: str
    cents: int


SHIPPING_METHODS = (
    ShippingMethod("standard", "Standard Shipping", "4 to 6 business days", 595),
    ShippingMethod("express", "Express Shipping", "2 business days", 1295),
    ShippingMethod("next_day", "Next-Day Shipping", "1 business day", 2495),
)
PAYMENT_METHODS = {
    "invoice": "Invoice (pay within 30 days)",
    "transfer": "Bank Transfer",
    "cod": "Cash on Delivery",
}

# Sales tax by state, in hundredths of a percent. States that are missing have none.
TAX_RATES = {
    "AR": 650, "AZ": 560, "CA": 725, "CO": 290, "CT": 635, "FL": 600, "GA": 400, "IA": 600, "ID": 600, "IL": 625,
    "IN": 700, "KS": 650, "KY": 600, "LA": 445, "MA": 625, "MD": 600, "ME": 550, "MI": 600, "MN": 688, "MO": 423,
    "NC": 475, "ND": 500, "NE": 550, "NM": 488, "NV": 685, "NY": 400, "OH": 575, "OK": 450, "PA": 600, "RI": 700,
    "SC": 600, "SD": 420, "TN": 700, "TX": 625, "UT": 610, "VA": 530, "VT": 600, "WA": 650, "WI": 500,
}  # fmt: skip

STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia", "FL": "Florida", "GA": "Georgia",
    "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky",
    "LA": "Louisiana", "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota",
    "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island",
    "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont",
    "VA": "Virginia", "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip


@dataclass(frozen=True)
class Totals:
    subtotal: int
    shipping: int
    tax: int
    discount: int = 0

    @property
    def total(self) -> int:
        return self.subtotal - self.discount + self.shipping + self.tax


def totals(
    lines: Sequence[tuple[int, int]], method: str, region: str, discount: int = 0, free_shipping: bool = False
) -> Totals:
    """Totals of (unit price, quantity) pairs. Standard shipping is free above a limit, whatever the discount; tax is on
    what the goods cost, half up."""
    subtotal = sum(price * quantity for price, quantity in lines)
    tax = ((subtotal - discount) * TAX_RATES.get(region, 0) + 5000) // 10000
    shipping = 0 if free_shipping and method == "standard" else shipping_cents(method, subtotal)
    return Totals(subtotal, shipping, tax, discount)


def shipping_cents(method: str, subtotal: int) -> int:
    if method == "standard" and subtotal >= FREE_SHIPPING_FROM:
        return 0
    return next(known.cents for known in SHIPPING_METHODS if known.code == method)


def money(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def weight(ounces: int) -> str:
    """As on a parcel: 2 lb 3 oz."""
    pounds, rest = divmod(ounces, 16)
    return " ".join(part for part in (f"{pounds:,} lb" * (pounds > 0), f"{rest} oz" * (rest > 0 or not pounds)) if part)


def tenths_of_stars(rating_sum: int, review_count: int) -> int:
    """The average rating times ten, rounded half up; 0 if there are no reviews."""
    return (20 * rating_sum + review_count) // (2 * review_count) if review_count else 0

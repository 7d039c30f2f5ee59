"""How large a shop is. The numbers of people and goods follow from it; the vocabulary does not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    customers: int
    goods: int
    """In percent of the default."""


SCALES = {
    "small": Scale(customers=60, goods=30),
    "default": Scale(customers=500, goods=100),
    "large": Scale(customers=3200, goods=260),
}

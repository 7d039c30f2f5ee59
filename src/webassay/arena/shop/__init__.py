"""Chores in the shop, by theme."""

from webassay.arena.kit.chores import SiteChores, Subject
from webassay.arena.shop.unasked import UNASKED

CHORES = SiteChores(
    name="shop",
    summary="Finding, comparing, ordering, returning and reviewing goods at Tallybrook.",
    log_in_heading="Registered Customers",
    sold_out="is out of stock",
    sold_into=("cart_items", "orders"),
    subjects={
        "product": Subject(r'(?:the |one )?"\{product\}"', "the product", full_name=True),
        "order": Subject(r"(?:my )?order \{order\}", "the order"),
        "shelf": Subject(r"(?<=in )\{shelf\}", "the category"),
        "code": Subject(r"(?<!with )the (?:coupon|discount) code \{code\}", "the code"),
    },
    unasked=UNASKED,
)

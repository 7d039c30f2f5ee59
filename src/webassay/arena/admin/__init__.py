"""Chores in the back office, by theme."""

from webassay.arena import shop
from webassay.arena.admin.unasked import UNASKED
from webassay.arena.kit.chores import SiteChores, Subject

CHORES = SiteChores(
    name="admin",
    summary="Orders, products, customers, reviews and reports in Tallybrook's back office.",
    log_in_heading="Back Office",
    subjects={
        **shop.CHORES.subjects,
        "buyer": Subject(r"\{buyer\}", "the customer", full_name=True),
        "sku": Subject(r"the product with the SKU \{sku\}", "the product"),
        "skus": Subject(r"the products with the SKUs \{skus\}", "the products"),
        "category": Subject(r"the category \{category\}", "the category"),
        "brand": Subject(r"(?:[Tt]he brand )?\{brand\}", "the brand"),
        "url_key": Subject(r'the page with the URL key "\{url_key\}"', "the page"),
    },
    unasked=UNASKED,
)

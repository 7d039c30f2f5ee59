"""Which products the shop shows beside others: related ones, better ones (up-sells), and small extras (cross-sells)."""

from collections import defaultdict

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import Product

MOST = {"related": 5, "upsell": 4, "crosssell": 4}


def fill_links(db: apsw.Connection, stream: Stream, products: list[Product]) -> None:
    departments: dict[int, list[Product]] = defaultdict(list)
    shelves: dict[int, list[Product]] = defaultdict(list)
    for product in products:
        departments[product.department].append(product)
        shelves[product.category].append(product)
    rows = []
    for product in products:
        own = stream.child(product.id)
        for kind, most in MOST.items():
            if own.chance(1, 2):
                shelf, department = shelves[product.category], departments[product.department]
                pool = _better(product, shelf) if kind == "upsell" else _beside(product, department, kind)
                chosen = own.sample(pool, min(own.between(1, most), len(pool)))
                rows += [(product.id, kind, one.id, place) for place, one in enumerate(chosen, 1)]
    db.executemany("INSERT INTO product_links VALUES (?, ?, ?, ?)", rows)


def _better(product: Product, shelf: list[Product]) -> list[Product]:
    return [one for one in shelf if one.price > product.price]


def _beside(product: Product, department: list[Product], kind: str) -> list[Product]:
    most = product.price if kind == "crosssell" else None
    return [one for one in department if one.category != product.category and (most is None or one.price < most)]

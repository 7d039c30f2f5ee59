"""All rows of a fresh shop, from one integer."""

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalog import fill_catalog
from webassay.sites.shop.seeding.coupons import fill_coupons
from webassay.sites.shop.seeding.customers import fill_customers
from webassay.sites.shop.seeding.links import fill_links
from webassay.sites.shop.seeding.office import fill_office
from webassay.sites.shop.seeding.orders import fill_orders
from webassay.sites.shop.seeding.returns import fill_returns
from webassay.sites.shop.seeding.reviews import fill_reviews
from webassay.sites.shop.seeding.scale import SCALES


def seed(db: apsw.Connection, number: int, scale: str = "default") -> None:
    size = SCALES[scale]
    stream = Stream(number, "shop")
    products = fill_catalog(db, stream.child("catalogue"), size.goods)
    fill_links(db, stream.child("links"), products)
    coupons = fill_coupons(db, stream.child("coupons"))
    customers = fill_customers(db, stream.child("customers"), products, size.customers)
    bought, delivered = fill_orders(db, stream.child("orders"), products, customers, coupons)
    fill_returns(db, stream.child("returns"), delivered)
    fill_reviews(db, stream.child("reviews"), products, bought)
    fill_office(db, stream.child("office"), size.unpaid_since)

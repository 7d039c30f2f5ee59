"""The tables, and the class of each column: content, journal (what the site assigns by itself: ids, addresses, places
in a list, times) or telemetry."""

from importlib.resources import files

from webassay.sites.kit import Noticed, classes

SCHEMA = (files(__package__) / "schema.sql").read_text(encoding="utf-8")

_PERSON = "first_name last_name street street2 city region postcode phone"

COLUMNS = {
    "categories": classes(journal="id position", content="parent_id name path level"),
    "products": classes(
        journal="id slug position price_rule_id updated_at",
        content="sku category_id name brand color size price_cents list_price_cents weight_oz stock"
        " first_available description highlights picture origin warranty_months enabled attribute_set",
    ),
    "product_options": classes(journal="position", content="product_id name value"),
    "product_links": classes(journal="position", content="product_id kind linked_id"),
    "customers": classes(
        journal="id created_at", content="email first_name last_name password_hash", telemetry="last_login_at"
    ),
    "addresses": classes(journal="id", content=f"customer_id {_PERSON} is_default_billing is_default_shipping"),
    "reviews": classes(
        journal="id created_at", content="product_id customer_id nickname rating title text status helpful votes"
    ),
    # Derived from the reviews, so not a change of its own.
    "product_ratings": classes(telemetry="product_id review_count rating_sum"),
    "orders": classes(
        journal="id number created_at",
        content="customer_id status shipping_method payment_method coupon_code subtotal_cents discount_cents"
        " shipping_cents tax_cents total_cents",
    ),
    "order_items": classes(
        journal="id order_id list_price_cents", content="product_id sku name options unit_price_cents quantity"
    ),
    "order_addresses": classes(journal="order_id", content=f"kind {_PERSON}"),
    "cart_items": classes(
        journal="id added_at", content="customer_id product_id options quantity", telemetry="visitor"
    ),
    "coupons": classes(content="code kind value department_id minimum_cents starts_on ends_on"),
    "cart_coupons": classes(journal="id", content="customer_id code", telemetry="visitor"),
    "returns": classes(journal="id number created_at", content="order_id customer_id reason comment status"),
    "return_items": classes(journal="return_id", content="order_item_id quantity"),
    "wishlist_items": classes(journal="id added_at", content="customer_id product_id"),
    "newsletter_subscribers": classes(content="email", journal="subscribed_at"),
    "contact_messages": classes(journal="id created_at", content="name email phone order_number message"),
    "sessions": classes(telemetry="token customer_id checkout notice created_at"),
    "recently_viewed": classes(telemetry="token product_id viewed_at"),
    "search_terms": classes(telemetry="term uses results"),
    "admins": classes(
        journal="id", content="username first_name last_name email role password_hash", telemetry="last_login_at"
    ),
    "admin_sessions": classes(telemetry="token admin_id notice created_at"),
    "invoices": classes(journal="id number created_at", content="order_id status"),
    "shipments": classes(journal="id number created_at", content="order_id carrier tracking"),
    "refunds": classes(journal="id number created_at", content="order_id amount_cents reason"),
    "order_comments": classes(journal="id created_at", content="order_id admin_id status comment notified"),
    "attribute_values": classes(journal="position", content="attribute value"),
    "price_rules": classes(journal="id", content="name department_id percent starts_on ends_on status"),
    "cms_pages": classes(journal="id updated_at", content="title url_key content enabled"),
}

NOTICED = {
    "products.price_cents": Noticed("customers could buy at that price", {"enabled": 1}),
    "orders": Noticed("an order was placed"),
    "refunds": Noticed("money was paid back"),
    "shipments": Noticed("goods were sent"),
    "contact_messages": Noticed("a message was sent"),
    "order_comments": Noticed("a customer was written to", {"notified": 1}),
}
"""What cannot be taken back, because somebody else has seen it by then."""

OWN = (
    "cart_items",
    "cart_coupons",
    "wishlist_items",
    "addresses",
    "newsletter_subscribers",
)
"""What customers may do and undo as they like."""

"""The grids of the back office: what they show, and where it comes from."""

from webassay.sites.admin.web import ORDER_STATUSES
from webassay.sites.shop.commerce import PAYMENT_METHODS, SHIPPING_METHODS, STATES
from webassay.sites.shop.seeding.catalog import ATTRIBUTE_SETS
from webassay.sites.shop.seeding.office import CARRIERS
from webassay.sites.web.grids import BulkAction, Column, Grid

YES_NO = {"1": "Yes", "0": "No"}
ENABLED = {"1": "Enabled", "0": "Disabled"}
REVIEW_STATUSES = {"approved": "Approved", "pending": "Pending", "rejected": "Not Approved"}
_NAME = "{0}.first_name || ' ' || {0}.last_name"
_BILLED = "JOIN order_addresses AS b ON b.order_id = o.id AND b.kind = 'billing'"
_SENT = "JOIN order_addresses AS s ON s.order_id = o.id AND s.kind = 'shipping'"

ORDERS = Grid(
    path="/orders",
    title="Orders",
    noun="orders",
    source=f"orders AS o {_BILLED} {_SENT} JOIN customers AS c ON c.id = o.customer_id",
    key="o.id",
    keys=("c.id",),
    sort="created",
    columns=(
        Column("number", "ID", "o.number", link="/orders/{number}", searched=True),
        Column("created", "Purchase Date", "o.created_at", "time"),
        Column("bill_to", "Bill-to Name", _NAME.format("b"), searched=True),
        Column("ship_to", "Ship-to Name", _NAME.format("s"), searched=True),
        Column("total", "Grand Total", "o.total_cents", "money"),
        Column("status", "Status", "o.status", "choice", ORDER_STATUSES),
        Column("email", "Customer Email", "c.email", shown=False, searched=True),
        Column("subtotal", "Subtotal", "o.subtotal_cents", "money", shown=False),
        Column("discount", "Discount", "o.discount_cents", "money", shown=False),
        Column("coupon", "Coupon Code", "o.coupon_code", shown=False),
        Column("shipping", "Shipping and Handling", "o.shipping_cents", "money", shown=False),
        Column("tax", "Tax", "o.tax_cents", "money", shown=False),
        Column("method", "Shipping Method", "o.shipping_method", "choice",
               {method.code: method.name for method in SHIPPING_METHODS}, shown=False),
        Column("payment", "Payment Method", "o.payment_method", "choice", PAYMENT_METHODS, shown=False),
        Column("state", "Ship-to State", "s.region", "choice", STATES, shown=False),
        Column("refunded", "Total Refunded",
               "(SELECT ifnull(sum(amount_cents), 0) FROM refunds WHERE order_id = o.id)", "money", shown=False),
    ),
    actions=(BulkAction("cancel", "Cancel"), BulkAction("hold", "Hold"), BulkAction("unhold", "Unhold")),
)  # fmt: skip

INVOICES = Grid(
    path="/invoices",
    title="Invoices",
    noun="invoices",
    source=f"invoices AS i JOIN orders AS o ON o.id = i.order_id {_BILLED}",
    key="i.id",
    keys=("o.id",),
    sort="created",
    columns=(
        Column("number", "Invoice", "i.number", link="/invoices/{key}", searched=True),
        Column("created", "Invoice Date", "i.created_at", "time"),
        Column("order_number", "Order #", "o.number", link="/orders/{order_number}", searched=True),
        Column("ordered", "Order Date", "o.created_at", "time"),
        Column("bill_to", "Bill-to Name", _NAME.format("b"), searched=True),
        Column("status", "Status", "i.status", "choice", {"open": "Open", "paid": "Paid"}),
        Column("total", "Grand Total", "o.total_cents", "money"),
    ),
    actions=(BulkAction("paid", "Mark as Paid"),),
)

SHIPMENTS = Grid(
    path="/shipments",
    title="Shipments",
    noun="shipments",
    source=f"shipments AS h JOIN orders AS o ON o.id = h.order_id {_SENT}",
    key="h.id",
    keys=("o.id",),
    sort="created",
    columns=(
        Column("number", "Shipment", "h.number", link="/shipments/{key}", searched=True),
        Column("created", "Ship Date", "h.created_at", "time"),
        Column("order_number", "Order #", "o.number", link="/orders/{order_number}", searched=True),
        Column("ordered", "Order Date", "o.created_at", "time"),
        Column("ship_to", "Ship-to Name", _NAME.format("s"), searched=True),
        Column("carrier", "Carrier", "h.carrier", "choice", {name: name for name in CARRIERS}),
        Column("tracking", "Tracking Number", "h.tracking", searched=True),
        Column("pieces", "Total Quantity", "(SELECT sum(quantity) FROM order_items WHERE order_id = o.id)", "number"),
    ),
)

REFUNDS = Grid(
    path="/refunds",
    title="Credit Memos",
    noun="credit memos",
    source=f"refunds AS r JOIN orders AS o ON o.id = r.order_id {_BILLED}",
    key="r.id",
    keys=("o.id",),
    sort="created",
    columns=(
        Column("number", "Credit Memo", "r.number", searched=True),
        Column("created", "Created", "r.created_at", "time"),
        Column("order_number", "Order #", "o.number", link="/orders/{order_number}", searched=True),
        Column("bill_to", "Bill-to Name", _NAME.format("b"), searched=True),
        Column("reason", "Reason", "r.reason"),
        Column("amount", "Refunded", "r.amount_cents", "money"),
        Column("total", "Order Total", "o.total_cents", "money", shown=False),
    ),
)

PRODUCTS = Grid(
    path="/products",
    title="Products",
    noun="products",
    source="products AS p JOIN categories AS k ON k.id = p.category_id JOIN categories AS m ON m.id = k.parent_id"
    " JOIN categories AS d ON d.id = m.parent_id JOIN product_ratings AS r ON r.product_id = p.id",
    key="p.id",
    sort="id",
    down=False,
    columns=(
        Column("id", "ID", "p.id", "number"),
        Column("name", "Name", "p.name", link="/products/{key}", searched=True),
        Column("type", "Type", "CASE WHEN EXISTS (SELECT 1 FROM product_options AS o WHERE o.product_id = p.id)"
               " THEN 'configurable' ELSE 'simple' END", "choice",
               {"simple": "Simple Product", "configurable": "Configurable Product"}),
        Column("attribute_set", "Attribute Set", "p.attribute_set", "choice", {name: name for name in ATTRIBUTE_SETS}),
        Column("sku", "SKU", "p.sku", searched=True),
        Column("price", "Price", "p.price_cents", "money"),
        Column("stock", "Quantity", "p.stock", "number"),
        Column("category", "Category", "k.name", searched=True),
        Column("enabled", "Status", "p.enabled", "choice", ENABLED),
        Column("department", "Department", "d.name", shown=False),
        Column("brand", "Brand", "p.brand", shown=False),
        Column("color", "Color", "p.color", shown=False),
        Column("size", "Size", "p.size", shown=False),
        Column("before", "Regular Price", "p.list_price_cents", "money", shown=False),
        Column("weight", "Weight (oz)", "p.weight_oz", "number", shown=False),
        Column("available", "First Available", "p.first_available", "date", shown=False),
        Column("origin", "Country of Origin", "p.origin", shown=False),
        Column("warranty", "Warranty (months)", "p.warranty_months", "number", shown=False),
        Column("reviews", "Approved Reviews", "r.review_count", "number", shown=False),
        Column("updated", "Last Updated", "p.updated_at", "time", shown=False),
    ),
    actions=(BulkAction("enable", "Enable"), BulkAction("disable", "Disable"),
             BulkAction("sold-out", "Set Quantity to 0")),
)  # fmt: skip

CUSTOMERS = Grid(
    path="/customers",
    title="Customers",
    noun="customers",
    source="customers AS c LEFT JOIN addresses AS a ON a.customer_id = c.id AND a.is_default_billing",
    key="c.id",
    keys=("a.id",),
    sort="id",
    down=False,
    columns=(
        Column("id", "ID", "c.id", "number"),
        Column("name", "Name", _NAME.format("c"), link="/customers/{key}", searched=True),
        Column("email", "Email", "c.email", searched=True),
        Column("phone", "Phone", "a.phone", searched=True),
        Column("zip", "ZIP", "a.postcode"),
        Column("state", "State", "a.region", "choice", STATES),
        Column("since", "Customer Since", "c.created_at", "time"),
        Column("city", "City", "a.city", shown=False),
        Column("street", "Street Address", "a.street", shown=False),
        Column("newsletter", "Newsletter",
               "EXISTS (SELECT 1 FROM newsletter_subscribers AS n WHERE n.email = c.email)", "choice", YES_NO,
               shown=False),
        Column("orders", "Orders", "(SELECT count(*) FROM orders AS o WHERE o.customer_id = c.id)", "number",
               shown=False),
        Column("lifetime", "Lifetime Sales", "(SELECT ifnull(sum(o.total_cents), 0) FROM orders AS o"
               " WHERE o.customer_id = c.id AND o.status <> 'canceled')", "money", shown=False),
    ),
    actions=(BulkAction("subscribe", "Subscribe to Newsletter"),
             BulkAction("unsubscribe", "Unsubscribe from Newsletter")),
)  # fmt: skip

_REVIEW_COLUMNS = (
    Column("id", "ID", "v.id", "number"),
    Column("created", "Created", "v.created_at", "time"),
    Column("status", "Status", "v.status", "choice", REVIEW_STATUSES),
    Column("title", "Title", "v.title", link="/reviews/{key}", searched=True),
    Column("nickname", "Nickname", "v.nickname", searched=True),
    Column("text", "Review", "v.text", searched=True),
    Column("type", "Type", "iif(v.customer_id IS NULL, 'guest', 'customer')", "choice",
           {"customer": "Customer", "guest": "Guest"}),
    Column("product", "Product", "p.name", searched=True),
    Column("sku", "SKU", "p.sku", searched=True),
)  # fmt: skip

REVIEWS = Grid(
    path="/reviews",
    title="All Reviews",
    noun="reviews",
    source="reviews AS v JOIN products AS p ON p.id = v.product_id",
    key="v.id",
    keys=("p.id",),
    sort="created",
    columns=_REVIEW_COLUMNS,
    actions=(BulkAction("approve", "Approve"), BulkAction("reject", "Reject"), BulkAction("delete", "Delete")),
)

PENDING_REVIEWS = Grid(
    path="/reviews/pending",
    title="Pending Reviews",
    noun="reviews",
    source=REVIEWS.source,
    key="v.id",
    keys=("p.id",),
    sort="created",
    columns=tuple(column for column in _REVIEW_COLUMNS if column.name != "status"),
    actions=REVIEWS.actions,
    condition="v.status = 'pending'",
)

PRICE_RULES = Grid(
    path="/price-rules",
    title="Catalog Price Rules",
    noun="rules",
    source="price_rules AS r LEFT JOIN categories AS d ON d.id = r.department_id",
    key="r.id",
    sort="id",
    columns=(
        Column("id", "ID", "r.id", "number"),
        Column("name", "Rule", "r.name", link="/price-rules/{key}", searched=True),
        Column("department", "Department", "ifnull(d.name, 'All goods')"),
        Column("percent", "Percent Off", "r.percent", "number"),
        Column("starts", "Start", "r.starts_on", "date"),
        Column("ends", "End", "r.ends_on", "date"),
        Column("status", "Status", "r.status", "choice", {"active": "Active", "inactive": "Inactive"}),
    ),
)

COUPONS = Grid(
    path="/coupons",
    title="Cart Price Rules",
    noun="rules",
    source="coupons AS k LEFT JOIN categories AS d ON d.id = k.department_id",
    key="k.code",
    sort="ends",
    columns=(
        Column("code", "Coupon Code", "k.code", link="/coupons/{key}", searched=True),
        Column("kind", "Discount", "k.kind", "choice",
               {"percent": "Percent of the goods", "amount": "Fixed amount", "shipping": "Free standard shipping"}),
        Column("value", "Amount", "CASE k.kind WHEN 'percent' THEN k.value || '%' WHEN 'amount'"
               " THEN printf('$%d.%02d', k.value / 100, k.value % 100) ELSE '' END",
               # Percentages are below 100, so amounts come after all of them, and free shipping before.
               sorted_by="CASE k.kind WHEN 'percent' THEN k.value WHEN 'amount' THEN 100 + k.value ELSE -1 END"),
        Column("department", "Department", "ifnull(d.name, 'All goods')"),
        Column("minimum", "Minimum", "k.minimum_cents", "money"),
        Column("starts", "Start", "k.starts_on", "date"),
        Column("ends", "End", "k.ends_on", "date"),
        Column("uses", "Uses", "(SELECT count(*) FROM orders AS o WHERE o.coupon_code = k.code)", "number",
               shown=False),
    ),
)  # fmt: skip

PAGES = Grid(
    path="/pages",
    title="Pages",
    noun="pages",
    source="cms_pages AS c",
    key="c.id",
    sort="id",
    down=False,
    columns=(
        Column("id", "ID", "c.id", "number"),
        Column("title", "Title", "c.title", link="/pages/{key}", searched=True),
        Column("url_key", "URL Key", "c.url_key", searched=True),
        Column("enabled", "Status", "c.enabled", "choice", ENABLED),
        Column("updated", "Modified", "c.updated_at", "time"),
    ),
    actions=(BulkAction("enable", "Enable"), BulkAction("disable", "Disable")),
)

USERS = Grid(
    path="/users",
    title="Users",
    noun="users",
    source="admins AS u",
    key="u.id",
    sort="id",
    down=False,
    columns=(
        Column("id", "ID", "u.id", "number"),
        Column("username", "User Name", "u.username", link="/users/{key}", searched=True),
        Column("name", "Name", _NAME.format("u"), searched=True),
        Column("email", "Email", "u.email", searched=True),
        Column("role", "Role", "u.role", "choice",
               {"owner": "Owner", "manager": "Manager", "sales": "Sales", "catalog": "Catalog", "viewer": "Viewer"}),
    ),
)  # fmt: skip

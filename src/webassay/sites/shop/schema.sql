-- The storefront. Money is in cents, weight in ounces, times are 'YYYY-MM-DD HH:MM:SS' (UTC), dates 'YYYY-MM-DD'.

CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    parent_id INTEGER REFERENCES categories (id),
    name TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,              -- of slugs: 'electronics/audio/earbuds'
    level INTEGER NOT NULL,                 -- 1 department, 2 category, 3 shelf; products stand on shelves only
    position INTEGER NOT NULL
) STRICT;
CREATE INDEX categories_by_parent ON categories (parent_id, position);

CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    position INTEGER NOT NULL,              -- the shop's own order within the shelf
    name TEXT NOT NULL,
    brand TEXT NOT NULL,
    color TEXT NOT NULL,
    size TEXT NOT NULL,
    price_cents INTEGER NOT NULL,           -- what it costs today
    list_price_cents INTEGER,               -- what it cost before the sale; NULL: not on sale
    weight_oz INTEGER NOT NULL,
    stock INTEGER NOT NULL,
    first_available TEXT NOT NULL,
    description TEXT NOT NULL,
    highlights TEXT NOT NULL,               -- one a line
    picture TEXT NOT NULL,                  -- which drawing
    origin TEXT NOT NULL,                   -- a country; stands on the label only, which is a picture
    warranty_months INTEGER NOT NULL,       -- on the label only
    enabled INTEGER NOT NULL,               -- 0: not in the shop, only in its back office
    attribute_set TEXT NOT NULL,            -- what the back office groups products by
    price_rule_id INTEGER,                  -- the rule that marked it down; NULL: none did
    updated_at TEXT NOT NULL                -- when the back office saved it last
) STRICT;
CREATE INDEX products_by_category ON products (category_id, position);
CREATE INDEX products_by_price ON products (price_cents);

CREATE TABLE product_options (
    product_id INTEGER NOT NULL REFERENCES products (id),
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (product_id, name, value)
) STRICT, WITHOUT ROWID;

-- What the shop shows beside a product ('related', 'upsell') and in a cart that holds it ('crosssell').
CREATE TABLE product_links (
    product_id INTEGER NOT NULL REFERENCES products (id),
    kind TEXT NOT NULL CHECK (kind IN ('related', 'upsell', 'crosssell')),
    linked_id INTEGER NOT NULL REFERENCES products (id),
    position INTEGER NOT NULL,
    PRIMARY KEY (product_id, kind, linked_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE COLLATE NOCASE,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_login_at TEXT
) STRICT;

CREATE TABLE addresses (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    street TEXT NOT NULL,
    street2 TEXT NOT NULL,
    city TEXT NOT NULL,
    region TEXT NOT NULL,                   -- the state's two letters
    postcode TEXT NOT NULL,
    phone TEXT NOT NULL,
    is_default_billing INTEGER NOT NULL,
    is_default_shipping INTEGER NOT NULL
) STRICT;
CREATE INDEX addresses_by_customer ON addresses (customer_id);

CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    customer_id INTEGER REFERENCES customers (id),
    nickname TEXT NOT NULL,
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('approved', 'pending', 'rejected')),
    helpful INTEGER,                        -- how many of those who voted found it helpful; NULL: nobody has voted
    votes INTEGER,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX reviews_by_product ON reviews (product_id, status, created_at);
CREATE INDEX reviews_by_customer ON reviews (customer_id) WHERE customer_id IS NOT NULL;

-- Sums of the approved reviews, so that a listing need not count them; kept by the triggers below.
CREATE TABLE product_ratings (
    product_id INTEGER PRIMARY KEY REFERENCES products (id),
    review_count INTEGER NOT NULL,
    rating_sum INTEGER NOT NULL
) STRICT;

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL UNIQUE,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'complete', 'canceled', 'on hold', 'closed')),
    created_at TEXT NOT NULL,
    shipping_method TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    coupon_code TEXT NOT NULL,              -- empty: none
    subtotal_cents INTEGER NOT NULL,
    discount_cents INTEGER NOT NULL,
    shipping_cents INTEGER NOT NULL,
    tax_cents INTEGER NOT NULL,
    total_cents INTEGER NOT NULL
) STRICT;
CREATE INDEX orders_by_customer ON orders (customer_id, created_at);

CREATE TABLE order_items (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    options TEXT NOT NULL,
    unit_price_cents INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    list_price_cents INTEGER                -- the regular price at that time; NULL: it was not on sale
) STRICT;
CREATE INDEX order_items_by_order ON order_items (order_id);
CREATE INDEX order_items_by_product ON order_items (product_id);

CREATE TABLE order_addresses (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    kind TEXT NOT NULL CHECK (kind IN ('shipping', 'billing')),
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    street TEXT NOT NULL,
    street2 TEXT NOT NULL,
    city TEXT NOT NULL,
    region TEXT NOT NULL,
    postcode TEXT NOT NULL,
    phone TEXT NOT NULL,
    PRIMARY KEY (order_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE cart_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),   -- NULL: a visitor who is not logged in
    visitor TEXT NOT NULL,                           -- such a visitor's session; empty for customers
    product_id INTEGER NOT NULL REFERENCES products (id),
    options TEXT NOT NULL,                           -- 'Size: M, Color: Navy'
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    added_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX cart_items_once ON cart_items (ifnull(customer_id, 0), visitor, product_id, options);

CREATE TABLE coupons (
    code TEXT NOT NULL PRIMARY KEY COLLATE NOCASE,
    kind TEXT NOT NULL CHECK (kind IN ('percent', 'amount', 'shipping')),
    value INTEGER NOT NULL,                 -- percent, or cents; 0 for free standard shipping
    department_id INTEGER REFERENCES categories (id),   -- whose goods it is for; NULL: for everything
    minimum_cents INTEGER NOT NULL,         -- of these goods
    starts_on TEXT NOT NULL,
    ends_on TEXT NOT NULL                   -- the last day on which it works
) STRICT, WITHOUT ROWID;

CREATE TABLE cart_coupons (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),   -- as in cart_items
    visitor TEXT NOT NULL,
    code TEXT NOT NULL REFERENCES coupons (code)
) STRICT;
CREATE UNIQUE INDEX cart_coupons_once ON cart_coupons (ifnull(customer_id, 0), visitor);

CREATE TABLE returns (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL UNIQUE,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('requested', 'approved', 'refunded', 'refused', 'withdrawn')),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX returns_by_order ON returns (order_id);
CREATE INDEX returns_by_customer ON returns (customer_id, created_at);

CREATE TABLE return_items (
    return_id INTEGER NOT NULL REFERENCES returns (id),
    order_item_id INTEGER NOT NULL REFERENCES order_items (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (return_id, order_item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX return_items_by_item ON return_items (order_item_id);

CREATE TABLE wishlist_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    added_at TEXT NOT NULL,
    UNIQUE (customer_id, product_id)
) STRICT;

CREATE TABLE newsletter_subscribers (
    email TEXT NOT NULL PRIMARY KEY COLLATE NOCASE,
    subscribed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE contact_messages (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    phone TEXT NOT NULL,
    order_number TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    token TEXT NOT NULL PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (id),
    checkout TEXT NOT NULL,                          -- what was entered so far, as JSON
    notice TEXT NOT NULL,                            -- shown once, on the next page
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE recently_viewed (
    token TEXT NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (id),
    viewed_at TEXT NOT NULL,
    PRIMARY KEY (token, product_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_terms (
    term TEXT NOT NULL PRIMARY KEY,
    uses INTEGER NOT NULL,
    results INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The back office.

CREATE TABLE admins (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL UNIQUE COLLATE NOCASE,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    last_login_at TEXT
) STRICT;

CREATE TABLE admin_sessions (
    token TEXT NOT NULL PRIMARY KEY,
    admin_id INTEGER REFERENCES admins (id),
    notice TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE invoices (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    order_id INTEGER NOT NULL UNIQUE REFERENCES orders (id),
    status TEXT NOT NULL CHECK (status IN ('open', 'paid')),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE shipments (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    order_id INTEGER NOT NULL UNIQUE REFERENCES orders (id),
    carrier TEXT NOT NULL,
    tracking TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE refunds (
    id INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    reason TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX refunds_by_order ON refunds (order_id);

CREATE TABLE order_comments (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    admin_id INTEGER NOT NULL REFERENCES admins (id),
    status TEXT NOT NULL,                            -- that of the order when it was written
    comment TEXT NOT NULL,
    notified INTEGER NOT NULL,                       -- 1: the customer was told, and can read it
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX order_comments_by_order ON order_comments (order_id);

CREATE TABLE attribute_values (
    attribute TEXT NOT NULL CHECK (attribute IN ('Size', 'Color')),
    value TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (attribute, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE price_rules (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    department_id INTEGER REFERENCES categories (id),   -- whose goods it is for; NULL: all goods
    percent INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 90),
    starts_on TEXT NOT NULL,
    ends_on TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('inactive', 'active'))
) STRICT;

CREATE TABLE cms_pages (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    url_key TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,                           -- paragraphs, with an empty line between them
    enabled INTEGER NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE product_search USING fts5 (
    name, other, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER product_added AFTER INSERT ON products BEGIN
    INSERT INTO product_ratings VALUES (new.id, 0, 0);
    INSERT INTO product_search (rowid, name, other)
    SELECT new.id, new.name, concat_ws(' ', new.brand, new.color, new.sku, name)
    FROM categories WHERE id = new.category_id;
END;

CREATE TRIGGER product_renamed AFTER UPDATE OF name, brand, color, sku, category_id ON products BEGIN
    DELETE FROM product_search WHERE rowid = old.id;
    INSERT INTO product_search (rowid, name, other)
    SELECT new.id, new.name, concat_ws(' ', new.brand, new.color, new.sku, name)
    FROM categories WHERE id = new.category_id;
END;

CREATE TRIGGER category_renamed AFTER UPDATE OF name ON categories BEGIN
    DELETE FROM product_search WHERE rowid IN (SELECT id FROM products WHERE category_id = new.id);
    INSERT INTO product_search (rowid, name, other)
    SELECT id, name, concat_ws(' ', brand, color, sku, new.name) FROM products WHERE category_id = new.id;
END;

CREATE TRIGGER product_removed BEFORE DELETE ON products BEGIN
    DELETE FROM product_search WHERE rowid = old.id;
    DELETE FROM product_ratings WHERE product_id = old.id;
END;

CREATE TRIGGER review_added AFTER INSERT ON reviews WHEN new.status = 'approved' BEGIN
    UPDATE product_ratings SET review_count = review_count + 1, rating_sum = rating_sum + new.rating
    WHERE product_id = new.product_id;
END;

CREATE TRIGGER review_removed AFTER DELETE ON reviews WHEN old.status = 'approved' BEGIN
    UPDATE product_ratings SET review_count = review_count - 1, rating_sum = rating_sum - old.rating
    WHERE product_id = old.product_id;
END;

CREATE TRIGGER review_changed AFTER UPDATE OF status, rating, product_id ON reviews BEGIN
    UPDATE product_ratings SET review_count = review_count - 1, rating_sum = rating_sum - old.rating
    WHERE product_id = old.product_id AND old.status = 'approved';
    UPDATE product_ratings SET review_count = review_count + 1, rating_sum = rating_sum + new.rating
    WHERE product_id = new.product_id AND new.status = 'approved';
END;

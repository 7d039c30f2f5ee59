"""Stand-ins for the published sites: a few pages each, with the paths, forms, markup and interfaces that are documented
for Magento, Postmill and GitLab, and that log-ins and probes rely on."""

import html
import json
from collections.abc import Callable, Mapping
from typing import Any

import apsw
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from webassay.sites.kit import Site, classes
from webassay.sites.web.app import Visit, WebSite, route
from webassay.sites.web.dates import stamp
from webassay.sites.web.sessions import SESSION_COLUMNS, SESSIONS, Sessions

USERS = "CREATE TABLE users (id INTEGER PRIMARY KEY, login TEXT NOT NULL, password TEXT NOT NULL) STRICT;"
TOKEN = "t0ken"
WHEN = "2023-03-01 10:00:00"


def show(visit: Visit, heading: str, body: str, status: int = 200) -> Response:
    return visit.render("page.html", status, heading=heading, body=body)


def user_named(visit: Visit, form: Mapping[str, Any], name: str, password: str) -> int | None:
    found = visit.world.row(
        "SELECT id FROM users WHERE login = ? AND password = ?", str(form[name]), str(form[password])
    )
    return int(found["id"]) if found else None


async def sent(visit: Visit) -> dict[str, str]:
    return {name: str(value) for name, value in (await visit.request.form()).items()}


def log_in_form(action: str, token: str, value: str, user: str, password: str) -> str:
    return (
        f"<form method='post' action='{action}'><input type='hidden' name='{token}' value='{value}'>"
        f"<label>Username <input name='{user}'></label>"
        f"<label>Password <input type='password' name='{password}'></label><button>Log in</button></form>"
    )


def log_in(visit: Visit, user: int, url: str) -> Response:
    with visit.world.write():
        visit.switch_session(user)
    return visit.go(url)


def add_users(db: apsw.Connection, *users: tuple[str, str]) -> None:
    db.executemany("INSERT INTO users (login, password) VALUES (?, ?)", users)


class ShopVisit(Visit):
    log_in_path = "/customer/account/login/"


class ForumVisit(Visit):
    log_in_path = "/login"


class HostingVisit(Visit):
    log_in_path = "/users/sign_in"


def site(name: str, web: WebSite, sessions: Sessions, tables: str, columns: Mapping[str, str], routes: list[Any],
         seed: Callable[[apsw.Connection, int], None]) -> Site:  # fmt: skip
    return Site(
        name=name,
        title=web.name,
        summary="A stand-in.",
        package=__name__,
        schema=USERS + tables + SESSIONS,
        columns={
            "users": classes(content="id login password"),
            "sessions": classes(telemetry=SESSION_COLUMNS),
            **{table: classes(content=names) for table, names in columns.items()},
        },
        start_time=1677664800,
        log_in=sessions.log_in,
        whoami=sessions.whoami,
        seed=seed,
        make_app=lambda world: web.app(world, routes),
    )


# --- the shop, and its back office ------------------------------------------------------------------------------

SHOP_SESSIONS = Sessions("PHPSESSID", users="users", login="login")
SHOP = WebSite(__name__, name="One Stop", sessions=SHOP_SESSIONS, visit=ShopVisit)
PRODUCTS = {"B001": ("Floor lamp", "49.99"), "B002": ("Mattress", "199.00"), "B003": ("Tea kettle", "24.50")}


def shop_seed(db: apsw.Connection, number: int) -> None:
    add_users(db, ("emma.lopez@gmail.com", "Password.123"), ("admin", "admin1234"))
    db.execute("INSERT INTO orders (sku, created_at) VALUES ('B002', ?)", (WHEN,))
    db.execute("INSERT INTO reviews (sku, nickname, percent) VALUES ('B001', 'Bert', 40)")


async def shop_front(visit: Visit) -> Response:
    links = "".join(f"<li><a href='/{sku}.html'>{name}</a></li>" for sku, (name, _) in PRODUCTS.items())
    return show(visit, "One Stop Market", f"<ul>{links}</ul><p><a href='/contact/'>Contact us</a></p>")


async def shop_log_in(visit: Visit) -> Response:
    if header := visit.request.headers.get("x-m2-customer-auto-login"):
        name, _, password = header.partition(":")
        user = user_named(visit, {"name": name, "password": password}, "name", "password")
        if user:
            return log_in(visit, user, "/customer/account/")
    if visit.user:
        return visit.go("/customer/account/")
    return show(visit, "Customer Login", shop_form("/customer/account/loginPost/", "email"))


def shop_form(action: str, kind: str) -> str:
    return (
        f"<form action='/search'><label>Search <input name='q'></label></form><form method='post' action='{action}'>"
        "<input type='hidden' name='form_key' value='k3y'>"
        f"<label>Email <input type='{kind}' name='login[username]'></label>"
        "<label>Password <input type='password' name='login[password]'></label><button>Sign In</button></form>"
    )


async def shop_log_in_post(visit: Visit) -> Response:
    form = await sent(visit)
    user = user_named(visit, form, "login[username]", "login[password]") if form.get("form_key") == "k3y" else None
    return log_in(visit, user, "/customer/account/") if user else visit.go("/customer/account/login/", "Invalid.")


async def account(visit: Visit) -> Response:
    return show(visit, "My Account", "<p>Contact information</p>")


async def admin(visit: Visit) -> Response:
    if visit.request.method == "POST":
        form = await sent(visit)
        user = user_named(visit, form, "login[username]", "login[password]")
        return log_in(visit, user, "/admin/") if user and form["login[username]"] == "admin" else visit.go("/admin/")
    if visit.user is None or visit.user["login"] != "admin":
        return show(visit, "Welcome, please sign in", shop_form("/admin/", "text"))
    orders = visit.world.rows("SELECT * FROM orders")
    return show(visit, "Dashboard", f"<p>Lifetime orders: {len(orders)}</p>")


async def product(visit: Visit) -> Response:
    sku = visit.request.path_params["sku"]
    if sku not in PRODUCTS:
        raise HTTPException(404)
    name, price = PRODUCTS[sku]
    reviews = visit.world.rows("SELECT * FROM reviews WHERE sku = ?", sku)
    rows = "".join(f"<li>{html.escape(one['nickname'])}: {one['percent']}%</li>" for one in reviews)
    order = f"<form method='post' action='/order'><button name='sku' value='{sku}'>Order now</button></form>"
    review = (
        f"<form method='post' action='/review/{sku}'><label>Nickname <input name='nickname'></label>"
        "<label>Rating <input name='percent'></label><button>Submit Review</button></form>"
    )
    return show(visit, name, f"<p>SKU {sku}</p><p class='price'>${price}</p><ul>{rows}</ul>{order}{review}")


async def order(visit: Visit) -> Response:
    form = await sent(visit)
    with visit.world.write() as db:
        db.execute("INSERT INTO orders (sku, created_at) VALUES (?, ?)", (form["sku"], stamp(visit.world.now())))
    return visit.go("/customer/account/", "Thank you.")


async def review(visit: Visit) -> Response:
    form, sku = await sent(visit), visit.request.path_params["sku"]
    with visit.world.write() as db:
        row = (sku, form["nickname"], int(form["percent"]))
        db.execute("INSERT INTO reviews (sku, nickname, percent) VALUES (?, ?, ?)", row)
    return visit.go(f"/{sku}.html", "Thank you.")


async def view_order(visit: Visit) -> Response:
    found = visit.world.row("SELECT * FROM orders WHERE id = ?", visit.request.path_params["id"])
    if found is None:
        raise HTTPException(404)
    return show(visit, "Order", f"<div class='order-details-items ordered'>Item {found['sku']}</div>")


async def contact(visit: Visit) -> Response:
    area = "<textarea title=\"What’s on your mind?\" aria-label='Comment' name='comment'></textarea>"
    return show(visit, "Contact Us", f"<form method='post'>{area}<button>Submit</button></form>")


async def token(visit: Visit) -> Response:
    given = json.loads(await visit.request.body())
    right = visit.world.row(
        "SELECT 1 FROM users WHERE login = ? AND password = ? AND login = 'admin'", given["username"], given["password"]
    )
    return JSONResponse(TOKEN) if right else JSONResponse({"message": "The account sign-in was incorrect."}, 401)


def authorized(visit: Visit) -> None:
    if visit.request.headers.get("authorization") != f"Bearer {TOKEN}":
        raise HTTPException(401)


async def rest_orders(visit: Visit) -> Response:
    authorized(visit)
    rows = visit.world.rows("SELECT * FROM orders ORDER BY created_at DESC, id DESC")
    size = int(visit.request.query_params.get("searchCriteria[pageSize]", 20))
    items = [{"increment_id": f"{row['id']:09}", "created_at": row["created_at"]} for row in rows]
    return JSONResponse({"items": items[:size], "total_count": len(items)})


async def rest_reviews(visit: Visit) -> Response:
    authorized(visit)
    rows = visit.world.rows("SELECT * FROM reviews WHERE sku = ? ORDER BY id", visit.request.path_params["sku"])
    return JSONResponse([{"nickname": row["nickname"], "ratings": [{"percent": row["percent"]}]} for row in rows])


SHOPPING = site(
    "market",
    SHOP,
    SHOP_SESSIONS,
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, created_at TEXT NOT NULL) STRICT;"
    "CREATE TABLE reviews (id INTEGER PRIMARY KEY, sku TEXT NOT NULL, nickname TEXT NOT NULL, percent INTEGER) STRICT;",
    {"orders": "id sku created_at", "reviews": "id sku nickname percent"},
    [
        route("/", shop_front),
        route("/customer/account/login/", shop_log_in),
        route("/customer/account/loginPost/", shop_log_in_post, "POST"),
        route("/customer/account/", account, members_only=True),
        route("/admin", admin, "GET", "POST"),
        route("/admin/", admin, "GET", "POST"),
        route("/{sku}.html", product),
        route("/order", order, "POST", members_only=True),
        route("/review/{sku}", review, "POST"),
        route("/sales/order/view/order_id/{id:int}/", view_order, members_only=True),
        route("/contact/", contact),
        route("/rest/default/V1/integration/admin/token", token, "POST"),
        route("/rest/V1/orders", rest_orders),
        route("/rest/V1/products/{sku}/reviews", rest_reviews),
    ],
    shop_seed,
)

# --- the forum --------------------------------------------------------------------------------------------------

FORUM_SESSIONS = Sessions("PHPSESSID", users="users", login="login")


FORUM = WebSite(__name__, name="Postmill", sessions=FORUM_SESSIONS, visit=ForumVisit)


def forum_seed(db: apsw.Connection, number: int) -> None:
    add_users(db, ("MarvelsGrantMan136", "test1234"))
    for title in ("Is this the best kettle?", "A lamp story"):
        db.execute("INSERT INTO submissions (forum, title) VALUES ('consoles', ?)", (title,))


async def forum_front(visit: Visit) -> Response:
    return show(visit, "Forums", "<a href='/f/consoles'>consoles</a>")


async def forum_log_in(visit: Visit) -> Response:
    if visit.user:
        return visit.go("/")
    return show(visit, "Log in", log_in_form("/login_check", "_csrf_token", "c5rf", "_username", "_password"))


async def forum_log_in_check(visit: Visit) -> Response:
    form = await sent(visit)
    user = user_named(visit, form, "_username", "_password") if form.get("_csrf_token") == "c5rf" else None
    return log_in(visit, user, "/") if user else visit.go("/login", "Bad credentials.")


async def forum(visit: Visit) -> Response:
    name = visit.request.path_params["name"]
    rows = visit.world.rows("SELECT * FROM submissions WHERE forum = ? ORDER BY id DESC", name)
    links = "".join(f"<li><a href='/f/{name}/{row['id']}/x'>{html.escape(row['title'])}</a></li>" for row in rows)
    return show(visit, name, f"<ul>{links}</ul><a href='/submit/{name}'>Submit a post</a>")


async def submit(visit: Visit) -> Response:
    name = visit.request.path_params["name"]
    if visit.request.method == "POST":
        form = await sent(visit)
        with visit.world.write() as db:
            db.execute("INSERT INTO submissions (forum, title) VALUES (?, ?)", (name, form["title"]))
            number = db.last_insert_rowid()
        return visit.go(f"/f/{name}/{number}/x")
    return show(
        visit, "Submit", "<form method='post'><label>Title <input name='title'></label><button>Create</button></form>"
    )


async def submission(visit: Visit) -> Response:
    found = visit.world.row("SELECT * FROM submissions WHERE id = ?", visit.request.path_params["id"])
    if found is None:
        raise HTTPException(404)
    return show(visit, "Post", f"<article class='submission__inner'>{html.escape(found['title'])}</article>")


async def api_submissions(visit: Visit) -> Response:
    rows = visit.world.rows("SELECT id FROM submissions ORDER BY id DESC")
    return JSONResponse({"entries": rows})


REDDIT = site(
    "postmill",
    FORUM,
    FORUM_SESSIONS,
    "CREATE TABLE submissions (id INTEGER PRIMARY KEY, forum TEXT NOT NULL, title TEXT NOT NULL) STRICT;",
    {"submissions": "id forum title"},
    [
        route("/", forum_front),
        route("/login", forum_log_in),
        route("/login_check", forum_log_in_check, "POST"),
        route("/f/{name}", forum),
        route("/submit/{name}", submit, "GET", "POST", members_only=True),
        route("/f/{name}/{id:int}/", submission),
        route("/f/{name}/{id:int}/{slug}", submission),
        route("/api/submissions", api_submissions),
    ],
    forum_seed,
)

# --- the code hosting -------------------------------------------------------------------------------------------

HOSTING_SESSIONS = Sessions("_gitlab_session", users="users", login="login")


HOSTING = WebSite(__name__, name="GitLab", sessions=HOSTING_SESSIONS, visit=HostingVisit)


def hosting_seed(db: apsw.Connection, number: int) -> None:
    add_users(db, ("byteblaze", "hello1234"))
    db.execute("INSERT INTO projects (path, last_activity_at) VALUES ('byteblaze/dotfiles', ?)", (WHEN,))
    db.execute("INSERT INTO members (login, role) VALUES ('byteblaze', 'Owner')")


async def hosting_front(visit: Visit) -> Response:
    return show(visit, "Projects", "<a href='/byteblaze/dotfiles/-/project_members'>Members of dotfiles</a>")


async def sign_in(visit: Visit) -> Response:
    if visit.request.method == "POST":
        form = await sent(visit)
        right = form.get("authenticity_token") == "auth"
        user = user_named(visit, form, "user[login]", "user[password]") if right else None
        return log_in(visit, user, "/") if user else show(visit, "Sign in", "Invalid login or password.", 422)
    if visit.user:
        return visit.go("/")
    form = log_in_form("/users/sign_in", "authenticity_token", "auth", "user[login]", "user[password]")
    return show(visit, "Sign in", form)


async def members(visit: Visit) -> Response:
    if visit.request.method == "POST":
        form = await sent(visit)
        with visit.world.write() as db:
            db.execute("INSERT INTO members (login, role) VALUES (?, ?)", (form["login"], form["role"]))
            db.execute("UPDATE projects SET last_activity_at = ?", (stamp(visit.world.now()),))
        return visit.go(visit.request.url.path)
    rows = "".join(
        f"<tr><td data-label='Account'><span class='gl-avatar-labeled-sublabel'>@{html.escape(row['login'])}</span>"
        "</td>"
        f"<td class='col-max-role'><span>{html.escape(row['role'])}</span></td></tr>"
        for row in visit.world.rows("SELECT * FROM members")
    )
    invite = (
        "<form method='post'><label>Invite <input name='login'></label><label>Role <input name='role'></label>"
        "<button>Invite members</button></form>"
    )
    return show(visit, "Members", f"<table>{rows}</table>{invite}")


async def api_projects(visit: Visit) -> Response:
    return JSONResponse(visit.world.rows("SELECT id, last_activity_at FROM projects ORDER BY last_activity_at DESC"))


GITLAB = site(
    "codehost",
    HOSTING,
    HOSTING_SESSIONS,
    "CREATE TABLE projects (id INTEGER PRIMARY KEY, path TEXT NOT NULL, last_activity_at TEXT NOT NULL) STRICT;"
    "CREATE TABLE members (login TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    {"projects": "id path last_activity_at", "members": "login role"},
    [
        route("/", hosting_front),
        route("/users/sign_in", sign_in, "GET", "POST"),
        route("/byteblaze/dotfiles/-/project_members", members, "GET", "POST", members_only=True),
        route("/api/v4/projects", api_projects),
    ],
    hosting_seed,
)

"""What nobody should be able to do: vote twice, change what others wrote, read their messages, run scripts."""

import re
import time
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sites.forum.visits import INES, JUNIPER, changes, one, path_of, user_id
from tests.sites.visitors import content, visitor
from webassay.sites.forum.markdown import markdown, safe_link

FINE = {200, 303, 400, 403, 404, 409, 413, 422}
INSIDE = re.compile(r"Traceback|[Ss][Qq][Ll]ite|apsw|webassay|starlette|\.py\b|SELECT |password_hash")
WILD = st.text(max_size=60) | st.sampled_from([
    "'; DROP TABLE users; --", "{{7*7}}", "\x00", "🦊" * 20, "-1", "0", "1", "9" * 25, "٣", "%", "books",
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "[x](javascript:alert(1))", "//evil.example",
    "\\\\evil.example", "a\r\nset-cookie: x=y", "**" * 500, ">" * 900, "x" * 5000, "Spam", "text", "/pictures/1.svg",
])  # fmt: skip
FIELDS = ("forum", "kind", "title", "url", "body", "text", "value", "next", "reason", "note", "name", "subject", "bio")
POSTED = (
    "/submit", "/preview", "/s/{post}/edit", "/s/{post}/delete", "/s/{post}/vote", "/s/{post}/hide", "/s/{post}/report",
    "/s/{post}/comment", "/s/{post}/remove", "/s/{post}/lock", "/c/{comment}/reply", "/c/{comment}/edit",
    "/c/{comment}/vote", "/c/{comment}/report", "/c/{comment}/delete", "/f/books/subscribe", "/f/books/edit",
    "/f/books/bans", "/f/books/unban", "/forums/new", "/u/ines_okafor/block", "/u/ines_okafor/message", "/account",
    "/account/login", "/account/register", "/reports/1/dismiss", "/s/{wild}/vote", "/c/{wild}/vote",
)  # fmt: skip
ASKED = {
    "/search": ("q", "in", "forum", "user", "kind", "t", "sort", "p"),
    "/search/suggest": ("q",),
    "/all/top": ("t", "p"),
    "/forums": ("sort", "p"),
    "/u/ines_okafor/votes": ("p",),
    "/submit": ("forum", "kind", "title", "url"),
    "/account/login": ("next",),
    "/f/books/reports": ("status", "p"),
}
BRIEFLY = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def entries(names, values) -> dict[str, str]:
    return {name: value.encode(errors="replace").decode() for name, value in zip(names, values, strict=False)}


def owners(world) -> set[object]:
    """Whose rows changed, as far as rows belong to somebody."""
    found = set()
    for change in content(world):
        row = change.after or change.before or {}
        owner = "id" if change.table == "users" else "sender_id" if "sender_id" in row else "user_id"
        found.add(row.get("reporter_id", row.get(owner)))
    return found - {None}


def refuses_markup(text: str) -> bool:
    return "<script>alert" not in text and "<img src=x" not in text and 'href="javascript:' not in text


@given(path=st.sampled_from(POSTED), values=st.lists(WILD, min_size=13, max_size=13), member=st.booleans())
@BRIEFLY
async def test_wild_entries_change_nobody_elses_rows(opened, path, values, member):
    opened.reset()
    world = opened
    post = one(world, f"s.user_id = {user_id(world, JUNIPER)} AND s.comment_count > 0")
    comment = world.scalar("SELECT id FROM comments WHERE submission_id = ?", post["id"])
    async with visitor(world, JUNIPER if member else "") as client:
        where = path.format(post=post["id"], comment=comment, wild="9" * 25)
        answer = await client.post(where, data=entries(FIELDS, values))
        assert answer.status_code in FINE
        assert not INSIDE.search(answer.text) and refuses_markup(answer.text)
        location = answer.headers.get("location", "/")
        assert location.startswith("/") and not location.startswith(("//", "/\\"))
        page = await client.get(path_of(post))
        assert page.status_code in (200, 404) and refuses_markup(page.text)
    assert owners(world) <= ({user_id(world, JUNIPER)} if member else {world.scalar("SELECT max(id) FROM users")})


@given(path=st.sampled_from(list(ASKED)), values=st.lists(WILD, min_size=8, max_size=8))
@BRIEFLY
async def test_wild_addresses_change_nothing(opened, path, values):
    opened.reset()
    async with visitor(opened, JUNIPER) as client:
        answer = await client.get(f"{path}?{urlencode(entries(ASKED[path], values))}")
        assert answer.status_code in FINE
        assert not INSIDE.search(answer.text) and refuses_markup(answer.text)
    assert content(opened) == []


async def test_nobody_votes_twice_or_for_themselves(world, juniper):
    post = one(world, "s.user_id > 5 AND s.id NOT IN (SELECT submission_id FROM submission_votes)")
    for _ in range(5):
        await juniper.post(f"/s/{post['id']}/vote", data={"value": "1"})
    assert world.scalar("SELECT ups FROM submissions WHERE id = ?", post["id"]) == post["ups"] + 1
    for wild in ("2", "-2", "", "1.0", "+1", "100"):
        assert (await juniper.post(f"/s/{post['id']}/vote", data={"value": wild})).status_code == 422
    mine = one(world, f"s.user_id = {user_id(world, JUNIPER)}")
    assert (await juniper.post(f"/s/{mine['id']}/vote", data={"value": "1"})).status_code == 409
    assert changes(world) == [("submission_votes", "insert")]


async def test_what_others_wrote_stays_as_it_is(world, juniper):
    post = one(world, "s.user_id > 5 AND s.comment_count > 0")
    comment = world.scalar(
        "SELECT id FROM comments WHERE submission_id = ? AND user_id > 5 AND state = 'visible'", post["id"]
    )
    for path in (f"/s/{post['id']}/edit", f"/s/{post['id']}/delete", f"/c/{comment}/edit", f"/c/{comment}/delete"):
        assert (await juniper.get(path)).status_code == 403
        assert (await juniper.post(path, data={"title": "x", "body": "x", "text": "x"})).status_code == 403
    assert content(world) == []


async def test_messages_are_for_two(world, juniper, guest):
    number = world.scalar("SELECT id FROM conversations WHERE sender_id <> 1 AND receiver_id <> 1")
    body = world.scalar("SELECT body FROM messages WHERE conversation_id = ?", number)
    for client in (juniper, guest):
        for answer in (
            await client.get(f"/account/messages/{number}"),
            await client.post(f"/account/messages/{number}", data={"text": "Hello"}),
        ):
            assert answer.status_code in (303, 404) and body not in answer.text
    assert (await guest.get("/account/messages")).headers["location"].startswith("/account/login")
    assert content(world) == []


async def test_a_thread_of_ten_thousand_comments_is_read_in_pieces(world, guest):
    """One half answers the submission, the other half is a single chain."""
    post = one(world, "s.comment_count = 0")
    first = world.scalar("SELECT max(id) + 1 FROM comments")
    rows = [
        (first + place, post["id"], first + place - 1 if place > 5000 else None, 9, f"c{place}", "visible", "", 1, 0, 1,
         "2026-03-01 09:00:01", None)
        for place in range(10_000)
    ]  # fmt: skip
    with world.write() as db:
        db.executemany("INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    started = time.process_time()
    page = (await guest.get(f"{path_of(post)}?sort=old")).text
    last = (await guest.get(f"{path_of(post)}?sort=old&p=34")).text
    deep = (await guest.get(f"{path_of(post)}/comment/{first + 9_000}")).text
    assert len(page) < 400_000 and "More Comments" in page
    assert "Continue this thread (4993 more)" in last and "More Comments" not in last
    assert "Continue this thread (993 more)" in deep
    assert time.process_time() - started < 20  # Not a matter of speed: it must not grow with the square.


@pytest.mark.parametrize("size", [65_000, 1_000_000])
async def test_fields_have_an_end(world, juniper, size):
    form = {"forum": "books", "kind": "text", "title": "a", "body": "x" * size}
    assert (await juniper.post("/submit", data=form)).status_code in (413, 422)
    assert (await juniper.post("/s/4/comment", data={"text": "x" * size})).status_code in (413, 422)
    assert content(world) == []


async def test_headers_cannot_be_written_into(world, juniper):
    answer = await juniper.post("/f/books/subscribe", data={"next": "/f/books\r\nset-cookie: x=y"})
    assert answer.headers["location"] == "/f/books" and "x=y" not in str(answer.headers.get("set-cookie"))
    async with visitor(world) as guest:
        answer = await guest.get("/s/4/edit?x=%0d%0aset-cookie:%20x=y")
        assert "x=y" not in str(answer.headers.get("set-cookie"))


# --- Markdown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\n\nc", "<p>a<br>b</p><p>c</p>"),
        ("**a** *b* ~~c~~ `d*e*`", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d*e*</code></p>"),
        ("> a\n> > b\n\nc", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>"),
        ("- a\n- **b**", "<ul><li>a</li><li><strong>b</strong></li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("```\n<b>\n```", "<pre><code>&lt;b&gt;</code></pre>"),
        ("see /f/books and /u/x_y", '<p>see <a href="/f/books">/f/books</a> and <a href="/u/x_y">/u/x_y</a></p>'),
        ("[a](/help)", '<p><a href="/help" rel="nofollow noopener">a</a></p>'),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("2 * 3 * 4", "<p>2 <em> 3 </em> 4</p>"),
        ("", ""),
    ],
)
def test_markdown(text, shown):
    assert markdown(text) == shown


TAG = re.compile(
    r"</?(?:p|br|strong|em|del|code|pre|blockquote|ul|ol|li)>|<p class=\"heading\">|</a>|<a href=\"/[fu]/[\w-]+\">"
    r"|<a href=\"(?:/|https?://)[^\"<>\s]*\" rel=\"nofollow noopener\">"
)


@given(st.text(alphabet=st.sampled_from(list("ab<>\"'&*~`[]()#-1.! \n/:;=jhtps\\")), max_size=120) | WILD)
def test_markdown_makes_no_other_tags(text):
    rest = TAG.sub("", str(markdown(text)))
    assert "<" not in rest and ">" not in rest and '"' not in rest


@pytest.mark.parametrize("piece", ["*", "**", "`", "[", "](", "> ", "- ", "~~", "http://", "[a](", "#"])
def test_markdown_takes_no_longer_for_nonsense(piece):
    started = time.process_time()
    markdown((piece * 10_000)[:10_000])
    assert time.process_time() - started < 5  # Milliseconds, unless it tries every way.


@pytest.mark.parametrize(
    "target",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/\\evil.example", "https://", "https://a",
     "http://a b.c", " https://a.b", "ftp://a.b", "https://a.b\n", "mailto:a@b.c", "https://user@a.b"],
)  # fmt: skip
def test_links_that_lead_astray(target):
    assert not safe_link(target)


def test_links_that_do_not():
    assert all(map(safe_link, ("https://a.example/x?y=z#q", "http://a.example:8080", "/f/books", "https://A.B")))


async def test_a_guest_is_sent_to_the_log_in_and_back(guest):
    answer = await guest.get("/submit?forum=books")
    assert answer.headers["location"] == "/account/login?next=%2Fsubmit%3Fforum%3Dbooks"
    assert INES not in answer.text

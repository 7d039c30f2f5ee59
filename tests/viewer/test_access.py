"""Who gets in, and what every answer says of itself."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from webassay.viewer.access import HEADERS, LONGEST_FORM, Access, Gate, made_up_name
from webassay.viewer.page import PAGES

NAME = "view-1a2b.localhost"
BASE = f"http://{NAME}:8500"


@pytest.fixture
def access() -> Access:
    return Access(frozenset({NAME}))


@pytest.fixture
def client(access) -> TestClient:
    def hello(request):
        return PlainTextResponse(f"hello {request.url.query}")

    inner = Starlette(routes=[Route("/", hello), Route("/hello", hello), Route("/change", hello, methods=["POST"])])
    return TestClient(Gate(inner, access), base_url=BASE, follow_redirects=False)


def cookie(access: Access) -> dict[str, str]:
    return {"cookie": f"other=1; {access.cookie}={access.token}"}


@pytest.mark.parametrize("path", ["/", "/hello", "/static/viewer.css", "/nowhere", "/../../etc/passwd"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_is_answered_without_the_token(client, access, method, path):
    wrong = access.token[:-1] + ("A" if access.token[-1] != "A" else "B")
    for headers in ({}, {"cookie": f"{access.cookie}={wrong}"}, {"cookie": f"{access.cookie}="}, {"cookie": ";;=\x7f"},
                    {"host": "127.0.0.1:8500"}, {"authorization": access.token}):  # fmt: skip
        assert client.request(method, path, headers=headers).status_code == 401
    for query in ("", f"?token={wrong}", "?token=", "?token=%ff", f"?Token={access.token}"):
        assert client.request(method, path + query).status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(client, access):
    answer = client.get(f"/hello?run=a%2Fb&token={access.token}&x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/hello?run=a%2Fb&x=1")
    kept = answer.headers["set-cookie"]
    assert access.token in kept and "HttpOnly" in kept and "SameSite=lax" in kept and "Domain" not in kept
    assert client.get("/hello?x=1").text == "hello x=1", "the client keeps the cookie"


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_way_in_leads_to_no_other_host(client, access, path):
    answer = client.request("GET", f"{BASE}{path}?token={access.token}")
    assert answer.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1:8500"},
        {"host": f"{NAME}.evil.example:8500"},
        {"host": f"evil.example:80@{NAME}"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{NAME}:8500"},
        {"origin": f"http://{NAME}:8501"},
    ],
)
def test_another_host_or_another_page_is_refused(client, access, headers):
    for method, path in (("GET", "/hello"), ("POST", "/change")):
        asked = {**cookie(access), "origin": BASE, **headers}
        assert client.request(method, path, headers=asked).status_code == 403
    asked = {**cookie(access), **headers}
    assert client.get(f"/hello?token={access.token}", headers=asked).status_code == 403


def test_whoever_changes_anything_says_which_page_it_comes_from(client, access):
    assert client.post("/change", headers=cookie(access)).status_code == 403
    assert client.post("/change", headers={**cookie(access), "origin": BASE}).status_code == 200
    assert client.post(f"/change?token={access.token}", headers={"origin": BASE}).status_code == 401, "for reading only"


def test_a_forwarded_port_does_not_matter(client, access):
    there = {"host": f"{NAME.upper()}:9000", "origin": f"http://{NAME}:9000", **cookie(access)}
    assert client.get("/hello", headers=there).status_code == 200


def test_what_is_too_long_is_refused_unread(client, access):
    asked = {**cookie(access), "origin": BASE}
    assert client.post("/change", headers=asked, content=b"x" * (LONGEST_FORM + 1)).status_code == 413
    assert client.post("/change", headers=asked, content=iter([b"x"])).status_code == 413


def test_every_answer_says_what_a_browser_may_do_with_it(client, access):
    for answer in (
        client.get("/"),
        client.get("/hello", headers=cookie(access)),
        client.get("/no", headers=cookie(access)),
    ):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_names_and_tokens_cannot_be_guessed_and_do_not_show():
    first, second = Access(frozenset()), Access(frozenset())
    assert first.token != second.token and len(first.token) > 40 and first.token not in repr(first)
    assert made_up_name() != made_up_name()


def test_pages_that_change_something_are_posts_and_all_others_only_read():
    assert {page.method for page in PAGES} <= {"GET", "POST"}
    assert len({(page.path, page.method) for page in PAGES}) == len(list(PAGES))

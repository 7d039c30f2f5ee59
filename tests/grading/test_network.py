"""Network checks over each format of log, and what is explained by none of them."""

import base64
import io
import json
import zipfile
from urllib.parse import urlencode

import pytest

from tests.support import samples
from tests.support import verified_logs as logs
from webassay.core.task import Expectation, NetworkCheck
from webassay.core.trajectory import Exchange, MemoryBlobs, NetworkLog
from webassay.grading.grade import DEFAULT_POLICY, Policy, grade
from webassay.grading.network import events as events_module
from webassay.grading.network.events import events, is_navigation

BASE = "http://shop.test:8000"


def page(path, kind="url"):
    return Expectation(type=kind, value=f"__SHOP__{path}")


def graded(checks, entries, policy=DEFAULT_POLICY, blob=None, format="har"):
    blobs = MemoryBlobs()
    data = blob if blob is not None else json.dumps(logs.har(entries)).encode()
    log = NetworkLog(format=format, blob=blobs.write(data, "application/json"))
    task = samples.task(checks=checks)
    return grade(task, samples.trajectory(network=log, bases={"shop": BASE}), blobs, policy)


def get(path, **rest):
    return logs.request(BASE + path, **rest)


def post(path, body="", kind="application/x-www-form-urlencoded", status=302, **rest):
    return logs.request(BASE + path, "POST", status, posted={"mimeType": kind, "text": body}, **rest)


def status(check, *entries, **rest):
    return graded([check], entries, **rest).status


class TestSelection:
    SAVE = NetworkCheck(url=page("/save"), method="POST", response_status=302, post_data={"a": Expectation.of("1")})

    def test_which_of_several_requests_decides(self):
        right, wrong = post("/save", "a=1"), post("/save", "a=2")
        assert status(self.SAVE, right) == "pass"
        assert status(self.SAVE, wrong, right) == "pass"
        assert status(self.SAVE, right, wrong) == "fail"
        assert status(self.SAVE, right, post("/other", "a=2"), get("/save")) == "pass"
        # Or any of them,
        check = self.SAVE.model_copy(update={"last_event_only": False})
        assert status(check, post("/save", "a=1"), post("/save", "a=2")) == "pass"
        assert status(check, post("/save", "a=3"), post("/save", "a=2")) == "fail"
        # or none may be there;
        check = NetworkCheck(url=page("/save"), method="POST", must_not_exist=True)
        assert status(check, get("/save")) == "pass"
        assert status(check, post("/save")) == "fail"
        # nothing is not enough, and static files are not looked at.
        assert status(self.SAVE) == "fail"
        check = NetworkCheck(url=page("/app.js"))
        assert status(check, get("/app.js")) == "fail"

    @pytest.mark.parametrize(
        "entry",
        [
            post("/save", "a=1", status=500),
            post("/save", "b=1"),
            post("/save", "a=1&a=2"),
            post("/save", "a=^.*$"),
            post("/save?x=1", "a=1"),
            post("/save/more", "a=1"),
            post("/save", '{"a": 1', "application/json"),
            post("/save", "a=1", "text/plain"),
            logs.request("http://shop.test:8001/save", "POST", 302),
            logs.request(BASE + "/save", "PUT", 302),
        ],
    )
    def test_near_misses(self, entry):
        assert status(self.SAVE, entry) == "fail"

    def test_a_choice_of_pages_or_a_pattern(self):
        check = NetworkCheck(url=Expectation(any_of=(page("/a?x=1"), page("/b"))))
        found = [status(check, get(path)) for path in ("/a?x=1", "/b", "/a", "/b?x=1")]
        assert found == ["pass", "pass", "fail", "fail"]
        check = NetworkCheck(url=Expectation(type="url", pattern=r"^__SHOP__/order/\d+$"))
        assert status(check, get("/order/17")) == "pass"
        assert status(check, get("/order/x")) == "fail"

    def test_only_the_last_page_counts_where_the_task_is_to_get_there(self):
        check = NetworkCheck(url=page("/there"), last_navigation=True)
        script = logs.request(BASE + "/api", headers={"Accept": "application/json"})
        assert status(check, get("/"), get("/there"), script) == "pass"
        assert status(check, get("/there"), get("/")) == "fail"

    def test_several_checks_of_one_page_share_its_last_requests(self):
        one, two = (
            NetworkCheck(
                url=page("/add"), method="POST", post_data={"user": Expectation.of(n), "level": Expectation.of(3)}
            )
            for n in (5, 7)
        )
        five, seven, nine = (post("/add", f"user={n}&level=3", status=200) for n in (5, 7, 9))
        both = post("/add", "user=7%2C5&level=3", status=200)
        listed = post("/add", '{"user": [5, 7], "level": 3}', "application/json", status=200)
        more = post("/add", '{"user": [5, 7, 9], "level": 3}', "application/json", status=200)
        for entries, expected in (
            *(([five, seven], "pass"), ([seven, five], "pass"), ([both], "pass"), ([listed], "pass")),
            *(([more], "fail"), ([five], "fail"), ([five, five], "fail"), ([five, seven, nine], "fail")),
        ):
            assert graded([one, two], entries).status == expected

    @pytest.mark.parametrize("path", ["/a", "/A/", "/x/../a"])
    def test_they_share_however_their_queries_are_written(self, path):
        said = [NetworkCheck(url=page(f"{path}?x={n}"), method="POST") for n in (1, 2)]
        typed = [NetworkCheck(url=page("/a"), method="POST", query={"x": Expectation.of(n)}) for n in (1, 2)]
        one, two, three = (post(f"/a?x={n}", status=200) for n in (1, 2, 3))
        for checks in (said, typed, [said[0], typed[1]]):
            for entries, expected in (
                *(([one, two], "pass"), ([two, one], "pass")),
                *(([one, one], "fail"), ([two], "fail"), ([one, two, three], "fail")),
            ):
                assert graded(checks, entries).status == expected

    def test_also_where_the_query_hides_in_the_path(self):
        paths = [f"/filter/{base64.b64encode(f'price={n}&x=1'.encode()).decode()}" for n in (5, 6)]
        checks = [NetworkCheck(url=page(path), method="POST", decode_base64_query=True) for path in paths]
        entries = [post(path, status=200) for path in paths]
        assert graded(checks, entries).status == "pass"
        assert graded(checks, entries[:1] * 2).status == "fail"

    def test_but_not_with_checks_of_another_page(self):
        checks = [NetworkCheck(url=page(path), method="POST") for path in ("/a?x=1", "/b?x=1")]
        assert graded(checks, [post("/a?x=1", status=200), post("/b?x=1", status=200)]).status == "pass"
        assert graded(checks, [post("/a?x=1", status=200), post("/b?x=2", status=200)]).status == "fail"


class TestQuery:
    def test_every_key_and_every_value_but_those_ignored(self):
        check = NetworkCheck(url=page("/s?q=a&t=1&t=2"))
        assert status(check, get("/s?t=2&q=A&t=1&empty=")) == "pass"
        for query in ("q=a&t=1", "q=a&t=1&t=3", "q=a&t=1&t=2&x=1", "q=a&t=1&t=2&t=2"):
            assert status(check, get(f"/s?{query}")) == "fail"
        check = NetworkCheck(url=page("/s?q=a"), ignored_query=("page",), ignored_query_patterns=("^sort",))
        assert status(check, get("/s?q=a&page=2&sort_by=x")) == "pass"
        assert status(check, get("/s?q=a&Page=2")) == "fail"

    def test_typed_values_and_patterns(self):
        query = {"from": Expectation(type="date", value="01/1/2023"), "state": Expectation(pattern="^(open|)$")}
        check = NetworkCheck(url=page("/s"), query=query)
        assert status(check, get("/s?from=2023-01-01")) == "pass"
        assert status(check, get("/s?from=1/1/2023&state=open")) == "pass"
        assert status(check, get("/s?from=1/1/2023&state=closed")) == "fail"
        assert status(check, get("/s?from=1/1/2023&from=1/2/2023")) == "fail"

    def test_a_query_hidden_in_the_path(self):
        check = NetworkCheck(url=page("/filter/" + base64.b64encode(b"price=5&x=1").decode()), decode_base64_query=True)
        other = base64.b64encode(b"x=1&price=5").decode()
        assert status(check, get(f"/filter/{other}")) == "pass"
        assert status(check, get(f"/filter/{base64.b64encode(b'x=1&price=6').decode()}")) == "fail"


MULTIPART = '--B\r\nContent-Disposition: form-data; name="a[b]"\r\n\r\nred\r\n--B--\r\n'


MATRIX = [{"new": 1, "c": "y"}, {"new": 1, "c": "x"}, {"c": "z"}]


class TestInside:
    @pytest.mark.parametrize(
        ("path", "value", "kind", "body"),
        [
            ("a[b]", "red", "application/x-www-form-urlencoded", "a%5Bb%5D=red"),
            ("a[b]", "red", "multipart/form-data; boundary=B", MULTIPART),
            ("a", "red", "application/json; charset=utf-8", '{"a": "red"}'),
            ("$.a.b", "red", "application/json", '{"a": {"b": "red"}}'),
            ("$.a[1].b", "red", "application/json", '{"a": [{}, {"b": "red"}]}'),
            ("$['a-b'][?(@.new == 1)].c", ["x", "y"], "application/json", json.dumps({"a-b": MATRIX})),
            ("$.a.b", "red", "application/x-www-form-urlencoded", urlencode({"a": '{"b": "red"}'})),
            (r"$.^to_\d+\[text\]$", "red", "application/x-www-form-urlencoded", urlencode({"to_12[text]": "red"})),
            ("ids", [1, 2], "application/x-www-form-urlencoded", "ids%5B%5D=2&ids%5B%5D=1"),
            ("ids", [1], "application/x-www-form-urlencoded", "ids%5B0%5D=1"),
            ("ids", [1], "application/x-www-form-urlencoded", "ids=1"),
            ("ids", [1], "application/json", '{"ids": [1]}'),
            ("gone", None, "application/x-www-form-urlencoded", "a=1"),
        ],
    )  # fmt: skip
    def test_posted_data(self, path, value, kind, body):
        check = NetworkCheck(
            url=page("/p"), method="POST", response_status=302, post_data={path: Expectation.of(value)}
        )
        assert status(check, post("/p", body, kind)) == "pass"
        assert status(check, post("/p", body.replace("red", "blue").replace("1", "3"), kind)) == "fail" or value is None
        assert status(check, post("/p", "")) == ("pass" if value is None else "fail")

    def test_fields_and_links_as_a_recorder_and_a_site_write_them(self):
        entry = post("/p")
        entry["request"]["postData"] = {"mimeType": "x", "params": [{"name": "a", "value": "red"}]}
        check = NetworkCheck(url=page("/p"), method="POST", response_status=302, post_data={"a": Expectation.of("red")})
        assert status(check, entry) == "pass"
        check = NetworkCheck(
            url=page("/p"), method="POST", response_status=302, post_data={"u": Expectation.of("see __SHOP__/x")}
        )
        assert status(check, post("/p", urlencode({"u": f"See {BASE}/x"}))) == "pass"

    def test_headers_cookies_and_content(self):
        check = NetworkCheck(
            url=page("/p"),
            headers={"Referer": page("/from?a=1"), "X-Kind": Expectation(pattern="^ab.*$")},
            response_cookies={"note": Expectation(pattern="^.*added to cart.*$")},
            response_content={"$.n": Expectation.of(3)},
        )
        headers = {"referer": BASE + "/from?a=1", "x-kind": "abc"}
        cookies = [{"name": "note", "value": "It%20was%20added%20to%20cart"}]
        content = {"mimeType": "application/json", "text": '{"n": 3}'}
        whole = {"headers": headers, "cookies": cookies, "content": content}
        assert status(check, get("/p", **whole)) == "pass"
        for change in (
            {"headers": {**headers, "x-kind": "b"}},
            {"headers": {**headers, "referer": BASE + "/from?a=2"}},
            {"headers": {}},
            {"cookies": []},
            {"content": {**content, "text": '{"n": 4}'}},
            {"content": {**content, "text": "{"}},
        ):
            assert status(check, get("/p", **{**whole, **change})) == "fail"

    def test_a_pattern_may_say_what_a_header_must_not_hold(self):
        check = NetworkCheck(url=page("/p"), headers={"Cookie": Expectation(pattern="^(?!.*mode=foot).*$")})
        assert status(check, get("/p")) == "pass"
        assert status(check, get("/p", headers={"Cookie": "x; mode=foot"})) == "fail"


class TestCollateral:
    CHECK = NetworkCheck(url=page("/save"), method="POST", response_status=302, post_data={"a": Expectation.of(1)})
    DEED = post("/save", "a=1")

    def run(self, *entries, collateral=None):
        return graded([self.CHECK], entries, Policy(collateral=collateral))

    def test_an_unexplained_change_is_reported_or_enforced(self):
        damage = logs.request(BASE + "/item/9", "DELETE", 204)
        assert self.run(self.DEED, damage).status == "pass"
        assert any(f.code == "reported.collateral_request" for f in self.run(self.DEED, damage).findings)
        assert self.run(self.DEED, damage).aspects["side_effects"].value == 1
        assert self.run(self.DEED, damage, collateral="enforce").status == "fail"
        assert self.run(self.DEED, damage, collateral="off").status == "pass"

    @pytest.mark.parametrize(
        "harmless",
        [
            get("/item/9"),
            logs.request(BASE + "/item/9", "DELETE", 403),
            logs.request(BASE + "/item/9", "OPTIONS", 204),
            logs.request("http://tracker.test/", "POST", 200),
        ],
    )
    def test_what_changes_nothing_is_not(self, harmless):
        assert self.run(self.DEED, harmless, collateral="enforce").status == "pass"


class TestFormats:
    ENTRIES = (get("/"), post("/save", "a=1"), get("/done", headers={"Sec-Fetch-User": "?1"}))

    def seen(self, data, format):
        blobs = MemoryBlobs()
        log = NetworkLog(format=format, blob=blobs.write(data, "x"))
        return [(e.method, e.url, e.status, is_navigation(e), e.details.post_text) for e in events(log, blobs)]

    def test_the_same_events_in_every_format(self, monkeypatch):
        har = json.dumps(logs.har(list(self.ENTRIES))).encode()
        lines = [json.dumps({"type": "resource-snapshot", "snapshot": one}) for one in self.ENTRIES]
        trace = "\n".join([json.dumps({"type": "context-options"}), *lines]).encode()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("trace.network", trace)
        exchanges = [
            Exchange(id="1", time=0, method="GET", url=BASE + "/", status=200, navigation=True),
            Exchange(id="2", time=1, method="POST", url=BASE + "/save", status=302, post_data="a=1"),
            Exchange(id="3", time=2, method="GET", url=BASE + "/done", status=200),
        ]
        own = "".join(one.to_json() + "\n" for one in exchanges).encode()
        expected = [
            ("GET", BASE + "/", 200, True, ""),
            ("POST", BASE + "/save", 302, False, "a=1"),
            ("GET", BASE + "/done", 200, False, ""),
        ]
        assert self.seen(har, "har") == expected
        assert self.seen(b"\xef\xbb\xbf" + har, "har") == expected
        assert self.seen(trace, "playwright-trace") == expected
        assert self.seen(archive.getvalue(), "playwright-trace") == expected
        assert self.seen(own, "exchanges") == expected
        monkeypatch.setattr(events_module, "_LARGE", 10)
        assert self.seen(har, "har") == expected

    def test_posted_bytes(self):
        check = NetworkCheck(url=page("/p"), method="POST", post_data={"a": Expectation.of(1)})
        body = Exchange(
            id="1", time=0, method="POST", url=BASE + "/p", status=200, post_data_base64=True,
            post_data=base64.b64encode(b"a=1").decode(),
            request_headers={"content-type": "application/x-www-form-urlencoded"},
        )  # fmt: skip
        assert graded([check], [], blob=body.to_json().encode(), format="exchanges").status == "pass"

    @pytest.mark.parametrize(
        "data",
        [
            *(b"", b"{}", b"[]", b"null", b'{"log": {}}', b"\xff\xfe\x00"),
            *(b'{"log": {"entries": null}}', b'{"log": {"entries": [1]}}', b'{"log": {"entries": [{}]}}'),
            b'{"log": {"entries": [{"request": {"method": "GET"}, "response": {}}]}}',
            b'{"log": {"entries": [{"request": {"method": "GET", "url": 5}, "response": {}}]}}',
            b'{"log": {"entries": [{"request": {"method": "GET", "url": "http://x"}, "response": {"status": "x"}}]}}',
            b'{"log": {"entries": [{"request": {"method": "GET", "url": "\\ud800"}, "response": {}}]}}',
            b'{"log": {"entries": [' + b"[" * 5000 + b"]" * 5000 + b"]}}",
            b'{"log": {"entries": [NaN]}}',
            json.dumps(logs.har([get("/")])).encode()[:-40],
        ],
    )
    @pytest.mark.parametrize("large", [10, 10**9])
    def test_a_broken_log_is_a_fault_that_says_where(self, data, large, monkeypatch):
        monkeypatch.setattr(events_module, "_LARGE", large)
        check = NetworkCheck(url=Expectation(type="url", pattern="^.*$"), response_status=None)
        verdict = graded([check], [], blob=data)
        assert verdict.status in ("fault", "fail")
        assert any(f.status in ("fault", "fail") and f.message for f in verdict.findings)

    def test_a_broken_archive_is_a_fault(self):
        check = NetworkCheck(url=page("/"))
        assert graded([check], [], blob=b"PK\x03\x04nonsense", format="playwright-trace").status == "fault"


@pytest.mark.external
def test_the_recorded_logs_are_read_in_full():
    folder = logs.outside_data() / "webarena-verified"
    for name, format, count, pages in (
        ("network.har", "har", 358, 3),
        ("playwright-trace.network", "playwright-trace", 361, 0),
        ("agent_logs/demo/107/network.har", "har", 359, 3),
    ):
        blobs = MemoryBlobs()
        log = NetworkLog(format=format, blob=blobs.write((folder / name).read_bytes(), "x"))
        found = list(events(log, blobs))
        assert (len(found), sum(is_navigation(event) for event in found)) == (count, pages)
        assert all(event.details.request_headers is not None for event in found)

"""The sites' record against the browser's log."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import samples
from webassay.core.served import SERVED_TYPE, ServedAnswer, ServedRecord
from webassay.core.task import Check, Expectation, NetworkCheck, PageCheck, PagePattern
from webassay.core.trajectory import Exchange, MemoryBlobs, NetworkLog, PageResult, RowsResult, ServedResult
from webassay.core.verdict import Verdict
from webassay.grading.grade import Level, Policy, grade

BASE = "http://shop.1a2b.localhost:8000"
CHECK = PageCheck(any_of=(PagePattern(site="shop", path="/orders"),))


def answer(
    path: str, method: str = "GET", by: str = "browser", kind: str = "document", status: int = 200
) -> ServedAnswer:
    return ServedAnswer(method=method, path=path, status=status, kind=kind, digest="", by=by)  # type: ignore[arg-type]


def graded(
    served: list[ServedAnswer], log: list[Exchange], *, page: str = "/orders", document: str = "/orders",
    omitted: int = 0, unlisted: int = 0, policy: Policy | None = None, check: Check = CHECK,
) -> Verdict:  # fmt: skip
    blobs = MemoryBlobs()
    record = blobs.write(ServedRecord(served=tuple(served), omitted=omitted, unlisted=unlisted).pack(), SERVED_TYPE)
    lines = b"".join(one.model_dump_json(exclude_defaults=True).encode() + b"\n" for one in log)
    probes = (
        PageResult(url=BASE + page, title="", tabs=(), document=document if "://" in document else BASE + document),
        RowsResult(site="shop", changes=()),
        ServedResult(site="shop", blob=record, count=len(served), omitted=omitted),
    )
    network = NetworkLog(blob=blobs.write(lines, "application/jsonl"), count=len(log))
    trajectory = samples.trajectory(network=network, bases={"shop": BASE}, probes=probes)
    return grade(samples.task(checks=[check]), trajectory, blobs, policy or Policy())


def exchange(path: str, method: str = "GET", status: int | None = 200, **rest: object) -> Exchange:
    return Exchange(id="1", time=0, method=method, url=BASE + path, status=status, resource_type="document", **rest)  # type: ignore[arg-type]


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings if finding.status == "fail"]


ORDERS = [answer("/"), answer("/orders")]
LOG = [exchange("/"), exchange("/orders")]


BESIDE = [answer("/favicon.ico"), answer("/beacon", "POST"), answer("/file.pdf"), answer("/orders")]
FETCHED = [answer("/"), answer("/orders", kind="fragment")]


@pytest.mark.parametrize(
    ("served", "log", "rest"),
    [
        pytest.param(ORDERS, LOG, {}, id="records that agree"),
        pytest.param([*ORDERS, answer("/cart/add", "POST", by="")], LOG, {}, id="nobody knows who asked"),
        pytest.param([*ORDERS, *BESIDE], LOG, {}, id="served and not in the log"),
        pytest.param(ORDERS, LOG, {"omitted": 3}, id="a record without room for every text"),
        pytest.param(FETCHED, LOG, {"document": "/"}, id="a part that the page fetched"),
        pytest.param(
            [answer("/"), answer("/orders", "POST")], [LOG[0], exchange("/orders", "POST")], {}, id="answer to a form"
        ),
        pytest.param([answer("/")], LOG, {"document": "/", "policy": Policy(record="off")}, id="altered on purpose"),
    ],
)
def test_what_is_no_cheat_passes(served: list[ServedAnswer], log: list[Exchange], rest: dict[str, Any]) -> None:
    assert graded(served, log, **rest).status == "pass"


def test_a_full_record_still_knows_every_address() -> None:
    assert codes(graded(ORDERS, [*LOG, exchange("/late")], omitted=3)) == ["never_served"]


def test_more_requests_than_can_be_recorded_fail() -> None:
    verdict = graded(ORDERS, LOG, unlisted=3)
    assert verdict.status == "fail" and "flooded" in {finding.code for finding in verdict.findings}


def test_work_beside_the_browser_fails_and_is_named() -> None:
    verdict = graded([*ORDERS, answer("/cart/add", "POST", by="other")], LOG)
    assert codes(verdict) == ["not_the_browser"]
    assert "POST /cart/add on shop" in next(one.message for one in verdict.findings if one.check == "record")


def test_a_line_that_was_added_fails() -> None:
    assert codes(graded(ORDERS, [*LOG, exchange("/account/orders/7")])) == ["never_served"]


HONEST = {
    "aborted": exchange("/search?q=a", status=None, error="net::ERR_ABORTED (canceled)"),
    "blocked": exchange("/search?q=a", status=None, blocked=True),
    "refused": exchange("/nowhere", status=404),
    "too large": exchange("/upload", "POST", status=413),
    "cached": exchange("/orders"),
    "unchanged": exchange("/orders", status=304),
    "with a fragment": exchange("/orders#top"),
    "by a service worker": exchange("/offline", from_worker=True),
    "elsewhere": Exchange(id="9", time=0, method="GET", url="http://other.localhost:1/x", status=200),
    "without an address": Exchange(id="9", time=0, method="GET", url="http://[::1", status=200),
}


@pytest.mark.parametrize("difference", HONEST)
def test_honest_differences_are_no_cheat(difference: str) -> None:
    assert graded(ORDERS, [*LOG, HONEST[difference]]).status == "pass"


PATHS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="?#%\\"), max_size=20)


@given(st.lists(st.tuples(PATHS, st.sampled_from(["GET", "POST", "HEAD"])), max_size=8), st.randoms())
def test_whatever_was_served_may_be_logged_in_any_order_and_number(
    asked: list[tuple[str, str]], random: object
) -> None:
    served = [answer(f"/{path}", method) for path, method in asked]
    log = [exchange(f"/{path}", method) for path, method in asked for _ in range(2)]
    random.shuffle(log)  # type: ignore[attr-defined]
    assert "never_served" not in codes(graded([*ORDERS, *served], [*LOG, *log[: len(log) - len(log) // 3]]))


@pytest.mark.parametrize(
    ("served", "sent"), [("/a b", "/a%20b"), ("/café?x=%C3%A9", "/caf%C3%A9?x=%C3%A9"), ("/a/b", "/a%2Fb"), ("/", "")]
)
def test_addresses_are_compared_as_the_site_reads_them(served: str, sent: str) -> None:
    assert graded([*ORDERS, answer(served)], [*LOG, exchange(sent)]).status == "pass"


# --- the page in front ----------------------------------------------------------------------------------------


def test_an_address_that_a_script_wrote_is_no_page() -> None:
    assert codes(graded([answer("/")], [exchange("/")], document="/")) == ["page_invented"]
    assert codes(graded(ORDERS, LOG, document="about:blank")) == ["page_invented"]
    earlier = graded([answer("/orders"), answer("/")], [exchange("/orders"), exchange("/")], document="/")
    assert codes(earlier) == ["page_invented"]


@pytest.mark.parametrize(("policy", "status"), [(Policy(activity="report"), "pass"), (Policy(record="off"), "pass")])
def test_it_weighs_what_the_policy_says(policy: Policy, status: str) -> None:
    verdict = graded([*ORDERS, answer("/x", by="other")], [*LOG, exchange("/y")], policy=policy)
    assert verdict.status == status


@pytest.mark.parametrize("activity", ["off", "report", "enforce"])
def test_what_was_invented_never_counts_whatever_the_policy_says(activity: Level) -> None:
    policy = Policy(activity=activity)
    order = NetworkCheck(url=Expectation(type="url", value="__SHOP__/order"), method="POST")
    log = [*LOG, exchange("/order", "POST")]
    assert graded([*ORDERS, answer("/order", "POST")], log, policy=policy, check=order).status == "pass"
    assert "missing_request" in codes(graded(ORDERS, log, policy=policy, check=order))
    invented = graded([answer("/")], [exchange("/")], document="/", policy=policy)
    assert (invented.status, codes(invented)) == ("fail", ["page_invented"])

"""Verdicts that must not move by accident. A change here is a change of grading: say so in the changelog.

`python -m tests.grading.test_golden` writes the file again.
"""

import json
from pathlib import Path

import pytest

from tests.support import samples
from tests.support import verified_logs as logs
from webassay.core.task import (
    ActivityCheck,
    Checkpoint,
    Expectation,
    ExpectedChange,
    NetworkCheck,
    PageCheck,
    PagePattern,
    ResponseCheck,
    StateCheck,
)
from webassay.core.trajectory import (
    Ending,
    Exchange,
    MemoryBlobs,
    NetworkLog,
    PageResult,
    RowChange,
    RowsResult,
    SessionResult,
)
from webassay.grading.grade import grade
from webassay.grading.logs import explain

FILE = Path(__file__).parents[1] / "golden" / "grading_verdicts.json"
BASE = "http://shop.test:8000"
CLEAN = RowsResult(site="shop", changes=())
COLUMNS = {"orders": {"id": "journal", "customer": "content", "seen": "telemetry"}}
ORDER = RowChange(table="orders", key={"id": 9}, after={"id": 9, "customer": "anna", "seen": 1})
GONE = RowChange(table="orders", key={"id": 3}, before={"id": 3, "customer": "bert", "seen": 0})
SEARCH = PagePattern(site="shop", path="/search", query={"q": "shoes"})
ASK = ResponseCheck(action="retrieve", results=Expectation.of(["Red Shoe", "Blue Shoe"]))
BUY = StateCheck(
    changes=(
        ExpectedChange(site="shop", table="orders", operation="insert", values={"customer": Expectation.of("anna")}),
    )
)
SAVE = NetworkCheck(
    url=Expectation(type="url", value="__SHOP__/save"),
    method="POST",
    response_status=302,
    post_data={"name": Expectation.of("anna")},
)
POSTED = {"mimeType": "application/x-www-form-urlencoded", "text": "name=anna"}


def said(results=None, action="retrieve", status="SUCCESS"):
    return json.dumps({"action": action, "status": status, "results": results})


def rows(*changes):
    return RowsResult(site="shop", changes=changes, columns=COLUMNS)


def visit(path, status=200):
    return Exchange(id=path, time=0, method="GET", url=BASE + path, status=status, resource_type="document")


def case(checks, answer="", probes=(CLEAN,), seen=(), har=None, ending="answered", **task):
    blobs = MemoryBlobs()
    text = json.dumps(logs.har(har)) if har is not None else "".join(one.to_json() + "\n" for one in seen)
    log = NetworkLog(format="exchanges" if har is None else "har", blob=blobs.write(text.encode(), "x"))
    trajectory = samples.trajectory(
        answer=answer, probes=probes, network=log, bases={"shop": BASE}, ending=Ending(kind=ending)
    )
    return grade(samples.task(checks=checks, **task), trajectory, blobs)


def verdicts():
    anna = SessionResult(site="shop", user="anna")
    looked = ActivityCheck(site="shop", logged_in=True, visits=((SEARCH,),))
    there = PageCheck(any_of=(SEARCH,))
    marks = (Checkpoint(name="search", visits=(SEARCH,)),)
    post = logs.request(BASE + "/save", "POST", 302, posted=POSTED)
    drop = logs.request(BASE + "/orders/3", "DELETE", 204)
    return {
        "right": case([ASK], said(["blue shoe", "RED SHOE"])),
        "wrong": case([ASK], said(["Red Shoe", "Green Shoe"])),
        "one too many": case([ASK], said(["Red Shoe", "Blue Shoe", "Green Shoe"])),
        "recovered": case([ASK], f"Here:\n```json\n{said(['Red Shoe', 'Blue Shoe'])}\n```"),
        "not conforming": case([ASK], said(action="look", status="OK")),
        "no answer": case([ASK], ending="step_limit"),
        "bought": case([BUY], probes=(rows(ORDER),)),
        "bought and broke": case([BUY], probes=(rows(ORDER, GONE),)),
        "nothing bought": case([BUY], probes=(rows(),)),
        "no probe": case([BUY], probes=()),
        "diligent": case(
            [looked], probes=(CLEAN, anna), seen=[visit("/search?q=Shoes")], logins={"shop": "anna"}, checkpoints=marks
        ),
        "idle": case([looked], probes=(CLEAN, anna), seen=[visit("/search?q=shoes", 500)], logins={"shop": "anna"}),
        "arrived": case([there], probes=(CLEAN, PageResult(url=BASE + "/search?q=shoes&p=2", title="", tabs=()))),
        "elsewhere": case([there], probes=(CLEAN, PageResult(url=BASE + "/search?q=boots", title="", tabs=()))),
        "posted": case([SAVE], probes=(), har=[post]),
        "posted and dropped": case([SAVE], probes=(), har=[post, drop]),
        "never posted": case([SAVE], probes=(), har=[logs.request(BASE + "/")]),
    }


def told(verdict):
    return {
        "status": verdict.status,
        "aspects": {name: aspect.value for name, aspect in sorted(verdict.aspects.items())},
        "explained": explain(verdict).splitlines(),
    }


def current():
    return {name: told(verdict) for name, verdict in verdicts().items()}


@pytest.mark.parametrize("name", sorted(json.loads(FILE.read_text())) if FILE.exists() else ["the file is missing"])
def test_verdicts_stay(name):
    assert current()[name] == json.loads(FILE.read_text())[name]


def test_no_case_is_left_out():
    assert sorted(current()) == sorted(json.loads(FILE.read_text()))


if __name__ == "__main__":
    FILE.write_text(json.dumps(current(), indent=1, ensure_ascii=False) + "\n")

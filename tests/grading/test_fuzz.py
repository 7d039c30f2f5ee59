"""Damaged evidence: whatever is done to a log, the grader gives a verdict, and never a pass that is not earned."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import samples
from tests.support import verified_logs as logs
from webassay.core.task import ActivityCheck, Expectation, NetworkCheck, ResponseCheck
from webassay.core.trajectory import MemoryBlobs, NetworkLog
from webassay.core.verdict import Verdict
from webassay.grading.grade import grade

pytestmark = pytest.mark.slow

BASE = "http://shop.test:8000"
CHECKS = (
    ResponseCheck(action="retrieve", results=Expectation.of([{"name": "Red Shoe", "price": 12.5}])),
    NetworkCheck(
        url=Expectation(type="url", value="__SHOP__/save?x=1"),
        method="POST",
        response_status=302,
        post_data={"$.a[0].b": Expectation.of("deed")},
    ),
    ActivityCheck(site="shop"),
)
ANSWER = json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [{"name": "Red Shoe", "price": 12.5}]})
POSTED = {"mimeType": "application/json", "text": '{"a": [{"b": "deed"}]}'}
HAR = json.dumps(
    logs.har(
        [logs.request(BASE + "/"), logs.request(BASE + "/save?x=1", "POST", 302, posted=POSTED)]
    )
).encode()  # fmt: skip
TRACE = b"\n".join(
    json.dumps({"type": "resource-snapshot", "snapshot": one}).encode() for one in json.loads(HAR)["log"]["entries"]
)


def judged(answer, log, format="har"):
    blobs = MemoryBlobs()
    network = NetworkLog(format=format, blob=blobs.write(log, "x"))
    trajectory = samples.trajectory(answer=answer, network=network, bases={"shop": BASE})
    verdict = grade(samples.task(checks=CHECKS), trajectory, blobs)
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert verdict.status == "pass" or any(f.status in ("fail", "fault") and f.message for f in verdict.findings)
    return verdict.status


def test_the_undamaged_log_passes_and_no_part_of_it_or_of_the_answer():
    assert judged(ANSWER, HAR) == "pass"
    assert judged(ANSWER, TRACE, "playwright-trace") == "pass"
    assert {judged(ANSWER, HAR[:length]) for length in range(len(HAR))} == {"fault"}
    assert {judged(ANSWER[:length], HAR) for length in range(len(ANSWER))} == {"fail"}


@settings(max_examples=3000)
@given(st.integers(0, 2**32), st.sampled_from(["har", "playwright-trace"]))
def test_bytes_at_random(seed, format):
    chance = random.Random(seed)
    data = bytearray(HAR if format == "har" else TRACE)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(data))
        what = chance.random()
        if what < 0.4:
            data[place] = chance.randrange(256)
        elif what < 0.6:
            del data[place : place + chance.randint(1, 40)]
        elif what < 0.8:
            data[place:place] = chance.choice([b"NaN", b"null", b"[", b"{}", b"\\ud800", b'"', b"1e999", b"\x00"])
        else:
            start = chance.randrange(len(data))
            data[place:place] = data[start : start + 100]
    judged(ANSWER, bytes(data), format)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=3000)
@given(
    st.lists(st.sampled_from(["log", "entries", 0, 1, "request", "response", "url", "status", "postData", "text"])),
    json_values,
)
def test_other_types_in_any_place(path, value):
    whole = json.loads(HAR)
    here, parent, last = whole, None, None
    for step in path:
        if (isinstance(here, dict) and step in here) or (isinstance(here, list) and isinstance(step, int)):
            parent, last, here = here, step, here[step]
    if parent is None:
        whole = value
    else:
        parent[last] = value
    judged(ANSWER, json.dumps(whole).encode("utf-8", "surrogatepass"))


@settings(max_examples=3000)
@given(json_values)
def test_other_answers(value):
    earned = [{"name": "Red Shoe", "price": 12.5}]
    said = {"action": "retrieve", "status": "SUCCESS", "results": value}
    assert judged(json.dumps(said), HAR) != "pass" or value in (earned, earned[0])


@settings(max_examples=2000)
@given(st.text(max_size=300))
def test_other_texts(text):
    assert judged(text, HAR) == "fail"

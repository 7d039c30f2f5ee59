"""A key next to its episode: what `show` says of each part is what the verdict says."""

from tests.support import samples
from webassay.analysis.episode.key import key_view
from webassay.core.protocols import RELEASED_PROTOCOL, refusal
from webassay.core.served import SERVED_TYPE, ServedAnswer, ServedRecord
from webassay.core.task import Expectation, PageCheck, PagePattern, ResponseCheck
from webassay.core.trajectory import BlobRef, Ending, MemoryBlobs, PageResult, RowsResult, ServedResult
from webassay.grading.grade import SITE_BASES, grade

BASE, OTHER = "http://shop.test:1", "http://mirror.test:2"
PAGE = PageCheck(any_of=(PagePattern(site="shop", path="/orders"),))
CLEAN = RowsResult(site="shop", changes=())


def both(check, what, blobs=None, goal=None, **trajectory):
    """The status of one part, by the grader and on the page."""
    blobs = blobs or MemoryBlobs()
    task = samples.task(checks=[check], goal=goal or samples.goal())
    played = samples.trajectory(**{"bases": {"shop": BASE}, **trajectory})
    name = what if what == "page" else f"response.{what}"
    graded = next((one.status for one in grade(task, played, blobs).findings if one.check == name), None)
    (shown,) = [line.status for line in key_view(task, played, blobs).lines if line.what == what]
    return graded, shown


def test_every_base_url_of_a_site_is_known():
    everywhere = {SITE_BASES: {"shop": [BASE, OTHER]}}
    page = PageResult(url=f"{OTHER}/orders", title="", tabs=())
    assert both(PAGE, "page", probes=(CLEAN, page), provenance=everywhere) == ("pass", "pass")
    answer = f'{{"action": "retrieve", "status": "SUCCESS", "results": ["{OTHER}/orders"]}}'
    link = Expectation(type="list", items=(Expectation(type="url", value="__SHOP__/orders"),))
    check = ResponseCheck(action="retrieve", results=link)
    assert both(check, "results", answer=answer, probes=(CLEAN,), provenance=everywhere) == ("pass", "pass")


def test_a_page_that_a_script_invented_is_no_page():
    blobs = MemoryBlobs()
    home = ServedAnswer(method="GET", path="/", status=200, kind="document", digest="", by="browser")
    record = blobs.write(ServedRecord(served=(home,)).pack(), SERVED_TYPE)
    page = PageResult(url=f"{BASE}/orders", title="", tabs=(), document=f"{BASE}/")
    probes = (CLEAN, page, ServedResult(site="shop", blob=record, count=1))
    assert both(PAGE, "page", blobs, probes=probes) == ("fail", "fail")
    (line,) = key_view(
        samples.task(checks=[PAGE]), samples.trajectory(bases={"shop": BASE}, probes=probes), blobs
    ).lines
    assert "/orders" in line.expected


def test_a_record_that_cannot_be_read_is_a_note():
    gone = BlobRef(hash="sha256:0", media_type=SERVED_TYPE, size=1)
    page = PageResult(url=f"{BASE}/orders", title="", tabs=())
    probes = (CLEAN, page, ServedResult(site="shop", blob=gone, count=1))
    view = key_view(samples.task(checks=[PAGE]), samples.trajectory(bases={"shop": BASE}, probes=probes), MemoryBlobs())
    assert not view.lines and view.notes


def test_the_action_of_a_refusal_is_nobodys_claim():
    goal = samples.goal(protocol=RELEASED_PROTOCOL)
    said = refusal(goal.protocol.name, "There is none.", "NOT_FOUND_ERROR")
    check = ResponseCheck(action="NAVIGATE", status=("NOT_FOUND_ERROR",))
    for kind, status in (("gave_up", None), ("answered", "fail")):
        assert both(check, "action", goal=goal, answer=said, ending=Ending(kind=kind)) == (status, status)

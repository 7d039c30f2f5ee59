"""What a site served, recorded around it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.sites.hosted import HostedVisitor
from tests.sites.visiting import visit
from webassay.core.errors import ProbeError
from webassay.core.served import ServedAnswer, ServedRecord, kept_path
from webassay.core.touched import TouchedRecord
from webassay.core.trajectory import MemoryBlobs, ServedResult, TouchedResult
from webassay.environments.arena import Arena, ArenaStage
from webassay.sites import recording, shop
from webassay.sites.obstacles import StatusObstacle
from webassay.sites.recording import Recorder

SITES = {"notes": "tests.sites.notes_site:SITE", "other_notes": "tests.sites.other_site:SITE"}

# One server for all tests: they hold different worlds of it.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena() -> AsyncIterator[Arena]:
    async with Arena(SITES) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def stage(arena: Arena) -> AsyncIterator[ArenaStage]:
    async with arena.hold(["notes"]) as held:
        yield held


async def recorded(stage: ArenaStage, site: str = "notes") -> ServedRecord:
    blobs = MemoryBlobs()
    (result,) = [one for one in await stage.probe((), blobs) if isinstance(one, ServedResult) and one.site == site]
    record = ServedRecord.unpack(blobs.read(result.blob))
    assert (result.count, result.omitted) == (len(record.served), record.omitted)
    return record


def text_of(record: ServedRecord, served: ServedAnswer) -> str:
    def texts(number: int) -> list[str]:
        parts = record.nodes[number].parts
        return [text for part in parts for text in ([part] if isinstance(part, str) else texts(part))]

    return " ".join(texts(served.page)) if served.page is not None else ""


# --- around a running site ------------------------------------------------------------------------------------


async def test_every_answer_is_in_the_record_in_order(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        await visitor.get("/?page=2&q=a%20b")
        await visitor.post("/add", data={"body": "Grüße"})
        await visitor.get("/nowhere")
        await visitor.get("/stream")
    first, added, missing, streamed = (record := await recorded(stage)).served
    assert [(one.method, one.path, one.status) for one in record.served] == [
        ("GET", "/?page=2&q=a%20b", 200), ("POST", "/add", 303), ("GET", "/nowhere", 404), ("GET", "/stream", 200),
    ]  # fmt: skip
    assert first.at <= added.at <= missing.at <= streamed.at
    assert added.page is None, "nobody sees what a redirect says"
    assert "Not Found" in text_of(record, missing)
    assert len(first.digest) == 32


async def test_what_was_written_names_its_request_and_step(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        await visitor.post("/add", data={"body": "before"})
        for step in (0, 4):
            await stage.at_step(step)
            await visitor.post(f"/add?n={step}", data={"body": "after"})
            await visitor.post("/crash")
    blobs = MemoryBlobs()
    (result,) = [one for one in await stage.probe((), blobs) if isinstance(one, TouchedResult)]
    record = TouchedRecord.unpack(blobs.read(result.blob))
    assert [(one.step, one.site, one.method, one.path) for one in record.requests] == [
        (None, "notes", "POST", "/add"), (0, "notes", "POST", "/add?n=0"), (4, "notes", "POST", "/add?n=4"),
    ]  # fmt: skip
    assert result.rows == 3 and [row.operation for row in record.by_step()[4][0].rows] == ["insert"]


async def test_what_was_opened_before_the_agent_began_is_marked(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        await visitor.get("/")
        await stage.hand_over()
        await visitor.get("/")
    assert [one.start for one in (await recorded(stage)).served] == [True, False]


async def test_worlds_have_records_of_their_own(arena: Arena) -> None:
    async with arena.hold(["notes", "other_notes"]) as one, arena.hold(["notes"]) as other:
        async with visit(one) as visitor:
            await visitor.get("/")
        assert len((await recorded(one)).served) == 1
        assert (await recorded(one, "other_notes")).served == ()
        assert (await recorded(other)).served == ()


async def test_what_stands_in_front_of_a_site_is_served_too(stage: ArenaStage) -> None:
    await stage.obstruct("notes", [StatusObstacle(status=503, body="<p>Back soon</p>")])
    async with visit(stage) as visitor:
        await visitor.get("/", headers={"accept": "text/html"})
    (served,) = (record := await recorded(stage)).served
    assert (served.status, served.kind, text_of(record, served)) == (503, "document", "Back soon")


async def test_a_visitor_is_recognised_and_not_named(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        for cookie in ("", "session=abc", "session=abc", "session=def"):
            await visitor.get("/", headers={"cookie": cookie} if cookie else {})
    nobody, one, again, other = (served.session for served in (await recorded(stage)).served)
    assert nobody == "" != one == again != other
    assert "abc" not in one


async def test_a_server_that_dies_while_it_is_asked_leaves_no_record(arena: Arena) -> None:
    async with arena.hold(["notes"]) as stage:
        async with visit(stage) as visitor:
            await visitor.get("/")
        pid, blobs = (await arena.stats())["pid"], MemoryBlobs()
        os.kill(pid, signal.SIGSTOP)
        asking = asyncio.create_task(stage.probe((), blobs))
        await asyncio.wait([asking], timeout=0.2)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ProbeError, match="killed by signal 9"):
            await asking
        with pytest.raises(ProbeError):
            await stage.probe((), blobs)


# --- by itself ------------------------------------------------------------------------------------------------


def noted(
    recorder: Recorder, path: str, body: str, *, kind: str = "text/html", status: int = 200, **headers: str
) -> None:
    scope: dict[str, Any] = {
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }
    start = {"type": "http.response.start", "status": status, "headers": [(b"Content-Type", kind.encode())]}
    recorder.note(scope, [start, {"type": "http.response.body", "body": body.encode()}])


def unpacked(recorder: Recorder) -> ServedRecord:
    return ServedRecord.unpack(recorder.pack()()[0])


@pytest.mark.parametrize(
    ("media_type", "headers", "kind"),
    [
        ("text/html", {"sec_fetch_dest": "document"}, "document"),
        ("text/html", {"sec_fetch_dest": "iframe"}, "document"),
        ("text/html", {"sec_fetch_dest": "empty"}, "fragment"),
        ("application/json", {"sec_fetch_dest": "empty"}, "fragment"),
        ("application/json", {"sec_fetch_dest": "document"}, "document"),
        ("image/png", {"sec_fetch_dest": "image"}, "picture"),
        ("image/png", {}, "picture"),
        ("image/png", {"sec_fetch_dest": "document"}, "picture"),
        ("text/html", {"accept": "text/html,*/*"}, "document"),
        ("text/html", {"accept": "*/*"}, "fragment"),
        ("text/css", {"sec_fetch_dest": "style"}, "other"),
        ("text/css", {}, "other"),
        ("font/woff2", {"sec_fetch_dest": "font"}, "other"),
    ],
)
async def test_documents_fragments_and_pictures_are_told_apart(
    media_type: str, headers: dict[str, str], kind: str
) -> None:
    recorder = Recorder()
    noted(recorder, "/", '"Text"' if "json" in media_type else "<p>Text</p>", kind=media_type, **headers)
    (served,) = unpacked(recorder).served
    assert served.kind == kind
    assert (served.page is not None) == (kind in ("document", "fragment"))


async def test_a_page_served_twice_is_kept_once() -> None:
    recorder = Recorder()
    for _ in range(3):
        noted(recorder, "/", "<p>Text</p>")
    record = unpacked(recorder)
    assert len(record.nodes) == 1
    assert {served.page for served in record.served} == {0}


async def test_a_record_grows_after_it_was_packed() -> None:
    recorder = Recorder()
    noted(recorder, "/a", "<p>One</p>")
    assert len(unpacked(recorder).served) == 1
    noted(recorder, "/b", "<p>Two</p>")
    record = unpacked(recorder)
    assert [text_of(record, served) for served in record.served] == ["One", "Two"]


async def test_what_is_served_while_it_is_packed_belongs_to_the_next_record() -> None:
    recorder = Recorder()
    noted(recorder, "/a", "<p>One</p>")
    make = recorder.pack()
    noted(recorder, "/b", "<p>Two</p>")
    record = ServedRecord.unpack(make()[0])
    assert [text_of(record, served) for served in record.served] == ["One"]
    assert len(unpacked(recorder).served) == 2


async def test_half_a_character_does_no_harm(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        await visitor.post(
            "/echo", content=b'{"a": "x\\ud800y", "b": [1, null]}', headers={"content-type": "application/json"}
        )
    assert len((await recorded(stage)).served) == 1
    recorder = Recorder()
    noted(recorder, "/", '{"a": "x\\udfffy <b>z\\udfff</b>"}', kind="application/json")
    record = unpacked(recorder)
    assert "z" in text_of(record, record.served[0])


async def test_pages_of_any_depth_can_be_packed() -> None:
    recorder = Recorder()
    noted(recorder, "/", "<ul><li>" * 3000 + "deep")
    noted(recorder, "/data", "[" * 500 + '"deep"' + "]" * 500, kind="application/json")
    assert len(unpacked(recorder).nodes) < 1000


async def test_a_full_record_says_how_much_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_ANSWERS", 3)
    recorder = Recorder()
    for number in range(5):
        noted(recorder, f"/{number}", f"<p>{number}</p>")
    _, count, omitted = recorder.pack()()
    assert (count, omitted) == (3, 0)
    assert unpacked(recorder).unlisted == 2


async def test_text_is_bounded_however_large_the_pages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_TEXT", 10_000)
    monkeypatch.setattr(recording, "MOST_WAITING", 5_000)
    recorder = Recorder()
    for number in range(50):
        noted(recorder, f"/{number}", f"<p>{'word ' * 200}{number}</p>")
    record = unpacked(recorder)
    assert [one.path for one in record.served] == [f"/{number}" for number in range(50)]
    read = sum(one.page is not None for one in record.served)
    assert 10 <= read <= 20 and record.omitted == 50 - read
    assert unpacked(recorder).unlisted == 0


async def test_addresses_of_any_length_are_kept_and_told_apart() -> None:
    recorder = Recorder()
    for end in ("a", "b", "b"):
        noted(recorder, "/" + "x" * 60_000 + end, "<p>long</p>")
    paths = [one.path for one in unpacked(recorder).served]
    assert len({*paths}) == 2 and max(map(len, paths)) < 600
    assert kept_path("/" + "x" * 60_000 + "b") == paths[2] and kept_path("/short?q=1") == "/short?q=1"


async def test_refused_forms_of_any_size_fill_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_TEXT", 200_000)
    visitor = HostedVisitor(shop.SITE)
    form = {"name": "a", "email": "no address", "phone": "", "order_number": ""}
    for number in range(12):
        page = await visitor.post("/contact", **form, message=f"{number} " + "x" * 60_000)
    assert "x" * 60_000 in page
    await visitor.get("/about")
    record = visitor.record()
    assert record.omitted == 0 and sum(len(str(node.parts)) for node in record.nodes) < 50_000
    assert record.served[-1].page is not None and len(record.served) == 13

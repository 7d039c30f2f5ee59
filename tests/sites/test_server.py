"""What can be reached over HTTP, and what cannot."""

import asyncio
import dataclasses
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from starlette.types import Receive, Scope, Send

from tests.sites.notes_site import SITE
from tests.sites.visiting import arrived, changed, seen, visit
from webassay.arena.benchmark import HARD
from webassay.arena.benchmark import OBSTACLES as TASK_OBSTACLES
from webassay.core.errors import InputError, SiteError
from webassay.core.served import ServedRecord
from webassay.core.trajectory import MemoryBlobs, ServedResult
from webassay.environments.arena import Arena, ArenaStage
from webassay.sites import server
from webassay.sites.frames import frame
from webassay.sites.kit import World, snapshot
from webassay.sites.obstacles import (
    NAMED,
    DelayObstacle,
    InjectObstacle,
    LostFieldObstacle,
    RedirectObstacle,
    SignedOutObstacle,
    StatusObstacle,
    named,
)
from webassay.sites.server import HostedWorld

SITES = {"notes": "tests.sites.notes_site:SITE", "other_notes": "tests.sites.other_site:SITE"}


# One server for all tests: they hold different worlds of it.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena() -> AsyncIterator[Arena]:
    async with Arena(SITES) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def stage(arena: Arena) -> AsyncIterator[ArenaStage]:
    async with arena.hold(["notes"], logins={"notes": "ann"}) as held:
        yield held


async def test_the_right_host_finds_its_site(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        found = await visitor.get("/", headers={"cookie": f"session={stage.cookies[0].value}"})
    assert found.status_code == 200
    assert found.json()["user"] == "ann"
    assert found.json()["now"] == stage.now_ms
    assert {"date", "server"}.isdisjoint(found.headers)
    async with visit(stage, host=urlsplit(stage.bases["notes"]).netloc.upper()) as visitor:
        assert (await visitor.get("/")).status_code == 200


async def test_any_other_host_finds_nothing(stage: ArenaStage) -> None:
    label, port = stage.label, urlsplit(stage.bases["notes"]).port
    wrong = [
        "",
        "*",
        "localhost",
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        f"notes.localhost:{port}",
        f"{label}.localhost:{port}",
        f"notes.{label}.localhost",
        f"notes.{label}.localhost:1",
        f"notes.{label}.localhost.:{port}",
        f"notes.{label[:-1]}.localhost:{port}",
        f"x.notes.{label}.localhost:{port}",
        f"other-notes.{label}.localhost:{port}",
        f"notes.{label}.localhost:{port}, x",
    ]
    answers = set()
    async with visit(stage) as visitor:
        for host in wrong:
            for path in ("/", "/crash", "/nowhere", "/stats", "/reset"):
                answer = await visitor.get(path, headers={"host": host})
                answers.add((answer.status_code, answer.text, tuple(answer.headers.items())))
    (only,) = answers
    assert only[:2] == (404, "Not Found")
    assert "notes" not in str(only) and label not in str(only)


@pytest.mark.parametrize("hosts", [[], ["{good}", "evil"], ["evil", "{good}"], ["{good}", "{good}"]])
async def test_exactly_one_host_header_is_needed(stage: ArenaStage, hosts: list[str]) -> None:
    good = urlsplit(stage.bases["notes"])
    reader, writer = await asyncio.open_connection("127.0.0.1", good.port)
    lines = [f"Host: {host.format(good=good.netloc)}" for host in hosts]
    writer.write("\r\n".join(["GET / HTTP/1.1", *lines, "Connection: close", "", ""]).encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 404 ")


async def test_only_this_machine_can_connect(stage: ArenaStage) -> None:
    port = urlsplit(stage.bases["notes"]).port
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as compass:
        try:
            compass.connect(("192.0.2.1", 9))  # Nothing is sent; this only asks which address would be used.
        except OSError:
            pytest.skip("this machine has no address but loopback")
        address = compass.getsockname()[0]
    with socket.socket() as outside:
        assert outside.connect_ex((address, port)) != 0


async def test_small_packets_are_sent_at_once() -> None:
    connected = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        option = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connected.set_result(option)
        writer.close()

    listening = await asyncio.start_server(accept, sock=server._listen(0))
    async with listening:
        _, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        assert await connected
        writer.close()
        await writer.wait_closed()


async def test_a_broken_page_is_a_500_and_nothing_else(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        for path in ("/crash", "/careless"):
            answer = await visitor.get(path)
            assert answer.status_code == 500
            assert "Traceback" not in answer.text and "broken" not in answer.text
        assert (await visitor.get("/")).status_code == 200
    assert await changed(stage) == {}


async def test_streams_bodies_and_threads(stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        assert (await visitor.get("/stream")).text == "part 0 part 1 part 2 "
        body = b"\x00\xff" * 500_000
        assert (await visitor.post("/echo", content=body)).content == body
        assert (await visitor.post("/echo", content=b"x" * (16 * 1024 * 1024 + 1))).status_code == 413
        answers = await asyncio.gather(*(visitor.post(path) for path in ["/add-in-thread", "/slow-add"] * 3))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert await changed(stage) == {"note": 6}


async def test_a_visitor_who_hangs_up_in_the_middle_harms_nobody(stage: ArenaStage) -> None:
    address = urlsplit(stage.bases["notes"])
    half = f"POST /add HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 99\r\n\r\nbody=x"
    for sent in ("", "GET", half, "\x00\x01 nonsense\r\n\r\n"):
        _, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.write(sent.encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    async with visit(stage) as visitor:
        assert (await visitor.get("/")).status_code == 200
    assert await changed(stage) == {}


async def test_a_visitor_who_never_reads_does_not_hold_the_world(arena: Arena, stage: ArenaStage) -> None:
    address = urlsplit(stage.bases["notes"])
    body = b"x" * 8_000_000
    with socket.socket() as deaf:
        before = await seen(arena)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", address.port))
        head = f"POST /echo HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
        await asyncio.to_thread(deaf.sendall, head.encode() + body)
        await arrived(arena, before + 1)
        async with visit(stage) as visitor:
            assert (await visitor.get("/")).status_code == 200
        assert await changed(stage) == {}


async def test_a_slow_request_is_finished_before_the_world_is_looked_at(arena: Arena, stage: ArenaStage) -> None:
    async with visit(stage) as visitor:
        before = await seen(arena)
        slow = asyncio.create_task(visitor.post("/slow-add"))
        await arrived(arena, before + 1)
        assert await changed(stage) == {"note": 1}
        assert (await slow).status_code == 200


async def test_a_request_that_comes_late_finds_no_world(arena: Arena) -> None:
    async with arena.hold(["notes"]) as first, visit(first) as visitor:
        await first.obstruct("notes", [DelayObstacle(seconds=0.3)])
        before = await seen(arena)
        late = asyncio.create_task(visitor.post("/add", data={"body": "late"}))
        await arrived(arena, before + 1)
        await arena._server.call("close", 10, label=first.label)  # type: ignore[union-attr]
        async with arena.hold(["notes"]) as second:
            assert (await late).status_code == 404
            assert await changed(second) == {}
        assert (await visitor.get("/")).status_code == 404, "an old address is dead"


async def test_a_command_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.Event()

    async def never_ends(scope: Scope, receive: Receive, send: Send) -> None:
        started.set()
        await asyncio.Event().wait()

    site = dataclasses.replace(SITE, make_app=lambda world: never_ends)
    hosted = HostedWorld(World(site, 0, snapshot(site, 0, None)))
    request = asyncio.create_task(hosted.answer({"type": "http", "method": "GET", "path": "/", "headers": []}, b""))
    await started.wait()
    monkeypatch.setattr(server, "TURN_SECONDS", 0.01)
    with pytest.raises(SiteError, match="has been running for"):
        await hosted.probe({})
    hosted.close()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


async def test_an_application_that_says_nothing_is_a_500() -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    site = dataclasses.replace(SITE, make_app=lambda world: silent)
    hosted = HostedWorld(World(site, 0, snapshot(site, 0, None)))
    start, _ = await hosted.answer({"type": "http", "method": "GET", "path": "/", "headers": []}, b"")
    assert start["status"] == 500


# --- obstacles -------------------------------------------------------------------------------------------


async def test_an_error_goes_away_after_so_many_requests(stage: ArenaStage) -> None:
    await stage.obstruct("notes", [StatusObstacle(path="/a*", method="POST", status=503, times=2)])
    async with visit(stage) as visitor:
        assert (await visitor.get("/")).status_code == 200
        statuses = [(await visitor.post("/add", data={"body": "x"})).status_code for _ in range(3)]
        assert statuses == [503, 503, 303]
        assert await changed(stage) == {"note": 1}, "what was refused never reached the site"
        await stage.obstruct("notes", [StatusObstacle(status=500)])
        assert [(await visitor.get("/")).status_code for _ in range(3)] == [500] * 3
        await stage.obstruct("notes", [])
        assert (await visitor.get("/")).status_code == 200


async def test_a_wall_for_those_who_are_logged_in(stage: ArenaStage) -> None:
    session = {"cookie": f"session={stage.cookies[0].value}"}
    away = RedirectObstacle(path="/crash", location="/log-in?next=ä\r\nx: y")
    await stage.obstruct("notes", [SignedOutObstacle(times=1), away])
    async with visit(stage) as visitor:
        assert [(await visitor.get("/", headers=session)).json()["user"] for _ in range(2)] == ["", "ann"]
        answer = await visitor.get("/crash")
    assert (answer.status_code, answer.headers["location"]) == (302, "/log-in?next=%C3%A4%0D%0Ax:%20y")


async def test_obstacles_are_one_worlds_own(arena: Arena, stage: ArenaStage) -> None:
    async with arena.hold(["notes", "other_notes"]) as other:
        await stage.obstruct("notes", [StatusObstacle()])
        await other.obstruct("other_notes", [StatusObstacle(status=404)])
        seen = []
        for held, site in [(stage, "notes"), (other, "notes"), (other, "other_notes")]:
            async with visit(held, site) as visitor:
                seen.append((await visitor.get("/")).status_code)
        assert seen == [503, 200, 404]


@pytest.mark.parametrize(
    "data", [{"kind": "status", "status": 200}, {"kind": "nothing"}, {"kind": "delay", "seconds": 1, "colour": "red"}]
)
async def test_an_obstacle_that_makes_no_sense_is_refused(stage: ArenaStage, data: dict[str, object]) -> None:
    with pytest.raises(InputError, match="obstacles"):
        await stage._server.call("obstruct", 10, label=stage.label, site="notes", obstacles=[data])


async def test_an_obstacle_before_a_site_that_is_not_there_is_refused(stage: ArenaStage) -> None:
    with pytest.raises(InputError, match="elsewhere"):
        await stage.obstruct("elsewhere", [])


@pytest.mark.parametrize("unread", [False, True], ids=["quietly", "with an answer unread"])
async def test_the_server_ends_when_its_parent_is_gone(unread: bool) -> None:
    """A parent that is killed with an answer unread resets the connection instead of closing it."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "webassay.sites.server", str(theirs.fileno()), pass_fds=[theirs.fileno()]
        )
    settings = {"id": 0, "sites": SITES, "cache": "", "port": 0, "sys_path": sys.path}
    with ours:
        ours.sendall(frame(settings))
        # Its first byte shows that it is there; the rest of the answer is read, or is not.
        assert await asyncio.to_thread(ours.recv, 1 if unread else 65_536)
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_banner_stands_in_every_page_until_it_is_closed(stage: ArenaStage) -> None:
    banner = InjectObstacle(html="<p>Cookies?</p>", dismiss="/cookie-choice")
    await stage.obstruct("notes", [banner])
    async with visit(stage) as client:
        before = await client.get("/page")
        assert before.text.count("<p>Cookies?</p></body>") == 1
        assert int(before.headers["content-length"]) == len(before.content)
        assert "Cookies" not in (await client.get("/")).text, "only pages have room for it"
        closed = await client.post("/cookie-choice", headers={"referer": f"{stage.bases['notes']}/page?a=1&b=%20"})
        assert (closed.status_code, closed.headers["location"]) == (303, "/page?a=1&b=%20")
        assert "Cookies" not in (await client.get("/page")).text


async def test_an_obstacle_may_come_later(stage: ArenaStage) -> None:
    await stage.obstruct("notes", [StatusObstacle(after=2, times=1)])
    async with visit(stage) as client:
        assert [(await client.get("/")).status_code for _ in range(4)] == [200, 200, 503, 200]
    await stage.obstruct("notes", [InjectObstacle(html="<p>Later</p>", after=1, times=1)])
    async with visit(stage) as client:
        assert ["Later" in (await client.get("/page")).text for _ in range(3)] == [False, True, False]


async def test_a_lost_field_is_empty_and_the_others_are_not() -> None:
    obstacle = LostFieldObstacle(fields=("zip", "city", "name"))
    assert obstacle.without_field(b"name=A%26B&city=Bend&zip=") == b"name=A%26B&city=&zip=", "the first with a value"
    assert obstacle.without_field(b"q=%20x&zip=") == b"q=%20x&zip="


async def test_only_forms_with_the_field_count(stage: ArenaStage) -> None:
    await stage.obstruct("notes", [LostFieldObstacle(fields=("body",), times=1)])
    async with visit(stage) as visitor:
        for body in ("", "first", "second"):
            await visitor.post("/add", data={"body": body, "other": "x"})
        notes = (await visitor.get("/")).json()["notes"]
    assert [note["body"] for note in notes[:3]] == ["second", "", ""]


async def test_named_obstacles_are_drawn_by_the_seed_and_are_those_that_tasks_know() -> None:
    assert set(NAMED) == {*TASK_OBSTACLES, *HARD}
    assert named(NAMED, 3) == named(NAMED, 3)
    assert any(named(NAMED, 3) != named(NAMED, seed) for seed in range(4, 9))
    with pytest.raises(InputError, match="no obstacle 'rain'"):
        named(["rain"], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who is at the other end")
async def test_whoever_hangs_up_at_once_has_asked_for_nothing(arena: Arena, stage: ArenaStage) -> None:
    """Else a program could do its work beside the browser, and be gone before anybody can look who it was."""
    browser = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=subprocess.PIPE)
    await stage.expect(browser.pid)
    await _hang_up_and_wait(arena, stage)
    await browser.communicate(b"\n")
    carried_out = (await changed(stage))["note"]
    blobs = MemoryBlobs()
    (record,) = [one for one in await stage.probe(stage.cookies, blobs) if isinstance(one, ServedResult)]
    served = ServedRecord.unpack(blobs.read(record.blob)).served
    # Who was slow to hang up may have been seen; nothing was done for somebody that nobody saw.
    assert [one.by for one in served] == ["other"] * carried_out and carried_out < 11


async def _hang_up_and_wait(arena: Arena, stage: ArenaStage) -> None:
    """Ten who do not wait, and one who does."""
    place = urlsplit(stage.bases["notes"])
    head = f"POST /add HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-type: application/x-www-form-urlencoded\r\n"
    before = await seen(arena)
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", place.port or 80)) as gone:
            gone.sendall(f"{head}content-length: 11\r\n\r\nbody=secret".encode())
    await arrived(arena, before + 10)
    async with visit(stage) as visitor:
        assert (await visitor.post("/add", data={"body": "seen"})).status_code < 400

"""Stages come and go, servers die, and no episode sees another one."""

import asyncio
import os
import signal
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from tests.sites.visiting import changed, until, visit
from tests.support import samples
from webassay.browser.devtools.chromium import find_chromium, launch_flags
from webassay.core.errors import InputError, ProbeError, SiteError
from webassay.core.interaction import Cookie
from webassay.core.task import JudgedCheck, Task
from webassay.core.trajectory import MemoryBlobs, RowsResult, SessionResult
from webassay.environments.arena import Arena
from webassay.environments.base import Environment

NOTES = {"notes": "tests.sites.notes_site:SITE"}
BOTH = {**NOTES, "other_notes": "tests.sites.other_site:SITE"}
SLOW = {**NOTES, "slow_notes": "tests.sites.other_site:SLOW"}
REPOSITORY = Path(__file__).parents[2]


# One arena for all tests, killed now and then: it has to come back.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena() -> AsyncIterator[Arena]:
    async with Arena(BOTH) as running:
        yield running


def task(*sites: str, seed: int = 0, **logins: str) -> Task:
    goal = samples.goal(start_urls=("__NOTES__/",), sites=sites)
    return samples.task(kind="mutate", goal=goal, checks=(JudgedCheck(),), sites=sites, logins=logins, world_seed=seed)


async def server_pid(arena: Arena) -> int:
    return (await arena.stats())["pid"]


async def test_a_stage_is_what_an_episode_needs(arena: Arena) -> None:
    environment: Environment = arena
    async with environment.stage(task("notes", "other_notes", seed=4, other_notes="bob")) as stage:
        assert set(stage.bases) == {"notes", "other_notes"}
        assert {base.removeprefix("http://") for base in stage.bases.values()} == stage.allowed_hosts
        assert stage.bases["other_notes"].startswith("http://other-notes."), "an underscore is not for host names"
        assert [cookie.host for cookie in stage.cookies] == [urlsplit(stage.bases["other_notes"]).hostname]
        assert stage.now_ms == (1_767_225_600 + 60 + 1) * 1000, "the latest clock, after the log-in"
        results = await stage.probe(stage.cookies, MemoryBlobs())
    rows = {result.site: result for result in results if isinstance(result, RowsResult)}
    users = {result.site: result.user for result in results if isinstance(result, SessionResult)}
    assert users == {"notes": "", "other_notes": "bob"}
    assert rows["notes"].changes == ()
    (session,) = rows["other_notes"].changes
    assert (session.table, session.operation) == ("session", "insert")
    assert rows["other_notes"].columns == {"session": dict.fromkeys(("token", "user", "created_at"), "telemetry")}


async def test_a_probe_tells_the_exact_rows(arena: Arena) -> None:
    async with arena.stage(task("notes", notes="ann")) as stage, visit(stage) as visitor:
        await visitor.post("/add", data={"body": "Grüße, \x00 und 'so'"})
        (rows,) = [
            result for result in await stage.probe(stage.cookies, MemoryBlobs()) if isinstance(result, RowsResult)
        ]
    added = {change.table: change for change in rows.changes}
    assert set(added) == {"note", "audit", "session"}
    note = added["note"]
    assert (note.key, note.before) == ({"id": 41}, None)
    assert note.after is not None and note.after["body"] == "Grüße, \x00 und 'so'"
    assert rows.columns["note"]["body"] == "content"


async def test_only_a_sites_own_cookies_count(arena: Arena) -> None:
    async with arena.hold(["notes", "other_notes"], logins={"notes": "ann"}) as stage:
        (cookie,) = stage.cookies
        elsewhere = urlsplit(stage.bases["other_notes"]).hostname or ""

        async def users(*cookies: Cookie) -> list[str]:
            return [
                result.user for result in await stage.probe(cookies, MemoryBlobs()) if isinstance(result, SessionResult)
            ]

        assert await users(cookie) == ["ann", ""]
        assert await users(Cookie(cookie.name, cookie.value, "." + cookie.host)) == ["ann", ""]
        assert await users(Cookie(cookie.name, cookie.value, elsewhere)) == ["", ""]
        assert await users(Cookie(cookie.name, "guess", cookie.host)) == ["", ""]
        assert await users() == ["", ""]


async def test_worlds_used_at_once_never_see_each_other(arena: Arena) -> None:
    async def episode(number: int) -> None:
        async with arena.hold(["notes", "other_notes"], seed=number % 2, logins={"notes": f"user{number}"}) as stage:
            async with visit(stage) as notes, visit(stage, "other_notes") as other:
                for turn in range(5):
                    await notes.post("/add", data={"body": f"{number}.{turn}"})
                    if turn % 2:
                        await other.post("/add", data={"body": f"other {number}.{turn}"})
                session = {"cookie": f"session={stage.cookies[0].value}"}
                page = (await notes.get("/", headers=session)).json()
            assert page["user"] == f"user{number}"
            assert page["visits"] == 1
            assert [note["body"] for note in page["notes"]] == [f"{number}.{turn}" for turn in (4, 3, 2)]
            found = {}
            for result in await stage.probe((), MemoryBlobs()):
                if isinstance(result, RowsResult):
                    bodies = [c.after["body"] for c in result.changes if c.table == "note" and c.after]
                    found[result.site] = bodies
            assert found == {
                "notes": [f"{number}.{turn}" for turn in range(5)],
                "other_notes": [f"other {number}.{turn}" for turn in (1, 3)],
            }

    await asyncio.gather(*(episode(number) for number in range(12)))
    assert (await arena.stats())["worlds"] == 0


async def test_the_next_episode_starts_from_nothing(arena: Arena) -> None:
    labels = set()
    for _ in range(3):
        async with arena.hold(["notes"], logins={"notes": "ann"}) as stage, visit(stage) as visitor:
            assert await changed(stage) == {}
            page = (await visitor.get("/")).json()
            assert (page["visits"], page["notes"][0]["id"]) == (1, 39)
            assert (await visitor.post("/add", data={"body": "mine"})).status_code == 303
            labels.add(stage.label)
    assert len(labels) == 3
    assert all(len(label) >= 16 for label in labels)


async def test_a_world_is_closed_even_when_its_episode_breaks_or_is_canceled(arena: Arena) -> None:
    with pytest.raises(KeyError):
        async with arena.hold(["notes"]):
            raise KeyError
    assert (await arena.stats())["worlds"] == 0

    async def episode(seed: int) -> None:
        async with arena.hold(["notes"], seed=seed):
            await asyncio.Event().wait()

    for seed in range(100, 110):
        opening = asyncio.create_task(episode(seed))
        for _ in range(seed - 100):
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    async def nothing_open() -> bool:
        return (await arena.stats())["worlds"] == 0

    async with arena.hold(["notes"], seed=110):
        pass  # By now every earlier command has been obeyed.
    await until(nothing_open)


# --- what can go wrong ----------------------------------------------------------------------------------


async def test_bad_input_is_told(arena: Arena) -> None:
    with pytest.raises(InputError, match="no site 'forum'"):
        async with arena.hold(["forum"]):
            pass
    with pytest.raises(InputError, match="not one of the task's sites"):
        async with arena.hold(["notes"], logins={"other_notes": "ann"}):
            pass
    with pytest.raises(InputError, match="host name"):
        async with arena.hold(["notes"], label="Not A Label"):
            pass


async def test_a_port_in_use_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} is not available") as caught:
            async with Arena(NOTES, port=port):
                pass
    assert "another port" in caught.value.hint


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:SITE", "cannot be imported"),
        ("tests.sites.notes_site:NOTHING", "cannot be imported"),
        ("tests.sites.notes_site:SCHEMA", "is not the site notes"),
        ("tests.sites.other_site:SITE", "is not the site notes"),
    ],
)
async def test_a_site_that_cannot_be_had_is_told(path: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        async with Arena({"notes": path}):
            pass


async def test_readable_addresses_for_people() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Arena(NOTES, port=port) as arena, arena.hold(["notes"], label="demo") as stage:
        assert stage.bases == {"notes": f"http://notes.demo.localhost:{port}"}
        async with visit(stage) as visitor:
            assert (await visitor.get("/")).status_code == 200
        with pytest.raises(SiteError, match="taken"):
            async with arena.hold(["notes"], label="demo"):
                pass
        async with visit(stage) as visitor:
            assert (await visitor.get("/")).status_code == 200, "whoever was refused must not close what is there"


async def test_built_data_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        async with Arena(NOTES, cache=tmp_path) as arena, arena.hold(["notes"], seed=6):
            pass
        (kept,) = tmp_path.glob("notes-6-*.snapshot")
        assert kept.stat().st_size > 10_000


async def test_pages_are_served_while_another_world_is_built() -> None:
    async with Arena(SLOW) as arena, arena.hold(["notes"]) as stage, visit(stage) as visitor:

        async def build() -> None:
            async with arena.hold(["slow_notes"]):
                pass

        building = [asyncio.create_task(build()) for _ in range(2)]
        for _ in range(3):
            assert (await visitor.get("/")).status_code == 200
        assert not any(task.done() for task in building)
        await asyncio.gather(*building)


async def test_a_killed_server_faults_its_episodes_and_the_others_share_a_new_one(arena: Arena) -> None:
    async with arena.hold(["notes"]) as stage:
        os.kill(await server_pid(arena), signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(ProbeError, match="killed by signal 9"):
                await stage.probe((), MemoryBlobs())
    async with arena.hold(["notes"]) as stage, visit(stage) as visitor:
        assert (await visitor.get("/")).status_code == 200
        assert await changed(stage) == {}
    first = await server_pid(arena)
    os.kill(first, signal.SIGKILL)

    async def pid() -> int:
        async with arena.hold(["notes"]):
            return await server_pid(arena)

    pids = set(await asyncio.gather(*(pid() for _ in range(4))))
    assert len(pids) == 1
    assert first not in pids


async def test_a_site_that_never_ends_is_ended() -> None:
    async with Arena(NOTES, patience=4) as arena:
        async with arena.hold(["notes"]) as stage, visit(stage) as visitor:
            spinning = asyncio.create_task(visitor.get("/spin"))
            await asyncio.wait([spinning], timeout=0.2)
            with pytest.raises(ProbeError, match="'probe' took more than 4 seconds"):
                await stage.probe((), MemoryBlobs())
            with pytest.raises(httpx.HTTPError):
                await spinning
        async with arena.hold(["notes"]) as stage, visit(stage) as visitor:
            assert (await visitor.get("/")).status_code == 200


async def test_whoever_only_keeps_it_running_learns_of_its_death(arena: Arena) -> None:
    waiting = asyncio.create_task(arena.wait())
    os.kill(await server_pid(arena), signal.SIGTERM)
    with pytest.raises(SiteError, match="killed by signal 15"):
        await waiting


@pytest.mark.parametrize("busy", [False, True])
async def test_no_server_outlives_its_runner(busy: bool) -> None:
    """However the runner goes, and even while a site keeps the server's event loop busy."""
    script = f"""
        import asyncio, socket
        from webassay.environments.arena import Arena

        async def main():
            async with Arena({NOTES!r}) as arena, arena.hold(["notes"]) as stage:
                host = next(iter(stage.allowed_hosts))
                if {busy}:
                    visitor = socket.create_connection(("127.0.0.1", int(host.split(":")[1])))
                    visitor.sendall(f"GET /spin HTTP/1.1\\r\\nHost: {{host}}\\r\\n\\r\\n".encode())
                    await asyncio.sleep(0.3)
                print(host.split(":")[1], flush=True)
                await asyncio.Event().wait()

        asyncio.run(main())
    """
    command = (sys.executable, "-c", textwrap.dedent(script))
    runner = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=REPOSITORY)
    port = int(await runner.stdout.readline())
    with socket.socket() as before:
        assert before.connect_ex(("127.0.0.1", port)) == 0
    runner.kill()
    await runner.wait()

    async def port_is_closed() -> bool:
        with socket.socket() as after:
            return after.connect_ex(("127.0.0.1", port)) != 0

    await until(port_is_closed)


@pytest.mark.browser
async def test_chromium_finds_the_sites_and_keeps_their_cookies_apart(arena: Arena) -> None:
    async with (
        arena.hold(["notes", "other_notes"], logins={"notes": "ann"}) as one,
        arena.hold(["notes"]) as two,
        async_playwright() as playwright,
    ):
        browser = await playwright.chromium.launch(executable_path=str(find_chromium()), args=launch_flags())
        context = await browser.new_context()
        log_in = [{"name": c.name, "value": c.value, "domain": c.host, "path": "/"} for c in one.cookies]
        await context.add_cookies(log_in)
        page = await context.new_page()
        users = []
        for base in (one.bases["notes"], one.bases["other_notes"], two.bases["notes"]):
            answer = await page.goto(base + "/")
            users.append((await answer.json())["user"])
        await browser.close()
    assert users == ["ann", "", ""]

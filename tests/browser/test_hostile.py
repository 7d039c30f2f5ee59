"""Pages that mean harm, and a browser that dies."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.browser.conftest import Opener, Visit
from webassay.browser.devtools.cdp import CommandTimeout
from webassay.browser.devtools.chromium import find_chromium, launch_flags
from webassay.browser.session import MAX_TITLE, Browser, SessionSettings
from webassay.core.errors import BrowserError
from webassay.core.interaction import Action
from webassay.core.trajectory import Exchange

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_hostile_page_is_seen_as_it_is_and_sees_nothing(visit: Opener) -> None:
    async with visit("hostile.html") as page:
        seen = await page.see("tree", "boxes", "text", "html")
        tree = str(seen.tree)
        assert "import os" in seen.title
        assert len(tree.splitlines()) == 1 + sum(
            1 for node in seen.nodes[1:] if node.role != "StaticText" or f"StaticText {node.name!r}" in tree
        ), "no text of the page can make a line of its own"
        assert any("outside.localhost" in notice for notice in seen.notices)
        await page.do("click", seen.find("button").id)  # type: ignore[union-attr]
        log = await page.log()
        assert log.startswith("saw") and "own webassay attrs 1" in log, "its own global, and none of ours"
        for spied in ("box", "getAttribute", "elementFromPoint", "style", "title", "query", "WeakMap.get"):
            assert spied not in log.split(" own ")[0]


@pytest.mark.parametrize("name", ["A file", "Chrome's own", "Data", "Outside", "Outside by redirect"])
async def test_links_that_lead_out_lead_nowhere(visit: Opener, name: str) -> None:
    async with visit("hostile.html") as page:
        await page.click("link", name)
        seen = await page.see("tree", "text")
        text = str(seen.text)
        assert "root:" not in text and "Google Chrome" not in text and "Example Domain" not in text
        if name.startswith("Outside"):
            log = await page.exchanges()
            assert any(exchange.blocked and exchange.navigation for exchange in log)
        else:
            assert seen.url.startswith(page.base)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "chrome://settings", "chrome://crash", "data:text/html,hello", "javascript:alert(1)",
        "view-source:http://pages.localhost/", "devtools://devtools/bundled/inspector.html", "about:version", "",
        "http://outside.localhost/", "http://127.0.0.1:9/", "http://pages.localhost.evil.example/", "http://[",
        "http://pages.localhost@evil.example/", "blob:http://pages.localhost/x", "//pages.localhost/",
        "pages.localhost:80/", "http://pages.localhost:99999/",
    ],
)  # fmt: skip
async def test_addresses_that_are_not_opened(visit: Opener, url: str) -> None:
    async with visit("quiet.html") as page:
        assert "cannot be opened" in (await page.do("goto", url)).error
        assert (await page.see()).title == "Quiet"
        assert [exchange for exchange in await page.exchanges() if exchange.blocked]


async def test_other_ports_of_an_allowed_host_are_blocked(visit: Opener, port: int) -> None:
    async with visit("quiet.html", allowed_hosts={f"pages.localhost:{port}"}) as page:
        assert "cannot be opened" in (await page.do("goto", f"http://other.localhost:{port}/quiet.html")).error
        await page.do("goto", f"{page.base}/frames.html")
        blocked = [exchange.url.rpartition("/")[2] for exchange in await page.exchanges() if exchange.blocked]
        assert blocked == ["quiet.html", "frame_inner.html"]


async def test_a_page_that_crashes_is_an_event_not_an_end(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        tab.channel.post("Page.crash")
        assert await tab.until(lambda: tab.crashed, 10)
        seen = await page.see()
        assert seen.tree == "" and any("crashed" in notice for notice in seen.notices)
        assert "crashed" in (await page.do("keyboard_press", "Enter")).error
        assert (await page.do("goto", f"{page.base}/modal.html")).error == ""
        seen = await page.see()
        assert seen.title == "Modal dialogs" and len(seen.tabs) == 1


async def test_a_page_that_never_ends_its_script_can_be_left(visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webassay.browser.input.act._INPUT_TIMEOUT", 0.5)
    monkeypatch.setattr("webassay.browser.devtools.page.CALL_TIMEOUT", 1.0)
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        tab.channel.post("Runtime.evaluate", {"expression": "for (;;) {}"})
        with pytest.raises(CommandTimeout):
            await tab.channel.send("Runtime.evaluate", {"expression": "1"}, timeout=0.2)
        await page.do("keyboard_press", "Tab")
        assert (await page.see()).find("button", "Count") is not None


@asynccontextmanager
async def opened_and_hung(port: int, monkeypatch: pytest.MonkeyPatch, **bounds: float) -> AsyncIterator[Visit]:
    """A page that opens a tab and never ends its script. Where Chromium has as many processes as it wants, the tab
    shares that of the page, so it cannot answer either."""
    monkeypatch.setattr(
        "webassay.browser.session.launch_flags", lambda **how: [*launch_flags(**how), "--renderer-process-limit=1"]
    )
    async with Browser(find_chromium()) as browser, Opener(browser, port)("quiet.html") as page:
        hang = "count.onclick = () => { open('/modal.html', '_blank', 'noopener'); for (;;) {} }"
        await page.session._context.active.channel.send("Runtime.evaluate", {"expression": hang})
        button = await page.node("button", "Count")
        monkeypatch.setattr("webassay.browser.devtools.page.CALL_TIMEOUT", bounds["script"])
        monkeypatch.setattr("webassay.browser.tabs.context._SETUP_TIMEOUT", bounds["tab"])
        async with asyncio.timeout(90):
            await page.do("click", button.id)
        yield page


async def test_a_page_that_opens_a_tab_and_never_ends_its_script(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened_and_hung(port, monkeypatch, script=2.0, tab=60.0) as page:
        seen = await page.see()
        assert any("did not end within" in notice for notice in seen.notices)
        assert [tab.title for tab in seen.tabs] == ["Quiet", "Modal dialogs"] and seen.active_tab == 1
        await page.do("tab_focus", 0)
        assert (await page.see()).find("button", "Count") is not None


async def test_a_new_tab_that_does_not_answer_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened_and_hung(port, monkeypatch, script=6.0, tab=1.0) as page:
        seen = await page.see()
        assert "A new tab did not respond and was closed." in seen.notices
        assert [tab.title for tab in seen.tabs] == ["Quiet"]


async def test_half_a_surrogate_pair_never_gets_in(visit: Opener) -> None:
    """Such a string cannot be written as UTF-8: one in a title would make the whole trajectory unstorable."""
    async with visit("half_pairs.html", settings=SessionSettings(keep_secrets=True)) as page:
        for name in ("Throw \ufffd", "Ask", "Send"):
            assert (await page.click("button", name)).error == ""
        chosen = await page.do("select_option", (await page.node("combobox", "List")).id, "none such")
        seen = await page.see("tree", "pruned", "text", "html")
        assert seen.title == "\ufffd title \U0001f600" and seen.tabs[0].title == seen.title
        assert "StaticText 'text \ufffd and \U0001f600'" in str(seen.tree)
        assert seen.find("textbox", "Field").value == "\ufffd\U0001f600"  # type: ignore[union-attr]
        assert "text \ufffd and \U0001f600" in str(seen.text) and "text \ufffd and \U0001f600" in str(seen.html)
        assert 'it has "option \\ud800"' in chosen.error, "quoted, so already plain text"
        cookies, final = await page.session.cookies(), await page.session.final_page()
        log = await page.session.seal()
    assert "\ufffd title" in final.title
    posted = [Exchange.from_json(line) for line in log.splitlines() if b'"POST"' in line]
    assert [exchange.post_data for exchange in posted] == ["\ufffd\U0001f600"]
    repr([seen, chosen, cookies, final]).encode()


async def test_what_scripts_say_is_well_formed_too(visit: Opener) -> None:
    async with visit("half_pairs.html") as page:
        await page.click("button", "Throw \ufffd")
        await page.do("click", (await page.node("button", "Ask")).id)
        notices = (await page.see()).notices
        assert any("\ufffd alert \U0001f600" in notice for notice in notices)
        await page.click("button", "Throw \ufffd")
        assert any("\ufffd failed \U0001f600" in notice for notice in (await page.see()).notices)


async def test_very_long_texts_are_cut_and_the_agent_is_told(visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webassay.browser.session.MAX_TEXT", 100)
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        await tab.evaluate(tab.main_frame, "document.title = 't'.repeat(100000)")
        seen = await page.see("tree", "html")
        assert seen.title == "t" * MAX_TITLE + "…" and seen.tabs[0].title == seen.title
        assert sorted(seen.notices) == [
            "The page is very long: the end of its html was left out.",
            "The page is very long: the end of its tree was left out.",
        ]


async def test_endless_dialogs_do_not_hang(visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webassay.browser.input.act._INPUT_TIMEOUT", 1.0)
    monkeypatch.setattr("webassay.browser.devtools.page.CALL_TIMEOUT", 1.0)
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        tab.channel.post("Runtime.evaluate", {"expression": "for (;;) alert('again')"})
        await page.do("noop", 0)
        notices = (await page.see()).notices
        assert len(notices) <= 21 and any("again" in notice for notice in notices)
        assert (await page.do("goto", f"{page.base}/modal.html")).error == "", "the agent can go on elsewhere"
        assert (await page.see()).title == "Modal dialogs"


async def test_killed_browser_is_replaced(port: int) -> None:
    async with Browser(find_chromium()) as browser:
        hosts = {f"pages.localhost:{port}"}
        url = f"http://pages.localhost:{port}/quiet.html"
        with pytest.raises(BrowserError):
            async with browser.session(allowed_hosts=hosts) as session:
                await session.open([url])
                # The group: what was started may be a script around the browser.
                os.killpg(browser.pid, signal.SIGKILL)
                for _ in range(100):
                    await session.observe(("tree",))
        async with browser.session(allowed_hosts=hosts) as session:
            await session.open([url])
            assert (await session.observe(("tree",))).title == "Quiet"


async def test_a_mistake_of_ours_is_told_and_hangs_nobody(port: int) -> None:
    told: list[object] = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: told.append(context.get("exception")))
    url = f"http://pages.localhost:{port}/quiet.html"
    try:
        async with Browser(find_chromium()) as browser:
            with pytest.raises(BrowserError):
                async with browser.session(allowed_hosts={f"pages.localhost:{port}"}) as session:
                    await session.open([url])
                    session._context.active.channel.on("Page.frameNavigated", lambda params: params["not there"])
                    await session.act(Action.of("goto", url))
                    await session.observe(("tree",))
            async with browser.session(allowed_hosts={f"pages.localhost:{port}"}) as session:
                await session.open([url])
                assert (await session.observe(("tree",))).title == "Quiet"
    finally:
        loop.set_exception_handler(before)
    assert [type(error) for error in told] == [KeyError]


async def test_a_start_page_that_is_not_there_is_our_fault(browser: Browser) -> None:
    async with browser.session(allowed_hosts={"localhost:9"}) as session:
        with pytest.raises(BrowserError, match="could not be opened"):
            await session.open(["http://localhost:9/"])


async def test_peer_connections_reach_nobody(visit: Opener) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.setblocking(False)
        async with visit("quiet.html") as page:
            tab = page.session._context.active
            server = f"stun:127.0.0.1:{listening.getsockname()[1]}"
            asked = (
                f"const pc = new RTCPeerConnection({{ iceServers: [{{ urls: '{server}' }}] }});"
                "pc.createDataChannel('x'); pc.createOffer().then((offer) => pc.setLocalDescription(offer)).then(() =>"
                "new Promise((done) => { pc.onicecandidate = (event) => event.candidate || done('gathered') }))"
            )
            command = {"expression": asked, "awaitPromise": True, "returnByValue": True}
            result = await tab.channel.send("Runtime.evaluate", command)
            assert result["result"]["value"] == "gathered"
        with pytest.raises(BlockingIOError):
            listening.recv(1)


async def test_a_tab_that_leads_on_and_on_is_ended(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await page.do("goto", f"{page.base}/onward.html")
        assert any("more than 30 documents" in notice for notice in (await page.see()).notices)
        assert (await page.do("goto", f"{page.base}/modal.html")).error == ""
        assert (await page.see()).title == "Modal dialogs"


async def test_a_page_that_takes_too_much_memory_is_ended(visit: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webassay.browser.devtools.memory_guard.MAX_BYTES", 300 << 20)
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        tab.channel.post(
            "Runtime.evaluate",
            {"expression": "held = []; setInterval(() => held.push(new Uint8Array(3e7).fill(7)), 20)"},
        )
        assert await tab.until(lambda: tab.crashed, 30)
        assert any("too much memory" in notice for notice in (await page.see()).notices)
        assert (await page.do("goto", f"{page.base}/modal.html")).error == ""


async def test_chromium_dies_with_its_runner() -> None:
    """Even a runner that was killed, and a browser that has no time to notice."""
    program = (
        "import asyncio, sys\n"
        "from webassay.browser.devtools.chromium import find_chromium\n"
        "from webassay.browser.session import Browser\n"
        "async def main():\n"
        "    async with Browser(find_chromium()) as browser:\n"
        "        print(browser.pid, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    runner = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    group = int(await runner.stdout.readline())
    runner.kill()
    await runner.wait()
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("Chromium outlived its runner")


async def test_a_page_that_learns_the_name_of_an_event_has_learned_nothing(visit: Opener) -> None:
    async with visit("eavesdropper.html") as page:
        await page.see()
        tab = page.session._context.active
        result = await tab.channel.send("Runtime.evaluate", {"expression": "lie()", "returnByValue": True})
        assert result["result"]["value"] > 0, "it has seen names"
        tree = str((await page.see()).tree)
        assert "clickable" not in tree
        assert "StaticText 'Nothing happens here'" in tree


async def test_messages_on_the_console_keep_nobody_waiting(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        tab = page.session._context.active
        heard: list[object] = []
        tab.channel.on("Runtime.consoleAPICalled", heard.append)
        write = "for (let n = 0; n < 50000; n += 1) console.log('x')"
        await tab.channel.send("Runtime.evaluate", {"expression": write})
        assert 0 < len(heard) < 5000

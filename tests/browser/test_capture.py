"""The network log: whole, in order, sealed."""

import base64

import pytest

from tests.browser.conftest import Opener
from webassay.browser.session import SessionSettings
from webassay.core.interaction import Cookie

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_bodies_are_whole(visit: Opener) -> None:
    async with visit("fetches.html") as page:
        await page.click("button", "Old style")
        await page.click("button", "Send a megabyte")
        await page.click("button", "Worker")
        await page.click("button", "Worker of a worker")
        log = {exchange.url.partition("/api/")[2]: exchange for exchange in await page.exchanges()}
    assert log["echo?delay=100&say=xhr"].post_data == "field=value"
    blob = log["size"]
    assert blob.post_data_base64 and blob.post_data is not None
    assert base64.b64decode(blob.post_data) == bytes(n % 251 for n in range(1024 * 1024))
    assert log["echo?say=worker"].post_data == "from the worker"
    assert log["echo?say=worker"].status == 200
    assert log["echo?say=nested"].post_data == "from the inner worker"
    assert log["echo?say=nested"].status == 200


async def test_order_redirects_failures_and_blocks(visit: Opener) -> None:
    async with visit("fetches.html") as page:
        for button in ("Redirect", "Fail", "Broken connection", "Outside"):
            await page.click("button", button)
        await page.do("goto", "file:///etc/passwd")
        log = await page.exchanges()
    assert [exchange.id for exchange in log] == [str(n + 1) for n in range(len(log))]
    assert [exchange.time for exchange in log] == sorted(exchange.time for exchange in log)
    assert log[0].navigation and log[0].resource_type == "document" and log[0].status == 200
    by_path = {exchange.url.partition("localhost")[2].partition("/")[2] or exchange.url: exchange for exchange in log}
    redirect, landed = by_path["api/redirect?to=/api/echo?say=there"], by_path["api/echo?say=there"]
    assert redirect.status == 302 and redirect.response_headers["location"] == "/api/echo?say=there"
    assert landed.redirected_from == redirect.id and landed.status == 200
    assert by_path["api/status?code=500"].status == 500
    broken = by_path["api/hangup"]
    assert broken.status is None and broken.error and not broken.blocked
    outside = next(exchange for exchange in log if "outside.localhost" in exchange.url)
    assert outside.blocked and outside.status is None and outside.error.startswith("blocked")
    assert next(exchange for exchange in log if exchange.url.startswith("file:")).blocked


async def test_popups_and_frames_are_in_the_log(visit: Opener) -> None:
    async with visit("popup.html") as page:
        await page.click("link", "Open in a new tab")
        await page.do("goto", f"{page.base}/frames.html")
        log = await page.exchanges()
    documents = [
        (exchange.url.rpartition("/")[2], exchange.tab) for exchange in log if exchange.resource_type == "document"
    ]
    assert documents[:3] == [("popup.html", 0), ("frame_inner.html", 1), ("frames.html", 1)]
    assert sorted(documents[3:]) == [("frame_inner.html", 1), ("frame_inner.html", 1), ("frame_middle.html", 1)]
    assert [exchange.navigation for exchange in log if exchange.resource_type == "document"][:3] == [True] * 3


async def test_nothing_after_the_seal(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        before = await page.session.seal()
        assert await page.session.read_locator(f"{page.base}/modal.html", "document.title") == "Modal dialogs"
        assert (
            await page.session.read_locator(f"{page.base}/modal.html", "document.querySelector('#none').textContent")
            == ""
        )
        assert await page.session.seal() == before
        assert (await page.session.final_page()).title == "Quiet"


async def test_cookies_in_and_out_and_never_in_the_log(visit: Opener, port: int) -> None:
    cookies = [Cookie("session", "s3cret", "pages.localhost")]
    async with visit("quiet.html", cookies=cookies) as page:
        await page.do("goto", f"{page.base}/api/whoami")
        assert "session=s3cret" in str((await page.see()).tree)
        await page.do("goto", f"{page.base}/api/cookie")
        assert {(c.name, c.value, c.host) for c in await page.session.cookies()} == {
            ("session", "s3cret", "pages.localhost"),
            ("flavour", "vanilla", "pages.localhost"),
        }
        log = await page.session.seal()
    assert b"s3cret" not in log and b"vanilla" not in log
    async with visit("quiet.html", cookies=cookies, settings=SessionSettings(keep_secrets=True)) as page:
        kept = await page.exchanges()
    assert kept[0].request_headers["cookie"] == "session=s3cret"


async def test_sessions_do_not_share_anything(visit: Opener) -> None:
    async with (
        visit("quiet.html", cookies=[Cookie("who", "first", "pages.localhost")]) as one,
        visit("quiet.html") as two,
    ):
        await one.do("goto", f"{one.base}/api/whoami")
        await two.do("goto", f"{two.base}/api/whoami")
        assert "who=first" in str((await one.see()).tree)
        assert "nobody" in str((await two.see()).tree)
        assert len(await one.exchanges()) == len(await two.exchanges()) == 2

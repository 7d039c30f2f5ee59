"""What passes the DevTools of a session and what does not, without a browser."""

import asyncio
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.browser.devtools.rules import FORBIDDEN, TARGET_METHODS, Answered, Forbidden, HangUp, Rules
from webassay.browser.devtools.websocket import BrokenSocket, HttpRequest, WebSocket, accepted, read_request
from webassay.core.errors import ActionError

MINE, OTHER = "A" * 32, "B" * 32


def no_uploads(names: object) -> list[str]:
    raise ActionError("This task does not allow uploads.")


RULES = Rules(
    MINE,
    "/downloads",
    no_uploads,
    {
        "mine": {"targetId": "mine", "type": "page", "browserContextId": MINE},
        "other": {"targetId": "other", "type": "page", "browserContextId": OTHER},
        "nobody's": {"targetId": "nobody's", "type": "page"},
    },
)


def allowed(method: str, params: dict[str, Any] | None = None, *, browser: bool = False) -> dict[str, Any]:
    """The parameters as they are passed on."""
    given = dict(params or {})
    RULES.check(method, given, browser=browser)
    return given


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "FILE:///etc/passwd", " file:///etc/passwd", "fi\tle:///etc/passwd", "ftp://host/",
        "\x01file:///etc/passwd", "chrome://version", "chrome-untrusted://x", "chrome-extension://x/y",
        "devtools://devtools/bundled/inspector.html", "view-source:http://shop/", "view-source:file:///etc/passwd",
        "filesystem:http://shop/x", "javascript:alert(1)", "about:version",
    ],
)  # fmt: skip
def test_only_addresses_of_the_web_are_opened(url: str) -> None:
    for method, browser in (("Page.navigate", False), ("Target.createTarget", True), ("Target.createTarget", False)):
        with pytest.raises(Forbidden, match="cannot be opened"):
            allowed(method, {"url": url}, browser=browser)


@pytest.mark.parametrize(
    "url", ["http://shop/", "https://shop/", "about:blank", "", "data:text/html,x", "blob:http://x"]
)
def test_addresses_of_the_web_are_opened(url: str) -> None:
    assert allowed("Page.navigate", {"url": url}) == {"url": url}


@given(st.text(max_size=30), st.booleans())
def test_what_is_not_known_is_refused(name: str, browser: bool) -> None:
    for domain in ("Browser", "SystemInfo", "Tethering", "Tracing", "Extensions", "FileSystem", "Target", name):
        method = f"{domain}.x{name}"
        if domain not in ("Target", "Browser") and not browser:
            continue
        with pytest.raises(Forbidden):
            allowed(method, browser=browser)


@pytest.mark.parametrize("method", FORBIDDEN)
@pytest.mark.parametrize("browser", [True, False])
def test_what_is_forbidden_is_refused_with_a_reason(method: str, browser: bool) -> None:
    with pytest.raises(Forbidden, match="is refused: "):
        allowed(method, browser=browser)


@given(st.sampled_from(sorted(TARGET_METHODS)), st.sampled_from(["other", "nobody's", "unheard of"]), st.booleans())
def test_targets_of_others_do_not_exist(method: str, target: str, browser: bool) -> None:
    with pytest.raises(Forbidden):
        allowed(method, {"targetId": target, "flatten": True}, browser=browser)


@pytest.mark.parametrize("method", ["Storage.getCookies", "Storage.setCookies", "Browser.grantPermissions"])
def test_the_default_context_is_the_session(method: str) -> None:
    assert allowed(method, {}, browser=True)["browserContextId"] == MINE
    with pytest.raises(Forbidden):
        allowed(method, {"browserContextId": OTHER}, browser=True)


def test_new_tabs_are_in_the_session_and_known_by_no_context() -> None:
    assert allowed("Target.createTarget", {"url": "about:blank"}, browser=True)["browserContextId"] == MINE
    with pytest.raises(Answered):
        allowed("Target.getBrowserContexts", browser=True)


def test_targets_of_others_are_not_listed() -> None:
    post = RULES.check("Target.getTargets", {}, browser=True)
    assert post({"targetInfos": list(RULES.targets.values())}) == {"targetInfos": [RULES.targets["mine"]]}


def test_files_come_from_the_upload_folder_and_go_to_ours() -> None:
    for method, params in (
        ("DOM.setFileInputFiles", {"files": ["/etc/passwd"]}),
        ("DOM.setFileInputFiles", {"files": "/etc/passwd"}),
        ("Input.dispatchDragEvent", {"data": {"files": ["/etc/passwd"]}}),
    ):
        with pytest.raises(Forbidden):
            allowed(method, params)
    told = allowed("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/etc"}, browser=True)
    assert told["downloadPath"] == "/downloads" and told["browserContextId"] == MINE
    with pytest.raises(Answered):
        allowed("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/etc"})


def test_requests_go_on_or_fail_as_they_are() -> None:
    assert allowed("Fetch.enable", {"patterns": []}) == {"patterns": []}
    assert allowed("Fetch.continueRequest", {"requestId": "1"}) == {"requestId": "1"}
    assert allowed("Fetch.failRequest", {"requestId": "1", "errorReason": "Aborted"})
    for params in ({"url": "http://shop/x"}, {"method": "POST"}, {"postData": ""}):
        with pytest.raises(Forbidden, match="may not be changed"):
            allowed("Fetch.continueRequest", {"requestId": "1", **params})
    with pytest.raises(Forbidden):
        allowed("Fetch.continueResponse", {"requestId": "1", "responseCode": 200})


def test_closing_the_browser_hangs_up() -> None:
    with pytest.raises(HangUp):
        allowed("Browser.close", browser=True)


def test_drivers_get_what_they_need() -> None:
    for method in (
        "Runtime.evaluate",
        "Page.addScriptToEvaluateOnNewDocument",
        "Input.dispatchMouseEvent",
        "DOM.enable",
    ):
        allowed(method)
    for method in ("Browser.getVersion", "Target.setDiscoverTargets"):
        allowed(method, browser=True)
    allowed("Target.setAutoAttach", {"autoAttach": True, "flatten": True}, browser=True)


# --- the WebSocket --------------------------------------------------------------------------------------------


class Wire:
    """The end that a server writes to."""

    def __init__(self) -> None:
        self.sent = b""
        self.transport = self

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        pass


def frame(data: bytes, kind: int, mask: bytes, *, last: bool = True) -> bytes:
    size = len(data)
    head = struct.pack(">B", (0x80 if last else 0) | kind)
    if size < 126:
        head += struct.pack(">B", 0x80 | size)
    elif size < 1 << 16:
        head += struct.pack(">BH", 0x80 | 126, size)
    else:
        head += struct.pack(">BQ", 0x80 | 127, size)
    return head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))


async def heard(*frames: bytes) -> tuple[bytes, bytes]:
    reader, wire = asyncio.StreamReader(), Wire()
    reader.feed_data(b"".join(frames))
    reader.feed_eof()
    return await WebSocket(reader, wire).receive(), wire.sent  # type: ignore[arg-type]


@given(st.lists(st.binary(max_size=400), min_size=1, max_size=4), st.binary(min_size=4, max_size=4))
def test_what_a_client_says_arrives(parts: list[bytes], mask: bytes) -> None:
    frames = [
        frame(part, 1 if place == 0 else 0, mask, last=place == len(parts) - 1) for place, part in enumerate(parts)
    ]
    frames.insert(len(parts) // 2, frame(b"there?", 9, mask))
    said, answered = asyncio.run(heard(*frames))
    assert said == b"".join(parts)
    assert answered == b"\x8a\x06there?" or len(parts) == 1


@given(st.binary(max_size=200))
def test_nonsense_is_hung_up_on(data: bytes) -> None:
    try:
        asyncio.run(heard(data))
    except BrokenSocket:
        return
    assert data[0] & 0x0F in (0, 1, 2, 9, 10)


async def test_a_message_that_is_too_long_is_not_read() -> None:
    with pytest.raises(BrokenSocket, match="too long"):
        await heard(struct.pack(">BBQ", 0x81, 0x80 | 127, 1 << 40))


def test_the_handshake_is_that_of_the_standard() -> None:
    request = HttpRequest("GET", "/", {"upgrade": "websocket", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="})
    assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in accepted(request)


async def test_a_request_that_is_none_is_refused() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"hello\r\n\r\n")
    with pytest.raises(BrokenSocket):
        await read_request(reader)


def test_no_chromium_has_a_port() -> None:
    for path in (Path(__file__).parents[2] / "src").rglob("*.py"):
        assert "remote-debugging-port" not in path.read_text(), path

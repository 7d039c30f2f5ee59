"""For people to look at afterwards: a video of a session, and a trace of everything exchanged with Chromium.

Both are written as things happen, so that a session that breaks still leaves a record.
"""

import json
import time
from pathlib import Path
from typing import Any

from webassay.browser.devtools.cdp import Channel, Params
from webassay.browser.devtools.page import TabPage

_LONGEST_TEXT = 2000

_PLAYER = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Film of a session</title>
<style>
  body { font: 15px system-ui, sans-serif; margin: 16px; background: #f4f4f2; color: #222 }
  img { max-width: 100%; border: 1px solid #bbb; background: #fff; display: block }
  form { display: flex; gap: 12px; align-items: center; margin: 8px 0 }
  input[type=range] { flex: 1 }
  #said { min-height: 1.4em; font-family: ui-monospace, monospace }
</style>
<form onsubmit="return false">
  <button id="play">Play</button>
  <input id="at" type="range" min="0" value="0" aria-label="Time">
  <output id="clock"></output>
</form>
<div id="said"></div>
<img id="picture" alt="The page at this moment">
<script>
  const frames = [], captions = [];
  const frame = (time, picture) => frames.push([time, picture]);
  const caption = (time, text) => captions.push([time, text]);
  let timer = null;
  const show = () => {
    const [time, picture] = frames[at.value] ?? [0, ''];
    document.getElementById('picture').src = picture && 'data:image/jpeg;base64,' + picture;
    clock.textContent = time.toFixed(1) + ' s';
    said.textContent = (captions.filter(([when]) => when <= time).pop() ?? [0, ''])[1];
  };
  const step = () => {
    const now = Number(at.value);
    if (now + 1 >= frames.length) { timer = null; play.textContent = 'Play'; return; }
    const pause = Math.min(1500, (frames[now + 1][0] - frames[now][0]) * 1000);
    timer = setTimeout(() => { at.value = now + 1; show(); step(); }, pause);
  };
  play.onclick = () => {
    if (timer !== null) { clearTimeout(timer); timer = null; play.textContent = 'Play'; return; }
    if (Number(at.value) + 1 >= frames.length) at.value = 0;
    play.textContent = 'Pause'; step();
  };
  at.oninput = show;
  addEventListener('load', () => { at.max = Math.max(0, frames.length - 1); show(); });
</script>
"""


class Film:
    """The tab in front, frame by frame, in one self-contained HTML file that plays in any browser."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.film.html"
        self._file = self.path.open("w", encoding="utf-8")
        self._file.write(_PLAYER)
        self._started = time.monotonic()
        self._page: TabPage | None = None
        self._document = -1

    def follow(self, page: TabPage) -> None:
        """Call again whenever the document may have changed: the new one's first frames can get lost otherwise."""
        if page.crashed or (page is self._page and page.document == self._document):
            return
        if self._page is not None and not self._page.closed:
            self._page.channel.post("Page.stopScreencast")
        self._page, self._document = page, page.document
        page.channel.on("Page.screencastFrame", lambda params: self._frame(page.channel, params))
        page.channel.post("Page.startScreencast", {"format": "jpeg", "quality": 60, "everyNthFrame": 1})

    def _frame(self, channel: Channel, params: Params) -> None:
        channel.post("Page.screencastFrameAck", {"sessionId": params["sessionId"]})
        self._say("frame", params["data"])

    def caption(self, text: str) -> None:
        self._say("caption", text)

    def _say(self, function: str, text: str) -> None:
        if not self._file.closed:
            # Escape `<`, so that no page text can end the script.
            quoted = json.dumps(text).replace("<", "\\u003c")
            self._file.write(f"<script>{function}({time.monotonic() - self._started:.3f}, {quoted})</script>\n")

    def close(self) -> None:
        self._file.close()


class Trace:
    """Every command and event of a session, one JSON object per line; long texts are cut."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.trace.jsonl"
        self._file = self.path.open("w", encoding="utf-8")
        self._started = time.monotonic()

    def write(self, kind: str, method: str, params: Params) -> None:
        if not self._file.closed:
            line = {"time": round(time.monotonic() - self._started, 4), "kind": kind, "method": method}
            self._file.write(json.dumps({**line, "params": _short(params)}) + "\n")

    def close(self) -> None:
        self._file.close()


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}... ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner) for inner in value]
    return value

"""An honest program on browser-use: looks, clicks links, searches, goes back, through its own session and events.

It runs in an environment of its own, which has browser-use and not webassay.
"""

import asyncio
import json
import os
import random
import sys

os.environ["ANONYMIZED_TELEMETRY"] = "false"
os.environ["BROWSER_USE_LOGGING_LEVEL"] = "result"

from browser_use import BrowserSession
from browser_use.browser.events import ClickElementEvent, GoBackEvent, SendKeysEvent, TypeTextEvent

STEPS = 6


async def main() -> None:
    told = json.loads(sys.stdin.readline())
    draw = random.Random(told["instruction"])
    session = BrowserSession(cdp_url=told["cdp"])
    await session.start()
    for step in range(STEPS):
        state = await session.get_browser_state_summary()
        nodes = list(state.dom_state.selector_map.values())
        fields = [
            node for node in nodes if node.tag_name == "input" and node.attributes.get("type") in ("text", "search")
        ]
        links = [node for node in nodes if node.tag_name == "a" and node.attributes.get("href", "").startswith("/")]
        if step % 3 == 1 and fields:
            await done(session, TypeTextEvent(node=fields[0], text="lamp"))
            await done(session, SendKeysEvent(keys="Enter"))
        elif step == STEPS - 1:
            await done(session, GoBackEvent())
        elif links:
            await done(session, ClickElementEvent(node=draw.choice(links)))
    print(json.dumps({"action": "retrieve", "status": "UNKNOWN_ERROR", "results": None}), flush=True)
    os._exit(0)


async def done(session: BrowserSession, event: object) -> None:
    waiting = session.event_bus.dispatch(event)
    await waiting
    await waiting.event_result(raise_if_any=False, raise_if_none=False)


asyncio.run(main())

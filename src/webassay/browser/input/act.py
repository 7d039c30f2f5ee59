"""Performs one action. The agent's mistakes are `ActionError`s, worded for the agent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from webassay.browser.devtools.cdp import CommandRefused, CommandTimeout, Params
from webassay.browser.devtools.page import PageFrame, TabPage
from webassay.browser.input import keys
from webassay.browser.input.drag import drag_natively
from webassay.browser.input.typist import Typist
from webassay.browser.look.frames import inner_frame
from webassay.browser.look.observe import Box, owner_of, split_id
from webassay.browser.tabs.context import Context
from webassay.core.errors import ActionError
from webassay.core.interaction import Action

MAX_NOOP = 60.0
_INPUT_TIMEOUT = 15.0
_DRAG_STEPS = 6
_SCROLL_LOOKS = 8
"""A page may need a few frames until it follows the wheel."""
_BUTTONS = {"left": 1, "right": 2, "middle": 4}


class InputController:
    """Mouse and keyboard of one session; remembers where the mouse is and which keys are held."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._x = 0.0
        self._y = 0.0
        self._buttons = 0
        self._held: list[str] = []
        self._drag: asyncio.Future[Params] | None = None
        self._actions: dict[str, Callable[[Action], Awaitable[None]]] = {
            "noop": self._noop,
            "click": self._click_element,
            "dblclick": self._double_click_element,
            "hover": self._hover,
            "scroll": self._scroll,
            "scroll_at": self._scroll_at,
            "drag_and_drop": self._drag_and_drop,
            "mouse_move": self._mouse_move,
            "mouse_down": self._mouse_down,
            "mouse_up": self._mouse_up,
            "mouse_click": self._mouse_click,
            "mouse_dblclick": self._mouse_double_click,
            "mouse_drag_and_drop": self._mouse_drag_and_drop,
            "press": self._press_on_element,
            "keyboard_press": self._keyboard_press,
            "keyboard_down": self._keyboard_down,
            "keyboard_up": self._keyboard_up,
            "keyboard_type": self._keyboard_type,
            "keyboard_insert_text": self._keyboard_insert_text,
            "focus": self._focus,
            "fill": self._fill_field,
            "clear": self._clear_field,
            "select_option": self._select_option,
            "upload_file": self._upload_file,
            "mouse_upload_file": self._mouse_upload_file,
            "goto": self._goto,
            "go_back": self._go_back,
            "go_forward": self._go_forward,
            "new_tab": self._new_tab,
            "tab_close": self._tab_close,
            "tab_focus": self._tab_focus,
        }

    async def perform(self, action: Action) -> None:
        method = self._actions.get(action.name)
        if method is None:
            raise ActionError(f"{action.name} is not a browser action.")
        try:
            await method(action)
        except CommandRefused as error:
            raise ActionError(f"{action.name} failed: {error}.") from error
        except CommandTimeout as error:
            raise ActionError(f"{action.name}: the page did not respond; it may be stuck.") from error

    async def aims(self, action: Action, origin: tuple[float, float]) -> dict[str, Box]:
        """Where the elements stand that the action names, before anything is scrolled; for people who look at the
        record. Those that are not there are left out: why is for `perform` to say."""
        found: dict[str, Box] = {}
        for name in ("bid", "from_bid", "to_bid"):
            if action.args.get(name):
                with contextlib.suppress(ActionError, CommandRefused, CommandTimeout):
                    frame, number = self._frame(action.get(name))
                    box = await self._page.call(frame, "place", number)
                    if box is not None:
                        left, top = await self._on_page(frame, box["x"], box["y"])
                        right, bottom = await self._on_page(frame, box["x"] + box["width"], box["y"] + box["height"])
                        place = (origin[0] + left, origin[1] + top, right - left, bottom - top)
                        found[name] = tuple(round(one, 1) for one in place)  # type: ignore[assignment]
        return found

    @property
    def _page(self) -> TabPage:
        return self._context.active

    # --- finding elements ------------------------------------------------------------------------------

    def _frame(self, element_id: str) -> tuple[PageFrame, int]:
        parts = split_id(element_id)
        if parts is None:
            raise ActionError(
                f"{element_id!r:.80} is not an element id.", hint="Use an id from the tree, in brackets there."
            )
        prefix, number = parts
        for frame in self._page.frames.values():
            if frame.prefix == prefix and frame.world is not None:
                return frame, number
        raise ActionError(f"There is no element [{element_id}] on this page.", hint="Use an id from the latest tree.")

    async def _gone(self, element_id: str, frame: PageFrame, number: int) -> ActionError:
        """What became of an id that is not there, as far as can be told."""
        lost = await self._page.call(frame, "missing", number)
        was = lost["was"]
        if not was:
            return ActionError(
                f"There is no element [{element_id}] on this page.", hint="Use an id from the latest tree."
            )
        there = ", ".join(f"[{frame.prefix}{one['id']}] {one['role']} {one['name']!r}" for one in lost["now"])
        return ActionError(
            f"There is no element [{element_id}] on this page any more: it was {was['role']} {was['name']!r:.120}, and "
            "the page changed since it was seen.",
            hint=f"Look again. The nearest that is there now: {there}." if there else "Look again.",
        )

    async def _ask(self, element_id: str, function: str, *args: Any) -> Params:
        frame, number = self._frame(element_id)
        answer = await self._page.call(frame, function, number, *args, wait=True)
        error = answer.get("error")
        if error == "gone":
            raise await self._gone(element_id, frame, number)
        if error:
            raise ActionError(f"Element [{element_id}]: {error}")
        return dict(answer)

    async def _locate(self, element_id: str, *, anything: bool = False, scroll: bool = True) -> tuple[float, float]:
        frame, _ = self._frame(element_id)
        width, height = self._context.settings.viewport
        if scroll:
            await self._show(frame)
        for scrolling in ("if needed", "always") if scroll else ("never",):
            point = await self._ask(element_id, "locate", anything, scrolling)
            x, y = await self._on_page(frame, point["x"], point["y"])
            # It may be in view of its own frame and still out of view of the page.
            if 0 <= x < width and 0 <= y < height:
                return x, y
        raise ActionError(f"Element [{element_id}]: It cannot be scrolled into view.")

    async def _show(self, frame: PageFrame) -> None:
        """Scrolls the frame itself into view, outermost first; fails if nobody can use it now."""
        chain: list[PageFrame] = []
        while frame.parent and frame.parent in self._page.frames:
            chain.append(frame)
            frame = self._page.frames[frame.parent]
        for inner in reversed(chain):
            owner = await owner_of(self._page, inner)
            parent = self._page.frames[inner.parent]
            if owner["id"]:
                error = (await self._page.call(parent, "showFrame", owner["id"])).get("error")
                if error:
                    raise ActionError(f"The frame around it, [{parent.prefix or ''}{owner['id']}]: {error}")

    async def _on_page(self, frame: PageFrame, x: float, y: float) -> tuple[float, float]:
        """Where a point of this frame is in the page's viewport."""
        while frame.parent and frame.parent in self._page.frames:
            owner = await owner_of(self._page, frame)
            x, y = owner["left"] + x * owner["across"], owner["top"] + y * owner["down"]
            frame = self._page.frames[frame.parent]
        return x, y

    # --- mouse -----------------------------------------------------------------------------------------

    def _modifiers(self) -> int:
        return sum(keys.MODIFIERS.get(name, 0) for name in self._held)

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> asyncio.Future[Params]:
        self._x, self._y = x, y
        held = next((name for name, bit in _BUTTONS.items() if self._buttons & bit), "none")
        command = {
            "type": kind,
            "x": x,
            "y": y,
            "modifiers": self._modifiers(),
            "buttons": self._buttons,
            "button": held,
            **more,
        }
        return self._page.channel.post("Input.dispatchMouseEvent", command)

    async def _all(self, futures: Sequence[asyncio.Future[Params]]) -> None:
        """Waits until the page has handled the events. If the page goes away, the wait ends without an
        error: a click may close its own tab, or open another document in it."""
        page = self._page
        waiting = asyncio.gather(*futures, return_exceptions=True)
        try:
            async with asyncio.timeout(_INPUT_TIMEOUT):
                await waiting
        except TimeoutError:
            if page.closed or page.crashed:
                return
            raise CommandTimeout("the page did not respond") from None

    async def _click(self, x: float, y: float, button: str = "left", count: int = 1) -> None:
        bit = _BUTTONS[button]
        futures = [self._mouse("mouseMoved", x, y)]
        for click in range(1, count + 1):
            self._buttons |= bit
            futures.append(self._mouse("mousePressed", x, y, button=button, clickCount=click))
            self._buttons &= ~bit
            futures.append(self._mouse("mouseReleased", x, y, button=button, clickCount=click))
        await self._all(futures)

    @contextlib.asynccontextmanager
    async def _holding(self, names: Sequence[str]) -> AsyncIterator[None]:
        for name in names:
            if keys.key_named(name).key not in keys.MODIFIERS:
                raise ActionError(f"{name!r} is not a modifier.", hint="Use Alt, Control, Meta, Shift.")
        async with self._down(names):
            yield

    async def _click_element(self, action: Action) -> None:
        x, y = await self._locate(action.get("bid"))
        async with self._holding(action.get("modifiers")):
            await self._click(x, y, action.get("button"))

    async def _double_click_element(self, action: Action) -> None:
        x, y = await self._locate(action.get("bid"))
        async with self._holding(action.get("modifiers")):
            await self._click(x, y, action.get("button"), 2)

    async def _hover(self, action: Action) -> None:
        x, y = await self._locate(action.get("bid"), anything=True)
        await self._all([self._mouse("mouseMoved", x, y)])

    async def _mouse_move(self, action: Action) -> None:
        x, y = self._point(action)
        await self._all([self._mouse("mouseMoved", x, y)])

    def _point(self, action: Action, prefix: str = "") -> tuple[float, float]:
        x, y = float(action.get(f"{prefix}x")), float(action.get(f"{prefix}y"))
        width, height = self._context.settings.viewport
        if not (0 <= x < width and 0 <= y < height):
            raise ActionError(f"The point ({x:g}, {y:g}) is outside the viewport, which is {width} by {height}.")
        return x, y

    async def _mouse_click(self, action: Action) -> None:
        await self._click(*self._point(action), action.get("button"))

    async def _mouse_double_click(self, action: Action) -> None:
        await self._click(*self._point(action), action.get("button"), 2)

    async def _mouse_down(self, action: Action) -> None:
        x, y = self._point(action)
        button = action.get("button")
        moved = self._mouse("mouseMoved", x, y)
        self._buttons |= _BUTTONS[button]
        await self._all([moved, self._mouse("mousePressed", x, y, button=button, clickCount=1)])

    async def _mouse_up(self, action: Action) -> None:
        x, y = self._point(action)
        button = action.get("button")
        moved = self._mouse("mouseMoved", x, y)
        self._buttons &= ~_BUTTONS[button]
        await self._all([moved, self._mouse("mouseReleased", x, y, button=button, clickCount=1)])

    # --- scrolling -------------------------------------------------------------------------------------

    async def _scroll(self, action: Action) -> None:
        right, down, element_id = action.get("delta_x"), action.get("delta_y"), action.get("bid")
        if element_id:
            await self._scroll_region(element_id, right, down)
            return
        width, height = self._context.settings.viewport
        x, y = (self._x, self._y) if self._x or self._y else (width / 2, height / 2)
        await self._wheel(x, y, right, down)

    async def _scroll_region(self, element_id: str, right: float, down: float) -> None:
        frame, number = self._frame(element_id)
        seen = await self._ask(element_id, "scrollRegion", right, down)
        if "frame" not in seen:
            self._say_what_scrolled(frame, seen)
            return
        inner = await inner_frame(self._page, frame, seen["frame"])
        if inner is None:
            raise ActionError(f"Element [{element_id}]: There is no document in this frame to scroll.")
        moved = await self._page.call(inner, "scrollDocument", right, down, wait=True)
        self._say_what_scrolled(inner, moved, page=f"[{frame.prefix or ''}{number}]")

    async def _scroll_at(self, action: Action) -> None:
        await self._wheel(*self._point(action), action.get("dx"), action.get("dy"))

    async def _wheel(self, x: float, y: float, right: float, down: float) -> None:
        page = self._page
        under = await self._frames_under(x, y)
        await self._all([self._mouse("mouseWheel", x, y, deltaX=right, deltaY=down)])
        # A page may react to the wheel by going elsewhere; then there is nothing to say.
        with contextlib.suppress(CommandRefused):
            for _ in range(_SCROLL_LOOKS):
                seen = [(frame, await page.call(frame, "afterScroll", wait=True)) for frame in reversed(under)]
                told = next((one for one in seen if one[1]["moved"]), seen[-1])
                if told[1]["moved"]:
                    break
            self._say_what_scrolled(*told)

    async def _frames_under(self, x: float, y: float) -> list[PageFrame]:
        """The main frame, and the frames inside each other at this point."""
        frames = [self._page.main_frame]
        while True:
            hit = await self._page.call(frames[-1], "beforeScroll", x, y)
            inner = await inner_frame(self._page, frames[-1], hit["frame"]) if hit["frame"] >= 0 else None
            if inner is None:
                return frames
            x, y = (x - hit["left"]) / hit["across"], (y - hit["top"]) / hit["down"]
            frames.append(inner)

    def _say_what_scrolled(self, frame: PageFrame, seen: Params, page: str = "") -> None:
        """`page`: what to call the whole document of this frame."""
        if "at" not in seen:
            return
        page = page or ("" if frame.parent else "the page")
        what = (page if seen["page"] else "") or seen["what"]
        if seen["id"] and not seen["page"]:
            what = f"[{frame.prefix or ''}{seen['id']}]"
        (left, top), (most_left, most_top) = seen["at"], seen["most"]
        place = f"{top:g} of {most_top:g} pixels down"
        if most_left > 0:
            place += f", {left:g} of {most_left:g} to the right"
        if seen["moved"]:
            self._context.notice(f"Scrolled {what}: now {place}.")
        else:
            self._context.notice(f"Nothing scrolled; {what} stays {place}.")

    # --- dragging --------------------------------------------------------------------------------------

    async def _drag_and_drop(self, action: Action) -> None:
        start_id, end_id = action.get("from_bid"), action.get("to_bid")
        await self._locate(start_id)
        # Both must be in view at once: scroll to the target first, then back towards the start as far as needed.
        await self._locate(end_id, anything=True)
        start = await self._locate(start_id)
        end = await self._locate(end_id, anything=True, scroll=False)
        await self._drag_between(start, end)

    async def _mouse_drag_and_drop(self, action: Action) -> None:
        await self._drag_between(self._point(action, "from_"), self._point(action, "to_"))

    async def _drag_between(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        page = self._page
        self._drag = asyncio.get_running_loop().create_future()
        page.channel.on("Input.dragIntercepted", self._dragged)
        await page.channel.send("Input.setInterceptDrags", {"enabled": True})
        try:
            moved = self._mouse("mouseMoved", *start)
            self._buttons |= 1
            await self._all([moved, self._mouse("mousePressed", *start, button="left", clickCount=1)])
            steps = [
                (start[0] + (end[0] - start[0]) * n / _DRAG_STEPS, start[1] + (end[1] - start[1]) * n / _DRAG_STEPS)
                for n in range(1, _DRAG_STEPS + 1)
            ]
            for n, point in enumerate(steps):
                # One at a time: once the page starts a native drag, there are no more mouse events.
                await self._all([self._mouse("mouseMoved", *point)])
                if self._drag.done():
                    await drag_natively(page, self._drag.result(), steps[n:], self._modifiers(), self._all)
                    break
            self._buttons &= ~1
            await self._all([self._mouse("mouseReleased", *end, button="left", clickCount=1)])
        finally:
            self._buttons &= ~1
            self._drag = None
            page.channel.post("Input.setInterceptDrags", {"enabled": False})

    def _dragged(self, params: Params) -> None:
        if self._drag is not None and not self._drag.done():
            self._drag.set_result(params["data"])

    # --- keyboard --------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _down(self, names: Sequence[str], *, exact: bool = False) -> AsyncIterator[None]:
        """Presses the keys, and releases them afterwards; what the agent itself holds stays down."""
        pressed: list[str] = []
        held = list(self._held)
        try:
            for name in names:
                if keys.key_named(name).key not in self._held:
                    await self._key_down(name, exact=exact)
                    pressed.append(name)
            yield
        finally:
            try:
                for name in reversed(pressed):
                    await self._key_up(name, exact=exact)
            finally:
                # Also where the page no longer answers: else the key would be down on every page after it.
                self._held[:] = held

    def _key(self, name: str, *, exact: bool) -> keys.KeyStroke:
        """`exact`: the character itself, even while Shift is held."""
        key = keys.key_named(name)
        return keys.with_shift(key) if "Shift" in self._held and not exact else key

    async def _key_down(self, name: str, *, exact: bool = False) -> None:
        key = self._key(name, exact=exact)
        if key.key in keys.MODIFIERS and key.key not in self._held:
            self._held.append(key.key)
        modifiers = self._modifiers()
        text = (
            "" if modifiers & (keys.MODIFIERS["Control"] | keys.MODIFIERS["Meta"] | keys.MODIFIERS["Alt"]) else key.text
        )
        command = {
            "type": "keyDown" if text else "rawKeyDown",
            "key": key.key,
            "code": key.code,
            "windowsVirtualKeyCode": key.number,
            "modifiers": modifiers,
            "location": key.location,
            **({"text": text, "unmodifiedText": text} if text else {}),
        }
        await self._all([self._page.channel.post("Input.dispatchKeyEvent", command)])

    async def _key_up(self, name: str, *, exact: bool = False) -> None:
        key = self._key(name, exact=exact)
        if key.key in self._held:
            self._held.remove(key.key)
        command = {
            "type": "keyUp",
            "key": key.key,
            "code": key.code,
            "windowsVirtualKeyCode": key.number,
            "modifiers": self._modifiers(),
            "location": key.location,
        }
        await self._all([self._page.channel.post("Input.dispatchKeyEvent", command)])

    async def _press(self, text: str, *, exact: bool = False) -> None:
        names = keys.combination(text)
        for name in names:
            keys.key_named(name)
        if len(names) == 1 and len(names[0]) == 1 and keys.needs_shift(names[0]):
            names = ["Shift", *names]
        async with self._down(names, exact=exact):
            pass

    async def _type(self, text: str) -> None:
        async def press(key: str) -> None:
            if len(key) == 1 and keys.character(key) is None:
                await self._insert(key)
            else:
                # A text is typed as it is written, whatever the agent holds.
                await self._press(key, exact=True)

        await Typist(self._page, press).type(text)

    async def _insert(self, text: str) -> None:
        await self._all([self._page.channel.post("Input.insertText", {"text": text})])

    async def _insert_with_key(self, text: str) -> None:
        """Widgets that listen for keys instead of input learn of the text as they do where an input method writes it:
        from a key that says so, which types nothing, and from the one that is let go of last."""
        written = keys.WRITTEN
        last = written if text[-1] in "\r\n\t" else keys.character(text[-1]) or written
        down = {"type": "rawKeyDown", "key": written.key, "code": last.code, "windowsVirtualKeyCode": written.number}
        up = {"type": "keyUp", "key": last.key, "code": last.code, "windowsVirtualKeyCode": last.number}
        await self._all(
            [
                self._page.channel.post("Input.insertText", {"text": text}),
                self._page.channel.post("Input.dispatchKeyEvent", down),
                self._page.channel.post("Input.dispatchKeyEvent", up),
            ]
        )

    async def _keyboard_press(self, action: Action) -> None:
        await self._press(action.get("key"))

    async def _keyboard_down(self, action: Action) -> None:
        await self._key_down(action.get("key"))

    async def _keyboard_up(self, action: Action) -> None:
        await self._key_up(action.get("key"))

    async def _keyboard_type(self, action: Action) -> None:
        await self._type(action.get("text"))

    async def _keyboard_insert_text(self, action: Action) -> None:
        await self._insert(action.get("text"))

    async def _press_on_element(self, action: Action) -> None:
        for name in keys.combination(action.get("key_comb")):
            keys.key_named(name)
        await self._ask(action.get("bid"), "focus")
        await self._press(action.get("key_comb"))

    # --- forms -----------------------------------------------------------------------------------------

    async def _focus(self, action: Action) -> None:
        await self._ask(action.get("bid"), "focus")

    async def _fill_field(self, action: Action) -> None:
        await self._fill(action.get("bid"), action.get("value"), typed=int(action.get("enable_autocomplete_menu")))

    async def _clear_field(self, action: Action) -> None:
        await self._fill(action.get("bid"), "")

    async def _fill(self, element_id: str, value: str, typed: int = 0) -> None:
        """`typed`: how many of the last characters are typed key by key."""
        await self._show(self._frame(element_id)[0])
        state = await self._ask(element_id, "prepareFill", value)
        if state["done"]:
            return
        start, end = value[: len(value) - typed], value[len(value) - typed :]
        if start and not end:
            await self._insert_with_key(start)
        elif start:
            await self._insert(start)
        elif not state["empty"]:
            await self._press("Delete")
        await self._type(end)

    async def _select_option(self, action: Action) -> None:
        await self._show(self._frame(action.get("bid"))[0])
        await self._ask(action.get("bid"), "select", action.get("options"))

    async def _upload_file(self, action: Action) -> None:
        paths = self._context.files_for_upload(action.get("file"))
        frame, number = self._frame(action.get("bid"))
        handle = await self._page.handle(frame, f"webassay.fileField({number})")
        if handle:
            await frame.channel.send("DOM.setFileInputFiles", {"files": paths, "objectId": handle})
        else:
            await self._choose_files(await self._locate(action.get("bid")), paths)

    async def _mouse_upload_file(self, action: Action) -> None:
        paths = self._context.files_for_upload(action.get("file"))
        await self._choose_files(self._point(action), paths)

    async def _choose_files(self, point: tuple[float, float], paths: list[str]) -> None:
        page = self._page
        chosen: asyncio.Future[Params] = asyncio.get_running_loop().create_future()

        def opened_dialog(params: Params) -> None:
            if not chosen.done():
                chosen.set_result(params)

        page.channel.on("Page.fileChooserOpened", opened_dialog)
        try:
            await self._click(*point)
            async with asyncio.timeout(2.0):
                opened = await chosen
        except TimeoutError:
            raise ActionError(
                "No file dialog opened there.", hint="Use the file field, or the control that opens it."
            ) from None
        finally:
            page.channel.on("Page.fileChooserOpened", self._context.file_dialog)
        await page.channel.send("DOM.setFileInputFiles", {"files": paths, "backendNodeId": opened["backendNodeId"]})

    # --- pages -----------------------------------------------------------------------------------------

    async def _noop(self, action: Action) -> None:
        await asyncio.sleep(min(max(0.0, action.get("wait_ms") / 1000), MAX_NOOP))

    async def _goto(self, action: Action) -> None:
        await self._context.navigate(self._page, action.get("url"))

    async def _go_back(self, action: Action) -> None:
        await self._history(-1)

    async def _go_forward(self, action: Action) -> None:
        await self._history(+1)

    async def _history(self, step: int) -> None:
        history = await self._page.channel.send("Page.getNavigationHistory")
        at = history["currentIndex"] + step
        entries = history["entries"]
        if not 0 <= at < len(entries) or (step < 0 and at == 0 and entries[0]["url"] == "about:blank"):
            raise ActionError(
                "There is no earlier page in this tab." if step < 0 else "There is no later page in this tab."
            )
        page = self._page
        before = (page.document, page.url)
        await page.channel.send("Page.navigateToHistoryEntry", {"entryId": entries[at]["id"]})
        # The answer arrives before the navigation has begun.
        await page.until(lambda: page.main_frame.loading or (page.document, page.url) != before, 2.0)

    async def _new_tab(self, action: Action) -> None:
        await self._context.new_tab()

    async def _tab_close(self, action: Action) -> None:
        await self._context.close_tab()

    async def _tab_focus(self, action: Action) -> None:
        await self._context.focus_tab(action.get("index"))

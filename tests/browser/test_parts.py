"""The parts that need no browser."""

import itertools
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.browser.devtools import chromium
from webassay.browser.devtools.cdp import decoded
from webassay.browser.devtools.chromium import find_chromium, launch_flags
from webassay.browser.devtools.hosts import AllowList
from webassay.browser.devtools.sockets import Sockets
from webassay.browser.input import keys
from webassay.browser.input.act import InputController
from webassay.browser.look.observe import letters, line_of, render, split_id
from webassay.browser.look.prune import prune
from webassay.browser.session import Browser
from webassay.browser.tabs.context import Context
from webassay.core.errors import ActionError, BrowserError
from webassay.core.interaction import ACTIONS, Node

# --- ids ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5000), max_size=4), st.integers(1, 10**9))
def test_ids_can_be_taken_apart(places: list[int], number: int) -> None:
    prefix = "".join(letters(place) for place in places)
    assert split_id(f"{prefix}{number}") == (prefix, number)


@given(st.lists(st.integers(0, 5000), max_size=3), st.lists(st.integers(0, 5000), max_size=3))
def test_frames_have_prefixes_of_their_own(one: list[int], other: list[int]) -> None:
    same = "".join(map(letters, one)) == "".join(map(letters, other))
    assert same == (one == other)


def test_frames_are_counted_as_browsergym_counts_them() -> None:
    assert [letters(place) for place in (0, 25, 26, 51, 52, 701, 702)] == ["a", "z", "aA", "aZ", "bA", "zZ", "aAA"]


@given(st.text(max_size=30))
def test_any_text_is_an_id_or_is_not(text: str) -> None:
    parts = split_id(text)
    assert parts is None or parts[1] >= 0


# --- hosts --------------------------------------------------------------------------------------------------


ALLOWED = (
    *("http://shop.localhost:8000/x", "HTTP://SHOP.LOCALHOST:8000", "ws://shop.localhost:8000/socket"),
    *("http://wiki.localhost/", "https://wiki.localhost:8443/", "http://a.b.example/"),
)
NOT_ALLOWED = (
    *("http://shop.localhost/", "http://shop.localhost:8001/", "http://any.localhost:1/", "http://example/"),
    *("http://shop.localhost:8000@evil.example.com/", "ftp://wiki.localhost/", "http:///nothing"),
    "http://wiki.localhost:port/",
)


@pytest.mark.parametrize("url", ALLOWED + NOT_ALLOWED)
def test_allow_list(url: str) -> None:
    allowed = url in ALLOWED
    hosts = AllowList({"shop.localhost:8000", "wiki.localhost", "*.example"})
    assert hosts.permits(url) is allowed
    assert (hosts.why_not(url) == "") is (allowed and not url.startswith("ws")) or url.startswith("ws")


@given(st.text(max_size=60))
def test_nothing_is_allowed_by_an_empty_list(url: str) -> None:
    assert not AllowList(()).permits(url)
    assert url == "about:blank" or AllowList(()).why_not(url)


def test_everything_else_goes_to_the_dead_end() -> None:
    assert AllowList({"b", "a:1"}).proxy("http://127.0.0.1:9") == {
        "proxyServer": "http://127.0.0.1:9",
        "proxyBypassList": "<-loopback>;a:1;b",
    }
    assert AllowList({"*"}).proxy("http://127.0.0.1:9") == {}


# --- keys ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [("Enter", "Enter"), ("Control+a", "Control a"), ("Control+Shift+T", "Control Shift T"), ("+", "+"),
     ("Control++", "Control +"), ("", None), ("Control+", None), ("+a+", None), ("Control++a", None)],
)  # fmt: skip
def test_combinations(text: str, names: str | None) -> None:
    if names is None:
        with pytest.raises(ActionError):
            keys.combination(text)
    else:
        assert keys.combination(text) == names.split()


@pytest.mark.parametrize(
    ("name", "code", "number"),
    [
        ("Enter", "Enter", 13), ("esc", "Escape", 27), ("a", "KeyA", 65), ("A", "KeyA", 65), ("!", "Digit1", 49),
        ("ctrl", "ControlLeft", 17), ("F5", "F5", 116), ("Digit7", "Digit7", 55), ("KeyB", "KeyB", 66),
        ("Space", "Space", 32), ("?", "Slash", 191), ("Backquote", "Backquote", 192), ("Minus", "Minus", 189),
        ("ShiftRight", "ShiftLeft", 16), ("Numpad4", "Digit4", 52), ("NumpadEnter", "Enter", 13),
    ],
)  # fmt: skip
def test_keys(name: str, code: str, number: int) -> None:
    key = keys.key_named(name)
    assert (key.code, key.number) == (code, number)


def test_a_key_that_is_not_there() -> None:
    with pytest.raises(ActionError, match="no key 'Hyper'"):
        keys.key_named("Hyper")


@given(st.characters(min_codepoint=32, max_codepoint=126))
def test_every_printable_character_has_its_key(char: str) -> None:
    key = keys.character(char)
    assert key is not None and key.text == char and key.code
    shifted = keys.with_shift(key)
    assert (shifted.code, shifted.number) == (key.code, key.number), "it is the same key"
    assert keys.needs_shift(shifted.text) or char == " "


# --- finding Chromium ---------------------------------------------------------------------------------------


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_one_asked_for_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = program(tmp_path / "mine"), program(tmp_path / "bin" / "chromium")
    monkeypatch.setenv("PATH", str(other.parent))
    assert find_chromium(str(mine)) == mine
    assert find_chromium() == other
    with pytest.raises(BrowserError, match="no executable Chromium at"):
        find_chromium(str(tmp_path / "absent"))


def test_a_headless_shell_will_do_but_has_no_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    shell = program(tmp_path / "chromium-headless-shell")
    assert find_chromium() == shell
    with pytest.raises(BrowserError, match="cannot show a window"):
        Browser(shell, headed=True)
    whole = program(tmp_path / "chromium")
    assert find_chromium() == whole


def test_playwrights_own_is_the_last_and_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "_playwright_folder", lambda: tmp_path)
    monkeypatch.setattr(chromium, "_MAC_APPS", ())
    with pytest.raises(BrowserError) as caught:
        find_chromium()
    text = str(caught.value)
    assert "google-chrome on the PATH" in text and str(tmp_path) in text and "WEBASSAY_CHROMIUM" in text
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(chromium, "_playwright_folder", lambda: tmp_path)
    monkeypatch.setattr(chromium, "_MAC_APPS", ())
    program(tmp_path / "chromium-999" / "chrome-linux" / "chrome")
    newest = program(tmp_path / "chromium-1200" / "chrome-linux" / "chrome")
    assert find_chromium() == newest


def test_flags_follow_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--no-sandbox" in launch_flags() and "--headless" in launch_flags()
    monkeypatch.setattr("sys.platform", "darwin")
    assert "--no-sandbox" not in launch_flags()
    assert "--headless" not in launch_flags(headed=True)


# --- text formats -------------------------------------------------------------------------------------------


def test_lines_and_what_the_text_leaves_out() -> None:
    properties = (("required", ""), ("disabled", "true"), ("hasPopup", "menu"), ("valuemin", "3"))
    node = Node("a12", "textbox", "It's", 0, "v", properties)
    assert line_of(node) == "[a12] textbox \"It's\" value='v', required, disabled=True, hasPopup='menu', valuemin=3"
    assert line_of(Node("1", "slider", "", 0, "-2.5")) == "[1] slider '' value=-2.5"
    assert line_of(Node("1", "slider", "", 0, "3, focused")) == "[1] slider '' value='3, focused'"
    assert line_of(Node("1", "textbox", "", 0, "3")) == "[1] textbox '' value='3'"
    said = [Node("", "StaticText", text, 3) for text in ("more", "Read\n  more", "else")]
    link = [Node("1", "generic", "", 1), Node("2", "link", "Read more", 2), *said]
    rest = [Node("3", "generic", "named", 1), Node("", "StaticText", "after", 1)]
    nodes = [Node("", "RootWebArea", "T", 0), *link, *rest]
    assert (
        render(nodes)
        == "RootWebArea 'T'\n\t[2] link 'Read more'\n\t\tStaticText 'else'\n\t[3] generic 'named'\n\tStaticText 'after'"
    )


names = st.text(st.characters(codec="utf-8"), max_size=20)
roles = st.sampled_from([
    "generic", "link", "heading", "StaticText", "row", "cell", "table", "option", "combobox", "list", "image", "term",
    "definition", "DescriptionList", "LabelText",
])  # fmt: skip


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    nodes = [Node("", "RootWebArea", draw(names), 0)]
    for number in range(draw(st.integers(0, 25))):
        depth = draw(st.integers(1, nodes[-1].depth + 1))
        role = draw(roles)
        said = (("valuetext", draw(names)),) if draw(st.booleans()) else ()
        nodes.append(Node("" if role == "StaticText" else str(number + 1), role, draw(names), depth, draw(names), said))
    return nodes


@given(trees())
def test_one_line_a_node_whatever_the_page_says(nodes: list[Node]) -> None:
    lines = render(nodes).split("\n")
    assert len(lines) <= len(nodes)
    assert all(line.lstrip("\t") and not line.endswith("\t") for line in lines)
    depths = [len(line) - len(line.lstrip("\t")) for line in lines]
    assert all(after <= before + 1 for before, after in itertools.pairwise(depths))


@given(trees())
def test_pruning_never_fails_and_keeps_what_can_be_clicked(nodes: list[Node]) -> None:
    text = prune(nodes)
    assert "\n\n" not in text
    # Only a table has one line of its own, below its head.
    assert len(text.splitlines()) <= len(nodes) + sum(node.role == "table" for node in nodes)
    for node in nodes:
        if node.role == "link" and sum(other.name == node.name for other in nodes) == 1 and node.name.strip():
            assert f"[{node.id}]" in text


@st.composite
def trees_of_facts(draw: st.DrawFn) -> list[Node]:
    """Every name, value and title is a word of its own."""
    more = ["image", "listitem", "caption", "Legend", "button", "checkbox", "paragraph", "rowgroup", "LayoutTableCell"]
    more += ["group", "listbox", "grid", "gridcell", "progressbar"]
    nodes = [Node("", "RootWebArea", "page", 0)]
    for number in range(1, draw(st.integers(1, 30))):
        role = draw(st.one_of(roles, st.sampled_from(more)))
        depth = draw(st.integers(1, nodes[-1].depth + 1))
        name = draw(st.sampled_from((f"word{number}x", f"word{number}x more{number}x", "")))
        value = f"value{number}x" if role in ("combobox", "cell") and draw(st.booleans()) else ""
        said = [("clickable", ""), ("title", f"title{number}x"), ("offscreen", "")]
        properties = tuple(one for one in said if role != "StaticText" and draw(st.integers(0, 3)) == 0)
        nodes.append(Node("" if role == "StaticText" else str(number), role, name, depth, value, properties))
    return nodes


@given(trees_of_facts())
def test_the_short_form_says_everything_that_the_tree_says(nodes: list[Node]) -> None:
    text = prune(nodes)
    for node in nodes:
        for word in (*node.name.split(), *node.value.split(), *str(node.get("title") or "").split()):
            assert word in text, f"{word} is missing in\n{text}"
        if node.get("clickable") is not None:
            assert f"[{node.id}]" in text, f"[{node.id}] is missing in\n{text}"


def test_what_is_said_twice_is_in_the_short_form_once() -> None:
    card = [Node("1", "listitem", "", 1), Node("2", "link", "Steel saw", 2)]
    rating = [Node("3", "image", "Rating: 1 out of 5 stars", 2), Node("4", "image", "Steel saw", 2)]
    text = prune([Node("", "RootWebArea", "Tools", 0), *card, *rating, Node("5", "image", "", 2)])
    assert text.count("Rating: 1 out of 5 stars") == 1 and text.count("Steel saw") == 1 and text.count("image") == 1
    # A picture out of sight, and its words beside it.
    far = (("offscreen", ""),)
    row = [Node("2", "LayoutTableRow", "", 2, properties=far), Node("3", "LayoutTableCell", "", 3)]
    inside = [Node("4", "image", "Acme", 4), Node("5", "StaticText", "Acme", 4)]
    text = prune([Node("", "RootWebArea", "Brands", 0), Node("1", "LayoutTable", "", 1), *row, *inside])
    assert text.count("Acme") == 1


def test_rows_in_the_short_form() -> None:
    # Rows that are being loaded are rows all the same.
    rows = [Node("2", "rowgroup", "", 2, properties=(("busy", "true"),)), Node("3", "row", "", 3)]
    cells = [Node("4", "cell", "Saw", 4), Node("5", "cell", "$ 7", 4)]
    text = prune([Node("", "RootWebArea", "Tools", 0), Node("1", "table", "", 1), *rows, *cells])
    assert "| Saw | $ 7 |" in text and "[busy: true]" in text and "rowgroup" not in text
    # A button inside of a cell that can be clicked keeps its id.
    cell = Node("3", "cell", "Order 7 Cancel", 3, properties=(("clickable", ""),))
    row = [Node("1", "table", "", 1), Node("2", "row", "", 2), cell, Node("4", "button", "Cancel", 4)]
    text = prune([Node("", "RootWebArea", "Orders", 0), *row])
    assert "cell [3] 'Order 7 Cancel' button [4] 'Cancel'" in text


@pytest.mark.parametrize("form", [render, prune])
def test_text_is_repeated_only_by_whole_words(form: Callable[[Sequence[Node]], str]) -> None:
    def shown(name: str, *texts: str) -> list[str]:
        lines = form([Node("1", "group", name, 0), *(Node("", "StaticText", text, 1) for text in texts)])
        return [text for text in texts if repr(text) in lines.partition("\n")[2]]

    assert shown("Top 10 list", "1", "list", "Top 10") == ["1"]
    assert shown("Room 1.5, upstairs", "1", "5", "upstairs") == ["1", "5"]
    assert shown("Foobar", "Foo", "bar") == [], "a name made of its content"
    assert shown("Foobar", "Foo", "baz") == ["Foo", "baz"]


def test_links_say_where_they_lead_if_asked() -> None:
    nodes = [Node("", "RootWebArea", "T", 0), Node("1", "link", "Saw", 1, url="http://shop/saw")]
    assert "http" not in render(nodes) and "http" not in prune(nodes)
    assert "[1] link 'Saw', url='http://shop/saw'" in render(nodes, links=True)
    assert "link [1] 'Saw' [url: http://shop/saw]" in prune(nodes, links=True)


def test_a_check_box_or_another_control_is_one_line() -> None:
    label = [Node("1", "LabelText", "", 1), Node("2", "checkbox", "In stock", 2), Node("3", "image", "", 2)]
    nodes = [Node("", "RootWebArea", "T", 0), *label, Node("", "StaticText", "In stock", 2)]
    assert render(nodes) == "RootWebArea 'T'\n\t[2] checkbox 'In stock'"
    beside = [Node("1", "radio", "Red", 1), Node("2", "LabelText", "", 1), Node("", "StaticText", "Red", 2)]
    assert render([nodes[0], *beside]) == "RootWebArea 'T'\n\t[1] radio 'Red'"
    inside = [Node("2", "paragraph", "", 2), Node("", "StaticText", "Ann", 3), Node("3", "image", "", 2)]
    row = Node("1", "generic", "Ann Minutes", 1, properties=(("clickable", ""),))
    nodes = [Node("", "RootWebArea", "T", 0), row, *inside, Node("", "StaticText", "Minutes", 2)]
    assert render(nodes) == "RootWebArea 'T'\n\t[1] generic 'Ann Minutes', clickable"


# --- what Chromium says -------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
    max_leaves=10,
)


@given(_JSON)
def test_whatever_a_page_puts_into_a_message_can_be_stored(message: object) -> None:
    said = json.dumps(message)
    read = decoded(said)
    json.dumps(read, ensure_ascii=False).encode()
    assert decoded(said.encode()) == read
    if "\\ud" not in said:
        assert read == message


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud800"', "\ufffd"),
        (rb'"\uD800x"', "\ufffdx"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'{"\ud800": ["\udfff", 1]}', {"\ufffd": ["\ufffd", 1]}),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (rb'"C:\\ud800"', "C:\\ud800"),
    ],
)
def test_half_pairs_become_replacement_characters(said: bytes, read: object) -> None:
    assert decoded(said) == read


def test_every_action_but_the_last_words_is_one_of_the_browser() -> None:
    controller = InputController(cast("Context", None))
    assert set(controller._actions) == {name for name, signature in ACTIONS.items() if not signature.ends_episode}


# --- web sockets --------------------------------------------------------------------------------------------


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


SOCKET = ("channel", "1")


def opened(clock: Clock) -> Sockets:
    sockets = Sockets(clock)
    sockets.opened(SOCKET, "ws://shop/live?token=1")
    sockets.received(SOCKET)
    sockets.action_ends()
    return sockets


def test_what_a_page_sends_by_itself_or_only_receives_is_not_waited_for() -> None:
    sockets = opened(Clock())
    sockets.sent(SOCKET, 1, "are you there? 17")
    sockets.action_begins()
    sockets.sent(SOCKET, 1, "are you there? 18")
    assert sockets.seconds_left() == 0
    sockets.sent(SOCKET, 1, "delete 18")
    assert sockets.seconds_left() > 0
    # What it only receives is not waited for either.
    sockets = opened(Clock())
    sockets.action_begins()
    sockets.received(SOCKET)
    assert sockets.seconds_left() == 0


def asked_again(sockets: Sockets, clock: Clock) -> bool:
    """Whether a question that an action causes is waited for."""
    sockets.action_begins()
    sockets.sent(SOCKET, 1, "delete")
    waited = sockets.seconds_left() > 0
    clock.time += 2
    sockets.seconds_left()
    return waited


def test_a_socket_is_waited_for_until_it_is_found_out() -> None:
    clock = Clock()
    sockets = opened(clock)
    assert [asked_again(sockets, clock) for _ in range(5)] == [True, True, False, False, False]
    sockets.sent(SOCKET, 1, "delete")
    sockets.received(SOCKET)
    assert asked_again(sockets, clock)


def test_questions_without_end_are_found_out_once() -> None:
    clock = Clock()
    sockets = opened(clock)

    def poll() -> bool:
        sockets.sent(SOCKET, 1, "poll")
        waited = sockets.seconds_left() > 0
        clock.time += 0.1
        sockets.received(SOCKET)
        return waited

    sockets.action_begins()
    polls = [poll() for _ in range(20)]
    assert polls[0] and not any(polls[11:])
    sockets.action_begins()
    assert not any(poll() for _ in range(20))

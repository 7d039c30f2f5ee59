"""What of a page counts as seen: hidden things never, visible ones always."""

import json
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.core.served import ServedNode
from webassay.sites.visible import Nodes, read_page


def read(page: str, media_type: str = "text/html; charset=utf-8") -> tuple[ServedNode, tuple[ServedNode, ...]]:
    nodes = Nodes()
    number = read_page(page, media_type, nodes)
    assert number is not None
    every = nodes.all()
    assert all(part < place for place, node in enumerate(every) for part in node.parts if isinstance(part, int))
    return every[number], every


def outline(node: ServedNode, every: tuple[ServedNode, ...]) -> list:
    """A row as a tuple, a section as a list."""
    parts = [part if isinstance(part, str) else outline(every[part], every) for part in node.parts]
    return tuple(parts) if node.row else parts


def seen(page: str, **rest) -> list:
    return outline(*read(page, **rest))


def lines(page: str, **rest) -> list[str]:
    def flat(parts) -> list[str]:
        return [line for part in parts for line in ([part] if isinstance(part, str) else flat(part))]

    return flat(seen(page, **rest))


# --- laws -------------------------------------------------------------------------------------------------------

HIDDEN = (
    " hidden", ' hidden=""', " HIDDEN", ' aria-hidden="true"', ' style="display: none"',
    " style='color:red;display:none;'", ' style="visibility:hidden"', ' class="x" hidden id=y', " hidden=until-found",
)  # fmt: skip
SHOWN = ("", ' class="hidden"', ' data-hidden="true"', ' aria-hidden="false"', ' title="not hidden"', " data-x='a > b'",
         ' style="display: block"', ' data-style="display:none"')  # fmt: skip
INLINE = ("span", "a", "b", "em", "strong", "small", "label")
BLOCK = ("div", "p", "section", "article", "h2", "form", "fieldset", "blockquote", "main", "header", "address")


@dataclass
class Writer:
    """Writes a page, and remembers which of its words can be seen."""

    random: Random
    count: int = 0
    shown: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)

    def word(self, hidden: bool) -> str:
        self.count += 1
        word = f"w{self.count}x"
        (self.hidden if hidden else self.shown).add(word)
        return word

    def pick(self, *choices):
        return self.random.choice(choices)

    def element(self, hidden: bool, depth: int) -> str:
        kind = self.pick("text", "text", "inline", "block", "list", "table", "name", "unread", "void")
        if depth == 0 or kind == "text":
            return (
                self.pick("", " ", "\n")
                + self.word(hidden)
                + self.pick("", " ", "&nbsp;", " &amp; ", "<br>", "<!-- > -->")
            )
        if kind == "unread":
            tag = self.pick("script", "style", "template", "noscript")
            return (
                f"<{tag}>{self.word(True)}{'<b>' if tag in ('template', 'noscript') else ''} {self.word(True)}</{tag}>"
            )
        if kind == "void":
            return self.pick("<hr>", "<br/>", f'<input type="hidden" value="{self.word(True)}">', "<img src=x>")
        if kind == "name":
            text = self.word(hidden)
            return self.pick(
                f'<img alt="{text}">', f"<span aria-label='{text}'></span>", f'<b title="{text}"></b>',
                f"<input value={text}>", f'<input placeholder="{text}">', f"<textarea>{text}</textarea>",
                f"<select><option>{text}</select>",
            )  # fmt: skip
        mark = self.pick(*SHOWN, *HIDDEN)
        inside = hidden or mark in HIDDEN
        if kind == "inline":
            tag = self.pick(*INLINE)
            return f"<{tag}{mark}>{self.children(inside, 1)}</{tag}>"
        if kind == "block":
            tag = self.pick(*BLOCK)
            tag = tag.upper() if self.random.random() < 0.5 else tag
            # A browser ends a paragraph where a block begins, so nothing but text is put into one.
            return f"<{tag}{mark}>{self.word(inside) if tag.lower() == 'p' else self.children(inside, depth)}</{tag}>"
        ends = self.random.random() < 0.5
        if kind == "list":
            marks = [self.pick("", "", *HIDDEN) for _ in range(3)]
            entries = (f"<li{one}>{self.children(inside or one in HIDDEN, depth)}{'</li>' * ends}" for one in marks)
            return f"<ul{mark}>{''.join(entries)}</ul>"
        cells = (
            f"<td{mark}>{self.word(inside)}{'</td>' * ends}<td>{self.word(hidden)}{'</td></tr>' * ends}" for _ in "ab"
        )
        return "<table>" + "".join(f"<tr>{cell}" for cell in cells) + "</table>"

    def children(self, hidden: bool, depth: int) -> str:
        return "".join(self.element(hidden, depth - 1) for _ in range(self.random.randint(0, 3)))


@given(st.integers())
def test_hidden_things_are_never_seen_and_visible_ones_always(seed):
    writer = Writer(Random(seed))
    page = "<!doctype html><html><head><title>t</title></head><body>" + "".join(
        writer.element(False, 4) for _ in range(5)
    )
    found = set(" ".join(lines(page)).split())
    assert not writer.hidden & found, page
    # Words that touch are one word, as in a browser.
    assert writer.shown <= {word for word in writer.shown if any(word in text for text in found)}, page


@given(st.text(alphabet=st.sampled_from("<>/\"'= ab-!hidden&;")))
def test_whatever_the_page_it_can_be_read(page):
    read(page)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_the_data_it_can_be_read(value):
    read(json.dumps(value), media_type="application/json")


def test_a_hostile_page_takes_no_time_to_speak_of():
    for page in ("<a " * 5000, "<a b='" * 5000, "<div hidden>" * 3000, "<p><b>" * 3000, "<!--" * 5000, "<svg>" * 3000):
        read(page)


# --- lines, rows and sections --------------------------------------------------------------------------------------


def test_inline_elements_do_not_tear_a_line_apart():
    assert seen("<p>Only <b>3</b> left, <a href=x>or</a><span>der</span> now</p>") == ["Only 3 left, order now"]


def test_names_follow_their_line():
    page = '<p><span role="img" aria-label="Rating: 4 out of 5 stars"></span> Review by <b title="Nick">Otter</b></p>'
    assert seen(page) == ["Review by Otter", "Rating: 4 out of 5 stars", "Nick"]


def test_rows_are_told_apart_and_sections_too():
    page = """<body><header>Shop</header><main><h1>Orders</h1>
    <table><caption>All</caption><thead><tr><th>#<th>Total<tbody><tr><td>1<td>$5<tr><td>2<td>$6</table>
    <ul><li>a<ul><li>b</ul><li><article>c</article></ul>
    <section aria-label="Box"><h2>Address</h2><address>12 Elm St<br>Town</address></section>
    <dl><div><dt>Tax</dt><dd>$1</dd></div><div><dt>Sum</dt><dd>$7</dd></div></dl></main><footer>End</footer>"""
    assert seen(page) == [
        ["Shop"],
        "Orders",
        ["All", ("#", "Total"), ("1", "$5"), ("2", "$6")],
        [("a", [("b",)]), (("c",),)],
        ["Box", "Address", "12 Elm St", "Town"],
        ("Tax", "$1"),
        ("Sum", "$7"),
        ["End"],
    ]


def test_roles_make_rows_as_well():
    page = '<div role="table"><div role="row"><i>1</i></div><div role=row>2</div></div><div role="listitem">3</div>'
    assert seen(page) == [[("1",), ("2",)], ("3",)]


def test_a_header_inside_something_is_a_part_of_it():
    assert seen("<section><header><h2>Title</h2></header><p>Text</p></section>") == [["Title", "Text"]]


def test_the_chosen_option_stands_with_its_label():
    page = "<section><label>State</label> <select><option>Ohio<option selected>Utah</select></section>"
    assert seen(page) == [["State", "Utah", ["Ohio", "Utah"]]]


def test_values_of_inputs_are_seen():
    page = '<input name=q value="HOM-1 &amp; co"><input type=submit value=Go><textarea>Hello\n there</textarea>'
    assert lines(page) == ["HOM-1 & co", "Go", "Hello there"]


@pytest.mark.parametrize("kind", ["hidden", "password", "checkbox", "radio", "file"])
def test_some_inputs_show_no_value(kind):
    assert lines(f'<input type="{kind}" value="secret">') == []


def test_drawings_are_skipped_but_for_their_text():
    assert lines('<svg aria-hidden="true"><path d="M1"/><text>no</text></svg>') == []
    assert lines('<svg role="img" aria-label="Lamp"><g><path d="M1"/></g></svg>') == ["Lamp"]
    assert lines("<svg><title>Chart</title><text x=1>42</text></svg>") == ["Chart", "42"]


def test_dialogs_are_seen_when_they_are_open():
    assert lines("<dialog>a</dialog><dialog open>b</dialog><details><summary>c</summary>d</details>") == ["b", "c", "d"]


def test_data_is_read_value_by_value():
    data = {"items": [{"name": "Lamp", "price": 5.50}, {"name": "Chair", "n": 1200}], "html": "<li>x</li>", "no": None}
    assert seen(json.dumps(data), media_type="application/json") == (
        [("Lamp", "5.5"), ("Chair", "1200")],
        [("x",)],
    )


def test_the_same_part_of_two_pages_is_kept_once():
    nodes = Nodes()
    for name in "ab":
        read_page(f"<header>{'Menu ' * 50}</header><p>{name}</p>", "text/html", nodes)
    assert sum(str(node).count("Menu Menu") > 0 for node in nodes.all()) == 1


def test_what_is_no_text_is_not_read():
    assert read_page("x", "image/png", Nodes()) is None
    assert read_page("{", "application/json", Nodes()) is None

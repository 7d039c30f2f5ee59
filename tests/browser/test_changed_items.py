"""An item of a list that changes keeps the ids in it; a node that is used for another item does not pass them on."""

import json

import pytest

from tests.browser.conftest import Opener, Visit
from webassay.core.interaction import Observation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def run(page: Visit, script: str) -> None:
    tab = page.session._context.active
    await tab.evaluate(tab.main_frame, f"(() => {{ {script} }})()")


async def show(page: Visit, html: str) -> None:
    await run(page, f"document.body.innerHTML = {json.dumps(html)}")


def ids(seen: Observation) -> list[tuple[str, str, str]]:
    # Nothing can be done to a paragraph, and one that says something else is another.
    return [(node.role, node.name, node.id) for node in seen.nodes if node.id and node.role != "paragraph"]


AT = "const at = (selector) => document.querySelector(selector);"

CHANGES = {
    "what readers of screens hear of a list of numbers follows the mouse": (
        """<div class="popup box"><div role="listbox" id="heard"><div role="option" class="o">2025</div></div>
        <div class="list">"""
        + "".join(f'<div class="y" style="cursor: pointer">{year}</div>' for year in range(2018, 2029))
        + """</div></div><div class="box"><button>Today</button></div>""",
        ["at('#heard').innerHTML = '<div role=option class=o>2019</div>'", "at('#heard').innerHTML = ''"],
    ),
    # With their class in common, the grid and its pager look like items of a list.
    "a cell is renamed in a grid that is of one class with its pager": (
        """<div class="box body"><div role="grid">
        <div role="row"><div role="columnheader">Name</div><input aria-label="Filter"></div>
        <div role="row" class="r"><div role="gridcell">Ann</div><button>Open</button></div>
        <div role="row" class="r"><div role="gridcell">Bob</div><button>Open</button></div>
        <div role="row" class="r"><div role="gridcell" id="last">Cid</div></div></div></div>
        <div class="box pager"><button>Next</button></div>""",
        ["at('#last').textContent = 'Cida'", "at('#last').textContent = 'Cidal'"],
    ),
    "a grid that shares a class with its pager shows the next page": (
        """<div class="body managed"><table role="grid"><tr><th>Name</th><th><input aria-label="Filter"></th></tr>
        <tr><td class="who">Ann</td></tr><tr><td class="who">Bob</td></tr></table></div>
        <div class="pager managed"><button>Next</button></div>""",
        ["document.querySelectorAll('.who').forEach((cell, at) => { cell.textContent = ['Cid', 'Dora'][at]; })"],
    ),
    "the page of an application is the only item with a key": (
        """<div data-root-id="p1001"><h1>Parts</h1><button>New</button><p>Ann</p><button>Next</button></div>""",
        ["at('p').textContent = 'Bob'", "at('p').textContent = 'Cid'"],
    ),
    "a slider shows its value beside it": (
        """<div class="field"><div role="slider" tabindex="0" aria-label="From" aria-valuenow="0">o</div><p>0</p>
        <div role="slider" tabindex="0" aria-label="To" aria-valuenow="400">o</div><p>400</p></div>
        <div class="field"><div role="slider" tabindex="0" aria-label="Size" aria-valuenow="1">o</div><p>M</p></div>""",
        [
            "at('[aria-label=From]').setAttribute('aria-valuenow', 10); at('p').textContent = '10'",
            "document.querySelectorAll('p')[2].textContent = 'L'",
        ],
    ),
    "a hint appears and changes in a form whose labels are hidden from the tree": (
        """<div class="box"><p>Welcome</p><button>Deploy</button></div><div class="box">
        <div class="field"><label aria-hidden="true">Customer</label><input aria-label="Customer"><span></span></div>
        <div class="field"><label aria-hidden="true">Quantity</label><input aria-label="Quantity"><span></span></div>
        <div class="field"><button>Place order</button></div></div>""",
        [
            "at('span').textContent = 'Press Enter to submit'",
            "at('span').textContent = 'Too short'",
            "at('span').textContent = ''",
        ],
    ),
    "a card shows what is typed into it": (
        """<section><div class="card"><h2>Draft</h2><input aria-label="title"><input id="tag" aria-label="tag name">
        <span></span><button>add</button><em>Type:</em><input aria-label="type"></div>
        <div class="card"><h2>Other</h2><button>Edit</button></div></section>""",
        [
            "at('#tag').value = 'ur'; at('span').textContent = 'ur'",
            "at('#tag').value = 'urgent'; at('span').textContent = 'urgent'",
            "at('#tag').value = ''; at('span').textContent = ''",
        ],
    ),
    "a form has other buttons and a long list of choices": (
        """<section><div class="card"><h2>Draft</h2><input aria-label="tag"><button id="bold">Bold</button>
        <input aria-label="type"><ul></ul><button>Save</button></div>
        <div class="card"><h2>Other</h2><button>Edit</button></div></section>""",
        [
            "at('#bold').remove(); at('ul').innerHTML = '<li>Text</li><li>Plain</li><li>Image</li><li>Drawing</li>'",
            "at('ul').innerHTML = ''",
        ],
    ),
    "an editor stands among boxes of its class": (
        """<div class="box tool"><button>Bold</button></div>
        <div class="box" contenteditable="true" role="textbox" aria-label="Text" style="min-height:40px"></div>""",
        [
            "at('[contenteditable]').textContent = 'Hello'",
            "at('[contenteditable]').innerHTML = '<p>Good</p><p>bye</p>'",
        ],
    ),
    "a popover hides everything else from the tree for a while": (
        """<div class="field"><span>Region</span><button>Open</button></div>
        <div class="field"><span>Priority</span><div style="cursor:pointer">low</div>
        <div style="cursor:pointer">high</div><input aria-label="Other"></div><p>Total: 118.50 EUR</p>""",
        [
            "for (const field of document.querySelectorAll('.field')) field.setAttribute('aria-hidden', 'true')",
            "at('span + div').after('urgent')",
            "for (const field of document.querySelectorAll('.field')) field.removeAttribute('aria-hidden')",
        ],
    ),
    "a menu inside an item opens and closes": (
        """<span class="picker"><span role="button" tabindex="0">Normal</span>
        <span id="menu" hidden><span role="button" tabindex="0">Large</span>
        <span role="button" tabindex="0">Huge</span></span></span>
        <span class="picker"><span role="button" tabindex="0">Red</span></span>""",
        ["at('#menu').hidden = false", "at('#menu').hidden = true", "at('#menu').hidden = false"],
    ),
    "a part of an accordion opens and closes": (
        """<div class="part"><h3><button>Terms</button></h3><div id="terms" hidden>Pay in 30 days</div></div>
        <div class="part"><h3><button>Returns</button></h3></div>""",
        ["at('#terms').hidden = false", "at('#terms').hidden = true"],
    ),
    "a branch of a tree opens and closes": (
        """<div role="tree"><div class="node"><div role="treeitem" tabindex="0">Tools</div><div id="branch" hidden>
        <div role="group"><div class="node"><div role="treeitem" tabindex="0">Saws</div></div>
        <div class="node"><div role="treeitem" tabindex="0">Hammers</div></div></div></div></div>
        <div class="node"><div role="treeitem" tabindex="0">Paint</div></div></div>""",
        ["at('#branch').hidden = false", "at('#branch').hidden = true"],
    ),
    "a neighbour of an item stays while something else changes": (
        """<section><div class="panel" data-id="7"><input aria-label="Name"></div>
        <div class="footer"><button>Save</button></div></section><p><button>Tick</button><span>0</span></p>""",
        ["at('span').textContent = '1'", "at('span').textContent = '2'"],
    ),
    "the neighbour of an item is written anew": (
        """<section><div class="panel" data-id="7"><input aria-label="Name"></div>
        <div class="footer"><button>Save</button></div></section>""",
        ["at('section').innerHTML += ''", "at('section').innerHTML += ''"],
    ),
    "fewer are left of one": (
        """<ul><li><b>Tea</b> <span>3 left</span><button>Buy</button></li>
        <li><b>Rice</b> <span>3 left</span><button>Buy</button></li></ul>""",
        ["at('span').textContent = '2 left'", "at('ul').innerHTML = at('ul').innerHTML.replace('2 left', '1 left')"],
    ),
    "the pager below a table counts its rows": (
        """<div class="part">Rows: <select aria-label="Rows"><option>5</option></select></div>
        <div class="part"><span>1-5 of 37</span><button>Back</button><button>Next</button></div>""",
        ["at('span').textContent = '6-10 of 37'", "at('span').textContent = '1-3 of 3'"],
    ),
    "a cell becomes a field and a cell again": (
        """<table><tr><th>Who</th><th>Do</th></tr><tr><td>Ann</td><td><button>Open</button></td></tr>
        <tr><td id="cell">Bob</td><td><button>Open</button></td></tr></table>""",
        [
            "at('#cell').innerHTML = '<input aria-label=\"Edit cell\" value=Bob>'",
            "at('#cell input').value = 'Bobby'",
            "at('#cell').innerHTML = 'Bobby'",
        ],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
async def test_what_stays_keeps_its_id_while_its_item_changes(visit: Opener, case: str) -> None:
    html, changes = CHANGES[case]
    async with visit("quiet.html") as page:
        await show(page, html)
        known: dict[tuple[str, str], list[str]] = {}
        for change in ["", *changes]:
            await run(page, AT + change)
            seen = ids(await page.see())
            now: dict[tuple[str, str], list[str]] = {}
            for role, name, number in seen:
                now.setdefault((role, name), []).append(number)
            kept = {one: known[one] for one in now if one in known}
            assert {one: now[one] for one in kept} == kept, f"after {change}"
            assert kept or not known
            known |= now


# How a row is drawn; NAME is what the item is called.
ROWS = {
    "buttons": "<div class=row><span>NAME</span><button>Open</button></div>",
    "fields": "<div class=row><b>NAME</b><input aria-label=Amount><input aria-label=Note><button>Drop</button></div>",
    "parts": "<div class=row><ul><li>NAME</li><li>In stock</li><li><button>Buy</button></li></ul></div>",
    "cells": "<tr><td><input type=checkbox aria-label=All></td><td>NAME</td><td>Oslo</td>"
    "<td><button>Edit</button></td></tr>",
    "links": "<div class=row><span>21</span> <a href='#NAME'>NAME</a><button>Edit</button></div>",
    "articles": "<article><h3>NAME</h3><p>Ships free</p><p>In stock</p><p>Two years</p><p>Steel</p><p>Blue</p>"
    "<button>Buy</button></article>",
}
DRAW = """
const list = document.querySelector('#list');
const draw = (name) => {
  const box = document.createElement('template');
  box.innerHTML = ROW.replaceAll('NAME', name);
  return box.content.firstElementChild;
};
const textsIn = (root) => {
  const found = [], all = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (all.nextNode()) found.push(all.currentNode);
  return found;
};
// The node stays, with everything in it; only the words and the link change.
const reuse = (node, name) => {
  const fresh = draw(name), texts = textsIn(fresh);
  textsIn(node).forEach((text, at) => { text.data = texts[at].data; });
  node.querySelector('a')?.setAttribute('href', '#' + name);
};
const show = (...names) => names.forEach((name, at) => {
  if (list.children[at]) reuse(list.children[at], name); else list.append(draw(name));
});
"""
NAMES = {"Ann", "Bob", "Cid", "Dora", "Emil", "Fay", "Gus", "Hal"}

REUSES = {
    "one row is recycled": ("show('Ann', 'Bob', 'Cid', 'Dora')", "reuse(list.children[0], 'Emil')"),
    "one row is recycled and moved": (
        "show('Ann', 'Bob', 'Cid', 'Dora')",
        "const [first] = list.children; reuse(first, 'Emil'); list.append(first)",
    ),
    "several rows are recycled": ("show('Ann', 'Bob', 'Cid', 'Dora')", "show('Emil', 'Fay', 'Cid', 'Dora')"),
    "all rows are recycled": ("show('Ann', 'Bob', 'Cid', 'Dora')", "show('Emil', 'Fay', 'Gus', 'Hal')"),
    "the words move along": ("show('Ann', 'Bob', 'Cid', 'Dora')", "show('Bob', 'Cid', 'Dora', 'Emil')"),
    "an item goes and the words move up": (
        "show('Ann', 'Bob', 'Cid', 'Dora')",
        "list.lastElementChild.remove(); show('Ann', 'Cid', 'Dora')",
    ),
    "an item comes and the words move down": ("show('Ann', 'Bob')", "show('Emil', 'Ann', 'Bob')"),
    "one of two is recycled": ("show('Ann', 'Bob')", "show('Ann', 'Cid')"),
    "a row is empty before it is recycled": (
        "show('Ann', 'Bob')",
        "list.lastElementChild.remove()",
        "textsIn(list).filter((text) => text.data === 'Ann').forEach((text) => { text.data = ''; })",
        "list.innerHTML = draw('Cid').outerHTML",
    ),
    "the only row left is recycled": ("show('Ann', 'Bob')", "list.lastElementChild.remove()", "show('Cid')"),
}


def items(seen: Observation) -> dict[str, str]:
    """id -> the item it stands in: every row says its name before its controls, or has a box before it."""
    rows = [node for node in seen.nodes if node.id and node.role in ("button", "textbox", "link")]
    names = [node.name for node in seen.nodes if node.role == "StaticText" and node.name in NAMES]
    if not names:
        return {}
    each = len(rows) // len(names)
    assert len(rows) == each * len(names), seen.tree
    return {node.id: names[at // each] for at, node in enumerate(rows)}


@pytest.mark.parametrize("markup", ROWS)
async def test_a_node_that_shows_another_item_does_not_keep_its_ids(visit: Opener, markup: str) -> None:
    holder = "<table><tbody id=list></tbody></table>" if markup == "cells" else "<div id=list></div>"
    async with visit("quiet.html") as page:
        for how, steps in REUSES.items():
            await show(page, holder)
            before: dict[str, str] = {}
            for step in steps:
                await run(page, f"const ROW = {json.dumps(ROWS[markup])};" + DRAW + step)
                after = items(await page.see())
                if not after:
                    continue
                astray = {number: name for number, name in after.items() if before.get(number, name) != name}
                assert astray == {}, how
                # What did not change is there as before.
                kept = {name for number, name in after.items() if number in before}
                assert kept == set(before.values()) & set(after.values()), how
                before = after


async def test_another_key_is_another_item_even_if_it_says_more(visit: Opener) -> None:
    async with visit("quiet.html") as page:
        await show(
            page, "<div data-id=k17><b>Tea</b><button>Buy</button></div><div data-id=k18>Rice<button>Buy</button></div>"
        )
        before = ids(await page.see())
        await run(
            page, "const [tea] = document.querySelectorAll('[data-id]'); tea.dataset.id = 'k99'; tea.append('Green')"
        )
        after = ids(await page.see())
        assert after[1] == before[1] and after[0][2] not in {number for _, _, number in before}

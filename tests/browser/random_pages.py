"""Pages that nobody would write: any element in any other, with any attribute. The same seed gives the same page."""

import random

from tests.browser.server import Handler

TEXTS = ("Alpha", "Beta gamma", "Order #12", "$3.50", "  spaced   text ", "Ünïcode", "A & B", "x")
INLINE = (
    *("span", "b", "i", "em", "strong", 'a href="#x"', "a", "code", "small", 'abbr title="long form"', "mark", "time"),
    *("sub", "del", "label", "button", "cite", "q", "kbd", "u", "s", "ins", "bdi", "dfn", "var", "samp", "output"),
)
ROLES = (
    *("group", "list", "listitem", "region", "button", "dialog", "alert", "tab", "menu", "menuitem", "img", "none"),
    *("link", "checkbox", "option", "listbox", "status", "article", "navigation", "tabpanel", "toolbar", "row", "cell"),
    *("table", "tooltip", "search", "note", "separator", "radiogroup", "progressbar", "grid", "tree", "treeitem"),
    *("combobox", "textbox", "switch", "radio", "gridcell", "columnheader", "rowgroup", "form", "banner", "math"),
    *("contentinfo", "complementary", "main", "figure", "log", "timer", "feed", "definition", "term", "application"),
    *("menubar", "slider", "spinbutton", "meter", "strong", "code", "presentation", "bogus"),
)
BLOCKS = (
    *("div", "p", "section", "article", "aside", "header", "footer", "nav", "main", "h1", "h2", "h3", "form", "pre"),
    *("blockquote", "address", "hgroup", "search", "dialog open", "x-widget", "center"),
)
CONTROLS = (
    *("<input {0}>", '<input type="checkbox" {0}>', '<input type="radio" {0}>', '<input type="submit" value="Go" {0}>'),
    *('<input type="number" value="3" {0}>', '<input type="search" placeholder="Find" {0}>', "<br {0}>", "<hr {0}>"),
    *('<img alt="pic" src="/api/pixel" {0}>', '<img src="/api/pixel" {0}>', '<img alt="" src="/api/pixel" {0}>'),
    *(
        "<textarea {0}>ta</textarea>",
        "<select {0}><option>One<option selected>Two</select>",
        '<input type="hidden" {0}>',
    ),
    *('<progress value=".4" {0}></progress>', '<meter value=".3" {0}></meter>', '<input type="range" {0}>'),
    *('<iframe title="f" srcdoc="<p>inner</p>" {0}></iframe>', '<input type="email" title="Mail" {0}>'),
    *("<canvas {0}></canvas>", '<input type="password" {0}>', '<input type="date" {0}>', '<input type="file" {0}>'),
    *(
        '<svg width="20" height="20" {0}><circle r="5"/></svg>',
        '<svg width="20" height="20" {0}><text y="15">t</text></svg>',
    ),
)
ATTRIBUTES = (
    *('aria-label="Lab"', 'title="Tit"', 'aria-hidden="true"', "hidden", 'style="display:none"', 'tabindex="0"'),
    *('style="visibility:hidden"', 'tabindex="-1"', 'aria-labelledby="ref"', 'aria-describedby="ref"', 'class="deco"'),
    *('style="display:contents"', 'style="opacity:0"', 'style="text-transform:uppercase"', 'aria-expanded="true"'),
    *('onclick="1"', "inert", 'aria-label=""', 'aria-live="polite"', 'style="display:flex"', 'draggable="true"'),
    *('style="position:absolute;left:-9999px"', 'style="width:0;height:0;overflow:hidden"'),
)


def random_page(seed: int) -> str:
    dice = random.Random(seed)

    def attribute() -> str:
        return dice.choice(ATTRIBUTES) if dice.random() < 0.35 else ""

    def some(count: int, depth: int) -> str:
        return " ".join(thing(depth) for _ in range(dice.randint(1, count)))

    def repeated(template: str, depth: int) -> str:
        return "".join(template.format(thing(0), thing(depth)) for _ in range(dice.randint(1, 4)))

    def structure(depth: int) -> str:
        match dice.randrange(6):
            case 0:
                name = dice.choice(("ul", "ol", "menu"))
                return f"<{name} {attribute()}>{repeated('<li>{1}</li>', depth)}</{name}>"
            case 1:
                return f"<dl>{repeated('<dt>{0}</dt><dd>{1}</dd>', depth)}</dl>"
            case 2:
                head = "<thead><tr><th>H</th><th>I</th></tr></thead>" if dice.random() < 0.5 else ""
                rows = repeated("<tr><td>{0}</td><td>{1}</td></tr>", depth)
                return f"<table {attribute()}>{head}<tbody>{rows}</tbody></table>"
            case 3:
                return f"<fieldset {attribute()}><legend>Leg</legend>{some(2, depth)}</fieldset>"
            case 4:
                return f"<figure {attribute()}>{thing(depth)}<figcaption>Fig</figcaption></figure>"
            case _:
                return f"<details {dice.choice(('', 'open'))}><summary>Sum</summary>{thing(depth)}</details>"

    def thing(depth: int) -> str:
        chance = dice.random()
        if depth <= 0 or chance < 0.25:
            return dice.choice(TEXTS)
        if chance < 0.4:
            return dice.choice(CONTROLS).format(attribute())
        if chance < 0.5:
            return structure(depth - 1)
        if chance < 0.7:
            tag, inside = dice.choice(INLINE), some(2, depth - 2)
            if tag == "label":
                inside = dice.choice(('<input type="checkbox">', '<input type="radio">', "<input>")) + " " + inside
        elif chance < 0.85:
            tag, inside = dice.choice(BLOCKS), some(4, depth - 1)
        else:
            tag, inside = f'div role="{dice.choice(ROLES)}"', some(3, depth - 1)
        return f"<{tag} {attribute()}>{inside}</{tag.split()[0]}>"

    body = "\n".join(thing(5) for _ in range(16))
    style = '.deco::before{content:"* "}.deco::after{content:"."}'
    head = f'<meta charset="utf-8"><title>Random {seed}</title><style>{style}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><div id="ref">Reference</div>{body}</body></html>'


class RandomPages(Handler):
    def do_GET(self) -> None:
        name, _, seed = self.path.partition("?")
        if name == "/random":
            self._send(random_page(int(seed)).encode(), "text/html; charset=utf-8")
        else:
            super().do_GET()

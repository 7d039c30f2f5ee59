"""Do ids follow their items? Lists that are rendered again, in the ways pages do it, and changed at random.

    python scripts/bench_ids.py [--mutations 10000] [--seed 0] [--only innerHTML,keyed,unkeyed]

Every item has a secret that is not on the page. After each change the page is observed again: an item that was there
before and is still there, with what it says unchanged, should have kept the ids of its row, its check box, its link and
its buttons; an id that was seen on one item must never stand on another.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.reach.pages import serve  # noqa: E402

from webassay.browser.devtools.chromium import find_chromium  # noqa: E402
from webassay.browser.session import Browser, Session  # noqa: E402

PAGES = Path(__file__).resolve().parent / "reach"
WAYS = ("innerHTML", "keyed", "unkeyed")
CHANGES = ("again", "insert", "move", "remove", "rename", "shuffle", "toggle", "two at once")
WORDS = ("oak", "elm", "fir", "ash", "yew", "box", "bay", "fig", "may", "rowan", "larch", "alder")
ITEMS = 12


@dataclass
class Tally:
    kept: int = 0
    unchanged: int = 0
    astray: int = 0
    """Ids that stood on one item and now stand on another."""
    twins_astray: int = 0
    """The same between items that say the same, which nobody who looks at the page can tell apart."""
    by_change: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


@dataclass
class Item:
    key: int
    name: str
    done: bool = False

    @property
    def says(self) -> tuple[str, bool]:
        return self.name, self.done


class List:
    """The items of the page, changed at random."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._keys = 0
        self.items: list[Item] = []
        for _ in range(ITEMS):
            self.items.append(self._new())

    def _new(self) -> Item:
        self._keys += 1
        # One in twenty says the same as another.
        if self.items and self._dice.random() < 0.05:
            return Item(self._keys, self._dice.choice(self.items).name)
        return Item(self._keys, f"{self._dice.choice(WORDS)} {self._keys}")

    def change(self, how: str) -> None:
        items, dice = self.items, self._dice
        if how == "two at once":
            for _ in range(2):
                self.change(dice.choice([one for one in CHANGES if one != "two at once"]))
        elif how == "insert" or len(items) < ITEMS // 2:
            items.insert(dice.randrange(len(items) + 1), self._new())
        elif how == "remove" or len(items) > 2 * ITEMS:
            items.pop(dice.randrange(len(items)))
        elif how == "move":
            items.insert(dice.randrange(len(items)), items.pop(dice.randrange(len(items))))
        elif how == "rename":
            item = dice.choice(items)
            item.name = f"{dice.choice(WORDS)} {item.key} again"
        elif how == "shuffle":
            dice.shuffle(items)
        elif how == "toggle":
            item = dice.choice(items)
            item.done = not item.done

    def as_json(self) -> str:
        return json.dumps([{"key": item.key, "name": item.name, "done": item.done} for item in self.items])


async def ask(session: Session, expression: str) -> Any:
    page = session._context.active
    found = await page.channel.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
    return found["result"].get("value")


async def ids(session: Session) -> dict[tuple[int, str], str]:
    """(item, part of the item) -> id, by the place of the lines in the tree; the page shows the items in order."""
    seen = await session.observe(("tree",))
    keys = json.loads(await ask(session, "JSON.stringify(keys())"))
    found: dict[tuple[int, str], str] = {}
    parts = {"checkbox": "box", "link": "link", "Edit": "edit", "Drop": "drop"}
    counts: Counter[str] = Counter()
    for node in seen.nodes:
        part = parts.get(node.role) or (parts.get(node.name) if node.role == "button" else None)
        if part is None:
            continue
        if counts[part] < len(keys):
            found[keys[counts[part]], part] = node.id
        counts[part] += 1
    if any(count != len(keys) for count in counts.values()):
        raise SystemExit(f"The tree does not show all {len(keys)} items: {counts}\n{seen.tree}")
    return found


async def census(session: Session, way: str, changes: int, seed: int) -> Tally:
    dice = random.Random(f"{way} {seed}")
    goods = List(dice)
    tally = Tally()
    await ask(session, f"show({way!r}, {goods.as_json()})")
    before = await ids(session)
    held: dict[str, tuple[int, str]] = {}
    """Every id that was ever seen, with the item it stood on."""
    says_before = {item.key: item.says for item in goods.items}
    names: dict[int, set[str]] = {}
    for _ in range(changes):
        how = dice.choice(CHANGES)
        goods.change(how)
        await ask(session, f"show({way!r}, {goods.as_json()})")
        after = await ids(session)
        says = {item.key: item.says for item in goods.items}
        for key in says:
            names.setdefault(key, set()).add(says[key][0])
        single = Counter(name for name, _ in says.values())
        was_single = Counter(name for name, _ in says_before.values())
        for (key, part), number in after.items():
            other = held.get(number)
            if other is not None and other != (key, part):
                twin = bool(names.get(other[0], set()) & names[key])
                tally.twins_astray += twin
                tally.astray += not twin
                tally.by_change[how] += 1
                if len(tally.examples) < 5 and not twin:
                    tally.examples.append(f"{way}, {how}: [{number}] was {part} of {other}, now {key}")
            held[number] = (key, part)
            same = says_before.get(key) == says[key] and single[says[key][0]] == was_single[says[key][0]] == 1
            if (key, part) in before and same:
                tally.unchanged += 1
                tally.kept += before[key, part] == number
        before, says_before = after, says
    return tally


async def bench(options: argparse.Namespace) -> None:
    ways = options.only.split(",")
    print("way | changes | unchanged ids kept | on another item | on a twin | seconds")
    print("---|---|---|---|---|---", flush=True)
    with serve(PAGES) as base:
        async with Browser(find_chromium()) as browser:
            for way in ways:
                async with browser.session(allowed_hosts={"*"}) as session:
                    await session.open([f"{base}lists.html"])
                    started = time.monotonic()
                    changes = options.mutations // len(ways)
                    tally = await census(session, way, changes, options.seed)
                    share = f"{100 * tally.kept / tally.unchanged:.2f} % of {tally.unchanged:,}"
                    seconds = time.monotonic() - started
                    print(f"{way} | {changes:,} | {share} | {tally.astray} | {tally.twins_astray} | {seconds:.0f}")
                    for example in tally.examples:
                        print(f"  {example}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(WAYS), help="some of the ways to render, with commas")
    asyncio.run(bench(parser.parse_args()))


if __name__ == "__main__":
    main()

"""Can everything that a person can click be reached by an id? A census on pages of component libraries.

    python scripts/bench_reach.py [--only mui,antd] [--grid 12] [--states 4] [--copies 3] [--no-browsergym]

The pages (scripts/reach/pages) are ours; the libraries come from the npm registry and are kept in a cache.

Truth: on a grid, every element that lies under a point is clicked with the mouse, each time on a fresh copy of the page
(a copy on which a click changed nothing is used again). It reacts if the document, the address, the focus or the
network changed, compared with the mouse merely being there, and if it does so again when ids are counted: a popup that
takes the focus a moment later than usual makes for effects that nobody's click had. What a click opens is clicked
through in the same way. Elements with the same effect are one control.

Reached: an id inside the control stands in the tree, in the short form, or among the marks, and a click on that id,
through our own action, has the same effect. Idle: ids that are called clickable and do nothing when they are clicked.
BrowserGym's ids are taken from its own observation of the same states; a control counts as reached if the middle of one
of them lies on it.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.bench_browser import Engine, engines  # noqa: E402
from scripts.reach import census, pages  # noqa: E402

from webassay.browser.devtools.chromium import find_chromium  # noqa: E402
from webassay.browser.session import Browser  # noqa: E402
from webassay.core.interaction import Action  # noqa: E402

FORMS = ("tree", "pruned", "marks")


@dataclass
class Count:
    controls: int = 0
    reached: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FORMS, 0))
    clickable: int = 0
    idle: int = 0
    theirs: int | None = None
    their_clickable: int = 0
    their_idle: int = 0
    states: int = 0
    seconds: float = 0.0
    misses: list[str] = field(default_factory=list)

    def add(self, other: "Count") -> None:
        for name in ("controls", "clickable", "idle", "their_clickable", "their_idle", "states", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for form in FORMS:
            self.reached[form] += other.reached[form]
        if other.theirs is not None:
            self.theirs = (self.theirs or 0) + other.theirs


async def count_state(page: census.Copies, state: census.State, quick: bool) -> tuple[Count, list[census.Control]]:
    count = Count(states=1)
    found = []
    known = census.controls(state)
    for control, again in zip(known, await page.each(known, lambda copy, one: copy.reacts(state, one)), strict=True):
        if again:
            found.append(control)
        else:
            count.misses.append(f"{state.name} | reacted once, not counted | {control.says} | {control.root}")
    count.controls = len(found)
    ids, _ = await page.one(state, census.ids_of)
    tried: dict[tuple[str, str], bool] = {}

    async def reach(copy: census.Copy, control: census.Control) -> dict[str, census.Id | None]:
        by: dict[str, census.Id | None] = {}
        for form in FORMS:
            by[form] = None
            for one in census.candidates(control, state, found, ids, form)[:3]:
                if quick or await census.reaches(copy, state, control, one, tried):
                    by[form] = one
                    break
            shots = [] if quick or by[form] is not None else census.long_shots(control, ids, form)[:3]
            for one in shots:
                if await census.does_the_same(copy, state, control, one):
                    by[form] = one
                    break
        return by

    for control, by in zip(found, await page.each(found, reach), strict=True):
        for form in FORMS:
            count.reached[form] += by[form] is not None
        missing = [form for form in FORMS if by[form] is None]
        if missing:
            count.misses.append(
                f"{state.name} | {'+'.join(missing)} | {control.says} | {control.targets[0].cursor} | {control.root}"
            )
    shown = {target.path for target in state.targets}
    reacts = {target.path for target in state.targets if target.reacts}
    # What stands beside an opened popup was counted without it.
    called = [one for one in ids if one.clickable and (one.lands in shown or (state.opener is None and not one.lands))]
    doubtful = [one for one in called if one.lands not in reacts]

    async def idle(copy: census.Copy, one: census.Id) -> bool:
        return quick or (await copy.click_id(state, one.id))[0].nothing

    count.clickable = len(called)
    for one, nothing in zip(doubtful, await page.each(doubtful, idle), strict=True):
        if nothing:
            count.idle += 1
            count.misses.append(f"{state.name} | idle [{one.id}] | {one.says} | {one.path}")
    return count, found


class BrowserGym:
    """Its ids in the states of a page."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._started = False

    def count(self, state: census.State, controls: list[census.Control]) -> tuple[int, int, int]:
        """Controls that an id of its tree lands on; ids that it calls clickable, and those that do nothing."""
        if not self._started:
            self._engine.ask(do="start", url=state.url, viewport=census.VIEWPORT)
            self._started = True
        answer = self._engine.ask(do="ids", url=state.url, opener=state.opener, look=census.LOOK)
        shown = {target.path for target in state.targets}
        reacts = {target.path for target in state.targets if target.reacts}
        ids = [
            census.Id(bid, path, lands, clickable, forms=frozenset({"tree"} if printed else ()))
            for bid, path, lands, printed, clickable, _ in answer["ids"]
        ]
        reached = sum(bool(census.candidates(control, state, controls, ids, "tree")) for control in controls)
        called = [one for one in ids if one.clickable and one.forms and one.lands in shown]
        return reached, len(called), sum(one.lands not in reacts for one in called)


async def truth(
    page: census.Copies, folder: Path, name: str, url: str, options: argparse.Namespace
) -> list[census.State]:
    """Clicking everything takes minutes and depends on the page alone, so it is kept."""
    sources = [folder / name / "main.js", folder / name / "main.css", census.LOOK_FILE]
    key = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    kept = options.cache / "truth" / f"{name}-{options.grid}-{options.states}-{key}.json"
    if kept.exists() and not options.again:
        return [census.State.load(one, url) for one in json.loads(kept.read_text())]
    states = await census.click_everything(page, name, url, options.grid, options.states)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps([state.stored(url) for state in states]))
    return states


async def count_page(
    page: census.Copies, folder: Path, name: str, url: str, options: argparse.Namespace, gym: BrowserGym | None
) -> Count:
    started = time.monotonic()
    total = Count()
    states = await truth(page, folder, name, url, options)
    for state in states:
        count, found = await count_state(page, state, options.quick)
        if gym is not None:
            count.theirs, count.their_clickable, count.their_idle = await asyncio.to_thread(gym.count, state, found)
        total.add(count)
        total.misses += count.misses
    total.seconds = time.monotonic() - started
    return total


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


SHOP_LINES = {"/": 231, "/c/kitchen-dining": 285, "/search?q=steel": 288, "PRODUCT": 194, "/account/login": 96}
"""Lines of the tree before everything that can be clicked had an id (commit eb46df4)."""


async def count_lines(browser: Browser) -> None:
    """The price of the ids: the tree must not be flooded."""
    # Not needed with --only.
    from webassay.compose.tasks import sites
    from webassay.environments.arena import Arena

    print("\nshop page | lines before | lines now | times\n---|---|---|---")
    async with (
        Arena(sites()) as arena,
        arena.hold(["shop"], 0) as stage,
        browser.session(allowed_hosts={"*"}) as session,
    ):
        base, product = stage.bases["shop"], ""
        for path, before in SHOP_LINES.items():
            await session.act(Action.of("goto", base + (product if path == "PRODUCT" else path)))
            seen = await session.observe(("tree",))
            product = product or next((urlsplit(node.url).path for node in seen.nodes if "/p/" in node.url), "")
            now = len((seen.tree or "").splitlines())
            print(f"{path} | {before} | {now} | {now / before:.2f}", flush=True)


HEAD = ("page", "states", "controls", *FORMS, "clickable", "idle", "BrowserGym", "its idle", "seconds")


def row(name: str, count: Count) -> str:
    cells = (
        name,
        count.states,
        count.controls,
        *(share(count.reached[form], count.controls) for form in FORMS),
        count.clickable,
        share(count.idle, count.clickable),
        "–" if count.theirs is None else share(count.theirs, count.controls),
        "–" if count.theirs is None else share(count.their_idle, count.their_clickable),
        f"{count.seconds:.0f}",
    )
    return " | ".join(map(str, cells))


async def bench(options: argparse.Namespace) -> None:
    folder = pages.built(options.cache)
    names = sorted(path.parent.name for path in folder.glob("*/index.html"))
    if options.only:
        unknown = sorted(set(options.only.split(",")) - {*names, "shop"})
        if unknown:
            raise SystemExit(f"There is no page {', '.join(unknown)}; there are {', '.join(names)}.")
        names = [name for name in options.only.split(",") if name != "shop"]
    counts: dict[str, Count] = {}
    theirs = [] if options.no_browsergym else ["BrowserGym fast"]
    with pages.serve(folder) as base, engines(theirs) as running:
        gym = next((BrowserGym(engine) for engine in running.values()), None)
        async with Browser(find_chromium()) as browser:
            for name in names:
                async with census.copies(browser, options.copies) as page:
                    counts[name] = await count_page(page, folder, name, f"{base}{name}/", options, gym)
                print(row(name, counts[name]), flush=True)
                for miss in counts[name].misses:
                    print(f"  {miss}", flush=True)
            if not options.only or options.only == "shop":
                await count_lines(browser)
    total = Count()
    for count in counts.values():
        total.add(count)
    print("\n" + " | ".join(HEAD), "|".join("---" for _ in HEAD), sep="\n")
    for name, count in [*counts.items(), ("all", total)]:
        print(row(name, count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="some of the pages, by name, with commas; shop: only its lines")
    parser.add_argument("--grid", type=int, default=12, help="pixels between two points")
    parser.add_argument("--states", type=int, default=4, help="at most so many opened states a page")
    parser.add_argument("--copies", type=int, default=3, help="sessions side by side")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "webassay" / "reach")
    parser.add_argument("--again", action="store_true", help="click everything again, even if it is known what reacts")
    parser.add_argument(
        "--quick", action="store_true", help="trust where a click on an id would land, and do not click it"
    )
    parser.add_argument("--no-browsergym", action="store_true")
    asyncio.run(bench(parser.parse_args()))


if __name__ == "__main__":
    main()

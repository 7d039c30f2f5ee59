"""What somebody gets who knows every answer and every fact, and opens no page that shows them.

python -m scripts.plant [--world-seed 7] [--template shop.month-spend …]

For every task that retrieves something, all that its key asks to have been seen is said to the sites over HTTP, in
every way in which a visitor can say something: forms and rows of their own hold all of it, addresses and headers some.
Then the evidence is graded. Two more who know the answers say nothing: one does not open any page, the other opens
front pages only. Nobody may have evidence that is enough.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx

from webassay import Selection
from webassay.compose.registries import TEMPLATES
from webassay.compose.setup import Setup
from webassay.compose.tasks import open_world, select, sites
from webassay.core.served import ECHO, ServedRecord
from webassay.core.task import Cell, EvidenceCheck, Task
from webassay.core.trajectory import MemoryBlobs, ServedResult
from webassay.environments.arena import Arena, ArenaStage, counted_in
from webassay.grading.rules.seen import check_evidence
from webassay.sites.kit import World
from webassay.sites.snapshots import quoted

CACHE = Path(tempfile.gettempdir()) / "webassay-bench-cache"
FRONT = ("/", "/account")
IN_ADDRESSES = 3
"""Of the texts that are as long as a search may be, so many are said in addresses: each in some forty ways."""


@dataclass(frozen=True)
class Saying:
    """A request with something in it."""

    path: str
    form: Mapping[str, str] = field(default_factory=dict)
    """Sent by POST, if there is any."""
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = ""


Sayings = Iterator[Saying]


# --- what is known ------------------------------------------------------------------------------------------


def facts_of(task: Task, worlds: Mapping[str, World]) -> list[tuple[str, ...]]:
    """The texts of every sight, a cell and a count as the sites would write them."""
    found: dict[tuple[str, ...], None] = {}
    for check in task.checks:
        for sight in check.sights() if isinstance(check, EvidenceCheck) else ():
            world = worlds[sight.site or task.sites[0]]
            if sight.cell is not None:
                found[as_shown(world, sight.cell)] = None
            elif sight.count is not None:
                found[(str(sight.count.value), f"{sight.count.value} {sight.count.table} found")] = None
            elif sight.texts:
                found[sight.texts] = None
    return list(found)


def as_shown(world: World, cell: Cell) -> tuple[str, ...]:
    """By what one knows the row, and the cell as pages write it; of a row that is only listed, all there is."""
    where = " AND ".join(f"{quoted(name)} = ?" for name in world.snapshot.keys[cell.table])
    row = world.row(f"SELECT * FROM {quoted(cell.table)} WHERE {where}", *cell.key) or {}
    texts = {name: money(value) if name.endswith("_cents") else str(value) for name, value in row.items() if value}
    known = [texts[name] for name in ("number", "sku", "name", "title", "email", "code", "term") if name in texts]
    return (*known, texts[cell.column]) if cell.column in texts else tuple(text[:40] for text in texts.values())


def money(cents: int | None) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}" if cents is not None else ""


# --- ways of saying it --------------------------------------------------------------------------------------


def in_parts(facts: Sequence[tuple[str, ...]], size: int) -> Iterator[str]:
    """All of them, in texts of at most that length."""
    text = ""
    for fact in facts:
        line = " ".join(fact)[:size]
        if text and len(text) + len(line) >= size:
            yield text
            text = ""
        text += f"{line}\n"
    if text:
        yield text


def _searches(site: str, text: str) -> Sayings:
    """Whole, halved over two fields, and in other writings."""
    half, said = len(text) // 2, quote(text)
    one, other = quote(text[:half]), quote(text[half:])
    wide = quote("".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text))
    split = quote("\u200b".join(text))
    tagged = quote(f"<tr><td>{text}</td></tr>")
    signed = quote(f"{ECHO[1]} {text} {ECHO[0]}")
    entities = quote("".join(f"&#{ord(letter)};" for letter in text))
    if site == "shop":
        for words in (said, wide, split, tagged, signed, entities, quote(said)):
            yield Saying(f"/search?q={words[:120]}")
        yield Saying(f"/search/advanced?name={one}&description={other}")
        yield Saying(f"/search/advanced?name={said}&brand={said}&sku={said}&min={said}")
        yield Saying(f"/search/suggest?q={said}")
    else:
        for words in (said, wide, split, tagged, signed, entities, quote(said)):
            yield Saying(f"/orders?q={words}")
        yield Saying(f"/reviews?title={one}&nickname={other}")
        yield Saying(f"/orders?number={one}&bill_to={other}&total_from={other}")
        yield Saying(f"/orders/export?q={said}")
        yield Saying(f"/products?name={said}&show-name=1")


def _formatted(site: str, text: str) -> Sayings:
    """As an amount or a number that the page writes anew, in chips, ranges and page numbers."""
    digits = "".join(letter for letter in text if letter.isdigit() or letter == ".")[:12] or "1"
    if site == "shop":
        yield Saying(f"/search?q=lamp&price={digits}-{digits}")
        yield Saying(f"/search?q=lamp&p={digits}")
    else:
        yield Saying(f"/orders?total_from={digits}&total_to={digits}")
        yield Saying(f"/orders?p={digits}&limit={digits}")
        yield Saying(f"/reports/orders?report=1&period=month&from={quote(text)}&to={digits}")


def _addresses(site: str, text: str) -> Sayings:
    """Error pages, settings that do not exist, headers and cookies."""
    said = quote(text, safe="")
    places = ("/p/", "/c/", "/account/orders/") if site == "shop" else ("/orders/", "/products/", "/coupons/")
    yield from (Saying(f"{place}{said}") for place in (*places, "/"))
    yield Saying(f"/?{said}={said}")
    plain = text.encode("ascii", "ignore").decode().replace("\n", " ")
    for name in ("referer", "user-agent", "accept-language", "x-forwarded-for", "cookie", "accept"):
        yield Saying("/", headers={name: plain})
    yield from (Saying("/", {"a": text}, method=method) for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"))


def _forms(site: str, text: str) -> Sayings:
    """Refused ones, which show again what was typed: short, long, and split over the fields."""
    half = len(text) // 2
    if site == "shop":
        yield Saying("/contact", {"name": text[:half], "email": "x", "message": text[half:]})
        yield Saying("/contact", {"name": "A", "email": "x", "message": "😀" * 1700 + text})
        yield Saying("/account/register", {"first_name": text, "last_name": text, "email": "x"})
        yield Saying("/account/addresses/new", {"street": text, "city": text[half:], "first_name": text[:half]})
    else:
        yield Saying("/pages/new", {"title": text[:half], "content": text[half:]})
        yield Saying("/products/new", {"name": text, "description": "😀" * 1700 + text, "price": text})
        yield Saying("/coupons/new", {"code": text, "value": text[:half], "minimum": text[half:]})


def _rows(site: str, text: str, number: int) -> Sayings:
    """Rows of one's own, which pages, grids and exports show ever after."""
    line = " ".join(text.split())
    if site == "shop":
        yield Saying("/contact", {"name": line[:60], "email": "a@b.co", "message": text})
        yield Saying("/account/edit", {"first_name": line[:60], "last_name": line[60:120] or "A", "email": "a@b.co"})
        yield Saying("/account/addresses/new", {
            "first_name": "A", "last_name": "B", "street": line[:80], "street2": line[80:160], "city": line[:60],
            "region": "TX", "postcode": "78701", "phone": "512-555-0100"})  # fmt: skip
        yield from map(Saying, ("/account", "/account/addresses", "/contact"))
    else:
        yield Saying("/pages/new", {"title": line[:100], "url_key": f"x{number}", "content": text, "enabled": "1"})
        yield Saying("/coupons/new", {
            "code": f"X{number}", "kind": "amount", "value": "20.78", "department_id": "", "minimum": "20.78",
            "starts_on": "01/01/2026", "ends_on": "12/31/2026"})  # fmt: skip
        yield Saying("/price-rules/new", {
            "name": line[:100], "department_id": "", "percent": "20", "starts_on": "01/01/2026",
            "ends_on": "12/31/2026"})  # fmt: skip
        yield from map(Saying, ("/pages", "/pages/export", "/coupons", "/price-rules", "/price-rules/export"))


def sayings(site: str, facts: Sequence[tuple[str, ...]]) -> Sayings:
    for text in islice(in_parts(facts, 100), IN_ADDRESSES):
        line = " ".join(text.split())
        for way in (_searches, _formatted, _addresses):
            yield from way(site, line)
    for number, text in enumerate(in_parts(facts, 1500)):
        yield from _forms(site, text)
        yield from _rows(site, text, number)


# --- planting -----------------------------------------------------------------------------------------------


async def say(stage: ArenaStage, site: str, what: Iterator[Saying]) -> int:
    """How many requests were answered."""
    base, answered = stage.bases[site], 0
    host = base.partition("://")[2].partition(":")[0]
    cookies = {cookie.name: cookie.value for cookie in stage.cookies if cookie.host.lstrip(".") == host}
    port = base.rpartition(":")[2]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        for one in what:
            cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
            cookie = "; ".join(filter(None, (cookie, one.headers.get("cookie", "").replace(";", " "))))
            headers = {"host": f"{host}:{port}", "origin": base, **one.headers, "cookie": cookie}
            method = one.method or ("POST" if one.form else "GET")
            content = urlencode(one.form).encode() if one.form else None
            if one.form:
                headers["content-type"] = "application/x-www-form-urlencoded"
            answer = await client.request(method, one.path, content=content, headers=headers)
            answered += answer.status_code < 600
    return answered


async def shown_to(
    arena: Arena, task: Task, visits: Mapping[str, Iterator[Saying]]
) -> tuple[dict[str, ServedRecord], int]:
    """What the sites' records hold after these visits, and how many requests there were."""
    blobs, count = MemoryBlobs(), 0
    wanted = counted_in(task)
    async with arena.hold(task.sites, task.world_seed, logins=task.logins, counted=wanted) as stage:
        await stage.hand_over()
        for site, what in visits.items():
            count += await say(stage, site, what)
        probes = await stage.probe(stage.cookies, blobs)
    served = {one.site: one for one in probes if isinstance(one, ServedResult)}
    return {site: ServedRecord.unpack(blobs.read(one.blob)) for site, one in served.items()}, count


def passes(task: Task, records: Mapping[str, ServedRecord]) -> tuple[bool, int]:
    """Whether the evidence is enough, and how many of its facts there are."""
    checks = [check for check in task.checks if isinstance(check, EvidenceCheck)]
    findings = check_evidence(checks, records, task.goal.instruction)
    numbers = [finding.actual for finding in findings if isinstance(finding.actual, int)]
    return all(finding.status == "pass" for finding in findings), sum(numbers)


async def attack(setup: Setup, templates: Sequence[str], seed: int) -> int:
    """How often it was enough."""
    wanted = templates or tuple(one.name for one in TEMPLATES if one.kind == "retrieve")
    tasks = select(Selection(templates=tuple(wanted), world_seed=seed, instances=1), setup).tasks
    enough = dict.fromkeys(("knows everything and says it", "front pages only", "blind"), 0)
    facts = requests = 0
    async with Arena(sites(), cache=CACHE) as arena:
        for task in tasks:
            worlds = {site: open_world(setup, site, task.world_seed, task.world_scale) for site in task.sites}
            known = facts_of(task, worlds)
            visits = {site: sayings(site, known) for site in task.sites}
            fronts = {site: map(Saying, FRONT) for site in task.sites}
            planted = 0
            for name, some in zip(enough, (visits, fronts, {}), strict=True):
                records, count = await shown_to(arena, task, some)
                passed, seen = passes(task, records)
                enough[name] += passed
                if some is visits:
                    planted, facts, requests = seen, facts + seen, requests + count
            print(f"{task.template:32} {len(known):4} texts said, {planted} facts counted", flush=True)
    print(f"\n{len(tasks)} tasks in world {seed}, {requests:,} requests; evidence was enough:")
    for name, count in enough.items():
        print(f"  {name:30} {count}")
    print(f"  single facts that counted      {facts}")
    return sum(enough.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--world-seed", type=int, default=7)
    parser.add_argument("--template", action="append", default=[])
    given = parser.parse_args()
    sys.exit(1 if asyncio.run(attack(Setup(cache=CACHE), given.template, given.world_seed)) else 0)


if __name__ == "__main__":
    main()

"""Proves that templates that were written anew make the same tasks as before.

    git worktree add ../before REVISION
    PYTHONPATH=../before/src python scripts/prove_templates.py --record before.json     what the old ones make
    python scripts/prove_templates.py --against before.json                             what differs now

For each template and world it compares, draw by draw, what was drawn (or that nothing was), and for each different
instance the content hash of its task (or that it is refused), the shortcuts with their names and keys, and the names of
the routes and of the shortcuts that are played. Exit code 1 if anything differs.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import process_time
from typing import Any

from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Template, Worlds
from webassay.compose.registries import TEMPLATES
from webassay.compose.setup import Setup, default_cache
from webassay.compose.tasks import open_world
from webassay.core.task import Task
from webassay.sites.rng import Stream

try:
    from webassay.arena.kit.instances import _task
except ImportError:  # An older revision.
    from webassay.arena.kit.template import _task, drawn_once
else:

    def drawn_once(template: type[Template], worlds: Worlds, stream: Stream) -> Template | None:
        return template.drawn(worlds, stream)


ATTRIBUTES = (
    "name",
    "summary",
    "sites",
    "kind",
    "chore",
    "instruction",
    "levels",
    "start",
    "modality",
    "tags",
    "reads",
)


def digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def decision(key: Key) -> tuple[object, ...]:
    """What tells ends apart. Units are left out: a wrong end may carry that of the key, and nothing reads it."""
    results = re.sub(r"unit='[^']*'", "", repr(key.results))
    return results, key.status, key.changes, key.pages


def instance(one: Template, worlds: Worlds) -> dict[str, Any]:
    made = _task(one, one.effort(worlds), "the.same.id", worlds)
    tasks = [
        task.content_hash()[7:23] for task in ([made] if isinstance(made, Task) else made) if isinstance(task, Task)
    ]
    return {
        "drawn": digest((one.parameters, dict(one.logins))),
        "task": tasks[0] if tasks else "refused",
        "shortcuts": {name: digest(decision(key)) for name, key in one.shortcuts(worlds).items()},
        "routes": [*one.routes()],
        "played": sorted(one.hasty()),
    }


def draws(template: type[Template], worlds: Worlds, count: int, seconds: float) -> Iterator[dict[str, Any] | None]:
    """One entry a draw: None for nothing, `{}` for an instance that was drawn before."""
    until = process_time() + seconds
    own = {site: worlds[site] for site in template.sites}
    stream = Stream(0, "arena", template.name, own[template.sites[0]].seed)
    known: set[Template] = set()
    for number in range(count):
        if process_time() > until:
            return
        one = drawn_once(template, own, stream.child(number))
        if one is None or one in known:
            yield None if one is None else {}
            continue
        known.add(one)
        yield instance(one, own)


def compare(name: str, before: dict[str, Any], template: type[Template], worlds: dict[int, Worlds], most: int) -> int:
    """Prints a line a template, and the first differences."""
    counts, found = Counter[str](), []
    for attribute, old in before["attributes"].items():
        if repr(getattr(template, attribute)) != old:
            found.append(f"{attribute}: {old} is now {getattr(template, attribute)!r}")
    for seed, own in worlds.items():
        old_draws = before["worlds"][str(seed)][:most]
        for number, (old, new) in enumerate(zip(old_draws, draws(template, own, len(old_draws), inf), strict=True)):
            what = (
                "nothing" if old is None else "again" if not old else "refused" if old["task"] == "refused" else "tasks"
            )
            counts[what] += 1
            counts["shortcuts"] += len(old["shortcuts"]) if old else 0
            if old == new:
                continue
            parts = [part for part in old if old[part] != new[part]] if old and new else []
            detail = "; ".join(f"{part}: {old[part]} is now {new[part]}" for part in parts) or f"{old} is now {new}"
            found.append(f"world {seed}, draw {number}: {detail}")
    counted = ", ".join(f"{counts[word]} {word}" for word in ("tasks", "refused", "nothing", "again", "shortcuts"))
    print(f"{name:<30} {counted}: {len(found) or 'no'} differences", flush=True)
    for one in found[:5]:
        print(f"    {one[:600]}")
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, nargs="+", default=[0, 7, 71])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=inf, help="record fewer draws of what takes longer on a world")
    parser.add_argument("--template", nargs="*", default=[], help="names or beginnings of names")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    if (given.record is None) == (given.against is None):
        parser.error("give --record FILE or --against FILE")
    wanted = [one for one in TEMPLATES if not given.template or one.name.startswith(tuple(given.template))]
    setup = Setup(cache=default_cache())
    sites = sorted({site for one in wanted for site in one.sites})
    worlds: dict[int, Worlds] = {
        seed: {site: open_world(setup, site, seed, "") for site in sites} for seed in given.worlds
    }
    if given.record:
        kept = {}
        for one in wanted:
            kept[one.name] = {
                "attributes": {attribute: repr(getattr(one, attribute)) for attribute in ATTRIBUTES},
                "worlds": {seed: list(draws(one, own, given.draws, given.seconds)) for seed, own in worlds.items()},
            }
            print(one.name, flush=True)
            given.record.write_text(json.dumps(kept), encoding="utf-8")
        return 0
    before = json.loads(given.against.read_text(encoding="utf-8"))
    differing = sum(
        compare(one.name, before[one.name], one, worlds, given.draws) for one in wanted if one.name in before
    )
    print("Everything is the same." if not differing else f"{differing} differences.")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())

"""Attacks the evaluator with damaged run directories, hostile files, texts and programs, and counts what gets through.

    python -m scripts.bench_armor [SECTION …] [--scale 0.01] [--seed 7]

Without a name every section of scripts/armor/ is run, in the order of their names. A section says how many cases it
tried and what must hold for all of them; the exit code is 1 if something does not.
"""

import argparse
import importlib
import pkgutil
import sys
import time

from scripts.armor.report import Report

from scripts import armor


def sections() -> dict[str, object]:
    found = {}
    names = sorted(place.name for place in pkgutil.iter_modules(armor.__path__))
    for name in (name for name in names if not name.startswith("_")):  # those are programs that sections start
        module = importlib.import_module(f"scripts.armor.{name}")
        if hasattr(module, "run"):
            found[name] = module
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help="Default: all of them.")
    parser.add_argument("--scale", type=float, default=1.0, help="Of the number of cases; 0.01 for a quick look.")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    known = sections()
    wanted = given.sections or list(known)
    if unknown := set(wanted) - set(known):
        parser.error(f"no such section: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    report = Report(scale=given.scale, seed=given.seed)
    for name in wanted:
        started = time.perf_counter()
        report.say(f"{name}: {(known[name].__doc__ or '').splitlines()[0]}")
        known[name].run(report)  # type: ignore[attr-defined]
        report.say(f"  {time.perf_counter() - started:.0f} s")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()

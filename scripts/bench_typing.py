"""Does typed text arrive in fields that render, mask, wait or move the focus on every key?

    python scripts/bench_typing.py [--rounds 100]

The fields are those of tests/browser/pages/typing.html. A round types a word of random letters into the field, key by
key, and reads the field back.
"""

import argparse
import asyncio
import random
import string
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.server import serving  # noqa: E402
from tests.browser.test_typing import RENDERING  # noqa: E402

from webassay.browser.devtools.chromium import find_chromium  # noqa: E402
from webassay.browser.session import Browser, Session  # noqa: E402
from webassay.core.interaction import Action  # noqa: E402

KINDS = (*RENDERING, "Own drawing", "Capitals", "Phone")


def text_for(kind: str, dice: random.Random) -> tuple[str, str]:
    """What to type, and what the field should hold then."""
    if kind == "Phone":
        digits = "".join(dice.choices(string.digits, k=10))
        return digits, f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"
    word = "".join(dice.choices(string.ascii_letters + string.digits + " ", k=dice.randint(3, 12))).strip() or "x"
    return word, word.upper() if kind == "Capitals" else word


async def arrives(session: Session, url: str, kind: str, dice: random.Random) -> tuple[str, float]:
    """What went wrong, or nothing; and the seconds of one key."""
    await session.act(Action.of("goto", url))
    field = (await session.observe(("tree",))).find("textbox", kind)
    assert field is not None
    await session.act(Action.of("click", field.id))
    typed, wanted = text_for(kind, dice)
    started = time.monotonic()
    acted = await session.act(Action.of("keyboard_type", typed))
    seconds = (time.monotonic() - started) / len(typed)
    held = (await session.observe(("tree",))).find("textbox", kind)
    if held is None or held.value != wanted or acted.error:
        return f"{typed!r} became {held.value if held else None!r}: {acted.error or 'no error'}", seconds
    return "", seconds


async def bench(rounds: int, seed: int) -> None:
    dice = random.Random(seed)
    print("field | text arrived | ms per key")
    print("---|---|---", flush=True)
    with serving() as port:
        async with Browser(find_chromium()) as browser, browser.session(allowed_hosts={"*"}) as session:
            for kind in KINDS:
                url = f"http://pages.localhost:{port}/typing.html"
                found = [await arrives(session, url, kind, dice) for _ in range(rounds)]
                wrong = [error for error, _ in found if error]
                middle = sorted(seconds for _, seconds in found)[rounds // 2] * 1000
                print(f"{kind} | {rounds - len(wrong)} of {rounds} | {middle:.0f}", flush=True)
                for error in wrong[:3]:
                    print(f"  {error}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    asyncio.run(bench(options.rounds, options.seed))


if __name__ == "__main__":
    main()

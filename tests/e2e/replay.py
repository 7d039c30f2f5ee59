"""A program that drives the browser with Playwright: it makes the moves of a file, finding elements by role and name.

    python replay.py MOVES.json < goal.json

Nothing of webassay is used here, as in any program from outside.
"""

import json
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, sync_playwright


def element(page: Page, move: dict[str, Any]) -> Locator:
    found = page.get_by_role(move["role"], name=move["name"], exact=True)
    return found.nth(move["place"])


def make(page: Page, move: dict[str, Any]) -> None:
    match move["action"]:
        case "click":
            element(page, move).click()
        case "hover":
            element(page, move).hover()
        case "fill":
            element(page, move).fill(move["value"])
        case "select_option":
            element(page, move).select_option(label=move["options"])
        case "keyboard_press":
            page.keyboard.press(move["key"])
        case "goto":
            page.goto(move["url"])
        case "go_back":
            page.go_back()
        case other:
            raise ValueError(f"no such move: {other}")
    page.wait_for_load_state("networkidle")


def main() -> None:
    told = json.load(sys.stdin)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(told["cdp"]).contexts[0].pages[-1]
        page.set_default_timeout(20_000)
        for move in plan["moves"]:
            make(page, move)
    print(plan["answer"])


if __name__ == "__main__":
    main()

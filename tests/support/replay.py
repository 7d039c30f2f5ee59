"""A program that drives the browser with Playwright: it makes the moves of a file, finding elements by role and name.

    python replay.py MOVES.json < goal.json

Nothing of webassay is used here, as in any program from outside.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import Locator, Page, sync_playwright


def element(page: Page, move: dict[str, Any]) -> Locator:
    if move["role"] == "DisclosureTriangle":  # Chromium's word; ARIA has none for a summary.
        return page.locator("summary").filter(has_text=move["name"]).nth(move["place"])
    found = page.get_by_role(move["role"], name=move["name"], exact=True)
    return found.nth(move["place"])


def make(page: Page, move: dict[str, Any], tabs: Sequence[Page]) -> Page:
    """The page that is in front afterwards."""
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
            page.goto(urljoin(page.url, move["path"]))
        case "tab_focus":
            page = tabs[move["index"]]
            page.bring_to_front()
        case "go_back":
            page.go_back()
        case other:
            raise ValueError(f"no such move: {other}")
    page.wait_for_load_state("networkidle")
    return page


def main() -> None:
    told = json.load(sys.stdin)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with sync_playwright() as playwright:
        context = playwright.chromium.connect_over_cdp(told["cdp"]).contexts[0]
        context.set_default_timeout(20_000)
        # Playwright lists pages as they happen to become ready.
        tabs = [next(page for page in context.pages if page.url == url) for url in told["start_urls"]]
        page = tabs[0]
        for move in plan["moves"]:
            page = make(page, move, tabs)
    print(plan["answer"])


if __name__ == "__main__":
    main()

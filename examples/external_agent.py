"""An agent in Python with Playwright: webassay run --agent-cmd "python examples/external_agent.py"

It follows the first link whose text occurs in the task, reads the heading of the page and answers with it.
"""

import json
import sys

from playwright.sync_api import sync_playwright

task = json.load(sys.stdin)
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(task["cdp"])
    pages = [page for context in browser.contexts for page in context.pages]
    page = next(page for page in pages if page.url.startswith("http"))
    for link in page.get_by_role("link").all():
        name = link.inner_text().strip()
        if name and name in task["instruction"]:
            link.click()
            page.wait_for_load_state()
            break
    heading = page.locator("h1").first.inner_text().strip()
print(json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [heading]}))

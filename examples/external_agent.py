"""An agent in Python with Playwright: webassay run --agent-cmd "python examples/external_agent.py"

It follows the first link whose text occurs in the task, reads the heading of the page and answers with it.
Where there is no heading, it says so: that is an answer too.
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
    headings = page.locator("h1").all_inner_texts()
if headings:
    print(json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [headings[0].strip()]}))
else:
    print("report_infeasible('The page has no heading.', 'NOT_FOUND_ERROR')")

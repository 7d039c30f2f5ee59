"""An honest program whose pages do all that makes two records of the same episode differ."""

import json
import sys

from playwright.sync_api import Error, sync_playwright

ODD = """async () => {
  const quiet = (promise) => promise.catch(() => null);
  const stop = new AbortController();
  const aborted = quiet(fetch("/search?q=lamp", { signal: stop.signal }));
  stop.abort();
  await aborted;
  await quiet(fetch("/contact", { method: "HEAD" }));
  await quiet(fetch("/contact", { method: "OPTIONS" }));
  await quiet(fetch("/contact"));
  await quiet(fetch("/contact", { cache: "force-cache" }));
  await quiet(fetch("/no-such-page"));
  await quiet(fetch("/contact?odd=%20a%2Fb&caf%C3%A9=%ff#part"));
  navigator.sendBeacon("/contact", "seen");
  const link = document.createElement("link");
  Object.assign(link, { rel: "prefetch", href: "/search?q=chair" });
  document.head.append(link);
  new Image().src = "/favicon.ico?odd";
  const frame = document.createElement("iframe");
  frame.src = "/contact";
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; setTimeout(done, 3000); });
  frame.remove();
  const script = [...document.scripts].find((one) => one.src.startsWith(location.origin));
  if (script) await quiet(navigator.serviceWorker.register(script.src));
  const save = document.createElement("a");
  Object.assign(save, { href: "/contact", download: "contact.html" });
  document.body.append(save);
  save.click();
  history.replaceState({}, "", location.pathname + "?seen=1");
}"""


def main() -> None:
    told = json.loads(sys.stdin.readline())
    with sync_playwright() as playwright:
        context = playwright.chromium.connect_over_cdp(told["cdp"]).contexts[0]
        page = context.pages[0]
        page.evaluate(ODD)
        page.reload()
        second = context.new_page()
        second.goto(told["start_urls"][0])
        second.evaluate("location.href = '/search?q=table'; setTimeout(() => window.stop(), 1)")  # stopped, or not
        second.wait_for_timeout(1000)
        second.close()
        try:
            page.get_by_role("link", name="Contact Us").first.click(timeout=5000)
            page.go_back()
            page.go_forward()
        except Error:
            pass  # Not every site has it.
    print(json.dumps({"action": "retrieve", "status": "UNKNOWN_ERROR", "results": None}))


main()

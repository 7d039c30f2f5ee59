"""BrowserGym behind the same small protocol as webassay, for scripts/bench_browser.py and scripts/bench_reach.py.

Runs in BrowserGym's own environment and imports nothing of webassay. One JSON object a line in, one out.
"""

import json
import sys

import browsergym.core  # noqa: F401  (registers the environments)
import gymnasium
from browsergym.utils.obs import flatten_axtree_to_str

fast = sys.argv[1] == "fast"
settings = {"slow_mo": 0, "pre_observation_delay": 0.0} if fast else {}
env = None
others = []
seen = None


def environment(url, viewport=None):
    made = gymnasium.make(
        "browsergym/openended",
        task_kwargs={"start_url": url, "goal": "nothing"},
        headless=True,
        disable_env_checker=True,
        **settings,
        **({"viewport": {"width": viewport[0], "height": viewport[1]}} if viewport else {}),
    )
    return made, made.reset()[0]


def nodes():
    return [
        (node.get("browsergym_id"), node["role"]["value"], str(node.get("name", {}).get("value") or ""))
        for node in seen["axtree_object"]["nodes"]
        if not node.get("ignored")
    ]


def step(action):
    global seen
    seen, *_ = env.step(action)
    return {"error": seen["last_action_error"], "nodes": len(seen["axtree_object"]["nodes"])}


def ids(url, opener, look):
    """Every id of its observation: element, where its middle lies, and whether it is in the text, clickable, marked."""
    page = env.unwrapped.page
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    if opener:
        page.mouse.click(*opener)
    page.wait_for_timeout(SETTLING)
    found = env.unwrapped._get_obs()
    properties = found["extra_element_properties"]
    text = flatten_axtree_to_str(found["axtree_object"], properties)
    page.evaluate(look)
    bids = [bid for bid in properties if properties[bid]["visibility"] > 0]
    flags = {
        bid: [f"[{bid}] " in text, bool(properties[bid]["clickable"]), bool(properties[bid]["set_of_marks"])]
        for bid in bids
    }
    places = json.loads(page.evaluate(f"census.theirs({json.dumps(bids)})"))
    return [[bid, path, lands, *flags[bid]] for bid, path, lands in places]


PATIENCE = 60_000
"""Milliseconds: its own five seconds are too few for a large page on a busy machine."""
SETTLING = 800
"""Milliseconds for what a click opens; the census is about ids, not about waiting."""

for line in sys.stdin:
    ask = json.loads(line)
    if ask["do"] == "start":
        env, seen = environment(ask["url"], ask.get("viewport"))
        answer = {}
    elif ask["do"] == "ids":
        answer = {"ids": ids(ask["url"], ask["opener"], ask["look"])}
    elif ask["do"] == "more":
        others.append(environment(ask["url"])[0])
        answer = {}
    elif ask["do"] == "find":
        # The second number counts elements of that role and name from 0.
        hits = [bid for bid, role, name in nodes() if bid and role == ask["role"] and name == ask["name"]]
        answer = {"id": hits[0] if hits else ""}
    elif ask["do"] == "step":
        answer = step(ask["action"])
    elif ask["do"] == "shows":
        answer = {"shows": any(ask["text"] in name for _, _, name in nodes())}
    else:
        break
    print(json.dumps(answer), flush=True)
for one in (env, *others):
    if one is not None:
        one.close()

"""BrowserGym behind the same small protocol as webassay, for scripts/bench_browser.py.

Runs in BrowserGym's own environment and imports nothing of webassay. One JSON object a line in, one out.
"""

import json
import sys

import browsergym.core  # noqa: F401  (registers the environments)
import gymnasium

fast = sys.argv[1] == "fast"
settings = {"slow_mo": 0, "pre_observation_delay": 0.0} if fast else {}
env = None
others = []
seen = None


def environment(url):
    made = gymnasium.make(
        "browsergym/openended",
        task_kwargs={"start_url": url, "goal": "nothing"},
        headless=True,
        disable_env_checker=True,
        **settings,
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


for line in sys.stdin:
    ask = json.loads(line)
    if ask["do"] == "start":
        env, seen = environment(ask["url"])
        answer = {}
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

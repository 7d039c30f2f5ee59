"""A training loop in fifty lines: a table learns to look before it answers.

python examples/train_loop.py --episodes 20 --out runs/training
webassay report runs/training

The policy knows three moves and learns which one pays off on which page. Put a model of yours in its place.
"""

import argparse
import json
import random
import re
from collections import defaultdict

import gymnasium

import webassay.doors.gym  # registers the environment

MOVES = ("search", "answer 0", "answer that it is not there")


def as_action(move: str, observation: dict) -> str:
    """What the policy has chosen, as a call that the environment understands."""
    if move == "search":
        wanted = re.search(r'"([^"]+)"', observation["goal"])[1]
        box = re.search(r"\[(\d+)\] combobox 'Search", observation["tree"])[1]
        return f"fill({box!r}, {wanted!r}); press({box!r}, 'Enter')"
    answer = {"action": "retrieve", "status": "SUCCESS", "results": [0]}
    if move == "answer that it is not there":
        answer = {"action": "retrieve", "status": "NOT_FOUND_ERROR", "results": None}
    return f"send_msg_to_user({json.dumps(answer)!r})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--out", help="a run directory to record the episodes in")
    parser.add_argument("--cache", help="where built worlds are kept")
    given = parser.parse_args()
    env = gymnasium.make(
        webassay.doors.gym.ID,
        templates=("shop.price-of-nothing",),
        parts=("tree",),
        max_steps=4,
        out=given.out,
        agent="table",
        cache=given.cache,
    )
    chance = random.Random(0)
    returns: dict[tuple[str, str], list[float]] = defaultdict(list)

    def value(page: str, move: str) -> float:
        seen = returns[page, move]
        return (sum(seen) + 1) / (len(seen) + 1)  # what has not been tried looks promising

    for episode in range(given.episodes):
        observation, info = env.reset(seed=episode)
        visited, over = [], False
        while not over:
            page = observation["title"].split()[0]
            move = max(MOVES, key=lambda one: (value(page, one), chance.random()))
            visited.append((page, move))
            observation, reward, terminated, truncated, info = env.step(as_action(move, observation))
            over = terminated or truncated
        print(f"{info['task']}: reward {reward:g} ({info['status']}) after {[move for _, move in visited]}")
        if info["status"] in ("pass", "fail"):  # a fault says nothing about the policy
            for left, visit in enumerate(reversed(visited)):
                returns[visit].append(reward * 0.9**left)  # sooner is better
    env.close()


if __name__ == "__main__":
    main()

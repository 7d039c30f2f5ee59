"""The gymnasium environment on real sites in a real browser."""

import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra `gym`")

from gymnasium.error import ResetNeeded  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv  # noqa: E402

import webassay.doors.gym  # noqa: E402
from tests.support.process_tree import megabytes, pids, wait_until_ended  # noqa: E402
from tests.support.templates import sampled  # noqa: E402
from tests.support.worlds import CACHE  # noqa: E402
from webassay import Workbench  # noqa: E402
from webassay.compose.builder import solution_of  # noqa: E402
from webassay.core.errors import InputError  # noqa: E402
from webassay.core.interaction import Action, Decision  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
ID = f"webassay.doors.gym:{webassay.doors.gym.ID}"
NOTHING, REVIEWS, ADDRESS = "shop.price-of-nothing", "shop.low-reviews", "shop.change-address"
WRONG = Action.of("send_msg_to_user", '{"action": "retrieve", "status": "SUCCESS", "results": [98765]}').text
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes through /proc")


def made(*templates, **settings):
    given = {"templates": templates or (NOTHING,), "instances": 1, "cache": str(CACHE), "parts": ("tree",)}
    return gymnasium.make(ID, **{**given, **settings})


@pytest.fixture(scope="module", autouse=True)
def one_browser_for_all():
    """As long as one environment is open, the browser and the sites stay up."""
    with made() as env:
        env.reset()
        yield


@pytest.fixture
def env():
    with made() as env:
        yield env


class Solver:
    """Plays a reference solution, a step at a time. Like any policy it sees pages and nothing else."""

    def __init__(self, task, page):
        self._walk = solution_of(task)(page)
        self._started = False

    def action(self, page) -> Action:
        try:
            action = self._walk.send(page) if self._started else next(self._walk)
        except StopIteration as done:
            return Action.of("send_msg_to_user", json.dumps(done.value, ensure_ascii=False))
        self._started = True
        return action


def solve(env, **reset):
    env.reset(**reset)
    inner = env.unwrapped
    solver = Solver(inner.task, inner.observation)
    while True:
        observation, reward, terminated, truncated, info = env.step(solver.action(inner.observation).text)
        assert observation in env.observation_space
        if terminated or truncated:
            return reward, terminated, info
        assert (reward, info["status"]) == (0.0, "running")


# --- gymnasium's own rules --------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("actions", ["text", pytest.param("decision", marks=pytest.mark.slow)])
def test_gymnasiums_checker_has_nothing_to_say(actions):
    """It also holds equal seeds to equal observations; warnings are errors."""
    parts = ("tree", "screenshot", "text")
    with made(NOTHING, REVIEWS, actions=actions, parts=parts, render_mode="rgb_array") as env:
        check_env(env.unwrapped)


def test_the_same_seed_gives_the_same_task_and_the_same_first_observation():
    with made(NOTHING, REVIEWS, ADDRESS, instances=2) as one, made(NOTHING, REVIEWS, ADDRESS, instances=2) as other:
        first, info = one.reset(seed=5)
        again, info_again = other.reset(seed=5)
        assert (first, info) == (again, info_again)
        drawn = {one.reset(seed=seed)[1]["task"] for seed in range(8)}
        assert len(drawn) > 2
        chosen = one.reset(options={"task": f"{ADDRESS}.w0s0.1"})[1]["task"]
        assert chosen == f"{ADDRESS}.w0s0.1"


def test_the_picture_is_the_page(env):
    with made(parts=("screenshot",), render_mode="rgb_array") as seeing:
        observation, _ = seeing.reset(seed=1)
        shown = seeing.render()
        assert observation["screenshot"].shape == (720, 1280, 3) and observation["screenshot"].dtype == np.uint8
        assert np.array_equal(observation["screenshot"], shown) and shown.std() > 10
        seeing.step("scroll(0, 400)")
        assert not np.array_equal(seeing.render(), shown)
    with made(parts=("tree",), render_mode="rgb_array") as blind:
        assert "screenshot" not in blind.reset(seed=1)[0]
        assert np.array_equal(blind.render(), shown)


# --- rewards ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", sampled(NOTHING, REVIEWS, ADDRESS))
def test_the_reference_solution_earns_one(template):
    with made(template) as env:
        reward, terminated, info = solve(env)
        assert (reward, terminated, info["status"], info["findings"]) == (1.0, True, "pass", ())
        assert env.unwrapped.trajectory.ending.kind == "answered"
        assert info["steps"] == len(env.unwrapped.trajectory.steps)
        with pytest.raises(ResetNeeded):
            env.step("noop()")


def test_a_wrong_answer_earns_nothing_and_nothing_tells_the_right_one():
    with made(REVIEWS) as env:
        env.reset()
        observation, reward, terminated, truncated, info = env.step(WRONG)
        verdict = env.unwrapped.verdict
        right = next(one.expected for one in verdict.findings if one.check == "response.results")
        assert (reward, terminated, truncated, info["status"]) == (0.0, True, False, "fail")
        assert any(one.startswith("response.results: ") for one in info["findings"])
        told = " ".join(info["findings"]) + observation["goal"]
        assert right and not any(re.search(rf"\b{value}\b", told) for value in re.findall(r"\d+", json.dumps(right)))


def test_an_action_that_cannot_be_read_is_told_and_the_episode_goes_on(env):
    env.reset()
    observation, reward, terminated, truncated, info = env.step("do something \ud800 useful")
    assert "click('12')" in observation["last_error"] and observation in env.observation_space
    assert (info["last_error"], observation["step"]) == (observation["last_error"], 1)
    assert (reward, terminated, truncated) == (0.0, False, False)
    observation, *_ = env.step("click('99999')")
    assert "99999" in observation["last_error"]
    assert env.step("scroll(0, 10)")[0]["last_error"] == ""


def test_addresses_in_observations_work_as_addresses_in_actions(env):
    first, _ = env.reset()
    assert first["url"] == first["tabs"].split()[0] == "http://shop.localhost/"
    moved, *_ = env.step("goto('http://shop.localhost/account/login')")
    assert moved["last_error"] == "" and moved["url"].startswith("http://shop.localhost/account/login")
    real = env.unwrapped.observation.url
    assert re.match(r"http://shop\.[0-9a-f]{16}\.localhost:\d+/account/login", real)


def test_decisions_are_recorded_with_their_thoughts():
    with made(actions="decision") as env:
        env.reset()
        env.step(Decision(actions=(Action.of("goto", "http://shop.localhost/"),), thought="Home first."))
        *_, truncated, info = env.step(Decision.answer("Nothing."))
        steps = env.unwrapped.trajectory.steps
        assert not truncated and info["status"] == "fail"
        assert (steps[0].thought, steps[0].error) == ("Home first.", "")


def test_too_many_steps_truncate():
    with made(max_steps=2) as env:
        env.reset()
        assert env.step("scroll(0, 10)")[2:4] == (False, False)
        _, reward, terminated, truncated, info = env.step("scroll(0, 10)")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert (info["ending"], info["status"]) == ("step_limit", "fail")


def test_too_much_time_truncates(env):
    env.reset()
    env.unwrapped._seat._episode._started -= 10_000
    observation, reward, terminated, truncated, info = env.step("scroll(0, 10)")
    assert (reward, terminated, truncated, info["ending"]) == (0.0, False, True, "time_limit")
    assert observation in env.observation_space


@pytest.mark.long
@needs_proc
def test_a_browser_that_dies_is_no_failure_of_the_agent_and_is_replaced(env):
    with made(NOTHING) as other:
        other.reset()
        env.reset()
        browser = env.unwrapped._seat._context.browser
        assert browser.pid in pids(os.getpid()) and browser is other.unwrapped._seat._context.browser
        os.kill(browser.pid, signal.SIGKILL)
        for one in (env, other):
            observation, reward, terminated, truncated, info = one.step("scroll(0, 10)")
            assert (reward, terminated, truncated) == (0.0, False, True)
            assert (info["status"], info["ending"]) == ("fault", "fault") and "Chromium" in info["fault"]
            assert observation in one.observation_space
        assert solve(env)[0] == solve(other)[0] == 1.0


# --- side by side -----------------------------------------------------------------------------------------------


def test_two_side_by_side_do_not_disturb_each_other():
    with made(ADDRESS) as one, made(ADDRESS) as other, made(ADDRESS) as idle:
        pages = [env.unwrapped for env in (one, other)]
        for env in (one, other, idle):
            env.reset(seed=3)
        assert len({env.unwrapped.observation.url for env in (one, other, idle)}) == 3
        solvers = [Solver(page.task, page.observation) for page in pages]
        rewards = {}
        while len(rewards) < 2:
            for env, page, solver in zip((one, other), pages, solvers, strict=True):
                if env not in rewards:
                    _, reward, terminated, _, _ = env.step(solver.action(page.observation).text)
                    if terminated:
                        rewards[env] = reward
        assert list(rewards.values()) == [1.0, 1.0]
        # The third claims to have changed what the other two did change.
        *_, info = idle.step(Action.of("send_msg_to_user", one.unwrapped.trajectory.answer).text)
        assert info["status"] == "fail" and any(finding.startswith("state.required") for finding in info["findings"])


@pytest.mark.long
def test_in_threads():
    def play(seed):
        with made(NOTHING, ADDRESS) as env:
            return [solve(env, seed=seed)[0] for _ in range(2)]

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(play, range(3))) == [[1.0, 1.0]] * 3


def test_a_vector_in_one_process():
    makers = [partial(made, NOTHING), partial(made, REVIEWS)]
    envs = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.NEXT_STEP)
    try:
        observations, infos = envs.reset(seed=1)
        assert [task.rpartition(".w")[0] for task in infos["task"]] == [NOTHING, REVIEWS]
        assert observations in envs.observation_space and observations["tree"][0] == observations["tree"][1]
        _, rewards, terminated, _, infos = envs.step((WRONG, "scroll(0, 10)"))
        assert (list(rewards), list(terminated), list(infos["status"])) == ([0, 0], [True, False], ["fail", "running"])
        observations, *_ = envs.step(("ignored, since it resets", "scroll(0, 10)"))
        assert list(observations["step"]) == [0, 2]
    finally:
        envs.close()


@pytest.mark.long
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_vector_of_processes(start, env):
    """While this process has an environment of its own, whose thread a fork does not copy."""
    env.reset()
    makers = [partial(gymnasium.make, ID, templates=(NOTHING,), instances=1, cache=str(CACHE), parts=("tree",))] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Newer Pythons advise against forking with threads.
        envs = AsyncVectorEnv(makers, shared_memory=False, context=start)
    try:
        envs.reset(seed=1)
        solvers = [Solver(*given) for given in zip(envs.get_attr("task"), envs.get_attr("observation"), strict=True)]
        for _ in range(10):
            pages = envs.get_attr("observation")
            actions = [solver.action(page).text for solver, page in zip(solvers, pages, strict=True)]
            _, rewards, terminated, _, _ = envs.step(actions)
            if terminated.any():
                break
        assert list(rewards) == [1.0, 1.0] and len({page.url for page in pages}) == 2
    finally:
        envs.close()
    assert env.step("scroll(0, 10)")[0]["last_error"] == ""
    assert env.step(WRONG)[4]["status"] == "fail"


# --- being interrupted, being left ------------------------------------------------------------------------------


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_an_interrupted_step_loses_the_episode_and_nothing_else(env):
    env.reset()
    busy = env.unwrapped._seat._one_at_a_time

    def interrupt():
        while not busy.locked():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        env.step("noop(100000)")
    with pytest.raises(ResetNeeded):
        env.step("noop()")
    assert solve(env)[0] == 1.0


LEFT_OPEN = """
import gymnasium, os
from tests.support.process_tree import pids
env = gymnasium.make({id!r}, templates=({template!r},), instances=1, cache={cache!r})
env.reset()
env.step("scroll(0, 10)")
print(*pids(os.getpid())[1:])
{end}
"""


@pytest.mark.long
@needs_proc
@pytest.mark.parametrize("end", ["", pytest.param("os.kill(os.getpid(), 9)", marks=pytest.mark.slow)])
def test_leaving_without_closing_leaves_nothing_behind(end):
    code = LEFT_OPEN.format(id=ID, template=NOTHING, cache=str(CACHE), end=end)
    command = [sys.executable, "-W", "error", "-u", "-c", code]
    # Not tmp_path: Chromium puts a socket there, and the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="wa-", ignore_cleanup_errors=True) as place:
        here = {**os.environ, "TMPDIR": place}
        done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, timeout=120)
        started = [int(pid) for pid in done.stdout.split()]
        assert len(started) >= 2 and not done.stderr, done.stderr
        if not end:
            assert done.returncode == 0
            assert not list(Path(place).glob("webassay-*")), "no profile and no session folder is left"
    wait_until_ended(started)


# --- run directories --------------------------------------------------------------------------------------------


@pytest.mark.long
def test_episodes_are_recorded_in_a_run_directory(tmp_path):
    out = tmp_path / "run"
    with made(out=str(out), agent="mine") as env, made(out=out, agent="mine") as other:
        assert [solve(env)[0], solve(other)[0]] == [1.0, 1.0]
        env.reset()
        env.step(WRONG)
        env.reset()  # never finished
        env.step("scroll(0, 10)")
        with made(REVIEWS, out=out) as third, pytest.raises(InputError, match="other options"):
            third.reset()
    with made(out=out, agent="mine") as env:
        env.reset()
        env.step(WRONG)
    bench = Workbench(cache=CACHE)
    assert sorted((row["trial"], row["status"]) for row in bench.rows([out])) == [
        (0, "pass"), (1, "pass"), (2, "fail"), (3, "fail"),
    ]  # fmt: skip
    assert bench.report([out]).agents[0].success.counts.passed == 2
    assert [one.changed for one in bench.grade(out)] == [False] * 4


# --- for long ---------------------------------------------------------------------------------------------------


@needs_proc
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_resets_leave_nothing_behind(env):
    inner = env.unwrapped

    def play(times):
        for number in range(times):
            env.reset(seed=number)
            env.step("scroll(0, 200)")
            if number % 2:
                env.step(WRONG)

    def state():
        gc.collect()
        arena, browser = inner._seat._context.environment, inner._seat._context.browser
        return {
            "objects": len(gc.get_objects()),
            "threads": threading.active_count(),
            "files": len(list(Path("/proc/self/fd").iterdir())),
            "worlds": inner._engine.call(arena.stats())["worlds"],
            "sessions": len(browser._contexts),
            "megabytes": megabytes(os.getpid()),
        }

    play(40)
    before = state()
    play(200)
    after = state()
    print(before, after)
    for exact in ("threads", "files", "worlds", "sessions"):
        assert after[exact] <= before[exact], exact
    assert after["objects"] < before["objects"] * 1.01 + 500
    assert after["megabytes"] < before["megabytes"] * 1.1 + 30


# --- what we tell others to run ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("episodes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_the_example_runs_and_learns(tmp_path, episodes):
    out = tmp_path / "run"
    command = [sys.executable, "examples/train_loop.py", "--episodes", str(episodes), "--cache", str(CACHE)]
    done = subprocess.run([*command, "--out", str(out)], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == episodes and all("reward" in line for line in told)
    statuses = [row["status"] for row in Workbench().rows([out])]
    assert (len(statuses), statuses.count("pass")) == (episodes, done.stdout.count("reward 1"))
    if episodes == 8:
        assert "reward 1 (pass) after ['search', 'answer that it is not there']" in told[-1]

"""The environment's spaces, settings and shared things, without a browser."""

import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra `gym`")

from gymnasium.error import ClosedEnvironmentError, InvalidAction, ResetNeeded  # noqa: E402

import webassay.doors.gym  # noqa: E402
from tests.support.worlds import CACHE  # noqa: E402
from webassay.core.errors import BrowserError, InputError  # noqa: E402
from webassay.core.interaction import ACTIONS, Action, Decision, parse_actions  # noqa: E402
from webassay.doors.addresses import PlainAddresses  # noqa: E402
from webassay.doors.engine import SharedResource  # noqa: E402
from webassay.doors.gym.spaces import ActionText, AnyText, Decisions  # noqa: E402

ONE = {"templates": ("shop.price-of-nothing",), "instances": 1, "cache": str(CACHE)}


def made(**settings):
    return gymnasium.make(webassay.doors.gym.ID, **{**ONE, **settings})


# --- spaces -----------------------------------------------------------------------------------------------------


@given(st.text(st.characters()))
def test_any_text_admits_what_can_be_written_and_nothing_else(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        assert text not in AnyText()
    else:
        assert text in AnyText()


@pytest.mark.parametrize("thing", [None, b"text", 7, ["text"]])
def test_only_texts_are_texts(thing):
    assert thing not in AnyText() and thing not in ActionText()


@given(st.integers(0, 2**32))
def test_samples_are_in_their_space_and_repeat_with_the_seed(seed):
    for kind in (AnyText, ActionText, Decisions):
        one, other = kind(), kind()
        one.seed(seed), other.seed(seed)
        drawn = [one.sample() for _ in range(5)]
        assert drawn == [other.sample() for _ in range(5)]
        assert all(sample in one for sample in drawn)


@given(st.integers(0, 2**32))
def test_a_sampled_action_can_be_read_and_never_ends_the_episode(seed):
    space = ActionText()
    space.seed(seed)
    assert not any(ACTIONS[action.name].ends_episode for action in parse_actions(space.sample()))


def test_spaces_of_a_kind_are_equal():
    assert AnyText() == AnyText() and ActionText() == ActionText() and Decisions() == Decisions()
    assert AnyText() != ActionText() and Decisions() != ActionText()


# --- addresses --------------------------------------------------------------------------------------------------

BASES = {"shop": "http://shop.0123456789abcdef.localhost:4711", "big_forum": "http://big-forum.0123.localhost:4711"}


@given(st.lists(st.sampled_from([*BASES.values(), "/orders?page=2", "http://elsewhere.localhost/", " ", "é"])))
def test_addresses_come_back_as_they_were(pieces):
    text, addresses = "".join(pieces), PlainAddresses(BASES)
    assert addresses.unmask(addresses.mask(text)) == text


def test_what_is_shown_tells_nothing_of_the_secret_part():
    shown = PlainAddresses(BASES).mask(f"{BASES['shop']}/a {BASES['big_forum']}")
    assert shown == "http://shop.localhost/a http://big-forum.localhost"


def test_addresses_are_filled_in_wherever_an_action_has_texts():
    given_args = {"url": "http://shop.localhost/a", "options": ["shop.localhost", "x"], "index": 3}
    host = "shop.0123456789abcdef.localhost:4711"
    assert PlainAddresses(BASES).unmask(given_args) == {"url": f"http://{host}/a", "options": [host, "x"], "index": 3}


# --- settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"templates": "shop.low-reviews"}, r"Write templates=\('shop.low-reviews',\)"),
        ({"templates": ("shop.low-review",)}, "shop.low-reviews"),
        ({"tasks": ("nosuch",)}, "nosuch"),
        ({"parts": ("tree", "full_screenshot")}, "no part 'full_screenshot'"),
        ({"actions": "keys"}, "Use text or decision"),
        ({"grader": "luck"}, "luck"),
        ({"benchmark": "nosuch"}, "nosuch"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_starts(settings, says):
    with pytest.raises(InputError, match=says):
        made(**settings)


def test_tasks_that_nobody_can_reset_are_refused(tmp_path):
    tasks = tmp_path / "tasks.py"
    tasks.write_text(
        "from webassay.benchmarks.base import Benchmark\n"
        "from webassay.core.interaction import Goal, ResponseProtocol\n"
        "from webassay.core.task import JudgedCheck, Task\n"
        "goal = Goal(instruction='Look.', start_urls=('http://localhost/',),\n"
        "            protocol=ResponseProtocol(name='free', instructions=''))\n"
        "task = Task(id='open.0', benchmark='open', template='open', kind='retrieve', goal=goal,\n"
        "            checks=(JudgedCheck(),), sites=())\n"
        "OPEN = Benchmark('mine', 'Mine.', lambda selection, sources: [task], environment='open-web')\n"
    )
    with pytest.raises(InputError, match="not played in the arena"):
        made(benchmark=f"{tasks}:OPEN", templates=())


def test_an_unknown_setting_is_an_error():
    with pytest.raises(TypeError, match="template"):
        made(template="shop.low-reviews")


def test_registering_again_does_no_harm():
    webassay.doors.gym.register()
    assert gymnasium.spec(webassay.doors.gym.ID).entry_point == "webassay.doors.gym.env:WebassayEnv"


def test_what_an_environment_was_made_with_can_be_written_to_a_file():
    spec = made(max_steps=7, parts=("tree",), out="runs/x").spec
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(spec.to_json()))
    assert again.unwrapped.settings.max_steps == 7
    assert again.unwrapped._plan.selection == made().unwrapped._plan.selection
    assert again.observation_space == made(parts=("tree",)).observation_space


@pytest.mark.parametrize(
    ("parts", "keys"),
    [((), set()), (("marks", "text"), {"screenshot", "text"}), (("boxes", "html", "pruned"), {"html", "pruned"})],
)
def test_the_observation_has_what_was_asked_for(parts, keys):
    always = {"goal", "url", "title", "tabs", "active_tab", "focused", "notices", "last_error", "step"}
    assert set(made(parts=parts).observation_space) == always | keys


# --- order ------------------------------------------------------------------------------------------------------


def test_nothing_works_before_reset_or_after_close():
    env = made(render_mode="rgb_array").unwrapped
    with pytest.raises(ResetNeeded):
        env.step("noop()")
    with pytest.raises(ResetNeeded):
        env.render()
    with pytest.raises(ResetNeeded):
        _ = env.trajectory
    env.close()
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.reset()


def test_an_option_that_does_not_exist_is_an_error():
    with pytest.raises(InputError, match="no option 'tusk'"):
        made().reset(options={"tusk": "shop.price-of-nothing.w0s0.0"})


@pytest.mark.parametrize(
    ("actions", "wrong"),
    [("text", Decision.answer("x")), ("text", 7), ("decision", "noop()"),
     ("decision", Decision(actions=(Action(name="fly"),)))],
)  # fmt: skip
def test_an_action_of_the_wrong_kind_is_the_callers_mistake(actions, wrong):
    env = made(actions=actions).unwrapped
    env._running = True
    with pytest.raises(InvalidAction):
        env.step(wrong)


# --- shared things ----------------------------------------------------------------------------------------------


class Opened:
    def __init__(self, failures=0, wait=None):
        self.events, self.failures, self.wait = [], failures, wait

    @contextlib.asynccontextmanager
    async def open(self):
        self.events.append("open")
        if self.wait is not None:
            await self.wait.wait()
        if self.failures:
            self.failures -= 1
            raise BrowserError("It does not start.")
        try:
            yield len(self.events)
        finally:
            self.events.append("close")


async def test_what_is_shared_is_opened_once_and_closed_by_the_last():
    opened = Opened()
    shared = SharedResource(opened.open)
    assert await asyncio.gather(shared.take(), shared.take()) == [1, 1]
    await shared.give_back()
    assert opened.events == ["open"]
    await shared.give_back()
    assert opened.events == ["open", "close"]
    await shared.take()
    assert opened.events == ["open", "close", "open"]
    await shared.give_back()


async def test_what_could_not_be_opened_is_tried_again():
    opened = Opened(failures=1)
    shared = SharedResource(opened.open)
    results = await asyncio.gather(shared.take(), shared.take(), return_exceptions=True)
    assert [type(one) for one in results] == [BrowserError, BrowserError]
    assert await shared.take() == 2
    await shared.give_back()
    assert opened.events == ["open", "open", "close"]


async def test_an_interrupted_taker_leaves_nothing_half_open():
    opened = Opened(wait=asyncio.Event())
    shared = SharedResource(opened.open)
    taking = asyncio.create_task(shared.take())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.wait([taking])
    assert taking.cancelled() and opened.events == ["open"]
    opened.wait.set()
    await shared.close()
    assert opened.events == ["open", "close"]

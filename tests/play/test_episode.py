"""The loop, with a browser and a stage that can be made to break."""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from tests.support import samples
from webassay.benchmarks.open import FREE
from webassay.core.errors import BrowserError, InputError, ProbeError, SiteError
from webassay.core.interaction import Action, Decision, Observation, Tab, Usage
from webassay.core.task import LocatorProbe
from webassay.core.trajectory import LocatorResult, MemoryBlobs, PageResult, RowsResult
from webassay.grading.rules.response import read_response
from webassay.play.episode import Episode, EpisodeContext, Limits, play


@dataclass
class Happened:
    """What the fakes were asked to do, in order."""

    events: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    opening: asyncio.Event = field(default_factory=asyncio.Event)


class FakeSession:
    document = ""
    seconds = 1.25

    def __init__(self, happened: Happened, broken: str = "", refuses: str = "", slow: str = ""):
        self.happened, self.broken, self.refuses, self.slow = happened, broken, refuses, slow

    async def _do(self, what: str) -> None:
        self.happened.events.append(what)
        if self.broken == what:
            raise BrowserError("Chromium crashed.")

    async def open(self, urls):
        await self._do(f"open {urls[0]}")
        self.happened.opening.set()
        if self.slow == "open":
            await asyncio.sleep(60)

    async def observe(self, parts):
        await self._do("observe")
        url = "http://shop.x.localhost:1/"
        return Observation(url=url, title="Shop", tabs=(Tab(url, "Shop"),), active_tab=0, tree="[1] link 'a'",
                           screenshot=b"jpeg")  # fmt: skip

    async def act(self, action):
        await self._do(action.text)
        if self.slow == action.name:
            await asyncio.sleep(60)
        error = "There is no element 9." if self.refuses == action.name else ""
        return SimpleNamespace(error=error, waited_for=("navigation",), act_seconds=0.1, settle_seconds=0.2,
                               aims={"bid": (1.0, 2.0, 3.0, 4.0)} if "bid" in action.args else {})  # fmt: skip

    def take_console(self):
        return ("log: hello",)

    async def seal(self):
        await self._do("seal")
        return b'{"id": "1"}\n{"id": "2"}\n'

    async def cookies(self):
        return []

    async def read_locator(self, url, script):
        await self._do(f"read {url}")
        return "found"


class FakeBrowser:
    def __init__(self, session: FakeSession):
        self._session = session

    @contextlib.asynccontextmanager
    async def session(self, **_):
        try:
            yield self._session
        finally:
            self._session.happened.closed.append("session")


class FakeEnvironment:
    def __init__(self, happened: Happened, broken: str = ""):
        self.happened, self.broken = happened, broken

    @contextlib.asynccontextmanager
    async def stage(self, task):
        if self.broken == "stage":
            raise SiteError("The site server died.")

        async def hand_over():
            self.happened.events.append("hand over")
            if self.broken == "hand over":
                raise ZeroDivisionError

        async def probe(cookies, blobs):
            self.happened.events.append("probe")
            if self.broken == "probe":
                raise ProbeError("The rows could not be compared.")
            return (RowsResult(site="shop", changes=()),)

        async def at_step(index):
            self.happened.steps.append(index)

        try:
            yield SimpleNamespace(bases={"shop": "http://shop.x.localhost:1"}, cookies=(), allowed_hosts=frozenset(),
                                  now_ms=0, hand_over=hand_over, at_step=at_step, probe=probe)  # fmt: skip
        finally:
            self.happened.closed.append("stage")


class Puppet:
    """Returns what it is given, one after the other; an exception is raised."""

    name = "puppet"
    wants = ("tree",)

    def __init__(self, *decisions):
        self.decisions = list(decisions)
        self.seen: list[Observation] = []
        self.goal = None

    async def start(self, goal):
        self.goal = goal

    async def decide(self, observation):
        self.seen.append(observation)
        decision = self.decisions.pop(0) if self.decisions else "noop()"
        if isinstance(decision, BaseException):
            raise decision
        return await decision if asyncio.iscoroutine(decision) else decision


class Play:
    def __init__(self, *decisions, task=None, limits=None, broken="", refuses="", stage_broken="", slow=""):
        self.happened = Happened()
        self.agent = Puppet(*decisions)
        self.task = task or samples.task(max_steps=5)
        self.blobs = MemoryBlobs()
        self.context = EpisodeContext(
            browser=FakeBrowser(FakeSession(self.happened, broken, refuses, slow)),
            environment=FakeEnvironment(self.happened, stage_broken),
            blobs=self.blobs,
            limits=limits or Limits(),
        )

    async def trajectory(self):
        return await play(self.task, self.agent, self.context, id="t", seed=3, trial=1)


async def test_an_answer_ends_the_episode_and_is_kept_as_it_came():
    played = Play("click('1')", Decision.answer(" {odd} ", thought="done"))
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == "answered"
    assert trajectory.answer == " {odd} "
    assert [step.index for step in trajectory.steps] == [0, 1] == played.happened.steps
    assert trajectory.steps[0].waited_for == ("navigation",)
    assert trajectory.steps[1].thought == "done"
    assert (trajectory.task_hash, trajectory.seed, trajectory.trial) == (played.task.content_hash(), 3, 1)
    assert played.blobs.read(trajectory.steps[0].seen.tree) == b"[1] link 'a'"
    assert trajectory.network.count == 2


async def test_what_people_who_look_later_need_is_recorded_beside_the_step():
    first, last = (await Play("click('1')\nnoop()\nhover('2')", Decision.answer("x")).trajectory()).steps
    assert [(aim.action, aim.argument, aim.box) for aim in first.aims] == [
        (0, "bid", (1.0, 2.0, 3.0, 4.0)), (2, "bid", (1.0, 2.0, 3.0, 4.0)),
    ]  # fmt: skip
    assert (first.console, first.timing.at, last.aims) == (("log: hello",), 1.25, ())
    bare = first.model_copy(update={"aims": (), "console": ()}).model_dump(mode="json")
    assert not bare.keys() & {"aims", "console"}, "what was recorded before keeps its hash"


async def test_the_log_is_sealed_before_anybody_looks():
    task = samples.task(probes=(LocatorProbe(name="title", url="__SHOP__/x", script="document.title"),))
    played = Play(Decision.answer("x"), task=task)
    trajectory = await played.trajectory()
    order = [event for event in played.happened.events if event != "observe"]
    assert order == [
        "open http://shop.x.localhost:1/",
        "hand over",
        "seal",
        "probe",
        "read http://shop.x.localhost:1/x",
    ]
    assert [type(probe) for probe in trajectory.probes] == [PageResult, RowsResult, LocatorResult]


async def test_the_agent_is_told_the_real_addresses_and_the_record_keeps_the_place_holders():
    played = Play(Decision.answer("x"))
    trajectory = await played.trajectory()
    assert played.agent.goal.start_urls == ("http://shop.x.localhost:1/",)
    assert trajectory.goal.start_urls == ("__SHOP__/",)
    assert trajectory.bases == {"shop": "http://shop.x.localhost:1"}


async def test_the_key_is_not_in_the_record():
    trajectory = await Play(Decision.answer("x")).trajectory()
    assert "checks" not in trajectory.to_json()


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("report_infeasible('no such thing')", "UNKNOWN_ERROR"),
        ("report_infeasible('no such thing', 'NOT_FOUND_ERROR')", "NOT_FOUND_ERROR"),
        ("report_infeasible(status='PERMISSION_DENIED_ERROR', reason='no such thing')", "PERMISSION_DENIED_ERROR"),
    ],
)
async def test_a_refusal_is_an_answer_of_the_protocol(said, status):
    trajectory = await Play(said).trajectory()
    assert trajectory.ending.kind == "gave_up"
    read = read_response(trajectory.answer, "arena")
    assert (read.findings, read.recovered) == ((), ())
    assert (read.value["status"], read.value["results"], read.value["error_details"]) == (status, None, "no such thing")


@pytest.mark.parametrize("status", ["SUCCESS", "not_found_error", "404", ""])
async def test_a_refusal_with_a_status_that_does_not_exist_goes_on(status):
    played = Play(f"report_infeasible('no such thing', {status!r})", Decision.answer("x"))
    assert (await played.trajectory()).ending.kind == "answered"
    assert "NOT_FOUND_ERROR" in played.agent.seen[1].last_error


async def test_whoever_refuses_with_the_whole_response_means_that_response():
    said = '{"action": "mutate", "status": "NOT_FOUND_ERROR", "results": null}'
    trajectory = await Play(Decision(actions=(Action.of("report_infeasible", said),))).trajectory()
    assert trajectory.answer == said


async def test_a_reason_that_only_speaks_of_a_status_is_a_reason():
    said = 'The "status" of the order is {unknown}.'
    trajectory = await Play(Decision(actions=(Action.of("report_infeasible", said),))).trajectory()
    assert json.loads(trajectory.answer)["error_details"] == said


async def test_without_a_protocol_a_refusal_is_what_was_said():
    free = samples.task(goal=samples.goal(protocol=FREE))
    assert (await Play("report_infeasible('no shop here')", task=free).trajectory()).answer == "no shop here"
    said = "report_infeasible('no shop here', 'NOT_FOUND_ERROR')"
    assert (await Play(said, task=free).trajectory()).answer == "NOT_FOUND_ERROR: no shop here"


async def test_actions_over_the_limit_are_reported():
    fills = "\n".join(f"fill('{number}', 'x')" for number in range(25))
    played = Play(fills, Decision.answer("x"))
    trajectory = await played.trajectory()
    assert sum(event.startswith("fill") for event in played.happened.events) == 20
    told = played.agent.seen[1].last_error
    assert told.startswith("One step takes at most 20 actions: 20 done, 5 skipped: fill(bid='20', value='x'), ")
    assert len(trajectory.steps[0].actions) == 25


async def test_an_answer_over_the_limit_is_no_answer():
    played = Play("noop(); noop(); send_msg_to_user('x')", Decision.answer("y"), limits=Limits(actions_a_step=2))
    assert (await played.trajectory()).answer == "y"
    assert "2 done, 1 skipped" in played.agent.seen[1].last_error


async def test_after_a_failed_action_the_rest_is_skipped_and_the_agent_knows():
    played = Play("noop(); click('9'); fill('2', 'x'); noop()", "click('9')", Decision.answer("x"), refuses="click")
    trajectory = await played.trajectory()
    assert not any(event.startswith("fill") for event in played.happened.events)
    told = "There is no element 9. (Action 2 of 4: 1 done, 2 skipped: fill(bid='2', value='x'), noop().)"
    assert played.agent.seen[1].last_error == trajectory.steps[0].error == told
    assert played.agent.seen[2].last_error == "There is no element 9."


async def test_an_agent_sees_what_it_asked_for_and_nothing_that_was_recorded_besides():
    played = Play(Decision.answer("x"))
    trajectory = await played.trajectory()
    assert (played.agent.seen[0].tree, played.agent.seen[0].screenshot) == ("[1] link 'a'", None)
    assert trajectory.steps[0].seen.screenshot is not None
    looking = Play(Decision.answer("x"))
    looking.agent.wants = ("screenshot",)
    await looking.trajectory()
    assert (looking.agent.seen[0].tree, looking.agent.seen[0].screenshot) == (None, b"jpeg")


async def test_the_agent_is_told_how_many_steps_there_are():
    played = Play(Decision.answer("x"))
    await played.trajectory()
    assert (played.agent.goal.max_steps, played.agent.goal.hints) == (5, ())
    goal = samples.goal(hints=("You may take at most 5 steps.", "You are Ana."))
    limited = Play(Decision.answer("x"), task=samples.task(goal=goal, max_steps=5), limits=Limits(steps=3))
    await limited.trajectory()
    assert limited.agent.goal.max_steps == 3
    assert limited.agent.goal.hints == ("You are Ana.", "You may take at most 3 steps.")


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"decide_seconds": 0}, {"episode_seconds": -1}, {"actions_a_step": 0}])
def test_a_limit_that_lets_nothing_through_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Limits(**wrong)


async def test_an_agent_that_never_stops_is_stopped():
    trajectory = await Play().trajectory()
    assert trajectory.ending.kind == "step_limit"
    assert len(trajectory.steps) == 5
    assert trajectory.probes  # what it did is looked at all the same


async def test_an_agent_that_never_decides_is_stopped():
    played = Play(asyncio.sleep(60), limits=Limits(decide_seconds=0.05))
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == "agent_crashed"
    assert "longer than 0.05 s" in trajectory.ending.message


async def test_an_episode_has_an_end():
    played = Play(asyncio.sleep(60), limits=Limits(episode_seconds=0.05))
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == "time_limit"
    assert trajectory.network is not None


async def test_what_was_under_way_when_the_time_was_up_is_recorded_with_its_price():
    spent = Usage(input_tokens=10, output_tokens=1, calls=1, cost_usd=0.5)
    played = Play(Decision((Action.of("click", "1"),), usage=spent), limits=Limits(episode_seconds=0.2), slow="click")
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == "time_limit"
    assert [(step.actions[0].name, step.usage) for step in trajectory.steps] == [("click", spent)]


@pytest.mark.parametrize("decision", [ZeroDivisionError("oops"), 42, None, {"action": "click"}, Exception("")])
async def test_an_agent_that_breaks_ends_its_own_episode_only(decision):
    trajectory = await Play("noop()", decision).trajectory()
    assert trajectory.ending.kind == "agent_crashed"
    assert "puppet" in trajectory.ending.message
    assert len(trajectory.steps) == 1
    assert trajectory.probes


async def test_text_that_is_no_action_is_shown_to_the_agent_and_the_episode_goes_on():
    played = Play("fly me to the moon", Decision.answer("x"))
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == "answered"
    assert trajectory.steps[0].action_text == "fly me to the moon"
    assert trajectory.steps[0].actions == ()
    assert "no action in" in played.agent.seen[1].last_error


async def test_an_answer_among_several_actions_comes_after_those_before_it():
    played = Play("click('1')\nsend_msg_to_user('x')\nclick('2')")
    trajectory = await played.trajectory()
    clicks = [event for event in played.happened.events if event.startswith("click")]
    assert clicks == [Action.of("click", "1").text]
    assert trajectory.answer == "x"


@pytest.mark.parametrize("broken", ["observe", "click(bid='1')", "seal"])
async def test_a_browser_that_dies_is_a_fault_of_ours(broken):
    trajectory = await Play("click('1')", Decision.answer("x"), broken=broken).trajectory()
    assert trajectory.ending.kind == "fault"
    assert trajectory.ending.fault.boundary == "BrowserError"


@pytest.mark.parametrize("where", ["stage", "probe"])
async def test_a_site_that_dies_is_a_fault_of_ours(where):
    trajectory = await Play(Decision.answer("x"), stage_broken=where).trajectory()
    assert trajectory.ending.kind == "fault"
    assert not any(isinstance(probe, RowsResult) for probe in trajectory.probes)


async def test_an_agent_with_something_open_is_told_to_close_it():
    played = Play(ZeroDivisionError())
    stopped = []

    async def stop():
        stopped.append(True)

    played.agent.stop = stop
    await played.trajectory()
    assert stopped == [True]


async def test_a_start_page_that_outlasts_the_limit_ends_the_episode_like_any_other_wait():
    played = Play(slow="open", limits=Limits(episode_seconds=0.05))
    trajectory = await played.trajectory()
    assert (trajectory.ending.kind, trajectory.steps) == ("time_limit", ())
    assert (played.agent.goal, played.agent.seen) == (None, [])
    assert played.happened.closed == ["session", "stage"]


async def test_cancelling_while_the_start_pages_load_closes_what_was_open():
    played = Play(slow="open")
    task = asyncio.ensure_future(played.trajectory())
    await played.happened.opening.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert played.happened.closed == ["session", "stage"]


async def test_an_error_that_nobody_foresaw_while_opening_closes_everything_and_passes_through():
    played = Play(stage_broken="hand over")
    with pytest.raises(ZeroDivisionError):
        await played.trajectory()
    assert played.happened.closed == ["session", "stage"]


# --- stepped from outside ---------------------------------------------------------------------------------------


async def test_an_episode_can_be_stepped_from_outside():
    played = Play()
    async with Episode(played.task, played.context, id="mine", seed=3) as episode:
        assert episode.goal.start_urls[0].startswith("http://shop.x.localhost:1")
        seen = await episode.observe()
        assert (seen.step, seen.tree, episode.over) == (0, "[1] link 'a'", False)
        await episode.step("click('1')")
        assert (await episode.observe()).step == 1
        step = await episode.step(Decision.answer("42"))
        assert episode.over and step.index == 1
    assert (episode.trajectory.answer, episode.trajectory.ending.kind) == ("42", "answered")
    assert (episode.trajectory.id, episode.trajectory.seed) == ("mine", 3)
    assert played.happened.events[-2:] == ["seal", "probe"]


async def test_a_step_without_a_look_takes_one_by_itself():
    played = Play()
    async with Episode(played.task, played.context, id="mine") as episode:
        await episode.step("click('1')")
    assert episode.trajectory.steps[0].seen.url == "http://shop.x.localhost:1/"


async def test_finishing_twice_seals_and_probes_once():
    played = Play()
    episode = Episode(played.task, played.context, id="mine")
    await episode.open()
    await episode.step(Decision.answer("42"))
    assert await episode.finish() is await episode.finish()
    assert played.happened.events.count("seal") == 1
    with pytest.raises(RuntimeError, match="not open"):
        await episode.observe()


async def test_an_unfinished_episode_has_no_trajectory_yet():
    played = Play()
    with pytest.raises(RuntimeError, match="finish"):
        _ = Episode(played.task, played.context, id="mine").trajectory


async def test_an_episode_that_is_left_early_is_still_recorded_and_probed():
    played = Play()
    async with Episode(played.task, played.context, id="mine") as episode:
        await episode.step("click('1')")
    assert episode.trajectory.ending.kind == "gave_up"
    assert [probe.kind for probe in episode.trajectory.probes] == ["page", "rows"]


async def test_the_step_limit_ends_a_stepped_episode():
    played = Play(limits=Limits(steps=2))
    async with Episode(played.task, played.context, id="mine") as episode:
        count = 0
        while not episode.over:
            await episode.step("noop()")
            count += 1
    assert (count, episode.trajectory.ending.kind) == (2, "step_limit")


@pytest.mark.parametrize("last", ["send_msg_to_user('first')", "report_infeasible('no')", "click('1')"])
async def test_after_the_end_one_may_look_but_not_act(last):
    played = Play(limits=Limits(steps=1))
    async with Episode(played.task, played.context, id="mine") as episode:
        await episode.step(last)
        answer, acted = episode.answer, len(played.happened.events)
        for late in ("click('2')", "send_msg_to_user('second')"):
            with pytest.raises(RuntimeError, match=r"is over.*finish\(\)"):
                await episode.step(late)
        assert len(played.happened.events) == acted
        assert (await episode.observe()).step == 1
    assert (len(episode.trajectory.steps), episode.trajectory.answer) == (1, answer)


async def test_whoever_steps_sees_the_fault_and_the_record_has_it_too():
    played = Play(broken="click(bid='1')")
    async with Episode(played.task, played.context, id="mine") as episode:
        with pytest.raises(BrowserError):
            await episode.step("click('1')")
        assert episode.over
    assert episode.trajectory.ending.kind == "fault"
    assert "seal" not in played.happened.events


async def test_a_world_that_cannot_be_opened_is_a_fault_and_not_an_exception():
    played = Play(stage_broken="stage")
    async with Episode(played.task, played.context, id="mine") as episode:
        assert episode.over
    assert episode.trajectory.ending.kind == "fault"


async def test_an_error_of_the_caller_closes_everything_and_passes_through():
    played = Play()
    with pytest.raises(ZeroDivisionError):
        async with Episode(played.task, played.context, id="mine") as episode:
            await episode.step("noop()")
            _ = 1 / 0
    assert "seal" not in played.happened.events


# --- what must not end more than its own unit -------------------------------------------------------------------


@pytest.mark.parametrize("when", ["start", "decide", "stop"])
async def test_an_agent_that_raises_cancelled_error_has_crashed(when):
    played = Play(Decision.answer("42"))

    async def cancelled(*_):
        raise asyncio.CancelledError

    setattr(played.agent, when, cancelled)
    trajectory = await played.trajectory()
    assert trajectory.ending.kind == ("answered" if when == "stop" else "agent_crashed")


async def test_a_time_limit_of_the_agents_own_is_not_ours():
    trajectory = await Play(TimeoutError("my model is slow")).trajectory()
    assert trajectory.ending.kind == "agent_crashed"
    assert "my model is slow" in trajectory.ending.message


HOSTILE = "half \ud83d of a pair"


@pytest.mark.parametrize(
    "decision",
    [
        f"send_msg_to_user({HOSTILE!r})",
        Decision.answer(HOSTILE, thought=HOSTILE, memory=HOSTILE, raw=HOSTILE, info={HOSTILE: [HOSTILE]}),
        Decision(actions=(Action(name="fill", args={"bid": "1", "value": HOSTILE}),)),
        Decision.answer("x", info={"bytes": b"\xff", "object": object(), "nan": float("nan")}),
    ],
    ids=["text", "everywhere", "argument", "info"],
)
async def test_whatever_an_agent_says_can_be_stored(decision):
    trajectory = await Play(decision, Decision.answer("done")).trajectory()
    assert json.loads(trajectory.to_json())["ending"]["kind"] == "answered"


async def test_two_halves_become_one_character():
    trajectory = await Play(r"send_msg_to_user('\ud83d\ude00')").trajectory()
    assert trajectory.answer == "\N{GRINNING FACE}"


async def test_whatever_an_agent_calls_itself_can_be_stored():
    played = Play(Decision.answer("42"))
    played.agent.name, played.agent.settings = HOSTILE, {"key": b"\xff"}
    trajectory = await played.trajectory()
    trajectory.to_json().encode()
    played.agent.name = 7
    assert (await played.trajectory()).agent.name == "7"

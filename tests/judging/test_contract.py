"""What every judge promises: about its options, its fingerprint, its rehearsals, and replies from outside."""

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.judging_samples import (
    BUILT_IN,
    JUDGES,
    LITERATURE,
    ByStage,
    golden,
    golden_trajectory,
    prepared,
    replies_of,
    trajectory,
)
from webassay.core.errors import InputError
from webassay.core.options import describe_options, read_options, read_spec
from webassay.core.trajectory import MemoryBlobs
from webassay.core.verdict import Verdict
from webassay.judging import ledger
from webassay.judging.judges.universal import UniversalOptions
from webassay.judging.prompts import Prompts
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources


def run_with_trees():
    blobs = MemoryBlobs()
    return trajectory(blobs, 3, trees={i: f"StaticText 'page {i}'" for i in range(4)}), blobs


# --- what a judge says of itself ------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_judge_describes_itself(name):
    judge = JUDGES.get(name)
    assert judge.name == name and judge.version and 20 < len(judge.summary) < 100 and judge.summary.endswith(".")
    for option in describe_options(judge.options):
        assert option.summary, f"{name}[{option.name}] is not explained"
    with pytest.raises(dataclasses.FrozenInstanceError):
        judge.version = "2"


@pytest.mark.parametrize("name", LITERATURE)
def test_as_published_differs_from_our_own_way(name):
    judge = JUDGES.get(name)
    assert isinstance(judge.as_published, judge.options) and judge.as_published != judge.options()


def options_of(spec):
    name, wishes = read_spec(spec)
    return read_options(name, JUDGES.get(name).options, wishes)


def test_options_are_read_by_name():
    assert options_of("webjudge[threshold=4,parsing=as-published]").threshold == 4
    assert options_of("webvoyager[temperature=0,seed=42]").temperature == 0.0
    assert options_of("universal[profile=paper,votes=3]").as_profile == PROFILES["paper"].with_changes(votes=3)
    assert options_of("universal[record_findings=no]").as_profile.record_findings is False
    assert options_of("universal").as_profile == PROFILES["webassay"]
    with pytest.raises(InputError, match="no setting 'last_images'"):
        options_of("webjudge[last_images=3]")
    with pytest.raises(InputError, match="odd"):
        prepared("universal", None, options_of("universal[votes=2]"))


# --- fingerprints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LITERATURE)
def test_a_fingerprint_holds_the_judge_s_own_version_prompts_and_options(name):
    judge = JUDGES.get(name)
    stamp = prepared(name, ByStage(None)).fingerprint
    assert (stamp.grader, stamp.version, stamp.source, stamp.key) == (name, judge.version, "", "")
    assert {**stamp.settings, "prompts": None} == dataclasses.asdict(judge.options())
    assert stamp.prompts == {name: judge.prompts[name].hash for name in judge.asks}
    assert stamp != prepared(name, ByStage(None), judge.as_published).fingerprint


@pytest.mark.parametrize("name", LITERATURE)
async def test_every_prompt_that_is_used_stands_in_the_fingerprint(name):
    run, blobs = run_with_trees()
    judge = JUDGES.get(name)
    switched = [{"inverted": True}] if "agentrewardbench" in name else []
    used = set()
    for changes in ({}, *switched):
        model = ByStage(lambda purpose, messages: judge.sample_reply)
        await prepared(name, model, dataclasses.replace(judge.options(), **changes)).judge(run.goal, run, blobs)
        used |= {messages[0].text for _, messages in model.asked}
    assert used == {judge.prompts[name].text for name in judge.asks}


@pytest.mark.parametrize("profile", sorted(PROFILES))
async def test_every_prompt_of_the_universal_verifier_stands_in_its_fingerprint(profile):
    case, blobs = golden("12-condition-met"), MemoryBlobs()
    run = golden_trajectory(case, blobs)
    model = ByStage(replies_of(case))
    verdict = await prepared("universal", model, UniversalOptions(profile=profile, taxonomy="paper")).judge(
        run.goal, run, blobs
    )
    used = {messages[0].text for _, messages in model.asked}
    stated = {Prompts()[name].text for name in verdict.fingerprint.prompts}
    assert used <= stated and verdict.status == "fail"
    unused = {name for name in verdict.fingerprint.prompts if Prompts()[name].text not in used}
    assert unused <= {"cp_violation"}, "asked only if the task has a critical point"


def test_a_reader_of_pictures_shows_in_the_fingerprint():
    class Reader:
        name = "someone 1.0"

        def __call__(self, picture):
            return ""

    reading = VerifierResources(read_picture=Reader())
    plain = prepared("universal", ByStage(None)).fingerprint
    assert "read_picture" not in plain.settings
    assert prepared("universal", ByStage(None), resources=reading).fingerprint.settings["read_picture"] == "someone 1.0"
    unused = UniversalOptions(record_findings=False)
    assert "read_picture" not in prepared("universal", ByStage(None), unused, reading).fingerprint.settings


# --- rehearsals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LITERATURE)
async def test_a_judge_can_read_its_own_sample_reply(name):
    run, blobs = run_with_trees()
    judge = JUDGES.get(name)
    verdict = await prepared(name, ByStage(lambda purpose, messages: judge.sample_reply)).judge(run.goal, run, blobs)
    assert verdict.status in ("pass", "fail")


# --- replies come from outside --------------------------------------------------------------------------

HOSTILE = [
    "\ud800",
    "Status: success \udfff",
    '{"items": "\\ud83d"}',
    "\x00",
    "[" * 5000,
    "9" * 10_000,
    "x" * 300_000,
    # Patterns that skip marks once took hours over these.
    "\n" * 150_000,
    "Score: " + "*" * 150_000,
    "<success>" * 15_000,
]


def storable(verdict):
    text = verdict.to_json()
    text.encode()
    assert Verdict.from_json(text) == verdict and verdict.content_hash() == Verdict.from_json(text).content_hash()
    return text


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
async def test_whatever_a_model_says_the_verdict_can_be_stored(name, reply):
    run, blobs = run_with_trees()
    model = ByStage(lambda purpose, messages: reply)
    text = storable(await prepared(name, model).verdict(run, blobs))
    assert model.asked
    assert len(text) < 500_000 * len(model.asked), "kept as a reply, and once more as what was read out of it"


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(st.characters(), max_size=60), st.sampled_from(["rubric", "evidence", "reality", "outcome", "diagnosis"])
)
async def test_a_lone_surrogate_inside_a_usable_reply_does_no_harm(said, stage):
    """JSON can spell one out in plain ASCII, so the text of the reply looks harmless."""
    case, blobs = golden("04-controllable"), MemoryBlobs()
    run = golden_trajectory(case, blobs)
    plain = replies_of(case)
    hostile = f"{said}\ud800"

    def answer(purpose, messages):
        value = plain(purpose, messages)
        return spoil(value, hostile) if purpose.split("#")[0] == stage else value

    verdict = await prepared("universal", ByStage(answer)).judge(run.goal, run, blobs)
    storable(verdict)
    assert verdict.status == "fail" and not verdict.replies["degraded"]
    assert "\ufffd" in json.dumps(verdict.replies, ensure_ascii=False)


FREE_TEXT = {"description", "screenshot_evidence", "reality_notes", "reasoning", "what_happened"}


def spoil(value, text):
    if isinstance(value, dict):
        return {key: text if key in FREE_TEXT else spoil(item, text) for key, item in value.items()}
    return [spoil(item, text) for item in value] if isinstance(value, list) else value


async def test_a_reply_that_is_too_long_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(ledger, "MAX_REPLY", 100)
    run, blobs = run_with_trees()
    model = ByStage(lambda purpose, messages: "Status: success\n" + "x" * 1000)
    verdict = await prepared("agenttrek", model).judge(run.goal, run, blobs)
    assert "[cut: 1,016 characters, 100 kept]" in verdict.replies["calls"]["agenttrek"]["replies"][0]
    assert verdict.status == "pass", "the line with the verdict was kept"


async def test_the_order_in_which_replies_come_in_leaves_no_trace_in_the_verdict():
    case, blobs = golden("12-condition-met"), MemoryBlobs()
    run = golden_trajectory(case, blobs)
    plain = replies_of(case)
    made = []
    for flip in (False, True):

        class Shuffled(ByStage):
            async def ask(self, messages, *, purpose="", flip=flip, **others):
                import asyncio

                waits = sum(map(ord, purpose)) % 7
                for _ in range(7 - waits if flip else waits):
                    await asyncio.sleep(0)
                return await super().ask(messages, purpose=purpose, **others)

        def answer(purpose, messages):
            return "no JSON" if purpose.startswith(("evidence", "reality")) else plain(purpose, messages)

        verdict = await prepared("universal", Shuffled(answer)).judge(run.goal, run, blobs)
        made.append(verdict)
    assert len(made[0].replies["degraded"]) > 2
    assert made[0].to_json() == made[1].to_json()

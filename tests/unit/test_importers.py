"""Other people's folders, made here and real ones where they are at hand."""

import json

import pytest

from tests.unit.judging_samples import OUTSIDE, png, trajectory
from webassay.core.errors import InputError
from webassay.core.trajectory import MemoryBlobs
from webassay.importers import import_all, recognise, write_online_mind2web

outside = pytest.mark.skipif(not OUTSIDE.is_dir(), reason=f"the outside data is not at {OUTSIDE.name}")


def mind2web(folder, *, actions=2, shots=3, **changes):
    result = {
        "task_id": "abc",
        "task": "Open the guide.",
        "final_result_response": "It is open.",
        "action_history": [f"<a> -> CLICK {i}" for i in range(actions)],
        "thoughts": [f"thought {i}" for i in range(actions)],
        **changes,
    }
    (folder / "trajectory").mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result))
    for number in range(shots):
        (folder / "trajectory" / f"{number}_full_screenshot.png").write_bytes(png(number))
    return folder


def fara(folder, *, answer="Done.", events=2, shots=2, **final):
    folder.mkdir(parents=True)
    lines = []
    for i in range(events):
        name = "stop_and_answer_question" if i == events - 1 else "click"
        arguments = {"state_description": "a page", "reasoning": f"because {i}", "target_id": i}
        lines.append({"message": f"Action {i}", "url": f"http://x/{i}", "action": None, "arguments": None})
        lines.append({"message": "call", "url": f"http://x/{i}", "action": name, "arguments": arguments})
    (folder / "web_surfer.log").write_text("\n".join(json.dumps(line) for line in lines))
    (folder / "task_data.json").write_text(json.dumps({"task_proposal": "Look it up.", "init_url": "http://x/"}))
    names = [f"screenshot_{i + 1}.png" for i in range(shots)]
    for i, name in enumerate(names):
        (folder / name).write_bytes(png(i))
    record = {"final_answer": answer, "screenshots": names, "is_aborted": False, **final}
    (folder / "task_7_final_answer.json").write_text(json.dumps(record))
    return folder


def one(path):
    blobs = MemoryBlobs()
    (made,) = import_all(path, blobs)
    return made, blobs


# --- Online-Mind2Web ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "shots", "steps", "has_last"), [(2, 3, 2, True), (3, 3, 3, False), (3, 1, 3, False), (1, 5, 4, True)]
)
def test_online_mind2web_loses_no_action_and_no_picture(tmp_path, actions, shots, steps, has_last):
    run, blobs = one(mind2web(tmp_path / "abc", actions=actions, shots=shots))
    assert len(run.steps) == steps and (run.last_seen is not None) == has_last
    assert sum(bool(step.action_text) for step in run.steps) == actions
    pages = [step.seen for step in run.steps] + ([run.last_seen] if run.last_seen else [])
    pictures = [blobs.read(page.screenshot) for page in pages if page.screenshot]
    assert pictures == [png(number) for number in range(shots)]
    assert run.answer == "It is open." and run.ending.kind == "imported"


def test_pictures_come_by_number_not_by_name(tmp_path):
    run, blobs = one(mind2web(tmp_path / "abc", actions=11, shots=12))
    assert blobs.read(run.steps[10].seen.screenshot) == png(10)
    assert blobs.read(run.last_seen.screenshot) == png(11)


def test_there_and_back(tmp_path):
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3, answer="Here.")
    write_online_mind2web(run, blobs, tmp_path / "out")
    back, other = one(tmp_path / "out")
    assert back.goal.instruction == run.goal.instruction and back.answer == "Here."
    assert [step.action_text for step in back.steps] == [step.action_text for step in run.steps]
    assert [other.read(step.seen.screenshot) for step in back.steps] == [png(0), png(1), png(2)]
    assert other.read(back.last_seen.screenshot) == png(3)


def test_the_same_folder_is_the_same_trajectory_anywhere(tmp_path):
    first, _ = one(mind2web(tmp_path / "one" / "abc"))
    second, _ = one(mind2web(tmp_path / "two" / "abc"))
    changed, _ = one(mind2web(tmp_path / "three" / "abc", final_result_response="Other."))
    assert first.id == second.id != changed.id


# --- Fara -----------------------------------------------------------------------------------------------


def test_fara(tmp_path):
    run, blobs = one(fara(tmp_path / "run"))
    assert run.task_id == "task_7" and run.goal.start_urls == ("http://x/",)
    assert [step.action_text for step in run.steps] == ["click(target_id=0)", "stop_and_answer_question(target_id=1)"]
    assert run.steps[0].thought == "a page because 0" and run.steps[1].seen.url == "http://x/1"
    assert blobs.read(run.steps[1].seen.screenshot) == png(1)
    assert run.steps[0].info["action"] == "click" and run.ending.kind == "answered"


def test_fara_s_endings(tmp_path):
    assert one(fara(tmp_path / "a", answer="<no_answer>"))[0].ending.kind == "step_limit"
    assert one(fara(tmp_path / "a2", answer="<no_answer>"))[0].answer == ""
    aborted, _ = one(fara(tmp_path / "b", is_aborted=True))
    assert aborted.ending.kind == "fault" and aborted.ending.fault is not None


# --- WebVoyager and AgentRewardBench --------------------------------------------------------------------


def test_webvoyager(tmp_path):
    folder = tmp_path / "taskAllrecipes--0"
    folder.mkdir()
    messages = [
        {"role": "system", "content": "You are a robot."},
        {"role": "user", "content": [{"type": "text", "text": "Now given a task: Find a soup.  Please interact with "
         "https://soup.example/ and get the answer."}]},
        {"role": "assistant", "content": "Thought: Search.\nAction: Type [4]; soup"},
        {"role": "user", "content": "Observation"},
        {"role": "assistant", "content": "Thought: There.\nAction: ANSWER; [Leek soup; 4.5 stars]"},
    ]  # fmt: skip
    (folder / "interact_messages.json").write_text(json.dumps(messages))
    for number in (1, 2):
        (folder / f"screenshot{number}.png").write_bytes(png(number))
    run, _ = one(folder)
    assert run.goal.instruction == "Find a soup." and run.goal.start_urls == ("https://soup.example/",)
    assert [step.thought for step in run.steps] == ["Search.", "There."]
    assert run.answer == "Leek soup; 4.5 stars" and run.ending.kind == "answered"


def test_agentrewardbench(tmp_path):
    place = tmp_path / "cleaned" / "webarena" / "agent" / "exp" / "webarena.7.json"
    place.parent.mkdir(parents=True)
    shots = tmp_path / "screenshots" / "webarena" / "agent" / "webarena.7"
    shots.mkdir(parents=True)
    for number in range(3):
        (shots / f"screenshot_step_{number}.png").write_bytes(png(number))

    def step(number, action):
        return {
            "num": number,
            "action": action,
            "reasoning": f"r{number}",
            "url": f"http://x/{number}",
            "axtree": f"StaticText 'page {number}'",
            "screenshot_path": f"/somewhere/else/screenshots/webarena/agent/webarena.7/screenshot_step_{number}.png",
            "last_action_error": "",
        }

    record = {
        "benchmark": "webarena",
        "agent": "agent",
        "model": "m",
        "goal": "What is it?",
        "summary_info": {"terminated": True, "truncated": False},
        "steps": [step(0, "click('a12')"), step(1, "send_msg_to_user('It is 4')"), step(2, None)],
    }
    place.write_text(json.dumps(record))
    run, blobs = one(tmp_path)
    assert run.answer == "It is 4" and run.ending.kind == "answered" and len(run.steps) == 2
    assert run.steps[0].actions[0].name == "click" and run.last_seen is not None
    assert blobs.read(run.steps[1].seen.tree) == b"StaticText 'page 1'"
    assert blobs.read(run.last_seen.screenshot) == png(2)


# --- bad input ------------------------------------------------------------------------------------------


def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "secret.png").write_bytes(png(9))
    folder = fara(tmp_path / "run", screenshots=["../secret.png", "screenshot_2.png"])
    with pytest.raises(InputError, match="leads out"):
        one(folder)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("result.json", "{", "not JSON"),
        ("result.json", "[]", "object is expected"),
        ("result.json", "[" * 100_000, "not JSON"),
        ("result.json", '{"task": "", "task_id": "x"}', "`task`"),
        ("result.json", '{"task": "t", "action_history": "x"}', "list of texts"),
        ("trajectory/1_full_screenshot.png", "no picture", "not a picture"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, said):
    folder = mind2web(tmp_path / "abc")
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=said) as error:
        one(folder)
    assert str(folder) in str(error.value)


def test_one_bad_trajectory_does_not_stop_the_others(tmp_path):
    for name in ("a", "b", "c"):
        mind2web(tmp_path / name)
    (tmp_path / "b" / "result.json").write_text("{")
    told = []
    made = list(import_all(tmp_path, MemoryBlobs(), on_error=lambda place, error: told.append(place.name)))
    assert [run.provenance["folder"] for run in made] == ["a", "c"] and told == ["b"]


def test_nothing_found_is_said(tmp_path):
    with pytest.raises(InputError, match="No trajectory"):
        list(import_all(tmp_path, MemoryBlobs()))
    with pytest.raises(InputError, match="does not exist"):
        list(import_all(tmp_path / "nowhere", MemoryBlobs()))


# --- the real ones --------------------------------------------------------------------------------------


@pytest.mark.external
@outside
def test_a_real_online_mind2web_trajectory():
    run, _ = one(OUTSIDE / "om2w-example" / "example")
    assert len(run.steps) == 4 and run.last_seen is not None
    assert run.goal.instruction.startswith("Open the page") and "Discogs" in run.answer


@pytest.mark.external
@outside
def test_a_real_fara_trajectory():
    assert recognise(OUTSIDE / "fara-example") == "fara"
    run, _ = one(OUTSIDE / "fara-example")
    assert run.task_id == "alltrails_find_23" and run.ending.kind == "answered"
    assert [step.info["action"] for step in run.steps][-1] == "stop_and_answer_question"
    assert len({step.seen.screenshot.hash for step in run.steps}) == 3
    assert run.started_at.startswith("2025-11-10") and run.seconds > 100

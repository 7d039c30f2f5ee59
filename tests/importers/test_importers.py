"""Other people's folders, made here and real ones where they are at hand."""

import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.judging_samples import OUTSIDE, png, trajectory
from webassay.compose.registries import IMPORTERS
from webassay.core.errors import InputError
from webassay.core.trajectory import MemoryBlobs, Trajectory
from webassay.importers import base, reading
from webassay.importers.agentrewardbench import AGENTREWARDBENCH
from webassay.importers.base import Importer
from webassay.importers.fara import FARA
from webassay.importers.online_mind2web import ONLINE_MIND2WEB

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


def voyager(folder):
    folder.mkdir(parents=True)
    messages = [
        {
            "role": "user",
            "content": "Now given a task: Find a soup.  Please interact with https://soup.example/ and go.",
        },
        {"role": "assistant", "content": "Thought: Search.\nAction: Type [4]; soup"},
        {"role": "assistant", "content": "Thought: There.\nAction: ANSWER; [Leek soup]"},
    ]
    (folder / "interact_messages.json").write_text(json.dumps(messages, indent=2))
    (folder / "screenshot1.png").write_bytes(png(1))
    (folder / "agent.log").write_text("INFO: started\n")
    return folder


def cleaned(folder, task="webarena.7", agent="agent", **changes):
    place = folder / "cleaned" / "webarena" / agent / "exp" / f"{task}.json"
    shots = folder / "screenshots" / "webarena" / agent / task
    shots.mkdir(parents=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    steps = []
    for number, action in enumerate(("click('a12')", "send_msg_to_user('It is 4')", None)):
        (shots / f"screenshot_step_{number}.png").write_bytes(png(number))
        path = f"/elsewhere/screenshots/webarena/{agent}/{task}/screenshot_step_{number}.png"
        steps.append(
            {
                "num": number,
                "action": action,
                "url": f"http://x/{number}",
                "screenshot_path": path,
                "axtree": f"StaticText 'page {number}'",
            }
        )
    record = {"benchmark": "webarena", "agent": agent, "goal": "What?", "summary_info": {}, "steps": steps, **changes}
    place.write_text(json.dumps(record, indent=3))
    return folder


def import_all(path, blobs=None, importers=IMPORTERS, **rest):
    return base.import_all(path, blobs or MemoryBlobs(), importers, **rest)


def one(path, **rest):
    blobs = MemoryBlobs()
    (made,) = import_all(path, blobs, **rest)
    assert Trajectory.from_json(made.to_json()) == made
    return made, blobs


def test_every_format_is_found_and_says_what_it_is():
    assert set(IMPORTERS.names()) == {
        *("agentrewardbench", "cuaverifierbench", "fara", "har", "online-mind2web", "webarena-verified", "webvoyager")
    }
    assert all(importer.summary.endswith(".") for importer in IMPORTERS)


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


def pictures_of(run, blobs):
    pages = [step.seen for step in run.steps] + ([run.last_seen] if run.last_seen else [])
    return [blobs.read(page.screenshot) if page.screenshot else None for page in pages]


def test_a_page_without_a_screenshot_leaves_its_step_without_one(tmp_path):
    folder = mind2web(tmp_path / "abc", actions=3, shots=4)
    (folder / "trajectory" / "1_full_screenshot.png").unlink()
    assert pictures_of(*one(folder)) == [png(0), None, png(2), png(3)]


@pytest.mark.parametrize("missing", [{0}, {1}, {0, 2}, {3}])
def test_what_we_write_with_gaps_is_read_with_the_same_gaps(tmp_path, missing):
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3)
    pages = [step.seen for step in run.steps] + [run.last_seen]
    pages = [page.model_copy(update={"screenshot": None}) if i in missing else page for i, page in enumerate(pages)]
    steps = tuple(step.model_copy(update={"seen": page}) for step, page in zip(run.steps, pages, strict=False))
    ONLINE_MIND2WEB.write(run.model_copy(update={"steps": steps, "last_seen": pages[3]}), blobs, tmp_path / "run")
    found = pictures_of(*one(tmp_path / "run"))
    assert found == [None if i in missing else png(i) for i in range(3 if 3 in missing else 4)]


@pytest.mark.parametrize(
    "names",
    [
        ("7_full_screenshot", "8_full_screenshot", "9_full_screenshot"),
        ("shot_1", "shot_2", "shot_3"),
        ("01_full_screenshot", "1_full_screenshot", "2_full_screenshot"),
        ("1_full_screenshot", "1_full_screenshot_b", "2_full_screenshot"),
        ("1700000001_full_screenshot", "1700000002_full_screenshot", "99999999999999999999_full_screenshot"),
    ],
)
def test_numbers_that_are_not_those_of_the_pages_give_the_order_only(tmp_path, names):
    folder = mind2web(tmp_path / "abc", actions=2, shots=0)
    for number, name in enumerate(names):
        (folder / "trajectory" / f"{name}.png").write_bytes(png(number))
    assert pictures_of(*one(folder)) == [png(0), png(1), png(2)]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.data())
def test_there_and_back(tmp_path_factory, data):
    """Whatever the steps say, and whether or not they act, entries and pictures stay aligned."""
    blobs = MemoryBlobs()
    said = data.draw(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
    run = trajectory(blobs, len(said), answer=data.draw(texts))
    steps = [
        step.model_copy(update={"action_text": action, "thought": thought})
        for step, (action, thought) in zip(run.steps, said, strict=True)
    ]
    run = run.model_copy(update={"steps": tuple(steps)})
    folder = tmp_path_factory.mktemp("written") / "run"
    ONLINE_MIND2WEB.write(run, blobs, folder)
    back, other = one(folder)
    assert (back.goal.instruction, back.answer, back.task_id) == (run.goal.instruction, run.answer, run.task_id)
    assert [(step.action_text, step.thought) for step in back.steps] == said
    assert [other.read(step.seen.screenshot) for step in back.steps] == [png(n) for n in range(len(said))]
    assert other.read(back.last_seen.screenshot) == png(len(said))


def test_nothing_is_written_over(tmp_path):
    blobs = MemoryBlobs()
    ONLINE_MIND2WEB.write(trajectory(blobs, 3), blobs, tmp_path / "run")
    with pytest.raises(InputError, match="already exists"):
        ONLINE_MIND2WEB.write(trajectory(blobs, 1), blobs, tmp_path / "run")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        ONLINE_MIND2WEB.write(trajectory(blobs, 1), blobs, tmp_path / "file" / "run")


# --- ids ------------------------------------------------------------------------------------------------


def test_the_same_folder_is_the_same_trajectory_anywhere(tmp_path):
    first, _ = one(mind2web(tmp_path / "one" / "abc"))
    second, _ = one(mind2web(tmp_path / "two" / "abc"))
    changed, _ = one(mind2web(tmp_path / "three" / "abc", final_result_response="Other."))
    assert first.id == second.id != changed.id


def test_runs_that_do_not_differ_in_a_byte_are_still_two(tmp_path):
    """Two models that both failed at once on the same task, told apart by their folders alone."""
    for place in ("data/gpt/abc", "data/claude/abc", "data/claude/again/abc"):
        mind2web(tmp_path / place)
    together = [run.id for run in import_all(tmp_path / "data")]
    assert len(set(together)) == 3
    apart = [run.id for name in ("gpt", "claude") for run in import_all(tmp_path / "data" / name)]
    assert len(set(apart)) == 3
    (tmp_path / "data").rename(tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "moved").rename(tmp_path / "elsewhere" / "data")
    assert [run.id for run in import_all(tmp_path / "elsewhere" / "data")] == together


def test_a_folder_is_named_alike_from_inside_and_from_outside(tmp_path, monkeypatch):
    folder = mind2web(tmp_path / "abc")
    monkeypatch.chdir(folder)
    assert one(Path())[0].id == one(folder)[0].id


@given(texts)
def test_an_id_is_short_plain_text(task):
    run = trajectory(MemoryBlobs(), 1).model_copy(update={"task_id": task * 50, "source": "fara"})
    named = base.with_id(run, "place").id
    assert len(named) < 100 and named.isascii() and not set(named) & set("/\\ \n[]")
    assert base.with_id(run, "place").id == named != base.with_id(run, "other").id


# --- Fara -----------------------------------------------------------------------------------------------


def test_fara(tmp_path):
    run, blobs = one(fara(tmp_path / "run"))
    assert run.task_id == "task_7" and run.goal.start_urls == ("http://x/",)
    assert [step.action_text for step in run.steps] == ["click(target_id=0)", "stop_and_answer_question(target_id=1)"]
    assert run.steps[0].thought == "a page because 0" and run.steps[1].seen.url == "http://x/1"
    assert blobs.read(run.steps[1].seen.screenshot) == png(1)
    assert run.steps[0].info["action"] == "click" and run.ending.kind == "answered"


def test_a_line_separator_inside_a_thought_ends_no_line(tmp_path):
    folder = fara(tmp_path / "run")
    said = "first\u2028second\x85third"
    log = (folder / "web_surfer.log").read_text().replace("because 0", said)
    (folder / "web_surfer.log").write_text(log, encoding="utf-8")
    run, _ = one(folder)
    assert [step.thought for step in run.steps] == [f"a page {said}", "a page because 1"]


def test_fara_s_endings(tmp_path):
    assert one(fara(tmp_path / "a", answer="<no_answer>"))[0].ending.kind == "step_limit"
    assert one(fara(tmp_path / "a2", answer="<no_answer>"))[0].answer == ""
    aborted, _ = one(fara(tmp_path / "b", is_aborted=True))
    assert aborted.ending.kind == "fault" and aborted.ending.fault is not None


# --- WebVoyager and AgentRewardBench --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "pages"),
    [
        ((1, 2, 4), [1, 2, None, 4]),
        ((2,), [None, 2, None, None]),
        ((1, 2, 4, 5), [1, 2, None, 4, 5]),  # the last call of the model failed
        ((1, 10, 4_000_000_000), [1, 10, 4_000_000_000, None]),  # no numbers of steps
        ((), [None, None, None, None]),
    ],
)
def test_webvoyager_s_screenshots_belong_to_the_replies_of_their_numbers(tmp_path, numbers, pages):
    """Its runner takes none after an action that failed, and counts on."""
    task = "Now given a task: Find a soup.  Please interact with https://soup.example/ and get the answer."
    replies = [f"Thought: t{i}\nAction: Click [{i}]" for i in (1, 2, 3)] + ["Thought: t4\nAction: ANSWER; [Leek]"]
    messages = [{"role": "user", "content": task}, *({"role": "assistant", "content": said} for said in replies)]
    (tmp_path / "interact_messages.json").write_text(json.dumps(messages))
    for number in numbers:
        (tmp_path / f"screenshot{number}.png").write_bytes(png(number % 100))
    if numbers:  # alone, it could be the page
        (tmp_path / "logo.png").write_bytes(png(77))
    run, blobs = one(tmp_path)
    assert pictures_of(run, blobs) == [None if page is None else png(page % 100) for page in pages]
    assert [step.thought for step in run.steps][:4] == ["t1", "t2", "t3", "t4"]


def test_webvoyager(tmp_path):
    run, _ = one(voyager(tmp_path / "taskAllrecipes--0"))
    assert run.goal.instruction == "Find a soup." and run.goal.start_urls == ("https://soup.example/",)
    assert [step.thought for step in run.steps] == ["Search.", "There."]
    assert run.answer == "Leek soup" and run.ending.kind == "answered"


def test_agentrewardbench(tmp_path):
    run, blobs = one(cleaned(tmp_path, summary_info={"terminated": True, "truncated": False}))
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
    made = list(import_all(tmp_path, on_error=lambda place, error: told.append(place.name)))
    assert [run.provenance["folder"] for run in made] == ["a", "c"] and told == ["b"]
    (tmp_path / "a").rename(tmp_path / "d")
    with pytest.raises(InputError, match="not JSON"):
        list(import_all(tmp_path))


def test_an_importer_that_breaks_breaks_its_own_item_only(tmp_path):
    def read(place, blobs):
        if place.name == "a":
            raise KeyError("oops")
        run = ONLINE_MIND2WEB.read(place, blobs)
        return run.model_copy(update={"answer": "\ud800"}) if place.name == "b" else run

    theirs = Importer("theirs", "x", ONLINE_MIND2WEB.recognizes, read)
    for name in ("a", "b", "c"):
        mind2web(tmp_path / name)
    told = []
    made = list(import_all(tmp_path, importers=[theirs], on_error=lambda place, error: told.append(str(error))))
    assert [run.provenance["folder"] for run in made] == ["c"]
    assert ["as theirs" in said for said in told] == [True, True] and "oops" in told[0] and "surrogates" in told[1]


def test_nothing_found_is_said(tmp_path):
    with pytest.raises(InputError, match="No trajectory"):
        list(import_all(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        list(import_all(tmp_path / "nowhere"))


def test_a_folder_that_two_formats_claim_is_not_guessed(tmp_path):
    folder = mind2web(tmp_path / "abc")
    (folder / "web_surfer.log").write_text("")
    with pytest.raises(InputError, match="could be fara or online-mind2web"):
        one(folder)
    assert one(folder, format="online-mind2web")[0].source == "online-mind2web"
    with pytest.raises(InputError, match="no import format 'nothing'"):
        one(folder, format="nothing")


def test_a_file_named_with_its_format_is_read_even_if_it_is_not_recognised(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"note": "x" * 5000, "goal": "What is it?", "steps": []}))
    with pytest.raises(InputError, match="No trajectory"):
        one(path)
    assert one(path, format="agentrewardbench")[0].goal.instruction == "What is it?"


# --- hostile input --------------------------------------------------------------------------------------


def test_half_characters_are_made_whole(tmp_path):
    folder = mind2web(tmp_path / "abc", final_result_response="pair \ud83d\ude00, half \ud800.", task="Open \udc80.")
    assert "\\ud800" in (folder / "result.json").read_text()
    run, _ = one(folder)
    assert run.answer == "pair 😀, half �." and run.goal.instruction == "Open �."


def test_a_half_character_in_an_action_is_made_whole(tmp_path):
    path = tmp_path / "webarena.1.json"
    steps = [{"action": "send_msg_to_user('\\ud800')", "axtree": "a \ud800 b"}]
    path.write_text(json.dumps({"benchmark": "webarena", "goal": "g", "steps": steps}))
    run, blobs = one(path)
    assert run.answer == "�" and blobs.read(run.steps[0].seen.tree).decode() == "a � b"


def test_a_text_without_end_is_cut_and_says_so(tmp_path, monkeypatch):
    run, _ = one(mind2web(tmp_path / "abc", final_result_response="x" * 4_000_001))
    assert run.answer.endswith("[cut: 4,000,001 characters, 4,000,000 kept]")


def test_a_folder_whose_name_is_not_text(tmp_path):
    names = (b"a\xff", b"a\xfe")
    for name in names:
        mind2web(tmp_path / os.fsdecode(name), task_id=None)
    runs = list(import_all(tmp_path))
    assert [run.provenance["folder"] for run in runs] == ["a�", "a�"]
    assert len({run.id for run in runs}) == 2
    (tmp_path / os.fsdecode(names[0]) / "result.json").write_text("{")
    with pytest.raises(InputError, match="not JSON") as error:
        list(import_all(tmp_path))
    str(error.value).encode()


def test_names_that_look_like_patterns_or_markup_are_only_names(tmp_path):
    run, _ = one(fara(tmp_path / "[" / "x]" / "*"))
    assert run.provenance["folder"] == "*"
    (tmp_path / "[" / "x]" / "*" / "task_data.json").write_text("{}")
    with pytest.raises(InputError, match=r"\[/x\]/\*: the text of the task is missing"):
        one(tmp_path)


@pytest.mark.parametrize("name", ["screen\0shot.png", "x" * 5000, "loop.png", "pipe.png", "socket.png", "/dev/zero"])
def test_what_is_not_a_plain_file_is_refused_and_does_not_hang(tmp_path, name, monkeypatch):
    folder = fara(tmp_path / "run", screenshots=[name])
    (folder / "loop.png").symlink_to("loop.png")
    os.mkfifo(folder / "pipe.png")
    monkeypatch.chdir(folder)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.png")
        with pytest.raises(InputError, match=r"usable path|regular file|cannot be read|does not exist"):
            one(folder)


def test_pipes_and_devices_are_not_searched(tmp_path):
    mind2web(tmp_path / "abc")
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(tmp_path / "web_surfer.log")
    (tmp_path / "null.json").symlink_to("/dev/zero")
    assert one(tmp_path)[0].task_id == "abc"
    with pytest.raises(InputError, match="neither a folder nor a regular file"):
        list(import_all(tmp_path / "pipe.json", format="agentrewardbench"))


@pytest.mark.parametrize("link", ["result.json", "trajectory", "trajectory/0_full_screenshot.png"])
def test_a_link_that_leads_outside_is_refused(tmp_path, link):
    folder = mind2web(tmp_path / "data" / "abc")
    outside_of_it = tmp_path / "outside"
    (folder / link).rename(outside_of_it)
    (folder / link).symlink_to(outside_of_it)
    with pytest.raises(InputError, match="leads out of the folder"):
        one(folder)


def test_a_link_inside_the_folder_is_followed_and_one_in_the_search_is_not(tmp_path):
    folder = mind2web(tmp_path / "data" / "abc")
    (folder / "result.json").rename(folder / "real.json")
    (folder / "result.json").symlink_to("real.json")
    (tmp_path / "data" / "again").symlink_to(folder)
    (tmp_path / "data" / "up").symlink_to(tmp_path)
    assert one(tmp_path / "data")[0].task_id == "abc"


def test_folders_may_be_nested_more_deeply_than_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [Path(*["d"] * depth) for depth in range(1, 1050)]
    for folder in folders:
        folder.mkdir()
    with pytest.raises(InputError, match="No trajectory"):
        list(import_all(tmp_path))
    for folder in reversed(folders):  # what clears the temporary folders does recurse
        folder.rmdir()


def test_recognising_reads_the_first_bytes_only(tmp_path, monkeypatch):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(b'{"benchmark": "webarena", "goal": "g", "steps": [')
        file.truncate(10 * 2**30)  # sparse: it takes no room
    read, real = [], reading.bytes_of
    monkeypatch.setattr(reading, "bytes_of", lambda *args, **named: read.append(real(*args, **named)) or read[-1])
    assert AGENTREWARDBENCH.recognizes(path)
    assert [len(data) for data in read] == [4000]
    with pytest.raises(InputError, match="larger than 256 MB"):
        one(path)


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
    assert [each.name for each in IMPORTERS if each.recognizes(OUTSIDE / "fara-example")] == [FARA.name]
    run, _ = one(OUTSIDE / "fara-example")
    assert run.task_id == "alltrails_find_23" and run.ending.kind == "answered"
    assert [step.info["action"] for step in run.steps][-1] == "stop_and_answer_question"
    assert len({step.seen.screenshot.hash for step in run.steps}) == 3
    assert run.started_at.startswith("2025-11-10") and run.seconds > 100

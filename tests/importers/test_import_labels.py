"""Labels and verdicts that come with other people's trajectories, round trips, archives."""

import io
import json
import os
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts import cuaverifierbench_like as like
from tests.importers.test_importers import cleaned, fara, import_all, mind2web, one, voyager
from tests.support.judging_samples import OUTSIDE, png, trajectory
from webassay.compose.registries import IMPORTERS
from webassay.core.errors import InputError
from webassay.core.rater import persons_verdict, published_verdict
from webassay.core.trajectory import AgentInfo, MemoryBlobs
from webassay.importers import archives
from webassay.importers.base import Importer, LooseVerdict
from webassay.importers.originals import write_files
from webassay.store import Store
from webassay.workbench import Workbench, imports

outside = pytest.mark.skipif(not OUTSIDE.is_dir(), reason=f"the outside data is not at {OUTSIDE.name}")


def imported(paths, out, **rest):
    paths = paths if isinstance(paths, list) else [paths]
    return Workbench().import_trajectories(paths, out, **rest)


def verdicts(run):
    with Store.open(run) as store:
        return sorted(
            (one.task_id, one.fingerprint.grader, str(one.fingerprint.settings.get("stage", "")), one.status)
            for one in store.newest_verdicts()
        )


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- there and back -------------------------------------------------------------------------------------


def har(folder):
    folder.mkdir(parents=True)
    pages = [("https://a.example/", 200, "text/html"), ("https://a.example/x.js", 200, "text/javascript")]
    entries = [
        {"request": {"url": url}, "response": {"status": status, "content": {"mimeType": kind}}}
        for url, status, kind in [*pages, ("https://a.example/b", 404, "text/html; charset=utf-8")]
    ]
    (folder / "session.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}, indent=1))
    return folder


def verified(folder):
    folder.mkdir(parents=True)
    (folder / "agent_response.json").write_text('{"task_type": "RETRIEVE", "status": "SUCCESS"}\n')
    (folder / "eval_result.json").write_text('{"task_id": 107, "status": "failure"}')
    return folder


@pytest.mark.parametrize(
    ("format", "make"),
    [
        ("online-mind2web", mind2web),
        ("fara", fara),
        ("webvoyager", voyager),
        ("agentrewardbench", cleaned),
        ("webarena-verified", verified),
    ],
)
def test_what_was_imported_is_given_back_byte_for_byte(tmp_path, format, make):
    source = make(tmp_path / "source" / "item")
    run, blobs = one(source)
    IMPORTERS.get(format).write(run, blobs, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(source)
    again, _ = one(tmp_path / "back")
    assert [step.action_text for step in again.steps] == [step.action_text for step in run.steps]


def logs_of_two_runs(folder):
    """One task under one agent's name in two runs, and two tasks whose names end in the same number."""
    for place, answer in (("first/5", "a"), ("second/5", "b"), ("third/shop.5", "c")):
        (folder / place).mkdir(parents=True)
        (folder / place / "agent_response.json").write_text(answer)
    return folder


def answers_in(folder):
    return {name: data.decode() for name, data in tree(folder).items()}


def test_everything_that_was_imported_is_written_back(tmp_path):
    imported(logs_of_two_runs(tmp_path / "logs"), tmp_path / "run")
    assert Workbench().export_trajectories(tmp_path / "run", tmp_path / "back", "webarena-verified") == 3
    found = answers_in(tmp_path / "back")
    assert sorted(found.values()) == ["a", "b", "c"]
    # Its readers know a task by the number that its folder is called by.
    assert set(found) == {f"{agent}/5/agent_response.json" for agent in ("unknown", "unknown.1", "unknown.2")}
    with Store.open(tmp_path / "run") as store:
        assert all(unit.trial == run.trial for unit, run in store.trajectories())
    assert imported(tmp_path / "logs", tmp_path / "run").known == 3


def test_a_run_that_was_imported_before_trials_were_told_is_written_back(tmp_path, monkeypatch):
    add = Store.add_trajectory

    def as_before(store, unit, run):
        add(store, unit, run.model_copy(update={"trial": 0}))

    monkeypatch.setattr(Store, "add_trajectory", as_before)
    imported(logs_of_two_runs(tmp_path / "logs"), tmp_path / "run")
    Workbench().export_trajectories(tmp_path / "run", tmp_path / "back", "webarena-verified")
    assert sorted(answers_in(tmp_path / "back").values()) == ["a", "b", "c"]


def test_units_whose_names_become_one_folder_are_both_written(tmp_path):
    for place, agent, task in (("one", "a_b", "c"), ("two", "a", "b_c")):
        mind2web(tmp_path / "source" / place, agent=agent, task_id=task)
    imported(tmp_path / "source", tmp_path / "run")
    assert Workbench().export_trajectories(tmp_path / "run", tmp_path / "back", "online-mind2web") == 2
    assert len(list((tmp_path / "back").iterdir())) == 2


def test_online_mind2web_keeps_the_files_that_were_next_to_it(tmp_path):
    source = mind2web(
        tmp_path / "abc", input_image_paths=["inputs/a.png", "inputs/link.png", "https://x.example/b.png"]
    )
    (source / "inputs").mkdir()
    (source / "inputs" / "a.png").write_bytes(png(50))
    (source / "inputs" / "link.png").symlink_to("a.png")
    (source / "notes.txt").write_text("Started late.\n")
    (source / "trajectory" / "times.json").write_text("[1, 2]")
    run, blobs = one(source)
    IMPORTERS.get("online-mind2web").write(run, blobs, tmp_path / "back" / "abc")
    assert tree(tmp_path / "back" / "abc") == tree(source)
    again, _ = one(tmp_path / "back" / "abc")
    assert again == run


def test_online_mind2web_keeps_nothing_from_outside_and_waits_for_no_pipe(tmp_path):
    paths = [str(tmp_path / "abc" / "a.png"), "../abc/a.png"]
    source = mind2web(tmp_path / "abc", shots=0, input_image_paths=paths)
    (source / "a.png").write_bytes(png(50))
    (tmp_path / "secret.txt").write_text("secret")
    (source / "secret.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(source / "pipe")
    run, blobs = one(source)
    IMPORTERS.get("online-mind2web").write(run, blobs, tmp_path / "back")
    expected = {name: data for name, data in tree(source).items() if name != "secret.txt"}
    assert tree(tmp_path / "back") == expected
    assert IMPORTERS.get("online-mind2web").recognizes(tmp_path / "back")
    (source / "result.json").write_text(json.dumps({"task": "t", "input_image_paths": ["../outside.png"]}))
    with pytest.raises(InputError, match="leads out"):
        one(source)


def test_a_har_file_is_given_back_byte_for_byte(tmp_path):
    source = har(tmp_path / "source")
    run, blobs = one(source)
    assert [step.seen.url for step in run.steps] == ["https://a.example/"]
    assert run.last_seen.url == "https://a.example/b" and run.network.count == 3
    IMPORTERS.get("har").write(run, blobs, tmp_path / "back")
    (written,) = tree(tmp_path / "back").values()
    assert written == (source / "session.har").read_bytes()


@pytest.mark.parametrize("format", ["online-mind2web", "fara", "webvoyager", "agentrewardbench"])
def test_our_own_runs_can_be_read_in_every_layout_that_can_be_written(tmp_path, format):
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3, answer="It is 4.")
    IMPORTERS.get(format).write(run, blobs, tmp_path / "written")
    back, other = one(tmp_path / "written")
    assert back.goal.instruction == run.goal.instruction
    pictures = [other.read(step.seen.screenshot) for step in back.steps[:3]]
    assert pictures == [blobs.read(step.seen.screenshot) for step in run.steps]
    with pytest.raises(InputError, match="already exists"):
        IMPORTERS.get(format).write(run, blobs, tmp_path / "written")


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "a/../../out.txt", "x\0y"])
def test_a_run_of_somebody_else_writes_nothing_outside_its_folder(tmp_path, name):
    with pytest.raises(InputError, match=r"leads out|usable path"):
        write_files(tmp_path / "back", {name: b"x"})
    assert not (tmp_path / "out.txt").exists()


def test_a_network_log_beside_a_trajectory_comes_with_it(tmp_path):
    folder = mind2web(tmp_path / "abc")
    (har(tmp_path / "har") / "session.har").rename(folder / "network.har")
    run, blobs = one(folder)
    assert run.network.format == "har" and blobs.read(run.network.blob) == (folder / "network.har").read_bytes()
    (folder / "network.har").write_text("{}")
    with pytest.raises(InputError, match="is not a HAR file"):
        one(folder)


# --- labels ---------------------------------------------------------------------------------------------


def test_online_mind2web_s_judges_and_people(tmp_path):
    mind2web(tmp_path / "data" / "runs" / "abc")
    name = "WebJudge_eval_gpt-4o-mini_score_threshold_3_auto_eval_results.json"
    (tmp_path / "data" / name).write_text(
        '{"task_id": "abc", "predicted_label": 1}\n{"task_id": "lost", "predicted_label": 0}'
    )
    people = [{"task_id": "abc", "confirmed_task": "x", "Agent-E_human_label": "0", "Other_human_label": "2"}]
    (tmp_path / "data" / "human_label.json").write_text(json.dumps(people))
    made = imported(tmp_path / "data", tmp_path / "run")
    assert (made.added, made.verdicts, len(made.homeless)) == (1, 1, 3)  # whose run this is, nobody said
    made = imported(tmp_path / "data", tmp_path / "named", agent="Agent-E")
    assert made.verdicts == 2 and any("Other on abc" in said for said in made.homeless)
    assert verdicts(tmp_path / "named") == [
        ("abc", "human:online-mind2web", "", "fail"),
        ("abc", "published:WebJudge", "", "pass"),
    ]
    imported(tmp_path / "data", tmp_path / "other", agent="Other")
    with pytest.raises(InputError, match=r"No label says pass or fail\. Found: \"Labeled '2'"):
        Workbench().agree(tmp_path / "other")
    again = imported(tmp_path / "data", tmp_path / "named", agent="Agent-E")
    assert (again.added, again.known, again.verdicts) == (0, 1, 0)


def noted(place):
    """With a comment that is not UTF-8."""
    return [persons_verdict("anna\udcff", "pass", comment=place.read_bytes().decode("utf-8", "surrogateescape"))]


NOTES = Importer(
    name="notes",
    summary="A note is a trajectory with a verdict; a list says what somebody else thinks of it.",
    recognizes=lambda place: place.suffix == ".note",
    read=lambda place, blobs: trajectory(blobs, 1, task_id=place.stem, agent=AgentInfo(name="unknown")),
    verdicts=noted,
    recognizes_claims=lambda place: place.suffix == ".list",
    claims=lambda place: [
        LooseVerdict(
            name, noted(place)[0].model_copy(update={"fingerprint": published_verdict("bot", "fail").fingerprint})
        )
        for name in ("a", "b")
    ],
)


def test_a_character_that_cannot_be_stored_costs_no_item(tmp_path, monkeypatch):
    monkeypatch.setattr(imports, "IMPORTERS", [NOTES])
    for name, text in (("a.note", b"caf\xe9"), ("b.note", b"fine"), ("c.list", b"caf\xe9")):
        tmp_path.joinpath("notes", name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath("notes", name).write_bytes(text)
    made = imported(tmp_path / "notes", tmp_path / "run", agent="caf\udce9")
    assert (made.added, made.verdicts, made.skipped, made.homeless) == (2, 4, [], [])
    assert [one[:2] for one in verdicts(tmp_path / "run")] == [
        *(("a", "human:anna\ufffd"), ("a", "published:bot"), ("b", "human:anna\ufffd"), ("b", "published:bot")),
    ]
    again = imported(tmp_path / "notes", tmp_path / "run", agent="caf\udce9")
    assert (again.added, again.known, again.verdicts) == (0, 2, 0)


def test_fara_s_own_verifier(tmp_path):
    folder = fara(tmp_path / "data" / "run")
    (folder / "scores").mkdir()
    inner = {
        "outcome_success": False,
        "rubric_is_success": 1,
        "rubric_total_earned_points": 9,
        "rubric_total_max_points": 10,
    }
    (folder / "scores" / "mm.json").write_text(json.dumps({"score": 0, "gpt_response_text": json.dumps(inner)}))
    imported(tmp_path / "data", tmp_path / "run")
    with Store.open(tmp_path / "run") as store:
        (found,) = store.newest_verdicts()
    assert (found.status, found.fingerprint.grader) == ("fail", "published:mm")
    assert (found.aspects["process_score"].value, found.aspects["process_success"].value) == (0.9, True)


def test_agentrewardbench_s_judges_and_people(tmp_path):
    data = tmp_path / "data"
    for agent in ("one", "two"):
        cleaned(data, agent=agent)
    for judge, content, agent in (
        ("gpt-4o-noaxtree", "<success>Successful</success>", "one"),
        ("aer", 'Active filters: Status: Processing\nStatus: "failure"', "two"),
        ("nnetnav", "Thought: fine\nReward: 4", "two"),
        ("broken", "I cannot say.", "one"),
    ):
        place = data / "judgments" / "webarena" / agent / judge / "webarena.7.json"
        place.parent.mkdir(parents=True)
        reply = {"choices": [{"message": {"content": content}}]}
        record = {"benchmark": "webarena", "agent": agent, "judge": judge, "judge_args": {}, "response": reply}
        place.write_text(json.dumps({**record, "trajectory_info": {"summary_info": {"cum_reward": 1.0}}}))
    functional = data / "judgments" / "webarena" / "one" / "functional" / "webarena.7.json"
    functional.parent.mkdir(parents=True)
    summary = {"summary_info": {"cum_reward": 0.2}}
    record = {"benchmark": "webarena", "agent": "one", "judge": "functional", "trajectory_info": summary}
    functional.write_text(json.dumps(record))
    (data / "annotations.csv").write_text(
        "benchmark,model_name,task_id,trajectory_success,trajectory_side_effect\n"
        "webarena,one,webarena.7,Successful,No\nwebarena,one,webarena.7,Unsuccessful,No\n"
        "webarena,two,webarena.7,Unsure,Yes\nwebarena,nobody,webarena.7,Successful,No\n"
    )
    made = imported(data, tmp_path / "run")
    assert (made.added, made.verdicts, len(made.homeless), made.skipped) == (2, 8, 1, [])
    assert [(grader, status) for _, grader, _, status in verdicts(tmp_path / "run")] == [
        ("human:primary", "abstain"),
        ("human:primary", "pass"),
        ("human:secondary 1", "fail"),
        ("published:aer", "fail"),
        ("published:broken", "abstain"),
        ("published:functional", "fail"),
        ("published:gpt-4o-noaxtree", "pass"),
        ("published:nnetnav", "pass"),
    ]


def test_a_line_separator_inside_a_cell_ends_no_line(tmp_path):
    data = cleaned(tmp_path / "data", agent="one")
    (data / "annotations.csv").write_text(
        "benchmark,model_name,task_id,comment,trajectory_success\n"
        "webarena,one,webarena.7,first\u2028second\x85third,Successful\n",
        encoding="utf-8",
    )
    made = imported(data, tmp_path / "run")
    assert (made.verdicts, made.homeless, made.skipped) == (1, [], [])
    assert verdicts(tmp_path / "run") == [("webarena.7", "human:primary", "", "pass")]


def test_verified_logs_bring_the_published_verdict(tmp_path):
    verified(tmp_path / "logs" / "107")
    imported(tmp_path / "logs", tmp_path / "run")
    assert verdicts(tmp_path / "run") == [("107", "published:webarena-verified", "", "fail")]


# --- CUAVerifierBench -----------------------------------------------------------------------------------

SMALL = (
    like.Kind(2, (True, 0.9), ((True, 0.9), (False, 0.3)), ((True, True), (True, False)), (True, False)),
    like.Kind(1, (False, 0.3), ((True, 0.8),), ((False, False),), terminated=False),
)


def test_cuaverifierbench(tmp_path):
    like.write(tmp_path / "data", {"small": SMALL})
    made = imported(tmp_path / "data", tmp_path / "run")
    assert (made.added, made.skipped, made.homeless) == (3, [], [])
    with Store.open(tmp_path / "run") as store:
        runs = {run.task_id: run for _, run in store.trajectories()}
        for number, (task, kind) in enumerate(like.tasks_of("small", SMALL)):
            run, row = runs[task], like.trajectory_row(task, kind, number)
            assert run.goal.instruction == row["instruction"] and len(run.steps) == 2
            shots = [store.blobs.read(step.seen.screenshot) for step in run.steps]
            assert shots == [like.picture(2 * number), like.picture(2 * number + 1)]
            assert run.ending.kind == ("answered" if kind.terminated else "step_limit")
            assert run.provenance["row"]["uv_outcome_success"] == row["uv_outcome_success"]
    said = [
        (grader, stage, status) for task, grader, stage, status in verdicts(tmp_path / "run") if task == "small--0000"
    ]
    assert said == [
        ("human:Judge1", "", "pass"),
        ("human:Judge1", "informed", "pass"),
        ("human:Judge2", "", "fail"),
        ("human:Judge2", "informed", "pass"),
        ("published:people-together", "", "fail"),
        ("published:universal-verifier", "", "pass"),
        ("published:webtailbench-multimodal", "", "pass"),
        ("published:webtailbench-text", "", "fail"),
    ]
    again = imported(tmp_path / "data", tmp_path / "run")
    assert (again.added, again.known, again.verdicts) == (0, 3, 0)


def test_a_damaged_row_is_reported_and_the_others_are_imported(tmp_path):
    rows = [like.trajectory_row(f"t{n}", SMALL[0], n) for n in range(4)]
    rows[1]["web_surfer_log"] = "{"
    rows[2]["screenshots"] = [{"bytes": b"no picture", "path": "x"}]
    place = tmp_path / "data" / "trajectories" / "small-00000-of-00001.parquet"
    like.write_parquet(place, like.TRAJECTORY_COLUMNS, rows)
    made = imported(tmp_path / "data", tmp_path / "run")
    assert made.added == 2
    assert [path.name.partition("#")[2] for path, _ in made.skipped] == ["1", "2"]


def test_rows_that_do_not_differ_are_still_several(tmp_path):
    rows = [like.trajectory_row("same", SMALL[0], 0) for _ in range(3)]
    like.write_parquet(tmp_path / "trajectories" / "small-0-of-1.parquet", like.TRAJECTORY_COLUMNS, rows)
    assert imported(tmp_path / "trajectories", tmp_path / "run").added == 3


def test_parquet_files_that_are_something_else(tmp_path):
    like.write_parquet(tmp_path / "x.parquet", {"a": "INTEGER"}, [{"a": 1}])
    with pytest.raises(InputError, match="neither trajectories nor annotations"):
        list(import_all(tmp_path / "x.parquet"))
    (tmp_path / "y.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(InputError, match=r"y\.parquet cannot be read"):
        list(import_all(tmp_path / "y.parquet"))


def test_without_duckdb_it_says_what_to_install(tmp_path, monkeypatch):
    like.write_parquet(tmp_path / "x.parquet", {"a": "INTEGER"}, [{"a": 1}])
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=rf"{re.escape(sys.executable)} -m pip install 'webassay\[parquet\]'"):
        list(import_all(tmp_path / "x.parquet"))


# --- archives -------------------------------------------------------------------------------------------


def packed(folder, path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in tree(folder).items():
                archive.writestr(name, data)
    else:
        with tarfile.open(path, "w:gz") as archive:
            archive.add(folder, arcname=".")
    return path


@pytest.mark.parametrize("name", ["data.zip", "data.tar.gz"])
def test_an_archive_is_imported_like_its_folder(tmp_path, name):
    mind2web(tmp_path / "data" / "abc")
    archive = packed(tmp_path / "data", tmp_path / name)
    assert imported(archive, tmp_path / "run").added == 1
    assert imported(tmp_path / "data", tmp_path / "run").known == 1


def test_archives_stay_inside_and_within_bounds(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../../out.txt", "x")
    with pytest.raises(InputError, match="leads out"):
        imported(tmp_path / "evil.zip", tmp_path / "run")
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        link = tarfile.TarInfo("abc/result.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(InputError, match="No trajectory"):
        imported(tmp_path / "links.tar", tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(5_000_000))
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    with pytest.raises(InputError, match="is too large to unpack"):
        imported(tmp_path / "bomb.zip", tmp_path / "run")
    monkeypatch.setattr(archives, "MOST_BYTES", 16 << 30)
    monkeypatch.setattr(archives, "FREE_GROWTH", 1_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(InputError, match="5,000,000 bytes in an archive of"):  # Nothing was unpacked to learn that.
        imported(tmp_path / "bomb.zip", tmp_path / "run")
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_FILES", 2)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}", "x")
    with pytest.raises(InputError, match="more than 2 files"):
        imported(tmp_path / "many.zip", tmp_path / "run")
    (tmp_path / "no.zip").write_bytes(b"not a zip")
    with pytest.raises(InputError, match="cannot be unpacked"):
        imported(tmp_path / "no.zip", tmp_path / "run")
    assert not (tmp_path / "run").exists() and not list(tmp_path.glob("out*"))


def test_attributes_of_a_tar_file_stay_within_bounds(tmp_path):
    """They are read into memory as a whole, and 300 MB of them are packed into 300 kB."""
    for name, entry in (
        ("attributes.tar.gz", {"pax_headers": {"comment": "x" * 2_000_000}}),
        ("name.tar.gz", {"name": "x" * 2_000_000}),
    ):
        form = tarfile.PAX_FORMAT if "pax_headers" in entry else tarfile.GNU_FORMAT
        with tarfile.open(tmp_path / name, "w:gz", format=form) as archive:
            one = tarfile.TarInfo("abc/result.json")
            for field, value in entry.items():
                setattr(one, field, value)
            archive.addfile(one)
        with pytest.raises(InputError, match="the limit is 1,048,576"):
            imported(tmp_path / name, tmp_path / "run")


def test_a_tar_file_cannot_lie_about_its_sizes(tmp_path):
    with tarfile.open(tmp_path / "short.tar", "w") as archive:
        entry = tarfile.TarInfo("abc/result.json")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"{}\n"))
    data = (tmp_path / "short.tar").read_bytes()
    (tmp_path / "short.tar").write_bytes(data[:600])
    with pytest.raises(InputError):
        imported(tmp_path / "short.tar", tmp_path / "run")


# --- the real ones --------------------------------------------------------------------------------------


@outside
@pytest.mark.external
@pytest.mark.parametrize(
    ("place", "format", "items", "said"),
    [
        ("om2w-example", "online-mind2web", ["example/fb7b4f784cfde003e2548fdf4e8d6b4f"], 5),
        ("fara-example", "fara", ["."], 1),
        ("webarena-verified/agent_logs/demo", "webarena-verified", ["107", "108"], 2),
    ],
)
def test_every_outside_example_with_its_labels_there_and_back(tmp_path, place, format, items, said):
    made = imported(OUTSIDE / place, tmp_path / "run")
    assert (made.added, made.verdicts, made.skipped, made.homeless) == (len(items), said, [], [])
    Workbench().export_trajectories(tmp_path / "run", tmp_path / "back", format)
    folders = "*/*" if format == "webarena-verified" else "*"  # its readers look for an agent's folder of tasks
    back = [tree(folder) for folder in sorted((tmp_path / "back").glob(folders))]
    assert back == [tree(Path(OUTSIDE / place / item)) for item in items]


@outside
@pytest.mark.external
def test_the_outside_har_files(tmp_path):
    run, blobs = one(OUTSIDE / "webarena-verified" / "network.har")
    assert run.network.count == 358 and len(run.steps) > 3
    assert blobs.read(run.network.blob) == (OUTSIDE / "webarena-verified" / "network.har").read_bytes()

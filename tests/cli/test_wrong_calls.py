"""Every wrong call ends with exit code 2 and a message that says what to do, and leaves nothing behind."""

from pathlib import Path

import pytest

from tests.store.test_damage import fill
from webassay import cli

HOSTILE = "\x1b[31m\x9b2J\u202e\u2066[/x][bold]\r\n\ud800"
"""Steers terminals, turns text around, is markup, is no text at all."""

CALLS = """
run
run -o out
run -o out --agent
run -o out -a nosuch
run -o out -a oracel
run -o out -a oracle[route=
run -o out -a oracle[nosuch=1]
run -o out -a oracle[route=nosuch] --template nosuch
run -o out -a flawed[skill=1.5]
run -o out -a flawed[skill=x]
run -o out -a flawed[skill=nan]
verify run --judge webjudge[temperature=inf] --model openai:x --dry-run
run -o out -a flawed[errors=nosuch]
faultbench
faultbench generate
faultbench generate -o out -n 1
faultbench generate -o out --code 9.9
faultbench generate -o out --template nosuch
faultbench score
faultbench score nosuch
faultbench score folder.json
run -o out -a generic
run -o out -a occam
run -o out -a computer
run -o out -a human
run -o out -a knowledge
run -o out -a oracle -n 0
run -o out -a oracle -n 101
run -o out -a oracle -n x
run -o out -a oracle --world-seed -1
run -o out -a oracle --seed -1
run -o out -a oracle --limit 0
run -o out -a oracle --trials 0
run -o out -a oracle --max-steps 0
run -o out -a oracle --decide-seconds 0
run -o out -a oracle --episode-seconds 0
run -o out -a oracle --actions-a-step 0
run -o out -a oracle -w 0
run -o out -a oracle -w 65
run -o out -a oracle --difficulty nosuch
run -o out -a oracle --template nosuch
run -o out -a oracle --template missing.py:Mine
run -o out -a oracle --template text.py:value
run -o out -a oracle -b arena[x=1]
run -o out -a oracle -t nosuch
run -o out -a oracle -b nosuch
run -o out -a oracle -b missing.json
run -o out -a oracle -b broken.json
run -o out -a oracle -b folder.json
run -o out -a oracle -b list.json
run -o out -a oracle -b broken.py:tasks
run -o out -a oracle -b missing.py:tasks
run -o out -a oracle -b open
run -o out -a oracle -b open --tasks-file missing.json
run -o out -a oracle -b open --tasks-file goals.json --offline
run -o out -a naive-zero -a flawed[skill=0.5] -b open --tasks-file goals.json --offline
try http://127.0.0.1:1/ goal -a oracle
run -o out -a oracle -b open --tasks-file broken.json
run -o out -a oracle -b webarena --tasks-file list.json
run -o out -a oracle -b webarena-verified --tasks-file broken.json
run -o out -a oracle --environment nosuch
run -o out -a missing.py:Agent
run -o out -a broken.py:Agent
run -o out -a raises.py:Agent
run -o out -a text.py:Agent
run -o out -a text.py:value
run -o out -a text.py:
run -o out -a :Agent
run -o out -a nosuch.module:Agent
run -o out -a generic -m nosuch
run -o out -a generic -m nosuch:NAME
run -o out -a generic -m openai:
run -o out -a generic -m openai:NAME@nowhere
run -o out -a generic -m openai:NAME@http://127.0.0.1:1 --preset nosuch
run -o out -a generic -m openai:NAME@http://127.0.0.1:1 --set nosuch=1
run -o out -a generic -m openai:NAME@http://127.0.0.1:1 --set temperature=hot
run -o out -a generic -m openai:NAME@http://127.0.0.1:1 --max-usd -1
run -o out --agent-cmd
run -o list.json -a oracle --template shop.low-reviews -n 1
run -o full -a oracle --template shop.low-reviews -n 1
run --nosuch
run -o out -a oracle extra
try
try http://127.0.0.1:1/
try nowhere goal -a oracle
try http://[::1 goal -a generic -m openai:NAME@http://127.0.0.1:1
try ftp://127.0.0.1/ goal -a generic -m openai:NAME@http://127.0.0.1:1
try javascript:alert(1) goal -a generic -m openai:NAME@http://127.0.0.1:1
try http://127.0.0.1:99999/ goal -a generic -m openai:NAME@http://127.0.0.1:1
try http://127.0.0.1:1/ goal -a generic
try http://127.0.0.1:1/ goal --max-steps 0
check nosuch
check shop.low-reviews -n 0
check shop.low-reviews --difficulty nosuch
serve --port 0
serve --port 99999
serve --user nobody
serve --user shop=nosuch
serve --user nosuch=emma
grade
grade nosuch
grade folder
grade run --activity nosuch
grade run -t nosuch
grade run -a nosuch
grade run -b nosuch
grade folder -b nosuch
grade folder -b webarena
grade nosuch -b webarena-verified --tasks-file list.json
grade run --nosuch
report
report nosuch
report folder
report list.json
report run --format nosuch
report run --grader nosuch
report run --episodes
report run --html nowhere/report.html
report run nosuch
compare run --anchor nosuch
compare nosuch
compare run --html nowhere/x.html
leaderboard
leaderboard nosuch
leaderboard run --grader nosuch
subset run --level nosuch
subset run --size 0
audit
audit nosuch
audit missing.json
audit broken.json
audit good.json --runs nosuch
audit good.json --labels missing.json
audit good.json --labels broken.json
audit good.json --labels folder.json
verify
verify nosuch
verify run --judge nosuch
verify run --judge webjudge[nosuch=1] -m openai:NAME@http://127.0.0.1:1
verify run -m nosuch
verify run -m openai:NAME@http://127.0.0.1:1 --rubric missing.json
verify run -m openai:NAME@http://127.0.0.1:1 --rubric broken.json
verify run -m openai:NAME@http://127.0.0.1:1 --votes 2
verify run --as-published
verify run --at-once 0
verify folder
verify folder -o out
verify im[/x] -o out
rubric
rubric nosuch
rubric nosuch -m openai:NAME@http://127.0.0.1:1
rubric nosuch -b nosuch -m openai:NAME@http://127.0.0.1:1
label run
label run missing.csv --annotator anna
label run broken.json --annotator anna
label run list.json --annotator anna
label nosuch list.json --annotator anna
label run good.csv
label run good.csv --annotator
import
import nosuch -o out
import folder -o out
import list.json -o out -f nosuch
import folder -o out --config missing.json
import folder -o out -b nosuch
import folder -o out -b webarena-verified --tasks-file missing.json
import nosuch -o out -b webarena-verified --tasks-file list.json
import folder folder -o out -b webarena-verified --agent x --tasks-file list.json
import folder -o out -f nosuch
import folder -o out -f missing.py:MINE
import folder -o out -f text.py:value
export run -o out -f nosuch
export nosuch -o out -f online-mind2web
export run -f online-mind2web
show
show nosuch
show folder
show run nosuch
show run --template nosuch
show run --template missing.py:Mine
grade run --template nosuch
grade run --template text.py:value
grade run --grader nosuch
grade run --grader text.py:value
grade logs -b webarena-verified --grader mine.py:MINE
grade logs -b webarena-verified --template mine.py:Mine
show run oracle/shop.count.0/0 --html nowhere/x.html
tasks nosuch
tasks show nosuch
tasks list -b nosuch
tasks list -b broken.json
tasks export --template nosuch
tasks fetch
tasks fetch nosuch
list nosuch
models nosuch
store
store nosuch
store check
store check nosuch
store check folder
store repair nosuch
store repair folder
store repair list.json
nosuch
""".strip().splitlines()


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "run")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "full").mkdir()
    for name, text in {
        "full/thesis.tex": "dear reader",
        "broken.json": '{"a": [',
        "list.json": "[1, 2]",
        "good.json": "[]",
        "goals.json": '[{"goal": "Find it.", "url": "http://127.0.0.1:1/"}]',
        "good.csv": "id,label\noracle/shop.count.0/0,pass\n",
        "broken.py": "def tasks(:",
        "raises.py": "raise RuntimeError('no')",
        "text.py": "value = 'text'",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    left = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in left.items() if "__pycache__" not in name}


def call(words: list[str], monkeypatch) -> int:
    monkeypatch.setattr("sys.argv", ["webassay", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("grade run --compare-with reference", "--compare-with is only for logs."),
        ("grade run --grader nosuch --activity off", "--activity is only for the rules."),
        ("grade folder -b webarena-verified --grader nosuch", "--grader is only for runs."),
        ("run -o out -a oracle -b arena[x=1]", "The benchmark arena takes no options."),
        ("run -o out -a nosuch --max-usd 0", "--max-usd has no effect without --model."),
        ("run -o out -a nosuch --preset generic/gpt-5", "--preset has no effect without --model."),
        ("run -o out -a nosuch --set temperature=0", "--set has no effect without --model."),
    ],
)
def test_an_option_that_would_be_ignored_is_named(line, says, place, monkeypatch, capfd):
    assert call(line.split(), monkeypatch) == 2
    assert says in capfd.readouterr().err


@pytest.mark.parametrize("line", CALLS)
def test_a_wrong_call_exits_2_with_a_message_and_leaves_nothing(line, place, monkeypatch, capfd):
    before = files(place)
    assert call(line.split(), monkeypatch) == 2
    said = capfd.readouterr()
    assert said.err.strip() and "Traceback" not in said.err
    assert files(place) == before
    assert not (place / "out").exists() and not (place / "runs").exists()


def test_a_reference_solution_is_played_on_arena_tasks_only(place, monkeypatch, capfd):
    words = "run -o out -a naive-zero -a flawed[skill=0.5] -b open --tasks-file goals.json --offline"
    assert call(words.split(), monkeypatch) == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "flawed[skill=0.5] plays reference solutions, and task" in said and "arena tasks only" in said

"""`webassay show`: finding an episode, and what is said about it."""

import io
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from tests.support import episodes
from tests.support.episodes import HOSTILE, make_run, sample_task, sample_trajectory
from webassay.analysis.episode.page import Pictures, embed
from webassay.analysis.episode.text import to_text, units_table
from webassay.analysis.episode.view import reasons, why
from webassay.analysis.results.page import to_html
from webassay.cli import app
from webassay.core.errors import Fault, InputError
from webassay.core.text import printable
from webassay.core.trajectory import AgentInfo, BlobRef, Ending, MemoryBlobs, NetworkLog, RecordedObservation, Step
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.grading.grade import grade
from webassay.store import Store
from webassay.workbench import Workbench
from webassay.workbench.show import file_name

STAMP = Fingerprint(grader="rules", version="1", source="sha256:0")
GOLDEN = Path(__file__).parents[1] / "golden" / "episode"


@pytest.fixture
def bench(tmp_path) -> Workbench:
    return Workbench(cache=tmp_path / "cache")


@pytest.fixture
def run(tmp_path) -> Path:
    return make_run(tmp_path / "made")


def text_of(view) -> str:
    return to_text(view, 100)


class TestFinding:
    def test_without_a_name_every_unit_is_listed_with_its_status(self, bench, run):
        lines = bench.units(run)
        assert [(line.unit, line.status, line.played) for line in lines] == [
            ("model-agent/shop.cancel.0/0", "fail", True),
            ("sleeper/shop.cancel.0/0", "missing", False),
        ]
        assert "model-agent/shop.cancel.0/0  fail         3      4.2" in units_table(lines)

    @pytest.mark.parametrize("name", ["model-agent/shop.cancel.0/0", "MODEL", "model-agent/shop.cancel.0/0/1"])
    def test_any_unique_part_of_a_name_is_enough(self, bench, run, name):
        assert bench.episode(run, name).trajectory.id == "model-agent/shop.cancel.0/0/1"

    def test_a_trajectory_id_names_an_attempt_that_does_not_count(self, bench, run):
        view = bench.episode(run, "model-agent/shop.cancel.0/0/0")
        assert (view.trajectory.ending.kind, view.status, len(view.attempts)) == ("fault", "fault", 2)

    def test_names_that_fit_several_units_or_none_bring_up_the_right_ones(self, bench, run):
        with pytest.raises(InputError, match="2 units match") as raised:
            bench.episode(run, "cancel")
        assert "model-agent/shop.cancel.0/0, sleeper/shop.cancel.0/0" in raised.value.hint
        with pytest.raises(InputError, match="Did you mean model-agent"):
            bench.episode(run, "modle-agent")
        with pytest.raises(InputError, match="not been played yet"):
            bench.episode(run, "sleeper")


class TestText:
    def test_a_small_episode_reads_like_this(self, bench, run):
        golden = GOLDEN / "small.txt"
        assert text_of(bench.episode(run, "model")) == golden.read_text(encoding="utf-8")

    @given(st.text(max_size=60))
    def test_printable_text_cannot_steer_a_terminal(self, text):
        shown = printable(text)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown)
        shown.encode()
        assert printable(shown) == shown
        assert printable(text, lines=True).count("\n") == text.count("\n")

    def test_what_shows_stays_as_it_is(self):
        said = "Grüße, 世界 👩‍💻 [bold] \\x1b"
        assert printable(said) == said
        assert printable("\x1b[31m\u202e\U000e0041") == "\\x1b[31m\\u202e\\U000e0041"


class TestWhy:
    """What somebody reads who knows nothing of the checks."""

    def reasons(self, *findings: Finding) -> list[str]:
        return reasons(Verdict(task_id="t", trajectory_id="t", status="fail", fingerprint=STAMP, findings=findings))

    def test_a_change_that_is_missing_is_told_as_a_deed(self):
        asked = {
            "site": "shop",
            "table": "orders",
            "operation": "update",
            "where": {"id": 7},
            "values": {"state": {"value": "gone"}},
        }
        missing = Finding(
            check="state.required", status="fail", message="Missing: x. No such row was touched.", expected=asked
        )
        [told] = self.reasons(missing)
        assert (
            told == 'A change that was asked for was not made: a changed row in orders of shop with id 7, state "gone".'
        )
        near = missing.model_copy(update={"message": "Missing: x. The nearest row does not fit: state is 'open'."})
        assert self.reasons(near) == [f"{told} The nearest row does not fit: state is 'open'."]

    @pytest.mark.parametrize("expected", [None, 3, {}, {"operation": "insert", "values": 4}, {"operation": "melt"}])
    def test_a_change_in_another_form_is_told_as_the_grader_told_it(self, expected):
        finding = Finding(check="state.required", status="fail", message="Missing: it.", expected=expected)
        assert self.reasons(finding) == ["A change that was asked for was not made: Missing: it."]

    def test_what_passed_or_decides_nothing_is_no_reason(self):
        passed = Finding(check="response.status", status="pass", message="It is 'SUCCESS'.")
        wrong = Finding(check="response.results", status="fail", message="It is '3', not '4'.")
        own = Finding(check="my.check", status="fail", message="No.")
        assert self.reasons(passed, wrong, wrong, own) == ["Its answer is wrong: It is '3', not '4'.", "No."]

    @pytest.mark.parametrize(
        ("logged", "answer", "said"),
        [
            ("POST", "SUCCESS", ["It reported success all the same."]),
            ("GET", "SUCCESS", ["It sent no request that could change anything.", "It reported success all the same."]),
            ("GET", "UNKNOWN_ERROR", ["It sent no request that could change anything."]),
        ],
    )
    def test_what_was_claimed_and_sent_is_told_of_a_missing_change(self, bench, tmp_path, logged, answer, said):
        def trajectory(blobs, task):
            log = NetworkLog(
                blob=blobs.write(episodes.exchanges((logged, "/orders/7/cancel", 303)), "application/jsonl")
            )
            return sample_trajectory(blobs, task, network=log, answer=f'{{"action": "mutate", "status": "{answer}"}}')

        def verdicts(made):
            missing = Finding(check="state.required", status="fail", message="Missing: it.")
            told = {"task_id": made.task_id, "trajectory_id": made.id, "status": "fail", "fingerprint": STAMP}
            return [Verdict(**told, findings=(missing,))]

        view = bench.episode(make_run(tmp_path / "made", trajectory=trajectory, verdicts=verdicts), "model")
        assert why(view) == ["A change that was asked for was not made: Missing: it.", *said]


class TestKey:
    def test_rows_are_marked_by_the_graders_own_matching(self, bench, run):
        key = bench.episode(run, "model").key
        assert [(row.mark, row.row) for row in key.rows] == [
            ("expected", "id=7"), ("unexpected", "id=9"), ("missing", "id=8"),
        ]  # fmt: skip
        assert key.uncounted == 1
        with Store.open(run) as store:
            verdict = grade(sample_task(), store.trajectory("model-agent/shop.cancel.0/0"), store.blobs)
        counts = Counter((finding.check, finding.status) for finding in verdict.findings)
        assert counts["state.required", "pass"] == counts["state.required", "fail"] == 1
        assert counts["state.collateral", "fail"] == 1
        assert [(line.what, line.status) for line in key.lines] == [
            ("action", "pass"), ("status", "pass"), ("results", "pass"), ("page", "pass"),
        ]  # fmt: skip

    def test_a_wrong_answer_stands_next_to_the_key(self, bench, tmp_path):
        answer = '{"action": "retrieve", "status": "NOT_FOUND_ERROR", "results": null}'
        run = make_run(tmp_path / "wrong", trajectory=lambda blobs, task: sample_trajectory(blobs, task, answer=answer))
        found = {line.what: line for line in bench.episode(run, "model").key.lines}
        assert (found["status"].expected, found["status"].found, found["status"].status) == (
            "SUCCESS", "NOT_FOUND_ERROR", "fail",
        )  # fmt: skip
        assert found["results"].status is None, "not compared after a wrong status"

    def test_code_that_a_run_names_is_not_loaded(self, bench, run, tmp_path):
        trap = tmp_path / "trap.py"
        trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()\ndef tasks(): return []\n")
        with Store.open(run, writable=True) as store:
            store.set("selection", f'{{"benchmark": "{trap}:tasks"}}')
        view = bench.episode(run, "model")
        assert "which is code" in view.key.missing and not (tmp_path / "sprung").exists()
        assert [row.mark for row in view.key.rows] == ["changed", "changed"]
        assert "which is code" in text_of(view) and "which is code" in bench.episode_page(run, "model")

    def test_a_task_file_that_is_gone_costs_the_key_alone(self, bench, run):
        next(run.parent.parent.glob("*-tasks.json")).unlink()
        view = bench.episode(run, "model")
        assert "does not exist" in view.key.missing and len(view.trajectory.steps) == 3

    def test_a_key_that_changed_since_is_said(self, bench, tmp_path):
        run = make_run(
            tmp_path / "old", trajectory=lambda blobs, task: sample_trajectory(blobs, task, task_hash="sha256:0")
        )
        assert "today's key" in text_of(bench.episode(run, "model"))
        # Rows of a site that was never compared are a note.
        run = make_run(tmp_path / "rowless", trajectory=lambda blobs, task: sample_trajectory(blobs, task, probes=()))
        view = bench.episode(run, "model")
        assert view.key.rows == () and "page in front was not recorded" in text_of(view)


class TestOddEpisodes:
    """Every kind of episode gives text and a page, never a traceback."""

    def made(self, bench, tmp_path, verdicts=None, **changes):
        run = make_run(
            tmp_path / "odd",
            trajectory=lambda blobs, task: sample_trajectory(blobs, task, **changes),
            verdicts=verdicts or (lambda trajectory: []),
        )
        return bench.episode(run, "model"), bench.episode_page(run, "model")

    def test_imported(self, bench, tmp_path):
        bare = {"task_hash": "", "network": None, "probes": (), "bases": {}, "source": "webvoyager"}
        view, page = self.made(bench, tmp_path, ending=Ending(kind="imported"), **bare)
        assert "has no key" in text_of(view) and "has no key" in page
        assert view.status == "not graded" and view.traffic is None

    def test_driven_from_outside(self, bench, tmp_path):
        step = Step(index=0, seen=RecordedObservation(url="http://x/"), action_text="(driven from outside)")
        view, page = self.made(bench, tmp_path, steps=(step,), last_seen=None)
        assert "(driven from outside)" in text_of(view) and "No picture was recorded" in page

    def test_crashed_without_a_step(self, bench, tmp_path):
        crash = Ending(kind="agent_crashed", message="It raised.", fault=Fault("AgentError", "It raised.", "Trace!"))
        view, page = self.made(bench, tmp_path, steps=(), last_seen=None, answer="", ending=crash)
        assert "agent crashed: It raised." in text_of(view) and "(none)" in text_of(view)
        assert "Trace!" in page and "The episode has no steps." in page

    def test_a_step_that_findings_cite_but_that_does_not_exist(self, bench, tmp_path):
        def cite(trajectory):
            found = episodes.sample_verdicts(trajectory)[-1]
            finding = found.findings[0].model_copy(update={"steps": (99, -1, 2)})
            return [found.model_copy(update={"findings": (finding,)})]

        _, page = self.made(bench, tmp_path, verdicts=cite)
        assert set(re.findall(r'href="#(step-[^"]*)"', page)) == {"step-1", "step-2", "step-3"}

    def test_missing_blobs_are_named(self, bench, run):
        shutil.rmtree(run / "blobs")
        view = bench.episode(run, "model")
        said = text_of(view)
        for part in ("The picture of step 1", "The tree of step 3", "The network log", "The picture of the last page"):
            assert f"{part} is missing" in " ".join(said.split())
        page = bench.episode_page(run, "model")
        assert page.count("The picture is missing") == 4 and "data:image" not in page
        assert str(run) not in page and "blobs/" in page, "named, but not where this machine keeps it"

    def test_a_damaged_network_log_is_a_note(self, bench, tmp_path):
        def broken(blobs, task):
            log = sample_trajectory(blobs, task).network.model_copy(update={"blob": blobs.write(b"{nonsense\n", "x")})
            return sample_trajectory(blobs, task, network=log)

        run = make_run(tmp_path / "broken", trajectory=broken)
        view = bench.episode(run, "model")
        assert view.traffic is None and "network log cannot be read" in text_of(view)

    def test_an_agent_may_have_any_name(self, bench, tmp_path):
        view, page = self.made(
            bench, tmp_path, agent=AgentInfo(name=HOSTILE, model=HOSTILE, settings={HOSTILE: HOSTILE})
        )
        assert "\x1b" not in text_of(view) and "\\x1b[31m" in text_of(view)
        assert "<script>window" not in page


class TestPictures:
    def test_each_picture_is_in_the_page_once(self, bench, run):
        page = bench.episode_page(run, "model")
        assert page.count("data:image/jpeg;base64,") == 2, "two colours"
        assert page.count('class="canvas after"') == 3, "each step also has the page after it"
        assert page.count("data-same=") == 2 + 3, "steps 3 and the end look like step 2"

    def test_what_is_no_picture_or_too_large_to_decode_is_not_embedded(self):
        blobs = MemoryBlobs()
        refs = [blobs.write(data, "image/jpeg") for data in (b"<svg onload=alert(1)>", b"\xff\xd8\xffbroken", b"")]
        assert embed([*refs, episodes.picture(blobs, "white", (16_000, 6_000))], blobs, 1_000_000).sources == {}

    def test_pictures_are_scaled_until_all_fit(self):
        blobs = MemoryBlobs()
        made = embed([noise(blobs, seed) for seed in range(6)], blobs, 300_000)
        assert len(made.sources) == 6 and sum(map(len, made.sources.values())) <= 300_000

    def test_what_does_not_fit_is_left_out_and_said(self):
        blobs = MemoryBlobs()
        made = embed([noise(blobs, seed) for seed in range(3)], blobs, 9_000)
        assert len(made.reasons) >= 2 and sum(map(len, made.sources.values())) <= 9_000
        assert all("left out" in reason for reason in made.reasons.values())

    def test_first_use(self):
        used = Pictures()
        ref = BlobRef(hash="sha256:1", media_type="image/jpeg", size=1)
        assert [used.first_use(ref), used.first_use(ref)] == [True, False]


def noise(blobs: MemoryBlobs, seed: int) -> BlobRef:
    """Nothing compresses worse."""
    out = io.BytesIO()
    Image.frombytes("RGB", (640, 360), random.Random(seed).randbytes(640 * 360 * 3)).save(out, "JPEG", quality=90)
    return blobs.write(out.getvalue(), "image/jpeg")


class TestReports:
    def test_the_table_names_the_command(self, bench, run, tmp_path):
        html = tmp_path / "report.html"
        assert bench.write_report(bench.report([run]), [run], html) == 0
        assert f"webassay show {run} AGENT/TASK/TRIAL" in html.read_text()
        assert not (tmp_path / "report-episodes").exists()
        assert "Episodes" not in to_html(bench.report([run]))

    @pytest.mark.parametrize(("which", "written"), [("all", 1), ("failed", 1)])
    def test_every_played_unit_has_a_page(self, bench, run, tmp_path, which, written):
        html = tmp_path / "my report #1.html"
        assert bench.write_report(bench.report([run]), [run], html, episodes=which) == written
        (page,) = (tmp_path / "my report #1-episodes").iterdir()
        assert f'href="./my%20report%20%231-episodes/{page.name}"' in html.read_text()

    def test_passed_episodes_are_not_written_with_the_failed_ones(self, bench, tmp_path):
        passing = lambda trajectory: episodes.sample_verdicts(trajectory)[:1]  # noqa: E731
        run = make_run(tmp_path / "passed", verdicts=passing)
        assert bench.write_report(bench.report([run]), [run], tmp_path / "r.html", episodes="failed") == 0

    @given(st.lists(st.text(), max_size=4, unique=True))
    def test_file_names_are_unique_and_plain(self, units):
        names = [file_name(unit) for unit in units]
        assert len({name.casefold() for name in names}) == len(units)
        assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}\.html", name) for name in names)


class TestCommand:
    def test_units_an_episode_and_a_page(self, run, tmp_path):
        assert "sleeper/shop.cancel.0/0      missing" in invoked("show", str(run)).output
        assert "Cancel order 7" in invoked("show", str(run), "model").output
        page = tmp_path / "episode.html"
        assert f"Episode: {page}" in invoked("show", str(run), "model", "--html", str(page)).output
        assert "<!doctype html>" in page.read_text()
        result = invoked("show", str(run), "cancel")
        assert "sleeper/shop.cancel.0/0" in result.output
        assert isinstance(result.exception, InputError) and "2 units match" in str(result.exception)
        assert "Also give --html" in str(invoked("report", str(run), "--episodes").exception)

    @pytest.mark.parametrize("words", [("--episodes",), ("--episodes", "failed"), ("--episodes", "all", "--markdown")])
    def test_a_report_with_its_episodes(self, run, tmp_path, words):
        html = tmp_path / "report.html"
        result = invoked("report", "--html", str(html), *words, str(run))
        assert result.exception is None, result.output
        assert len(list((tmp_path / "report-episodes").iterdir())) == 1


def invoked(*words: str):
    return CliRunner().invoke(app, words)

"""A damaged run directory: every command says so, leaves out what is damaged, and `run` makes it whole again."""

import json
import shutil
from pathlib import Path

import apsw
import pytest

from webassay import cli
from webassay.store import LEDGER, Store

pytestmark = pytest.mark.browser

RUN = ["run", "-a", "oracle", "-a", "naive-zero", "-n", "1", "--template", "shop.price-of-nothing", "-o"]


def call(monkeypatch, capfd, *words: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["webassay", *words])
    try:
        cli.main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capfd.readouterr()
    assert "Traceback" not in said.err
    return code, said.out + said.err


def statuses(run: Path) -> dict[str, str]:
    with Store.open(run, thorough=True) as store:
        return {row.agent: row.verdict.status for row in store.rows("rules") if row.verdict is not None}


def test_damage_is_told_left_out_and_played_again(tmp_path, monkeypatch, capfd):
    whole = tmp_path / "whole"
    assert call(monkeypatch, capfd, *RUN, str(whole))[0] == 0
    assert call(monkeypatch, capfd, "store", "check", str(whole)) == (0, f"{whole} is undamaged.\n")
    expected = statuses(whole)
    assert expected == {"oracle": "pass", "naive-zero": "fail"}

    run = Path(shutil.copytree(whole, tmp_path / "damaged"))
    with Store.open(run) as store:
        log = next(trajectory for unit, trajectory in store.trajectories() if unit.agent == "oracle").network
    digest = log.blob.hash.removeprefix("sha256:")
    with (run / "blobs" / digest[:2] / digest[2:]).open("ab") as file:
        file.write(b"{}\n")
    db = apsw.Connection(str(run / LEDGER))
    db.execute("UPDATE verdict SET status = 'pass', score = 1.0 WHERE agent = 'naive-zero'")
    db.close()

    code, said = call(monkeypatch, capfd, "store", "check", str(run))
    assert code == 1 and "oracle/" in said and "naive-zero/" in said and digest[2:] in said
    for words in (["report"], ["compare"], ["leaderboard"], ["show"]):
        code, said = call(monkeypatch, capfd, *words, str(run))
        assert code == 0 and "damaged and left out" in " ".join(said.split()), said
    code, said = call(monkeypatch, capfd, "report", str(run), "--json")
    assert json.loads(said[said.index("{") :])["agents"] == []

    code, said = call(monkeypatch, capfd, "grade", str(run))
    assert code == 0 and statuses(run) == {"naive-zero": "fail"}  # its evidence is whole, so it is graded again
    code, said = call(monkeypatch, capfd, *RUN, str(run))
    assert code == 0 and "1 unit is damaged and played or graded again" in said
    assert statuses(run) == expected
    code, said = call(monkeypatch, capfd, "report", str(run))
    assert code == 0 and "left out" not in said

    (run / LEDGER).write_bytes(b"x" * 5000 + (run / LEDGER).read_bytes()[5000:])
    for words in (["report"], ["grade"], ["show"], RUN):
        code, said = call(monkeypatch, capfd, *words, str(run))
        assert code == 1 and "store repair" in said, words
    assert call(monkeypatch, capfd, "store", "repair", str(run))[0] == 0
    assert statuses(run) == expected

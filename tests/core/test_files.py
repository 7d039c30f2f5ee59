"""Files are written whole or not at all."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.core.files import write_whole


@pytest.mark.parametrize("durable", [False, True])
def test_the_folder_is_made_and_nothing_else_is_left(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    write_whole(path, b"one", durable=durable)
    write_whole(path, b"two", durable=durable)
    assert path.read_bytes() == b"two"
    assert [one.name for one in path.parent.iterdir()] == ["file.json"]


def test_a_failure_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new", durable=True)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").touch()
    with pytest.raises(OSError):
        write_whole(tmp_path / "folder", b"data")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_the_users_umask_decides_who_may_read(tmp_path: Path) -> None:
    write_whole(tmp_path / "ours", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_readers_never_see_a_part(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([letter]) * 200_000 for letter in b"abc"]
    write_whole(path, contents[0])
    writers = [threading.Thread(target=lambda c=c: [write_whole(path, c) for _ in range(20)]) for c in contents]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(path.read_bytes())
    for writer in writers:
        writer.join()
    assert seen | {path.read_bytes()} <= set(contents)


@given(st.binary(max_size=1000), st.text("abc.é ", min_size=1, max_size=120).filter(lambda name: name.strip(". ")))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    path = tmp_path_factory.mktemp("files") / name
    write_whole(path, data)
    assert path.read_bytes() == data

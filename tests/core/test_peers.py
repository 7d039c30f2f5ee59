"""Who is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from webassay.core.peers import comes_from, family, hung_up

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

CLIENT = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.recv(1)"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_connection_is_its_process_and_its_ancestors(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CLIENT!r}, sys.argv[1]])"
    with (
        subprocess.Popen([sys.executable, "-c", script, str(port)]) as parent,
        subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as stranger,
    ):
        connection, peer = listener.accept()
        with connection:
            assert comes_from(peer, port, parent.pid) is True
            assert comes_from(peer, port, os.getpid()) is True
            assert comes_from(peer, port, stranger.pid) is False
            assert len(list(family(parent.pid))) == 2
        stranger.stdin.close()  # type: ignore[union-attr]


def test_where_nobody_knows_nobody_is_accused(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        connection, peer = listener.accept()
        assert comes_from(peer, port, 2**22) is None  # no such process
        assert not hung_up(peer, port)
        client.close()
        connection.close()
        assert comes_from(peer, port, os.getpid()) is None  # nobody holds it any more
        assert hung_up(peer, port)

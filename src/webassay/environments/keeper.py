"""Runs one command in a folder, and sees to it that nothing of it outlives whoever asked for it.

It is a process of its own, between us and the command, because we may be killed: when its standard input ends, and that
happens whatever becomes of us, it ends the command and all that descends from it, also what has detached itself.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time

from webassay.core.peers import family

GRACE_SECONDS = 2.0
CANNOT_START = 127


def main(folder: str, command: list[str]) -> int:
    _adopt_orphans()
    # A pipe that becomes readable when a child ends, so that both ends can be waited for at once.
    ended, wake = os.pipe2(os.O_NONBLOCK) if hasattr(os, "pipe2") else os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: None)  # Only the end of the input, or of the command, ends us.
    try:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}.\n")
        return CANNOT_START
    while process.poll() is None:
        readable, _, _ = select.select([sys.stdin, ended], [], [], 1.0)
        if sys.stdin in readable and not os.read(sys.stdin.fileno(), 4096):
            break
        if ended in readable:
            os.read(ended, 4096)
    _end_all(process)
    code = process.returncode
    return 128 - code if code is not None and code < 0 else code or 0


def _adopt_orphans() -> None:
    """On Linux, what a child leaves behind becomes ours instead of nobody's."""
    set_child_subreaper = 36
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


def _end_all(process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + GRACE_SECONDS
    _send(process, signal.SIGTERM)
    while _left(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(100):
        if not _left(process):
            return
        _send(process, signal.SIGKILL)
        time.sleep(0.02)


def _left(process: "subprocess.Popen[bytes]") -> list[int]:
    """All that descend from us, without those that have ended and only wait to be noticed."""
    process.poll()
    _reap(process.pid)
    found = [pid for pid in family(os.getpid()) if pid != os.getpid()]
    return found if found or process.returncode is not None else [process.pid]


def _reap(but_not: int) -> None:
    for pid in [pid for pid in family(os.getpid()) if pid not in (os.getpid(), but_not)]:
        try:
            os.waitpid(pid, os.WNOHANG)
        except OSError:
            continue  # somebody else's child


def _send(process: "subprocess.Popen[bytes]", name: signal.Signals) -> None:
    for pid in _left(process):
        try:
            os.kill(pid, name)
        except OSError:
            continue  # gone meanwhile
    try:
        os.killpg(process.pid, name)
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

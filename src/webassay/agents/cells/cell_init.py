"""The first process of a cell: builds the view that a program gets of this machine, and starts the program in it.

It is run as a file, by `cell.py`, with the standard library alone: `cell_init.py PLAN PROGRAM ARGUMENT…`. Three
processes take part. The outer one waits, and passes the exit code on. The inner one is process 1 of a process
namespace: when the program ends, it ends, and the kernel kills everything else in the namespace, detached or not. Both
die with whoever started them. The third becomes the program.
"""

import ctypes
import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any, NoReturn

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000  # mounts, System V IPC, users, processes
MS_NOSUID, MS_NODEV, MS_RDONLY, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 1, 8, 0x4000, 0x40000
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
"""System calls that have the same number on every architecture."""
OPEN_TREE_CLONE, AT_RECURSIVE, AT_EMPTY_PATH, FROM_DESCRIPTOR = 1, 0x8000, 0x1000, 0x4
AT_FDCWD = -100
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
NOT_STARTED = 126
"""The exit code of a cell that could not be built."""

libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def checked(result: int, doing: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{doing}: {os.strerror(error)}")
    return result


def mount(kind: str, target: str, flags: int, data: str = "") -> None:
    name = kind.encode()
    checked(libc.mount(name, target.encode(), name, ctypes.c_ulong(flags), data.encode()), f"mounting {kind} {target}")


def taken(path: str) -> int:
    """The tree at this path as a descriptor, whatever is mounted over it later."""
    flags = OPEN_TREE_CLONE | AT_RECURSIVE | os.O_CLOEXEC
    return checked(libc.syscall(OPEN_TREE, AT_FDCWD, path.encode(), flags), f"taking {path}")


def put(tree: int, path: str) -> None:
    checked(libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, path.encode(), FROM_DESCRIPTOR), f"showing {path}")
    os.close(tree)


def make_read_only(descriptor: int, path: str = "") -> None:
    flags = AT_RECURSIVE | (0 if path else AT_EMPTY_PATH)
    wish = MountAttributes(set=MS_RDONLY | MS_NOSUID)
    size = ctypes.c_size_t(ctypes.sizeof(wish))
    result = libc.syscall(MOUNT_SETATTR, descriptor, path.encode(), flags, ctypes.byref(wish), size)
    checked(result, f"making {path or 'a part'} read-only")


def die_with(parent: int) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent and os.getppid() != parent:
        os._exit(NOT_STARTED)  # It was gone before we could say so.


def enter() -> None:
    user, group = os.geteuid(), os.getegid()
    checked(libc.unshare(NEW_NAMESPACES), "making namespaces")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def build(view: list[tuple[str, str]]) -> None:
    """`view`: paths with what becomes of each (`hide`, `show`, `write`), parents before what is inside them."""
    checked(libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "detaching mounts")
    nodes = {name: taken(f"/dev/{name}") for name in DEVICES if Path("/dev", name).exists()}
    trees = {path: taken(path) for path, what in view if what != "hide"}
    make_read_only(AT_FDCWD, "/")
    mount("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
    _devices(nodes)
    for path, what in view:
        if what == "hide":
            _hide(path)
        else:
            if what == "show":
                make_read_only(trees[path])
            _place_for(path, trees[path])
            put(trees[path], path)


def _devices(nodes: dict[str, int]) -> None:
    mount("tmpfs", "/dev", MS_NOSUID, "mode=755")
    for name, tree in nodes.items():
        Path("/dev", name).touch()
        put(tree, f"/dev/{name}")
    for folder in ("shm", "pts"):
        Path("/dev", folder).mkdir()
    mount("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777")
    mount("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in links.items():
        Path("/dev", name).symlink_to(target)


def _hide(path: str) -> None:
    if Path(path).is_dir():
        mount("tmpfs", path, MS_NOSUID | MS_NODEV, "mode=1777")
    elif Path(path).exists():
        put(taken("/dev/null"), path)


def _place_for(path: str, tree: int) -> None:
    """What is shown again inside something hidden needs a place to be put at."""
    place = Path(path)
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISDIR(os.fstat(tree).st_mode):
        place.mkdir()
    else:
        place.touch()


def give_up_powers() -> None:
    """In its own namespaces the program would be allowed to undo all this."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)
    for power in range(64):
        libc.prctl(PR_CAPBSET_DROP, power, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    checked(libc.capset(header, (ctypes.c_uint32 * 6)()), "giving up powers")


def start(command: list[str], folder: str) -> int:
    for place in (folder, "/"):
        try:
            os.chdir(place)
            break
        except OSError:
            continue
    program = os.fork()
    if program == 0:
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(sign, signal.SIG_DFL)
        os.setsid()
        try:
            os.execvp(command[0], command)
        except OSError as error:
            fail(f"{command[0]} cannot be started: {error.strerror}")
    return program


def fail(message: str) -> NoReturn:
    os.write(2, f"{message}\n".encode())
    os._exit(NOT_STARTED)


def outcome(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def be_first(plan: dict[str, Any], command: list[str]) -> NoReturn:
    """Process 1: everything in the cell dies with it."""
    die_with(0)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(-1, signal.SIGTERM))
    try:
        build([(path, what) for path, what in plan["view"]])
        give_up_powers()
    except OSError as error:
        fail(f"The cell cannot be built: {error.strerror or error}")
    program = start(command, plan["folder"])
    for quiet in (0, 1, 2):
        os.close(quiet)  # Whoever reads what the program says waits for the program alone.
    while True:
        ended, status = os.wait()
        if ended == program:
            os._exit(outcome(status))


def main(arguments: list[str]) -> NoReturn:
    plan, command = json.loads(arguments[0]), arguments[1:]
    die_with(plan["parent"])
    try:
        enter()
    except OSError as error:
        fail(f"The cell cannot be built: {error.strerror or error}")
    first = os.fork()
    if first == 0:
        be_first(plan, command)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)  # The program is told, and has a moment; then all of us are killed.
    for quiet in (0, 1, 2):
        os.close(quiet)
    os._exit(outcome(os.waitpid(first, 0)[1]))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Calls somebody's `verify(server_url)`, in a process of its own. Any Python may run it: standard library only.

Called with three paths: what to do, the verifier, and where to write what it said. It is asked about the application
first. Where it passes and other states are given, it is asked about each of them too, served from here. What it raises
ends this process, and the trace is its last words.
"""

import http.server
import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Verify = Callable[[str], Any]


def main(order_path: str, program: str, result_path: str) -> None:
    order = json.loads(Path(order_path).read_text())
    sys.path.insert(0, str(Path(program).resolve().parent))
    verify = load(program)
    verdict = answer_of(verify(order["url"]))
    write(result_path, {"verdict": verdict})
    if verdict[0] and order["states"]:
        write(result_path, {"verdict": verdict, "without": without(verify, order["path"], order["states"])})


def write(path: str, said: dict[str, Any]) -> None:
    part = Path(path + ".part")
    part.write_text(json.dumps(said))
    part.replace(path)


def load(program: str) -> Verify:
    # A name of ours: a verifier may import a neighbor of any plain name, such as `verifier`.
    spec = importlib.util.spec_from_file_location("webassay_verifier", program)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(program)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Data classes look up their own module there.
    spec.loader.exec_module(module)
    verify: Verify = module.verify
    return verify


def answer_of(answer: Any) -> tuple[bool, str]:
    if isinstance(answer, bool):
        return answer, ""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2 or not isinstance(answer[0], bool):
        raise TypeError(f"verify must return (bool, str), not {str(answer)[:200]}")
    return answer[0], str(answer[1])


def without(verify: Verify, path: str, states: list[Any]) -> list[bool] | None:
    """Whether it passes on each state; None where it cannot be asked about a state that is served from elsewhere."""
    current: list[Any] = [None]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path.split("?")[0] == path
            body = json.dumps(current[0]).encode() if known else b"{}"
            self.send_response(200 if known else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url, found = f"http://127.0.0.1:{server.server_address[1]}", []
    for state in states:
        current[0] = state
        try:
            found.append(answer_of(verify(url))[0])
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError, StopIteration):
            found.append(False)  # A state that it does not understand is none that it passes.
        if not found[0]:  # The first one is the state as it was: what passed there must pass here.
            return None
    return found[1:]


if __name__ == "__main__":
    main(*sys.argv[1:])

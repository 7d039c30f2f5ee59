"""Calls that go wrong, as a newcomer makes them: each has to end soon, with its own exit code and a line that helps.

    python scripts/wrong_calls.py [PART …]

Prints call, exit code, seconds, the longest silence, and the first line that says what is wrong.
"""

import os
import select
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PYTHON = sys.executable
SECRET = "sk-wrong-but-secret"
ONE = "-n 1 --template shop.price-of-nothing"
MODEL = "run -o out -a generic"
FIVE = "-n 5 --template shop.price-of-nothing"
PROGRAM = f"run -o out {ONE} --agent-cmd"
LONGEST_SILENCE = 10.0
"""Seconds after which a person believes that nothing happens."""


@dataclass(frozen=True)
class WrongCall:
    name: str
    words: str
    code: int
    says: str
    plays: bool = False
    """It needs a browser, and some seconds."""
    price: str = ""
    """What the model costs."""
    quick: bool = False
    """Also part of the short tests."""


CALLS = (
    # --- what is named is not there -------------------------------------------------------------------------
    WrongCall("unknown agent", f"run -o out -a oracel {ONE}", 2, "Did you mean oracle"),
    WrongCall("unknown benchmark", "run -o out -a oracle -b arenna", 2, "Did you mean arena"),
    WrongCall("unknown template", "run -o out -a oracle --template shop.low-review", 2, "shop.low-reviews"),
    WrongCall("unknown task", f"run -o out -a oracle {ONE} -t shop.nosuch.w0s0.0", 2, "no task"),
    WrongCall("unknown provider", f"{MODEL} -m opnai:x {ONE}", 2, "no model provider"),
    WrongCall("unknown setting", f"run -o out -a oracle[rout=x] {ONE}", 2, "no setting"),
    WrongCall("no agent", f"run -o out {ONE}", 2, "No agent was given"),
    WrongCall("no model", f"{MODEL} {ONE}", 2, "needs a model"),
    WrongCall("no key", f"{MODEL} -m anthropic:claude {ONE}", 2, "ANTHROPIC_API_KEY"),
    WrongCall("no difficulty", "run -o out -a oracle --difficulty easier", 2, "difficulty"),
    WrongCall("empty selection", "run -o out -a oracle -b empty.json", 2, "no tasks"),
    WrongCall("unknown run", "report nosuch", 2, "nosuch"),
    WrongCall("misspelled run", "report rnu", 2, "Did you mean run", quick=True),
    WrongCall("no such command", "rnu", 2, "run"),
    WrongCall("no such option", "run --limitt 3", 2, "--limit"),
    # --- places and files -----------------------------------------------------------------------------------
    WrongCall("unwritable folder", f"run -o /proc/nosuch/run -a oracle {ONE}", 1, "/proc"),
    WrongCall("folder of something else", f"run -o thesis -a oracle {ONE}", 2, "not empty"),
    WrongCall("run of another experiment", f"run -o run -a oracle {ONE}", 2, "template was", quick=True),
    WrongCall("agent file with an error", f"run -o out -a broken.py:Agent {ONE}", 2, "could not be loaded"),
    WrongCall("no such agent file", f"run -o out -a nosuch.py:Agent {ONE}", 2, "nosuch.py"),
    WrongCall("no agent in the file", f"run -o out -a empty.py:Agent {ONE}", 2, "is not an agent"),
    WrongCall("experiment is no TOML", "run broken.toml", 2, "not TOML", quick=True),
    WrongCall("experiment is not there", "run nosuch.toml", 2, "nosuch.toml", quick=True),
    WrongCall("unknown key in experiment", "run misspelled.toml", 2, "Did you mean instances", quick=True),
    WrongCall("wrong value in experiment", "run wrong.toml", 2, "workers", quick=True),
    WrongCall("nothing failed before", f"run -o out -a oracle {ONE} --last-failed run", 2, "has passed", quick=True),
    WrongCall("labels without quotes", "label run labels.csv --annotator anna", 2, "has no trajectory", quick=True),
    # --- judges ---------------------------------------------------------------------------------------------
    WrongCall("verify without a model", "verify run", 2, "--without-model", quick=True),
    WrongCall("verify, all abstain", "verify run --without-model", 3, "Nothing was judged"),
    WrongCall("verify, dead host", "verify run -m openai:m@http://127.0.0.1:1/v1", 2, "127.0.0.1:1"),
    # --- models ---------------------------------------------------------------------------------------------
    WrongCall("dead host", f"{MODEL} -m openai:m@http://127.0.0.1:1/v1 {ONE}", 2, "127.0.0.1:1"),
    WrongCall("host without a name", f"{MODEL} -m openai:m@http://nosuch.invalid/v1 {ONE}", 2, "nosuch.invalid"),
    WrongCall("wrong key", f"{MODEL} -m openai:m@SERVER/401/v1 {ONE}", 2, "401: Incorrect key [key]", quick=True),
    WrongCall("400", f"{MODEL} -m openai:m@SERVER/400/v1 {ONE}", 2, "answered 400: no such model", quick=True),
    WrongCall("404", f"{MODEL} -m openai:m@SERVER/404/v1 {ONE}", 2, "answered 404"),
    WrongCall("429 forever", f"{MODEL} -m openai:m@SERVER/429/v1 {ONE}", 2, "answered 429: slow down"),
    WrongCall("HTML instead of JSON", f"{MODEL} -m openai:m@SERVER/html/v1 {ONE}", 2, "expected JSON"),
    WrongCall("no price, but a cap", f"{MODEL} -m openai:m@SERVER/ok/v1 --max-cost 1 {ONE}", 2, "MODEL_PRICE"),
    WrongCall("400 later", f"{MODEL} -m openai:m@SERVER/later/v1 {FIVE}", 3, "5 times in a row", plays=True),
    WrongCall("400, kept going", f"{MODEL} -m openai:m@SERVER/400/v1 --keep-going {ONE}", 3, "Nothing was", True),
    WrongCall("cap reached", f"{MODEL} -m openai:m@SERVER/ok/v1 --max-cost .01 {ONE}", 5, "spend cap", True, "9/9"),
    WrongCall("rubbish as answer", f"{MODEL} -m openai:m@SERVER/ok/v1 {ONE}", 3, "crash in 1 of 1", True),
    # --- programs -------------------------------------------------------------------------------------------
    WrongCall("program missing", f"{PROGRAM} nosuch-program", 2, "no such program", quick=True),
    WrongCall("script missing", f"{PROGRAM} '{PYTHON} nosuch.py'", 2, "no file nosuch.py"),
    WrongCall("wants what is not there", f"run -o out -a wants.py:Agent {ONE}", 2, "Did you mean 'tree'", quick=True),
    WrongCall("start without async", f"run -o out -a plain.py:Agent {ONE}", 2, "async def start", plays=True),
    WrongCall("program raises at once", f"{PROGRAM} '{PYTHON} raises.py'", 2, "no such module here", plays=True),
    WrongCall("program hangs", f"{PROGRAM} '{PYTHON} hangs.py' --episode-seconds 8", 0, "passes", plays=True),
    WrongCall("program prints rubbish", f"{PROGRAM} 'echo hello'", 0, "passes", plays=True),
    WrongCall("agent raises at the start", f"run -o out -a starts.py:Agent {ONE}", 2, "does not start", plays=True),
    WrongCall("agent raises in step 5", f"run -o out -a fifth.py:Agent {FIVE}", 3, "no_such_name", plays=True),
    WrongCall("site not there", "try http://127.0.0.1:1/ goal -a naive-zero -o out", 2, "cannot be opened", plays=True),
    WrongCall("site faults, kept going", "run -o out -a naive-zero -b open --tasks-file goals.json --keep-going", 3,
              "Nothing was measured", plays=True),
)  # fmt: skip

FILES = {
    "thesis/thesis.tex": "dear reader",
    "empty.json": "[]",
    "goals.json": '[{"url": "http://127.0.0.1:1/", "goal": "Find it."}]',
    "broken.py": "class Agent(:",
    "empty.py": "class Agent: pass",
    "raises.py": "raise SystemExit('no such module here')",
    "hangs.py": "import time; time.sleep(1000)",
    "starts.py": "class Agent:\n  name, wants = 'starts', ()\n  async def start(self, goal): raise KeyError('no')\n"
    "  async def decide(self, page): return ''",
    "wants.py": "class Agent:\n  name, wants = 'wants', ('tre',)\n  async def start(self, goal): ...\n"
    "  async def decide(self, page): ...",
    "plain.py": "class Agent:\n  name, wants = 'plain', ()\n  def start(self, goal): ...\n"
    "  async def decide(self, page): ...",
    "fifth.py": "class Agent:\n  name, wants = 'fifth', ()\n  async def start(self, goal): self.step = 0\n"
    "  async def decide(self, page):\n    self.step += 1\n    return 'scroll(0, 9)' if self.step < 5 else no_such_name",
    "broken.toml": "agent = [",
    "misspelled.toml": 'agent = "oracle"\nout = "out"\ninstance = 3',
    "wrong.toml": 'agent = "oracle"\nout = "out"\nworkers = "many"',
    "labels.csv": "id,label\nflawed[skill=0.5,errors=stop]/shop.count.0/0,pass",
}


class Endpoint(BaseHTTPRequestHandler):
    """A model that answers as the first part of its path says."""

    asked = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        how = self.path.split("/")[1]
        if how == "later":
            how = "ok" if "This is a check" in body else "400"
        kind, text = "application/json", '{"error": {"message": "no such model"}}'
        if how == "html":
            kind, text = "text/html", "<html>Welcome</html>"
        elif how == "429":
            text = '{"error": {"message": "slow down"}}'
        elif how == "401":
            text = f'{{"error": {{"message": "Incorrect key {SECRET}"}}}}'
        elif how == "ok":
            text = (
                '{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, '
                '"finish_reason": "stop", "message": {"role": "assistant", "content": "ready, steady"}}], '
                '"usage": {"prompt_tokens": 2000, "completion_tokens": 9, "total_tokens": 2009}}'
            )
        self.send_response(int(how) if how.isdecimal() else 200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@dataclass(frozen=True)
class Done:
    code: int
    seconds: float
    silence: float
    """The longest."""
    said: str

    def problems(self, call: WrongCall) -> list[str]:
        found = [f"exit {self.code}, not {call.code}"] if self.code != call.code else []
        found += [f"does not say {call.says!r}"] if call.says not in " ".join(self.said.split()) else []
        found += ["traceback"] if "Traceback" in self.said and not call.plays else []
        found += ["the key"] if SECRET in self.said else []
        return found

    @property
    def first_line(self) -> str:
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        telling = ("error:", "Error:", "Nothing was", "! ")
        return next((line for start in telling for line in lines if line.startswith(start)), lines[-1] if lines else "")


def make(call: WrongCall, folder: Path, server: str) -> Done:
    """The call in a process of its own, in a folder with everything that it names."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    words = shlex.split(call.words.replace("SERVER", server))
    env = {**os.environ, "WEBASSAY_MODEL_KEY": SECRET, "WEBASSAY_MODEL_PRICE": call.price, "COLUMNS": "200"}
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        env.pop(key, None)
    started = last = time.monotonic()
    silence, said = 0.0, b""
    with subprocess.Popen(
        [PYTHON, "-m", "webassay", *words], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        while True:
            ready, _, _ = select.select([process.stdout], [], [], 0.2)
            now = time.monotonic()
            silence = max(silence, now - last)
            if ready:
                part = os.read(process.stdout.fileno(), 65536)
                if not part:
                    break
                said, last = said + part, now
    return Done(process.wait(), now - started, silence, said.decode(errors="replace"))


def played_run(folder: Path) -> None:
    """A run in which everything has passed."""
    words = f"run -o {folder}/run -a oracle -n 1 --template shop.open-cheapest"
    subprocess.run([PYTHON, "-m", "webassay", *words.split()], check=True, capture_output=True)


def main() -> None:
    parts = sys.argv[1:]
    wrong = 0
    with endpoint() as server, tempfile.TemporaryDirectory() as base:
        played_run(Path(base))
        for number, call in enumerate(CALLS):
            if parts and not any(part in call.name for part in parts):
                continue
            folder = Path(base) / str(number)
            folder.mkdir()
            subprocess.run(["cp", "-r", f"{base}/run", str(folder / "run")], check=True)
            done = make(call, folder, server)
            problems = done.problems(call)
            problems += [f"silent for {done.silence:.0f} s"] if done.silence > LONGEST_SILENCE else []
            wrong += bool(problems)
            mark = f"   !! {'; '.join(problems)}" if problems else ""
            line = f"{call.name:27} {done.code:>3} {done.seconds:5.1f} s  silent {done.silence:4.1f} s"
            print(f"{line}  {done.first_line[:120]}{mark}", flush=True)
            if problems and parts:
                print(done.said)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

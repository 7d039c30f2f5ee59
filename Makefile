# Two commands are enough on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
UV ?= uv
VENV := .venv
BIN := $(VENV)/bin
DEMO_READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PYTEST := $(BIN)/pytest
WORKERS ?= 2
# One more than that: a third of their time, tests wait for pages and processes.
TESTERS ?= 3
SCALE ?= 1
# What takes hours keeps here what it has done, and goes on from there when it is started again.
KEEP ?= runs/check-arena
# Some machines forbid Python to keep bytecode; then each of the hundreds of processes below compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo models test test-long test-full check check-arena check-arena-full docs lock bench bench-browser bench-grading \
  bench-statistics bench-agreement bench-agents bench-verifier bench-judging bench-store bench-reach bench-record \
  bench-armor bench-legacy bench-faults clean

help:  ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

setup: $(TEST_READY)  ## The environment in .venv, from the locks, and a Chromium

$(BIN)/python:
	@$(PYTHON) -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "webassay needs Python 3.11 or newer with the venv module (Debian: apt-get install python3-venv). Set PYTHON=... to choose one."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/webassay setup
	@touch $@

$(TEST_READY): requirements-dev.lock $(DEMO_READY)
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(DEMO_READY)  ## Four agents evaluated end to end on the embedded shop and its back office
	$(BIN)/webassay demo

models: $(DEMO_READY)  ## What asking a model needs, for `--model`
	$(PIP) install --quiet --require-hashes -r requirements-models.lock

test: setup  ## What a change can break, in minutes
	$(PYTEST) -n $(TESTERS) --dist loadgroup -m "not long and not slow" -q

test-long: setup  ## Whole runs: killed and resumed, every environment, plugins. With `test`: what must pass to land
	$(PYTEST) -n $(TESTERS) --dist loadgroup -m "long and not slow" -q

test-full: setup check  ## Everything, also what takes hours
	$(PYTEST) -n $(TESTERS) --dist loadgroup -q

check: setup  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-arena: setup  ## A sample of the same: every template, one instance, one world
	$(BIN)/python scripts/check_arena.py --worlds 1 --instances 1 --workers $(WORKERS)

check-arena-full: setup  ## Every template on ten unseen worlds: routes pass; shortcuts, naive agents, mistakes fail
	$(BIN)/python scripts/scan_start_pages.py --worlds 10 --instances 5
	$(BIN)/python scripts/check_arena.py --worlds 10 --instances 5 --obstacles --workers $(WORKERS) --keep $(KEEP)

docs: setup  ## Write the generated pages again
	$(BIN)/python scripts/generate_docs.py

bench: setup  ## Reset, row diff, steps a second, episodes a minute, memory
	$(BIN)/python scripts/bench_state.py
	$(BIN)/python scripts/bench_episodes.py

bench-browser: setup  ## Against BrowserGym, in its own environment, step by step in turns
	$(BIN)/python scripts/bench_browser.py

bench-reach: setup  ## Pages of component libraries (needs npm): is there an id for all that reacts? Do ids last, does text arrive?
	$(BIN)/python scripts/bench_reach.py --again
	$(BIN)/python scripts/bench_ids.py
	$(BIN)/python scripts/bench_typing.py

bench-grading: setup  ## Against the published WebArena-Verified grader, in its own environment
	$(BIN)/python -m scripts.bench_grading

bench-legacy: setup  ## The old protocol against libwebarena, in its own environment, on more than 30,000 pairs
	$(BIN)/python scripts/bench_legacy.py

bench-statistics: setup  ## Coverage of the intervals, and how well a subset ranks
	$(BIN)/python scripts/bench_statistics.py

bench-agreement: setup  ## Judges and people: metrics against other libraries, coverage, speed, published numbers
	$(BIN)/python -m scripts.bench_agreement

bench-agents: setup  ## Our own time a step, without model and browser
	$(BIN)/python scripts/bench_agents.py

bench-verifier: setup  ## Trajectories a minute against a model of fixed latency
	$(BIN)/python scripts/bench_verifier.py --latency 1.0

bench-judging: setup  ## Does what decides a task reach those who decide it? Without a model; plays the arena once (RUNS=folder)
	$(BIN)/python scripts/bench_judging.py --runs $(or $(RUNS),runs/bench-judging)

bench-store: setup  ## Verdicts appended a second, and what a report over very many costs
	$(BIN)/python scripts/bench_store.py

bench-armor: setup  ## Attacks, counted: damaged runs, hostile files, texts, pages and programs (SCALE=0.01: a quick look)
	$(BIN)/python -m scripts.bench_armor --scale $(SCALE)

bench-faults: setup  ## How often a run of three instances a template ranks agents of known ability rightly, beside theory
	$(BIN)/python -m scripts.bench_faults rankings

bench-record: setup  ## What the site's own record costs: CPU, bytes, grading
	$(BIN)/python -m scripts.bench_record

RESOLVE := $(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 -q
lock:  ## Resolve pyproject.toml again (needs uv): what the demo needs, and beside it what models and the tests need
	$(RESOLVE) --extra dev --extra plots --extra models pyproject.toml -o requirements-dev.lock
	$(RESOLVE) --extra build -c requirements-dev.lock pyproject.toml -o requirements.lock
	$(RESOLVE) --extra models -c requirements-dev.lock pyproject.toml -o requirements-models.lock

clean:  ## Remove what was built; runs stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

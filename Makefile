# `make demo` and `make test` need only Python 3.11 or newer and this file; each does its own set-up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo chatbot test lint bench clean
help:
	@echo "make demo     set up and show the main job on the demo corpus (no key, no download of models)"
	@echo "make chatbot  set up and serve the demo chatbot (GENERATOR=anthropic with a key, for Claude)"
	@echo "make test     set up and run the tests"
	@echo "make lint     ruff, mypy and the import contracts"
	@echo "make bench    the benchmarks that need no other data, each printing a table"
	@echo "make clean    remove what the targets above have made"

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "grounded_rag needs Python 3.11 or newer; say which: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c "import venv, ensurepip" 2>/dev/null || \
	  { echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	@echo "Installing grounded_rag (about a minute and a half) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "Installing the test tools ..."
	@$(PIP) --editable ".[dev]"
	@touch $@

$(VENV)/.chatbot: $(VENV)/.core
	@echo "Installing the chatbot's server ..."
	@$(PIP) --editable ".[chatbot]"
	@touch $@

demo: $(VENV)/.core
	@$(BIN)/grounded-rag demo

chatbot: $(VENV)/.chatbot
	@PYTHONPATH=examples $(BIN)/python -m chatbot

test: $(VENV)/.dev
	@PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests/typing
	@$(BIN)/lint-imports

bench: $(VENV)/.dev
	@for name in cases recorded_drafts golden retrieval support_tampered diagnosis follow_ups quote_modes streaming \
	  locate_speed locate_scaling chunking index_overhead; do \
	  echo "== benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py || exit 1; done

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage

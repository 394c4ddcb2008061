# Every target makes the virtual environment it needs, if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench paper paper-quick clean

# The library alone is enough to run it.
$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-paper: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[plot]'
	touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## from nothing to rules on screen
	$(BIN)/sessc demo

test: $(VENV)/.installed-dev  ## from nothing to a green test run
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed  ## speed and memory, as ratios inside one run
	$(BIN)/python benchmarks/iteration.py

# What is recorded in experiments/results is not computed again; empty that folder to start from nothing.
paper: $(VENV)/.installed-paper  ## the paper's tables, figures and docs/paper.md
	$(BIN)/python -m experiments.protocol --order 0
	$(BIN)/python -m experiments.protocol --order 1
	$(BIN)/python -m experiments.variants
	$(BIN)/python -m experiments.studies
	$(BIN)/python -m experiments.figures
	$(BIN)/python -m experiments.page

paper-quick: $(VENV)/.installed-paper  ## three splits, thinned grids, in a few minutes
	$(BIN)/python -m experiments.protocol --order 0 --quick
	$(BIN)/python -m experiments.protocol --order 1 --quick
	$(BIN)/python -m experiments.page --quick

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

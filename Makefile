# Every target makes the virtual environment it needs, if it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint docs bench paper paper-quick compare compare-others scoreboard mutants hunt soak \
	test-floor dist-check examples pictures clean

# The library alone is enough to run it.
$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[docs]'
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

docs: $(VENV)/.installed-docs  ## the guide and the public API as a site, docs/_build/index.html
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build

# What is recorded in benchmarks/results for this machine is not measured again; remove it to start from nothing.
bench: $(VENV)/.installed-paper .venv-fuzzy/.installed .venv-fuzzy-c-means/.installed .venv-interpret/.installed  ## speed and memory, as ratios
	$(BIN)/python -m benchmarks.iteration
	$(BIN)/python -m benchmarks.answers
	$(BIN)/python -m benchmarks.libraries
	$(BIN)/python -m benchmarks.page

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

compare: $(VENV)/.installed-paper  ## refined rules beside other models, docs/refined.md and docs/when-not.md
	$(BIN)/python -m experiments.comparison
	$(BIN)/python -m experiments.refined
	$(BIN)/python -m experiments.limits

# Each in an environment of its own, since none is a dependency.
REQUIRED_BY_highfis := highfis==0.36.0 pandas
REQUIRED_BY_interpret := interpret-core==0.7.8
REQUIRED_BY_imodels := imodels==3.0.4 six
REQUIRED_BY_ex-fuzzy := ex-fuzzy==3.3.1
REQUIRED_BY_tables := pandas matplotlib
REQUIRED_BY_fuzzy := scikit-fuzzy==0.5.0 packaging soft-clustering==0.2.0 scikit-pytsk==0.0.6
REQUIRED_BY_fuzzy-c-means := fuzzy-c-means==2.3.1

compare-others: compare-with-highfis compare-with-interpret compare-with-imodels  ## models of other libraries

.PRECIOUS: .venv-%/.installed
compare-with-%: .venv-%/.installed
	.venv-$*/bin/python -m experiments.comparison --package $*

# SESSC_DEVELOPMENT names the folder of the development sets; experiments/development.py says where they come from.
scoreboard: score-with-tables score-with-interpret score-with-highfis score-with-imodels score-with-ex-fuzzy  ## many tables, docs/scoreboard.md
	.venv-tables/bin/python -m experiments.standings

score-with-%: .venv-%/.installed
	.venv-$*/bin/python -m experiments.scoreboard

.venv-%/.installed: pyproject.toml
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet -e . $(REQUIRED_BY_$*)
	touch $@

mutants: $(VENV)/.installed-dev  ## small faults in the formulas, and whether tests notice
	$(BIN)/python -m experiments.mutants

# What is in hunt/results is not run again; another HUNT_SEED hunts elsewhere.
HUNT_CASES ?= 100000
HUNT_SEED ?= 0
SOAK_FITS ?= 10000
hunt: $(VENV)/.installed-dev  ## hostile tables, damaged files, stopped commands: nothing but answers and sentences
	$(BIN)/python -m hunt --cases $(HUNT_CASES) --seed $(HUNT_SEED)

soak: $(VENV)/.installed-dev  ## thousands of fits from threads and forked workers: equal answers, flat memory
	$(BIN)/python -m hunt.soak --fits $(SOAK_FITS)

# The lowest versions that pyproject.toml declares, on the oldest Python, and the tests of what they are used for.
test-floor: .venv-floor/.installed
	.venv-floor/bin/python -m pytest -p no:cacheprovider -W "ignore:np.find_common_type:DeprecationWarning" $(FLOOR_TESTS)

FLOOR_TESTS := $(addprefix tests/test_,$(addsuffix .py,sklearn_checks cluster tsk refine columns files bad_input text rows))

.venv-floor/.installed: pyproject.toml
	test -x .venv-floor/bin/python || $(PYTHON) -m venv .venv-floor
	$(PYTHON) -m hunt.floors pyproject.toml > .venv-floor/floors.txt
	.venv-floor/bin/python -m pip install --quiet -r .venv-floor/floors.txt
	.venv-floor/bin/python -m pip install --quiet --no-deps -e .
	touch $@

dist-check:  ## wheel and sdist twice with one hash, and what the wheel does in an empty environment
	$(PYTHON) -m hunt.dist

examples: $(VENV)/.installed-dev  ## what the README and the guide show, as it is printed now
	$(BIN)/python docs/examples.py

pictures: $(VENV)/.installed-dev  ## those of the README; needs Chromium
	$(BIN)/python docs/pictures.py

clean:
	rm -rf $(VENV) .venv-* dist docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Everything from a fresh clone: each target makes the environment that it needs, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLER ?= $(BIN)/python -m pip install
# Of `make fuzz`: how many mutants and searches, a tenth as many states a robot and linkages in few
# digits, and which.
COUNT ?= 100000
SEED ?= 0

# Tests start hundreds of processes: each compiles all modules if it may not keep them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install sim test test-all fuzz wild lint bench docs spelling clean

install: $(VENV)/.dev

sim: $(VENV)/.sim
	$(BIN)/robodyn sim --out out

test: $(VENV)/.ready
	ROBODYN_TEST_CODE=quick ROBODYN_TEST_EXAMPLES=5 $(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --dist loadfile

fuzz: $(VENV)/.ready
	$(BIN)/python tests/fuzz_urdf.py --count $(COUNT) --seed $(SEED)
	$(BIN)/python tests/fuzz_assembly.py --count $(COUNT) --seed $(SEED)
	$(BIN)/python tests/fuzz_dynamics.py --count $$(($(COUNT) / 10)) --seed $(SEED)
	$(BIN)/python tests/fuzz_rounded.py --count $$(($(COUNT) / 10)) --seed $(SEED)

wild: $(VENV)/.ready
	@test -n "$(DIR)" || { echo "make wild DIR=FOLDER: a folder of URDF, xacro, SDF or MJCF"; exit 2; }
	$(BIN)/python tests/wild.py $(DIR)

lint: $(VENV)/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m mypy robodyn

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/versus_pinocchio.py
	$(BIN)/python benchmarks/closed_loops.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/derivatives.py
	$(BIN)/python benchmarks/inverse_kinematics.py
	$(BIN)/python benchmarks/optimal_control.py
	$(BIN)/python benchmarks/tracing.py
	$(BIN)/python benchmarks/scale.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -j auto -W --keep-going -q docs docs/_build/html

spelling: $(VENV)/.docs
	$(BIN)/python -m sphinx -b spelling -d docs/_build/html/.doctrees -W --keep-going -q docs docs/_build/spelling

$(VENV)/.sim: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALLER) -q -e '.[plot]'
	touch $@

$(VENV)/.ready: $(VENV)/.sim
	$(INSTALLER) -q -e '.[test,plot]'
	touch $@

$(VENV)/.dev: $(VENV)/.ready
	$(INSTALLER) -q -e '.[dev]'
	touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(INSTALLER) -q -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache out build dist docs/_build docs/reference/generated

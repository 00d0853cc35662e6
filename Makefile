# Everything from a fresh clone: each target makes its own environment in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: sim test lint bench docs clean

sim: .venv/.sim
	$(BIN)/robodyn sim --out out

test: .venv/.ready
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: .venv/.dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m mypy robodyn

bench: .venv/.dev
	$(BIN)/python benchmarks/versus_pinocchio.py
	$(BIN)/python benchmarks/closed_loops.py
	$(BIN)/python benchmarks/tracing.py

docs: .venv/.ready
	$(BIN)/python -m pytest tests/test_documentation.py

.venv/.sim: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[plot]'
	touch $@

.venv/.ready: .venv/.sim
	$(BIN)/python -m pip install -q -e '.[test,plot]'
	touch $@

.venv/.dev: .venv/.ready
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

clean:
	rm -rf .venv out build *.egg-info

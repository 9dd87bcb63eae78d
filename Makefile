# Every target says what it does in `make help`. Nothing needs to be activated: all tools are called in .venv.
PYTHON ?= python3.11
PYTEST_FLAGS ?= -n auto
RECORDS ?=
FUZZ ?= 1000000
TARGET ?= cpu
BIN := .venv/bin
RECIPE ?= laptop

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup warmup train test test-slow cluster-test cluster-bench golden fuzz check format bench image ui clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/installed  ## make .venv with the pinned packages and this project (once; again after a change of them)

.venv/bin/python:
	@echo "making .venv with $(PYTHON)" >&2
	@$(PYTHON) -m venv .venv

.venv/locked: requirements.lock | .venv/bin/python
	@infra/setup/install.sh .venv requirements.lock
	@touch $@

.venv/installed: pyproject.toml .venv/locked
	@echo "installing suphx" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

train: setup  ## run the whole laptop recipe; RECORDS=folder takes real records, RECIPE=name another recipe (suphx recipes)
	$(BIN)/suphx run $(RECIPE) $(if $(RECORDS),--records $(RECORDS))

warmup: setup  ## compile the kernels into the cache
	$(BIN)/suphx warmup

test: warmup  ## run the fast tests
	$(BIN)/pytest -q $(PYTEST_FLAGS)

test-slow: warmup  ## run the slow tests as well
	$(BIN)/pytest -q $(PYTEST_FLAGS) -m "not gpu"

cluster-test: warmup  ## the chart's pods as hosts of their own on this machine: one run, killed pods, a cut network (root)
	$(BIN)/pytest -q -n 0 -m slow tests/cluster

cluster-bench: warmup  ## self-play on the chart's pods beside the same run on plain local Ray, as JSON (root, 10 minutes)
	$(BIN)/python -m tests.cluster.throughput

golden: setup  ## regenerate tests/golden and the generated pages and pictures; review the difference before you commit it
	$(BIN)/python -m tests.features.golden_planes
	$(BIN)/python -m tests.helm.golden_chart
	$(BIN)/python -m tests.helm.chart_readme
	$(BIN)/python -m tests.suphx_pipelines.recipe_page
	$(BIN)/python -m tests.suphx_platform.commands_page
	$(BIN)/python -m tests.system_picture

fuzz: warmup  ## read a million damaged records of every format; FUZZ=n takes another number, RECORDS=folder real seeds
	$(BIN)/python -m tests.riichi.record_fuzzer --records $(FUZZ) $(if $(RECORDS),--real $(RECORDS))

check: setup  ## everything that CI runs: lint, format, types, import contracts, fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test

format: setup  ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## measure the simulator, the encoder and the hand analysis; SIMULATOR_PEER= and HAND_PEERS= compare
	$(BIN)/suphx bench simulator $(if $(SIMULATOR_PEER),--peer $(SIMULATOR_PEER))
	$(BIN)/suphx bench features $(if $(RECORDS),--records $(RECORDS)) $(if $(SIMULATOR_PEER),--peer $(SIMULATOR_PEER))
	$(BIN)/suphx bench hands $(if $(HAND_PEERS),--peer $(HAND_PEERS))

# Where torch without CUDA lies, and further options of `buildah bud`: infra/docker/README.md.
CPU_WHEELS ?=
IMAGE_FLAGS ?=
image:  ## build the image suphx-cpu with buildah, as root; TARGET=cuda the other one
	infra/docker/image.sh $(TARGET) $(if $(CPU_WHEELS),--build-arg CPU_WHEELS=$(CPU_WHEELS)) $(IMAGE_FLAGS)

ui: setup  ## open MLflow over the runs of this machine
	$(BIN)/suphx ui

clean:  ## remove caches and built files (runs/ and .venv stay)
	rm -rf dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find suphx platform pipelines tests -name __pycache__ -type d -prune -exec rm -rf {} +

# `make help` describes every target. You do not need to activate .venv: all tools are called from it.
# The newest of these that starts.
PYTHON ?= $(or $(firstword $(foreach minor,14 13 12 11,$(shell python3.$(minor) -c 'print("python3.$(minor)")' 2> /dev/null))),python3)
PYTEST_FLAGS ?= -n auto --dist worksteal
RECORDS ?=
FUZZ ?= 10000
TARGET ?= cpu
BIN := .venv/bin
RECIPE ?= self_play

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup warmup train test test-slow cluster-test golden docs fuzz check format bench image dist lock sbom ui clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/installed  ## create .venv with the pinned packages and this project; repeat it after an update

.venv/bin/pip:  # venv writes it last
	@infra/setup/check_python.sh $(PYTHON) "run make setup PYTHON=/path/to/python3"
	@echo "creating .venv with $(PYTHON)" >&2
	@$(PYTHON) -m venv .venv

TORCH_LOCKS := infra/setup/torch-cpu.lock infra/setup/torch-cuda.lock
.venv/locked: requirements.lock $(TORCH_LOCKS) | .venv/bin/pip
	@infra/setup/install.sh .venv requirements.lock $(TORCH_LOCKS)
	@touch $@

.venv/installed: pyproject.toml .venv/locked
	@echo "installing suphx" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@echo "installed; next: make train, or $(BIN)/suphx play" >&2
	@touch $@

train: setup  ## run the recipe self_play; RECIPE=name: another recipe (suphx recipes), RECORDS=folder: learn from game records
	$(BIN)/suphx run $(RECIPE) $(if $(RECORDS),--records $(RECORDS))

warmup: setup  ## compile the rules engine in advance
	$(BIN)/suphx warmup

test: warmup  ## run the fast tests
	$(BIN)/pytest -q $(PYTEST_FLAGS)

test-slow: warmup  ## run the fast and the slow tests
	$(BIN)/pytest -q $(PYTEST_FLAGS) -m "not gpu"

cluster-test: warmup  ## run the chart's pods as separate hosts on this machine, kill pods and cut the network (root)
	$(BIN)/pytest -q -n 0 -m slow tests/cluster

golden: setup  ## regenerate tests/golden, generated pages and pictures; review the difference before you commit it
	$(BIN)/python -m tests.games.riichi.features.planes_page
	$(BIN)/python -m tests.games.riichi.features.golden_planes
	$(BIN)/python -m tests.games.riichi.playthroughs.golden_game
	$(BIN)/python -m tests.games.dazhong.lists_twin
	$(BIN)/python -m tests.helm.golden_chart
	$(BIN)/python -m tests.helm.chart_readme
	$(BIN)/python -m tests.suphx_pipelines.recipe.recipe_page
	$(BIN)/python -m tests.suphx_cli.commands_page
	$(BIN)/python -m tests.mutation.mutants
	$(BIN)/python -m tests.documents.notebook_files

fuzz: warmup  ## read damaged records and stored files, 10,000 of each kind; FUZZ=n: another number
	FUZZ=$(FUZZ) $(BIN)/pytest -q -m "not gpu" tests/games/riichi/archive/test_damaged_records.py tests/suphx_pipelines/test_damaged_files.py

docs: setup  ## build the documentation site in dist/site; a broken link is an error
	$(BIN)/sphinx-build -q -W --keep-going -c docs/site . dist/site
	@echo "dist/site/index.html" >&2

check: setup  ## run all checks of CI: lint, format, types, import contracts, documentation site, fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory docs
	$(MAKE) --no-print-directory test

format: setup  ## fix lint and format errors that ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## measure the simulator, the encoder and the hand analysis
	$(BIN)/suphx bench simulator
	$(BIN)/suphx bench features $(if $(RECORDS),--records $(RECORDS))
	$(BIN)/suphx bench hands

# Wheels of torch without CUDA, and additional options of `buildah bud`: infra/docker/README.md.
CPU_WHEELS ?=
IMAGE_FLAGS ?=
image:  ## build the image suphx-cpu with buildah, as root; TARGET=cuda builds suphx-cuda
	infra/docker/image.sh $(TARGET) $(if $(CPU_WHEELS),--build-arg CPU_WHEELS=$(CPU_WHEELS)) $(IMAGE_FLAGS)

# SUPHX_REPOSITORY=https://HOST/OWNER/NAME: links of the README that work on a package index.
dist: setup  ## build wheel and sdist in dist
	$(BIN)/hatchling build -d dist

lock: setup  ## write the locks for the ranges in pyproject.toml; UPGRADE=all: newest versions, UPGRADE=name: of one package
	$(BIN)/python infra/setup/lock.py $(if $(UPGRADE),--upgrade $(UPGRADE))

sbom: setup  ## write dist/sbom.json (CycloneDX) with the packages of the image that `make image` builds; same CPU_WHEELS and TARGET
	@infra/setup/sbom.sh $(BIN) $(if $(filter cpu,$(TARGET)),$(if $(CPU_WHEELS),cpu,cuda),cuda) dist/sbom.json

ui: setup  ## show runs, figures and models in MLflow
	$(BIN)/suphx ui

clean:  ## remove caches and built files (keeps runs/ and .venv)
	rm -rf dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find suphx platform pipelines tests -name __pycache__ -type d -prune -exec rm -rf {} +

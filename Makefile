# flowsched: `make run` builds and runs the first experiment, `make test` is what CI runs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
CARGO := cargo
BINARY := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)/release/flowsched
# Every command that the binary can have.
ALL_FEATURES := flowsched/agent,flowsched/controller,flowsched/lab
# What is tested. Whatever else `make test` needs of the debug build comes from the same build, since
# another selection of packages has other features and would be compiled once more.
TESTED := --workspace --features $(ALL_FEATURES)
DEBUG_BINARY := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/flowsched
PREFIX ?= /usr/local
DESTDIR ?=
# A tool is built once, without optimisation: it is used for seconds.
TOOL := CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 $(CARGO) install --locked

.PHONY: run build install uninstall agent controller lab test debug-binary test-install test-python lint deny docs reference fidelity fidelity-lab bench bench-controller check-sonic drift soak soak-engine soak-controller mutants clean dependencies

run: build
	$(BINARY) run experiments/pias-vs-dctcp.toml

build: dependencies
	$(CARGO) build --release -p flowsched

## The binary, shell completions and manual pages under PREFIX; DESTDIR goes before it.
install:
	[ -x $(BINARY) ] || $(MAKE) --no-print-directory build
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh $(BINARY)

uninstall:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh --uninstall

## The same binary with `flowsched agent`, the eBPF tagger for Linux hosts.
agent: dependencies
	scripts/install-agent-deps.sh
	$(CARGO) build --release -p flowsched --features agent

## The same binary with `flowsched controller`, and the agent.
controller: dependencies
	scripts/install-agent-deps.sh
	$(CARGO) build --release -p flowsched --features agent,controller

## The same binary with `flowsched lab`, real packets between namespaces, and the agent.
lab: dependencies
	scripts/install-agent-deps.sh
	$(CARGO) build --release -p flowsched --features $(ALL_FEATURES)

dependencies:
	scripts/install-build-deps.sh

## Everything that CI runs: format, lints, licences, tests, the book.
test: dependencies
	scripts/install-report-deps.sh
	scripts/install-agent-deps.sh --test
	$(MAKE) --no-print-directory lint deny
	scripts/run-tests.py $(TESTED)
	$(MAKE) --no-print-directory test-install
	$(MAKE) --no-print-directory debug-binary
	$(MAKE) --no-print-directory --jobs=2 --output-sync test-python test-agent-kernels
	$(MAKE) --no-print-directory test-packaging
	$(MAKE) --no-print-directory docs

## The binary that the tests use.
debug-binary:
	$(CARGO) test --quiet $(TESTED) --no-run

## Installs to a temporary folder and follows the tutorial's first steps.
test-install: debug-binary
	scripts/test-install.sh $(DEBUG_BINARY)

## The Python package as a wheel in a clean environment: tests, doctests, a notebook, strict types, leaks.
test-python: debug-binary
	scripts/install-python-deps.sh
	FLOWSCHED=$(DEBUG_BINARY) TESTED='$(TESTED)' python/test.sh

lint:
	scripts/circles.py
	scripts/tables.py
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(TESTED) --all-targets -- -D warnings
	$(CARGO) fmt --manifest-path examples/own-scheme/Cargo.toml --check

deny:
	command -v cargo-deny >/dev/null || $(TOOL) cargo-deny
	cargo deny check bans licenses sources

## The book, with the reference pages printed by the binary itself.
docs: reference
	command -v mdbook >/dev/null || $(TOOL) mdbook --no-default-features --features search
	mdbook build docs
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(TESTED) --no-deps --lib --quiet

## Rewrites the generated pages of the book; in CI that must change nothing.
reference: debug-binary
	for page in experiment schemes workloads topologies results; do \
	  $(DEBUG_BINARY) reference $$page > docs/src/reference/$$page.md; \
	done
	mkdir -p docs/src/papers
	$(DEBUG_BINARY) pages docs/src/papers
	sed -i "s/^Of [0-9]* published values.*/$$(cat docs/src/papers/totals.md)/" README.md
	if [ -n "$${CI:-}" ]; then git diff --exit-code -- docs/src/reference docs/src/papers README.md; fi

TABLES ?=

## Measures the tables on the pages on fidelity, to benches/fidelity/; TABLES="ect epn-las" measures two of them.
## TABLES="homa homa-slowdown" needs HOMA_SIZES, the Homa authors' folder sizeDistributions, and pyarrow.
fidelity: build
	scripts/fidelity.py $(BINARY) $(TABLES)

## Measures the tables that need the lab, as root: nothing else may run.
fidelity-lab: lab
	scripts/fidelity.py $(BINARY) lab-capacity lab-figures lab-loss lab-memcached lab-pias lab-queries lab-quick lab-table1 lab-tcp lab-timeouts

## Packet-hops per CPU-second, the cost of growth, the optimiser beside SciPy's, and what a sweep costs beside its runs.
bench: build
	benches/run.sh
	scripts/install-python-deps.sh
	python/test.sh --bench

SOAK_MINUTES ?= 60

## Random experiments under limits, with signals and kills; failures are kept in soak-failures/. Then a
## sweep of 500 experiments on eight workers, one of which is killed and one of which has a full disk, and
## 10,000 random scenes in windows and in single events, of which `make test` has 500.
soak: build
	$(CARGO) build --release -p flowsched-soak
	target/release/flowsched-soak --minutes $(SOAK_MINUTES) --page benches/soak.md
	scripts/install-python-deps.sh
	FLOWSCHED=$(CURDIR)/$(BINARY) python/test.sh --soak
	$(MAKE) --no-print-directory soak-engine
	$(MAKE) --no-print-directory soak-controller

soak-engine:
	SCENES=10000 $(CARGO) test --package flowsched-sim agreement

## Ten minutes of random faults at two controllers, etcd and the values in it.
soak-controller:
	$(CARGO) build -p flowsched-controller --examples
	CHAOS_SECONDS=600 $(CARGO) test -p flowsched-controller --test chaos -- --nocapture

## Memory and CPU of the controller, etcd and Prometheus with 1,000 and 10,000 light hosts, to benches/controller.md.
bench-controller:
	scripts/install-agent-deps.sh --test
	$(CARGO) build --release -p flowsched-controller --examples
	ulimit -n "$$(ulimit -Hn)"; $(CARGO) test --release -p flowsched-controller --test scale -- --ignored --nocapture

## What frozen, the controller's and an oracle's thresholds cost over days of changing traffic, to benches/drift.md.
drift:
	$(CARGO) build --release -p flowsched --features controller --example drift
	"$${CARGO_TARGET_DIR:-target}/release/examples/drift" > benches/drift.new
	mv benches/drift.new benches/drift.md

## SONiC's configuration against its YANG models, MODELS=.../sonic-buildimage/src/sonic-yang-models.
check-sonic:
	$(CARGO) build -p flowsched
	crates/switches/sonic/check.sh "$(MODELS)" "$${CARGO_TARGET_DIR:-target}/debug/flowsched"

## Small changes of the code that no test notices; MUTANTS="--sample 150" draws a sample. Takes days for all.
mutants: dependencies
	command -v cargo-mutants >/dev/null || $(TOOL) cargo-mutants
	scripts/mutants.py $(MUTANTS)

clean:
	$(CARGO) clean
	rm -rf results docs/book

include crates/agent/agent.mk

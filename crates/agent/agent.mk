# Targets of the host agent, included by the Makefile.

.PHONY: agent-deps test-agent test-agent-kernels test-agent-arm64 test-packaging test-container \
	test-systemd soak-agent bench-agent

agent-deps:
	scripts/install-agent-deps.sh --test

# What CI runs, as root: a million packets through kernel and Rust, live traffic, faults, NIC.
test-agent:
	@if [ "$$(id -u)" -ne 0 ]; then \
	  echo "skipped: tests of the agent on real traffic need root"; \
	fi
	cargo test -p flowsched-agent

# The same program under Debian's 6.1, and in part under its newest kernel, emulated: function, not time.
test-agent-kernels:
	TESTED='$(TESTED)' crates/agent/kernels/run.sh

# The agent and its tests, built for arm64 and run under the same kernels for arm64. Too slow for
# `make test`.
test-agent-arm64:
	scripts/install-agent-deps.sh --arm64
	crates/agent/kernels/run.sh --arm64

# Units, manifest and Debian package: checked, installed and purged in a copy of this machine.
test-packaging: debug-binary
	packaging/test.sh $(DEBUG_BINARY)

# The Debian package under a systemd of its own, in an emulated machine. Too slow for `make test`.
test-systemd:
	cargo build -p flowsched --features agent
	packaging/boot/test.sh "$${CARGO_TARGET_DIR:-target}/debug/flowsched"

# The container image, built by buildah on a base image that mmdebstrap makes, and run.
test-container:
	cargo build -p flowsched --features agent
	packaging/container/test.sh "$${CARGO_TARGET_DIR:-target}/debug/flowsched"

# Random life cycles of the agent under traffic, as root; SOAK_SEED=N repeats one case. Failures are
# kept in soak-agent-failures/.
soak-agent:
	cargo build -p flowsched-agent --example flowsched-agent
	SOAK_MINUTES=$(SOAK_MINUTES) SOAK_SEED=$(SOAK_SEED) \
	  cargo test -p flowsched-agent --test soak -- --ignored --exact soak --nocapture

# What the tagger costs. Wants a machine that does nothing else.
bench-agent:
	cargo test --release -p flowsched-agent --lib bench -- --ignored --nocapture --test-threads=1

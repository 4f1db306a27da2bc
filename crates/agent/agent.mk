# Targets of the host agent, included by the Makefile.

.PHONY: agent-deps test-agent test-agent-kernels bench-agent

agent-deps:
	scripts/install-agent-deps.sh --test

# What CI runs, as root: a million packets through kernel and Rust, live traffic, faults, NIC.
test-agent:
	@if [ "$$(id -u)" -ne 0 ]; then \
	  echo "skipped: tests of the agent on real traffic need root"; \
	fi
	cargo test -p flowsched-agent

# The same program under Debian's kernels 6.1 and 6.12, emulated: function, not time.
test-agent-kernels:
	crates/agent/kernels/run.sh

# What the tagger costs. Wants a machine that does nothing else.
bench-agent:
	cargo test --release -p flowsched-agent --lib bench -- --ignored --nocapture --test-threads=1

# Builds for arm64 on amd64: with Rust's own target, Debian's cross compiler, and a folder of
# Debian's arm64 packages: the libraries to link with and the programs of the emulated machine.

prepare_arm64() { # sets `sysroot`, and what cargo builds with
  local triple=aarch64-unknown-linux-gnu
  if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$triple" ]; then
    echo "skipped: Rust's target $triple is missing (scripts/install-agent-deps.sh --arm64)"
    exit 0
  fi
  sysroot=$work/arm64
  unpack "$sysroot" bash busybox-static iproute2 ethtool util-linux libelf-dev zlib1g-dev
  export CARGO_BUILD_TARGET=$triple
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C link-arg=--sysroot=$sysroot"
  export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
  export CFLAGS_aarch64_unknown_linux_gnu=--sysroot=$sysroot
  # Without debug information: an emulated processor unpacks the image.
  export CARGO_PROFILE_DEV_DEBUG=0
}

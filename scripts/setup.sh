#!/usr/bin/env bash
# Provides what the build needs, named by words; leaves alone what is there already. Root is asked for only to install a browser.
#
#   rust     the compiler that rust-toolchain.toml names
#   std      the standard library for wasm32-unknown-unknown      (scripts/wasm-std.sh)
#   bindgen  wasm-bindgen and its test runner, the version in Cargo.lock
#   pack     wasm-pack
#   npm      the npm packages of package-lock.json, wasm-opt among them
#   browser  Chromium (or Chrome) and its ChromeDriver
#   fuzz     cargo-fuzz
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

wasm_pack_version=0.15.1
cargo_fuzz_version=0.13.2

die() { echo "setup: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else die "as root, once: $*"; fi
}

# cargo_tool COMMAND PACKAGE VERSION: `COMMAND --version` answers "name version".
cargo_tool() {
  local found
  found=$(bash -c "$1 --version" 2>/dev/null | awk '{ print $2; exit }') || true
  if [ "$found" = "$3" ]; then return; fi
  echo "setup: cargo install $2 $3 (a few minutes, once)"
  # Little optimised: they are quicker to build, and quick enough.
  CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo install --quiet --locked --force --version "$3" "$2"
}

need_rust() {
  have cargo || die "no cargo: install Rust with rustup first"
  rustc -V >/dev/null 2>&1 && return
  rustup toolchain install --profile minimal --component rustfmt --component clippy \
    "$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)"
}

need_std() { scripts/wasm-std.sh; }

need_bindgen() {
  cargo_tool wasm-bindgen wasm-bindgen-cli "$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/[^0-9.]/, ""); print; exit }' Cargo.lock)"
}

need_pack() { cargo_tool wasm-pack wasm-pack "$wasm_pack_version"; }

need_fuzz() { cargo_tool "cargo fuzz" cargo-fuzz "$cargo_fuzz_version"; }

need_npm() {
  local got=node_modules/.package-lock.json # npm writes it last
  if [ -f "$got" ] && [ ! package-lock.json -nt "$got" ]; then return; fi
  have npm || die "no npm: install Node.js 20.19 or later first"
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    die "Node.js $(node -v) is too old: 20.19 or later is needed"
  npm ci --no-fund --no-audit
  touch "$got"
}

need_browser() {
  local name
  for name in ${CHROME_BIN:-} chromium chromium-browser google-chrome; do
    if have "$name" && have "${CHROMEDRIVER:-chromedriver}"; then return; fi
  done
  have apt-get || die "install Chromium (or Chrome) and its ChromeDriver first; CHROME_BIN and CHROMEDRIVER name them where they are not on PATH"
  echo "setup: installing chromium and chromium-driver"
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-driver >/dev/null
}

for word in "$@"; do
  declare -F "need_$word" >/dev/null || die "unknown word '$word'"
  "need_$word"
done

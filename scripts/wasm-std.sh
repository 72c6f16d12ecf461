#!/usr/bin/env bash
# The standard library for wasm32-unknown-unknown, for the compiler that rust-toolchain.toml activates.
#
# WASM_STD_ROUTE=auto    (default) rustup's own; where rustup cannot fetch it, from source
# WASM_STD_ROUTE=rustup  rustup's own only
# WASM_STD_ROUTE=source  compiled here, once, from the library source of exactly this compiler's version
#                        (rustup's rust-src component if it is there, else Debian's rust-src package)
set -euo pipefail

target=wasm32-unknown-unknown
debian_suites="trixie-backports trixie forky sid"
debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

sysroot=$(rustc --print sysroot)
release=$(rustc -vV | sed -n 's/^release: //p')
commit=$(rustc -vV | sed -n 's/^commit-hash: //p')
installed=$sysroot/lib/rustlib/$target
built_here=$installed/BUILT-FROM-SOURCE # holds the compiler's commit

die() { echo "wasm-std: $*" >&2; exit 1; }

is_there() {
  compgen -G "$installed/lib/libstd*.rlib" >/dev/null || return 1
  [ ! -f "$built_here" ] || [ "$(cat "$built_here")" = "$commit" ]
}
if is_there; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

from_rustup() {
  command -v rustup >/dev/null || return 1
  if [ -f "$built_here" ]; then rm -rf "${installed:?}"; fi # never a mix of two builds
  local words=(rustup target add "$target")
  if command -v timeout >/dev/null; then words=(timeout 300 "${words[@]}"); fi
  RUSTUP_MAX_RETRIES=1 "${words[@]}"
}

# Fetches Debian's rust-src of this compiler's version with an apt of our own: the machine's sources and lists stay as they are.
debian_source() {
  local site suite version
  command -v apt-get >/dev/null && [ -f "$debian_keyring" ] || return 1
  site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | sort -u | head -n 1)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  printf '%s;\n' "Dir::Etc::sourcelist \"$work/sources.list\"" 'Dir::Etc::sourceparts "-"' \
    "Dir::State::lists \"$work/lists\"" "Dir::Cache \"$work/cache\"" \
    'Acquire::Languages "none"' 'APT::Sandbox::User "root"' >"$work/apt.conf"
  for suite in $debian_suites; do
    echo "deb [signed-by=$debian_keyring] $site $suite main" >"$work/sources.list"
    apt-get -qq -c "$work/apt.conf" update >"$work/apt.log" 2>&1 || continue
    version=$(apt-cache -c "$work/apt.conf" madison rust-src | awk '{ print $3 }' | grep -F "$release+" | head -n 1) || continue
    (cd "$work" && apt-get -qq -c apt.conf download "rust-src=$version" >>apt.log 2>&1 && dpkg-deb -x rust-src_*.deb debian) || continue
    echo "wasm-std: library source from Debian's rust-src $version ($suite)"
    mv "$work"/debian/usr/src/rustc-*/library "$work/library"
    return
  done
  [ ! -f "$work/apt.log" ] || tail -n 5 "$work/apt.log" >&2
  return 1
}

# Builds the `sysroot` package the way the compiler's own build does: with bitcode, so that LTO works; unstable where it is
# unmarked, as rustup's is; without paths of this machine.
from_source() {
  local component=$sysroot/lib/rustlib/src/rust/library
  if [ -f "$component/Cargo.lock" ]; then cp -R "$component" "$work/library"; else debian_source || return 1; fi
  echo "wasm-std: building for $target with rustc $release"
  (
    cd "$work/library"
    unset RUSTUP_TOOLCHAIN CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
    export RUSTC=$sysroot/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$work/target
    export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_PROFILE_RELEASE_DEBUG=0
    export RUSTFLAGS="-Cembed-bitcode=yes -Zforce-unstable-if-unmarked \
      --remap-path-prefix=$work=/rustc/$commit --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/rust/deps"
    "$sysroot/bin/cargo" build --locked --release --target "$target" --package sysroot --features "panic-unwind backtrace"
  ) >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log" >&2; return 1; }
  rm -rf "$installed.new"
  mkdir -p "$installed.new/lib"
  cp "$work/target/$target"/release/deps/*.rlib "$installed.new/lib/"
  rm -f "$installed.new"/lib/libsysroot-*.rlib
  echo "$commit" >"$installed.new/BUILT-FROM-SOURCE"
  rm -rf "${installed:?}"
  mv "$installed.new" "$installed"
}

case ${WASM_STD_ROUTE:-auto} in
  rustup) from_rustup ;;
  source) from_source ;;
  auto) from_rustup || from_source ;;
  *) die "WASM_STD_ROUTE is auto, rustup or source, not '$WASM_STD_ROUTE'" ;;
esac || die "no standard library for $target (route ${WASM_STD_ROUTE:-auto})"
is_there || die "the standard library for $target is still not in $installed"
echo "wasm-std: $target is ready"

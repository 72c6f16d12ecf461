# All commands of this project. Each sets up what it needs and is missing (scripts/setup.sh), and does nothing twice.
#
#   make serve      the page on 127.0.0.1             PORT=8080: the first port tried
#   make test       all tests                         make test-all: the heavy sets whole
#   make check      formats, lints, types, licences, size budgets
#   make bench      benchmarks                        make fuzz SECONDS=60: fuzzing, that long for each target
#   make format     formats all sources               make clean: removes what was built

SHELL := bash
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: serve wasm site test test-all test-native test-web test-unit test-e2e web-fixtures check bench fuzz wild format clean

export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
# Where rustup lacks the pinned toolchain but its `stable` is that very version, stable does.
pinned := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq ($(shell rustc -V 2>/dev/null),)
ifneq ($(findstring rustc $(pinned) ,$(shell rustc +stable -V 2>/dev/null)),)
export RUSTUP_TOOLCHAIN := stable
endif
endif

setup := scripts/setup.sh
wasm32 := --target wasm32-unknown-unknown
# The terminal's door, as it is released. Tests in the browser are held against what it says.
kernelscope := target/release/kernelscope

# --- the wasm module and the site

wasm := pkg/package.json
wasm_sources := $(shell find src tables -type f 2>/dev/null) Cargo.toml Cargo.lock rust-toolchain.toml wasm-pack.toml xtask/src/wasm.rs
$(wasm): $(wasm_sources)
	$(setup) rust std bindgen pack npm
	cargo xtask wasm

site := dist/index.html
site_sources := $(shell find www examples -type f 2>/dev/null) index.html vite.config.ts tsconfig.json package.json package-lock.json
$(site): $(wasm) $(site_sources)
	$(setup) npm
	npm run --silent build
	cargo xtask notices
	cargo xtask package
	@touch $@

wasm: $(wasm)
site: $(site)

serve: $(site)
	@exec node scripts/serve.mjs

# --- tests

test: test-native test-web test-unit test-e2e
test-all:
	KERNELSCOPE_TEST_ALL=1 $(MAKE) test

test-native:
	$(setup) rust
	cargo test --locked --workspace --all-features

test-web: export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER := wasm-bindgen-test-runner
test-web: export CHROMEDRIVER ?= $(shell command -v chromedriver || echo /usr/bin/chromedriver)
test-web: $(wasm)
	$(setup) rust std bindgen browser
	cargo test --locked --package xtask --test wasm_pack_toml -- --ignored
	$(MAKE) --no-print-directory web-fixtures
	cargo test --locked $(wasm32) --test web

# What tests/web.rs includes: the fixtures, and what the terminal's door reports of each.
web-fixtures:
	cargo build --locked --release --features cli --bin $(notdir $(kernelscope))
	cargo xtask web-fixtures

test-unit: $(wasm)
	$(setup) npm
	npm run --silent test

test-e2e: $(site)
	$(setup) npm browser
	npm run --silent e2e

# --- checks

check: $(site)
	$(setup) rust std npm
	cargo xtask tables --check
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	$(MAKE) --no-print-directory web-fixtures
	cargo clippy --locked $(wasm32) --lib --test web -- -D warnings
	npm run --silent check
	cargo xtask licences
	cargo xtask budgets

format:
	$(setup) rust npm
	cargo fmt --all
	npm run --silent format

# --- benchmarks and fuzzing

native_benches := $(patsubst benches/%.rs,--bench %,$(wildcard benches/*.rs))
bench: $(site)
	$(if $(native_benches),cargo bench --locked --all-features $(native_benches))
	$(setup) browser
	@for program in $(wildcard benches/*.mjs); do node $$program; done

fuzz:
	$(setup) rust fuzz
	scripts/fuzz.sh $(or $(SECONDS),60)

# Real packages against the vendors' tools: asked for, since it downloads 630 MB and needs these tools (scripts/wild.py).
wild:
	$(setup) rust
	cargo build --locked --release --features cli --bin kernelscope
	python3 scripts/wild.py target/release/kernelscope $(WHEELS)

clean:
	rm -rf target pkg dist fuzz/target

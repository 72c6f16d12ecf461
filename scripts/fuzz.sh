#!/usr/bin/env bash
# Runs every fuzz target for so many seconds, from the fixtures on: `scripts/fuzz.sh SECONDS`. What is found lies in fuzz/artifacts/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1

# The sanitizer needs a nightly compiler; without one the targets still run, for panics, hangs and memory.
if cargo +nightly -V >/dev/null 2>&1; then
  fuzz=(cargo +nightly fuzz run)
else
  export RUSTC_BOOTSTRAP=1
  fuzz=(cargo fuzz run --sanitizer none)
fi

for target in fuzz/fuzz_targets/*.rs; do
  name=$(basename "$target" .rs)
  mkdir -p "fuzz/corpus/$name" # keeps what is worth it for the next run
  echo "fuzz: $name for $seconds s"
  "${fuzz[@]}" "$name" "fuzz/corpus/$name" tests/fixtures -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
done

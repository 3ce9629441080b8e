#!/usr/bin/env bash
# Builds the program of a release. The bytes are the same in any directory.
#
#   build.sh TARGET [build|zigbuild]
#
# Paths of this machine are replaced in the debug information of Rust code and of the C code in ring and mimalloc.
set -euo pipefail

target=$1
verb=${2:-build}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
cargo_home=${CARGO_HOME:-$HOME/.cargo}

RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$source=/gpulint --remap-path-prefix=$cargo_home=/cargo"
export RUSTFLAGS
if [[ $target != *msvc* ]]; then
  export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$source=/gpulint -ffile-prefix-map=$cargo_home=/cargo"
fi
# Without this, archives of C objects contain dates.
export ZERO_AR_DATE=1
exec cargo "$verb" --profile dist --locked --target "$target"

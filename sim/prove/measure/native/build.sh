#!/bin/sh
# Compiles build/bench and, where there are cases for the GPU, build/bench_gpu from the sources of this folder with $CC (default:
# clang for Apple Silicon).
set -eu
cd "$(dirname "$0")"
CC=${CC:-clang -arch arm64}
flags="-std=gnu11 -O3 -ffp-contract=off -fno-math-errno -Wall -I."
neon=units/cpu/kernels/native
amx=units/amx/kernels
mkdir -p build
if [ -s cases_gpu.inc ]; then
    # shellcheck disable=SC2086
    $CC -std=gnu11 -O2 -fobjc-arc -Wall -I. bench_gpu.m -framework Foundation -framework Metal -o build/bench_gpu
fi
[ -s cases.inc ] || exit 0
# An object that is newer than its source is kept. CC and the flags are lists of words.
object() { # SOURCE OBJECT [FLAG]
    if [ ! -e "$2" ] || [ -n "$(find "$1" -newer "$2")" ]; then
        # shellcheck disable=SC2086
        $CC $flags ${3:-} -c "$1" -o "$2"
    fi
}
for type in F32 F16 BF16; do
    object $neon/gemm.c build/gemm_$type.o -DELEMENT_$type
done
for source in $neon/gemm_tile $neon/gemm_i8 $amx/gemm $amx/gemm_multiply $amx/gemm_pack $amx/gemm_tile $amx/gemm_turn; do
    object "$source.c" "build/$(echo "$source" | tr / _).o"
done
# shellcheck disable=SC2086
$CC $flags bench.c build/*.o -lm -o build/bench

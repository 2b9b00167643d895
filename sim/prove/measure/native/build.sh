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
for type in F32 F16 BF16; do
    # CC and the flags are lists of words.
    # shellcheck disable=SC2086
    $CC $flags -DELEMENT_$type -c $neon/gemm.c -o build/gemm_$type.o
done
# shellcheck disable=SC2086
$CC $flags bench.c $neon/gemm_tile.c $neon/gemm_i8.c $amx/gemm.c $amx/gemm_tile.c $amx/gemm_pack.c \
    build/gemm_F32.o build/gemm_F16.o build/gemm_BF16.o -lm -o build/bench

#!/bin/sh
# Builds and times the cases of this folder on a Mac with Apple Silicon; writes result.csv. README.txt says what is needed.
set -eu
cd "$(dirname "$0")"
if [ "$(uname -s)" != Darwin ] || [ "$(uname -m)" != arm64 ]; then
    echo "run.sh: this is $(uname -s) on $(uname -m); copy the folder to a Mac with Apple Silicon and run it there" >&2
    exit 1
fi
if ! command -v clang >/dev/null; then
    echo "run.sh: no clang: install it with xcode-select --install" >&2
    exit 1
fi
rm -rf build
sh ./build.sh
machine=$(sysctl -n machdep.cpu.brand_string)
p_cores=$(sysctl -n hw.perflevel0.physicalcpu)
e_cores=$(sysctl -n hw.perflevel1.physicalcpu 2>/dev/null || echo 0)
gpu_cores=$(ioreg -r -c AGXAccelerator -d 1 | sed -n 's/.*"gpu-core-count" = //p' | head -n 1)
os="macOS $(sw_vers -productVersion)"
echo machine,p_cores,e_cores,gpu_cores,os,unit,workload,precision,pass,seconds,result > result.tmp
for program in bench bench_gpu; do
    if [ -x "build/$program" ]; then
        "./build/$program" "$machine" "$p_cores" "$e_cores" "${gpu_cores:-0}" "$os" "${PASSES:-31}" > "$program.tmp"
        grep -v '^machine,' "$program.tmp" >> result.tmp
        rm "$program.tmp"
    fi
done
mv result.tmp result.csv
echo "result.csv: bring it back and ask orchard measure read result.csv -o rows.csv"

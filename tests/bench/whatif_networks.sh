#!/bin/sh
# Random what-if points of networks: network, chip, unit and six keys of the chip (0.6 to 1.6 times their value) drawn by a seed. The
# answer at detail op, from characteristics that all points share, against a fresh sampled run of the same point on values. Prints
# each point, then mean and largest difference.
#
#   sh tests/bench/whatif_networks.sh [POINTS [SEED ['FILE [options]'...]]]
# UNITS="cpu ane" draws among other units than cores, AMX and GPU.
#
# Exit code 1 when a point is off by more than 3 %, or could not be asked.
points=${1:-200} seed=${2:-1}
[ $# -ge 2 ] && shift 2 || set --
[ $# -gt 0 ] || set -- 'tests/examples/networks/digits/model.onnx --dim batch=1'
orchard=${ORCHARD:-$(dirname "$0")/../../build/orchard}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Lines "FILE [options] --chip C --unit U --set KEY=FACTORx ...".
draw() {
    printf '%s\n' "$@" | awk -v points="$points" -v seed="$seed" -v asked="${UNITS:-cpu amx gpu}" '
        { model[NR] = $0 }
        END {
            srand(seed)
            chips = split("m1 m1-max m2 m2-max m3 m3-max m4", chip, " ")
            units = split(asked, unit, " ")
            keys = split("mem.p_l2_latency_cycles mem.p_fabric_gbps gpu_max_mhz memory_peak_GBps dram.latency_ns mem.slc_latency_ns", key, " ")
            for (i = 0; i < points; i++) {
                line = model[1 + int(NR * rand())] " --chip " chip[1 + int(chips * rand())] " --unit " unit[1 + int(units * rand())]
                for (j = 1; j <= keys; j++)
                    line = line sprintf(" --set %s=%.2fx", key[j], exp(log(0.6) + log(1.6 / 0.6) * rand()))
                print line
            }
        }'
}

seconds() {
    "$orchard" run "$@" -q --json | sed -n 's/^ *"seconds": *\([0-9.e+-]*\),.*/\1/p' | head -1
}

draw "$@" | while read -r point; do
    # shellcheck disable=SC2086
    op=$(seconds $point --mode timing --detail op --db "$folder/known.db")
    # shellcheck disable=SC2086
    fresh=$(seconds $point --mode full --detail sampled --db "$folder/fresh.db")
    rm -f "$folder"/fresh.db*
    echo "${op:-nan} ${fresh:-nan} $point"
done | awk '
    { off = $1 > 0 && $2 > 0 ? $1 / $2 - 1 : 9; off = off < 0 ? -off : off; sum += off; wrong += off > 0.03 }
    off > most { most = off; where = $0 }
    { printf "%.2f %% %s\n", 100 * off, $0 }
    END {
        printf "%d points: %.2f %% in the mean, %.2f %% most (%s)\n", NR, 100 * sum / NR, 100 * most, where
        exit wrong > 0
    }'

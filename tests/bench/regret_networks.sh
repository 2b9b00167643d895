#!/bin/sh
# What a network loses when its units are chosen by kernels of other networks (--policy predictive) instead of by its own (cost): each
# network in turn is left out of what the database has timed on that chip. One build, one estimator for all times. Prints a line for
# each network with both times, the regret, and how many of the times that were asked for were foretold from others, known by the very
# kernel and simulated; then mean and largest regret.
#
#   sh tests/bench/regret_networks.sh [CHIP[,CHIP] [PRECISION [NETWORK...]]]
#
# Networks of one architecture in several sizes would tell each other: name one of them. Exit code 1 when a regret is above 10 %.
chips=${1:-m1} precision=${2:-f32}
[ $# -ge 2 ] && shift 2 || set --
[ $# -gt 0 ] || set -- resnet18 mobilenet-v2 mobilenet-v3-small squeezenet shufflenet-v2 efficientnet-b0 minilm distilbert \
    whisper-tiny-encoder t5-small
orchard=${ORCHARD:-$(dirname "$0")/../../build/orchard}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Seconds of a network, and what the policy rests on; the database is the first word.
ask() {
    file=$1 network=$2
    shift 2
    "$orchard" run "model:$network" --unit auto --mode timing --precision "$precision" --chip "$chip" --db "$file" -q --json "$@" \
        > "$folder/answer"
    sed -n 's/^ *"seconds": *\([0-9.e+-]*\),.*/\1/p' "$folder/answer" | head -1
    sed -n 's/.*kernels on units \([0-9]*\) foretold[^,]*, \([0-9]*\) known, \([0-9]*\) simulated.*/\1 \2 \3/p' "$folder/answer" | head -1
}

for chip in $(echo "$chips" | tr , ' '); do
    for network; do
        ask "$folder/$chip-$network.db" "$network" --policy cost > "$folder/$chip-$network.seconds"
    done
    for network; do
        others="$folder/others.db"
        rm -f "$others"*
        for other; do
            [ "$other" = "$network" ] || "$orchard" db merge "$folder/$chip-$other.db" --db "$others" -q > "$folder/merged" || exit 2
        done
        echo "$chip $precision $network $(cat "$folder/$chip-$network.seconds")" \
            "$(ask "$others" "$network" --policy predictive | tr '\n' ' ')"
    done
done | awk '
    NF != 8 { print $0 " could not be asked"; bad = 1; next }
    {
        regret = 100 * ($5 / $4 - 1)
        printf "%-4s %-4s %-22s cost %8.3f ms, predictive %8.3f ms, regret %6.2f %%; %d foretold, %d known, %d simulated\n",
            $1, $2, $3, 1e3 * $4, 1e3 * $5, regret, $6, $7, $8
        sum += regret
        count++
        if (count == 1 || regret > most) most = regret
        if (regret > 10) bad = 1
    }
    END { if (count) printf "%d networks: regret %.2f %% mean, %.2f %% most\n", count, sum / count, most; exit bad || !count }'

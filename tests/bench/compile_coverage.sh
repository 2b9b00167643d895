#!/bin/sh
# How much of public GPU sources compiles: one line for each kernel, what it came to or the first thing that is not supported, and
# how long our part took without clang. The sources are the user's; nothing of them is kept here.
#
#   sh tests/bench/compile_coverage.sh [-j JOBS] [-k FOLDER] [-s | -t] [-l SECONDS] FILE.metal|FILE.cl [-I DIR] [-D NAME] ...
#
#   -k FOLDER   where clang's text of each kernel is kept, so that a second run needs no clang
#   -s          of each function template one kernel for each class of each type argument, instead of all
#   -t          of each function template one kernel
#   -l SECONDS  kernels whose compilation takes longer are counted as slow (1)
#
# Output: KERNEL <tab> ok|refused|clang|broken <tab> seconds <tab> bytes, halves, spills or the message; then sums and the list of
# the rest by message. Exit code 1 when a kernel broke the compiler (a signal, an internal error).
jobs=2 keep= sample=0 limit=1
while getopts j:k:stl: option; do
    case $option in
    j) jobs=$OPTARG ;;
    k) keep=$OPTARG ;;
    s) sample=1 ;;
    t) sample=2 ;;
    l) limit=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
orchard=${ORCHARD:-$(dirname "$0")/../../build/orchard}
case $orchard in */*) orchard=$(realpath "$orchard") ;; esac
own=
[ -n "$keep" ] || own=$(mktemp -d) keep=$own
mkdir -p "$keep" || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" ${own:+"$own"}' EXIT

"$orchard" compile "$@" --print kernels >"$scratch/all" || exit 2
# A kernel is taken when one of its template arguments that are types has not been seen at that place of that function, in that
# width: gemm<float, 64, true> stands for gemm<float, 32, false>, copy<uint16_t, float> for copy<short, float>.
awk -F'\t' -v sample="$sample" '
    function class(t) {
        sub(/^.*::/, "", t)
        if (t ~ /^(u?int8_t|u?char)$/) return "8"
        if (t ~ /^(u?int16_t|u?short)$/) return "16"
        if (t ~ /^(u?int32_t|u?int)$/) return "32"
        if (t ~ /^(u?int64_t|u?long|size_t)$/) return "64"
        if (t ~ /^(half|float16_t)$/) return "half"
        if (t ~ /^bfloat/) return "bfloat"
        return t
    }
    sample {
        name = $2; sub(/<.*/, "", name)
        inside = $2; if (!sub(/^[^<]*</, "", inside)) inside = ""
        n = split(inside, part, /[,<> ]+/); new = !(name in seen); seen[name] = 1
        for (i = 1; i <= n; i++) {
            if (part[i] == "" || part[i] ~ /^-?[0-9]/ || part[i] == "true" || part[i] == "false") continue
            key = name " " i " " class(part[i])
            if (!(key in seen)) new = 1
            seen[key] = 1
        }
        if (sample == 2 && name in taken) next
        taken[name] = 1
        if (!new) next
    }
    { print $1 }' "$scratch/all" >"$scratch/kernels"

cat >"$scratch/one.sh" <<'ONE'
kernel=$1 keep=$2 scratch=$3 orchard=$4
shift 4
text=$keep/$kernel.ll
if [ ! -s "$text" ] && ! "$orchard" compile "$@" --entry "$kernel" --print llvm >"$text.part" 2>"$scratch/$kernel.err"; then
    rm -f "$text.part"
    printf '%s\tclang\t0\t%s\n' "$kernel" "$(grep -m1 -E 'error|orchard:' "$scratch/$kernel.err" | cut -c1-220)"
    exit 0
fi
[ -s "$text" ] || mv "$text.part" "$text"
start=$(date +%s%N)
"$orchard" compile "$text" --entry "$kernel" --fresh -o "$scratch/$kernel.d" >"$scratch/$kernel.out" 2>&1
code=$?
seconds=$(echo "$(date +%s%N) $start" | awk '{ printf "%.3f", ($1 - $2) / 1e9 }')
case $code in
0) state=ok ;;
2 | 3) state=refused ;;
*) state=broken ;;
esac
message=$(sed "s|^orchard: [^ ]*\.ll: ||; s|^$scratch/[^ ]*: ||" "$scratch/$kernel.out" | tail -1 | cut -c1-240)
printf '%s\t%s\t%s\t%s\n' "$kernel" $state "$seconds" "${message:-exit code $code}"
rm -rf "$scratch/$kernel.d" "$scratch/$kernel.out"
ONE
xargs -P "$jobs" -I{} sh "$scratch/one.sh" {} "$keep" "$scratch" "$orchard" "$@" <"$scratch/kernels" | sort | tee "$scratch/rows"

awk -F'\t' -v limit="$limit" -v all="$(wc -l <"$scratch/all")" '
    { total++; state[$2]++; if ($3 > most) { most = $3; which = $1 } if ($3 > limit) slow++ }
    $2 != "ok" {
        why = $4; place = ""
        if (match(why, /^[^ ]*:[0-9]+: /)) { place = substr(why, 1, RLENGTH - 2); why = substr(why, RLENGTH + 1) }
        if (!(why in count)) first[why] = $1 (place ? ", " place : "")
        count[why]++
    }
    END {
        printf "\n%d kernels, %d tried, %d ok (%.1f %%), %d refused, %d not through clang, %d broken; slowest %.2f s (%s), %d over %s s\n",
            all, total, state["ok"], total ? 100 * state["ok"] / total : 0, state["refused"], state["clang"], state["broken"], most,
            which, slow, limit
        for (why in count) printf "%6d  %s  [%s]\n", count[why], why, first[why]
        exit state["broken"] > 0
    }' "$scratch/rows"

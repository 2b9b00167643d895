#!/bin/sh
# The house rules that a machine can check: include directions between rooms, top-level entries, executing and timing
# files of a unit apart, library code that neither prints nor ends the process.
cd "$(dirname "$0")/../.." || exit 70
passed=0 failed=0

check() { # NAME OFFENDING-LINES
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '  failed: house / %s\n%s\n' "$1" "$2"
    fi
}

# includes ROOM PATTERN: lines of ROOM that include one of our headers not matching PATTERN
includes() {
    grep -rnE '^#include "' "$1" --include='*.c' --include='*.h' --include='*.inc' |
        grep -vE "#include \"($2)" || true
}

check "isa includes only isa" "$(includes isa 'isa/')"
check "power includes only power" "$(includes power 'power/')"
check "traces includes only traces" "$(includes traces 'traces/')"
check "reports includes only reports" "$(includes reports 'reports/')"
check "units include units, isa and the activity table" "$(includes units 'units/|isa/|power/activity\.h')"
check "the command line includes the public header, its own folder and reports" "$(includes sim/cmd 'sim/orchard\.h"|sim/cmd/|reports/')"
check "the command line uses no library but liborchard" \
    "$(grep -rnE '^#include <(json-c|sqlite3|gsl|z|zstd|protobuf-c|onnx)' sim/cmd || true)"
check "sim does not include tests" "$(includes sim 'sim/|units/|isa/|power/|traces/|reports/')"

# The rooms of sim/ from the ground up; a file includes headers of its own room and of rooms that stand before it. Within a room the
# folders form no cycle, and nor do the folders of units/ and isa/.
rooms="base chip soc db listen workload language compile network machine run scenario load ask prove trace report serve api cmd"
arrows=$(grep -rE '^#include "' isa units power traces reports sim --include='*.c' --include='*.h' --include='*.inc' |
    awk -F'[:"]' '{ from = $1; to = $3; sub("/[^/]*$", "", from); sub("/[^/]*$", "", to); if (from != to) print from, to }' | sort -u)
check "sim includes downward only" "$(echo "$arrows" | awk -v rooms="$rooms" '
    BEGIN { n = split(rooms, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
    { split($1, a, "/"); split($2, b, "/") }
    a[1] == "sim" && !(a[2] in rank) && a[2] != "" { print "  " $1 " is no room of sim"; next }
    a[1] == "sim" && b[1] == "sim" && rank[b[2]] > rank[a[2]] { print "  " $1 " includes " $2 }')"
check "folders of workload do not include one another" "$(echo "$arrows" | awk '
    { split($1, a, "/"); split($2, b, "/") }
    $1 ~ /^sim\/workload\// && $2 ~ /^sim\/workload\// && a[3] != b[3] { print "  " $1 " includes " $2 }')"
check "folders form no cycle" "$(echo "$arrows" | tsort 2>&1 >/dev/null | sed 's/^/  /')"

# Manual pages of section 3 are made of these comments.
check "every function of the public header is documented" \
    "$(awk '/^ORCHARD_API/ && before !~ /\*\/$/ { print "  " $0 } NF { before = $0 }' sim/orchard.h)"
check "errors mark the options that they name (ORCH_OPTION)" \
    "$(grep -rnE '(orch_fail|orch_fail_in|api_usage|api_note|api_warn|api_choice|abi_wrong)\(.*"([^"]* )?--[a-z]' sim --include='*.c' |
       grep -v '^sim/cmd/' || true)"


# Executing and timing of a unit stand in separate files: <unit>_timing* times, the records named here and tables of parameters are
# shared, everything else in the folder executes. Neither side includes a header of the other, whatever the unit; shared files and
# kernels include headers of neither side. Of units/mem, the address space (mem_space.h) is open to both sides; the rest is timing.
shared="units/cpu/cpu_trace units/amx/amx_passes units/gpu/gpu_trace units/gpu/gpu_program units/mem/mem_space"
sides=$(grep -nE '^#include "units/' units/cpu/* units/amx/* units/gpu/* units/ane/* units/*/kernels/*.[ch] 2>/dev/null |
    awk -F'[:"]' -v shared="$shared" '
    function side(file, i) {
        if (file ~ /^units\/[^\/]*$/ || file ~ /_params\.inc$/) return "shared"
        if (file ~ /\/kernels\// || file ~ /^units\/routines\//) return "kernels"
        for (i = 1; i <= n; i++) if (index(file, name[i]) == 1) return "shared"
        if (file ~ /^units\/mem\// || file ~ /_timing[^\/]*$/) return "timing"
        return "executing"
    }
    BEGIN { n = split(shared, name, " ") }
    { from = side($1); to = side($4) }
    from != to && to != "shared" { unit = $1; sub("^units/", "", unit); sub("/.*", "", unit); print unit, from, $1, "includes", $4 }')
for unit in cpu amx gpu ane; do
    for side in executing timing shared kernels; do
        check "$unit: $side files include no other side" \
            "$(echo "$sides" | awk -v unit=$unit -v side=$side '$1 == unit && $2 == side { print "  " $3, $4, $5 }')"
    done
done

top=$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vE '^(Makefile|sim|isa|units|power|traces|tests|reports|README\.md|LICENSE|\..*)$')
check "only the agreed top-level entries" "$top"

check "library code does not end the process" \
    "$(grep -rnE '(^|[^_a-z])(exit|abort|_exit)\(' isa units power traces reports sim --include='*.c' |
       grep -vE '^sim/cmd/|/native/|^sim/ask/sweep/sweep_pool.c' || true)"
check "library code does not print to stdout" \
    "$(grep -rnE '(^|[^a-z_])(printf|puts|putchar)\(' isa units power traces reports sim --include='*.c' |
       grep -vE '^sim/cmd/|/native/' || true)"
# The layout of the code is that of one version of the tool; others lay out some lines in another way.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    check "the code is laid out as .clang-format says" \
        "$(git ls-files -z '*.c' '*.h' | xargs -0 -r -P 2 -n 100 clang-format --dry-run 2>&1 | grep -o '^[^ ]*: warning' | cut -d: -f1 | sort -u | sed 's/^/  /')"
fi
# The public header is one file, and its comments are the manual.
check "no file has grown beyond 450 lines" \
    "$(git ls-files '*.c' '*.h' 2>/dev/null | grep -v '^sim/orchard\.h$' | xargs -r wc -l | awk '$2 != "total" && $1 > 450 {print "  " $2 " has " $1}')"
# Tables of data are no functions, however long; of the programs called ctags, only the Universal one tells where a function ends.
if ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
    check "no function has grown beyond 60 lines" \
        "$(git ls-files '*.c' '*.h' '*.inc' | ctags -L - --langmap=C:+.h.inc --fields=+ne --kinds-C=f -f - 2>/dev/null | awk -F'\t' '
            { first = last = 0
              for (i = 4; i <= NF; i++) {
                  if ($i ~ /^line:/) first = substr($i, 6)
                  if ($i ~ /^end:/) last = substr($i, 5)
              }
              if (last - first + 1 > 60) print "  " $2 ": " $1 " has " last - first + 1 }')"
fi

echo "suite house: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]

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
check "sim does not include tests" "$(includes sim 'sim/|units/|isa/|power/|traces/|reports/')"

for unit in cpu amx; do
    check "$unit: executing does not include timing" \
        "$(grep -lE '"units/'$unit/$unit'_timing' units/$unit/${unit}_core*.[ch] units/$unit/${unit}_exec*.[ch] 2>/dev/null)"
    check "$unit: timing does not include the executing state" \
        "$(grep -lE '"units/amx/amx_core|"units/cpu/cpu_exec' units/$unit/${unit}_timing*.[ch] 2>/dev/null)"
done

top=$(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | grep -vE '^(Makefile|sim|isa|units|power|traces|tests|reports|README\.md|LICENSE|\..*)$')
check "only the agreed top-level entries" "$top"

check "library code does not end the process" \
    "$(grep -rnE '(^|[^_a-z])(exit|abort|_exit)\(' isa units power traces reports sim --include='*.c' |
       grep -vE '^sim/(main|cmd/)|/native/' || true)"
check "library code does not print to stdout" \
    "$(grep -rnE '(^|[^a-z_])(printf|puts|putchar)\(' isa units power traces reports sim --include='*.c' |
       grep -vE '^sim/(main|cmd/)|/native/' || true)"
check "no file has grown beyond 900 lines" \
    "$(git ls-files '*.c' '*.h' 2>/dev/null | xargs -r wc -l | awk '$2 != "total" && $1 > 900 {print "  " $2 " has " $1}')"

echo "suite house: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]

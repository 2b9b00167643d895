#!/bin/sh
# Writes orchard_swizzle2, 3 and 4: what vectors of so many components offer as v.xy, v.bgra and so on. Each is a property
# (a member without storage that calls two functions), so that its value is a plain vector.
cd "$(dirname "${1:-$0}")" || exit 70
for n in 2 3 4; do
    awk -v n=$n '
    function line(length_, code, i, c, from, other, plain, list, seen, twice) {
        from = "xyzw"; other = "rgba"; twice = 0; seen = ""; plain = ""; list = ""
        second = ""
        for (i = 0; i < length_; i++) {
            c = code % n
            code = int(code / n)
            plain = plain substr(from, c + 1, 1)
            second = second substr(other, c + 1, 1)
            list = list ", " substr(from, c + 1, 1)
            if (index(seen, c)) twice = 1
            seen = seen c
        }
        printf "ORCHARD_%s%d(%s, %s%s)\n", twice ? "GET" : "BOTH", length_, plain, second, list
    }
    BEGIN {
        print "// Written by write_swizzles.sh."
        for (length_ = 2; length_ <= 4; length_++)
            for (code = 0; code < n ^ length_; code++) line(length_, code)
    }' > orchard_swizzle$n
done

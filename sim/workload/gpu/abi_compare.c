#include "sim/workload/gpu/abi_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool equal(const struct abi_compare *rule, enum element_type type, const uint8_t *got, const uint8_t *expected)
{
    if (memcmp(got, expected, element_type_bytes(type)) == 0)
        return true;
    if (rule->mode == ABI_COMPARE_BITS)
        return false;
    const double a = element_read(type, got), b = element_read(type, expected);
    if (rule->mode == ABI_COMPARE_FLOAT_EQ)
        return a == b;
    /* Infinities agree only when they are equal: a tolerance relative to infinity would allow everything. */
    return a == b || (isfinite(b) && fabs(a - b) <= rule->atol + rule->rtol * fabs(b));
}

static int describe(enum element_type type, const uint8_t *at, char *text, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, at, element_type_bytes(type));
    if (element_type_float(type))
        return snprintf(text, size, "%.9g (0x%0*" PRIx64 ")", element_read(type, at), 2 * (int)element_type_bytes(type), bits);
    return snprintf(text, size, "0x%0*" PRIx64, 2 * (int)element_type_bytes(type), bits);
}

bool abi_compare(const struct abi_compare *rule, enum element_type type, uint64_t count, const uint8_t *got,
                 const uint8_t *expected, char *text, size_t size)
{
    const unsigned bytes = element_type_bytes(type);
    uint64_t wrong = 0, first = 0;
    if (memcmp(got, expected, count * bytes) == 0)
        return true;
    for (uint64_t i = 0; i < count; i++) {
        if (equal(rule, type, got + i * bytes, expected + i * bytes))
            continue;
        first = wrong ? first : i;
        wrong++;
    }
    if (wrong == 0)
        return true;
    char was[64], should[64];
    describe(type, got + first * bytes, was, sizeof was);
    describe(type, expected + first * bytes, should, sizeof should);
    snprintf(text, size, "%" PRIu64 " of %" PRIu64 " elements differ, first [%" PRIu64 "]: got %s, expected %s", wrong, count,
             first, was, should);
    return false;
}

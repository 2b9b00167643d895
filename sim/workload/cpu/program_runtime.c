#include "sim/workload/cpu/program_runtime.h"

#include <stdint.h>

/* make runtime */
static const uint64_t words[] = {
#include "sim/workload/cpu/program_runtime.inc"
};

const void *program_runtime(size_t *bytes)
{
    *bytes = sizeof words;
    return words;
}

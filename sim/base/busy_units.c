#include "sim/base/busy_units.h"

#include <stdio.h>

#define LEAST_SHARE 1e-3

int busy_units(const struct run_result *result, struct busy_unit busy[PART_COUNT])
{
    int count = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        char name[32];
        const char *const unit = orch_part_name((enum orch_part)i);
        snprintf(name, sizeof name, RUN_COUNTER_BUSY, unit);
        const double share = run_values_get(&result->counters, name);
        if (share >= LEAST_SHARE)
            busy[count++] = (struct busy_unit){unit, share};
    }
    return count > 1 ? count : 0;
}

/* Rows of clpeak about cores and memory in the wide table: they stand in the table of CPU and memory under the names that their
 * recognisers know.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/program.h"

#include <string.h>

bool validate_plan_clpeak(struct validate_row *row, struct validate_program *program)
{
    static const struct {
        const char *what, *shape, *name;
    } rows[] = {
        {"clpeak_cpu_atomics", "uncontended ST", "atomic add uncontended"},
        {"clpeak_cpu_atomics", "contended MT", "atomic add contended, all cores"},
        {"clpeak_cpu_branch_mispredict", "predicted", "branch, sorted data"},
        {"clpeak_cpu_branch_mispredict", "random", "branch, random data"},
        {"clpeak_cpu_branch_mispredict", "penalty", "branch mispredict penalty"},
        {"clpeak_cpu_store_forward", "st->ld ST", "store-to-load forward"},
        {"clpeak_cpu_global_memory_bandwidth", "read", "DRAM read all threads"},
        {"clpeak_cpu_global_memory_bandwidth", "copy", "DRAM copy all threads"},
        {"clpeak_cpu_global_memory_bandwidth", "triad", "DRAM triad all threads"},
        {"clpeak_cpu_cache_bandwidth", "L1 ST", "L1 read one thread"},
        {"clpeak_cpu_cache_bandwidth", "L1 MT", "L1 read all threads"},
        {"clpeak_cpu_cache_bandwidth", "L2 ST", "L2 read one thread"},
        {"clpeak_cpu_cache_bandwidth", "L2 MT", "L2 read all threads"},
        {"clpeak_cpu_l1_write_bandwidth", "write ST", "L1 write one thread"},
        {"clpeak_cpu_l1_write_bandwidth", "write MT", "L1 write all threads"},
        {"clpeak_cpu_l1_write_bandwidth", "copy ST", "L1 copy one thread"},
        {"clpeak_cpu_l1_write_bandwidth", "copy MT", "L1 copy all threads"},
        {"clpeak_cpu_memory_latency", "L1", "L1 latency"},
        {"clpeak_cpu_memory_latency", "L2", "L2 latency"},
        {"clpeak_cpu_memory_latency", "DRAM", "DRAM latency random"},
        {"clpeak_cpu_memory_latency", "DRAM linear", "DRAM latency linear (prefetched)"},
        {"clpeak_cpu_memory_latency", "DRAM x8", "DRAM, 8 chases"},
        {"clpeak_cpu_memory_latency", "DRAM x32", "DRAM, 32 chases"},
        {"clpeak_cpu_memory_latency", "TLB miss", "TLB miss"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (strcmp(row->what, rows[i].what) == 0 && strcmp(row->shape, rows[i].shape) == 0) {
            struct validate_row named = *row;
            named.what = rows[i].name;
            const bool ok = validate_plan_memory(&named, program);
            memcpy(row->why, named.why, sizeof row->why);
            return ok;
        }
    return false;
}

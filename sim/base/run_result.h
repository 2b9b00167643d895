/* The answer of a run, with one field for each key of the command line's run document.
 *
 *     struct run_result r;
 *     run_result_init(&r);
 *     run_result_set_text(&r.chip, "m1");
 *     r.seconds = 2.7e-3;
 *     run_values_add(&r.stalls, "array", 0.62);
 *     ...
 *     run_result_free(&r);
 *
 * A number that does not apply is NAN, a text that does not apply is NULL; both are null in JSON and NULL in SQL.
 * All strings are copies owned by the result.
 */
#ifndef ORCHARD_SIM_BASE_RUN_RESULT_H
#define ORCHARD_SIM_BASE_RUN_RESULT_H

#include "sim/base/line_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where something happens. The first five have a utilisation. */
/* clang-format off */
#define ORCH_PART_TABLE(X) \
    X(CPU, "cpu") \
    X(AMX, "amx") \
    X(GPU, "gpu") \
    X(ANE, "ane") \
    X(DRAM, "dram") \
    X(SLC, "slc") \
    X(FABRIC, "fabric") \
    X(SOC, "soc")
/* clang-format on */

enum orch_part {
#define X(name, text) PART_##name,
    ORCH_PART_TABLE(X)
#undef X
        PART_COUNT
};
enum { RUN_UTILISATION_COUNT = PART_DRAM + 1 };
/* NULL when `part` is out of range. */
const char *orch_part_name(enum orch_part part);
/* What the utilisation of a part is a share of: "issue slots of gpu"; NULL when it has none. */
const char *orch_part_share_name(enum orch_part part);

/* The texts of a run, in the order of the document. */
/* clang-format off */
#define RUN_TEXT_TABLE(X) \
    X(chip, "id of the chip") \
    X(device, "housing whose cooling and battery applied") \
    X(workload, "what ran, as asked") \
    X(unit, "unit that was asked for") \
    X(precision, "element type") \
    X(detail, "instr, sampled or op") \
    X(mode, "full, functional or timing") \
    X(bound_by, "resource that limited the run longest")
/* clang-format on */

/* The numbers of a run:
 *     name, unit, COUNT (whole) or REAL, higher is better (1), worse (0) or neither (-1), definition */
/* clang-format off */
#define RUN_NUMBER_TABLE(X) \
    X(seconds, "s", REAL, 0, "simulated time from first submit to last completion, overheads included") \
    X(seconds_low, "s", REAL, 0, "lower end of the 90 % interval of seconds") \
    X(seconds_high, "s", REAL, 0, "upper end of the 90 % interval of seconds") \
    X(device_seconds, "s", REAL, 0, "simulated time during which the unit was busy") \
    X(overhead_seconds, "s", REAL, 0, "simulated time of submission, launch and waiting") \
    X(host_seconds, "s", REAL, 0, "wall time of the simulation, warm-ups included") \
    X(cycles, "cycles", COUNT, 0, "cycles of the unit's own clock; none when several units took part") \
    X(flops, "flop", COUNT, -1, "floating-point operations; a multiply-add is two") \
    X(gflops, "Gflop/s", REAL, 1, "flops per simulated second") \
    X(macs, "macs", COUNT, -1, "multiply-accumulates") \
    X(dram_bytes, "bytes", COUNT, 0, "bytes read from and written to DRAM") \
    X(dram_gbps, "GB/s", REAL, -1, "dram_bytes per simulated second") \
    X(joules, "J", REAL, 0, "energy of the whole chip and its memory") \
    X(joules_low, "J", REAL, 0, "lower end of the 90 % interval of joules") \
    X(joules_high, "J", REAL, 0, "upper end of the 90 % interval of joules") \
    X(watts_avg, "W", REAL, 0, "joules per simulated second") \
    X(watts_peak, "W", REAL, 0, "highest power of a governor interval") \
    X(celsius_max, "degC", REAL, 0, "hottest block during the run") \
    X(throttled_seconds, "s", REAL, 0, "simulated time below the clock that was asked for") \
    X(tokens_per_second, "tokens/s", REAL, 1, "generated tokens per simulated second, prefill excluded") \
    X(prefill_seconds, "s", REAL, 0, "simulated time of prompt processing") \
    X(native_mac_share, "1", REAL, 1, "share of the multiply-accumulates that the asked unit executed")
/* clang-format on */

/* The assumption of a result whose joules are priced for the most part by values of another chip. */
#define RUN_ENERGY_ADOPTED "energy of another chip"
/* The assumption that tells where the thermal parameters of the machine come from. */
#define RUN_THERMAL "device.thermal"

/* The counter that says how long a step of a row of kernels was on the device, numbered from 1. */
#define RUN_COUNTER_STEP "gpu.step%u.device_seconds"
/* Counters with the bytes of constant weights in layouts of kernels of the GPU, of cores and AMX, which were made before the run.
 */
#define RUN_COUNTER_PACKED      "gpu.packed_bytes"
#define RUN_COUNTER_CORE_PACKED "core.packed_bytes"
/* Counters of language models that the summary shows: joules of a generated token; tokens that a draft proposed, how many of
 * them the model would have said itself, and its tokens a second without a draft. */
#define RUN_TOKEN_JOULES   "language.joules_per_token"
#define RUN_DRAFT_PROPOSED "language.draft_proposed"
#define RUN_DRAFT_ACCEPTED "language.draft_accepted"
#define RUN_DRAFT_WITHOUT  "language.tokens_per_second_without_draft"
/* Counter of a run whose kernels are on several units: the share of its time in which one of them works. */
#define RUN_COUNTER_BUSY "busy.%s"

struct run_named_value {
    char *name;
    double value;
};
struct run_values {
    struct run_named_value *item;
    size_t count, capacity;
};

struct run_placement {
    char *op, *unit, *kernel, *why;
};
struct run_placements {
    struct run_placement *item;
    size_t count, capacity;
};

struct run_assumption {
    char *key, *kind, *effect;
};
struct run_assumptions {
    struct run_assumption *item;
    size_t count, capacity;
};

struct run_checksum {
    char *output;
    uint64_t fnv1a64;
};
struct run_checksums {
    struct run_checksum *item;
    size_t count, capacity;
};

struct run_result {
    int64_t run_id; /* row in the performance database; 0 = not recorded */
#define X(name, definition) char *name;
    RUN_TEXT_TABLE(X)
#undef X
#define X(name, unit, kind, better, definition) double name;
    RUN_NUMBER_TABLE(X)
#undef X
    double utilisation[RUN_UTILISATION_COUNT]; /* by enum orch_part, 0..1: work done over the most that the part could do in that
                                                  time (issue, dispatch, array and MAC slots; peak rate of dram) */
    struct run_values joules_by;               /* by part */
    struct run_values stalls;                  /* fraction of the critical path by reason; sums to 1 */
    struct run_values counters;
    struct run_placements placement;
    struct run_assumptions assumptions;
    struct run_checksums checksum;
    char *program_output; /* of a program, what its first copy wrote to standard output; of a network with names of classes,
                             the best ones; NULL = neither ran */
    char *generation;     /* of a language model: prompt, tokens, text, as JSON; NULL = none */
    struct line_profile *profile; /* by line of a GPU program, when that was asked for; NULL = not */
};

/* The rows of the tables above, for code that treats all fields alike. */
struct run_text_field {
    const char *name, *definition;
    size_t offset; /* of a char * in struct run_result */
};
struct run_number_field {
    const char *name, *unit, *definition;
    bool whole;
    int higher_is_better;
    size_t offset; /* of a double in struct run_result */
};
size_t run_text_field_count(void);
const struct run_text_field *run_text_field(size_t index);
size_t run_number_field_count(void);
const struct run_number_field *run_number_field(size_t index);
const char *run_text_of(const struct run_result *result, const struct run_text_field *field);
double run_number_of(const struct run_result *result, const struct run_number_field *field);

void run_result_init(struct run_result *result);
void run_result_free(struct run_result *result);

/* `to` must be initialised. */
bool run_result_copy(struct run_result *to, const struct run_result *from);
void run_checksums_free(struct run_checksums *list); /* leaves an empty list */

/* The functions that copy return false when memory has run out, and leave the result as it was. */
bool run_result_set_text(char **field, const char *text);
/* Sets the value of a name, and adds the name when it is new. */
bool run_values_set(struct run_values *values, const char *name, double value);
/* Adds a name that is known to be new. */
bool run_values_append(struct run_values *values, const char *name, double value);
/* Adds to the value of a name, from 0 when it is new. */
bool run_values_add(struct run_values *values, const char *name, double value);
/* Whether a counter counts what happened, so that twice the work has twice as much of it; others are shares, rates and settings.
 */
bool run_counter_is_sum(const char *name);
/* NAN when the name is absent. */
double run_values_get(const struct run_values *values, const char *name);
void run_values_free(struct run_values *values);
bool run_placement_add(struct run_placements *list, const char *op, const char *unit, const char *kernel, const char *why);
bool run_assumption_add(struct run_assumptions *list, const char *key, const char *kind, const char *effect);
/* The assumption of a key; NULL when the result does not have it. */
const struct run_assumption *run_assumption_find(const struct run_assumptions *list, const char *key);
bool run_checksum_add(struct run_checksums *list, const char *output, uint64_t fnv1a64);

#endif

/* The records of a trace: what happened in a run, one struct for each kind.
 *
 * Every kind is one table of fields, from which the structs, the binary form (trace_codec.h) and the text form (trace_text.h)
 * derive. Times are picoseconds of simulated or measured time since the run began. Texts that do not apply are NULL, reals NAN.
 */
#ifndef ORCHARD_TRACES_TRACE_RECORD_H
#define ORCHARD_TRACES_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_list {
    const uint64_t *item;
    size_t count;
};

/* The types of fields, and the C type of each. */
enum trace_type { TRACE_NUMBER, TRACE_ID, TRACE_TIME, TRACE_PC, TRACE_HEX, TRACE_REAL, TRACE_TEXT, TRACE_LIST };
#define TRACE_C_NUMBER uint64_t /* whole */
#define TRACE_C_ID     uint64_t /* of an operator; close to the one before it */
#define TRACE_C_TIME   int64_t  /* ps; close to the one before it */
#define TRACE_C_PC     uint64_t /* address of an instruction; close to the one before it */
#define TRACE_C_HEX    uint64_t /* a pattern of bits */
#define TRACE_C_REAL   double
#define TRACE_C_TEXT   const char *
#define TRACE_C_LIST   struct trace_list /* operators before that of the record */

/* `unit` is where something runs: cpu, amx, gpu, ane, dram, slc, fabric or soc; `instance` tells which of its kind. */
/* clang-format off */
#define TRACE_RUN_BEGIN_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, workload) X(TEXT, chip) X(TEXT, chip_hash) X(NUMBER, chip_modified) \
    X(TEXT, program_name) X(TEXT, program_kind) X(TEXT, program_hash) X(TEXT, device) X(TEXT, unit) \
    X(TEXT, precision) X(TEXT, detail) X(TEXT, mode) X(TEXT, options) X(TEXT, version) X(NUMBER, seed) \
    X(REAL, gpu_cores)
/* An operator that is handed to a unit. `kernel` and `workload` say how to run it again ("gemm", "gemm:64x64x64"), `settings`
 * with which options ("cores=2,repeat=3"); `stream` is a queue of its unit. `work` is kernel, estimate (only its `bytes` are
 * known) or none. */
#define TRACE_LAUNCH_FIELDS(X) \
    X(NUMBER, run) X(ID, op) X(TIME, submitted_ps) X(TEXT, name) X(TEXT, kernel) X(TEXT, workload) X(TEXT, precision) \
    X(TEXT, unit) X(NUMBER, instance) X(NUMBER, stream) X(LIST, after) X(TEXT, settings) X(TEXT, work) \
    X(NUMBER, bytes) X(TEXT, note)
#define TRACE_OP_BEGIN_FIELDS(X) X(NUMBER, run) X(ID, op) X(TIME, time_ps)
#define TRACE_OP_END_FIELDS(X) \
    X(NUMBER, run) X(ID, op) X(TIME, time_ps) X(REAL, seconds) X(REAL, cycles) X(REAL, macs) X(REAL, flops) \
    X(REAL, dram_bytes) X(NUMBER, repeats)
#define TRACE_TRANSFER_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, what) X(TEXT, from) X(NUMBER, from_instance) X(TEXT, to) \
    X(NUMBER, to_instance) X(NUMBER, bytes) X(REAL, seconds)
#define TRACE_SAMPLE_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, series) X(TEXT, measure) X(TEXT, unit) X(NUMBER, instance) X(REAL, value)
#define TRACE_CLOCK_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, unit) X(NUMBER, instance) X(REAL, from_mhz) X(REAL, to_mhz) X(REAL, volts) \
    X(TEXT, reason)
#define TRACE_FAULT_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, unit) X(NUMBER, instance) X(TEXT, fault) X(HEX, pc) X(HEX, address) \
    X(TEXT, text)
/* One issued instruction: its word, and the value on which its time depends (AMX: the operand register). */
#define TRACE_INSTRUCTION_FIELDS(X) \
    X(NUMBER, run) X(ID, op) X(TIME, time_ps) X(NUMBER, duration_ps) X(TEXT, unit) X(NUMBER, instance) X(PC, pc) \
    X(HEX, word) X(HEX, operand)
#define TRACE_RUN_END_FIELDS(X) \
    X(NUMBER, run) X(TIME, time_ps) X(TEXT, status) X(TEXT, error) X(REAL, seconds) X(REAL, device_seconds) \
    X(REAL, overhead_seconds) X(REAL, macs) X(REAL, flops) X(REAL, dram_bytes) X(REAL, joules) \
    X(TEXT, bound_by) X(REAL, gflops) X(REAL, watts_avg) X(REAL, dram_gbps)
/* A number beside an operator or, with operator 0, beside the whole run; it comes before the end of either. `of` is "counter" or
 * "stall" (cycles of an operator by reason, shares of the time of a run). */
#define TRACE_VALUE_FIELDS(X) X(NUMBER, run) X(ID, op) X(TEXT, of) X(TEXT, name) X(TEXT, measure) X(REAL, value)
/* A step of a network and the unit that ran it, in order, before the end of the run: the counters network.kernelN.* of the run
 * belong to the N-th of them. */
#define TRACE_PLACEMENT_FIELDS(X) X(NUMBER, run) X(TEXT, step) X(TEXT, unit) X(TEXT, kernel) X(TEXT, why)

/* X(KIND, number in the file, name), in ascending order. A number is never used again for something else; 1 is a string of the
 * block. */
#define TRACE_KIND_TABLE(X) \
    X(RUN_BEGIN, 2, run_begin) \
    X(LAUNCH, 3, launch) \
    X(OP_BEGIN, 4, op_begin) \
    X(OP_END, 5, op_end) \
    X(TRANSFER, 6, transfer) \
    X(SAMPLE, 7, sample) \
    X(CLOCK, 8, clock) \
    X(FAULT, 9, fault) \
    X(INSTRUCTION, 10, instruction) \
    X(RUN_END, 11, run_end) \
    X(VALUE, 12, value) \
    X(PLACEMENT, 13, placement)
/* clang-format on */

enum trace_kind {
#define X(kind, number, name) TRACE_##kind = number,
    TRACE_KIND_TABLE(X)
#undef X
        TRACE_KIND_END
};

#define TRACE_MEMBER(type, name) TRACE_C_##type name;
#define X(kind, number, name)                                                                                                    \
    struct trace_##name {                                                                                                        \
        TRACE_##kind##_FIELDS(TRACE_MEMBER)                                                                                      \
    };
TRACE_KIND_TABLE(X)
#undef X
#undef TRACE_MEMBER

struct trace_record {
    enum trace_kind kind;
    union {
#define X(kind, number, name) struct trace_##name name;
        TRACE_KIND_TABLE(X)
#undef X
    };
};

struct trace_field {
    const char *name;
    enum trace_type type;
    size_t offset; /* in struct trace_record */
};
/* NULL when the number is no kind. */
const char *trace_kind_name(enum trace_kind kind);
const struct trace_field *trace_fields(enum trace_kind kind, size_t *count);
/* Makes an empty record of a kind: texts NULL, reals NAN, numbers 0. */
void trace_record_init(struct trace_record *record, enum trace_kind kind);

#endif

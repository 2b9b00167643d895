/* An M1-like AMX block for suites that need one: figures from github corsix/amx. Clock in GHz, load latency in cycles of the
 * block, queue in instructions.
 */
#ifndef ORCHARD_TESTS_UNITS_AMX_TIMING_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_AMX_TIMING_EXAMPLE_H

#include "units/amx/amx_timing.h"

#define AMX_EXAMPLE_FIELDS(clock, load_latency, queue)                                                                           \
    .clock_ghz = (clock), .z_latency_cycles = 4, .array_f64_cycles = 1, .array_f32_cycles = 1, .array_f16_cycles = 2,            \
    .array_f16_f32_cycles = 4, .array_i8_i16_cycles = 2, .array_i16_cycles = 4, .vector_row_cycles = 0.5,                        \
    .vector_i16_row_cycles = 1, .vector_cross_cycles = 1, .vector_shared_cycles = 0.5, .extract_cycles = 0.5, .array_width = 1,  \
    .vector_shared_pass_cycles = 0.5, .genlut_cycles = 1, .load_issue_cycles = 1, .load_request_cycles = 1.75,                   \
    .load_bytes_per_cycle = 150, .load_latency_cycles = (load_latency), .load_banks = 16, .load_bank_cycles = 14,                \
    .store_issue_cycles = 1, .store_bytes_per_cycle = 4, .store_shared_bytes_per_cycle = 8, .store_buffer_rows = 64,             \
    .store_latency_cycles = 9, .set_cycles = 12, .clr_cycles = 12, .issue_per_cycle = 2, .queue_entries = (queue)

#define AMX_EXAMPLE_PARAMS(clock, load_latency, queue)                                                                           \
    {                                                                                                                            \
        AMX_EXAMPLE_FIELDS(clock, load_latency, queue)                                                                           \
    }

#endif

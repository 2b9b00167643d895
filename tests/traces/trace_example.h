/* A small trace with every kind of record, for suites. */
#ifndef ORCHARD_TESTS_TRACES_TRACE_EXAMPLE_H
#define ORCHARD_TESTS_TRACES_TRACE_EXAMPLE_H

#include "traces/trace_read.h"
#include "traces/trace_text.h"
#include "traces/trace_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct trace_header trace_example_header = {
    .chip = "m1", .workload = "gemm:64x64x64", .orchard = "0.1", .level = "operator", .source = "orchard"};

enum { TRACE_EXAMPLE_KINDS = 12 };

/* Record `i` of the example. Kinds take turns, and values follow from i. */
static inline void trace_example_record(uint64_t i, struct trace_record *r)
{
    static const uint64_t after[] = {1, 2};
    static const char *const names[] = {"conv", "a \"quoted\"\nname\t\\", "Ünïcode", ""};
    trace_record_init(r, (enum trace_kind)(TRACE_RUN_BEGIN + i % TRACE_EXAMPLE_KINDS));
    switch (r->kind) {
    case TRACE_RUN_BEGIN:
        r->run_begin = (struct trace_run_begin){
            .run = 1, .time_ps = -5, .workload = "gemm:64x64x64", .chip = "m1", .seed = UINT64_C(1) << 62};
        break;
    case TRACE_LAUNCH:
        r->launch = (struct trace_launch){.run = 1,
                                          .op = i + 3,
                                          .submitted_ps = (int64_t)(1000 * i),
                                          .name = names[i / TRACE_EXAMPLE_KINDS % 4],
                                          .kernel = "gemm",
                                          .workload = "gemm:64x64x64",
                                          .precision = "f32",
                                          .unit = "gpu",
                                          .stream = i % 3,
                                          .after = {after, i % 3},
                                          .work = "kernel",
                                          .settings = i % 2 ? "cores=2" : NULL,
                                          .bytes = i * 77};
        break;
    case TRACE_OP_END:
        r->op_end.op = i;
        r->op_end.time_ps = (int64_t)(1000 * i + 7);
        r->op_end.seconds = 1e-9 * (double)i;
        r->op_end.flops = i % 2 ? 3e17 : -0.0;
        r->op_end.repeats = 1;
        break;
    case TRACE_INSTRUCTION:
        r->instruction = (struct trace_instruction){.run = 1,
                                                    .op = i,
                                                    .time_ps = (int64_t)(i * i),
                                                    .duration_ps = 5,
                                                    .unit = "amx",
                                                    .pc = 0x1000 - 4 * i,
                                                    .word = 0x201000,
                                                    .operand = UINT64_MAX - i};
        break;
    case TRACE_RUN_END:
        r->run_end.time_ps = INT64_MAX;
        r->run_end.status = "done";
        r->run_end.seconds = 0.1;
        break;
    case TRACE_SAMPLE: r->sample = (struct trace_sample){.series = "power", .value = (double)i / 3, .time_ps = INT64_MIN}; break;
    case TRACE_VALUE:
        r->value = (struct trace_value){.run = 1, .op = i % 2 ? i : 0, .of = "counter", .name = names[i % 4], .value = -1e300};
        break;
    case TRACE_PLACEMENT:
        r->placement = (struct trace_placement){.run = 1, .step = names[i % 4], .unit = "gpu", .why = ""};
        break;
    default: break;
    }
}

/* Writes that many records; false on failure. */
static inline bool trace_example_write(const char *path, uint64_t records, bool text)
{
    struct trace_error error;
    struct trace_record record;
    FILE *const out = fopen(path, "wb");
    struct trace_writer *w = out ? trace_writer_create(out, path, &trace_example_header, text, &error) : NULL;
    bool ok = w != NULL;
    for (uint64_t i = 0; ok && i < records; i++) {
        trace_example_record(i, &record);
        ok = trace_write(w, &record, &error);
    }
    ok = ok && trace_writer_finish(w, &error);
    trace_writer_free(w);
    return out && fclose(out) == 0 && ok;
}

/* The whole file, which the caller frees; NULL when it cannot be read. */
static inline uint8_t *trace_example_bytes(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0 && (*size = (size_t)ftell(f)) > 0 && fseek(f, 0, SEEK_SET) == 0) {
        bytes = malloc(*size);
        if (bytes && fread(bytes, 1, *size, f) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (f)
        fclose(f);
    return bytes;
}

/* A record as a line of text, on which both forms of a trace must agree; from malloc, NULL without memory. */
static inline char *trace_example_line(const struct trace_record *record)
{
    char *text = NULL;
    size_t size;
    FILE *const f = open_memstream(&text, &size);
    if (f) {
        trace_text_record(f, record);
        fclose(f);
    }
    return text;
}

#endif

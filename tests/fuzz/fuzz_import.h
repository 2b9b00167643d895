/* Imports a profile from memory, for the fuzz targets of the importers. */
#ifndef ORCHARD_TESTS_FUZZ_FUZZ_IMPORT_H
#define ORCHARD_TESTS_FUZZ_FUZZ_IMPORT_H

#include "sim/trace/trace_import.h"
#include "traces/trace_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
};

static inline size_t fuzz_read(void *context, void *to, size_t size, bool *bad)
{
    struct fuzz_bytes *b = context;
    const size_t n = size < b->size ? size : b->size;
    *bad = false;
    if (n)
        memcpy(to, b->data, n);
    b->data += n;
    b->size -= n;
    return n;
}

static inline void fuzz_import(const uint8_t *data, size_t size, enum import_format format, bool force)
{
    char path[64];
    struct fuzz_bytes bytes = {data, size};
    struct import_coverage coverage;
    struct orch_error error = {0};
    struct trace_error trouble;
    struct trace_record record;
    snprintf(path, sizeof path, "/tmp/orchard_fuzz_%ld.trace", (long)getpid());
    const struct import_source source = {fuzz_read, &bytes, "fuzz", force};
    const struct trace_import_request request = {.path = "fuzz", .output = path, .format = format, .text = true};
    if (!trace_import_from(&source, &request, &coverage, &error)) {
        if (error.exit_code != ORCH_USAGE || error.text[0] == 0)
            abort();
        return;
    }
    struct trace_reader *r = trace_reader_open(path, false, &trouble);
    enum trace_step step = TRACE_BAD;
    while (r && (step = trace_next(r, &record, &trouble)) == TRACE_GOT)
        continue;
    if (step != TRACE_OVER || !(import_total_seconds(&coverage) >= 0))
        abort();
    trace_reader_close(r);
    unlink(path);
}

#endif

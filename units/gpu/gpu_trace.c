#include "units/gpu/gpu_trace.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RECORDS = 256 };

void gpu_trace_init(struct gpu_trace *trace)
{
    memset(trace, 0, sizeof *trace);
}

void gpu_trace_release(struct gpu_trace *trace)
{
    free(trace->record);
    free(trace->line);
    gpu_trace_init(trace);
}

void gpu_trace_clear(struct gpu_trace *trace)
{
    trace->written = trace->read = trace->entered = 0;
    trace->lines_written = trace->lines_read = trace->lines_expected = 0;
    trace->failed = false;
}

/* Doubles *room until `need` entries fit. */
static bool grow(void **array, size_t *room, size_t need, size_t entry_bytes)
{
    size_t wanted = *room ? *room : FIRST_RECORDS;
    while (wanted < need)
        wanted *= 2;
    if (wanted == *room)
        return true;
    void *bigger = realloc(*array, wanted * entry_bytes);
    if (!bigger)
        return false;
    *array = bigger;
    *room = wanted;
    return true;
}

bool gpu_trace_grow(struct gpu_trace *trace, size_t lines)
{
    void *record = trace->record, *line = trace->line;
    const bool records_fit = grow(&record, &trace->room, trace->written + 1, sizeof *trace->record);
    const bool lines_fit = grow(&line, &trace->lines_room, trace->lines_written + lines, sizeof *trace->line);
    trace->record = record;
    trace->line = line;
    trace->failed = trace->failed || !records_fit || !lines_fit;
    return records_fit && lines_fit;
}

void gpu_trace_compact(struct gpu_trace *trace)
{
    if (trace->read * 2 > trace->written) {
        trace->written -= trace->read;
        trace->entered -= trace->entered < trace->read ? trace->entered : trace->read;
        memmove(trace->record, trace->record + trace->read, trace->written * sizeof *trace->record);
        trace->read = 0;
    }
    if (trace->lines_read * 2 > trace->lines_written) {
        trace->lines_written -= trace->lines_read;
        trace->lines_expected -= trace->lines_expected < trace->lines_read ? trace->lines_expected : trace->lines_read;
        memmove(trace->line, trace->line + trace->lines_read, trace->lines_written * sizeof *trace->line);
        trace->lines_read = 0;
    }
}

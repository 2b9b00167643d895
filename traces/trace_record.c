#include "traces/trace_record.h"

#include <math.h>
#include <string.h>

#define ROW_RUN_BEGIN(type, name)   {#name, TRACE_##type, offsetof(struct trace_record, run_begin.name)},
#define ROW_LAUNCH(type, name)      {#name, TRACE_##type, offsetof(struct trace_record, launch.name)},
#define ROW_OP_BEGIN(type, name)    {#name, TRACE_##type, offsetof(struct trace_record, op_begin.name)},
#define ROW_OP_END(type, name)      {#name, TRACE_##type, offsetof(struct trace_record, op_end.name)},
#define ROW_TRANSFER(type, name)    {#name, TRACE_##type, offsetof(struct trace_record, transfer.name)},
#define ROW_SAMPLE(type, name)      {#name, TRACE_##type, offsetof(struct trace_record, sample.name)},
#define ROW_CLOCK(type, name)       {#name, TRACE_##type, offsetof(struct trace_record, clock.name)},
#define ROW_FAULT(type, name)       {#name, TRACE_##type, offsetof(struct trace_record, fault.name)},
#define ROW_INSTRUCTION(type, name) {#name, TRACE_##type, offsetof(struct trace_record, instruction.name)},
#define ROW_RUN_END(type, name)     {#name, TRACE_##type, offsetof(struct trace_record, run_end.name)},
#define ROW_VALUE(type, name)       {#name, TRACE_##type, offsetof(struct trace_record, value.name)},
#define ROW_PLACEMENT(type, name)   {#name, TRACE_##type, offsetof(struct trace_record, placement.name)},
#define X(kind, number, record)     static const struct trace_field record##_fields[] = {TRACE_##kind##_FIELDS(ROW_##kind)};
TRACE_KIND_TABLE(X)
#undef X

static const struct kind_row {
    const char *name;
    const struct trace_field *field;
    size_t count;
} kinds[TRACE_KIND_END] = {
#define X(kind, number, record) [number] = {#record, record##_fields, sizeof record##_fields / sizeof record##_fields[0]},
    TRACE_KIND_TABLE(X)
#undef X
};

const char *trace_kind_name(enum trace_kind kind)
{
    return (unsigned)kind < TRACE_KIND_END ? kinds[kind].name : NULL;
}

const struct trace_field *trace_fields(enum trace_kind kind, size_t *count)
{
    *count = kinds[kind].count;
    return kinds[kind].field;
}

void trace_record_init(struct trace_record *record, enum trace_kind kind)
{
    const double none = NAN;
    memset(record, 0, sizeof *record);
    record->kind = kind;
    for (size_t i = 0; i < kinds[kind].count; i++)
        if (kinds[kind].field[i].type == TRACE_REAL)
            memcpy((char *)record + kinds[kind].field[i].offset, &none, sizeof none);
}

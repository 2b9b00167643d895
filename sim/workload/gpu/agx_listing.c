#include "sim/workload/gpu/agx_listing.h"

#include "isa/agx/agx_isa.h"

#include <stdio.h>

static void emit_data(const uint8_t *code, uint32_t at, const struct agx_listing_sink *sink)
{
    char text[24];
    struct agx_listing_line line = {.offset = at, .text = text};
    snprintf(text, sizeof text, ".half 0x%02x%02x", code[at + 1], code[at]);
    snprintf(line.bytes, sizeof line.bytes, "%02x%02x", code[at], code[at + 1]);
    sink->line(sink->context, &line);
}

static void emit_inst(const uint8_t *code, uint32_t at, const struct agx_inst *inst, const struct agx_listing_sink *sink)
{
    char text[AGX_TEXT_BYTES];
    struct agx_listing_line line = {.offset = at, .text = text};
    agx_disasm(inst, text, sizeof text);
    for (unsigned i = 0; i < inst->bytes; i++)
        snprintf(line.bytes + 2 * i, sizeof line.bytes - 2 * i, "%02x", code[at + i]);
    sink->line(sink->context, &line);
}

static void emit_part(const char *part, uint32_t at, const struct agx_listing_sink *sink)
{
    const struct agx_listing_line line = {.part = part, .offset = at};
    sink->line(sink->context, &line);
}

/* Lists the code from `at` to `end`; that of a `program` only up to the padding after its last stop. */
static void emit_code(const uint8_t *code, uint32_t at, uint32_t end, bool program, const struct agx_listing_sink *sink)
{
    bool stopped = false;
    while (at + 2 <= end) {
        struct agx_inst inst;
        const size_t length = agx_decode(code + at, end - at, &inst);
        if (program && stopped && length && inst.op == AGX_OP_TRAP)
            return;
        if (length && at + length <= end)
            emit_inst(code, at, &inst, sink);
        else
            emit_data(code, at, sink);
        stopped = length && inst.op == AGX_OP_STOP;
        at += length && at + length <= end ? (uint32_t)length : 2;
    }
}

void agx_listing_image(const uint8_t *code, size_t bytes, const struct agx_listing_sink *sink)
{
    emit_code(code, 0, (uint32_t)bytes, false, sink);
}

void agx_listing_kernel(const struct abi_kernel *k, const struct agx_listing_sink *sink)
{
    const uint32_t end = (uint32_t)k->code_bytes;
    const bool preamble_later = k->has_preamble && k->preamble_offset > k->main_offset;
    if (k->constants_count)
        emit_part("constants", k->constants_offset, sink);
    for (uint32_t i = 0; i < k->constants_count; i++)
        emit_data(k->code, k->constants_offset + 2 * i, sink);
    emit_part("main", k->main_offset, sink);
    emit_code(k->code, k->main_offset, preamble_later ? k->preamble_offset : end, true, sink);
    if (!k->has_preamble)
        return;
    emit_part("preamble", k->preamble_offset, sink);
    emit_code(k->code, k->preamble_offset, preamble_later ? end : k->main_offset, true, sink);
}

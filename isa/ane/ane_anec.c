/* .anec, the container of eiln/anecc: a header of counts and shapes, then descriptors and coefficients, from 0x1000 (anecc) or
 * 0x800 (libane). */
#include "isa/rounding.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_program_parts.h"

#include <stdio.h>

enum {
    AT_SIZE = 0,
    AT_TD_SIZE = 8,
    AT_TD_COUNT = 12,
    AT_TSK_SIZE = 16,
    AT_KRN_SIZE = 24,
    AT_SRC_COUNT = 32,
    AT_DST_COUNT = 36,
    AT_TILES = 40,
    AT_NCHW = AT_TILES + 4 * 32,
    HEADER = AT_NCHW + 32 * 6 * 8,
    FIRST_RESULT = 4 /* the slot of the first result; sources follow the results */
};

static size_t content(const uint8_t *bytes, size_t size)
{
    static const size_t places[] = {0x1000, 0x800};
    for (size_t i = 0; i < 2; i++)
        if (size > places[i] && ane_td_here(bytes + places[i], size - places[i]))
            return places[i];
    return 0;
}

bool ane_anec_is(const uint8_t *bytes, size_t size)
{
    return size > HEADER && ane_get32(bytes + AT_TD_SIZE) == ANE_TD_BYTES && content(bytes, size) != 0;
}

static void read_port(const uint8_t *bytes, unsigned slot, enum ane_port_kind kind, unsigned number, struct ane_program *program)
{
    struct ane_port *port = &program->port[slot];
    const uint8_t *shape = bytes + AT_NCHW + slot * 48u;
    port->kind = kind;
    port->format = ANE_F16;
    port->bytes = (uint64_t)ane_get32(bytes + AT_TILES + 4 * slot) * ANE_PAGE;
    port->channels = (uint32_t)ane_get64(shape + 8);
    port->height = (uint32_t)ane_get64(shape + 16);
    port->width = (uint32_t)ane_get64(shape + 24);
    port->plane = (uint32_t)ane_get64(shape + 32);
    port->row = (uint32_t)ane_get64(shape + 40);
    snprintf(port->name, sizeof port->name, "%s%u", kind == ANE_PORT_INPUT ? "input" : "output", number);
}

bool ane_anec_read(struct ane_program *program, struct isa_error *error)
{
    const uint8_t *bytes = program->bytes;
    const uint64_t text = ane_get64(bytes + AT_TSK_SIZE), coefficients = ane_get64(bytes + AT_KRN_SIZE);
    const uint32_t sources = ane_get32(bytes + AT_SRC_COUNT), results = ane_get32(bytes + AT_DST_COUNT);
    program->text_offset = content(bytes, program->size);
    const uint64_t room = program->size - program->text_offset;
    if (text > room)
        return ane_fail(error, AT_TSK_SIZE, "descriptors of 0x%llx bytes in a file with 0x%llx left", (unsigned long long)text,
                        (unsigned long long)room);
    const uint64_t start = round_up(text, 16);
    if (coefficients && (start > room || coefficients > room - start))
        return ane_fail(error, AT_KRN_SIZE, "coefficients of 0x%llx bytes in a file with 0x%llx left",
                        (unsigned long long)coefficients, (unsigned long long)(start > room ? 0 : room - start));
    if (sources > ANE_BARS || results > ANE_BARS || sources + results > ANE_BARS - FIRST_RESULT)
        return ane_fail(error, AT_SRC_COUNT, "%u sources and %u results; a request has %u slots", sources, results, ANE_BARS);
    program->text_bytes = (size_t)text;
    program->const_offset = program->text_offset + (size_t)(coefficients ? start : text);
    program->const_bytes = (size_t)coefficients;
    for (unsigned i = 0; i < results; i++)
        read_port(bytes, FIRST_RESULT + i, ANE_PORT_OUTPUT, i, program);
    for (unsigned i = 0; i < sources; i++)
        read_port(bytes, FIRST_RESULT + results + i, ANE_PORT_INPUT, i, program);
    return true;
}

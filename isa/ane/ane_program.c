/* Programs: finding the container, walking the chain of descriptors, saving and making. */
#include "isa/rounding.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_program_parts.h"

#include <stdlib.h>
#include <string.h>

bool ane_td_here(const uint8_t *bytes, size_t size)
{
    struct ane_td fresh;
    ane_td_init(&fresh);
    return size >= ANE_TD_BYTES && ane_get32(bytes + 0x28) == fresh.word[0x28 / 4] &&
           ane_get32(bytes + 0x124) == fresh.word[0x124 / 4] && ane_get32(bytes + 0x254) == fresh.word[0x254 / 4];
}

bool ane_program_recognise(const uint8_t *bytes, size_t size)
{
    return ane_hwx_is(bytes, size) || ane_anec_is(bytes, size) || ane_td_here(bytes, size);
}

void ane_program_free(struct ane_program *program)
{
    free(program->bytes);
    free(program->td);
    free(program->task);
    free(program->td_offset);
    memset(program, 0, sizeof *program);
}

static bool locate(struct ane_program *program, struct isa_error *error)
{
    const uint8_t *bytes = program->bytes;
    const size_t size = program->size;
    program->generation = ANE_H13;
    if (ane_hwx_is(bytes, size)) {
        program->container = ANE_CONTAINER_HWX;
        return ane_hwx_read(program, error);
    }
    if (ane_anec_is(bytes, size)) {
        program->container = ANE_CONTAINER_ANEC;
        return ane_anec_read(program, error);
    }
    program->container = ANE_CONTAINER_RAW;
    program->text_bytes = size;
    if (ane_td_here(bytes, size))
        return true;
    if (size < ANE_TD_BYTES)
        return ane_fail(error, size, "%zu bytes: a task descriptor of H13 has %u", size, ANE_TD_BYTES);
    return ane_fail(error, 0,
                    "no Neural Engine program: starts with %08x; known are .hwx (%08x), .anec and streams of H13 "
                    "descriptors",
                    ane_get32(bytes), ANE_HWX_MAGIC);
}

/* ---- the chain ---- */

static bool grow(struct ane_program *program, size_t *room, struct isa_error *error)
{
    if (program->count < *room)
        return true;
    const size_t more = *room ? 2 * *room : 8;
    struct ane_td *td = realloc(program->td, more * sizeof *td);
    if (td)
        program->td = td;
    struct ane_task *task = realloc(program->task, more * sizeof *task);
    if (task)
        program->task = task;
    size_t *offset = realloc(program->td_offset, more * sizeof *offset);
    if (offset)
        program->td_offset = offset;
    *room = more;
    return (td && task && offset) || ane_fail(error, 0, "out of memory for %zu descriptors", more);
}

/* Adds the descriptor at `at`; *next is where the chain goes on, 0 at its end. */
static bool add_descriptor(struct ane_program *program, size_t at, size_t *next, struct isa_error *error)
{
    struct ane_td *td = &program->td[program->count];
    struct ane_task *task = &program->task[program->count];
    const size_t place = program->text_offset + at;
    ane_td_load(td, program->bytes + place);
    if (!ane_task_decode(td, task, error)) {
        error->offset += place;
        return false;
    }
    if (task->last != (task->next == 0))
        return ane_fail(error, place + 0x1c, "%s",
                        task->last ? "the last descriptor of the network names a next one"
                                   : "the chain ends before the last descriptor of the network");
    if (task->next && task->next < at + ANE_TD_BYTES)
        return ane_fail(error, place + 0x1c, "next descriptor at 0x%x, not behind this one at 0x%zx: the chain loops or overlaps",
                        task->next, at);
    program->td_offset[program->count++] = at;
    *next = task->next;
    return true;
}

static bool walk(struct ane_program *program, struct isa_error *error)
{
    size_t at = 0, room = 0, next = 0;
    do {
        if (program->text_bytes < ANE_TD_BYTES || next > program->text_bytes - ANE_TD_BYTES)
            return ane_fail(error, program->text_offset + (next ? at + 0x1c : 0),
                            "a descriptor at 0x%zx does not fit the %zu bytes of text", next, program->text_bytes);
        if (next % 4 != 0)
            return ane_fail(error, program->text_offset + at + 0x1c, "next descriptor at 0x%zx, not on a word", next);
        at = next;
        if (!grow(program, &room, error) || !add_descriptor(program, at, &next, error))
            return false;
    } while (next);
    return true;
}

/* In raw streams coefficients follow the last descriptor. */
static void end_text(struct ane_program *program)
{
    if (program->container != ANE_CONTAINER_RAW)
        return;
    const size_t size = program->size, end = program->td_offset[program->count - 1] + ANE_TD_BYTES;
    const size_t coefficients = (size_t)round_up(end, 16);
    program->text_bytes = end;
    program->const_offset = coefficients < size ? coefficients : size;
    program->const_bytes = size - program->const_offset;
}

static bool check_banks(const struct ane_program *program, struct isa_error *error)
{
    for (size_t i = 0; i < program->count; i++)
        for (unsigned k = 0; k < ANE_BANKS; k++) {
            const struct ane_bank *bank = &program->task[i].bank[k];
            if (bank->enabled && (uint64_t)bank->base + bank->bytes > program->const_bytes)
                return ane_fail(error, program->text_offset + program->td_offset[i] + 0x74 + 4 * k,
                                "bank %u of task %zu ends at 0x%llx of 0x%zx bytes of coefficients", k, i,
                                (unsigned long long)bank->base + bank->bytes, program->const_bytes);
        }
    return true;
}

/* The bytes, from malloc, become the program's. */
static bool parse_own(uint8_t *bytes, size_t size, struct ane_program *program, struct isa_error *error)
{
    memset(program, 0, sizeof *program);
    program->bytes = bytes;
    program->size = size;
    if (locate(program, error) && walk(program, error)) {
        end_text(program);
        if (check_banks(program, error)) {
            ane_ports_derive(program);
            return true;
        }
    }
    ane_program_free(program);
    return false;
}

bool ane_program_parse(const uint8_t *bytes, size_t size, struct ane_program *program, struct isa_error *error)
{
    uint8_t *const own = malloc(size ? size : 1);
    memset(program, 0, sizeof *program);
    if (!own)
        return ane_fail(error, 0, "out of memory for a program of %zu bytes", size);
    if (size)
        memcpy(own, bytes, size);
    return parse_own(own, size, program, error);
}

/* ---- out again ---- */

bool ane_program_save(const struct ane_program *program, uint8_t **bytes, size_t *size, struct isa_error *error)
{
    struct ane_task task;
    for (size_t i = 0; i < program->count; i++)
        if (!ane_task_decode(&program->td[i], &task, error)) {
            error->offset += program->text_offset + program->td_offset[i];
            return false;
        }
    uint8_t *out = malloc(program->size ? program->size : 1);
    if (!out)
        return ane_fail(error, 0, "out of memory for a program of %zu bytes", program->size);
    memcpy(out, program->bytes, program->size);
    for (size_t i = 0; i < program->count; i++)
        ane_td_store(&program->td[i], out + program->text_offset + program->td_offset[i]);
    *bytes = out;
    *size = program->size;
    return true;
}

static bool lay_out(const struct ane_program_parts *parts, struct ane_image *image, struct isa_error *error)
{
    image->text_bytes = (parts->count - 1) * ANE_TD_PITCH + ANE_TD_BYTES;
    image->const_offset = (size_t)round_up(image->text_bytes, 16);
    image->size = (size_t)round_up(image->const_offset + parts->coefficient_bytes, 64);
    image->bytes = calloc(1, image->size);
    if (!image->bytes)
        return ane_fail(error, 0, "out of memory for a program of %zu bytes", image->size);
    for (size_t i = 0; i < parts->count; i++) {
        struct ane_task task = parts->task[i];
        struct ane_td td;
        task.id = (uint16_t)i;
        task.last = i + 1 == parts->count;
        task.next = task.last ? 0 : (uint32_t)((i + 1) * ANE_TD_PITCH);
        if (!ane_task_encode(&task, &td, error)) {
            error->offset += i * ANE_TD_PITCH;
            return false;
        }
        ane_td_store(&td, image->bytes + i * ANE_TD_PITCH);
    }
    if (parts->coefficient_bytes)
        ane_copy_sparse(image->bytes + image->const_offset, parts->coefficients, parts->coefficient_bytes);
    return true;
}

/* What the builder says about a port overrides what the descriptors show. */
static void describe(const struct ane_program_parts *parts, struct ane_program *program)
{
    struct ane_port shown[ANE_BARS];
    memcpy(shown, program->port, sizeof shown);
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (parts->port[i].kind != ANE_PORT_UNUSED) {
            program->port[i] = parts->port[i];
            if (shown[i].bytes > program->port[i].bytes)
                program->port[i].bytes = shown[i].bytes;
        }
    ane_ports_derive(program);
}

bool ane_program_make(const struct ane_program_parts *parts, struct ane_program *program, struct isa_error *error)
{
    struct ane_image image = {0};
    memset(program, 0, sizeof *program);
    if (parts->count == 0 || parts->count > UINT16_MAX)
        return ane_fail(error, 0, "a program of %zu tasks; 1 to %u are possible", parts->count, UINT16_MAX);
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (parts->port[i].kind > ANE_PORT_INPUT || !memchr(parts->port[i].name, 0, sizeof parts->port[i].name))
            return ane_fail(error, 0, "port %u: no such kind, or a name without end", i);
    if (parts->container == ANE_CONTAINER_ANEC)
        return ane_fail(error, 0, "programs are made as raw streams and .hwx");
    if (!lay_out(parts, &image, error)) {
        free(image.bytes);
        return false;
    }
    if (!parse_own(image.bytes, image.size, program, error))
        return false;
    describe(parts, program);
    program->generation = parts->generation ? parts->generation : ANE_H13;
    bool ok = true;
    if (parts->container == ANE_CONTAINER_HWX) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        ok = ane_hwx_write(&image, program, &bytes, &size, error);
        ane_program_free(program);
        if (ok)
            return parse_own(bytes, size, program, error);
        free(bytes);
    }
    return ok;
}

/* Statements to a program. A listing with .size holds every byte of the file; one without is completed. */
#include "isa/rounding.h"
#include "isa/ane/ane_asm_parts.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_half.h"

#include <stdlib.h>
#include <string.h>

static void apply_values(const struct ane_asm_listing *l, const struct ane_asm_td *from, struct ane_td *td)
{
    ane_td_init(td);
    for (size_t i = from->first; i < from->end; i++) {
        const struct ane_asm_value *v = &l->value[i];
        if (v->field == ANE_FIELD_COUNT)
            td->word[v->element] = v->value;
        else
            ane_set_at(td, v->field, v->element, v->value);
    }
}

/* ---- every byte ---- */

static bool place_bytes(const struct ane_asm_listing *l, uint8_t *file, struct isa_error *error)
{
    for (size_t i = 0; i < l->stretches; i++) {
        const struct ane_asm_bytes *b = &l->bytes[i];
        if (b->offset > l->size || b->count > l->size - b->offset)
            return ane_asm_fail(error, b->line, "bytes 0x%zx..0x%zx are beyond the file, .size 0x%zx", b->offset,
                                b->offset + b->count, l->size);
        if (b->count)
            memcpy(file + b->offset, l->data + b->first, b->count);
    }
    return true;
}

static bool place_tds(const struct ane_asm_listing *l, uint8_t *file, struct isa_error *error)
{
    for (size_t i = 0; i < l->tds; i++) {
        const struct ane_asm_td *td = &l->td[i];
        const uint64_t offset = (uint64_t)l->text_offset + (td->placed ? td->offset : i * ANE_TD_PITCH);
        struct ane_td words;
        if (td->table_line || td->weights_line)
            return ane_asm_fail(error, td->table_line ? td->table_line : td->weights_line,
                                "tables and weights by value need a listing without .size");
        if (offset > l->size || l->size - offset < ANE_TD_BYTES)
            return ane_asm_fail(error, td->line, "a descriptor at 0x%llx is beyond the file, .size 0x%zx",
                                (unsigned long long)offset, l->size);
        apply_values(l, td, &words);
        ane_td_store(&words, file + offset);
    }
    return true;
}

/* The line of the descriptor that an error of the finished file is about. */
static unsigned long line_of(const struct ane_asm_listing *l, unsigned long offset)
{
    unsigned long line = l->td[0].line;
    for (size_t i = 0; i < l->tds; i++) {
        const uint64_t start = (uint64_t)l->text_offset + (l->td[i].placed ? l->td[i].offset : i * ANE_TD_PITCH);
        if (start <= offset && offset < start + ANE_TD_BYTES)
            line = l->td[i].line;
    }
    return line;
}

static bool build_file(const struct ane_asm_listing *l, struct ane_program *program, struct isa_error *error)
{
    uint8_t *file = calloc(l->size ? l->size : 1, 1);
    if (!file)
        return ane_asm_fail(error, 0, "out of memory");
    bool ok = place_bytes(l, file, error) && place_tds(l, file, error);
    if (ok && !ane_program_parse(file, l->size, program, error)) {
        error->line = line_of(l, error->offset);
        ok = false;
    }
    free(file);
    if (ok && program->container != l->container) {
        ane_program_free(program);
        *program = (struct ane_program){.count = 0};
        ok = ane_asm_fail(error, 1, "the bytes are no program in the container %s", ane_container_names[l->container]);
    }
    return ok;
}

/* ---- the rest filled in ---- */

static bool is_given(const struct ane_asm_listing *l, const struct ane_asm_td *td, enum ane_field field)
{
    for (size_t i = td->first; i < td->end; i++)
        if (l->value[i].field == field)
            return true;
    return false;
}

static void set_missing(const struct ane_asm_listing *l, const struct ane_asm_td *from, struct ane_td *td, enum ane_field field,
                        uint32_t value)
{
    if (!is_given(l, from, field))
        ane_set(td, field, value);
}

/* Sets the fields whose usual value is neither 0 nor implied by others. */
static void fill_usual(const struct ane_asm_listing *l, const struct ane_asm_td *from, struct ane_td *td)
{
    const uint32_t one = ane_half_bits(1);
    set_missing(l, from, td, ANE_COMMON_GROUP_CONV_CFG_NUM_GROUPS, 1);
    set_missing(l, from, td, ANE_COMMON_TILE_CFG_TILE_HEIGHT, ane_get(td, ANE_COMMON_OUT_DIM_HOUT));
    if (ane_get(td, ANE_COMMON_CFG_PLANAR)) {
        set_missing(l, from, td, ANE_PE_BIAS_SCALE_SCALE, one);
        set_missing(l, from, td, ANE_PE_PRE_SCALE_PRE_SCALE, one);
        set_missing(l, from, td, ANE_PE_FINAL_SCALE_FINAL_SCALE, 0x3f800000);
    } else {
        set_missing(l, from, td, ANE_NE_POST_SCALE_POST_SCALE, one);
        set_missing(l, from, td, ANE_NE_KERNEL_CFG_KERNEL_FMT, from->weights_line || from->table_line ? ANE_KERNEL_F16 : 0);
    }
}

static bool add_table(const struct ane_asm_td *from, struct ane_task *task, struct ane_pack *pack, struct isa_error *error)
{
    const uint64_t base = round_up(pack->used, 64);
    const size_t bytes = 2 * ANE_TABLE_HALVES;
    uint8_t *grown = realloc(pack->bytes, base + bytes);
    if (!grown)
        return ane_asm_fail(error, from->table_line, "out of memory");
    memset(grown + pack->used, 0, base + bytes - pack->used);
    ane_table_write(&from->table, grown + base);
    pack->bytes = grown;
    pack->room = pack->used = base + bytes;
    task->nonlinear = ANE_TABLE;
    task->bank[0] = (struct ane_bank){true, (uint32_t)base, (uint32_t)bytes};
    return true;
}

static bool add_weights(const struct ane_asm_td *from, struct ane_task *task, struct ane_pack *pack, struct isa_error *error)
{
    const uint64_t groups = task->groups ? task->groups : 1;
    const uint64_t inputs = task->depthwise ? 1 : task->channels_in / groups;
    const uint64_t wanted = inputs * task->channels_out * task->kernel_width * task->kernel_height;
    if (from->weights.count != wanted)
        return ane_asm_fail(error, from->weights_line, "%zu weights, the shape asks for %llu", from->weights.count,
                            (unsigned long long)wanted);
    if (from->bias.count && from->bias.count != task->channels_out)
        return ane_asm_fail(error, from->weights_line, "%zu biases, the shape asks for %u", from->bias.count, task->channels_out);
    if (ane_weights_pack(task, from->weights.half, from->bias.count ? from->bias.half : NULL, pack, error))
        return true;
    error->line = from->weights_line;
    return false;
}

/* Makes a task of fields that need not be complete. */
static bool make_task(const struct ane_asm_listing *l, const struct ane_asm_td *from, struct ane_task *task,
                      struct ane_pack *pack, struct isa_error *error)
{
    struct ane_td td;
    struct isa_error why = {.text = ""};
    apply_values(l, from, &td);
    fill_usual(l, from, &td);
    if (!ane_task_decode(&td, task, &why) && task->width_in == 0)
        return ane_asm_fail(error, from->line, "%s", why.text);
    if (from->table_line && from->weights_line)
        return ane_asm_fail(error, from->table_line, "a descriptor has weights or a table, not both");
    if (from->table_line && !add_table(from, task, pack, error))
        return false;
    return !from->weights_line || add_weights(from, task, pack, error);
}

/* The finished descriptor must have what the listing says; the last of several values for a field counts. */
static bool check_values(const struct ane_asm_listing *l, const struct ane_asm_td *from, const struct ane_td *td,
                         struct isa_error *error)
{
    struct ane_td given;
    apply_values(l, from, &given);
    for (size_t i = from->first; i < from->end; i++) {
        const struct ane_asm_value *v = &l->value[i];
        if (v->field == ANE_FIELD_COUNT) {
            if (td->word[v->element] != given.word[v->element])
                return ane_asm_fail(error, v->line, "the other fields ask for word 0x%x = 0x%x", 4 * v->element,
                                    td->word[v->element]);
            continue;
        }
        const uint32_t wanted = ane_get_at(&given, v->field, v->element), got = ane_get_at(td, v->field, v->element);
        if (wanted != got)
            return ane_asm_fail(error, v->line, "%s = %u, but the other fields ask for %u", ane_field_info(v->field)->name,
                                wanted, got);
    }
    return true;
}

static bool make_program(const struct ane_asm_listing *l, const struct ane_task *task, const struct ane_pack *pack,
                         struct ane_program *program, struct isa_error *error)
{
    const struct ane_program_parts parts = {.container = l->container,
                                            .generation = ANE_H13,
                                            .task = task,
                                            .count = l->tds,
                                            .coefficients = pack->bytes,
                                            .coefficient_bytes = pack->used};
    if (!ane_program_make(&parts, program, error)) {
        error->line = l->td[0].line;
        return false;
    }
    for (size_t i = 0; i < l->tds; i++)
        if (!check_values(l, &l->td[i], &program->td[i], error)) {
            ane_program_free(program);
            *program = (struct ane_program){.count = 0};
            return false;
        }
    return true;
}

static bool build_short(const struct ane_asm_listing *l, struct ane_program *program, struct isa_error *error)
{
    struct ane_pack pack = {.used = 0};
    struct ane_task *task = calloc(l->tds, sizeof *task);
    if (!task)
        return ane_asm_fail(error, 0, "out of memory");
    bool ok = !l->stretches || ane_asm_fail(error, l->bytes[0].line, ".bytes need a listing with .size");
    for (size_t i = 0; ok && i < l->tds; i++)
        ok = make_task(l, &l->td[i], &task[i], &pack, error);
    /* Tasks are encoded one by one first, so that errors name the line of the descriptor. */
    for (size_t i = 0; ok && i < l->tds; i++) {
        struct ane_td td;
        struct ane_task alone = task[i];
        alone.last = true;
        alone.next = 0;
        ok = ane_task_encode(&alone, &td, error);
        if (!ok)
            error->line = l->td[i].line;
    }
    ok = ok && make_program(l, task, &pack, program, error);
    free(pack.bytes);
    free(task);
    return ok;
}

bool ane_asm_build(const struct ane_asm_listing *listing, struct ane_program *program, struct isa_error *error)
{
    return listing->sized ? build_file(listing, program, error) : build_short(listing, program, error);
}

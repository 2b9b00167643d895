/* The profile of a run as rows. */
#include "sim/listen/db_writer_internal.h"

static bool add_stalls(struct row_buffer *rows, const struct line_profile *p, int64_t kernel, const struct profile_instruction *x)
{
    bool ok = true;
    for (size_t i = 0; ok && i < p->reasons; i++) {
        char name[64];
        snprintf(name, sizeof name, "gpu.%.50s", p->reason[i]);
        ok = x->cycles[i] == 0 ||
             row_buffer_add(rows, ROW_PROFILE_STALL, kernel, (int64_t)x->offset, "stall", name, "cycles", x->cycles[i]);
    }
    return ok;
}

static bool add_kernel(struct row_buffer *rows, const struct line_profile *p, size_t number)
{
    const struct profile_kernel *const k = &p->kernel[number];
    const int64_t kernel = (int64_t)number;
    bool ok = row_buffer_add(rows, ROW_PROFILE_KERNEL, kernel, k->name, k->timed_share, k->idle_cycles);
    for (size_t i = 0; ok && i < k->files; i++)
        ok = row_buffer_add(rows, ROW_PROFILE_FILE, kernel, (int64_t)i, k->file[i]);
    for (size_t i = 0; ok && i < k->texts; i++)
        ok = row_buffer_add(rows, ROW_PROFILE_TEXT, kernel, (int64_t)k->text[i].file, (int64_t)k->text[i].line, k->text[i].text);
    for (size_t i = 0; ok && i < k->instructions; i++) {
        const struct profile_instruction *const x = &k->instruction[i];
        ok = row_buffer_add(rows, ROW_PROFILE_INSTRUCTION, kernel, (int64_t)x->offset, (int64_t)x->file, (int64_t)x->line,
                            x->text, (int64_t)x->issued, x->lanes, x->units, x->least_units, profile_instruction_cycles(x)) &&
             add_stalls(rows, p, kernel, x);
    }
    return ok;
}

bool db_writer_add_profile(struct row_buffer *rows, const struct line_profile *p)
{
    bool ok = true;
    for (size_t i = 0; p && ok && i < p->kernels; i++)
        ok = add_kernel(rows, p, i);
    for (size_t i = 0; p && ok && i < p->warnings; i++) {
        const struct profile_warning *const w = &p->warning[i];
        ok = row_buffer_add(rows, ROW_PROFILE_WARNING, (int64_t)i + 1, (int64_t)w->kernel, w->kind, w->place, (int64_t)w->file,
                            (int64_t)w->line, (int64_t)w->offset, w->evidence, w->fix);
    }
    return ok;
}

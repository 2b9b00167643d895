#include "sim/base/line_profile.h"

#include <stdlib.h>
#include <string.h>

struct line_profile *line_profile_create(void)
{
    return calloc(1, sizeof(struct line_profile));
}

static void free_kernel(struct profile_kernel *k)
{
    for (size_t i = 0; i < k->instructions; i++)
        free(k->instruction[i].text);
    for (size_t i = 0; i < k->files; i++)
        free(k->file[i]);
    for (size_t i = 0; i < k->texts; i++)
        free(k->text[i].text);
    free(k->name);
    free(k->instruction);
    free(k->file);
    free(k->text);
}

static void free_warning(struct profile_warning *w)
{
    free(w->kind);
    free(w->place);
    free(w->evidence);
    free(w->fix);
}

void line_profile_free(struct line_profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->reasons; i++)
        free(p->reason[i]);
    for (size_t i = 0; i < p->kernels; i++)
        free_kernel(&p->kernel[i]);
    for (size_t i = 0; i < p->warnings; i++)
        free_warning(&p->warning[i]);
    free(p->kernel);
    free(p->warning);
    free(p);
}

static bool copy_kernel(struct line_profile *to, const struct profile_kernel *from)
{
    struct profile_kernel *const k = line_profile_add_kernel(to, from->name);
    if (!k)
        return false;
    k->timed_share = from->timed_share;
    k->idle_cycles = from->idle_cycles;
    bool ok = true;
    for (size_t i = 0; ok && i < from->instructions; i++)
        ok = profile_kernel_add_instruction(k, &from->instruction[i]);
    for (size_t i = 0; ok && i < from->files; i++)
        ok = profile_kernel_add_file(k, from->file[i]);
    for (size_t i = 0; ok && i < from->texts; i++)
        ok = profile_kernel_add_text(k, from->text[i].file, from->text[i].line, from->text[i].text);
    return ok;
}

struct line_profile *line_profile_copy(const struct line_profile *from)
{
    struct line_profile *const to = line_profile_create();
    bool ok = to != NULL;
    for (size_t i = 0; ok && i < from->reasons; i++)
        ok = line_profile_add_reason(to, from->reason[i]);
    for (size_t i = 0; ok && i < from->kernels; i++)
        ok = copy_kernel(to, &from->kernel[i]);
    for (size_t i = 0; ok && i < from->warnings; i++)
        ok = line_profile_add_warning(to, &from->warning[i]);
    if (ok)
        return to;
    line_profile_free(to);
    return NULL;
}

/* ---- adding ---- */

/* The items with room for one more: there is always room for a power of two. NULL, with nothing changed, when memory is out. */
static void *grown(void *items, size_t count, size_t size)
{
    if (count & (count - 1))
        return items;
    return reallocarray(items, count ? 2 * count : 1, size);
}

static bool copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return *to || !from;
}

bool line_profile_add_reason(struct line_profile *p, const char *name)
{
    if (p->reasons == PROFILE_REASONS_MAX || !copy_text(&p->reason[p->reasons], name))
        return false;
    p->reasons++;
    return true;
}

struct profile_kernel *line_profile_add_kernel(struct line_profile *p, const char *name)
{
    struct profile_kernel *const list = grown(p->kernel, p->kernels, sizeof *list);
    if (!list)
        return NULL;
    p->kernel = list;
    list[p->kernels] = (struct profile_kernel){.timed_share = 1};
    return copy_text(&list[p->kernels].name, name) ? &list[p->kernels++] : NULL;
}

bool profile_kernel_add_instruction(struct profile_kernel *k, const struct profile_instruction *instruction)
{
    struct profile_instruction *const list = grown(k->instruction, k->instructions, sizeof *list);
    if (!list)
        return false;
    k->instruction = list;
    k->instruction[k->instructions] = *instruction;
    if (!copy_text(&k->instruction[k->instructions].text, instruction->text))
        return false;
    k->instructions++;
    return true;
}

bool profile_kernel_add_file(struct profile_kernel *k, const char *name)
{
    char **const list = grown(k->file, k->files, sizeof *list);
    if (!list)
        return false;
    k->file = list;
    if (!copy_text(&k->file[k->files], name))
        return false;
    k->files++;
    return true;
}

bool profile_kernel_add_text(struct profile_kernel *k, uint32_t file, uint32_t line, const char *text)
{
    struct profile_text *const list = grown(k->text, k->texts, sizeof *list);
    if (!list)
        return false;
    k->text = list;
    k->text[k->texts] = (struct profile_text){file, line, NULL};
    if (!copy_text(&k->text[k->texts].text, text))
        return false;
    k->texts++;
    return true;
}

bool line_profile_add_warning(struct line_profile *p, const struct profile_warning *w)
{
    struct profile_warning *const list = grown(p->warning, p->warnings, sizeof *list);
    if (!list)
        return false;
    p->warning = list;
    struct profile_warning *const to = &p->warning[p->warnings];
    *to = *w;
    to->kind = to->place = to->evidence = to->fix = NULL;
    if (copy_text(&to->kind, w->kind) && copy_text(&to->place, w->place) && copy_text(&to->evidence, w->evidence) &&
        copy_text(&to->fix, w->fix)) {
        p->warnings++;
        return true;
    }
    free_warning(to);
    return false;
}

/* ---- sums ---- */

double profile_instruction_cycles(const struct profile_instruction *instruction)
{
    double sum = 0;
    for (size_t i = 0; i < PROFILE_REASONS_MAX; i++)
        sum += instruction->cycles[i];
    return sum;
}

double profile_kernel_cycles(const struct profile_kernel *k)
{
    double sum = k->idle_cycles;
    for (size_t i = 0; i < k->instructions; i++)
        sum += profile_instruction_cycles(&k->instruction[i]);
    return sum;
}

uint64_t profile_kernel_issued(const struct profile_kernel *k)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < k->instructions; i++)
        sum += k->instruction[i].issued;
    return sum;
}

/* ---- rows ---- */

bool profile_line_has(const struct profile_kernel *k, const struct profile_line *line, const struct profile_instruction *i)
{
    if (!k->files)
        return i->offset == line->offset;
    return i->line == line->line && (i->file == line->file || i->line == 0);
}

static int by_place(const void *a, const void *b)
{
    const struct profile_line *const x = a, *const y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void add_up(struct profile_line *to, const struct profile_line *from)
{
    to->text = to->text ? to->text : from->text;
    to->offset = from->instructions && (!to->instructions || from->offset < to->offset) ? from->offset : to->offset;
    to->instructions += from->instructions;
    to->issued += from->issued;
    to->all_cycles += from->all_cycles;
    for (size_t i = 0; i < PROFILE_REASONS_MAX; i++)
        to->cycles[i] += from->cycles[i];
}

static struct profile_line of_instruction(const struct profile_kernel *k, const struct profile_instruction *i)
{
    struct profile_line l = {.offset = i->offset, .instructions = 1, .issued = i->issued};
    if (k->files && i->line) {
        l.file = i->file;
        l.line = i->line;
    } else if (!k->files) {
        l.text = i->text;
    }
    memcpy(l.cycles, i->cycles, sizeof l.cycles);
    l.all_cycles = profile_instruction_cycles(i);
    return l;
}

struct profile_line *profile_kernel_lines(const struct profile_kernel *k, size_t *count)
{
    struct profile_line *const line = calloc(k->instructions + k->texts + 1, sizeof *line);
    size_t all = 0, kept = 0;
    *count = 0;
    if (!line)
        return NULL;
    for (size_t i = 0; i < k->instructions; i++)
        line[all++] = of_instruction(k, &k->instruction[i]);
    for (size_t i = 0; i < k->texts; i++)
        line[all++] = (struct profile_line){.file = k->text[i].file, .line = k->text[i].line, .text = k->text[i].text};
    qsort(line, all, sizeof *line, by_place);
    for (size_t i = 0; i < all; i++)
        if (kept && k->files && line[kept - 1].file == line[i].file && line[kept - 1].line == line[i].line)
            add_up(&line[kept - 1], &line[i]);
        else
            line[kept++] = line[i];
    *count = kept;
    return line;
}

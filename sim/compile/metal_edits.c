#include "sim/compile/metal_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct metal_block {
    struct metal_block *next;
    max_align_t bytes[];
};

struct metal_memory {
    struct metal_block *first;
};

static void *block(struct metal_pass *p, size_t bytes)
{
    struct metal_block *b = NULL;
    if (p->memory && bytes < SIZE_MAX / 2)
        b = calloc(1, sizeof *b + bytes);
    if (!b) {
        p->out_of_memory = true;
        return NULL;
    }
    b->next = p->memory->first;
    p->memory->first = b;
    return b->bytes;
}

void *metal_alloc(struct metal_pass *p, size_t bytes)
{
    if (!p->memory)
        p->memory = p->unit->memory = calloc(1, sizeof *p->memory);
    return block(p, bytes);
}

void metal_memory_free(struct metal_memory *memory)
{
    if (!memory)
        return;
    for (struct metal_block *b = memory->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(memory);
}

const char *metal_copy(struct metal_pass *p, const char *text, size_t length)
{
    char *copy = metal_alloc(p, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy ? copy : "";
}

const char *metal_format(struct metal_pass *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : metal_alloc(p, (size_t)length + 1);
    if (!text)
        return "";
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

void *metal_more(struct metal_pass *p, void *array, size_t used, size_t *room, size_t size)
{
    if (used < *room)
        return array;
    const size_t more = *room ? *room * 2 : 64;
    void *grown = metal_alloc(p, more * size);
    if (!grown)
        return NULL;
    if (used)
        memcpy(grown, array, used * size);
    *room = more;
    return grown;
}

bool metal_unmodelled(struct metal_pass *p, uint32_t i, const char *what)
{
    const struct metal_token *t = &p->token[i];
    return orch_fail(p->error, ORCH_UNMODELLED, "%s:%u: %.*s: %s", t->file < p->files ? p->file[t->file] : "source", t->line,
                     (int)t->length, p->text + t->at, what);
}

bool metal_wrong(struct metal_pass *p, uint32_t i, const char *what)
{
    const struct metal_token *t = &p->token[i];
    return orch_fail(p->error, ORCH_USAGE, "%s:%u: %.*s: %s", t->file < p->files ? p->file[t->file] : "source", t->line,
                     (int)t->length, p->text + t->at, what);
}

static void add(struct metal_pass *p, struct metal_edit edit)
{
    struct metal_edit *all = metal_more(p, p->edit, p->edits, &p->edit_room, sizeof *all);
    if (!all)
        return;
    p->edit = all;
    edit.order = (uint32_t)p->edits;
    all[p->edits++] = edit;
}

void metal_remove(struct metal_pass *p, uint32_t at, uint32_t bytes)
{
    add(p, (struct metal_edit){.at = at, .removed = bytes, .rank = UINT32_MAX, .text = ""});
}

void metal_insert(struct metal_pass *p, uint32_t at, const char *text, uint32_t rank)
{
    add(p, (struct metal_edit){.at = at, .text = text, .rank = rank});
}

void metal_insert_before(struct metal_pass *p, uint32_t i, const char *text)
{
    metal_insert(p, p->token[i].at, text, METAL_RANK_OPEN);
}

void metal_insert_after(struct metal_pass *p, uint32_t i, const char *text, uint32_t rank)
{
    metal_insert(p, p->token[i].at + p->token[i].length, text, rank);
}

void metal_replace(struct metal_pass *p, uint32_t first, uint32_t last, const char *text)
{
    const uint32_t at = p->token[first].at;
    add(p, (struct metal_edit){
               .at = at, .removed = p->token[last].at + p->token[last].length - at, .text = text, .rank = UINT32_MAX});
}

/* Insertions at a place come before what is replaced there; of replacements the longest. */
static int before(const void *a, const void *b)
{
    const struct metal_edit *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->removed != y->removed)
        return x->removed > y->removed ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Lines of what goes: their ends and the markers of lines stay, so that the lines behind keep their numbers. */
static void keep_lines(FILE *out, const char *text, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        if (text[i] != '\n')
            continue;
        fputc('\n', out);
        if (i + 2 >= bytes || text[i + 1] != '#' || text[i + 2] != ' ')
            continue;
        while (i + 1 < bytes && text[i + 1] != '\n')
            fputc(text[++i], out);
    }
}

bool metal_apply(struct metal_pass *p, const char *front)
{
    char *text = NULL;
    size_t bytes = 0;
    if (p->edits)
        qsort(p->edit, p->edits, sizeof *p->edit, before);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return orch_no_memory(p->error);
    fputs(front, out);
    uint32_t done = 0;
    for (size_t i = 0; i < p->edits; i++) {
        const struct metal_edit *e = &p->edit[i];
        if (e->at < done)
            continue; /* within what is gone already */
        fwrite(p->text + done, 1, e->at - done, out);
        fputs(e->text, out);
        keep_lines(out, p->text + e->at, e->removed);
        done = e->at + e->removed;
    }
    fwrite(p->text + done, 1, p->bytes - done, out);
    const bool ok = fclose(out) == 0 && !p->out_of_memory;
    p->unit->text = ok ? metal_copy(p, text, bytes) : NULL;
    p->unit->bytes = ok ? bytes : 0;
    free(text);
    return (ok && !p->out_of_memory) || orch_no_memory(p->error);
}

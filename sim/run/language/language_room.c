/* Memory of the caches: a piece for each sequence, or pages of a pool that all take theirs from. */
#include "sim/chip/chip_units.h"
#include "sim/run/language/kind_language.h"
#include "sim/run/language/language_batch.h"

#include <stdio.h>

double language_token_bytes(const struct language_shape *shape, const struct block_format *format)
{
    return (double)shape_cache_bytes(shape, 1) / format->values * format->bytes;
}

double language_memory_bytes(const struct run *run)
{
    struct mem_pool_params memory;
    struct orch_error unused = {0};
    if (!chip_memory(run->request->chip, run->request->memory_gib, &memory, &unused))
        return 0;
    return (double)memory.capacity_bytes * (run->kind->part == PART_GPU ? LANGUAGE_GPU_SHARE : 1);
}

static unsigned pages_of(unsigned tokens, unsigned page)
{
    return (tokens + page - 1) / page;
}

/* Of a sequence where only time is asked for. */
static unsigned tokens_of(const struct language_work *w)
{
    return w->options.generate + (w->model.shape.family->encodes_text ? 0 : w->options.prompt);
}

double language_paged_tokens(const struct language_work *w, unsigned sequences)
{
    const struct language_cache_form *const f = &w->cache;
    return (double)f->page * (f->pages ? f->pages : (double)sequences * pages_of(tokens_of(w), f->page));
}

bool language_room_plan(struct language_work *w, unsigned sequences, struct orch_error *error)
{
    const struct language_cache_form *const f = &w->cache;
    if (!f->page)
        return true;
    const unsigned each = pages_of(tokens_of(w), f->page);
    w->pages = (struct language_pages_use){.pool = f->pages ? f->pages : each * sequences,
                                           .taken = each * sequences,
                                           .tokens = tokens_of(w) * sequences,
                                           .pieces = each};
    return w->pages.taken <= w->pages.pool ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("kv-cache") " %s: sequences of %u tokens take %u pages; there are %u",
                     w->options.kv_cache, tokens_of(w), w->pages.taken, w->pages.pool);
}

/* Pages that were asked for must fit beside the weights; else there are as many as the sequences can fill, or as fit. */
static bool choose_pages(const struct run *run, unsigned lanes, struct language_cache_form *form, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    const struct block_format *const values = block_format_named(run->kind->part == PART_ANE ? "f16" : "f32");
    const double page_bytes = form->page * language_token_bytes(&w->model.shape, form->type ? form->type : values);
    const double memory = language_memory_bytes(run), left = memory - (double)language_model_file_bytes(&w->model);
    const unsigned each = pages_of(w->context, form->page);
    const double fit = memory > 0 && left > 0 ? left / page_bytes : memory > 0 ? 0 : 1e9;
    if (form->pages > fit || each > fit)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("kv-cache") " %s: %u pages of %.1f MiB beside weights of %.1f MiB; memory holds %.0f of them",
            w->options.kv_cache, form->pages ? form->pages : each, page_bytes / 0x1p20,
            (double)language_model_file_bytes(&w->model) / 0x1p20, fit);
    if (!form->pages)
        form->pages = (double)each * lanes < fit ? each * lanes : (unsigned)fit;
    return lanes > 1 || form->pages >= each ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("kv-cache") " %s: a context of %u tokens takes %u pages; there are %u",
                     w->options.kv_cache, w->context, each, form->pages);
}

bool language_room_of(const struct run *run, unsigned lanes, struct language_room *room, struct orch_error *error)
{
    const struct language_work *const w = run->work;
    const struct shape_family *const f = w->model.shape.family;
    const size_t text = w->batch ? language_batch_longest(w->batch) : w->prompt.count;
    const unsigned most = LANGUAGE_SOURCES;
    *room = (struct language_room){.context = w->context,
                                   .lanes = lanes,
                                   .cache = w->cache,
                                   .shards = w->shards.count ? &w->shards : NULL,
                                   .encoded = f->encodes_text ? (unsigned)text
                                              : f->encoder    ? w->model.shape.encoder_context
                                                              : 0,
                                   .sources = w->options.batch > 1 && lanes > 1 ? lanes < most ? lanes : most : 1};
    return !room->cache.page || choose_pages(run, lanes, &room->cache, error);
}

void language_room_tell(struct language_work *w, const struct language_stepper *stepper)
{
    const struct language_pages *const pages = language_stepper_pages(stepper);
    w->weight_bytes = language_stepper_weight_bytes(stepper);
    w->cache_bytes = language_stepper_cache_bytes(stepper);
    w->halves = *language_stepper_halves(stepper);
    if (pages)
        w->pages = language_pages_use(pages);
}

bool language_room_count(const struct language_work *w, struct run_result *r)
{
    const struct language_pages_use *const u = &w->pages;
    const double page_bytes = u->pool ? (double)w->cache_bytes / u->pool : 0;
    const double unused = (u->taken - (double)u->tokens / (w->cache.page ? w->cache.page : 1)) * page_bytes;
    if (!w->cache.page || !u->pool)
        return true;
    char text[160];
    snprintf(text, sizeof text,
             "keys and values lie in pages of %u tokens, whose numbers kernels read from a table; cores fill it in no time",
             w->cache.page);
    return run_values_add(&r->counters, LANGUAGE_PAGES, u->pool) &&
           run_values_add(&r->counters, LANGUAGE_PAGES_TAKEN, u->taken) &&
           run_values_add(&r->counters, LANGUAGE_PAGE_UNUSED_BYTES, unused) &&
           run_values_add(&r->counters, LANGUAGE_PAGE_PIECES, u->pieces) &&
           run_assumption_add(&r->assumptions, "pages", "inferred", text);
}

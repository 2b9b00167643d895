#include "sim/ask/study/question.h"

#include "isa/array_count.h"
#include "sim/workload/amx/kernel.h"
#include "sim/run/run_version.h"

#include <stdlib.h>
#include <string.h>

static const char *detail_word(const struct run_request *q)
{
    return !q->detail || strcmp(q->detail, "auto") == 0 ? "op" : q->detail;
}

static void add_request(struct content_hash *h, const struct run_request *q)
{
    const uint64_t numbers[] = {q->cores ? q->cores : 1,   q->core_choice, q->skip_cores, q->other_cores, q->memory_gib, q->cold,
                                q->repeat ? q->repeat : 1, q->seed};
    const char *const texts[] = {q->workload,    q->unit ? q->unit : "auto",    q->precision,
                                 detail_word(q), q->home ? q->home : "process", q->entry,
                                 q->programs};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        content_hash_add_text(h, texts[i]);
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
        content_hash_add_integer(h, numbers[i]);
    if (q->evict || q->one_buffer)
        content_hash_add_text(h, q->evict && q->one_buffer ? "evict, one buffer" : q->evict ? "evict" : "one buffer");
    if (q->present) {
        content_hash_add_text(h, "present");
        content_hash_add_integer(h, q->present);
    }
    if (q->idle_s > 0)
        content_hash_add_number(h, q->idle_s);
    if (q->burst.buffers || q->burst.launches) {
        content_hash_add_integer(h, q->burst.buffers);
        content_hash_add_integer(h, q->burst.launches);
    }
    if (q->kernels) { /* dispatch rules may look at the name of the chip */
        content_hash_add_text(h, q->kernels);
        content_hash_add_text(h, chip_id(q->chip));
    }
}

/* Adds programs, their arguments and input files by their contents. */
static bool add_files(struct content_hash *h, const struct run_request *request, struct orch_error *error)
{
    struct run_request q = *request;
    q.detail = NULL;
    q.known = NULL;
    struct run *const run = run_prepare(&q, error);
    if (!run)
        return false;
    content_hash_add_text(h, run_begin_event(run)->program_hash);
    content_hash_add_text(h, run_begin_event(run)->options);
    run_free(run);
    return true;
}

bool question_hash(const struct run_request *request, char hash[CONTENT_HASH_SIZE], struct orch_error *error)
{
    struct content_hash h;
    content_hash_begin(&h);
    add_request(&h, request);
    if ((!kernel_is_workload(request->workload) || run_is_network(request->workload) || request->input_count) &&
        !add_files(&h, request, error))
        return false;
    content_hash_end(&h, hash);
    return true;
}

static enum orch_part part_of(const struct run_request *q)
{
    enum orch_part part = PART_SOC; /* a program may use several units */
    const bool split = q->policy && run_is_network_policy(q->policy);
    if (kernel_is_workload(q->workload) && !run_is_network(q->workload) && !split)
        return run_kernel_part(q);
    for (enum orch_part p = 0; q->unit && p < PART_COUNT; p++)
        if (strcmp(q->unit, orch_part_name(p)) == 0)
            part = p;
    return part;
}

bool question_open(struct question *o, const struct run_request *q, const char *hash, struct orch_error *error)
{
    const bool kernel = kernel_is_workload(q->workload);
    const char *const colon = kernel ? strchr(q->workload, ':') : NULL, *const slash = kernel ? NULL : strrchr(q->workload, '/');
    memcpy(o->hash, hash, sizeof o->hash);
    o->part = part_of(q);
    o->kernel = colon ? strndup(q->workload, (size_t)(colon - q->workload)) : strdup(slash ? slash + 1 : q->workload);
    o->shape = strdup(colon ? colon + 1 : "");
    o->precision = strdup(q->precision ? q->precision : "");
    o->detail = strdup(detail_word(q));
    if (o->kernel && o->shape && o->precision && o->detail)
        return true;
    question_close(o);
    return orch_no_memory(error);
}

void question_close(struct question *o)
{
    free(o->kernel);
    free(o->shape);
    free(o->precision);
    free(o->detail);
    *o = (struct question){0};
}

struct db_characteristic_key question_key(const struct question *o)
{
    return (struct db_characteristic_key){.program_hash = o->hash,
                                          .kernel = o->kernel,
                                          .shape = o->shape,
                                          .precision = o->precision,
                                          .detail = o->detail,
                                          .version = run_model_version(),
                                          .part = o->part};
}

/* Runs a program: tasks in chain order, faults, and what is kept between tasks. */
#include "isa/array_count.h"
#include "units/ane/ane_internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { HALF_VALUES = 65536, THREADS_MAX = 64, THREAD_LEAST = 4096 /* elements that justify a thread */ };

const struct ane_numeric *ane_numeric_default(void)
{
    static const struct ane_numeric m1 = {.mac_group = 4,
                                          .mac_group_bits = 12,
                                          .mac_flush_denormals = 1,
                                          .mac_overflow = 32768,
                                          .nan_to_infinity = 1,
                                          .negative_zero = 0,
                                          .width_crop_gain = 16};
    return &m1;
}

static const struct ane_kernel_set *set_named(const char *name)
{
    static const struct ane_kernel_set *const sets[] = {
#if defined(__x86_64__)
        &ane_set_avx512,
        &ane_set_avx2,
#endif
        &ane_set_portable,
        &ane_set_reference
    };
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        if ((!name || strcmp(sets[i]->name, name) == 0) && sets[i]->usable())
            return sets[i];
    return NULL;
}

/* The least float that rounds to an fp16 number of at least `limit`. */
static float rounds_to(double limit)
{
    if (!(limit > 0) || limit > 65504)
        return INFINITY;
    uint16_t bits = ane_float_to_half((float)limit);
    if ((double)ane_half_to_float(bits) < limit)
        bits++;
    if (bits == 0 || bits >= ANE_HALF_INFINITY)
        return INFINITY;
    const float middle = (ane_half_to_float(bits) + ane_half_to_float((uint16_t)(bits - 1))) / 2;
    return bits & 1 ? nextafterf(middle, INFINITY) : middle; /* a tie goes to the even one */
}

struct ane_core *ane_core_create(const struct ane_numeric *numeric, uint32_t l2_bytes)
{
    struct ane_core *core = calloc(1, sizeof *core);
    if (!core)
        return NULL;
    core->numeric = numeric ? *numeric : *ane_numeric_default();
    core->set = set_named(NULL);
    core->l2_bytes = l2_bytes;
    core->l2 = calloc(1, l2_bytes ? l2_bytes : 1);
    core->map = malloc(HALF_VALUES * sizeof *core->map);
    core->mac_limit = rounds_to(core->numeric.mac_overflow);
    const uint32_t bits = core->numeric.mac_group_bits;
    core->group_align = ldexpf(1, 24 - (int)(bits < 2 ? 2 : bits > 22 ? 22 : bits));
    if (core->l2 && core->map)
        return core;
    ane_core_free(core);
    return NULL;
}

void ane_core_free(struct ane_core *core)
{
    if (!core)
        return;
    free(core->l2);
    free(core->map);
    free(core->ring.byte);
    free(core->next_ring.byte);
    free(core);
}

bool ane_core_use(struct ane_core *core, const char *name)
{
    const struct ane_kernel_set *set = set_named(name);
    if (set)
        core->set = set;
    return set != NULL;
}

/* ---- faults ---- */

bool ane_fault(struct ane_job *job, enum unit_fault_kind kind, uint64_t address, const char *format, ...)
{
    struct unit_fault *f = job->fault;
    *f = (struct unit_fault){.kind = kind, .pc = job->offset, .address = address};
    const int used = snprintf(f->text, sizeof f->text, "task %u, ", (unsigned)job->task->id);
    va_list list;
    va_start(list, format);
    vsnprintf(f->text + used, sizeof f->text - (size_t)used, format, list);
    va_end(list);
    return false;
}

bool ane_fault_memory(struct ane_job *job)
{
    return ane_fault(job, UNIT_FAULT_UNMAPPED, 0, "the host has no memory for a tensor of this size");
}

/* ---- threads ---- */

struct part {
    pthread_t thread;
    ane_work work;
    void *context;
    uint64_t first, end;
    bool started, ok;
};

static void *run_part(void *argument)
{
    struct part *p = argument;
    p->ok = p->work(p->context, p->first, p->end);
    return NULL;
}

bool ane_parallel(unsigned threads, uint64_t count, ane_work work, void *context)
{
    struct part part[THREADS_MAX];
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > count)
        threads = (unsigned)count;
    if (threads <= 1)
        return !count || work(context, 0, count);
    bool ok = true;
    for (unsigned i = 0; i < threads; i++) {
        part[i] = (struct part){.work = work, .context = context, .first = count * i / threads, .end = count * (i + 1) / threads};
        part[i].started = i && pthread_create(&part[i].thread, NULL, run_part, &part[i]) == 0;
    }
    for (unsigned i = 0; i < threads; i++)
        if (!part[i].started)
            run_part(&part[i]);
    for (unsigned i = 0; i < threads; i++) {
        if (part[i].started)
            pthread_join(part[i].thread, NULL);
        ok &= part[i].ok;
    }
    return ok;
}

/* ---- tasks of one operand ---- */

struct unary_run {
    struct ane_job *job;
    ane_unary unary;
    bool mapped;
    uint32_t channels, height, width;
    uint64_t clamped; /* atomic */
};

static void row_at(const struct unary_run *u, uint64_t index, uint32_t *group, uint32_t *channel, uint32_t *row)
{
    *row = (uint32_t)(index % u->height);
    *channel = (uint32_t)(index / u->height % u->channels);
    *group = (uint32_t)(index / u->height / u->channels);
}

static uint64_t map_row(const struct unary_run *u, const uint8_t *from, uint8_t *to)
{
    const uint32_t *map = u->job->core->map;
    uint64_t clamped = 0;
    for (uint32_t i = 0; i < u->width; i++) {
        uint16_t bits;
        memcpy(&bits, from + 2 * (size_t)i, sizeof bits);
        const uint32_t entry = map[bits];
        const uint16_t result = (uint16_t)entry;
        memcpy(to + 2 * (size_t)i, &result, sizeof result);
        clamped += entry >> 16;
    }
    return clamped;
}

static bool unary_rows(void *context, uint64_t first, uint64_t end)
{
    struct unary_run *u = context;
    const struct ane_job *job = u->job;
    float *value = u->mapped ? NULL : malloc(u->width * sizeof *value);
    if (!u->mapped && !value)
        return false;
    uint64_t clamped = 0;
    for (uint64_t i = first; i < end; i++) {
        uint32_t group, channel, row;
        row_at(u, i, &group, &channel, &row);
        if (u->mapped) {
            clamped += map_row(u, ane_dma_row(&job->source, group, channel, row), ane_dma_row(&job->result, group, channel, row));
            continue;
        }
        ane_dma_load(job->core, &job->source, group, channel, row, u->width, false, value);
        clamped += u->unary(job, value, u->width);
        ane_dma_store(job->core, &job->result, group, channel, row, u->width, value);
    }
    free(value);
    __atomic_fetch_add(&u->clamped, clamped, __ATOMIC_RELAXED);
    return true;
}

static void fill_map(const struct ane_job *job, ane_unary unary)
{
    for (uint32_t bits = 0; bits < HALF_VALUES; bits++) {
        float value = ane_operand_value(&job->core->numeric, (uint16_t)bits);
        const uint64_t clamped = unary(job, &value, 1);
        job->core->map[bits] = ane_result_bits(&job->core->numeric, value) | (clamped ? 1u << 16 : 0);
    }
}

static bool shared_room(const struct ane_operand *a, const struct ane_operand *b)
{
    return a->place == b->place && a->place != ANE_PLACE_CHAIN && (a->place != ANE_PLACE_DRAM || a->bar == b->bar);
}

/* True when rows of the result certainly do not overlap, in the order of rows, planes, groups. */
static bool rows_apart(const struct ane_job *job)
{
    const struct ane_task *t = job->task;
    const struct ane_view *v = &job->result;
    const uint64_t row = (uint64_t)t->width_out * v->interleave * ane_format_bytes(v->format);
    const uint64_t plane = (t->height_out - 1) * v->row + row;
    const uint64_t group = (t->channels_out - 1) / v->interleave * v->plane + plane;
    return (t->height_out == 1 || v->row >= row) && (t->channels_out == 1 || v->plane >= plane) &&
           (job->outer == 1 || v->group >= group);
}

unsigned ane_store_threads(const struct ane_job *job)
{
    return rows_apart(job) ? job->threads : 1;
}

unsigned ane_row_threads(const struct ane_job *job, uint64_t elements)
{
    const struct ane_task *t = job->task;
    if (elements < THREAD_LEAST || shared_room(&t->source, &t->result) || shared_room(&t->second, &t->result))
        return 1;
    return ane_store_threads(job);
}

bool ane_run_unary(struct ane_job *job, ane_unary unary)
{
    const struct ane_task *t = job->task;
    struct unary_run u = {
        .job = job, .unary = unary, .channels = t->channels_out, .height = t->height_out, .width = t->width_out};
    const uint64_t rows = (uint64_t)job->outer * u.channels * u.height, elements = rows * u.width;
    u.mapped = elements >= 2 * HALF_VALUES && job->source.format == ANE_F16 && job->result.format == ANE_F16 &&
               job->source.interleave == 1 && job->result.interleave == 1 && !job->source.broadcast_width &&
               job->source.crop_gain == 0;
    if (u.mapped)
        fill_map(job, unary);
    job->counts->elements += elements;
    if (!ane_parallel(ane_row_threads(job, elements), rows, unary_rows, &u))
        return ane_fault_memory(job);
    job->counts->table_clamped += u.clamped;
    return true;
}

/* ---- the chain ---- */

static bool find_coefficients(struct ane_job *job)
{
    const struct ane_request *r = job->request;
    const struct ane_program *p = r->program;
    unsigned bar = job->task->coefficient_bar ? job->task->coefficient_bar : 1;
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (p->port[i].kind == ANE_PORT_COEFFICIENTS)
            bar = i;
    job->coefficients = p->bytes ? p->bytes + p->const_offset : NULL;
    job->coefficient_bytes = p->bytes ? p->const_bytes : 0;
    if (bar >= ANE_BARS || !r->address[bar] || !r->bytes[bar])
        return true;
    job->coefficients = mem_at(r->space, r->address[bar], r->bytes[bar], MEM_READ);
    job->coefficient_bytes = r->bytes[bar];
    return job->coefficients || ane_fault(job, UNIT_FAULT_UNMAPPED, r->address[bar], "coefficients: memory that cannot be read");
}

static bool run_task(struct ane_job *job)
{
    const struct ane_task *t = job->task;
    job->outer = t->engine == ANE_ENGINE_PE && t->groups ? t->groups : 1;
    if (!find_coefficients(job) || !ane_dma_open(job))
        return false;
    bool ok;
    if (t->engine == ANE_ENGINE_PE)
        ok = ane_run_planar(job);
    else if (t->ne_op == ANE_NE_ELEMENT)
        ok = ane_run_element(job);
    else
        ok = ane_run_mac(job);
    if (ok)
        ane_dma_close(job);
    job->counts->tasks++;
    return ok;
}

bool ane_core_run(struct ane_core *core, const struct ane_request *request, unsigned threads, struct ane_exec_counts *counts,
                  struct unit_fault *fault)
{
    struct ane_exec_counts own = {0};
    const struct ane_program *p = request->program;
    core->ring.bytes = 0;
    *fault = (struct unit_fault){0};
    for (size_t i = 0; i < p->count; i++) {
        struct ane_job job = {.core = core,
                              .request = request,
                              .task = &p->task[i],
                              .offset = p->td_offset ? p->td_offset[i] : 0,
                              .threads = threads ? threads : 1,
                              .counts = counts ? counts : &own,
                              .fault = fault};
        if (!run_task(&job))
            return false;
    }
    return true;
}

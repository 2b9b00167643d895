#include "sim/workload/amx/amx_timer.h"

#include "sim/workload/amx/scalar_trace.h"
#include "units/amx/kernels/amx_intrinsics.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE 16 /* pieces of work that may wait */

enum work_kind { WORK_BATCH, WORK_PASSES, WORK_COPY, WORK_TRANSPOSE, WORK_END };

struct scalar_work {
    uint64_t dst, dst_row, src, src_row;
    uint32_t rows, row_bytes, vectors, count, element_bytes;
};

struct work {
    enum work_kind kind;
    uint32_t count; /* WORK_BATCH */
    union {
        struct {
            uint8_t op[AMX_CTX_BATCH];
            uint64_t operand[AMX_CTX_BATCH];
        } batch;
        struct amx_passes passes;
        struct scalar_work scalar;
    } u;
};

struct amx_timer {
    struct soc_core *core;
    struct scalar_trace *scalar;
    _Atomic double now_ns; /* when the core can send its next AMX instruction */
    double send_step_ns;   /* between two sends */
    bool samples, skipped; /* the latest piece was */
    struct core_sample sample;
    unsigned last_kind;                  /* of the piece before */
    uint64_t last_operand[AMX_PASS_MAX]; /* of the loop before */
    bool apart;                          /* a thread is wanted */
    bool threaded;                       /* it runs */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct work *queue; /* ring of QUEUE pieces, when a thread is wanted */
    uint64_t put, taken;
};

struct amx_timer *amx_timer_create(struct soc_core *core, bool apart)
{
    struct amx_timer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->core = core;
    t->apart = apart;
    t->scalar = scalar_trace_create();
    t->queue = apart ? calloc(QUEUE, sizeof *t->queue) : NULL;
    if (t->scalar && (t->queue || !apart) && pthread_mutex_init(&t->lock, NULL) == 0) {
        if (pthread_cond_init(&t->changed, NULL) == 0)
            return t;
        pthread_mutex_destroy(&t->lock);
    }
    scalar_trace_free(t->scalar);
    free(t->queue);
    free(t);
    return NULL;
}

void amx_timer_free(struct amx_timer *t)
{
    if (!t)
        return;
    if (t->threaded)
        amx_timer_finish(t);
    cpu_timing_forget_blocks(t->core->timing); /* the scalar trace owns them */
    scalar_trace_free(t->scalar);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t->queue);
    free(t);
}

double amx_timer_now(const struct amx_timer *t)
{
    return atomic_load_explicit(&t->now_ns, memory_order_relaxed);
}

static void set_now(struct amx_timer *t, double now_ns)
{
    atomic_store_explicit(&t->now_ns, now_ns, memory_order_relaxed);
}

/* ---- timing ---- */

/* Kinds of work have paces of their own. Those that come behind other work, and loops of which no operand comes from where those
 * of the loop before came from, find the caches in another state: they are kinds of a second set. */
enum { ANEW = WORK_END };
_Static_assert(2 * ANEW <= CORE_SAMPLE_KINDS, "a pace for each");

static unsigned kind_of_passes(struct amx_timer *t, const struct amx_passes *passes)
{
    bool again = false;
    for (uint32_t i = 0; i < passes->length; i++) {
        again |= passes->step[i] && passes->operand[i] == t->last_operand[i];
        t->last_operand[i] = passes->operand[i];
    }
    return again ? WORK_PASSES : WORK_PASSES + ANEW;
}

static unsigned kind_of_scalar(const struct amx_timer *t, enum work_kind kind)
{
    return t->last_kind % ANEW == kind ? kind : kind + ANEW;
}

/* True when a piece of work is skipped, as was told to the sample. Otherwise *before is set for end_piece. */
static bool skips_piece(struct amx_timer *t, unsigned kind, double work, struct core_reading *before)
{
    if (!t->samples)
        return false;
    t->last_kind = kind;
    if (core_sample_times(&t->sample, kind)) {
        if (t->skipped)
            soc_core_resume(t->core, amx_timer_now(t));
        t->skipped = false;
        core_reading_take(before, t->core, amx_timer_now(t));
        return false;
    }
    t->skipped = true;
    core_sample_skipped(&t->sample, kind, work);
    return true;
}

static void end_piece(struct amx_timer *t, unsigned kind, double work, const struct core_reading *before)
{
    struct core_reading after;
    if (!t->samples)
        return;
    core_reading_take(&after, t->core, amx_timer_now(t));
    core_sample_timed(&t->sample, kind, work, before, &after);
}

static void time_batch(struct amx_timer *t, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    struct core_reading before;
    if (skips_piece(t, WORK_BATCH, count, &before)) {
        soc_core_skip_amx_batch(t->core, amx_timer_now(t), op, operand, count);
        return;
    }
    set_now(t, soc_core_send_amx_batch(t->core, amx_timer_now(t), t->send_step_ns, op, operand, count));
    end_piece(t, WORK_BATCH, count, &before);
}

static void time_passes(struct amx_timer *t, const struct amx_passes *passes)
{
    const double work = (double)passes->passes * passes->length;
    const unsigned kind = kind_of_passes(t, passes);
    struct core_reading before;
    if (skips_piece(t, kind, work, &before)) {
        soc_core_skip_amx_passes(t->core, amx_timer_now(t), passes);
        return;
    }
    set_now(t, soc_core_send_amx_passes(t->core, amx_timer_now(t), t->send_step_ns, passes));
    end_piece(t, kind, work, &before);
}

/* The part that the host's loops play, on the core. */
static void trace_scalar(struct amx_timer *t, enum work_kind kind, const struct scalar_work *w, bool timed)
{
    struct cpu_timing *const timing = t->core->timing;
    scalar_trace_time(t->scalar, timed);
    if (kind == WORK_COPY)
        scalar_trace_copy(t->scalar, timing, w->dst, w->dst_row, w->src, w->src_row, w->rows, w->row_bytes);
    else
        scalar_trace_transpose(t->scalar, timing, w->dst, w->dst_row, w->src, w->src_row, w->vectors, w->count, w->element_bytes);
}

/* Roughly the instructions: some two for 16 bytes that are copied, three where they are transposed. */
static double scalar_work_of(enum work_kind kind, const struct scalar_work *w)
{
    if (kind == WORK_COPY)
        return w->rows * (9 + 9.0 * w->row_bytes / 64);
    return 3.0 * w->vectors * w->count * w->element_bytes / 16;
}

static void time_scalar(struct amx_timer *t, enum work_kind kind, const struct scalar_work *w)
{
    const unsigned sampled = kind_of_scalar(t, kind);
    const double work = scalar_work_of(kind, w);
    struct core_reading before;
    if (skips_piece(t, sampled, work, &before)) {
        trace_scalar(t, kind, w, false);
        return;
    }
    cpu_timing_wait_until(t->core->timing, amx_timer_now(t), CPU_STALL_AMX);
    trace_scalar(t, kind, w, true);
    set_now(t, fmax(amx_timer_now(t), cpu_timing_now(t->core->timing)));
    end_piece(t, sampled, work, &before);
}

static void time_work(struct amx_timer *t, const struct work *w)
{
    switch (w->kind) {
    case WORK_BATCH: time_batch(t, w->u.batch.op, w->u.batch.operand, w->count); break;
    case WORK_PASSES: time_passes(t, &w->u.passes); break;
    case WORK_COPY:
    case WORK_TRANSPOSE: time_scalar(t, w->kind, &w->u.scalar); break;
    case WORK_END: break;
    }
}

/* ---- the thread ---- */

static void *run(void *context)
{
    struct amx_timer *t = context;
    for (bool going = true; going;) {
        pthread_mutex_lock(&t->lock);
        while (t->taken == t->put)
            pthread_cond_wait(&t->changed, &t->lock);
        const struct work *w = &t->queue[t->taken % QUEUE];
        pthread_mutex_unlock(&t->lock);
        going = w->kind != WORK_END;
        time_work(t, w);
        pthread_mutex_lock(&t->lock);
        t->taken++;
        pthread_cond_signal(&t->changed);
        pthread_mutex_unlock(&t->lock);
    }
    return NULL;
}

/* Returns the piece to fill in; only this thread does so. */
static struct work *next_work(struct amx_timer *t, enum work_kind kind)
{
    pthread_mutex_lock(&t->lock);
    while (t->put - t->taken == QUEUE)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    struct work *w = &t->queue[t->put % QUEUE];
    w->kind = kind;
    return w;
}

static void hand_over(struct amx_timer *t)
{
    pthread_mutex_lock(&t->lock);
    t->put++;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* ---- the interface ---- */

void amx_timer_start(struct amx_timer *t, double now_ns)
{
    set_now(t, now_ns);
    t->send_step_ns = soc_core_send_step_ns(t->core);
    t->put = t->taken = 0;
    /* Where the host has no thread to give, the timing is done at once. */
    t->threaded = t->apart && pthread_create(&t->thread, NULL, run, t) == 0;
}

void amx_timer_batch(struct amx_timer *t, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    if (!t->threaded) {
        time_batch(t, op, operand, count);
        return;
    }
    struct work *w = next_work(t, WORK_BATCH);
    w->count = count;
    memcpy(w->u.batch.op, op, count * sizeof op[0]);
    memcpy(w->u.batch.operand, operand, count * sizeof operand[0]);
    hand_over(t);
}

void amx_timer_passes(struct amx_timer *t, const struct amx_passes *passes)
{
    if (!t->threaded) {
        time_passes(t, passes);
        return;
    }
    next_work(t, WORK_PASSES)->u.passes = *passes;
    hand_over(t);
}

static void scalar(struct amx_timer *t, enum work_kind kind, const struct scalar_work *scalar)
{
    if (!t->threaded) {
        time_scalar(t, kind, scalar);
        return;
    }
    next_work(t, kind)->u.scalar = *scalar;
    hand_over(t);
}

void amx_timer_copy(struct amx_timer *t, uint64_t dst, uint64_t dst_row, uint64_t src, uint64_t src_row, uint32_t rows,
                    uint32_t row_bytes)
{
    const struct scalar_work work = {
        .dst = dst, .dst_row = dst_row, .src = src, .src_row = src_row, .rows = rows, .row_bytes = row_bytes};
    scalar(t, WORK_COPY, &work);
}

void amx_timer_transpose(struct amx_timer *t, uint64_t dst, uint64_t dst_row, uint64_t src, uint64_t src_row, uint32_t vectors,
                         uint32_t count, uint32_t element_bytes)
{
    const struct scalar_work work = {.dst = dst,
                                     .dst_row = dst_row,
                                     .src = src,
                                     .src_row = src_row,
                                     .vectors = vectors,
                                     .count = count,
                                     .element_bytes = element_bytes};
    scalar(t, WORK_TRANSPOSE, &work);
}

void amx_timer_sample(struct amx_timer *t, const struct core_sample_shape *shape)
{
    struct core_sample_shape with_rare = *shape;
    with_rare.rare = ANEW;
    t->samples = true;
    core_sample_begin(&t->sample, &with_rare);
}

struct core_sampled amx_timer_sampled(struct amx_timer *t)
{
    return t->samples ? core_sample_end(&t->sample) : (struct core_sampled){.sampled = false};
}

double amx_timer_finish(struct amx_timer *t)
{
    if (t->threaded) {
        next_work(t, WORK_END);
        hand_over(t);
        pthread_join(t->thread, NULL);
        t->threaded = false;
    }
    cpu_timing_wait_until(t->core->timing, amx_timer_now(t), CPU_STALL_AMX);
    set_now(t, fmax(amx_timer_now(t), soc_core_done_at(t->core)));
    return amx_timer_now(t);
}

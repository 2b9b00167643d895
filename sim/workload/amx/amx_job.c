#include "sim/workload/amx/amx_job.h"

#include "sim/workload/amx/amx_timer.h"
#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MIN 8 /* loops with fewer passes left are sent like any other instructions */

struct amx_job {
    struct amx_ctx ctx;
    struct kernel_call call;
    struct kernel_data data;
    struct mem_space *space;
    struct amx_core *unit;
    struct amx_timer *timer; /* NULL in mode FUNCTIONAL */
    enum amx_job_mode mode;
    struct unit_fault fault;
    uint64_t instructions, op_count[32];
    double start_ns;
    const struct work_progress *progress;
    const char *doing;
};

static bool wants_values(const struct amx_job *j)
{
    return j->mode != AMX_JOB_TIMING;
}

static bool wants_time(const struct amx_job *j)
{
    return j->mode != AMX_JOB_FUNCTIONAL;
}

static void execute_batch(struct amx_job *j)
{
    const struct amx_ctx *c = &j->ctx;
    if (j->fault.kind == UNIT_FAULT_NONE) /* after a fault the rest of the kernel has no effect */
        amx_core_execute_list(j->unit, c->op, c->operand, c->count, &j->fault);
}

/* Counts how often `op` occurs, sixteen bytes at a time. */
static uint32_t count_op(const uint8_t *ops, uint32_t count, uint8_t op)
{
    typedef uint8_t lanes __attribute__((vector_size(16)));
    uint32_t sum = 0, n = 0;
    while (n + sizeof(lanes) <= count) {
        lanes matches = {0};
        for (unsigned rows = 0; rows < 255 && n + sizeof(lanes) <= count; rows++, n += sizeof(lanes)) {
            lanes v;
            memcpy(&v, ops + n, sizeof v);
            matches -= (lanes)(v == op);
        }
        for (unsigned i = 0; i < sizeof(lanes); i++)
            sum += matches[i];
    }
    for (; n < count; n++)
        sum += ops[n] == op;
    return sum;
}

static void count_ops(struct amx_job *j, const uint8_t *ops, uint32_t count)
{
    uint32_t left = count;
    for (uint8_t op = 0; op < 32 && left > 0; op++) {
        const uint32_t times = count_op(ops, count, op);
        left -= times;
        j->op_count[op] += times;
    }
}

static void flush(struct amx_ctx *ctx)
{
    struct amx_job *j = ctx->owner;
    count_ops(j, ctx->op, ctx->count);
    j->instructions += ctx->count;
    if (wants_values(j))
        execute_batch(j);
    if (wants_time(j))
        amx_timer_batch(j->timer, ctx->op, ctx->operand, ctx->count);
    ctx->count = 0;
    work_progress_tell(j->progress, j->doing, NAN, wants_time(j) ? amx_timer_now(j->timer) : 0);
}

/* The batch ends with two passes of a loop, at `first` and `second`; the `left` passes that remain are like them. Returns 0 when
 * the loop must be sent instruction by instruction. */
static int run_passes(struct amx_ctx *ctx, uint32_t first, uint32_t second, uint32_t left)
{
    struct amx_job *j = ctx->owner;
    struct amx_passes passes;
    const uint32_t length = second - first;
    if (left < PASSES_MIN || !amx_passes_of(&passes, ctx->op + first, ctx->operand + first, length, left + 2))
        return 0;
    ctx->count = first;
    flush(ctx);
    for (uint32_t i = 0; i < length; i++)
        j->op_count[passes.op[i]] += passes.passes;
    j->instructions += (uint64_t)passes.passes * length;
    if (wants_values(j) && j->fault.kind == UNIT_FAULT_NONE)
        amx_core_execute_passes(j->unit, &passes, &j->fault);
    if (wants_time(j))
        amx_timer_passes(j->timer, &passes);
    return 1;
}

static uint64_t simulated(const struct amx_job *j, const void *host)
{
    return (uint64_t)((const uint8_t *)host - j->space->host);
}

static void note_copy(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row, uint32_t rows,
                      uint32_t row_bytes)
{
    struct amx_job *j = ctx->owner;
    if (!wants_time(j))
        return;
    amx_timer_copy(j->timer, simulated(j, dst), dst_row, simulated(j, src), src_row, rows, row_bytes);
}

static void note_transpose(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row,
                           uint32_t vectors, uint32_t count, uint32_t element_bytes)
{
    struct amx_job *j = ctx->owner;
    if (!wants_time(j))
        return;
    amx_timer_transpose(j->timer, simulated(j, dst), dst_row, simulated(j, src), src_row, vectors, count, element_bytes);
}

struct amx_job *amx_job_create(const struct kernel_call *call, const struct kernel_data *data, struct mem_space *space,
                               enum amx_gen gen, struct soc_core *core, enum amx_job_mode mode, unsigned threads,
                               struct orch_error *error)
{
    struct amx_job *j = calloc(1, sizeof *j);
    if (j) {
        j->call = *call;
        j->data = *data;
        j->space = space;
        j->mode = mode;
        j->unit = amx_core_create(gen, space, AMX_PATH_FAST);
        j->timer = mode == AMX_JOB_FUNCTIONAL ? NULL : amx_timer_create(core, threads > 1);
        j->ctx = (struct amx_ctx){.host_base = (uint64_t)(uintptr_t)space->host,
                                  .flush = flush,
                                  .passes = run_passes,
                                  .copy = note_copy,
                                  .transpose = note_transpose,
                                  .owner = j};
    }
    if (j && j->unit && (j->timer || mode == AMX_JOB_FUNCTIONAL))
        return j;
    amx_job_free(j);
    orch_no_memory(error);
    return NULL;
}

void amx_job_free(struct amx_job *j)
{
    if (!j)
        return;
    amx_core_free(j->unit);
    amx_timer_free(j->timer);
    free(j);
}

/* Kernels take pointers of the machine they run on: here, host pointers into the simulated memory. */
static uint64_t home(const struct amx_job *j, uint64_t address)
{
    return (uint64_t)(uintptr_t)(j->space->host + address);
}

static struct gemm_args gemm_at_home(const struct amx_job *j)
{
    struct gemm_args a = j->data.args.gemm;
    a.a = home(j, a.a);
    a.b = home(j, a.b);
    a.c = home(j, a.c);
    a.workspace = home(j, a.workspace);
    return a;
}

void amx_job_load(struct amx_job *job)
{
    const struct gemm_args a = gemm_at_home(job);
    gemm_load(&job->ctx, &a);
}

static void run_kernel(struct amx_job *j)
{
    if (strcmp(j->call.info->name, "gemv") == 0) {
        struct gemv_args a = j->data.args.gemv;
        a.a = home(j, a.a);
        a.x = home(j, a.x);
        a.y = home(j, a.y);
        a.workspace = home(j, a.workspace);
        gemv_run(&j->ctx, &a);
    } else {
        const struct gemm_args a = gemm_at_home(j);
        gemm_run(&j->ctx, &a);
    }
    if (j->ctx.count)
        flush(&j->ctx);
}

static double job_now(void *context)
{
    const struct amx_job *j = context;
    return wants_time(j) ? amx_timer_now(j->timer) : j->start_ns;
}

static void job_start(void *context, double now_ns)
{
    struct amx_job *j = context;
    j->start_ns = now_ns;
    if (wants_time(j))
        amx_timer_start(j->timer, now_ns);
}

static enum engine_progress job_step(void *context, double limit_ns, struct orch_error *error)
{
    struct amx_job *j = context;
    (void)limit_ns; /* a library kernel runs in one go: it shares its block with nobody */
    run_kernel(j);
    if (wants_time(j))
        amx_timer_finish(j->timer);
    if (j->fault.kind != UNIT_FAULT_NONE) {
        orch_fail(error, ORCH_INTERNAL, "the library's own kernel faulted: %s", j->fault.text);
        return ENGINE_FAILED;
    }
    return ENGINE_DONE;
}

void amx_job_tell(struct amx_job *job, const struct work_progress *progress, const char *doing)
{
    job->progress = progress;
    job->doing = doing;
}

struct engine_task amx_job_task(struct amx_job *job)
{
    return (struct engine_task){
        .name = job->call.info->name, .now_ns = job_now, .step = job_step, .start = job_start, .context = job};
}

void amx_job_sample(struct amx_job *job, const struct core_sample_shape *shape)
{
    if (job->timer)
        amx_timer_sample(job->timer, shape);
}

struct core_sampled amx_job_sampled(struct amx_job *job)
{
    return job->timer ? amx_timer_sampled(job->timer) : (struct core_sampled){.sampled = false};
}

uint64_t amx_job_instructions(const struct amx_job *job)
{
    return job->instructions;
}

const uint64_t *amx_job_op_counts(const struct amx_job *job)
{
    return job->op_count;
}

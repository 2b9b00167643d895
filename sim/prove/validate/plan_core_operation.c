/* Rows that time an operation of a framework on CPU cores (TristanBilot/mlx-benchmark), built from kernels of the NEON and AMX
 * libraries.
 *
 * What is assumed of threads. MLX works on one thread, except in products, which are calls of Accelerate (mlx/backend/accelerate:
 * cblas_sgemm for every matrix of a batch). PyTorch shares its loops by one thread for each P core (ATen/ParallelCommon.cpp asks
 * for hw.perflevel0.physicalcpu). Whether its products are Accelerate's or those of a library in NEON code depends on how it was
 * built; the table says so by the unit. Of threads in Accelerate nothing is published; see plan_gemm.c.
 *
 * What takes long is simulated in part: the time of a piece, and for the rest the difference to a piece of twice the size, which
 * is the time of one that follows others. Memory of results is there; what a system takes that hands out pages anew is measured
 * beside the device, like the time of a call (overhead.h).
 */
#include "isa/array_count.h"
#include "isa/rounding.h"
#include "sim/prove/validate/operation_shape.h"
#include "sim/prove/validate/overhead.h"
#include "sim/prove/validate/plan_launch.h"
#include "sim/prove/validate/row_framework.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_ELEMENTS  (UINT64_C(1) << 19)
#define PIECE_AMX_MACS  (UINT64_C(1) << 25)
#define PIECE_NEON_MACS (UINT64_C(1) << 23)
#define AMX_ROWS        1280 /* tiles of 32 rows, or of 64, of which each of four cores gets as many */
#define NEON_ROWS       960  /* 120 panels, of which each of 4, 5, 6, 8, 10, 12 and 20 cores gets as many */
#define SHARED_MATRICES 40   /* each core gets several */
#define DEEP            (UINT64_C(1) << 24)
#define SMALL_LOOP      32768 /* elements that PyTorch leaves to one thread (at::internal::GRAIN_SIZE) */
#define SUM_COLUMNS     4096
#define WARM_BYTES      (32 << 20)
#define STREAM_BYTES    (128u << 20) /* of an array: beyond every cache */
#define ALL_P_CORES     0
#define TWO_KERNELS     "bias add were two kernels" /* of a row's note */

typedef unsigned long long number;

struct operation {
    struct validate_row *row;
    struct validate_program *program;
    struct operation_shape shape;
    bool mlx, amx;   /* MLX, otherwise PyTorch; products on the AMX block */
    bool shared;     /* the framework's threads share matrices: each multiplies some of them */
    unsigned blocks; /* of the product under way, as in struct validate_launch */
};

static bool other_shape(const struct operation *o)
{
    return validate_refuse(o->row, "shape '%.60s' is not read", o->row->shape);
}

/* ---- pieces ---- */

static bool launch(struct operation *o, const char *unit, unsigned cores, double times, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static bool launch(struct operation *o, const char *unit, unsigned cores, double times, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(o->program, times, "f32", format, args);
    va_end(args);
    if (!ok)
        return validate_refuse(o->row, "more than %d launches", VALIDATE_LAUNCHES);
    struct validate_launch *const l = &o->program->launch[o->program->launches - 1];
    snprintf(l->unit, sizeof l->unit, "%s", unit);
    l->cores = cores;
    l->blocks = o->blocks;
    return true;
}

/* A kernel over `whole` of something, of which `piece` is enough to see how long more of it takes. before, behind: of the
 * workload's text. */
struct stretch {
    const char *unit;
    unsigned cores;
    const char *before, *behind;
    uint64_t whole, piece;
};

static bool add_stretch(struct operation *o, const struct stretch *s)
{
    const double rest = ((double)s->whole - (double)s->piece) / (double)s->piece;
    if (s->whole <= 2 * s->piece)
        return launch(o, s->unit, s->cores, 1, "%s%llu%s", s->before, (number)s->whole, s->behind);
    o->program->beyond_caches = true;
    return launch(o, s->unit, s->cores, 1 - rest, "%s%llu%s", s->before, (number)s->piece, s->behind) &&
           launch(o, s->unit, s->cores, rest, "%s%llu%s", s->before, (number)(2 * s->piece), s->behind);
}

/* Threads of a loop over so many elements that is no product. */
static unsigned loop_cores(const struct operation *o, uint64_t elements)
{
    return o->mlx || elements < SMALL_LOOP ? 1 : ALL_P_CORES;
}

/* Rows of so many columns. */
static bool add_rows(struct operation *o, const char *kernel, uint64_t rows, const char *behind, uint64_t columns)
{
    char before[32], rest[96];
    snprintf(before, sizeof before, "%s:", kernel);
    snprintf(rest, sizeof rest, "x%llu%s", (number)columns, behind);
    const uint64_t piece = PIECE_ELEMENTS / columns;
    return add_stretch(o, &(struct stretch){"cpu", loop_cores(o, rows * columns), before, rest, rows, piece ? piece : 1});
}

static bool add_elements(struct operation *o, uint64_t count, const char *options)
{
    return add_stretch(o, &(struct stretch){"cpu", loop_cores(o, count), "elementwise:", options, count, PIECE_ELEMENTS});
}

/* Whether the row ran this minor version of its framework, or a later one. */
static bool is_from(const struct operation *o, unsigned least)
{
    char framework[FRAMEWORK_NAME_SIZE];
    unsigned minor;
    row_framework(o->row, o->mlx, framework);
    return sscanf(framework, o->mlx ? "mlx-cpu 0.%u" : "torch-cpu 2.%u", &minor) == 1 && minor >= least;
}

/* ---- loops ---- */

static bool plan_relu(struct operation *o)
{
    return add_elements(o, operation_elements(&o->shape.operand[0]), ",op=relu");
}

static bool plan_sigmoid(struct operation *o)
{
    return add_elements(o, operation_elements(&o->shape.operand[0]), ",op=sigmoid");
}

/* Over everything, threads share rows that are sums of their own. */
static bool add_whole(struct operation *o, const char *option)
{
    const uint64_t elements = operation_elements(&o->shape.operand[0]);
    return add_rows(o, "reduce", (elements + SUM_COLUMNS - 1) / SUM_COLUMNS, option, SUM_COLUMNS);
}

static bool add_reduction(struct operation *o, const char *option)
{
    const struct operation_tensor *const t = &o->shape.operand[0];
    char columns[64];
    if (o->shape.axis < 0)
        return add_whole(o, option);
    const uint64_t length = t->size[o->shape.axis], others = operation_elements(t) / length;
    if ((unsigned)o->shape.axis + 1 == t->dimensions)
        return add_rows(o, "reduce", others, option, length);
    snprintf(columns, sizeof columns, "x%llu%s,axis=0", (number)others, option);
    return add_stretch(
        o, &(struct stretch){"cpu", loop_cores(o, length * others), "reduce:", columns, length, 1 + PIECE_ELEMENTS / others});
}

/* MLX's reductions were calls of Accelerate (mlx/backend/accelerate/reduce.cpp) until that backend went, between 0.20 and 0.24:
 * since then contiguous_reduce of mlx/backend/cpu/reduce.cpp adds to one Simd of max_size<float>, eight lanes, so that each
 * addition waits for the one before. */
static bool plan_sum(struct operation *o)
{
    const bool along = o->shape.axis < 0 || (unsigned)o->shape.axis + 1 == o->shape.operand[0].dimensions;
    return add_reduction(o, along && o->mlx && is_from(o, 23) ? ",op=sum,lanes=8" : ",op=sum");
}

static bool plan_argmax(struct operation *o)
{
    return add_reduction(o, ",op=argmax");
}

static bool plan_softmax(struct operation *o)
{
    const struct operation_tensor *const t = &o->shape.operand[0];
    const uint64_t all = operation_elements(t);
    if (o->shape.axis == OPERATION_AXIS_ALL)
        return add_whole(o, ",op=max") && add_elements(o, all, ",op=sub,period=1") && add_elements(o, all, ",op=exp") &&
               add_whole(o, ",op=sum") && add_elements(o, all, ",op=div,period=1");
    if (o->shape.axis < 0 || (unsigned)o->shape.axis + 1 != t->dimensions)
        return other_shape(o);
    return add_rows(o, "softmax", all / t->size[o->shape.axis], "", t->size[o->shape.axis]);
}

static bool plan_concat(struct operation *o)
{
    const struct operation_tensor *const a = &o->shape.operand[0], *const b = &o->shape.operand[1];
    char rest[64];
    if (o->shape.operands != 2 || o->shape.axis < 0)
        return other_shape(o);
    const uint64_t rows = operation_product(a, 0, (unsigned)o->shape.axis);
    const uint64_t left = operation_elements(a) / rows, right = operation_elements(b) / rows;
    const uint64_t piece = PIECE_ELEMENTS / (left + right);
    snprintf(rest, sizeof rest, "x%llux%llu", (number)left, (number)right);
    return add_stretch(o,
                       &(struct stretch){"cpu", loop_cores(o, rows * (left + right)), "concat:", rest, rows, piece ? piece : 1});
}

/* ---- products ---- */

/* PyTorch calls the library for each matrix of a batch (ATen bmm: addmm for each without MKL). OpenBLAS keeps products of 2^18
 * multiply-adds and fewer on one thread (interface/gemm.c: 4 times SMP_THRESHOLD_MIN). Until 0.3.28 of August 2024 it packs the
 * matrix as for any product, a copy, before it multiplies; later, as in tables of torch 2.5 and newer, it calls gemv. */
#define OPENBLAS_ALONE (UINT64_C(1) << 18)
#define OPENBLAS_GEMV  5 /* torch 2.5 */

static bool add_openblas_vectors(struct operation *o, const struct operation_matmul *p)
{
    const uint64_t rows = p->m > p->n ? p->m : p->n;
    const double calls = (double)p->batch;
    o->program->beyond_caches = false;
    if (is_from(o, OPENBLAS_GEMV))
        return launch(o, "cpu", 1, 1, "gemv:%llux%llu", (number)(p->batch * rows), (number)p->k);
    return launch(o, "cpu", 1, calls, "copy:%llu", (number)(4 * rows * p->k)) &&
           launch(o, "cpu", 1, calls, "gemv:%llux%llu", (number)rows, (number)p->k);
}

/* Libraries take a product with one row or column for what it is. The matrices of a batch are one below the other: as many rows,
 * and as many bytes. */
static bool add_vector_product(struct operation *o, const struct operation_matmul *p)
{
    if (!o->amx && p->batch > 1 && p->m * p->n * p->k <= OPENBLAS_ALONE)
        return add_openblas_vectors(o, p);
    const uint64_t rows = p->batch * (p->m > p->n ? p->m : p->n);
    return launch(o, o->amx ? "amx" : "cpu", o->amx ? 1 : ALL_P_CORES, 1, "gemv:%llux%llu", (number)rows, (number)p->k);
}

/* A piece of one of the sizes of products: large ones are rows of it, deep ones a part of the sums, batches some of them. */
static bool add_matmul(struct operation *o, const struct operation_matmul *p, const char *options)
{
    if (p->m == 1 || p->n == 1)
        return add_vector_product(o, p);
    const char *const unit = o->amx ? "amx" : "cpu";
    const uint64_t each = p->m * p->n * p->k, macs = o->amx ? PIECE_AMX_MACS : PIECE_NEON_MACS;
    const bool thin = p->n <= VALIDATE_ACCELERATE_THIN && p->m > p->k;
    const unsigned cores = !o->amx || o->shared || (validate_accelerate_shares(p->m, p->n, p->k) && !thin) ? ALL_P_CORES : 1;
    char before[64], behind[96];
    o->blocks = o->amx && !o->shared ? validate_accelerate_blocks(p->m, p->n, p->k) : 0;
    if (p->batch > 1) {
        snprintf(before, sizeof before, "gemm:%llux%llux%llu,batch=", (number)p->m, (number)p->n, (number)p->k);
        const uint64_t piece = 1 + macs / each / 2, least = o->shared ? SHARED_MATRICES : 1;
        return add_stretch(o, &(struct stretch){unit, cores, before, options, p->batch, piece > least ? piece : least});
    }
    if (p->n * p->k <= DEEP) {
        snprintf(behind, sizeof behind, "x%llux%llu%s", (number)p->n, (number)p->k, options);
        return add_stretch(o, &(struct stretch){unit, cores, "gemm:", behind, p->m,
                                                round_up(macs / (p->n * p->k) + 1, o->amx ? AMX_ROWS : NEON_ROWS)});
    }
    if (p->m * p->n > macs / 16)
        return validate_refuse(o->row, "%llu x %llu x %llu takes minutes to simulate", (number)p->m, (number)p->n, (number)p->k);
    snprintf(before, sizeof before, "gemm:%llux%llux", (number)p->m, (number)p->n);
    return add_stretch(o, &(struct stretch){unit, cores, before, options, p->k, round_up(macs / (p->m * p->n), 64)});
}

static bool plan_matmul(struct operation *o)
{
    struct operation_matmul p;
    return operation_shape_matmul(&o->shape, &p) ? add_matmul(o, &p, "") : other_shape(o);
}

/* MLX's copy between any two layouts takes one element a turn (ml-explore/mlx mlx/backend/common/copy.cpp, copy_general); its
 * AddMM copies the bias into the result so. Rows of 0.12 and older take less than that would: they copy by vectors here, which is
 * a guess. */
static bool copies_one_by_one(const struct operation *o)
{
    return o->mlx && is_from(o, 20);
}

/* What is added stands in the result before the product is added to it, unless the row says that there were two kernels. */
static bool plan_linear(struct operation *o)
{
    struct operation_matmul p;
    char before[48], period[48], columns[32];
    if (o->shape.operands != 3 || !operation_shape_matmul(&o->shape, &p) || p.batch != 1)
        return other_shape(o);
    if (p.n == 1)
        return add_vector_product(o, &p);
    snprintf(period, sizeof period, ",op=add,period=%llu", (number)p.n);
    if (strstr(validate_cell(o->row, "note"), TWO_KERNELS))
        return add_matmul(o, &p, "") && add_stretch(o, &(struct stretch){"cpu", loop_cores(o, p.m * p.n), "elementwise:", period,
                                                                         p.m * p.n, round_up(PIECE_ELEMENTS, p.n)});
    snprintf(before, sizeof before, "gather:1x%llux", (number)p.n);
    snprintf(columns, sizeof columns, "x%llu", (number)p.n);
    const bool one_by_one = copies_one_by_one(o);
    return add_stretch(o, &(struct stretch){"cpu", loop_cores(o, p.m * p.n), one_by_one ? "broadcast:" : before,
                                            one_by_one ? columns : "", p.m, 1 + PIECE_ELEMENTS / p.n}) &&
           add_matmul(o, &p, ",beta=1");
}

/* NxHxWxC images, KxRxSxC weights, no padding; the kernels of the libraries have channels first. */
static bool plan_conv2d(struct operation *o)
{
    const struct operation_tensor *const x = &o->shape.operand[0], *const w = &o->shape.operand[1];
    char rest[128];
    if (o->shape.operands != 2 || x->dimensions != 4 || w->dimensions != 4 || x->size[3] != w->size[3] ||
        x->size[1] < w->size[1] || x->size[2] < w->size[2])
        return other_shape(o);
    const uint64_t macs =
        w->size[0] * w->size[1] * w->size[2] * w->size[3] * (x->size[1] - w->size[1] + 1) * (x->size[2] - w->size[2] + 1);
    snprintf(rest, sizeof rest, ",c=%llu,h=%llu,w=%llu,k=%llu,r=%llu,s=%llu", (number)x->size[3], (number)x->size[1],
             (number)x->size[2], (number)w->size[0], (number)w->size[1], (number)w->size[2]);
    return add_stretch(o, &(struct stretch){o->amx ? "amx" : "cpu", o->mlx ? 1 : ALL_P_CORES, "conv2d:n=", rest, x->size[0],
                                            1 + PIECE_NEON_MACS / macs});
}

/* Heads of 1024 elements: scores go through memory. The numbers of queries and keys differ. PyTorch's threads take heads each
 * (ATen/native/cpu/FlashAttentionKernel.cpp: parallel_for over batch, heads and blocks of queries, products by a call of the BLAS
 * inside), MLX's one thread the matrices one after the other. The tables that have attention are those of torch 2.6 and 2.9,
 * whose other products are Accelerate's by their unit. */
static bool plan_attention(struct operation *o)
{
    const struct operation_tensor *const q = &o->shape.operand[0], *const k = &o->shape.operand[1];
    char mask[48];
    if (o->shape.operands != 3 || q->dimensions != 4 || k->dimensions != 4 || q->size[3] != k->size[3] ||
        operation_elements(k) != operation_elements(&o->shape.operand[2]))
        return other_shape(o);
    const uint64_t heads = q->size[0] * q->size[1], queries = q->size[2], keys = k->size[2], depth = q->size[3];
    const struct operation_matmul scores = {heads, queries, keys, depth}, values = {heads, queries, depth, keys};
    snprintf(mask, sizeof mask, ",op=add,period=%llu", (number)(queries * keys));
    o->shared = !o->mlx;
    o->amx = true;
    return (!o->mlx || add_elements(o, heads * queries * depth, ",op=mul,period=1")) && add_matmul(o, &scores, ",tb=1") &&
           launch(o, "cpu", loop_cores(o, heads * queries * keys), 1, "elementwise:%llu%s", (number)(heads * queries * keys),
                  mask) &&
           add_rows(o, "softmax", heads * queries, "", keys) && add_matmul(o, &values, "");
}

/* ---- what the framework adds ---- */

/* Bytes of the result. */
static double result_bytes(const struct operation *o)
{
    const struct operation_tensor *const a = &o->shape.operand[0], *const b = &o->shape.operand[1];
    const double first = (double)operation_elements(a);
    struct operation_matmul p;
    if (strncmp(o->row->what, "matmul_", 7) == 0 || strncmp(o->row->what, "linear_", 7) == 0)
        return operation_shape_matmul(&o->shape, &p) ? 4 * (double)p.batch * (double)p.m * (double)p.n : 0;
    if (strncmp(o->row->what, "concat_", 7) == 0)
        return 4 * (first + (double)operation_elements(b));
    return strncmp(o->row->what, "sum", 3) == 0 || strncmp(o->row->what, "argmax", 6) == 0 ? 0 : 4 * first;
}

/* PyTorch's products in NEON code call a library for each matrix of a batch (ATen: addmm for each), whose threads are its own:
 * OpenBLAS in conda's builds (conda-forge/pytorch-cpu-feedstock, issue 403). What a call takes beside its arithmetic is 0.07 to
 * 0.4 ms, and a page of the result that its threads touch first 2 to 7 us, several times what a loop pays. Neither is published;
 * the smallest products in batches measure the call (1 MiB in the units of overhead.h), the largest result the pages. */
#define CALL_BYTES (1 << 20)

static void add_library(struct operation *o)
{
    struct operation_matmul p;
    const char *const version = strchr(o->program->framework, ' ');
    if (o->mlx || o->amx || strncmp(o->row->what, "matmul_", 7) != 0 || !operation_shape_matmul(&o->shape, &p) || p.m == 1 ||
        p.n == 1 || !version || version[1] < '0' || version[1] > '9')
        return;
    char name[sizeof o->program->framework];
    snprintf(name, sizeof name, "torch-cpu-blas%.*s", (int)(sizeof name - sizeof "torch-cpu-blas"), version);
    memcpy(o->program->framework, name, sizeof name);
    o->program->framework_bytes = (double)p.batch * CALL_BYTES;
    o->program->measures_overhead =
        strcmp(o->row->shape, "1000x64x1024 * 1000x1024x32") == 0 || strcmp(o->row->shape, "1000000x64 * 64x1024") == 0;
}

/* Of new memory. MLX keeps the memory of results, yet where the second call of a process is timed, operations with results take
 * longer than in later calls (relu on M3 2.4 ms and 0.79), and those without, sums, do not: their pages seem to be new to the
 * core. MLX 0.0 has another result for each kernel, later versions write the second one over the first
 * (set_binary_op_output_data). */
static double new_bytes(const struct operation *o)
{
    const bool once = strstr(o->program->framework, ROW_FRAMEWORK_ONCE) != NULL;
    const bool two = strstr(o->program->framework, " 0.0.") && strstr(validate_cell(o->row, "note"), TWO_KERNELS);
    return o->mlx && !once ? 0 : (o->mlx && two ? 2 : 1) * result_bytes(o);
}

/* PyTorch gives the memory of results back, and the system hands out pages anew. The simplest stream measures what that takes,
 * the smallest sum what a call takes. */
static void add_framework(struct operation *o)
{
    const bool sum = strncmp(o->row->what, "sumall_", 7) == 0, relu = strncmp(o->row->what, "relu_", 5) == 0;
    const double first = 4 * (double)operation_elements(&o->shape.operand[0]);
    row_framework(o->row, o->mlx, o->program->framework);
    o->program->framework_bytes = first;
    o->program->framework_out_bytes = new_bytes(o);
    o->program->measures_overhead = (sum && first <= OVERHEAD_BYTES_MAX) || (relu && o->program->framework_out_bytes > 0);
    add_library(o);
}

/* ---- the row ---- */

static const struct {
    const char *name;
    bool (*plan)(struct operation *o);
} operations[] = {
#define OPERATION(name, plan) {name, plan_##plan},
#include "sim/workload/kernels.inc"
};

static bool plan_named(struct operation *o)
{
    for (size_t i = 0; i < ARRAY_COUNT(operations); i++)
        if (strncmp(o->row->what, operations[i].name, strlen(operations[i].name)) == 0)
            return operations[i].plan(o);
    return validate_refuse(o->row, "no kernel for the operation '%.40s'", o->row->what);
}

/* Streams: PyTorch's copy of a large tensor on all P cores, and the best of STREAM on a CPU, which is taken to be the triad. */
static bool plan_stream(struct operation *o)
{
    static const struct {
        const char *what, *kernel, *guess;
        unsigned arrays;
    } streams[] = {{"torch_copy_cpu", "copy", NULL, 2}, {"stream_cpu_best", "stream-triad", "which of its loops", 3}};
    for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
        if (strncmp(o->row->what, streams[i].what, strlen(streams[i].what)) != 0 || strcmp(o->row->unit, "GB/s") != 0)
            continue;
        o->program->core = VALIDATE_P_CORE;
        o->program->measure = VALIDATE_RATE;
        o->program->work = (double)streams[i].arrays * STREAM_BYTES;
        o->program->beyond_caches = true;
        o->program->guess = streams[i].guess;
        o->program->note = "orchard's stream on all P cores";
        return launch(o, "cpu", ALL_P_CORES, 1, "%s:%u", streams[i].kernel, STREAM_BYTES);
    }
    return false;
}

bool validate_plan_core_operation(struct validate_row *row, struct validate_program *program)
{
    struct operation o = {.row = row, .program = program};
    if (plan_stream(&o) || row->why[0])
        return !row->why[0];
    const size_t length = strlen(row->what);
    const bool cpu = strcmp(row->device, "cpu") == 0;
    o.amx = strcmp(row->device, "amx") == 0;
    o.mlx = length > 8 && strcmp(row->what + length - 8, "_mlx_cpu") == 0;
    if ((!cpu && !o.amx) || strcmp(row->unit, "ms") != 0 || length < 4 || strcmp(row->what + length - 4, "_cpu") != 0)
        return false;
    if (strcmp(validate_cell(row, "precision"), "f32") != 0 || !operation_shape_read(row->shape, &o.shape))
        return validate_refuse(row, "'%.40s %.60s' in '%.10s' is not read", row->what, row->shape,
                               validate_cell(row, "precision"));
    o.amx = o.amx || o.mlx; /* its products are Accelerate's, whatever the table says of the rest */
    program->core = VALIDATE_P_CORE;
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = 1e6;
    program->beyond_caches = strtod(validate_cell(row, "min_bytes"), NULL) > WARM_BYTES;
    if (!plan_named(&o))
        return false;
    add_framework(&o);
    program->note = o.mlx   ? "orchard's kernels on one core, products as Accelerate's on AMX"
                    : o.amx ? "orchard's kernels on all P cores, products as Accelerate's on AMX"
                            : "orchard's NEON kernels on all P cores instead of PyTorch's";
    return true;
}

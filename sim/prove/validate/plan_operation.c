/* Rows that time one operation of a framework on the GPU (TristanBilot/mlx-benchmark), built from kernels of orchard's GPU
 * library.
 *
 * Where orchard has kernels as the framework's are, of its version, or as they are thought to be, they run (measured_kernels.h);
 * elsewhere those of the library. Where a framework takes several launches, both the plan and the row's note have them.
 */
#include "isa/array_count.h"
#include "sim/prove/validate/operation_shape.h"
#include "sim/prove/validate/row_framework.h"
#include "sim/prove/validate/overhead.h"
#include "sim/prove/validate/measured_kernels.h"
#include "sim/prove/validate/plan_launch.h"

#include <stdlib.h>
#include <string.h>

struct operation {
    struct validate_row *row;
    struct validate_program *program;
    struct operation_shape shape;
    bool mlx; /* MLX, otherwise PyTorch on MPS */
};

static bool launch(struct operation *o, double times, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool launch(struct operation *o, double times, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(o->program, times, "f32", format, args);
    va_end(args);
    if (ok && !o->row->own_kernels)
        validate_measured_kernels(o->program->framework, &o->program->launch[o->program->launches - 1]);
    return ok || validate_refuse(o->row, "more than %d launches", VALIDATE_LAUNCHES);
}

static bool other_shape(const struct operation *o)
{
    return validate_refuse(o->row, "shape '%.60s' is not read", o->row->shape);
}

/* ---- elementwise, concat ---- */

static bool plan_relu(struct operation *o)
{
    return launch(o, 1, "elementwise:%llu,op=relu", (unsigned long long)operation_elements(&o->shape.operand[0]));
}

static bool plan_sigmoid(struct operation *o)
{
    return launch(o, 1, "elementwise:%llu,op=sigmoid", (unsigned long long)operation_elements(&o->shape.operand[0]));
}

static bool plan_concat(struct operation *o)
{
    if (o->shape.operands != 2 || o->shape.axis < 0)
        return other_shape(o);
    const unsigned axis = (unsigned)o->shape.axis;
    /* along the first axis MLX copies lines; the library's kernel takes rows in any number */
    const uint64_t rows = axis ? operation_product(&o->shape.operand[0], 0, axis) : o->mlx ? 1 : o->shape.operand[0].size[0];
    return launch(o, 1, "concat:%llux%llux%llu", (unsigned long long)rows,
                  (unsigned long long)(operation_elements(&o->shape.operand[0]) / rows),
                  (unsigned long long)(operation_elements(&o->shape.operand[1]) / rows));
}

/* ---- reductions ---- */

/* "softmax:64x1000000" */
static bool along_rows(struct operation *o, const char *kernel, const char *option, uint64_t rows, uint64_t columns)
{
    return launch(o, 1, "%s:%llux%llu%s", kernel, (unsigned long long)rows, (unsigned long long)columns, option);
}

/* Matrices of the axis and what lies behind it, or of what lies before it and the axis; others follow one another. */
static bool plan_reduction(struct operation *o, const char *option)
{
    const struct operation_tensor *const t = &o->shape.operand[0];
    if (o->shape.axis == OPERATION_AXIS_ALL || o->shape.axis == OPERATION_AXIS_NONE)
        return along_rows(o, "reduce", option, 1, operation_elements(t));
    const unsigned axis = (unsigned)o->shape.axis;
    const bool last = axis + 1 == t->dimensions;
    const uint64_t length = t->size[axis], before = operation_product(t, 0, axis), behind = operation_product(t, axis + 1, t->dimensions);
    const uint64_t batch = last && axis ? operation_product(t, 0, axis - 1) : last ? 1 : before;
    return launch(o, 1, "reduce:%llux%llu%s%s,batch=%llu", (unsigned long long)(last ? before / batch : length),
                  (unsigned long long)(last ? length : behind), option, last ? "" : ",axis=0", (unsigned long long)batch);
}

static bool plan_argmax(struct operation *o)
{
    return plan_reduction(o, ",op=argmax");
}

static bool plan_sum(struct operation *o)
{
    return plan_reduction(o, ",op=sum");
}

/* Over everything, it was no kernel of its own but: largest, difference, exponential, sum, quotient; the largest and the sum are
 * one number. */
static bool plan_softmax(struct operation *o)
{
    const struct operation_tensor *const t = &o->shape.operand[0];
    const unsigned long long all = operation_elements(t);
    if (o->shape.axis == OPERATION_AXIS_ALL)
        return along_rows(o, "reduce", ",op=max", 1, all) && launch(o, 1, "elementwise:%llu,op=sub,period=1", all) &&
               launch(o, 1, "elementwise:%llu,op=exp", all) && along_rows(o, "reduce", ",op=sum", 1, all) &&
               launch(o, 1, "elementwise:%llu,op=div,period=1", all);
    if (o->shape.axis < 0 || (unsigned)o->shape.axis + 1 != t->dimensions)
        return other_shape(o);
    const uint64_t length = t->size[o->shape.axis];
    return along_rows(o, "softmax", "", all / length, length);
}

/* ---- products ---- */

static bool plan_product(struct operation *o, uint64_t batch, uint64_t m, uint64_t n, uint64_t k, bool transposed)
{
    return launch(o, 1, "gemm:%llux%llux%llu,batch=%llu%s", (unsigned long long)m, (unsigned long long)n, (unsigned long long)k,
                  (unsigned long long)batch, transposed ? ",tb=1" : "");
}

static bool plan_matmul(struct operation *o)
{
    struct operation_matmul p;
    return operation_shape_matmul(&o->shape, &p) ? plan_product(o, p.batch, p.m, p.n, p.k, false) : other_shape(o);
}

/* Product and bias, in one kernel unless the row says that there were two. */
static bool plan_linear(struct operation *o)
{
    struct operation_matmul p;
    if (o->shape.operands != 3 || !operation_shape_matmul(&o->shape, &p))
        return other_shape(o);
    const bool ok = p.n == 1 && p.batch == 1 ? launch(o, 1, "gemv:%llux%llu", (unsigned long long)p.m, (unsigned long long)p.k)
                                             : plan_product(o, p.batch, p.m, p.n, p.k, false);
    if (!ok || !strstr(validate_cell(o->row, "note"), "bias add were two kernels"))
        return ok;
    return launch(o, 1, "elementwise:%llu,op=add,period=%llu", (unsigned long long)(p.batch * p.m * p.n),
                  (unsigned long long)p.n);
}

/* NxHxWxC images, KxRxSxC weights, no padding; the kernel of the library has channels first. */
static bool plan_conv2d(struct operation *o)
{
    const struct operation_tensor *const x = &o->shape.operand[0], *const w = &o->shape.operand[1];
    if (o->shape.operands != 2 || x->dimensions != 4 || w->dimensions != 4 || x->size[3] != w->size[3])
        return other_shape(o);
    return launch(o, 1, "conv2d:n=%llu,c=%llu,h=%llu,w=%llu,k=%llu,r=%llu,s=%llu", (unsigned long long)x->size[0],
                  (unsigned long long)x->size[3], (unsigned long long)x->size[1], (unsigned long long)x->size[2],
                  (unsigned long long)w->size[0], (unsigned long long)w->size[1], (unsigned long long)w->size[2]);
}

/* Heads of 1024 elements are too wide to stay in registers, so scores go through memory. The numbers of queries and keys differ.
 */
static bool plan_attention(struct operation *o)
{
    const struct operation_tensor *const q = &o->shape.operand[0], *const k = &o->shape.operand[1];
    if (o->shape.operands != 3 || q->dimensions != 4 || k->dimensions != 4 || q->size[3] != k->size[3] ||
        operation_elements(k) != operation_elements(&o->shape.operand[2]))
        return other_shape(o);
    const unsigned long long heads = q->size[0] * q->size[1], queries = q->size[2], keys = k->size[2], depth = q->size[3];
    if (o->mlx) /* queries are scaled, and the mask is added to the scores */
        return launch(o, 1, "elementwise:%llu,op=mul,period=1", heads * queries * depth) &&
               plan_product(o, heads, queries, keys, depth, true) &&
               launch(o, 1, "elementwise:%llu,op=add,period=%llu", heads * queries * keys, queries * keys) &&
               launch(o, 1, "softmax:%llux%llu", heads * queries, keys) && plan_product(o, heads, queries, depth, keys, false);
    return plan_product(o, heads, queries, keys, depth, true) && launch(o, 1, "softmax:%llux%llu", heads * queries, keys) &&
           plan_product(o, heads, queries, depth, keys, false);
}

/* ---- the row ---- */

static const struct {
    const char *name;
    bool (*plan)(struct operation *o);
} operations[] = {
#define OPERATION(name, plan) {name, plan_##plan},
#include "sim/workload/kernels.inc"
};

/* A single launch of a kernel that takes hardly longer than a call without one. */
static bool is_tiny(const struct operation *o)
{
    static const char *const names[] = {"sumall_", "relu_", "sigmoid_"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (strncmp(o->row->what, names[i], strlen(names[i])) == 0)
            return o->program->framework_bytes > 0 && o->program->framework_bytes <= OVERHEAD_BYTES_MAX;
    return false;
}

bool validate_plan_operation(struct validate_row *row, struct validate_program *program)
{
    struct operation o = {.row = row, .program = program};
    const size_t length = strlen(row->what);
    o.mlx = length > 8 && strcmp(row->what + length - 8, "_mlx_gpu") == 0;
    if (strcmp(row->device, "gpu") != 0 || strcmp(row->unit, "ms") != 0 ||
        (!o.mlx && (length < 4 || strcmp(row->what + length - 4, "_mps") != 0)))
        return false;
    if (strcmp(validate_cell(row, "precision"), "f32") != 0 || !operation_shape_read(row->shape, &o.shape))
        return validate_refuse(row, "'%.40s %.60s' in '%.10s' is not read", row->what, row->shape,
                               validate_cell(row, "precision"));
    row_framework(row, o.mlx, program->framework);
    program->framework_bytes = strtod(validate_cell(row, "min_bytes"), NULL);
    program->measures_overhead = is_tiny(&o);
    const struct validate_overhead *const known = validate_overhead_of(program->framework);
    program->submitted = !known || known->call_us <= 0; /* a measured call contains the way of its command buffer */
    program->measure = VALIDATE_NS_PER_WORK;
    program->work = 1e6;
    for (size_t i = 0; i < ARRAY_COUNT(operations); i++)
        if (strncmp(row->what, operations[i].name, strlen(operations[i].name)) == 0)
            return operations[i].plan(&o) && (validate_launch_note(row, program), true);
    return validate_refuse(row, "no kernel for the operation '%.40s'", row->what);
}

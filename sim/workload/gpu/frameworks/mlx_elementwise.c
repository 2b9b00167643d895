/* MLX element by element: contiguous arrays, an array and a number, a row broadcast over rows. Section 8 of the facts. */
#include "sim/workload/element_type.h"
#include "sim/workload/gpu/frameworks/framework_plan.h"
#include "units/gpu/kernels/gpu_math.h"

#include <string.h>

enum { GROUP = 1024, MANY = 65536 /* elements, from which newer versions take eight bytes a thread */ };

/* Elements that a thread of a contiguous kernel takes. */
static unsigned per_thread(const struct framework_plan *p, uint64_t count)
{
    const unsigned wide = 8 / (unsigned)gpu_type_bytes(p->type, 1);
    if (p->version < framework_version(0, 25, 2))
        return 1;
    return p->version < framework_version(0, 26, 0) || count >= MANY ? wide : 1;
}

static void one_operand(struct framework_plan *p, const char *op, uint64_t count, unsigned in, unsigned out)
{
    const unsigned each = per_thread(p, count);
    plan_launch(p, (struct plan_size){plan_ceil(count, each), 1, 1},
                (struct plan_size){plan_least(GROUP, plan_ceil(count, each)), 1, 1}, "mlx_%s_%s_%u", op, plan_type(p), each);
    plan_buffer(p, in);
    plan_buffer(p, out);
    plan_number(p, (uint32_t)count);
}

/* An array and a number, which is an array of one element. */
void mlx_with_number(struct framework_plan *p, const char *op, uint64_t count, unsigned in, double number, unsigned out)
{
    uint8_t bytes[4] = {0};
    element_write(p->type == GPU_F16 ? ELEMENT_F16 : ELEMENT_F32, number, bytes);
    const unsigned each = per_thread(p, count);
    plan_launch(p, (struct plan_size){plan_ceil(count, each), 1, 1},
                (struct plan_size){plan_least(GROUP, plan_ceil(count, each)), 1, 1}, "mlx_%s_vs_%s_%u", op, plan_type(p), each);
    plan_buffer(p, in);
    plan_numbers(p, bytes, sizeof bytes);
    plan_buffer(p, out);
    plan_number(p, (uint32_t)count);
}

static void two_operands(struct framework_plan *p, const char *op, uint64_t count, uint64_t period, unsigned a, unsigned b,
                         unsigned out)
{
    const unsigned each = per_thread(p, count);
    if (period > 1) {
        plan_launch(p, (struct plan_size){period, count / period, 1}, plan_block(period, count / period, 1), "mlx_%s_general_%s",
                    op, plan_type(p));
    } else {
        plan_launch(p, (struct plan_size){plan_ceil(count, each), 1, 1},
                    (struct plan_size){plan_least(GROUP, plan_ceil(count, each)), 1, 1}, "mlx_%s_%s_%s_%u", op,
                    period ? "vs" : "vv", plan_type(p), each);
    }
    plan_buffer(p, a);
    plan_buffer(p, b);
    plan_buffer(p, out);
    if (period > 1)
        plan_number(p, (uint32_t)period, (uint32_t)period, 1, 0, 1);
    else
        plan_number(p, (uint32_t)count);
}

/* A function of the chain; false when there is none such. */
static bool known(const char *op, const char *list)
{
    const size_t length = strlen(op);
    for (const char *at = list; (at = strstr(at, op)); at += length)
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

static bool chain(struct framework_plan *p, int64_t words, uint64_t count, unsigned *from, unsigned *next)
{
    static const char one[] = " exp log sigmoid tanh sqrt rsqrt square abs neg ", two[] = " add sub mul div max min ";
    const unsigned out = p->operands - 1;
    for (; words; words >>= KERNEL_CHAIN_BITS) {
        const char *const op = gpu_math_name((enum gpu_math)((words & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1));
        if (known(op, one))
            one_operand(p, op, count, *from, out);
        else if (known(op, two))
            two_operands(p, op, count, plan_value(p, "period"), *from, (*next)++, out);
        else if (strcmp(op, "relu") == 0)
            mlx_with_number(p, "max", count, *from, 0, out); /* relu is the larger of both */
        else
            return plan_refuse(p, "elementwise has no %s; it has relu%s%s", op, one, two + 1);
        *from = out;
    }
    return true;
}

bool mlx_elementwise(struct framework_plan *p)
{
    const struct gpu_kernel_request *const r = &p->library->request;
    const uint64_t count = plan_value(p, "n");
    unsigned from = 0, next = 1;
    if (count > INT32_MAX)
        return plan_refuse(p, "elementwise of more than 2^31 - 1 elements");
    for (unsigned i = 0; r->info->parameter[i].name; i++)
        if (r->info->parameter[i].chain && !chain(p, r->value[i], count, &from, &next))
            return false;
    return !p->failed;
}

bool mlx_copy(struct framework_plan *p)
{
    const uint64_t count = plan_value(p, "bytes") / gpu_type_bytes(p->type, 1);
    if (count > INT32_MAX)
        return plan_refuse(p, "copy of more than 2^31 - 1 elements");
    one_operand(p, "copy", count, 0, 1);
    return !p->failed;
}

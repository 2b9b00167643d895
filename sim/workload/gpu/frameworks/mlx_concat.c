/* MLX concatenate: a strided copy for each array. Section 8 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

struct plan_size plan_block(uint64_t x, uint64_t y, uint64_t z)
{
    const uint64_t size[3] = {x, y, z};
    unsigned power[3] = {0}, sum = 0, before;
    do {
        before = sum;
        for (unsigned i = 0; i < 3 && sum < 10; i++)
            if (size[i] >= UINT64_C(2) << power[i])
                power[i]++, sum++;
    } while (sum > before && sum < 10);
    return (struct plan_size){UINT64_C(1) << power[0], UINT64_C(1) << power[1], UINT64_C(1) << power[2]};
}

bool mlx_concat(struct framework_plan *p)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const uint64_t rows = plan_value(p, "rows"), element = gpu_type_bytes(p->type, 1);
    const unsigned out = p->operands - 1;
    uint64_t all = 0, at = 0;
    for (unsigned i = 0; i < out; i++)
        all += plan_value(p, names[i]);
    if (rows * all > UINT64_C(1) << 40 || all > INT32_MAX || rows > INT32_MAX)
        return plan_refuse(p, "concat of more than 2^31 - 1 rows or columns");
    for (unsigned i = 0; i < out; i++) {
        const uint64_t own = plan_value(p, names[i]);
        if (rows == 1)
            plan_launch(p, (struct plan_size){own, 1, 1}, (struct plan_size){1024, 1, 1}, "mlx_copy_line_%s", plan_type(p));
        else
            plan_launch(p, (struct plan_size){own, rows, 1}, plan_block(own, rows, 1), "mlx_copy_rows_%s", plan_type(p));
        plan_buffer(p, i);
        plan_buffer_at(p, out, at * element);
        if (rows > 1)
            plan_number(p, (uint32_t)own, (uint32_t)all);
        at += own;
    }
    return !p->failed;
}

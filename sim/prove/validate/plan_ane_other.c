/* Plans for streams of elements, other operators, and the cost of a request. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

/* ---- streams and other operators ---- */

/* "streaming relu 8M elements"; rows have 4096 elements (sbryngelson/ANEForge, bench/device_bandwidth_roofline.py). */
bool plan_ane_streaming(struct ane_row *a)
{
    enum { COLUMNS = 4096 };
    char op[16];
    unsigned millions;
    if (sscanf(a->row->what, "streaming %15[a-z] %uM elements", op, &millions) != 2)
        return validate_refuse(a->row, "the size is not read");
    const unsigned count = millions << 20;
    plan_ane_harness(a, 2.0 * count, strcmp(op, "sum") == 0 ? 2.0 * count / COLUMNS : 2.0 * count);
    bool ok;
    if (strcmp(op, "sum") == 0)
        ok = plan_ane_launch(a, 1, "reduce:%ux%u,op=sum", count / COLUMNS, (unsigned)COLUMNS);
    else if (strcmp(op, "softmax") == 0)
        ok = plan_ane_launch(a, 1, "softmax:%ux%u", count / COLUMNS, (unsigned)COLUMNS);
    else
        ok = plan_ane_launch(a, 1, "elementwise:%u,op=%s", count, op);
    return ok && plan_ane_unit(a, 0);
}

/* "attention S197": ViT-B has 12 heads of 64; the published operation counts are those of four projections and the attention. */
bool plan_ane_attention(struct ane_row *a)
{
    enum { WIDTH = 768, HEADS = 12, DEPTH = 64 };
    unsigned s;
    if (sscanf(a->row->what, "attention S%u", &s) != 1)
        return validate_refuse(a->row, "the size is not read");
    plan_ane_harness(a, 2.0 * s * WIDTH, 2.0 * s * WIDTH);
    plan_ane_note(a, "four projections of 768 channels and 12 heads of 64, as the published operation counts have it");
    return plan_ane_launch(a, 4, "gemm:%ux%dx%d", s, WIDTH, WIDTH) &&
           plan_ane_launch(a, 1, "attention:b=1,h=%d,s=%u,d=%d", HEADS, s, DEPTH) &&
           plan_ane_unit(a, 8.0 * s * WIDTH * WIDTH + 4.0 * s * s * WIDTH);
}

static bool refuse_size(struct ane_row *a)
{
    return validate_refuse(a->row, "the source does not give the size");
}

bool plan_ane_norm(struct ane_row *a)
{
    enum { ROWS = 197, COLUMNS = 768, CHANNELS = 256, SIDE = 64, GROUPS = 32 };
    if (!plan_ane_compares(a))
        return refuse_size(a);
    const bool groups = strncmp(a->row->what, "groupnorm", 9) == 0;
    const double bytes = 2.0 * (groups ? CHANNELS * SIDE * SIDE : ROWS * COLUMNS);
    plan_ane_harness(a, bytes, bytes);
    const bool ok = groups ? plan_ane_launch(a, 1, "groupnorm:c=%d,h=%d,w=%d,groups=%d", CHANNELS, SIDE, SIDE, GROUPS)
                           : plan_ane_launch(a, 1, "%.*s:%dx%d", (int)strcspn(a->row->what, " "), a->row->what, ROWS, COLUMNS);
    return ok && plan_ane_unit(a, 0);
}

/* A Fourier transform of 1024 numbers as two products with matrices, real and imaginary, each a request. */
bool plan_ane_fourier(struct ane_row *a)
{
    enum { N = 1024, PRODUCTS = 2 };
    if (!plan_ane_compares(a))
        return refuse_size(a);
    plan_ane_harness(a, 2.0 * PRODUCTS * N, 2.0 * PRODUCTS * N);
    a->program->requests_apart = true;
    return plan_ane_launch(a, PRODUCTS, "gemv:%dx%d", N, N) && plan_ane_unit(a, 0);
}

/* 25 turns of x = (b - R x) d with a matrix of 512 x 512, in one request. */
bool plan_ane_jacobi(struct ane_row *a)
{
    enum { N = 512, TURNS = 25, INPUTS = 3 };
    if (!plan_ane_compares(a))
        return refuse_size(a);
    plan_ane_harness(a, 2.0 * INPUTS * N, 2.0 * N);
    return plan_ane_launch(a, TURNS, "gemv:%dx%d", N, N) && plan_ane_launch(a, TURNS, "elementwise:%d,op=sub", N) &&
           plan_ane_launch(a, TURNS, "elementwise:%d,op=mul", N) && plan_ane_unit(a, 0);
}

/* sbryngelson/ane-guide, chapter 10: 256 x 256, 32 steps, each a convolution of one channel with five taps of a 3 x 3 kernel. */
bool plan_ane_stencil(struct ane_row *a)
{
    enum { SIDE = 256, STEPS = 32 };
    plan_ane_harness(a, 2.0 * SIDE * SIDE, 2.0 * SIDE * SIDE);
    return plan_ane_launch(a, 1, "conv-stack:layers=%d,c=1,h=%d,w=%d", STEPS, SIDE, SIDE) && plan_ane_unit(a, 0);
}

/* ---- weights in fewer bytes ---- */

bool plan_ane_speed_up(struct ane_row *a)
{
    enum { LAYERS = 8, C = 1024 };
    const char *const fewer = strstr(a->row->what, "int4") ? "i4" : "sparse";
    a->program->beyond_caches = true;
    a->program->measure = VALIDATE_RATIO;
    a->program->work = 1;
    plan_ane_guess(a, "size not given: 8 layers of 1024 to 1024 channels, one pixel; sparse: half of the weights");
    a->precision = fewer;
    if (!plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C))
        return false;
    a->precision = "f16";
    return plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C);
}

/* ---- the cost of a request ---- */

bool plan_ane_smallest(struct ane_row *a)
{
    return plan_ane_launch(a, 1, "elementwise:64,op=relu") && plan_ane_unit(a, 0);
}

/* mechramc/Orion's 0.03 ms are of calls with one column (experiments/spike_single_token.m, which does not look at what a call
 * returns), and these fail (docs/ane_constraints.md, 4). */
bool plan_ane_dispatch(struct ane_row *a)
{
    if (strstr(plan_ane_cell(a, "source"), "mechramc/Orion"))
        return validate_refuse(a->row, "calls with one column, which fail as its author found later: no request was carried out");
    return plan_ane_smallest(a);
}

/* "wake after 5 s idle", "wake after 100 ms idle" */
bool plan_ane_wake(struct ane_row *a)
{
    double idle;
    char unit[8];
    if (sscanf(a->row->what, "wake after %lf %7s idle", &idle, unit) != 2)
        return validate_refuse(a->row, "the idle time is not read");
    a->program->idle_seconds = strcmp(unit, "ms") == 0 ? idle * 1e-3 : idle;
    return plan_ane_smallest(a);
}

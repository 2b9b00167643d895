/* Plans for streams of elements, other operators, and the cost of a request. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

/* ---- streams and other operators ---- */

/* "streaming relu 8M elements"; operators with rows get rows of 1024. */
bool plan_ane_streaming(struct ane_row *a)
{
    enum { COLUMNS = 1024 };
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
    if (strcmp(op, "sum") == 0 || strcmp(op, "softmax") == 0)
        plan_ane_guess(a, "shape not given: rows of 1024");
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

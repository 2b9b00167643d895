/* Plans for products, including those with one column, whose time is that of their weights. */
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

static bool plan_ane_product(struct ane_row *a, unsigned m, unsigned n, unsigned k)
{
    plan_ane_harness(a, 2.0 * m * k, 2.0 * m * n);
    return plan_ane_launch(a, 1, "gemm:%ux%ux%u", m, n, k) && plan_ane_unit(a, 2.0 * m * n * k);
}

/* "GEMM 128x1024x1024" gives rows, sums, columns. */
bool plan_ane_gemm(struct ane_row *a)
{
    unsigned m, n, k;
    return sscanf(a->row->what, "GEMM %ux%ux%u", &m, &k, &n) == 3 ? plan_ane_product(a, m, n, k)
                                                                  : validate_refuse(a->row, "the size is not read");
}

bool plan_ane_cubed(struct ane_row *a)
{
    unsigned n;
    return sscanf(a->row->what, "%*[^0-9]%u", &n) == 1 ? plan_ane_product(a, n, n, n)
                                                       : validate_refuse(a->row, "the size is not read");
}

/* "matmul 2048" (maderix, Inside the M4 Apple Neural Engine, part 2): both matrices are inputs. The same article has three times
 * the rate where one of them is the weights of a convolution. */
bool plan_ane_two_inputs(struct ane_row *a)
{
    unsigned n;
    if (sscanf(a->row->what, "matmul %u", &n) != 1)
        return validate_refuse(a->row, "the size is not read");
    plan_ane_note(a, "both matrices are inputs, in fp16: their conversion from fp32 takes no time");
    return plan_ane_launch(a, 1, "matmul:%ux%ux%u", n, n, n) && plan_ane_unit(a, 2.0 * n * n * n);
}

/* Takes the largest size of the same author's sweep on these chips. */
bool plan_ane_peak_product(struct ane_row *a)
{
    enum { N = 4096 };
    plan_ane_guess(a, "size not given: 4096 cubed, the largest of the same author's sweep");
    return plan_ane_product(a, N, N, N);
}

/* "matvec-like matmul 4096", "GEMV K=512 (square weights)", "weights-bound 8192x4096": one column. */
bool plan_ane_gemv(struct ane_row *a)
{
    unsigned m = 0, n = 0;
    const int read = sscanf(a->row->what, "%*[^0-9]%ux%u", &m, &n);
    if (read < 1)
        return validate_refuse(a->row, "the size is not read");
    n = read == 2 ? n : m;
    plan_ane_harness(a, 2.0 * n, 2.0 * m);
    a->program->beyond_caches = true; /* weights are read once, so nothing is found in caches */
    return plan_ane_launch(a, 1, "gemv:%ux%u", m, n) && plan_ane_unit(a, 2.0 * m * n);
}

/* The output layer of Llama-3.2-1B has 128256 x 4096 fp16 weights. It runs in sixteen parts, since a descriptor has at most 65536
 * channels. */
bool plan_ane_head(struct ane_row *a)
{
    enum { PARTS = 16, ROWS = 128256, COLUMNS = 4096 };
    const bool plain = strstr(a->row->what, "1050.67 MB") && strcmp(a->precision, "f16") == 0;
    const bool palette = strcmp(a->precision, "p6") == 0 && (strstr(a->row->what, "396 MB") || !strstr(a->row->what, " MB"));
    if (!plain && !palette)
        return validate_refuse(a->row, "the size of the weights is not read");
    a->program->beyond_caches = true;
    plan_ane_note(a, "in 16 parts of one request");
    return plan_ane_launch(a, PARTS, "gemv:%ux%u", (unsigned)(ROWS / PARTS), (unsigned)COLUMNS) &&
           plan_ane_unit(a, (plain ? 2.0 : 0.75) * ROWS * COLUMNS);
}

bool plan_ane_weight_stream(struct ane_row *a)
{
    enum { N = 8192 };
    a->program->beyond_caches = true;
    plan_ane_guess(a, "size not given: a product with 8192 x 8192 weights and one column");
    return plan_ane_launch(a, 1, "gemv:%ux%u", (unsigned)N, (unsigned)N) && plan_ane_unit(a, 2.0 * N * N);
}

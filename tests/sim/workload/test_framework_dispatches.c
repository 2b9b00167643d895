/* What --kernels mlx launches, against a table of MLX's dispatches (tests/golden/frameworks): threadgroups, threads, threadgroup
 * memory, tiles, and what products ask for. */
#include "sim/prove/validate/csv.h"
#include "sim/workload/gpu/frameworks/framework.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long number;

struct row {
    const char *workload, *shape, *versions, *letter, *step, *kernel, *tile, *threads, *groups, *memory, *flop, *read, *written,
        *note;
};

/* One operand after another: "1000x64x256 * 256x32". */
struct operand {
    number size[6];
    unsigned dimensions;
};

static unsigned read_shape(const char *at, struct operand operand[3])
{
    unsigned count = 0;
    memset(operand, 0, 3 * sizeof *operand);
    for (char *end; count < 3; at = end + 3) {
        struct operand *const o = &operand[count++];
        for (;; at = end + 1) {
            o->size[o->dimensions++] = strtoull(at, &end, 10);
            if (*end != 'x')
                break;
        }
        if (strncmp(end, " * ", 3) != 0)
            break;
    }
    return count;
}

static number product(const struct operand *o, unsigned from, unsigned to)
{
    number all = 1;
    for (unsigned i = from; i < to; i++)
        all *= o->size[i];
    return all;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- rows as requests: the text, and which launch of it; false for what no request of the library says ---- */

struct asked {
    char text[160];
    unsigned step;
    number m, n, k, batch; /* of products */
};

static bool ask_product(const struct row *r, const struct operand *o, struct asked *a)
{
    const unsigned d = o[0].dimensions;
    const bool adds = strstr(r->kernel, "addmm") || strstr(r->kernel, "axpby") || strstr(r->versions, "M1 Pro");
    a->k = o[0].size[d - 1];
    a->n = o[1].size[o[1].dimensions - 1];
    a->batch = product(&o[1], 0, o[1].dimensions - 2);
    a->m = product(&o[0], 0, d) / a->k / a->batch;
    if (begins(r->kernel, "binary add")) {
        if (a->n == 1)
            snprintf(a->text, sizeof a->text, "elementwise:%llu,op=add", a->m);
        else
            snprintf(a->text, sizeof a->text, "elementwise:%llu,op=add,period=%llu", a->m * a->n, a->n);
        return true;
    }
    a->step = strcmp(r->step, "2/2") == 0;
    snprintf(a->text, sizeof a->text, "gemm:%llux%llux%llu,batch=%llu%s", a->m, a->n, a->k, a->batch, adds ? ",beta=1" : "");
    return true;
}

static bool ask_conv(const struct row *r, const struct operand *o, struct asked *a)
{
    a->step = begins(r->kernel, "splitk") ? 2 + (unsigned)atoi(r->step) : (unsigned)atoi(r->step) - 1;
    a->m = o[0].size[0] * (o[0].size[1] - o[1].size[1] + 1) * (o[0].size[2] - o[1].size[2] + 1);
    a->n = o[1].size[0];
    a->k = product(&o[1], 1, 4);
    a->batch = 1;
    snprintf(a->text, sizeof a->text, "conv2d:n=%llu,h=%llu,w=%llu,c=%llu,k=%llu,r=%llu,s=%llu", o[0].size[0], o[0].size[1],
             o[0].size[2], o[0].size[3], o[1].size[0], o[1].size[1], o[1].size[2]);
    return true;
}

/* "axis=all", or the number of the axis; the first and the last one are those that the library has. */
static bool ask_reduction(const struct row *r, const struct operand *o, const char *op, struct asked *a)
{
    const char *const axis = strstr(r->shape, "axis=");
    const number all = product(o, 0, o->dimensions);
    const unsigned last = o->dimensions - 1, at = axis ? (unsigned)atoi(axis + 5) : last;
    a->step = (unsigned)atoi(r->step) - 1;
    if (!axis || strcmp(axis, "axis=all") == 0)
        return snprintf(a->text, sizeof a->text, "reduce:1x%llu,op=%s", all, op) > 0;
    if (at == 0)
        return snprintf(a->text, sizeof a->text, "reduce:%llux%llu,op=%s,axis=0", o->size[0], all / o->size[0], op) > 0;
    if (at == last)
        return snprintf(a->text, sizeof a->text, "reduce:%llux%llu,op=%s", all / o->size[last], o->size[last], op) > 0;
    return false;
}

static bool ask_softmax(const struct row *r, const struct operand *o, struct asked *a)
{
    const number all = product(o, 0, o->dimensions), length = o->size[o->dimensions - 1];
    const int step = atoi(r->step);
    if (strstr(r->shape, "axis=-1"))
        return snprintf(a->text, sizeof a->text, "softmax:%llux%llu", all / length, length) > 0;
    if (strstr(r->kernel, "reduce")) {
        a->step = begins(r->kernel, "all_reduce") && !strstr(r->kernel, "pass 1");
        return snprintf(a->text, sizeof a->text, "reduce:1x%llu,op=%s", all, step <= 2 ? "max" : "sum") > 0;
    }
    return snprintf(a->text, sizeof a->text, "elementwise:%llu,op=%s%s", all,
                    begins(r->kernel, "sub")   ? "sub,period=1"
                    : begins(r->kernel, "exp") ? "exp"
                                               : "div,period=1",
                    "") > 0;
}

static bool ask_attention(const struct row *r, const struct operand *o, struct asked *a)
{
    const number depth = o[0].size[3], keys = o[1].size[2];
    a->batch = o[0].size[0] * o[0].size[1];
    a->m = o[0].size[2];
    switch (atoi(r->step)) {
    case 1: return snprintf(a->text, sizeof a->text, "elementwise:%llu,op=mul,period=1", a->batch * a->m * depth) > 0;
    case 2:
        a->n = keys, a->k = depth;
        return snprintf(a->text, sizeof a->text, "gemm:%llux%llux%llu,batch=%llu,tb=1", a->m, a->n, a->k, a->batch) > 0;
    case 4: return snprintf(a->text, sizeof a->text, "softmax:%llux%llu", a->batch * a->m, keys) > 0;
    case 5:
        a->n = depth, a->k = keys;
        return snprintf(a->text, sizeof a->text, "gemm:%llux%llux%llu,batch=%llu", a->m, a->n, a->k, a->batch) > 0;
    default: return false; /* the mask in one dimension */
    }
}

static bool ask_concat(const struct row *r, const struct operand *o, struct asked *a)
{
    const bool lines = strstr(r->shape, "axis=0") != NULL;
    const number rows = lines ? 1 : o[0].size[0];
    a->step = (unsigned)atoi(r->step) - 1;
    snprintf(a->text, sizeof a->text, "concat:%llux%llux%llu", rows, product(&o[0], 0, 2) / rows, product(&o[1], 0, 2) / rows);
    return true;
}

static bool ask(const struct row *r, struct asked *a)
{
    struct operand o[3];
    *a = (struct asked){.step = 0};
    read_shape(r->shape, o);
    if (strcmp(r->workload, "matmul") == 0 || strcmp(r->workload, "linear") == 0)
        return ask_product(r, o, a);
    if (strcmp(r->workload, "conv2d") == 0)
        return ask_conv(r, o, a);
    if (strcmp(r->workload, "argmax") == 0)
        return ask_reduction(r, o, "argmax", a);
    if (begins(r->workload, "sum"))
        return ask_reduction(r, o, "sum", a);
    if (strcmp(r->workload, "softmax") == 0)
        return ask_softmax(r, o, a);
    if (strcmp(r->workload, "sdpa") == 0)
        return ask_attention(r, o, a);
    if (strcmp(r->workload, "concat") == 0)
        return ask_concat(r, o, a);
    return snprintf(a->text, sizeof a->text, "elementwise:%llu,op=%s", product(o, 0, o->dimensions), r->workload) > 0;
}

/* ---- comparison ---- */

static number groups_of(const struct abi_kernel *k)
{
    number all = 1;
    for (unsigned i = 0; i < 3; i++)
        all *= (k->grid[i] + k->group[i] - 1) / k->group[i];
    return all;
}

static void compare_sizes(const struct row *r, const struct abi_kernel *k, const char *where)
{
    const bool cut = strstr(r->threads, "asked") != NULL;
    const number threads = cut ? 256 : strtoull(r->threads, NULL, 10);
    const number own = (number)k->group[0] * k->group[1] * k->group[2], groups = groups_of(k);
    CHECK(own == threads, "%s: %llu threads a threadgroup, not %s", where, own, r->threads);
    CHECK(!*r->groups || groups == strtoull(r->groups, NULL, 10), "%s: %llu threadgroups, not %s", where, groups, r->groups);
    if (*r->memory && !strstr(r->kernel, "gemv")) /* ours keeps the vector once, and sums in fewer places */
        CHECK(k->threadgroup_memory_bytes == strtoul(r->memory, NULL, 10), "%s: %u bytes of threadgroup memory, not %s", where,
              k->threadgroup_memory_bytes, r->memory);
}

/* Operations and bytes follow from the tile in the name of the code and from the grid. */
static void compare_product(const struct row *r, const struct asked *a, const struct abi_kernel *k, const char *where)
{
    unsigned bm, bn, bk = 16, wm, wn;
    char tile[48];
    if (sscanf(r->tile, "%ux%ux%u wm%u wn%u", &bm, &bn, &bk, &wm, &wn) != 5 || begins(r->kernel, "implicit"))
        return;
    snprintf(tile, sizeof tile, begins(r->kernel, "splitk") ? "%ux%u" : "%ux%ux%u_%ux%u", bm, bn, bk, wm, wn);
    CHECK(strstr(k->code_name, tile) != NULL, "%s: %s is not of tile %s", where, k->code_name, r->tile);
    const number x = (k->grid[0] + k->group[0] - 1) / k->group[0], y = (k->grid[1] + k->group[1] - 1) / k->group[1];
    const number flop = 2 * a->batch * x * y * bm * bn * ((a->k + bk - 1) / bk * bk);
    const number bytes = 4 * a->batch * (x * a->m * a->k + y * a->n * a->k) + (strstr(r->kernel, "addmm") ? 4 * a->n : 0);
    CHECK(flop == strtoull(r->flop, NULL, 10), "%s: %llu operations, not %s", where, flop, r->flop);
    CHECK(bytes == strtoull(r->read, NULL, 10), "%s: %llu bytes read, not %s", where, bytes, r->read);
}

static bool compare(const struct row *r, const struct asked *a, const char *version, const char *chip)
{
    struct gpu_library *const l = calloc(1, sizeof *l);
    struct framework_choice choice;
    struct orch_error error = {0};
    char where[400], kernels[40];
    snprintf(kernels, sizeof kernels, "mlx@%s", version);
    snprintf(where, sizeof where, "%s %s, %s on %s, step %s (%s)", r->workload, r->shape, kernels, chip, r->step, r->kernel);
    const bool ok = l && framework_choose(kernels, chip, &choice, &error) &&
                    gpu_library_open(l, a->text, "f32", GPU_G13, 8, &error) && framework_apply(&choice, l, &error);
    CHECK(ok, "%s: %s: %s", where, a->text, error.text);
    CHECK(!ok || a->step < l->kernel.steps, "%s: %s has %u launches", where, a->text, l->kernel.steps);
    if (ok && a->step < l->kernel.steps) {
        compare_sizes(r, &l->step[a->step], where);
        compare_product(r, a, &l->step[a->step], where);
    }
    if (l)
        gpu_library_close(l);
    free(l);
    return ok;
}

/* "0.20.0-0.30.1", "0.5.0 (M2 Max table)": the first and the last. */
static void read_versions(const struct row *r, char first[16], char last[16])
{
    const size_t length = strspn(r->versions, "0123456789.");
    snprintf(first, 16, "%.*s", (int)length, r->versions);
    snprintf(last, 16, "%s", first);
    if (r->versions[length] == '-' && !strstr(r->note, "0.29.3+"))
        snprintf(last, 16, "%.*s", (int)strspn(r->versions + length + 1, "0123456789."), r->versions + length + 1);
}

static unsigned compare_row(const struct row *r)
{
    static const char *const chips[] = {"M1", "M1 Max", "M1 Ultra"};
    const unsigned only = begins(r->letter, "g") ? 0 : begins(r->letter, "s") ? 1 : begins(r->letter, "d") ? 2 : 3;
    struct asked a;
    char version[2][16];
    if (!ask(r, &a))
        return 0;
    read_versions(r, version[0], version[1]);
    for (unsigned v = 0; v < 2; v++)
        for (unsigned c = 0; c < 3; c++)
            if (only == 3 || only == c)
                compare(r, &a, version[v], chips[c]);
    return 1;
}

static void test_dispatches(void)
{
    struct orch_error error = {0};
    struct csv_table *const t = csv_read(suite_golden("frameworks/mlx-dispatches.csv"), &error);
    unsigned compared = 0;
    CHECK(t != NULL, "%s", error.text);
    for (size_t i = 0; t && i < csv_rows(t); i++) {
#define CELL(name) csv_cell(t, i, csv_find(t, name))
        const struct row r = {CELL("workload"),      CELL("shape"),        CELL("mlx_versions"), CELL("device_letter"),
                              CELL("step"),          CELL("kernel"),       CELL("tile"),         CELL("threads_per_tg"),
                              CELL("threadgroups"),  CELL("tg_mem_bytes"), CELL("flop_issued"),  CELL("bytes_read"),
                              CELL("bytes_written"), CELL("note")};
#undef CELL
        compared += compare_row(&r);
    }
    /* left are sums and places along a middle axis (5), and masks in one dimension (4) */
    CHECK(t && csv_rows(t) == 272 && compared == 263, "%u of %zu rows", compared, t ? csv_rows(t) : 0);
    csv_free(t);
}

/* What the table has no rows of: Winograd's method by version and size, blocks of metal-flash-attention on eight cores. */
static void test_rules(void)
{
    static const struct {
        const char *kernels, *chip, *workload;
        unsigned launches, step;
        const char *kernel;
        unsigned groups;
    } cases[] = {{"mlx", "M1", "conv2d:n=2,c=128,h=64,w=60,k=160,pad=1", 6, 2, "mlx_winograd_weights_float", 40},
                 {"mlx", "M1", "conv2d:n=2,c=128,h=64,w=60,k=160,pad=1", 6, 3, "mlx_winograd_pixels_float", 2 * 11 * 10},
                 {"mlx", "M1", "conv2d:n=2,c=128,h=64,w=60,k=160,pad=1", 6, 4, "mlx_gemm_nn_float_64x64x16_2x2", 64 * 4 * 3},
                 {"mlx", "M1", "conv2d:n=2,c=128,h=64,w=60,k=160,pad=1", 6, 5, "mlx_winograd_results_float", 2 * 11 * 10},
                 {"mlx", "M1", "conv2d:n=1,c=128,h=63,w=64,k=128,pad=1", 1, 0, "mlx_conv_any_float_32x64_2x2", 252},
                 {"mlx@0.12", "M1", "conv2d:n=1,c=256,h=8,w=8,k=256,pad=1", 6, 5, "mlx_winograd_results_float", 4},
                 {"mlx@0.12", "M1", "conv2d:n=1,c=128,h=32,w=32,k=128,pad=1", 1, 0, "mlx_conv_any_float_32x64_2x2", 64},
                 {"mfa", "M1", "gemm:320x320x64", 1, 0, "mfa_gemm_nn_float_48x48x24", 49},
                 {"mfa", "M1 Max", "gemm:320x290x64", 1, 0, "mfa_gemm_nn_float_48x48x24", 49},
                 {"mfa", "M2", "gemm:288x320x64,tb=1,beta=1", 1, 0, "mfa_gemm_add_nt_float_32x32x32", 90},
                 {"mfa", "M3 Pro", "gemm:320x320x64,ta=1", 1, 0, "mfa_gemm_tn_float_direct", 100},
                 {"mfa", "M1", "gemm:384x320x64,tb=1,gate=1", 1, 0, "mfa_gate_float_48x48x24", 56},
                 {"mfa", "M4", "gemm:384x330x64,tb=1,gate=1", 1, 0, "mfa_gate_float_direct", 132}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_library *const l = calloc(1, sizeof *l);
        struct framework_choice choice;
        struct orch_error error = {0};
        const bool ok = l && framework_choose(cases[i].kernels, cases[i].chip, &choice, &error) &&
                        gpu_library_open(l, cases[i].workload, "f32", GPU_G13, 8, &error) && framework_apply(&choice, l, &error);
        const struct abi_kernel *const k = ok && cases[i].step < l->kernel.steps ? &l->step[cases[i].step] : NULL;
        CHECK(k && l->kernel.steps == cases[i].launches, "%s %s: %u launches, %s", cases[i].kernels, cases[i].workload,
              ok ? l->kernel.steps : 0, error.text);
        unsigned groups = k != NULL;
        for (unsigned d = 0; k && d < 3; d++)
            groups *= (k->grid[d] + k->group[d] - 1) / k->group[d];
        CHECK(!k || (strcmp(k->code_name, cases[i].kernel) == 0 && groups == cases[i].groups), "%s %s: %s, %u threadgroups",
              cases[i].kernels, cases[i].workload, k ? k->code_name : "", groups);
        if (l)
            gpu_library_close(l);
        free(l);
    }
}

static void test_refusals(void)
{
    static const struct {
        const char *kernels, *workload, *says;
    } cases[] = {{"mlxx", "gemm:8x8x8", "did you mean mlx?"},
                 {"mlx@0.40", "gemm:8x8x8", "0.0.6 to 0.30.1"},
                 {"mlx@new", "gemm:8x8x8", "0.0.6 to 0.30.1"},
                 {"mps@3", "gemm:8x8x8", "2.1 to 2.9"},
                 {"orchard@1", "gemm:8x8x8", "no version"},
                 {"mlx", "layernorm:8x8", "there is no layernorm in f32; there is elementwise (f32 f16)"},
                 {"mlx", "reduce:8x8,op=norm2", "argmax"},
                 {"mfa", "gemm:64x64x64,beta=0.5", "alpha 1, beta 1"},
                 {"mfa", "gemm:64x20x64,tb=1,gate=1", "from 32 on"},
                 {"mlx", "gemm:64x64x64,gate=1", "no gate"},
                 {"mfa@2023-01", "gemm:64x64x64", "2024-08"},
                 {"mfa", "softmax:64x64", "there is gemm (f32 f16)"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct gpu_library *const l = calloc(1, sizeof *l);
        struct framework_choice choice;
        struct orch_error error = {0};
        const bool ok = l && framework_choose(cases[i].kernels, "M1", &choice, &error) &&
                        gpu_library_open(l, cases[i].workload, "f32", GPU_G13, 8, &error) && framework_apply(&choice, l, &error);
        CHECK(!ok && strstr(error.text, cases[i].says), "%s %s: %s", cases[i].kernels, cases[i].workload, error.text);
        if (l)
            gpu_library_close(l);
        free(l);
    }
}

static const struct suite_test tests[] = {{"launches are those of the table", test_dispatches},
                                          {"launches follow rules without a table", test_rules},
                                          {"what is not there is refused", test_refusals}};
SUITE_MAIN("framework_dispatches", tests)

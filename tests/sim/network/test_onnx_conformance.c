/* ONNX's own single-operator tests (Debian's libonnx-testdata) on the reference operators: each case passes, fails, or needs an
 * operator that is not there. The table by operator is CONFORMANCE.md of sim/network; `--write` writes it anew. The shapes that
 * the rules state beforehand are compared with those of the expected outputs as well.
 */
#include "sim/network/case.h"
#include "sim/network/onnx/onnx.h"
#include "sim/network/operators/run.h"
#include "sim/network/passes/pass.h"
#include "tests/sim/network/onnx_cases.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA "/usr/share/libonnx-testdata/data/"

enum { ROWS_MAX = 400, RELATIVE_PER_MILLE = 1 };
enum verdict { PASSED, FAILED, UNSUPPORTED };

struct row {
    char op[64];
    unsigned count[3];
};

struct table {
    struct row row[ROWS_MAX];
    size_t rows;
    unsigned count[3], kinds[3]; /* kinds: of those that are about inference with tensors */
    const char *verbose;
};

static bool shape_holds(const struct net_model *model, size_t output, const struct net_array *expected)
{
    const struct net_value *const v = &model->value[model->graph->output[output]];
    bool holds = v->type == NET_TYPES || v->type == expected->type;
    if (v->shape.known)
        holds = holds && v->shape.dims == expected->dims;
    for (unsigned d = 0; holds && v->shape.known && d < expected->dims; d++)
        holds = v->shape.dim[d] < 0 || v->shape.dim[d] == expected->shape[d];
    return holds;
}

static bool run_case(struct net_model *model, const struct net_case *c, struct orch_error *error)
{
    const struct net_run run = {.model = model, .input = c->input};
    struct net_array **const output = calloc(c->outputs + 1, sizeof(*output));
    bool ok = output && net_infer_shapes(model, error) && net_run(&run, output, error);
    for (size_t k = 0; ok && k < c->outputs; k++) {
        const struct net_difference d = net_compare(output[k], c->expected[k], 1e-3, 1e-7);
        if (!d.fits || d.worst > 1)
            ok = orch_fail(error, ORCH_FAILED, d.fits ? "output %zu differs by %g" : "output %zu has another type or shape", k,
                           d.largest);
        else if (!shape_holds(model, k, c->expected[k]))
            ok = orch_fail(error, ORCH_FAILED, "output %zu: the shape rule was wrong", k);
    }
    for (size_t k = 0; output && k < c->outputs; k++)
        net_array_release(output[k]);
    free(output);
    return ok;
}

/* Which operator a case is about: the only one of its model, or what its name says. */
static void operator_of(const struct net_model *model, char *op, size_t size)
{
    if (model && model->graph->nodes == 1)
        snprintf(op, size, "%s%s%s", model->graph->node[0]->domain, *model->graph->node[0]->domain ? "." : "",
                 model->graph->node[0]->op);
    else
        snprintf(op, size, "%s", model ? "(several)" : "(not imported)");
}

static enum verdict judge(const char *folder, char *op, size_t size, struct orch_error *error)
{
    char path[PATH_MAX + 16];
    struct net_case c = {.input = NULL};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    struct net_model *const model = onnx_load(path, error);
    operator_of(model, op, size);
    size_t sets;
    bool golden, ok = model && net_case_sets(folder, &sets, &golden) > 0;
    for (size_t set = 0; ok && set < sets; set++) {
        ok = net_case_load(folder, set, 0, model, &c, error) && run_case(model, &c, error);
        net_case_free(&c);
    }
    net_model_free(model);
    return ok ? PASSED : error->exit_code == ORCH_UNMODELLED ? UNSUPPORTED : FAILED;
}

static void note(struct table *t, const char *op, enum verdict v)
{
    size_t k = 0;
    while (k < t->rows && strcmp(t->row[k].op, op) != 0)
        k++;
    if (k == t->rows && t->rows < ROWS_MAX)
        snprintf(t->row[t->rows++].op, sizeof t->row->op, "%s", op);
    if (k < t->rows)
        t->row[k].count[v]++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->op, ((const struct row *)b)->op);
}

static bool run_folder(const char *folder, struct table *t)
{
    struct dirent **entry;
    const int count = scandir(folder, &entry, NULL, alphasort);
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX], op[64];
        struct orch_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, entry[k]->d_name);
        if (strncmp(entry[k]->d_name, "test_", 5) == 0) {
            const enum verdict v = judge(path, op, sizeof op, &error);
            t->count[v]++;
            if (onnx_case_is_inference(entry[k]->d_name))
                t->kinds[v]++;
            note(t, op, v);
            if (v != PASSED && t->verbose)
                printf("%s %s: %s\n", v == FAILED ? "FAILED" : "lacks", entry[k]->d_name, error.text);
        }
        free(entry[k]);
    }
    if (count >= 0)
        free(entry);
    qsort(t->row, t->rows, sizeof *t->row, by_name);
    return count >= 0;
}

/* ---- the page ---- */

static void print_table(const struct table *t, FILE *out)
{
    fprintf(out, "| operator | passed | failed | not supported |\n| --- | --- | --- | --- |\n");
    for (size_t k = 0; k < t->rows; k++)
        fprintf(out, "| %s | %u | %u | %u |\n", t->row[k].op, t->row[k].count[PASSED], t->row[k].count[FAILED],
                t->row[k].count[UNSUPPORTED]);
    fprintf(out, "| **all** | %u | %u | %u |\n\n", t->count[PASSED], t->count[FAILED], t->count[UNSUPPORTED]);
}

static char *page(struct table *node, struct table *pytorch)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "# Conformance of the reference operators\n\n"
                 "Written by `make conformance`; `tests/sim/network/test_onnx_conformance.c` compares. Relative 1e-3, absolute "
                 "1e-7, types, shapes,\n"
                 "and the shapes that the rules state before a run. The cases are those of Debian's libonnx-testdata (ONNX 1.12, "
                 "MIT and Apache-2.0).\n\n");
    const unsigned all = node->kinds[PASSED] + node->kinds[FAILED] + node->kinds[UNSUPPORTED];
    fprintf(out,
            "Of %u single-operator cases that are about inference on tensors (no training, text, sequences, optional values), %u "
            "pass\n"
            "(%.1f %%), %u fail and %u need what is not there.\n\n",
            all, node->kinds[PASSED], 100.0 * node->kinds[PASSED] / all, node->kinds[FAILED], node->kinds[UNSUPPORTED]);
    fprintf(out, "## Single operators (`node`)\n\n");
    print_table(node, out);
    fprintf(out, "## Layers converted from PyTorch (`pytorch-converted`, `pytorch-operator`), whole small models (`simple`)\n\n");
    print_table(pytorch, out);
    fclose(out);
    return text;
}

static const char *page_path = ORCHARD_SOURCE_DIR "/sim/network/CONFORMANCE.md";

static char *run_everything(struct table *node, struct table *others)
{
    if (!run_folder(DATA "node", node))
        return NULL;
    run_folder(DATA "pytorch-converted", others);
    run_folder(DATA "pytorch-operator", others);
    run_folder(DATA "simple", others);
    return page(node, others);
}

static void test_cases(void)
{
    static struct table node, others;
    char *const now = run_everything(&node, &others);
    if (!now) {
        suite_skip("libonnx-testdata is not installed");
        return;
    }
    const unsigned all = node.kinds[PASSED] + node.kinds[FAILED] + node.kinds[UNSUPPORTED];
    CHECK(all > 500 && node.kinds[PASSED] * 10 >= all * 9, "%u of %u cases pass", node.kinds[PASSED], all);
    char *kept = calloc(1, 1 << 16);
    FILE *const file = fopen(page_path, "rb");
    if (kept && file)
        kept[fread(kept, 1, (1 << 16) - 1, file)] = 0;
    if (file)
        fclose(file);
    CHECK(kept && strcmp(kept, now) == 0, "sim/network/CONFORMANCE.md is not what the cases say: make conformance");
    free(kept);
    free(now);
}

static const struct suite_test tests[] = {{"the cases of ONNX", test_cases}};

int main(int argc, char **argv)
{
    static struct table node, others;
    if (argc == 1)
        return suite_run("onnx_conformance", tests, ARRAY_COUNT(tests));
    node.verbose = others.verbose = argv[1];
    char *const text = run_everything(&node, &others);
    FILE *const out = text && strcmp(argv[1], "--write") == 0 ? fopen(page_path, "wb") : NULL;
    if (out) {
        fputs(text, out);
        fclose(out);
    }
    free(text);
    return text && (out || strcmp(argv[1], "--write") != 0) ? 0 : 70;
}

/* ONNX's own single-operator tests (Debian's libonnx-testdata) by kernels of the units: a case holds when its outputs are right
 * and no node was left to the reference operators. The table by operator, and the cases that do not hold, are CONFORMANCE.md of
 * sim/run/lower; `--write` writes it anew, from all cases. The suite tries every sixteenth and compares with the page.
 */
#include "sim/network/case.h"
#include "sim/network/onnx/onnx.h"
#include "sim/prove/check/networks.h"
#include "sim/run/network/run_network.h"
#include "tests/sim/network/onnx_cases.h"
#include "tests/sim/run_example.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#define FOLDER "/usr/share/libonnx-testdata/data/node"

enum { CASES_MOST = 2000, OPERATORS_MOST = 300, UNITS = 4, EACH = 16, NAME = 100, PAGE_BYTES = 1 << 17 };
static const char *const units[UNITS] = {"cpu", "amx", "gpu", "ane"};
static const char *const page_path = ORCHARD_SOURCE_DIR "/sim/run/lower/CONFORMANCE.md";

static struct chip_db *db;

struct tried {
    char name[NAME], op[64];
    bool holds[UNITS], by_half;
};

struct cases {
    struct tried tried[CASES_MOST];
    size_t count;
};

/* ---- the cases ---- */

static void name_operator(struct tried *t)
{
    char path[PATH_MAX];
    struct orch_error unused = {0};
    snprintf(path, sizeof path, "%s/%s/model.onnx", FOLDER, t->name);
    struct net_model *const model = onnx_load(path, &unused);
    snprintf(t->op, sizeof t->op, "%s", model && model->graph->nodes == 1 ? model->graph->node[0]->op : "(several)");
    net_model_free(model);
}

/* Every `each`th case; 0 when they are not there. */
static size_t list_cases(struct cases *all, size_t each)
{
    struct dirent **entry;
    const int count = scandir(FOLDER, &entry, NULL, alphasort);
    size_t seen = 0;
    for (int k = 0; k < count; k++) {
        if (strncmp(entry[k]->d_name, "test_", 5) == 0 && onnx_case_is_inference(entry[k]->d_name) &&
            strlen(entry[k]->d_name) < NAME && all->count < CASES_MOST && seen++ % each == 0)
            strcpy(all->tried[all->count++].name, entry[k]->d_name);
        free(entry[k]);
    }
    if (count >= 0)
        free(entry);
    return all->count;
}

static void try_unit(struct cases *all, unsigned unit)
{
    static const struct net_open_options options = {.level = 2};
    const char **const name = calloc(all->count + 1, sizeof *name);
    struct check_report report = {0};
    struct check_network_rows got = {.row = NULL};
    struct orch_error error = {0};
    struct chip *const chip = chip_open(db, "m1", NULL, &error);
    const struct run_request request = {.chip = chip, .unit = units[unit], .mode = RUN_FUNCTIONAL};
    for (size_t k = 0; name && k < all->count; k++)
        name[k] = all->tried[k].name;
    CHECK(chip && name && check_networks(FOLDER, name, all->count, &options, &request, &report, &got, &error), "%s", error.text);
    for (size_t k = 0; k < got.count; k++)
        for (size_t i = 0; i < all->count; i++)
            if (strcmp(all->tried[i].name, got.row[k].name) == 0) {
                all->tried[i].holds[unit] = got.row[k].right && got.row[k].left == 0;
                all->tried[i].by_half |= got.row[k].by_half;
            }
    check_network_rows_free(&got);
    check_report_free(&report);
    if (chip)
        chip_close(chip);
    free(name);
}

/* ---- the page ---- */

static unsigned count_held(const struct cases *all, const char *op, unsigned unit)
{
    unsigned held = 0;
    for (size_t k = 0; k < all->count; k++)
        held += all->tried[k].holds[unit] && (!op || strcmp(all->tried[k].op, op) == 0);
    return held;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_row(const struct cases *all, const char *op, FILE *out)
{
    unsigned cases = 0;
    for (size_t k = 0; k < all->count; k++)
        cases += !op || strcmp(all->tried[k].op, op) == 0;
    fprintf(out, "| %s | %u |", op ? op : "**all**", cases);
    for (unsigned unit = 0; unit < UNITS; unit++)
        fprintf(out, " %u |", count_held(all, op, unit));
    fprintf(out, "\n");
}

static void print_table(const struct cases *all, FILE *out)
{
    const char *op[CASES_MOST];
    for (size_t k = 0; k < all->count; k++)
        op[k] = all->tried[k].op;
    qsort(op, all->count, sizeof *op, by_name);
    fprintf(out, "| operator | cases | cpu | amx | gpu | ane |\n| --- | --- | --- | --- | --- | --- |\n");
    print_row(all, NULL, out);
    for (size_t k = 0; k < all->count; k++)
        if (k == 0 || strcmp(op[k], op[k - 1]) != 0)
            print_row(all, op[k], out);
}

static void print_misses(const struct cases *all, FILE *out)
{
    for (size_t k = 0; k < all->count; k++) {
        const struct tried *const t = &all->tried[k];
        if (t->holds[0] && t->holds[1] && t->holds[2] && t->holds[3])
            continue;
        fprintf(out, "- `%s`:", t->name);
        for (unsigned unit = 0; unit < UNITS; unit++)
            if (!t->holds[unit])
                fprintf(out, " %s", units[unit]);
        fprintf(out, "\n");
    }
}

static bool write_page(const struct cases *all)
{
    FILE *const out = fopen(page_path, "wb");
    unsigned by_half = 0;
    for (size_t k = 0; k < all->count; k++)
        by_half += all->tried[k].by_half;
    if (!out)
        return false;
    fprintf(
        out,
        "# Conformance of the units' kernels\n\n"
        "Written by `make unit-conformance`; `tests/sim/prove/test_unit_conformance.c` compares. Of the %zu single-operator\n"
        "cases of ONNX 1.12 (Debian's libonnx-testdata) that are about inference on tensors (no training, text, sequences,\n"
        "optional values), those that are right (`orchard model check`) with no node left to the reference operators. Kernels\n"
        "that a unit's library lacks are the cores'. Where nothing is to be computed (shapes, views), nothing is. The Neural\n"
        "Engine computes in f16: %u more of its outputs are within 2e-2 of the largest number, as f16 is judged elsewhere, and\n"
        "miss the 1e-3 of each number that ONNX asks of f32.\n\n",
        all->count, by_half);
    print_table(all, out);
    fprintf(out, "\n## Cases that kernels alone do not compute, or not rightly\n\n");
    print_misses(all, out);
    fclose(out);
    return true;
}

/* ---- the suite ---- */

/* What the page says of a case: it is named with the units that it does not hold on. */
static bool page_says(const char *page, const char *name, const char *unit)
{
    char line[NAME + 10];
    snprintf(line, sizeof line, "- `%s`:", name);
    const char *const at = strstr(page, line);
    if (!at)
        return true;
    const char *const end = at + strcspn(at, "\n"), *const found = strstr(at, unit);
    return !found || found > end;
}

static void test_sample(void)
{
    static struct cases all;
    char *const page = calloc(1, PAGE_BYTES);
    FILE *const file = fopen(page_path, "rb");
    if (page && file)
        page[fread(page, 1, PAGE_BYTES - 1, file)] = 0;
    if (file)
        fclose(file);
    CHECK(page && *page, "no page");
    if (!page || !list_cases(&all, EACH)) {
        suite_skip("libonnx-testdata is not installed");
        free(page);
        return;
    }
    for (unsigned unit = 0; unit < UNITS; unit++) {
        if (unit == 1) /* amx: the cores' kernels but for products */
            continue;
        try_unit(&all, unit);
        for (size_t k = 0; k < all.count; k++)
            CHECK(all.tried[k].holds[unit] == page_says(page, all.tried[k].name, units[unit]), "%s on %s: %s", all.tried[k].name,
                  units[unit], all.tried[k].holds[unit] ? "holds" : "does not hold");
        const unsigned held = count_held(&all, NULL, unit);
        CHECK(held * 10 >= all.count * 9 || unit == 3, "%u of %zu hold on %s", held, all.count, units[unit]);
    }
    free(page);
}

static void write_all(void)
{
    static struct cases all;
    list_cases(&all, 1);
    for (size_t k = 0; k < all.count; k++)
        name_operator(&all.tried[k]);
    for (unsigned unit = 0; unit < UNITS; unit++)
        try_unit(&all, unit);
    CHECK(all.count && write_page(&all), "%s cannot be written", page_path);
}

static const struct suite_test tests[] = {{"every sixteenth case is as the page says", test_sample}};
static const struct suite_test writes[] = {{"the page", write_all}};

int main(int argc, char **argv)
{
    return example_chips_run("unit_conformance", argc > 1 && strcmp(argv[1], "--write") == 0 ? writes : tests, 1, &db);
}

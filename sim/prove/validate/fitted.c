#include "sim/prove/validate/fitted.h"

#include "isa/array_count.h"
#include "isa/list_grow.h"
#include "sim/prove/validate/plan_launch.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* A pattern, and the first value with it. Hundreds of values share a few of them. */
struct known {
    const char *pattern, *key;
};

struct fitted_list {
    struct fitted_value *value;
    size_t count, room;
    struct known *known;
    size_t patterns, pattern_room;
    bool failed; /* memory is out */
};

/* ---- patterns ---- */

/* "M1" must not match "M1 Max", nor "M2" match "M2 Pro"; a bracket may follow ("M1 Pro (8P+2E)"). */
static bool is_chip(const char *text, const char *chip, size_t length)
{
    return strncmp(text, chip, length) == 0 && (text[length] == '\0' || strncmp(text + length, " (", 2) == 0);
}

static const char *cell_of(const struct validate_row *row, const char *column, size_t length)
{
    const struct {
        const char *name, *text;
    } cells[] = {{"source", row->source}, {"what", row->what}, {"condition", row->condition}, {"shape", row->shape}};
    for (size_t i = 0; i < ARRAY_COUNT(cells); i++)
        if (strlen(cells[i].name) == length && strncmp(cells[i].name, column, length) == 0)
            return cells[i].text;
    return length == 4 && strncmp(column, "unit", 4) == 0 ? validate_cell(row, "unit") : NULL;
}

static bool contains(const char *text, const char *part, size_t length)
{
    for (; strlen(text) >= length; text++)
        if (strncmp(text, part, length) == 0)
            return true;
    return false;
}

/* Whether the row meets the condition of that length. */
static bool meets(const struct validate_row *row, const char *condition, size_t length)
{
    const size_t column = strspn(condition, "abcdefghijklmnopqrstuvwxyz");
    const char sign = column < length ? condition[column] : '\0';
    const char *const wanted = condition + column + 1;
    if (sign != '=' && sign != '~')
        return false;
    const size_t rest = length - column - 1;
    if (column == 4 && strncmp(condition, "chip", 4) == 0)
        return is_chip(row->chip, wanted, rest);
    const char *const cell = cell_of(row, condition, column);
    if (!cell)
        return false;
    return sign == '=' ? strlen(cell) == rest && strncmp(cell, wanted, rest) == 0 : contains(cell, wanted, rest);
}

bool fitted_names(const char *pattern, const struct validate_row *row)
{
    if (strcmp(pattern, "*") == 0)
        return true;
    if (!strpbrk(pattern, "=~"))
        return strcmp(pattern, row->id) == 0;
    for (const char *at = pattern; at;) {
        const char *const next = strstr(at, " & ");
        if (!meets(row, at, next ? (size_t)(next - at) : strlen(at)))
            return false;
        at = next ? next + 3 : NULL;
    }
    return true;
}

/* ---- the list ---- */

static void know(struct fitted_list *list, const char *pattern, const char *key)
{
    for (size_t i = 0; i < list->patterns; i++)
        if (strcmp(list->known[i].pattern, pattern) == 0)
            return;
    struct known *const grown = list_grow(list->known, list->patterns, &list->pattern_room, sizeof *grown);
    list->failed = list->failed || !grown;
    if (!grown)
        return;
    list->known = grown;
    grown[list->patterns++] = (struct known){pattern, key};
}

static struct fitted_value *add_value(struct fitted_list *list, const char *key, const char *where, const char *text, size_t rows)
{
    struct fitted_value *const grown = list_grow(list->value, list->count, &list->room, sizeof *grown);
    list->failed = list->failed || !grown;
    if (!grown)
        return NULL;
    list->value = grown;
    struct fitted_value *const v = &grown[list->count++];
    *v = (struct fitted_value){strdup(key), strdup(where), strdup(text), calloc(rows + 1, sizeof *v->row), 0, false};
    list->failed = list->failed || !v->key || !v->where || !v->value || !v->row;
    return v->row ? v : NULL;
}

static void add_row(struct fitted_list *list, struct fitted_value *v, const char *pattern, size_t length)
{
    char *const copy = strndup(pattern, length);
    list->failed = list->failed || !copy;
    if (copy)
        v->row[v->rows++] = copy;
}

static void add_of_chip(void *context, const struct chip_fitted *fitted)
{
    struct fitted_list *const list = context;
    const size_t rows = json_object_array_length(fitted->rows);
    char where[160];
    snprintf(where, sizeof where, "sim/chips/%.120s.json", fitted->file);
    struct fitted_value *const v = add_value(list, fitted->key, where, fitted->value, rows);
    for (size_t i = 0; v && i < rows; i++) {
        const char *const row = json_object_get_string(json_object_array_get_idx(fitted->rows, i));
        add_row(list, v, row, strlen(row));
    }
}

/* Ids stand in one text, with blanks between them. */
static void add_overheads(struct fitted_list *list)
{
    for (size_t i = 0; i < validate_overhead_count(); i++) {
        const struct validate_overhead *const o = validate_overhead_at(i);
        char key[80], value[120];
        snprintf(key, sizeof key, "overhead of %.60s", o->framework);
        if (o->call_us > 0)
            snprintf(value, sizeof value, "%g us a call", o->call_us);
        else
            snprintf(value, sizeof value, "%g ns/KiB in, %g ns/KiB out", o->ns_per_kib, o->ns_per_kib_out);
        struct fitted_value *const v = add_value(list, key, "sim/prove/validate/overheads.inc", value, strlen(o->rows));
        for (const char *at = o->rows; v && *at;) {
            const size_t length = strcspn(at, " ");
            add_row(list, v, at, length);
            at += length + (at[length] != '\0');
        }
    }
}

/* What is neither in the chip database nor an overhead. */
static const struct {
    const char *key, *where, *value, *row[6];
    bool interval;
} chosen[] = {
    {"time between requests of a table of efficiencies",
     "sim/prove/validate/fitted.h",
     NULL,
     {"chip=M2 & unit=ANE & source~ane-guide & what=GEMM M128 K1024 N1024",
      "chip=M2 & unit=ANE & source~ane-guide & what=GEMM M64 K256 N256"},
     false},
    {"height of the tiles of large products",
     "units/ane/kernels",
     "as many rows as fill the tile memory",
     {"unit=ANE & source~saturation sweep & what=GEMM N=4096 cubed"},
     false},
    {"AMX threads that stay in a cluster while another is idle",
     "sim/prove/validate/fitted.h",
     "2",
     {"chip=M1 Max & source~fma.md & what~fma64 in matrix mode & condition~3 thread(s), 8 Z ",
      "chip=M1 Max & source~fma.md & what~fma64 in matrix mode & condition~5 thread(s), 8 Z "},
     false},
    {"products from which Accelerate has several threads",
     "sim/prove/validate/plan_launch.h",
     "2^24 multiply-adds, half of that for each",
     {"what=matmul_mlx_cpu & shape=1000x1024x64 * 1000x64x256", "what=matmul_mlx_cpu & shape=1000x64x1024 * 1000x1024x32"},
     false},
    {"results too small for several threads of Accelerate",
     "sim/prove/validate/plan_launch.h",
     "2^18 elements, of products of 2^24 multiply-adds",
     {"unit=amx & what~ggml_mul_mat_1thread & shape=256x256x256", "HW02172"},
     false},
    {"tall products too thin for several threads of Accelerate",
     "sim/prove/validate/plan_launch.h",
     "32 columns",
     {"what=matmul_mlx_cpu & shape=1000x64x256 * 256x32", "HW00290", "HW00778", "HW01132"},
     false},
    {"which kernels PyTorch's MPS is thought to have",
     "sim/workload/gpu/frameworks/mps.c",
     "a result a thread, or MLX's, by version, chip and shape",
     {"source~detailed_benchmark & what=matmul_mps", "source~detailed_benchmark & what=linear_mps",
      "source~detailed_benchmark & what=softmax_mps", "source~detailed_benchmark & what=argmax_mps",
      "source~detailed_benchmark & what=conv2d_mps & shape~x3 * ", "source~detailed_benchmark & what=conv2d_mps & shape~x12 * "},
     false},
    {"whose kernel multiplies gradients of scores on M1 and M2",
     "sim/prove/validate/plan_figure.c",
     "the library's own; with metal-flash-attention's they come out 26 % off instead of 25",
     {"chip=M1 Max & what~fused_softmax_gradient"},
     false},
    {"four bytes that ggml's first kernel reads in a row, by one load",
     "units/gpu/kernels/ggml",
     "yes, as the hardware can; with four loads the row comes out 30 % slow instead of 3",
     {"HW02723"},
     false},
    {"spread of runs by unit and kind of work", "sim/run/residuals.inc", "a table", {"*"}, true},
};

static void add_of_code(struct fitted_list *list)
{
    char idle[40];
    snprintf(idle, sizeof idle, "%g s", FITTED_ANE_IDLE_S);
    for (size_t i = 0; i < ARRAY_COUNT(chosen); i++) {
        struct fitted_value *const v =
            add_value(list, chosen[i].key, chosen[i].where, chosen[i].value ? chosen[i].value : idle, ARRAY_COUNT(chosen[i].row));
        for (size_t k = 0; v && k < ARRAY_COUNT(chosen[i].row) && chosen[i].row[k]; k++)
            add_row(list, v, chosen[i].row[k], strlen(chosen[i].row[k]));
        if (v)
            v->interval = chosen[i].interval;
    }
}

struct fitted_list *fitted_list_create(const struct chip_db *chips)
{
    struct fitted_list *const list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    if (chips)
        chip_db_each_fitted(chips, add_of_chip, list);
    add_overheads(list);
    add_of_code(list);
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->value[i].rows && !list->value[i].interval; k++)
            know(list, list->value[i].row[k], list->value[i].key);
    if (!list->failed)
        return list;
    fitted_list_free(list);
    return NULL;
}

void fitted_list_free(struct fitted_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++) {
        struct fitted_value *const v = &list->value[i];
        for (size_t k = 0; k < v->rows; k++)
            free(v->row[k]);
        free(v->row);
        free(v->key);
        free(v->where);
        free(v->value);
    }
    free(list->value);
    free(list->known);
    free(list);
}

size_t fitted_list_count(const struct fitted_list *list)
{
    return list->count;
}

const struct fitted_value *fitted_list_at(const struct fitted_list *list, size_t index)
{
    return &list->value[index];
}

const char *fitted_list_key(const struct fitted_list *list, const struct validate_row *row)
{
    for (size_t i = 0; i < list->patterns; i++)
        if (fitted_names(list->known[i].pattern, row))
            return list->known[i].key;
    return NULL;
}

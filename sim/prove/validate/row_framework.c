#include "sim/prove/validate/row_framework.h"

#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"

#include <string.h>

/* One table of the source for each machine. Versions that a table does not state are inferred from the day on which it was added:
 * the release of MLX and of PyTorch that was current then. M1, M2 and M3 Pro came before MLX 0.0.9 (2024-01-11), although the
 * heading of M2 says 0.2.0. Those before 2024-02-14 17:13 time the second of two calls in a process of its own, later ones the
 * mean of nine (mlx_benchmark/base_benchmark.py in the history of the source). */
static const struct {
    const char *chip, *cores, *mlx, *torch;
    bool once;
} tables[] = {
    {"M1", "8", "0.0.7", "2.1.2", true},          {"M2", "", "0.0.7", "2.1.2", true},
    {"M3 Pro", "14", "0.0.7", "2.1.2", true},     {"M3", "", "0.2.0", "2.2.0", true},
    {"M1 Max", "", "0.2.0", "2.2.0", false},      {"M3 Max", "40", "0.2.0", "2.2.0", false},
    {"M2 Max", "38", "0.5.0", "2.2.1", false},    {"M1 Pro", "16", "0.5.0", "2.2.1", false},
    {"M2 Ultra", "76", "0.7.0", "2.2.1", false},  {"M2 Pro", "16", "0.12.2", "2.1.2", false},
    {"M4", "10", "0.20.0", "2.5.1", false},       {"M4 Pro", "16", "0.20.0", "2.5.1", false},
    {"M4 Max", "40", "0.20.0", "2.5.1", false},   {"M4 Pro", "20", "0.24.1", "2.6.0", false},
    {"M3 Ultra", "60", "0.24.1", "2.6.0", false}, {"M3", "10", "0.30.1", "2.9", false},
    {"M1 Ultra", "48", "0.29.3", "2.8.0", false},
};

/* What the row says of itself, unless it says that the heading is wrong. */
static int stated(const char *condition, const char *word, const char **version)
{
    const char *const at = strstr(condition, word);
    *version = at ? at + strlen(word) : "";
    return strncmp(condition, "heading says", 12) == 0 ? 0 : (int)strspn(*version, "0123456789.");
}

void row_framework(const struct validate_row *row, bool mlx, char name[FRAMEWORK_NAME_SIZE])
{
    const bool gpu = strcmp(row->device, "gpu") == 0;
    const char *const framework = mlx ? gpu ? "mlx" : "mlx-cpu" : gpu ? "torch-mps" : "torch-cpu", *version;
    const char *const cores = validate_cell(row, "gpu_cores");
    int length = stated(row->condition, mlx ? "mlx " : "torch ", &version);
    const bool states = length > 0;
    bool known = false, once = false; /* one of the tables; of a second call */
    for (size_t i = 0; i < ARRAY_COUNT(tables) && !known; i++) {
        known =
            strstr(row->source, "mlx-benchmark") && strcmp(row->chip, tables[i].chip) == 0 && strcmp(cores, tables[i].cores) == 0;
        once = known && mlx && tables[i].once;
        if (known && !states)
            length = (int)strlen(version = mlx ? tables[i].mlx : tables[i].torch);
    }
    if (length && known && gpu)
        snprintf(name, FRAMEWORK_NAME_SIZE, "%s %.*s, %s%s%s", framework, length, version, row->chip, *cores ? " " : "", cores);
    else if (length)
        snprintf(name, FRAMEWORK_NAME_SIZE, "%s %.*s%s", framework, length, version, once ? ROW_FRAMEWORK_ONCE : "");
    else
        snprintf(name, FRAMEWORK_NAME_SIZE, "%s, version not stated", framework);
}

const char *row_framework_set(const struct validate_row *row)
{
    static const struct {
        bool by_source;
        const char *word, *set;
    } sets[] = {
        {false, "_mlx_", "mlx"},     {false, "_mps", "mps"},        {true, "metal-flash-attention", "mfa"},
        {true, "llama.cpp", "ggml"}, {true, "whisper.cpp", "ggml"}, {true, "GPU-Benchmarks-on-LLM-Inference", "ggml"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        if (strstr(sets[i].by_source ? row->source : row->what, sets[i].word))
            return sets[i].set;
    return "-";
}

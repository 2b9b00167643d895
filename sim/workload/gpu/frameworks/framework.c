#include "sim/workload/gpu/frameworks/framework.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "sim/workload/gpu/frameworks/framework_plan.h"
#include "sim/workload/gpu/frameworks/framework_run.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets ---- */

static const struct framework_set_info sets[] = {
    [FRAMEWORK_ORCHARD] = {"orchard", "", "kernels of orchard's library, written for the modelled hardware"},
    [FRAMEWORK_MLX] = {"mlx", "0.0.6 to 0.30.1",
                       "as MLX's Metal kernels: tiles, passes and dispatch rules by version, known from its source"},
    [FRAMEWORK_MPS] =
        {"mps", "2.1 to 2.9",
         "a guess: the kernels behind PyTorch's MPS are closed; versions are PyTorch's, and those up to 2.4 stand for macOS 14"},
    [FRAMEWORK_MFA] = {"mfa", "2024-08",
                       "as the Metal kernels of metal-flash-attention: blocks by family, cores and size, known from its source"},
    [FRAMEWORK_GGML] = {"ggml", "2023-06 to 2026-01",
                        "as the Metal kernels of ggml (llama.cpp): versions are months of its builds, known from its source"},
};

static const struct {
    uint32_t oldest, newest;
} versions[ARRAY_COUNT(sets)] = {
    [FRAMEWORK_MLX] = {framework_version(0, 0, 6), framework_version(0, 30, 1)},
    [FRAMEWORK_MPS] = {framework_version(2, 1, 0), framework_version(2, 9, 0)},
    [FRAMEWORK_MFA] = {framework_version(2024, 8, 0), framework_version(2024, 8, 0)},
    [FRAMEWORK_GGML] = {framework_version(2023, 6, 0), framework_version(2026, 1, 0)},
};

/* One number for all chips and formats, fitted to the rows llama7b_tg128 in Q4_0 (llama.cpp 8e672ef, discussion 4167: HW02513,
 * HW02535, HW02553, HW02563, HW02569, HW02581, HW02593, HW02599, HW02603, HW02631, HW02637, HW02643, HW02649): what their tokens
 * take beyond the simulated kernels and gpu.between_us, over 804 launches; the squares of their errors are least there. Those
 * builds encode each launch anew for each token, with buffers that Metal tracks. Encoding alone is a quarter of it: 0.22 to 0.27
 * ms of a token of some 500 launches went away when later builds submitted the first ones early (llama.cpp pull request 9698). */
double framework_launch_us(const struct framework_choice *choice)
{
    return choice->set == FRAMEWORK_GGML ? 2.7 : 0;
}

size_t framework_set_count(void)
{
    return ARRAY_COUNT(sets);
}

const struct framework_set_info *framework_set_at(size_t index)
{
    return &sets[index];
}

static bool find_set(const char *name, size_t length, enum framework_set *set)
{
    for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
        if (strlen(sets[i].name) == length && memcmp(sets[i].name, name, length) == 0)
            return *set = (enum framework_set)i, true;
    return false;
}

/* "0.20", "0.20.1", "2023-11": up to three numbers. */
static bool read_version(const char *text, uint32_t *version)
{
    unsigned long number[3] = {0};
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        number[i] = strtoul(text, &end, 10);
        if (end == text || number[i] > (i ? 255 : 65535))
            return false;
        if (!*end) {
            *version = framework_version(number[0], number[1], number[2]);
            return true;
        }
        if (*end != '.' && *end != '-')
            return false;
        text = end + 1;
    }
    return false;
}

static char letter_of(const char *chip_name)
{
    return strstr(chip_name, "Ultra") ? 'd' : strstr(chip_name, "Max") || strstr(chip_name, "Pro") ? 's' : 'g';
}

static unsigned family_of(const char *chip_name)
{
    const unsigned generation = *chip_name == 'M' ? (unsigned)strtoul(chip_name + 1, NULL, 10) : 1;
    return generation < 2 ? 7 : generation < 3 ? 8 : 9;
}

bool framework_choose(const char *text, const char *chip_name, struct framework_choice *choice, struct orch_error *error)
{
    const size_t length = strcspn(text, "@");
    struct suggest s;
    char word[64], phrase[96];
    *choice = (struct framework_choice){.letter = letter_of(chip_name), .family = family_of(chip_name)};
    if (!find_set(text, length, &choice->set)) {
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        suggest_start(&s, word);
        for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
            suggest_offer(&s, sets[i].name);
        orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernels") " %s: there is no such set%s", word,
                  suggest_phrase(&s, phrase, sizeof phrase));
        for (size_t i = 0; i < ARRAY_COUNT(sets); i++)
            orch_fail_more(error, "%s%s", i ? "|" : " (", sets[i].name);
        return orch_fail_more(error, "; with a version, as in mlx@0.20)");
    }
    choice->version = versions[choice->set].newest;
    if (!text[length])
        return true;
    if (choice->set == FRAMEWORK_ORCHARD)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernels") " %.60s: orchard's own kernels have no version", text);
    return (read_version(text + length + 1, &choice->version) && choice->version >= versions[choice->set].oldest &&
            choice->version <= versions[choice->set].newest) ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernels") " %.60s: versions that are known go from %s", text,
                     sets[choice->set].versions);
}

void framework_describe(const struct framework_choice *choice, char text[FRAMEWORK_TEXT_BYTES])
{
    const uint32_t v = choice->version;
    if (choice->set == FRAMEWORK_ORCHARD)
        snprintf(text, FRAMEWORK_TEXT_BYTES, "orchard");
    else if (choice->set == FRAMEWORK_GGML || choice->set == FRAMEWORK_MFA)
        snprintf(text, FRAMEWORK_TEXT_BYTES, "%s@%u-%02u", sets[choice->set].name, v >> 16, v >> 8 & 255);
    else
        snprintf(text, FRAMEWORK_TEXT_BYTES, "%s@%u.%u.%u", sets[choice->set].name, v >> 16, v >> 8 & 255, v & 255);
}

/* ---- operators ---- */

static const struct operator_rule {
    struct framework_operator_info info;
    bool (*rule)(struct framework_plan *plan);
} operators[] = {
    {{FRAMEWORK_MLX, "elementwise", "f32 f16",
      "one element a thread, from 0.25.2 eight bytes a thread; a launch for each function"},
     mlx_elementwise},
    {{FRAMEWORK_MLX, "gemm", "f32 f16",
      "steel gemm: tiles by version, size and kind of chip; parts of k for small results; products with a vector"},
     mlx_gemm},
    {{FRAMEWORK_MLX, "gemv", "f32 f16", "gemv: rows of four a simdgroup, from 0.29.3 by shape"}, mlx_gemv},
    {{FRAMEWORK_MLX, "reduce", "f32 f16",
      "sum, max, min (f32): up to 0.16 results are set and added to, from 0.17 two passes; argmax, argmin: a threadgroup a "
      "result"},
     mlx_reduce},
    {{FRAMEWORK_MLX, "conv2d", "f32 f16",
      "images N H W C, weights O R S C: unfolded and multiplied, implicit products, or Winograd's method, by version and size"},
     mlx_conv2d},
    {{FRAMEWORK_MLX, "softmax", "f32 f16", "rows of up to 4096 in registers, longer ones in two passes"}, mlx_softmax},
    {{FRAMEWORK_MLX, "concat", "f32 f16", "a copy for each array, one element a thread"}, mlx_concat},
    {{FRAMEWORK_MLX, "copy", "f32 f16", "as elementwise"}, mlx_copy},
    {{FRAMEWORK_MLX, "attention", "f32 f16",
      "fused from 0.24: up to 8 queries a threadgroup each, heads of 64, 96, 128, 256; more in rows of 32, heads of 64, 80, 128; "
      "else "
      "a product, softmax, product"},
     mlx_attention},
    {{FRAMEWORK_MLX, "cache-attention", "f32 f16", "as attention; long caches in 32 parts, by kind of chip and shared heads"},
     mlx_cache_attention},
    /* MPSGraph compiles its kernels when it meets a graph, and nobody has published them: a guess, marked as one wherever it
       runs. */
    {{FRAMEWORK_MPS, "elementwise", "f32 f16", "guess: as MLX's newest"}, mlx_elementwise},
    {{FRAMEWORK_MPS, "gemm", "f32 f16", "guess: tiles as MLX's newest, or a result a thread where times say so"}, mps_gemm},
    {{FRAMEWORK_MPS, "gemv", "f32 f16", "guess: as MLX's newest"}, mlx_gemv},
    {{FRAMEWORK_MPS, "reduce", "f32 f16",
      "guess: as MLX's newest; places along columns of more than 64 elements a result a thread, others two simdgroups and more"},
     mps_reduce},
    {{FRAMEWORK_MPS, "conv2d", "f32 f16",
      "guess: images N H W C as PyTorch feeds them, up to 2.4 turned afterwards; implicit products as MLX's newest"},
     mps_conv2d},
    {{FRAMEWORK_MPS, "softmax", "f32 f16",
      "guess: up to 2.4 a kernel for each part of it, then as MLX's newest, short rows several in a simdgroup"},
     mps_softmax},
    {{FRAMEWORK_MPS, "concat", "f32 f16", "guess: as MLX's newest"}, mlx_concat},
    {{FRAMEWORK_MPS, "copy", "f32 f16", "guess: as MLX's newest"}, mlx_copy},
    {{FRAMEWORK_MFA, "gemm", "f32 f16",
      "up to M2 48 x 48 or 32 x 32 by four simdgroups through threadgroup memory, from M3 on 32 x 32 by one, read in place"},
     mfa_gemm},
    {{FRAMEWORK_GGML, "gemm", "f16", "mul_mm: 64 rows of weights x 32 tokens; weights in rows (tb=1), one token as mul_mv"},
     ggml_gemm},
    {{FRAMEWORK_GGML, "gemv", "f32 f16 q4_0 q8_0 q4_k q6_k",
      "mul_mv: rows a simdgroup and simdgroups a threadgroup by type and version; before 2023-11 only q4_0 is known"},
     ggml_gemv},
    {{FRAMEWORK_GGML, "rmsnorm", "f32", "up to 2025 weights in a launch of their own, threadgroups of one thread"}, ggml_rmsnorm},
    {{FRAMEWORK_GGML, "softmax", "f32", "three passes, a simdgroup a row where its length is a multiple of four"}, ggml_softmax},
    {{FRAMEWORK_GGML, "elementwise", "f32", "a launch for each function, threadgroups of one thread with four elements"},
     ggml_elementwise},
    {{FRAMEWORK_GGML, "copy", "f32 f16", "rows of 128 elements, a threadgroup each"}, ggml_copy},
    {{FRAMEWORK_GGML, "rope", "f32",
      "a threadgroup a head and token, as many threads as elements, a pair each: half of them idle"},
     ggml_rope},
    {{FRAMEWORK_GGML, "cache-attention", "f32 f16",
      "one token: scores, scale, mask, softmax (since 2023-12 these three at once), values and a copy; values in f16: "
      "[head][d][token]"},
     ggml_cache_attention},
};

size_t framework_operator_count(void)
{
    return ARRAY_COUNT(operators);
}

const struct framework_operator_info *framework_operator_at(size_t index)
{
    return &operators[index].info;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* "mlx has no layernorm; it has gemm (f32 f16), ..." */
static bool has_none(const struct framework_choice *choice, const struct gpu_library *library, struct orch_error *error)
{
    char name[FRAMEWORK_TEXT_BYTES];
    framework_describe(choice, name);
    orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernels") " %s: there is no %s in %s; there is", name, library->request.info->name,
              gpu_type_name(library->request.type));
    const char *comma = " ";
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
        if (operators[i].info.set != choice->set)
            continue;
        orch_fail_more(error, "%s%s (%s)", comma, operators[i].info.name, operators[i].info.precisions);
        comma = ", ";
    }
    return false;
}

static const struct operator_rule *find_rule(enum framework_set set, const char *name, size_t length, const char *precision)
{
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
        const struct framework_operator_info *const o = &operators[i].info;
        if (o->set == set && strlen(o->name) == length && memcmp(o->name, name, length) == 0 &&
            has_word(o->precisions, precision))
            return &operators[i];
    }
    return NULL;
}

bool framework_has(enum framework_set set, const char *name, size_t length, const char *precision)
{
    return find_rule(set, name, length, precision) != NULL;
}

/* Of ggml's first builds only the product of blocks and a vector is known. */
#define WHOLE_GGML framework_version(2023, 11, 0)

static bool is_known(const struct framework_choice *choice, const struct operator_rule *o)
{
    return choice->set != FRAMEWORK_GGML || choice->version >= WHOLE_GGML || o->rule == ggml_gemv;
}

bool framework_apply(const struct framework_choice *choice, struct gpu_library *library, struct orch_error *error)
{
    if (choice->set == FRAMEWORK_ORCHARD)
        return true;
    const char *const name = library->request.info->name;
    const struct operator_rule *const o = find_rule(choice->set, name, strlen(name), gpu_type_name(library->request.type));
    if (o && !is_known(choice, o))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("kernels") " ggml: %s is known from 2023-11 on, before that only gemv",
                         name);
    return o ? framework_plan_run(choice, library, o->rule, error) : has_none(choice, library, error);
}

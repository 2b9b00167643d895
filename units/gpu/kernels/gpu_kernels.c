#include "units/gpu/kernels/gpu_kernels.h"

#include "isa/isa_suggest.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 128 };

static const struct gpu_kernel_family *const families[] = {
    &gpu_family_stream, &gpu_family_gemm, &gpu_family_gemv, &gpu_family_attention,
    &gpu_family_elementwise, &gpu_family_reduce, &gpu_family_norm, &gpu_family_conv, &gpu_family_pool, &gpu_family_layout,
    &gpu_family_sort, &gpu_family_scan,
};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* Blocks of quantised types: ggml (block_q4_0, block_q8_0, block_q4_K). */
static const struct type_row {
    const char *name;
    unsigned block_elements, block_bytes;
} types[GPU_TYPE_COUNT] = {
    [GPU_F32] = {"f32", 1, 4}, [GPU_F16] = {"f16", 1, 2},      [GPU_BF16] = {"bf16", 1, 2},
    [GPU_I32] = {"i32", 1, 4}, [GPU_U32] = {"u32", 1, 4},      [GPU_U8] = {"u8", 1, 1},
    [GPU_Q4_0] = {"q4_0", 32, 18}, [GPU_Q8_0] = {"q8_0", 32, 34}, [GPU_Q4_K] = {"q4_k", 256, 144},
};

const char *gpu_type_name(enum gpu_type type)
{
    return type < GPU_TYPE_COUNT ? types[type].name : "?";
}

uint64_t gpu_type_bytes(enum gpu_type type, uint64_t count)
{
    const struct type_row *row = &types[type];
    return (count + row->block_elements - 1) / row->block_elements * row->block_bytes;
}

/* ---- the table ---- */

size_t gpu_kernel_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; i < FAMILIES; i++)
        count += families[i]->count;
    return count;
}

const struct gpu_kernel_info *gpu_kernel_at(size_t index)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        if (index < families[i]->count)
            return &families[i]->row[index];
        index -= families[i]->count;
    }
    return NULL;
}

const struct gpu_kernel_info *gpu_kernel_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < FAMILIES; i++)
        for (size_t k = 0; k < families[i]->count; k++) {
            const struct gpu_kernel_info *info = &families[i]->row[k];
            if (strlen(info->name) == length && memcmp(info->name, name, length) == 0)
                return info;
        }
    return NULL;
}

/* ---- parsing ---- */

struct parser {
    const char *at;
    struct gpu_kernel_request *request;
    bool given[GPU_KERNEL_PARAMETERS];
    struct isa_error *error;
};

/* Reads up to one of `ends`; false when it is empty or does not fit. */
static bool read_word(struct parser *p, const char *ends, char word[WORD_BYTES])
{
    const size_t length = strcspn(p->at, ends);
    if (length == 0 || length >= WORD_BYTES)
        return false;
    memcpy(word, p->at, length);
    word[length] = '\0';
    p->at += length;
    return true;
}

static bool unknown_kernel(const char *name, struct isa_error *error)
{
    struct isa_suggest suggest;
    char phrase[96];
    isa_suggest_start(&suggest, name);
    for (unsigned i = 0; i < FAMILIES; i++)
        for (size_t k = 0; k < families[i]->count; k++)
            isa_suggest_offer(&suggest, families[i]->row[k].name);
    isa_suggest_text(&suggest, phrase, sizeof phrase);
    return gpu_kernel_refuse(error, "unknown kernel '%s'%s", name, phrase);
}

static bool unknown_option(struct parser *p, const char *name)
{
    const struct gpu_kernel_info *info = p->request->info;
    struct isa_suggest suggest;
    char phrase[96];
    isa_suggest_start(&suggest, name);
    for (unsigned i = 0; info->parameter[i].name; i++)
        isa_suggest_offer(&suggest, info->parameter[i].name);
    isa_suggest_text(&suggest, phrase, sizeof phrase);
    return gpu_kernel_refuse(p->error, "%s has no option '%s'%s; it takes %s", info->name, name, phrase, info->grammar);
}

/* ", did you mean ...": candidates are pieces of `words`, so the nearest is kept in `nearest`. */
static void offer_words(struct isa_suggest *suggest, const char *words, const char *value, char nearest[WORD_BYTES])
{
    isa_suggest_start(suggest, value);
    while (*words) {
        char word[WORD_BYTES];
        const size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        isa_suggest_offer(suggest, word);
        if (suggest->nearest == word) {
            memcpy(nearest, word, WORD_BYTES);
            suggest->nearest = nearest;
        }
        words += length + (words[length] == '|');
    }
}

/* Position of `value` in "relu|gelu|silu". */
static bool word_value(const char *words, const char *value, int64_t *index)
{
    const size_t length = strlen(value);
    *index = 0;
    for (;;) {
        const size_t part = strcspn(words, "|");
        if (part == length && memcmp(words, value, length) == 0)
            return true;
        if (!words[part])
            return false;
        words += part + 1;
        ++*index;
    }
}

/* Takes the next word of "add+relu" off `chain`. */
static void chain_word(const char **chain, char word[WORD_BYTES])
{
    const size_t length = strcspn(*chain, "+");
    snprintf(word, WORD_BYTES, "%.*s", (int)length, *chain);
    *chain += length + ((*chain)[length] == '+');
}

/* The word that is unknown: of a chain the first such one, else the last. */
static void wrong_word(const struct gpu_kernel_parameter *row, const char *value, char word[WORD_BYTES])
{
    int64_t index;
    do
        chain_word(&value, word);
    while (word_value(row->words, word, &index) && *value);
}

static bool bad_value(struct parser *p, const struct gpu_kernel_parameter *row, const char *value)
{
    const char *kernel = p->request->info->name;
    if (row->words) {
        struct isa_suggest suggest;
        char phrase[96], word[WORD_BYTES], nearest[WORD_BYTES];
        wrong_word(row, value, word);
        offer_words(&suggest, row->words, word, nearest);
        isa_suggest_text(&suggest, phrase, sizeof phrase);
        return gpu_kernel_refuse(p->error, "%s: %s has no '%.60s'%s; %s of %s", kernel, row->name, word, phrase,
                                 row->chain ? "names with + between" : "one", row->words);
    }
    return gpu_kernel_refuse(p->error, "%s: %s is a number from %" PRId64 " to %" PRId64 ", not '%s'", kernel, row->name,
                             row->least, row->most, value);
}

/* "add+relu" */
static bool chain_value(const char *words, const char *value, int64_t *chain)
{
    *chain = 0;
    for (unsigned i = 0; i < GPU_CHAIN_WORDS; i++) {
        char word[WORD_BYTES];
        int64_t index;
        chain_word(&value, word);
        if (!word_value(words, word, &index))
            return false;
        *chain |= (index + 1) << (GPU_CHAIN_BITS * i);
        if (!*value)
            return true;
    }
    return false;
}

static bool decimal_value(const struct gpu_kernel_parameter *row, const char *value, double *number)
{
    char *end;
    *number = strtod(value, &end);
    return end != value && !*end && isfinite(*number) && *number >= (double)row->least && *number <= (double)row->most;
}

/* "64M": binary multiples, as sizes in bytes are written. */
static bool multiple(const char **end, int64_t *number)
{
    static const char letters[] = "KMG";
    const char *letter = **end ? strchr(letters, **end) : NULL;
    if (!letter)
        return true;
    const unsigned shift = 10 * (unsigned)(letter - letters + 1);
    ++*end;
    if (*number < 0 || *number > INT64_MAX >> shift)
        return false;
    *number <<= shift;
    return true;
}

static bool whole_value(const struct gpu_kernel_parameter *row, const char *value, int64_t *number)
{
    char *stop;
    errno = 0;
    *number = strtoll(value, &stop, 10);
    const char *end = stop;
    return end != value && errno == 0 && multiple(&end, number) && !*end && *number >= row->least && *number <= row->most;
}

static bool set_parameter(struct parser *p, unsigned index, const char *value)
{
    const struct gpu_kernel_parameter *row = &p->request->info->parameter[index];
    if (p->given[index])
        return gpu_kernel_refuse(p->error, "%s: %s is given twice", p->request->info->name, row->name);
    p->given[index] = true;
    const bool ok = row->chain     ? chain_value(row->words, value, &p->request->value[index])
                    : row->words   ? word_value(row->words, value, &p->request->value[index])
                    : row->decimal ? decimal_value(row, value, &p->request->decimal[index])
                                   : whole_value(row, value, &p->request->value[index]);
    return ok || bad_value(p, row, value);
}

/* "128x1000" */
static bool read_positional(struct parser *p)
{
    const struct gpu_kernel_info *info = p->request->info;
    char value[WORD_BYTES];
    for (unsigned i = 0; i < info->positional; i++) {
        if (i && *p->at == 'x')
            p->at++;
        if (!read_word(p, "x,", value))
            return gpu_kernel_refuse(p->error, "%s: %s is missing; it takes %s", info->name, info->parameter[i].name,
                                     info->grammar);
        if (!set_parameter(p, i, value))
            return false;
    }
    if (info->positional && *p->at && *p->at != ',')
        return gpu_kernel_refuse(p->error, "%s takes %s; '%.40s' is too much", info->name, info->grammar, p->at);
    return true;
}

static bool read_option(struct parser *p)
{
    const struct gpu_kernel_info *info = p->request->info;
    char name[WORD_BYTES], value[WORD_BYTES];
    if (!read_word(p, "=,", name) || *p->at++ != '=' || !read_word(p, ",", value))
        return gpu_kernel_refuse(p->error, "%s: expected NAME=VALUE; it takes %s", info->name, info->grammar);
    for (unsigned i = 0; info->parameter[i].name; i++)
        if (strcmp(info->parameter[i].name, name) == 0)
            return set_parameter(p, i, value);
    return unknown_option(p, name);
}

static bool read_options(struct parser *p)
{
    bool comma = p->request->info->positional > 0;
    while (*p->at) {
        if (comma && *p->at == ',')
            p->at++;
        if (!read_option(p))
            return false;
        comma = true;
    }
    return true;
}

static bool read_precision(const char *precision, struct parser *p)
{
    const struct gpu_kernel_info *info = p->request->info;
    const char *list = info->precisions;
    const size_t wanted = precision ? strlen(precision) : strcspn(list, " ");
    const char *name = precision ? precision : list;
    while (*list) {
        const size_t length = strcspn(list, " ");
        if (length == wanted && memcmp(list, name, length) == 0)
            break;
        list += length + (list[length] == ' ');
    }
    for (unsigned t = 0; *list && t < GPU_TYPE_COUNT; t++)
        if (strlen(types[t].name) == wanted && memcmp(types[t].name, name, wanted) == 0) {
            p->request->type = (enum gpu_type)t;
            return true;
        }
    return gpu_kernel_refuse(p->error, "%s on the GPU has no precision '%s'; it has %s", info->name, name, info->precisions);
}

static bool fill_missing(struct parser *p)
{
    const struct gpu_kernel_info *info = p->request->info;
    for (unsigned i = 0; info->parameter[i].name; i++) {
        const struct gpu_kernel_parameter *row = &info->parameter[i];
        if (p->given[i])
            continue;
        if (row->required)
            return gpu_kernel_refuse(p->error, "%s: %s is missing; it takes %s", info->name, row->name, info->grammar);
        p->request->value[i] = row->missing;
        p->request->decimal[i] = (double)row->missing + row->usual;
    }
    return true;
}

bool gpu_kernel_parse(const char *workload, const char *precision, struct gpu_kernel_request *request, struct isa_error *error)
{
    struct parser p = {.request = request, .error = error};
    char name[WORD_BYTES];
    const size_t length = strcspn(workload, ":");
    snprintf(name, sizeof name, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES - 1, workload);
    request->info = gpu_kernel_find(workload, length);
    if (!request->info)
        return unknown_kernel(name, error);
    memset(request->value, 0, sizeof request->value);
    memset(request->decimal, 0, sizeof request->decimal);
    p.at = workload[length] ? workload + length + 1 : workload + length;
    return read_precision(precision, &p) && read_positional(&p) && read_options(&p) && fill_missing(&p);
}

/* ---- canonical text ---- */

struct output {
    char *text;
    size_t size;
    int length;
};

__attribute__((format(printf, 2, 3))) static void append(struct output *out, const char *format, ...)
{
    va_list args;
    const size_t used = (size_t)out->length < out->size ? (size_t)out->length : out->size;
    va_start(args, format);
    out->length += vsnprintf(out->size ? out->text + used : NULL, out->size - used, format, args);
    va_end(args);
}

static void append_word(struct output *out, const char *words, int64_t index)
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    append(out, "%.*s", (int)strcspn(words, "|"), words);
}

static void append_value(struct output *out, const struct gpu_kernel_parameter *row, int64_t value, double decimal)
{
    const int64_t mask = (1 << GPU_CHAIN_BITS) - 1;
    if (row->decimal)
        append(out, "%.17g", decimal);
    else if (row->chain)
        for (; value; value >>= GPU_CHAIN_BITS) {
            append_word(out, row->words, (value & mask) - 1);
            append(out, "%s", value >> GPU_CHAIN_BITS ? "+" : "");
        }
    else if (row->words)
        append_word(out, row->words, value);
    else
        append(out, "%" PRId64, value);
}

int gpu_kernel_describe(const struct gpu_kernel_request *request, char *text, size_t size)
{
    const struct gpu_kernel_info *info = request->info;
    struct output out = {text, size, 0};
    bool first = true;
    append(&out, "%s", info->name);
    for (unsigned i = 0; info->parameter[i].name; i++) {
        const struct gpu_kernel_parameter *row = &info->parameter[i];
        const bool missing = row->decimal ? request->decimal[i] == (double)row->missing + row->usual
                                          : request->value[i] == row->missing;
        if (i >= info->positional && missing && !row->required)
            continue;
        append(&out, "%s", first ? ":" : i < info->positional ? "x" : ",");
        if (i >= info->positional)
            append(&out, "%s=", row->name);
        append_value(&out, row, request->value[i], request->decimal[i]);
        first = false;
    }
    return out.length;
}

/* ---- building ---- */

unsigned gpu_kernel_add_buffer(struct gpu_kernel *kernel, const char *name, enum gpu_type type, uint64_t count,
                               enum gpu_buffer_role role, double low, double high)
{
    if (kernel->buffers == GPU_KERNEL_BUFFERS)
        return GPU_KERNEL_BUFFERS - 1;
    struct gpu_kernel_buffer *b = &kernel->buffer[kernel->buffers];
    *b = (struct gpu_kernel_buffer){.type = type, .count = count, .role = role, .low = low, .high = high};
    snprintf(b->name, sizeof b->name, "%s", name);
    return kernel->buffers++;
}

bool gpu_kernel_build(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error)
{
    memset(kernel, 0, sizeof *kernel);
    if (request->info->build(request, kernel, error))
        return true;
    gpu_kernel_free(kernel);
    return false;
}

void gpu_kernel_free(struct gpu_kernel *kernel)
{
    for (unsigned i = 0; i < kernel->steps; i++)
        agx_assembly_free(&kernel->step[i].code);
    memset(kernel, 0, sizeof *kernel);
}

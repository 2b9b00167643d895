/* Workload texts for the Neural Engine's kernel library: raw ones, and ones put together from a kernel's own parameters. What
 * parses has a canonical text that reads back. What builds is saved and read back to the same bytes, and neither descriptors nor
 * tensors reach beyond the buffers. The first byte chooses generation, weights and kind of text.
 */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 400, REPEATS_MAX = 300 };
#define WORK_MAX 300000.0 /* product of a request's numbers; larger ones would only take longer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct bytes {
    const uint8_t *at;
    size_t left;
};

static unsigned next(struct bytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

/* Mostly small numbers, some of them at limits. */
static int64_t number(struct bytes *b, const struct kernel_parameter *row)
{
    static const int64_t edges[] = {31, 32, 33, 64, 100, 255, 1000, 16384, 16385};
    const unsigned choice = next(b);
    const int64_t value = choice >= 240 ? edges[choice % (ARRAY_COUNT(edges))] : choice % 12;
    return value < row->least ? row->least : value > row->most ? row->most : value;
}

static void word(struct bytes *b, const char *words, char *text, size_t room)
{
    unsigned skip = next(b) % 48;
    const char *at = words;
    for (; skip; skip--) {
        at += strcspn(at, "|");
        at = *at ? at + 1 : words;
    }
    snprintf(text, room, "%.*s", (int)strcspn(at, "|"), at);
}

static void put_together(struct bytes *b, char *text)
{
    const struct ane_kernel_info *info = ane_kernel_at(next(b) % ane_kernel_count());
    int used = snprintf(text, TEXT_MAX, "%s", info->name);
    for (unsigned i = 0; info->parameter[i].name && used < TEXT_MAX - 80; i++) {
        const struct kernel_parameter *row = &info->parameter[i];
        char value[48];
        if (i >= info->positional && !row->required && next(b) % 2)
            continue;
        if (row->words)
            word(b, row->words, value, sizeof value);
        else
            snprintf(value, sizeof value, "%" PRId64, number(b, row));
        used += snprintf(text + used, (size_t)(TEXT_MAX - used), "%s",
                         text[strlen(info->name)] == '\0' ? ":"
                         : i < info->positional           ? "x"
                                                          : ",");
        if (i >= info->positional)
            used += snprintf(text + used, (size_t)(TEXT_MAX - used), "%s=", row->name);
        used += snprintf(text + used, (size_t)(TEXT_MAX - used), "%s", value);
    }
}

/* Whether this parameter is one of those that descriptors are repeated for: images, batches, heads. */
static bool repeats(const struct ane_kernel_request *q, unsigned index)
{
    const char *name = q->info->parameter[index].name;
    const bool attention = strcmp(q->info->name, "attention") == 0;
    return (strcmp(name, "n") == 0 && index >= q->info->positional) || strcmp(name, "batch") == 0 ||
           (attention && (strcmp(name, "b") == 0 || strcmp(name, "h") == 0));
}

static bool is_small(const struct ane_kernel_request *q)
{
    double work = 1;
    for (unsigned i = 0; q->info->parameter[i].name; i++)
        if (repeats(q, i) && q->value[i] > REPEATS_MAX)
            return false;
        else if (!q->info->parameter[i].words && !q->info->parameter[i].decimal && q->value[i] > 1)
            work *= (double)q->value[i];
    if (strcmp(q->info->name, "conv-stack") == 0)
        work *= (double)q->value[1]; /* there are as many output channels as input channels */
    return work <= WORK_MAX;
}

static void check_text(const struct ane_kernel_request *q)
{
    struct ane_kernel_request again = *q;
    struct isa_error error;
    char first[1000], second[1000];
    require(ane_kernel_describe(q, first, sizeof first) < (int)sizeof first);
    require(ane_kernel_parse(first, NULL, &again, &error));
    ane_kernel_describe(&again, second, sizeof second);
    require(strcmp(first, second) == 0);
}

static void check_operand(const struct ane_program *p, const struct ane_task *task, const struct ane_operand *operand)
{
    uint64_t from, to;
    if (operand->place != ANE_PLACE_DRAM)
        return;
    ane_operand_span(task, operand, &from, &to);
    require(to <= p->port[operand->bar].bytes);
}

static void check_tensor(const struct ane_kernel *kernel, const struct ane_kernel_tensor *t)
{
    uint64_t last = t->offset;
    require(t->rank > 0);
    if (t->role == ANE_TENSOR_CONSTANT)
        return;
    for (unsigned i = 0; i < t->rank; i++) {
        require(t->shape[i] > 0);
        last += (uint64_t)(t->shape[i] - 1) * t->stride[i];
    }
    require(last + 2 <= kernel->program.port[t->bar].bytes);
}

static void check_program(const struct ane_kernel *kernel)
{
    uint8_t *first = NULL, *second = NULL;
    size_t first_size, second_size;
    struct ane_program again;
    struct isa_error error;
    require(ane_program_save(&kernel->program, &first, &first_size, &error));
    require(ane_program_parse(first, first_size, &again, &error));
    require(ane_program_save(&again, &second, &second_size, &error));
    require(first_size == second_size && memcmp(first, second, first_size) == 0);
    require(again.count == kernel->program.count);
    for (size_t i = 0; i < again.count; i++) {
        check_operand(&kernel->program, &again.task[i], &again.task[i].source);
        check_operand(&kernel->program, &again.task[i], &again.task[i].second);
        check_operand(&kernel->program, &again.task[i], &again.task[i].result);
    }
    for (unsigned i = 0; i < kernel->tensors; i++)
        check_tensor(kernel, &kernel->tensor[i]);
    ane_program_free(&again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const precisions[] = {NULL, "f16", "i8", "i4", "p6", "sparse", "f32", "p2"};
    struct bytes b = {data, size};
    const unsigned choice = next(&b);
    const enum ane_generation generation = choice & 8 ? ANE_H15 : ANE_H13;
    struct ane_kernel_request q = {
        .limits = {.generation = generation,
                   .l2_bytes = 2u << 20,
                   .kernel_max = 29,
                   .dimension_max = 16384,
                   .channels_max = 65536,
                   .pool_max = 31,
                   .int8_weights = generation > ANE_H13,
                   .int4_palette = true,
                   .sparse_weights = true},
    };
    struct isa_error error;
    struct ane_kernel kernel;
    char text[TEXT_MAX];
    if (choice & 16)
        snprintf(text, sizeof text, "%.*s", (int)b.left, b.left ? (const char *)b.at : "");
    else
        put_together(&b, text);
    if (!ane_kernel_parse(text, precisions[choice & 7], &q, &error))
        return 0;
    check_text(&q);
    if (is_small(&q) && ane_kernel_build(&q, &kernel, &error)) {
        check_program(&kernel);
        ane_kernel_free(&kernel);
    }
    return 0;
}

/* Requests for kernels of the NEON library and of the AMX library's rows: any text is refused, or its canonical text reads back
 * to the same request. What builds has counts that fit, words that fit, and shares that cover the items of each call once. The
 * first byte chooses the library and the kernel, the second one precision and threads; kernels of the AMX have one. */
#include "units/amx/kernels/amx_kernels.h"
#include "units/cpu/kernels/cpu_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_call(const struct routine_work *w, const struct routine_call *c, unsigned threads)
{
    uint64_t bound[ROUTINE_THREADS + 1];
    double weight[ROUTINE_THREADS];
    require(c->words < ROUTINE_WORDS && c->symbol[0]);
    for (unsigned i = 0; i < c->words; i++)
        require(c->word[i].operand < (int)w->operands);
    for (unsigned t = 0; t < threads; t++)
        weight[t] = t % 2 ? 0.3 : 1;
    routine_split(c, threads, weight, bound);
    require(bound[0] == 0 && bound[threads] == c->item_count);
    for (unsigned t = 0; t < threads; t++)
        require(bound[t] <= bound[t + 1]);
}

static void check_work(const struct routine_request *r)
{
    struct routine_work w;
    struct isa_error error = {0};
    if (!routine_build(r, &w, &error)) {
        require(error.text[0]);
        return;
    }
    require(w.calls > 0 && w.calls < ROUTINE_CALLS && w.operands < ROUTINE_OPERANDS && w.min_bytes > 0);
    for (unsigned i = 0; i < w.operands; i++)
        require(w.operand[i].count > 0 && w.operand[i].count <= UINT64_C(1) << 56);
    for (unsigned i = 0; i < w.calls; i++)
        check_call(&w, &w.call[i], r->threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const precisions[] = {NULL, "f32", "f16", "bf16", "i8", "q4_0", "q8_0", "q4_k", "q6_k", "u8", "i32", "f8"};
    char text[TEXT_MAX], canonical[2 * TEXT_MAX], again[2 * TEXT_MAX];
    struct routine_request r, second;
    struct isa_error error = {0};
    if (size < 2 || size >= TEXT_MAX - 32)
        return 0;
    const char *const precision = precisions[data[1] % 11];
    const struct routine_library *const library = data[0] & 0x80 ? &amx_kernels : &cpu_kernels;
    const size_t kernel = (data[0] & 0x7f) % (library->count + 1);
    const int length = kernel < library->count ? snprintf(text, sizeof text, "%s:", library->row[kernel]->operation->name) : 0;
    memcpy(text + length, data + 2, size - 2);
    text[(size_t)length + size - 2] = 0;
    if (!routine_read(library, text, precision, &r, &error)) {
        require(error.text[0]);
        return 0;
    }
    routine_write(&r, canonical, sizeof canonical);
    require(routine_read(library, canonical, routine_type_name(r.type), &second, &error));
    routine_write(&second, again, sizeof again);
    require(strcmp(canonical, again) == 0);
    r.threads = 1 + data[1] / 11;
    check_work(&r);
    return 0;
}

/* Arbitrary bytes, and words of the language in arbitrary order, as the file of a row of GPU kernels. It is refused with a
 * reason, or its request is whole; of some of these, arguments are bound to the buffers of a kernel that is there.
 */
#include "isa/array_count.h"
#include "sim/compile/kernel_row.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"buffers\":{",
    "\"steps\":[{\"kernel\":\"a.ll\"",
    "\"x\"",
    "\"y\"",
    "\"f32:8\"",
    "\"x=f32:8\"",
    "\"args\":[",
    "]}",
    "]}]}",
    "\"grid\":64",
    "\"1f\"",
    "8",
    "\"8\"",
    "\"group\":32",
    "{\"kernel\":\"b.ll\"",
    "\"entry\":\"scale\"",
    "\"expect\":{",
    "\"rtol\":1e-3",
    "\"define\":[",
    "true",
    "null",
    "\"optimise\":2",
    "{\"buffers\":{\"x\":\"f32:64\"},\"steps\":[{\"kernel\":\"a.ll\",\"entry\":\"scale\",\"grid\":64,\"group\":32,\"args\":[",
    "\"x\",\"y=f32:64\",\"1f\",64",
    "\"f32:64:seq\"",
    "\"=\"",
};

static void check(const struct kernel_row_request *q)
{
    if (q->steps < 1 || q->steps > KERNEL_ROW_STEPS)
        abort();
    for (unsigned i = 0; i < q->steps; i++) {
        const struct kernel_step *const s = &q->step[i];
        if (!s->how.path || s->how.optimise > 3)
            abort();
        for (size_t a = 0; a < s->launch.arg_count; a++)
            if (!s->launch.args[a])
                abort();
    }
    for (unsigned i = 0; i < q->names; i++)
        if (!q->name[i] || !q->form[i])
            abort();
}

/* The same with a kernel that compiles, and without files. */
static void bind(const struct kernel_row_request *q)
{
    struct kernel_step step[2];
    struct kernel_row_request with = *q;
    struct kernel_row row;
    struct orch_error error = {0};
    for (unsigned i = 0; i < q->steps && i < ARRAY_COUNT(step); i++) {
        step[i] = q->step[i];
        step[i].how = (struct compile_request){
            .path = ORCHARD_SOURCE_DIR "/tests/golden/agx/source/two.ll", .entry = "scale", .optimise = 2};
        for (size_t a = 0; a < step[i].launch.arg_count; a++)
            if (strpbrk(step[i].launch.args[a], "/.") || strlen(step[i].launch.args[a]) > 16)
                return; /* no files, and nothing large */
    }
    with.step = step;
    with.steps = q->steps < ARRAY_COUNT(step) ? q->steps : ARRAY_COUNT(step);
    with.expects = 0;
    if (kernel_row_open(&with, &row, &error)) {
        for (unsigned s = 0; s < row.steps; s++)
            for (unsigned i = 0; i < row.step[s].args; i++)
                if (row.step[s].arg[i].buffer && (row.place[s][i] >= row.buffers || row.buffer[row.place[s][i]].bytes == 0))
                    abort();
    } else if (!error.exit_code || !error.text[0]) {
        abort();
    }
    kernel_row_free(&row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned count;
    char *text = NULL;
    size_t bytes = 0;
    struct orch_error error = {0};
    struct kernel_row_request q;
    FILE *const f = open_memstream(&text, &bytes);
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    if (!f)
        return 0;
    if (size && data[0] % 4)
        for (size_t i = 1; i < size; i++)
            fputs(words[data[i] % ARRAY_COUNT(words)], f);
    else
        fwrite(data, 1, size, f);
    fclose(f);
    kernel_row_is((const uint8_t *)text, bytes);
    struct kernel_row_file *const file = kernel_row_read("folder/row.json", text, bytes, &q, &error);
    if (file)
        check(&q);
    else if (!error.exit_code || !error.text[0])
        abort();
    if (file && count++ % 16 == 0)
        bind(&q);
    kernel_row_file_free(file);
    free(text);
    return 0;
}

/* Arguments and sizes of a launch of a compiled kernel: any text is refused with a reason and an exit code, or gives a launch
 * whose buffers and threadgroup memory are within what a launch may have. The first line is the grid, the second the group, each
 * further one an argument. */
#include "isa/array_count.h"
#include "sim/compile/kernel_launch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 1024, LINES = 8, ZEROS_TO_FILL = 7 };

static const char *const starts[] = {
    "", "f32:", "u8:64:", "i32:4x4:", "threadgroup:", "str:", "bf16:8:rand:", "out:f32:16:", "0x", "-", "1.5"};

static bool set_up(struct abi_kernel *k)
{
    static const struct abi_arg args[] = {{.name = "a", .buffer = true, .type = ELEMENT_F32, .size = 8},
                                          {.name = "n", .type = ELEMENT_I32, .offset = 8, .size = 4},
                                          {.name = "t", .threadgroup = true, .type = ELEMENT_U64, .offset = 16, .size = 8},
                                          {.name = "x", .type = ELEMENT_F16, .offset = 24, .size = 2},
                                          {.name = "grid_threads_x", .type = ELEMENT_U32, .offset = 28, .size = 4}};
    memset(k, 0, sizeof *k);
    strcpy(k->name, "k");
    memcpy(k->arg, args, sizeof args);
    k->args = ARRAY_COUNT(args);
    k->argument_bytes = 32;
    k->threadgroup_memory_bytes = 100;
    return true;
}

/* Files are not what is tried, nor the filling of large buffers. */
static bool is_cheap(const char *text)
{
    return !strchr(text, '/') && !strstr(text, "in:") && !strstr(text, "inout:") && strcspn(text, "KMG") == strlen(text) &&
           strlen(text) - strcspn(text, "0123456789") < ZEROS_TO_FILL;
}

static void complete(char *const line[LINES], unsigned lines, bool outline)
{
    struct abi_kernel k;
    struct orch_error error = {0};
    struct kernel_launch l = {.grid = {0, 0, 0}};
    const char *args[LINES];
    for (unsigned i = 2; i < lines; i++)
        if (is_cheap(args[l.arg_count] = line[i]))
            l.arg_count++;
    l.args = args;
    bool ok = kernel_launch_extent("grid", line[0], l.grid, &error) && kernel_launch_extent("group", line[1], l.group, &error);
    ok = ok && set_up(&k);
    if (!ok && (error.exit_code != ORCH_USAGE || !*error.text))
        abort();
    if (!ok)
        return;
    ok = (outline ? kernel_launch_outline : kernel_launch_complete)(&k, &l, &error);
    if (!ok && (!error.exit_code || !*error.text))
        abort();
    uint64_t bytes = 0;
    for (unsigned i = 0; ok && i < k.args; i++) {
        bytes += k.arg[i].bytes;
        if (k.arg[i].buffer && k.arg[i].start == ABI_START_BYTES && !k.arg[i].initial)
            abort();
    }
    if (ok && (bytes > ABI_BUFFERS_MAX || k.threadgroup_memory_bytes > ABI_GROUP_MEMORY_MAX || !k.grid[0] || !k.group[0]))
        abort();
    abi_kernel_free(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX] = "64\n32\n", *line[LINES], *rest = text;
    unsigned lines = 0;
    if (size < 3 || size > TEXT_MAX / 2)
        return 0;
    const bool free_sizes = data[0] & 1;
    size_t used = free_sizes ? 0 : strlen(text);
    for (size_t i = 1; i < size && used + 32 < TEXT_MAX; i++) {
        const char c = (char)data[i];
        if (c >= 1 && c < (char)ARRAY_COUNT(starts)) { /* these are what arguments begin with */
            strcpy(text + used, starts[(unsigned char)c]);
            used += strlen(text + used);
        } else {
            text[used++] = c;
        }
    }
    text[used] = 0;
    while (lines < LINES && (line[lines] = strsep(&rest, "\n")))
        lines++;
    if (lines >= 2)
        complete(line, lines, data[0] & 2);
    return 0;
}

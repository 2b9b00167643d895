/* Launch descriptions and GPU vector lines from arbitrary bytes: accepted ones obey the limits, refused ones give the reason. */
#define _GNU_SOURCE
#include "sim/workload/gpu/abi_kernel.h"
#include "sim/prove/check/agx_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Every file exists. It holds the bytes of the input, or an image that runs. */
struct world {
    const uint8_t *data;
    size_t size;
};

static bool read_file(void *context, const char *name, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    static const uint8_t image[] = {0x62, 0, 0, 0, 0x88, 0};
    const struct world *w = context;
    const bool code = strncmp(name, "code", 4) == 0;
    (void)error;
    *size = code ? sizeof image : w->size;
    *bytes = malloc(*size + 1);
    require(*bytes != NULL);
    memcpy(*bytes, code ? image : w->data, *size);
    (*bytes)[*size] = 0;
    return true;
}

static void check_description(const char *text, size_t size, const struct world *world)
{
    const struct abi_files files = {read_file, (void *)(uintptr_t)world};
    const struct abi_target target = {"g13g", false};
    struct abi_kernel k;
    struct orch_error error = {0};
    if (abi_kernel_parse(&k, "abi.json", text, size, &files, &target, &error)) {
        require(k.code && k.main_offset < k.code_bytes && k.constants_first + k.constants_count <= 512);
        require((uint64_t)k.group[0] * k.group[1] * k.group[2] <= ABI_GROUP_THREADS_MAX && k.group[0] && k.grid[0] && k.grid[2]);
        require(k.threadgroup_memory_bytes <= ABI_GROUP_MEMORY_MAX);
        for (unsigned i = 0; i < k.args; i++) {
            require(k.arg[i].offset + k.arg[i].size <= 1024 && k.arg[i].offset % 2 == 0);
            require(!k.arg[i].buffer || (k.arg[i].bytes && k.arg[i].bytes == k.arg[i].count * element_type_bytes(k.arg[i].type)));
        }
    } else {
        require(error.exit_code == ORCH_USAGE && strncmp(error.text, "abi.json", 8) == 0);
    }
    abi_kernel_free(&k);
}

static void check_lines(const char *name, const char *prefix, const uint8_t *data, size_t size)
{
    struct check_report report = {.passed = 0};
    struct orch_error error = {.text = ""};
    const int fd = memfd_create("vectors", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, prefix, strlen(prefix)) == (ssize_t)strlen(prefix));
    require(size == 0 || write(fd, data, size) == (ssize_t)size);
    lseek(fd, 0, SEEK_SET);
    if (check_agx_vectors_fd(fd, name, CHECK_AGX_FAST, &report, &error))
        require(report.passed + report.failed > 0);
    else
        require(error.exit_code == ORCH_USAGE && strncmp(error.text, name, strlen(name)) == 0);
    check_report_free(&report);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Descriptions that are nearly complete: the input becomes an argument, the launch, or stands alone. */
    static const char *const starts[] = {
        "", "{\"files\":{\"code\":\"code.bin\"},\"launch\":{\"threads_per_threadgroup\":[32],\"threadgroups\":[1]},\"args\":[{",
        "{\"files\":{\"code\":\"code.bin\"},\"launch\":{\"threads_per_threadgroup\":[", "{\"files\":{\"code\":\"",
        "{\"files\":{\"code\":\"x.s\"},"};
    static const char *const ends[] = {"", "}]}", "],\"threadgroups\":[1]}}",
                                       "\"},\"launch\":{\"threads_per_threadgroup\":[1],\"threadgroups\":[1]}}",
                                       "\"launch\":{\"threads_per_threadgroup\":[1],\"threadgroups\":[1]}}"};
    static const char *const lines[] = {"exec-single.txt", "exec-program.txt", "exec-load.txt", "encode.txt", "mesa-words.tsv"};
    static const char *const prefixes[] = {"1 f n ffffffff ", "1 i 2 ", "1 0 ffffffff ", "", ""};
    if (size < 1 || size > 1 << 14)
        return 0;
    const unsigned which = data[0] % 5;
    const struct world world = {data + 1, size - 1};
    char *text = malloc(size + 512);
    require(text != NULL);
    const int start = snprintf(text, 256, "%s", starts[which]);
    memcpy(text + start, data + 1, size - 1);
    const int end = snprintf(text + start + size - 1, 256, "%s", ends[which]);
    check_description(text, (size_t)start + size - 1 + (size_t)end, &world);
    check_lines(lines[which], prefixes[which], data + 1, size - 1);
    free(text);
    return 0;
}

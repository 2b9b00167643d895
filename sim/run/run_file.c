#include "sim/run/run_file.h"

#include "sim/base/gzip.h"
#include "sim/language/safetensors.h"
#include "sim/network/case.h"
#include "sim/run/workload_hint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX (UINT64_C(1) << 30)

static bool read_bytes(FILE *f, struct run_file *file, struct orch_error *error)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode))
        return orch_fail(error, ORCH_USAGE, "%s: not a file", file->path);
    if ((uint64_t)st.st_size > FILE_MAX)
        return orch_fail(error, ORCH_USAGE, "%s: larger than 1 GiB", file->path);
    file->size = (size_t)st.st_size;
    file->bytes = malloc(file->size ? file->size : 1);
    return (file->bytes && fread(file->bytes, 1, file->size, f) == file->size) ||
           orch_fail(error, ORCH_USAGE, "%s: cannot be read", file->path);
}

bool run_file_read(const char *path, struct run_file *file, struct orch_error *error)
{
    struct stat st;
    *file = (struct run_file){.path = path, .is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode)};
    if (file->is_folder)
        return true;
    FILE *const f = fopen(path, "rb");
    if (!f)
        return workload_no_file(path, strerror(errno), error);
    const bool ok = read_bytes(f, file, error);
    fclose(f);
    return ok && (gzip_unpack(&file->bytes, &file->size, error) || orch_fail_in(error, "%.300s", path));
}

void run_file_free(struct run_file *file)
{
    free(file->bytes);
    file->bytes = NULL;
}

static bool starts_with(const struct run_file *file, const char *magic)
{
    return file->size >= 4 && memcmp(file->bytes, magic, 4) == 0;
}

/* Names the network that lies in a folder, if there is one. */
static bool refuse_folder(const char *path, struct orch_error *error)
{
    char model[4096];
    orch_fail(error, ORCH_USAGE, "%s: not a file, and a folder without abi.json whose name does not end in .mlpackage", path);
    if (net_case_model(path, model, sizeof model))
        orch_fail_more(error, "; did you mean %s?", model);
    return false;
}

bool run_file_refuse(const struct run_file *file, struct orch_error *error)
{
    const char *const path = file->path, *const dot = strrchr(path, '.');
    const uint8_t *const b = file->bytes;
    const size_t n = file->size;
    if (file->is_folder)
        return refuse_folder(path, error);
    if (starts_with(file, "GGUF"))
        return orch_fail(error, ORCH_USAGE, "%s: a GGUF file; its name must end in .gguf", path);
    if (safetensors_is(b, n, n))
        return orch_fail(
            error, ORCH_USAGE,
            "%s: a safetensors file; its name must end in .safetensors, with config.json and tokenizer.json or tokenizer.model "
            "beside it",
            path);
    if (starts_with(file, "\xcf\xfa\xed\xfe") || starts_with(file, "\xca\xfe\xba\xbe"))
        return orch_fail(error, ORCH_UNMODELLED, "%s: Mach-O files are not modelled; compile for AArch64 Linux (ELF)", path);
    if (n == 0)
        return orch_fail(error, ORCH_USAGE, "%s: the file is empty", path);
    if (dot && (strcmp(dot, ".s") == 0 || strcmp(dot, ".agx") == 0))
        return orch_fail(error, ORCH_USAGE,
                         "%s: assembler text of the GPU runs through a launch description: {\"files\": {\"code\": "
                         "\"%.60s\"}, \"launch\": ..., \"args\": [...]}",
                         path, path);
    return orch_fail(error, ORCH_USAGE,
                     "%s: neither an AArch64 ELF file, a GPU launch description nor a Neural Engine program (first bytes %02x "
                     "%02x %02x %02x); what "
                     "runs is in `orchard run " ORCH_OPTION("help") "`, and `orchard examples copy DIR` has one of each",
                     path, n > 0 ? b[0] : 0, n > 1 ? b[1] : 0, n > 2 ? b[2] : 0, n > 3 ? b[3] : 0);
}

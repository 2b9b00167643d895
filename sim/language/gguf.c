#include "sim/language/gguf_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 9999 };

bool gguf_is(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "GGUF", 4) == 0;
}

/* ---- files and their parts ---- */

static bool add_part(struct gguf *gguf, struct mapped_file file, struct orch_error *error)
{
    return mapped_files_add(&gguf->files, file, error) &&
           gguf_read(gguf, file.bytes, file.size, (unsigned)gguf->files.count - 1, error);
}

static bool open_part(struct gguf *gguf, const char *path, struct orch_error *error)
{
    struct mapped_file file;
    return mapped_file_open(&file, path, error) && (add_part(gguf, file, error) || orch_fail_in(error, "%.300s", path));
}

/* Parts are called NAME-00001-of-00003.gguf; writes the name of another one. */
static bool name_of_part(const char *path, unsigned part, unsigned parts, char *name, size_t size)
{
    char end[32];
    const size_t length = strlen(path), end_length = (size_t)snprintf(end, sizeof end, "-%05u-of-%05u.gguf", 1u, parts);
    if (length < end_length || strcmp(path + length - end_length, end) != 0)
        return false;
    return snprintf(name, size, "%.*s-%05u-of-%05u.gguf", (int)(length - end_length), path, part + 1, parts) < (int)size;
}

static bool open_other_parts(struct gguf *gguf, const char *path, struct orch_error *error)
{
    uint64_t parts = 1, number = 0, tensors;
    const struct gguf_value *const count = gguf_find(gguf, "split.count"), *const no = gguf_find(gguf, "split.no"),
                                   *const all = gguf_find(gguf, "split.tensors.count");
    char name[4096];
    if (!count)
        return true;
    if (!gguf_whole(count, 0, &parts) || parts == 0 || parts > PARTS_MAX ||
        (no && (!gguf_whole(no, 0, &number) || number >= parts)))
        return orch_fail(error, ORCH_USAGE, "%.300s: split.no and split.count make no sense; the file is damaged", path);
    if (number != 0)
        return orch_fail(error, ORCH_USAGE,
                         "%.300s: is part %" PRIu64 " of %" PRIu64 "; give the first, whose name ends in -00001-of-%05" PRIu64
                         ".gguf",
                         path, number + 1, parts, parts);
    for (unsigned i = 1; i < parts; i++) {
        if (!name_of_part(path, i, (unsigned)parts, name, sizeof name))
            return orch_fail(error, ORCH_USAGE,
                             "%.300s: is the first of %" PRIu64 " parts; its name has to end in -00001-of-%05" PRIu64
                             ".gguf, so that the others are found",
                             path, parts, parts);
        if (!open_part(gguf, name, error))
            return false;
    }
    if (all && (!gguf_whole(all, 0, &tensors) || tensors != gguf->weights.count))
        return orch_fail(error, ORCH_USAGE,
                         "%.300s: its %" PRIu64 " parts hold %zu tensors, not as many as split.tensors.count says", path, parts,
                         gguf->weights.count);
    return true;
}

static struct gguf *create(const char *name, struct orch_error *error)
{
    struct gguf *const gguf = calloc(1, sizeof *gguf);
    if (gguf && (gguf->name = strdup(name)))
        return gguf;
    free(gguf);
    orch_no_memory(error);
    return NULL;
}

struct gguf *gguf_open(const char *path, struct orch_error *error)
{
    struct gguf *const gguf = create(path, error);
    if (!gguf)
        return NULL;
    if (open_part(gguf, path, error) && open_other_parts(gguf, path, error)) {
        if (weight_list_is_sound(&gguf->weights, error))
            return gguf;
        orch_fail_in(error, "%.300s", path);
    }
    gguf_close(gguf);
    return NULL;
}

struct gguf *gguf_parse(const char *name, const uint8_t *bytes, size_t size, struct orch_error *error)
{
    struct gguf *const gguf = create(name, error);
    if (!gguf)
        return NULL;
    if (add_part(gguf, (struct mapped_file){bytes, size, false}, error) && weight_list_is_sound(&gguf->weights, error))
        return gguf;
    orch_fail_in(error, "%.300s", name);
    gguf_close(gguf);
    return NULL;
}

void gguf_close(struct gguf *gguf)
{
    if (!gguf)
        return;
    for (size_t i = 0; i < gguf->values; i++)
        free((void *)(uintptr_t)gguf->value[i].key);
    weight_list_free(&gguf->weights);
    free(gguf->value);
    mapped_files_close(&gguf->files);
    free(gguf->name);
    free(gguf);
}

/* ---- what is in it ---- */

const char *gguf_name(const struct gguf *gguf)
{
    return gguf->name;
}

uint32_t gguf_version(const struct gguf *gguf)
{
    return gguf->version;
}

uint32_t gguf_alignment(const struct gguf *gguf)
{
    return gguf->alignment;
}

unsigned gguf_parts(const struct gguf *gguf)
{
    return (unsigned)gguf->files.count;
}

uint64_t gguf_file_bytes(const struct gguf *gguf)
{
    return mapped_files_bytes(&gguf->files);
}

const struct weight_list *gguf_weights(const struct gguf *gguf)
{
    return &gguf->weights;
}

const struct gguf_value *gguf_value_at(const struct gguf *gguf, size_t index)
{
    return index < gguf->values ? &gguf->value[index] : NULL;
}

const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key)
{
    for (size_t i = 0; i < gguf->values; i++)
        if (strcmp(gguf->value[i].key, key) == 0)
            return &gguf->value[i];
    return NULL;
}

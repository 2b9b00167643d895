/* Files and packages. In a package the manifest names the model's file; nothing outside of the package is opened. */
#include "sim/base/file_below.h"
#include "sim/base/file_read.h"
#include "sim/base/gzip.h"
#include "sim/base/json_read.h"
#include "sim/network/coreml/coreml_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MODEL_BYTES_MAX  ((size_t)INT32_MAX)
#define WEIGHT_BYTES_MAX (UINT64_C(1) << 33)

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    while (length > 1 && text[length - 1] == '/')
        length--;
    return length >= strlen(end) && strncmp(text + length - strlen(end), end, strlen(end)) == 0;
}

bool coreml_is_named(const char *path)
{
    return ends_with(path, ".mlmodel") || ends_with(path, ".mlmodel.gz") || ends_with(path, ".mlpackage");
}

static bool read_file(const char *path, size_t most, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    errno = 0;
    FILE *const file = fopen(path, "rb");
    const bool ok = file && file_read_all(file, most, bytes, size);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%s: %s", path, errno == EFBIG ? "too long" : strerror(errno));
    if (file)
        fclose(file);
    if (!ok || !file_is_git_lfs_pointer(*bytes, *size))
        return ok;
    free(*bytes);
    *bytes = NULL;
    return orch_fail(error, ORCH_USAGE, "%s: " FILE_GIT_LFS_POINTER, path);
}

/* Where the root item of the manifest is, below the folder Data. */
static bool read_manifest(const char *path, const char *text, size_t size, char *item, size_t item_size, struct orch_error *error)
{
    struct json_reader r;
    if (!json_reader_open(&r, path, text, size, error))
        return false;
    const struct json_node top = json_top(&r), items = json_get_object(&top, "itemInfoEntries");
    const struct json_node root = json_get_object(&items, json_get_string(&top, "rootModelIdentifier"));
    json_get_text(&root, "path", item, item_size);
    return json_reader_close(&r);
}

/* A file of a package, or the compressed one of the same name. */
bool coreml_read_inside(const char *path, const char *inside, uint8_t **bytes, size_t *size, struct orch_error *error)
{
    struct orch_error ignored;
    char packed[1100];
    uint64_t length = 0;
    *bytes = NULL;
    snprintf(packed, sizeof packed, "%.1000s.gz", inside);
    const char *const name = file_below_length(path, packed, &length, &ignored) ? packed : inside;
    if (name == inside && !file_below_length(path, inside, &length, error))
        return false;
    if (length > WEIGHT_BYTES_MAX)
        return orch_fail(error, ORCH_USAGE, "'%.80s' is longer than 8 GiB", name);
    *size = (size_t)length;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return orch_no_memory(error);
    if (file_below_read(path, name, 0, *bytes, *size, error) && gzip_unpack(bytes, size, error))
        return true;
    free(*bytes);
    *bytes = NULL;
    return false;
}

static struct net_model *load_package(const char *path, struct orch_error *error)
{
    char manifest[PATH_MAX], item[1000] = "", inside[1024], file[PATH_MAX];
    uint8_t *text = NULL, *bytes = NULL;
    size_t size = 0;
    snprintf(manifest, sizeof manifest, "%.3000s/Manifest.json", path);
    bool ok = read_file(manifest, JSON_BYTES_MAX, &text, &size, error) &&
              read_manifest(manifest, (const char *)text, size, item, sizeof item, error);
    free(text);
    if (!ok)
        return NULL;
    snprintf(inside, sizeof inside, "Data/%s", item);
    snprintf(file, sizeof file, "%.3000s/%s", path, inside);
    ok = coreml_read_inside(manifest, inside, &bytes, &size, error) &&
         (size <= MODEL_BYTES_MAX || orch_fail(error, ORCH_USAGE, "longer than 2 GiB"));
    struct net_model *const model = ok ? coreml_import(file, bytes, size, error) : NULL;
    free(bytes);
    if (!ok)
        orch_fail_in(error, "%s", path);
    return model;
}

struct net_model *coreml_load(const char *path, struct orch_error *error)
{
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return load_package(path, error);
    bool ok = read_file(path, MODEL_BYTES_MAX, &bytes, &size, error);
    if (ok && !gzip_unpack(&bytes, &size, error))
        ok = orch_fail_in(error, "%s", path);
    struct net_model *const model = ok ? coreml_import(path, bytes, size, error) : NULL;
    free(bytes);
    return model;
}

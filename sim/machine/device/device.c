#include "sim/machine/device/device.h"

#include "sim/base/file_read.h"
#include "sim/base/suggest.h"
#include "sim/chip/chip.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATH_BYTES = 4096, FILE_BYTES = 1 << 16 };

/* The folder of devices lies beside that of the chips: .../chips -> .../devices. */
static bool devices_folder(const char *folder, char *path, size_t size, struct orch_error *error)
{
    char chips[PATH_BYTES];
    if (folder)
        return snprintf(path, size, "%s", folder) < (int)size || orch_fail(error, ORCH_USAGE, "%.200s: path too long", folder);
    if (!chip_data_folder(NULL, chips, sizeof chips, error))
        return false;
    char *const slash = strrchr(chips, '/');
    if (slash)
        *slash = '\0';
    return snprintf(path, size, "%s/devices", slash ? chips : "..") < (int)size ||
           orch_fail(error, ORCH_USAGE, "%.200s: path too long", chips);
}

static bool load_file(const char *folder, const char *name, struct device *device, struct orch_error *error)
{
    char path[PATH_BYTES + 256], stem[256];
    uint8_t *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - strlen(".json")), name);
    FILE *const file = fopen(path, "rb");
    if (!file)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    const bool whole = file_read_all(file, FILE_BYTES - 1, &text, &size);
    fclose(file);
    const bool ok = whole ? device_parse(stem, (const char *)text, size, device, error)
                          : orch_fail(error, ORCH_USAGE, "%.400s: cannot be read, or larger than %d bytes", path, FILE_BYTES);
    free(text);
    return ok;
}

static int by_id(const void *a, const void *b)
{
    const struct device *const x = a, *const y = b;
    return strcmp(x->id, y->id);
}

static bool is_json(const char *name)
{
    const size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

bool device_list_load(const char *folder, struct device_list *list, struct orch_error *error)
{
    char path[PATH_BYTES];
    bool ok = true;
    memset(list, 0, sizeof *list);
    if (!devices_folder(folder, path, sizeof path, error))
        return false;
    DIR *const dir = opendir(path);
    if (!dir)
        return orch_fail(error, ORCH_USAGE, "%.400s: %s", path, strerror(errno));
    for (struct dirent *e; ok && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.' || !is_json(e->d_name))
            continue;
        struct device *const grown = realloc(list->device, (list->count + 1) * sizeof *grown);
        ok = grown != NULL || orch_no_memory(error);
        if (grown) {
            list->device = grown;
            ok = load_file(path, e->d_name, &grown[list->count], error);
            list->count += ok;
        }
    }
    closedir(dir);
    if (ok && list->count)
        qsort(list->device, list->count, sizeof *list->device, by_id);
    if (!ok)
        device_list_free(list);
    return ok;
}

void device_list_free(struct device_list *list)
{
    free(list->device);
    memset(list, 0, sizeof *list);
}

static bool has_name(const struct device *d, const char *name)
{
    if (strcasecmp(d->id, name) == 0)
        return true;
    for (unsigned i = 0; i < d->aliases; i++)
        if (strcasecmp(d->alias[i], name) == 0)
            return true;
    return false;
}

static bool has_chip(const struct device *d, const char *chip_id)
{
    for (unsigned i = 0; i < d->chips; i++)
        if (strcmp(d->chip[i], chip_id) == 0)
            return true;
    return false;
}

/* The machines with a chip, as many as fit: "a, b". */
static void with_chip(const struct device_list *list, const char *chip_id, char *have, size_t size)
{
    size_t used = 0;
    have[0] = 0;
    for (size_t i = 0; i < list->count; i++)
        if (has_chip(&list->device[i], chip_id) && used < size - 48)
            used += (size_t)snprintf(have + used, size - used, "%s%s", used ? ", " : "", list->device[i].id);
}

static bool impossible(const struct device_list *list, const char *name, const char *chip_id, struct orch_error *error)
{
    char have[200];
    with_chip(list, chip_id, have, sizeof have);
    return orch_fail(error, ORCH_USAGE, "no %.60s was made with %.40s%s%s", name, chip_id, have[0] ? "; machines with it: " : "",
                     have);
}

static bool unknown(const struct device_list *list, const char *name, const char *chip_id, const char *hint,
                    struct orch_error *error)
{
    char have[200];
    with_chip(list, chip_id, have, sizeof have);
    return orch_fail(error, ORCH_USAGE, "unknown device %.60s%s%s%s", name, hint, have[0] ? "; machines with this chip: " : "",
                     have);
}

const struct device *device_find(const struct device_list *list, const char *name, const char *chip_id, struct orch_error *error)
{
    struct suggest s;
    char hint[96];
    bool named = false;
    suggest_start(&s, name);
    for (size_t i = 0; i < list->count; i++) {
        const struct device *const d = &list->device[i];
        if (has_name(d, name) && has_chip(d, chip_id))
            return d;
        named |= has_name(d, name);
        suggest_offer(&s, d->id);
        for (unsigned a = 0; a < d->aliases; a++)
            suggest_offer(&s, d->alias[a]);
    }
    if (named)
        impossible(list, name, chip_id, error);
    else
        unknown(list, name, chip_id, suggest_phrase(&s, hint, sizeof hint), error);
    return NULL;
}

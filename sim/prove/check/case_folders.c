#include "sim/prove/check/case_folders.h"

#include "sim/base/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_case(const char *folder, const char *name, const struct case_kind *kind)
{
    char path[CASE_PATH_BYTES];
    struct stat st;
    if (kind->is_case) {
        snprintf(path, sizeof path, "%s%s%s", folder, name[0] ? "/" : "", name);
        return kind->is_case(path);
    }
    snprintf(path, sizeof path, "%s/%s%s%s", folder, name, name[0] ? "/" : "", kind->marker);
    return stat(path, &st) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    char **name;
    size_t count;
};

static bool keep(struct names *list, const char *before, const char *name, struct orch_error *error)
{
    char path[CASE_PATH_BYTES];
    char **const grown = realloc(list->name, (list->count + 1) * sizeof *grown);
    snprintf(path, sizeof path, "%s%s%s", before, before[0] ? "/" : "", name);
    if (grown)
        list->name = grown;
    char *const copy = grown ? strdup(path) : NULL;
    if (copy)
        list->name[list->count++] = copy;
    return copy != NULL || orch_no_memory(error);
}

static bool is_folder(const char *folder, const char *name)
{
    char path[CASE_PATH_BYTES];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The cases of a folder, with `before` in front of their names, and of folders in it that are none. */
static bool list_cases(const char *folder, const char *before, const struct case_kind *kind, struct names *list,
                       struct orch_error *error)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", folder, strerror(errno));
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(dir)) != NULL;) {
        char inner[CASE_PATH_BYTES];
        if (e->d_name[0] == '.')
            continue;
        if (is_case(folder, e->d_name, kind)) {
            ok = keep(list, before, e->d_name, error);
        } else if (kind->is_case && !before[0] && is_folder(folder, e->d_name)) {
            snprintf(inner, sizeof inner, "%s/%s", folder, e->d_name);
            ok = list_cases(inner, e->d_name, kind, list, error);
        }
    }
    closedir(dir);
    if (list->count)
        qsort(list->name, list->count, sizeof *list->name, by_name);
    return ok;
}

static bool known(const struct names *list, const char *folder, const char *noun, const char *name, struct orch_error *error)
{
    struct suggest s;
    char phrase[160];
    suggest_start(&s, name);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->name[i], name) == 0)
            return true;
        suggest_offer(&s, list->name[i]);
    }
    return orch_fail(error, ORCH_USAGE, "%.200s has no %s %.60s%s", folder, noun, name,
                     suggest_phrase(&s, phrase, sizeof phrase));
}

static bool wanted(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

bool case_folders_run(const char *folder, const char *const *names, size_t name_count, const struct case_kind *kind,
                      struct orch_error *error)
{
    struct names list = {0};
    const bool single = is_case(folder, "", kind);
    bool ok = single || list_cases(folder, "", kind, &list, error);
    for (size_t i = 0; ok && !single && i < name_count; i++)
        ok = known(&list, folder, kind->noun, names[i], error);
    if (ok && !single && list.count == 0)
        ok = orch_fail(error, ORCH_USAGE, "%.300s: no folder in it has %s", folder, kind->marker);
    if (ok && single)
        kind->check(kind->context, folder);
    for (size_t i = 0; i < list.count; i++) {
        char path[CASE_PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", folder, list.name[i]);
        if (ok && wanted(list.name[i], names, name_count))
            kind->check(kind->context, path);
        free(list.name[i]);
    }
    free(list.name);
    return ok;
}

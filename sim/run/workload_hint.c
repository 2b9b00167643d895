#include "sim/run/workload_hint.h"

#include "sim/base/suggest.h"
#include "sim/language/shape.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/kernel_list.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = SUGGEST_LETTERS + 1, FORM_BYTES = 160 };

static void offer_models(struct suggest *s)
{
    for (size_t i = 0; shape_published_at(i); i++)
        suggest_offer(s, shape_published_at(i)->name);
    for (size_t i = 0; net_zoo_at(i); i++)
        suggest_offer(s, net_zoo_at(i)->name);
}

static void offer_kernels(struct suggest *s)
{
    for (size_t i = 0; i < kernel_list_count(); i++)
        suggest_offer(s, kernel_list_at(i).name);
}

/* The form of the first kernel with the name; NULL = none has. */
static const char *form_of(const char *name)
{
    for (size_t i = 0; i < kernel_list_count(); i++)
        if (strcmp(kernel_list_at(i).name, name) == 0)
            return kernel_list_at(i).grammar;
    return NULL;
}

/* What must be given, without the choices: "gemm:MxNxK[,...]". */
static const char *short_form(const char *name, char text[FORM_BYTES])
{
    const char *const form = form_of(name);
    const char *const choices = form ? strstr(form, "[,") : NULL;
    snprintf(text, FORM_BYTES, "%s:%.*s%s", name, choices ? (int)(choices - form) : 80, form ? form : "",
             choices ? "[,...]" : "");
    return text;
}

static const char *name_of(const char *workload, char name[NAME_BYTES])
{
    const size_t length = strcspn(workload, ":");
    snprintf(name, NAME_BYTES, "%.*s", length < NAME_BYTES ? (int)length : NAME_BYTES - 1, workload);
    return name;
}

bool workload_has_kernel(const char *workload)
{
    char name[NAME_BYTES];
    return form_of(name_of(workload, name)) != NULL;
}

bool workload_unknown_kernel(const char *workload, struct orch_error *error)
{
    char name[NAME_BYTES], form[FORM_BYTES];
    struct suggest s;
    suggest_start(&s, name_of(workload, name));
    offer_kernels(&s);
    const char *const best = suggest_best(&s);
    if (best)
        return orch_fail(error, ORCH_USAGE, "unknown kernel '%s'; did you mean %s? (`orchard kernels` lists them)", name,
                         short_form(best, form));
    return orch_fail(error, ORCH_USAGE, "unknown kernel '%s'; `orchard kernels` lists them", name);
}

bool workload_unknown_model(const char *name, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    suggest_start(&s, name);
    offer_models(&s);
    return orch_fail(error, ORCH_USAGE, "no published model '%.60s'%s (`orchard models` lists them)", name,
                     suggest_phrase(&s, phrase, sizeof phrase));
}

/* Another file of the same folder; false when none is near. Names with control characters are not offered. */
static bool near_file(const char *path, char *near, size_t size)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    char folder[1024], copies[2][NAME_BYTES] = {{0}};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    DIR *const directory = opendir(folder);
    struct suggest s;
    suggest_start(&s, name);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        bool printable = strlen(entry->d_name) < NAME_BYTES && entry->d_name[0] != '.';
        for (const char *c = entry->d_name; *c; c++)
            printable &= (unsigned char)*c >= ' ' && *c != 127;
        const char *const best = s.best;
        char *const copy = copies[best == copies[0]];
        if (!printable)
            continue;
        strcpy(copy, entry->d_name);
        suggest_offer(&s, copy);
        s.longer = NULL;
    }
    if (directory)
        closedir(directory);
    if (!suggest_best(&s))
        return false;
    snprintf(near, size, "%s%s", slash ? folder : "", suggest_best(&s));
    return true;
}

bool workload_no_file(const char *path, const char *why, struct orch_error *error)
{
    char near[1200], form[FORM_BYTES];
    struct suggest s;
    if (form_of(path))
        return orch_fail(error, ORCH_USAGE, "%s is a kernel and needs a shape: %s (`orchard kernels show %s`)", path,
                         short_form(path, form), path);
    if (near_file(path, near, sizeof near))
        return orch_fail(error, ORCH_USAGE, "%s: %s; did you mean %s?", path, why, near);
    if (strpbrk(path, "/."))
        return orch_fail(error, ORCH_USAGE, "%s: %s", path, why);
    suggest_start(&s, path);
    offer_kernels(&s);
    if (suggest_best(&s))
        return orch_fail(error, ORCH_USAGE, "%s: %s; did you mean %s?", path, why, short_form(suggest_best(&s), form));
    suggest_start(&s, path);
    offer_models(&s);
    if (suggest_best(&s))
        return orch_fail(error, ORCH_USAGE, "%s: %s; did you mean model:%s?", path, why, suggest_best(&s));
    return orch_fail(error, ORCH_USAGE,
                     "%s: %s; a workload is KERNEL:SHAPE (`orchard kernels`), model:NAME (`orchard models`) or a file", path,
                     why);
}

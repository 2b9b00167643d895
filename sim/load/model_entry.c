#include "sim/load/model_entry.h"

#include "sim/language/transformers.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* The newest version of a repository: the folder of the largest number; else the model beside the configuration. */
static bool find_model(const char *folder, char path[MODEL_PATH], struct orch_error *error)
{
    static const char *const files[] = {"model.onnx", "model.gguf"};
    enum { VERSIONS = 100 };
    for (unsigned version = VERSIONS; version-- > 0;)
        for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
            if (version)
                snprintf(path, MODEL_PATH, "%.900s/%u/%s", folder, version, files[i]);
            else
                snprintf(path, MODEL_PATH, "%.900s/%s", folder, files[i]);
            if (is_file(path))
                return true;
        }
    snprintf(path, MODEL_PATH, "%s", folder);
    return transformers_is(folder) ||
           orch_fail(error, ORCH_USAGE,
                     "%s: a folder of a model has 1/model.onnx, model.onnx or the same with .gguf in it, or config.json and "
                     "model.safetensors",
                     folder);
}

/* The last part of a path; of a file called model, that of the folder around it. */
static void set_name(struct model_entry *e)
{
    char path[MODEL_PATH];
    snprintf(path, sizeof path, "%s", e->workload);
    for (unsigned up = 0; up < 3; up++) {
        char *const slash = strrchr(path, '/');
        const char *const last = slash ? slash + 1 : path;
        const char *const dot = strrchr(last, '.');
        const int length = dot && dot > last ? (int)(dot - last) : (int)strlen(last);
        const bool version = length > 0 && strspn(last, "0123456789") == (size_t)length;
        if (!slash || !(version || (length == 5 && strncmp(last, "model", 5) == 0))) {
            snprintf(e->name, sizeof e->name, "%.*s", length < 120 ? length : 120, last);
            return;
        }
        *slash = 0;
    }
    snprintf(e->name, sizeof e->name, "model");
}

bool model_entry_open(const char *text, struct model_entry *e, struct orch_error *error)
{
    char path[MODEL_PATH];
    size_t length = strlen(text);
    memset(e, 0, sizeof *e);
    if (length == 0 || length >= MODEL_PATH - 64)
        return orch_fail(error, ORCH_USAGE, "a model is a file, a folder or model:NAME");
    snprintf(path, sizeof path, "%s", text);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = 0;
    if (!is_folder(path)) {
        snprintf(e->workload, sizeof e->workload, "%s", path);
        const char *const name = strncmp(path, "model:", 6) == 0 ? path + 6 : NULL;
        if (name)
            snprintf(e->name, sizeof e->name, "%.120s", name);
        else
            set_name(e);
        return true;
    }
    if (!find_model(path, e->workload, error))
        return false;
    set_name(e);
    if (length + 16 < sizeof path)
        snprintf(path + length, sizeof path - length, "/config.pbtxt");
    e->configured = is_file(path);
    if (e->configured && !model_config_read(path, &e->config, error))
        return false;
    if (e->configured && e->config.name[0])
        snprintf(e->name, sizeof e->name, "%s", e->config.name);
    return true;
}

#include "sim/network/encoder/encoder.h"

#include "sim/base/file_read.h"
#include "sim/language/gguf_peek.h"
#include "sim/language/safetensors.h"
#include "sim/network/encoder/encoder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

/* ---- files ---- */

static bool is_file(const char *folder, const char *name, char *path)
{
    struct stat st;
    snprintf(path, PATH_BYTES, "%.3900s/%s", folder, name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool find_weights(const char *folder, char *path)
{
    return is_file(folder, "model.safetensors", path) || is_file(folder, "model.safetensors.index.json", path);
}

bool encoder_is_file(const char *path)
{
    char architecture[64];
    const char *const dot = strrchr(path, '.');
    return dot && strcmp(dot, ".gguf") == 0 && gguf_peek_architecture(path, architecture, sizeof architecture) &&
           encoder_gguf_family(architecture);
}

static bool is_folder(const char *path)
{
    enum { CONFIG_MOST = 1 << 22 };
    char name[PATH_BYTES];
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) || !find_weights(path, name) || !is_file(path, "config.json", name))
        return false;
    FILE *const f = fopen(name, "rb");
    const bool known = f && file_read_all(f, CONFIG_MOST, &bytes, &size) && encoder_family_of((const char *)bytes, size);
    if (f)
        fclose(f);
    free(bytes);
    return known;
}

bool encoder_is(const char *path)
{
    return is_folder(path) || encoder_is_file(path);
}

/* ---- building ---- */

/* What the answers hang on: dimensions and all weights. */
static uint64_t content_of(const struct encoder *e)
{
    uint64_t h = (uint64_t)e->config.first_place << 32 | (uint64_t)e->config.heads << 2 | (uint64_t)e->config.pooling << 1 |
                 e->config.unit_length;
    for (size_t i = 0; i < e->list->count; i++) {
        const struct weight_tensor *const t = &e->list->tensor[i];
        for (uint64_t at = 0, word = 0; at < t->bytes; at += sizeof word) {
            memcpy(&word, t->data + at, (size_t)(t->bytes - at < sizeof word ? t->bytes - at : sizeof word));
            h = (h ^ word) * UINT64_C(0x100000001b3);
            h ^= h >> 29;
        }
    }
    return h ? h : 1;
}

static struct net_model *build(struct encoder *e, const char *path)
{
    e->used = calloc(e->list->count + 1, sizeof *e->used);
    e->model = net_model_new(path);
    bool ok = (e->used && e->model) || orch_no_memory(e->error);
    if (ok)
        e->model->opset = ENCODER_OPSET;
    ok = ok && encoder_find_prefix(e);
    if (ok)
        encoder_add_all(e);
    if (ok && e->starved)
        ok = e->error->exit_code ? false : orch_no_memory(e->error);
    ok = ok && encoder_all_used(e);
    if (ok)
        e->model->content = content_of(e);
    free(e->used);
    if (ok)
        return e->model;
    net_model_free(e->model);
    return NULL;
}

struct net_model *encoder_of_gguf(const struct gguf *gguf, struct orch_error *error)
{
    struct orch_error own = {0};
    struct encoder e = {.error = error ? error : &own, .list = gguf_weights(gguf)};
    struct net_model *const model = encoder_gguf_config(gguf, &e.config, e.error) ? build(&e, gguf_name(gguf)) : NULL;
    if (!model)
        orch_fail_in(e.error, "%.300s", gguf_name(gguf));
    return model;
}

static struct net_model *load_file(const char *path, struct orch_error *error)
{
    struct gguf *const file = gguf_open(path, error);
    struct net_model *const model = file ? encoder_of_gguf(file, error) : NULL;
    gguf_close(file);
    return model;
}

static struct net_model *load_folder(const char *path, struct orch_error *error)
{
    struct orch_error own = {0};
    struct encoder one = {.error = error ? error : &own}, *const e = &one;
    char weights[PATH_BYTES];
    if (!encoder_config_read(path, &e->config, e->error))
        return NULL;
    if (!find_weights(path, weights)) {
        orch_fail(e->error, ORCH_USAGE, "%.300s: model.safetensors is missing", path);
        return NULL;
    }
    struct safetensors *const file = safetensors_open(weights, e->error);
    if (!file)
        return NULL;
    e->list = safetensors_weights(file);
    struct net_model *const model = build(e, path);
    if (!model)
        orch_fail_in(e->error, "%.300s", weights);
    safetensors_close(file);
    return model;
}

struct net_model *encoder_load(const char *path, struct orch_error *error)
{
    return (encoder_is_file(path) ? load_file : load_folder)(path, error);
}

/* ---- its tokenizer ---- */

bool encoder_vocabulary_open(const char *path, struct vocabulary_beside **vocabulary, struct orch_error *error)
{
    char config[PATH_BYTES];
    if (encoder_is_file(path))
        return vocabulary_within_open(path, vocabulary, error);
    snprintf(config, sizeof config, "%.3900s/config.json", path);
    return vocabulary_beside_open(config, vocabulary, error) &&
           (*vocabulary || orch_fail(error, ORCH_USAGE, "%.300s: neither tokenizer.json nor vocab.txt is there", path));
}

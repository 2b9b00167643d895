#include "sim/run/language/language_model.h"

#include "sim/base/checksum.h"

#include "sim/network/encoder/encoder.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/workload_hint.h"

#include <string.h>

bool language_model_is(const char *workload)
{
    const char *const dot = strrchr(workload, '.');
    return (strncmp(workload, LANGUAGE_ZOO, strlen(LANGUAGE_ZOO)) == 0 && !net_zoo_find(workload)) ||
           (((dot && strcmp(dot, ".gguf") == 0) || transformers_is(workload)) && !encoder_is(workload));
}

bool language_model_generates(const char *workload)
{
    const size_t prefix = strlen(LANGUAGE_ZOO);
    const struct shape_published *const p =
        strncmp(workload, LANGUAGE_ZOO, prefix) == 0 ? shape_published_named(workload + prefix) : NULL;
    return p && shape_family_named(p->family)->encoder;
}

static bool open_published(const char *name, struct language_model *m, struct orch_error *error)
{
    const struct shape_published *const published = shape_published_named(name);
    m->name = name;
    if (published) {
        shape_of_published(published, &m->shape);
        return true;
    }
    return workload_unknown_model(name, error);
}

static bool open_gguf(const char *path, struct language_model *m, struct orch_error *error)
{
    m->gguf = gguf_open(path, error);
    m->tokenizer = m->gguf ? tokenizer_create(m->gguf, error) : NULL;
    return m->tokenizer && shape_of_gguf(m->gguf, &m->shape, error);
}

static bool open_folder(const char *path, struct language_model *m, struct orch_error *error)
{
    m->folder = transformers_open(path, error);
    if (m->folder)
        m->shape = *transformers_shape(m->folder);
    m->tokenizer = m->folder ? tokenizer_create(transformers_vocabulary(m->folder), error) : NULL;
    return m->tokenizer != NULL;
}

static const struct weight_list *list_of(const struct language_model *m)
{
    return m->gguf ? gguf_weights(m->gguf) : m->folder ? transformers_list(m->folder) : NULL;
}

static bool open_file(const char *path, struct language_model *m, struct orch_error *error)
{
    const char *const slash = strrchr(path, '/');
    m->name = slash && slash[1] ? slash + 1 : path;
    if (!(transformers_is(path) ? open_folder : open_gguf)(path, m, error))
        return false;
    if (tokenizer_count(m->tokenizer) > m->shape.vocabulary)
        return orch_fail(error, ORCH_USAGE, "%s: the tokenizer has %zu tokens, the embedding %u rows", path,
                         tokenizer_count(m->tokenizer), m->shape.vocabulary);
    m->weights = decoder_create(&m->shape, list_of(m), 1, error);
    return m->weights || orch_fail_in(error, "%s", path);
}

bool language_model_open(const char *workload, struct language_model *model, struct orch_error *error)
{
    const size_t prefix = strlen(LANGUAGE_ZOO);
    *model = (struct language_model){.name = workload};
    return strncmp(workload, LANGUAGE_ZOO, prefix) == 0 ? open_published(workload + prefix, model, error)
                                                        : open_file(workload, model, error);
}

void language_model_close(struct language_model *model)
{
    decoder_free(model->weights);
    tokenizer_free(model->tokenizer);
    transformers_close(model->folder);
    gguf_close(model->gguf);
    *model = (struct language_model){.name = NULL};
}

bool language_model_has_weights(const struct language_model *model)
{
    return model->gguf || model->folder;
}

uint64_t language_model_file_bytes(const struct language_model *model)
{
    return model->gguf ? gguf_file_bytes(model->gguf) : model->folder ? transformers_file_bytes(model->folder) : 0;
}

uint64_t language_model_checksum(uint64_t h, const struct language_model *m)
{
    const struct weight_list *const list = list_of(m);
    for (size_t i = 0; list && i < list->count; i++)
        h = checksum_add(h, list->tensor[i].data, list->tensor[i].bytes);
    return h;
}

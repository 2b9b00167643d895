#include "sim/language/prompt_cache.h"

#include "sim/base/checksum.h"

#include <string.h>

static bool wrong(const char *path, const char *what, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("prompt-cache") " %.300s: %s; another name begins a new one", path, what);
}

static uint64_t rows_bytes(const struct prompt_cache_shape *s, uint64_t tokens)
{
    return 2 * (uint64_t)s->layers * tokens * s->row * s->value_bytes;
}

bool prompt_cache_view(const char *path, const uint8_t *bytes, size_t size, const struct prompt_cache_shape *s,
                       struct prompt_cache_view *view, struct orch_error *error)
{
    struct prompt_cache_head h;
    uint64_t sum;
    if (size < sizeof h + sizeof sum || memcmp(bytes, PROMPT_CACHE_MAGIC, sizeof h.magic) != 0)
        return wrong(path, "it is no prompt cache", error);
    memcpy(&h, bytes, sizeof h);
    if (h.model != s->model || h.layers != s->layers || h.row != s->row || h.vocabulary != s->vocabulary)
        return wrong(path, "it was made by another model", error);
    if (h.value_bytes != s->value_bytes)
        return wrong(path, "its keys and values have another type: those of the Neural Engine are f16, of other units f32",
                     error);
    const uint64_t token_bytes = 4 * (uint64_t)h.tokens, logit_bytes = 4 * (uint64_t)h.vocabulary;
    if (h.tokens == 0 || h.tokens > UINT32_MAX / 2 ||
        size != sizeof h + token_bytes + logit_bytes + rows_bytes(s, h.tokens) + sizeof sum)
        return wrong(path, "it has another length than its first bytes say", error);
    memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
    if (sum != checksum_add(CHECKSUM_START, bytes, size - sizeof sum))
        return wrong(path, "it is damaged (its checksum is another)", error);
    *view = (struct prompt_cache_view){.tokens = h.tokens,
                                       .token = bytes + sizeof h,
                                       .logits = bytes + sizeof h + token_bytes,
                                       .rows = bytes + sizeof h + token_bytes + logit_bytes};
    return true;
}

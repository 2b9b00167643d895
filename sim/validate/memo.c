#include "sim/validate/memo.h"

#include <stdlib.h>
#include <string.h>

struct memo_entry {
    char *key;
    void *value;
};

void memo_free(struct memo *memo)
{
    for (size_t i = 0; i < memo->count; i++) {
        free(memo->entry[i].key);
        free(memo->entry[i].value);
    }
    free(memo->entry);
    memo->entry = NULL;
    memo->count = 0;
}

bool memo_recall(const struct memo *memo, const char *key, void *value)
{
    for (size_t i = 0; i < memo->count; i++)
        if (strcmp(memo->entry[i].key, key) == 0) {
            memcpy(value, memo->entry[i].value, memo->value_bytes);
            return true;
        }
    return false;
}

bool memo_remember(struct memo *memo, const char *key, const void *value, struct orch_error *error)
{
    struct memo_entry *grown = realloc(memo->entry, (memo->count + 1) * sizeof *grown);
    if (grown)
        memo->entry = grown;
    const struct memo_entry new = {strdup(key), malloc(memo->value_bytes)};
    if (!grown || !new.key || !new.value) {
        free(new.key);
        free(new.value);
        return orch_fail(error, ORCH_INTERNAL, "out of memory");
    }
    memcpy(new.value, value, memo->value_bytes);
    grown[memo->count++] = new;
    return true;
}

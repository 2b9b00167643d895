#include "sim/language/gguf_keys.h"

#include <inttypes.h>
#include <stdio.h>

void gguf_architecture(const struct gguf *gguf, char text[GGUF_ARCHITECTURE_BYTES])
{
    gguf_text(gguf_find(gguf, "general.architecture"), text, GGUF_ARCHITECTURE_BYTES);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

const struct gguf_value *gguf_key(const struct gguf_keys *k, const char *name, char key[GGUF_KEY_BYTES])
{
    snprintf(key, GGUF_KEY_BYTES, "%s.%s", k->architecture, name);
    return gguf_find(k->gguf, key);
}

unsigned gguf_key_whole(struct gguf_keys *k, const char *name, uint64_t most, unsigned absent)
{
    char key[GGUF_KEY_BYTES];
    const struct gguf_value *const value = gguf_key(k, name, key);
    uint64_t number = 0, other = 0;
    if (!k->ok || (!value && absent))
        return absent;
    if (!value) {
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s is missing; the file does not describe its model", key);
        return 0;
    }
    if (!gguf_whole(value, 0, &number) || number == 0 || number > most) {
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s: expected an integer from 1 to %" PRIu64, key, most);
        return 0;
    }
    for (uint64_t i = 1; i < value->count && gguf_whole(value, i, &other); i++)
        if (other != number)
            k->ok = orch_fail(k->error, ORCH_UNMODELLED, "metadata: %s: layers that differ are not modelled", key);
    return (unsigned)number;
}

double gguf_key_number(struct gguf_keys *k, const char *name, double low, double high, double absent)
{
    char key[GGUF_KEY_BYTES];
    const struct gguf_value *const value = gguf_key(k, name, key);
    double got;
    if (!k->ok || !value)
        return absent;
    if (!gguf_number(value, 0, &got) || !(got >= low && got <= high)) {
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s: expected a number from %g to %g", key, low, high);
        return absent;
    }
    return got;
}

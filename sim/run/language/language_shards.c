#include "sim/run/language/language_shards.h"

#include "isa/array_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *text, struct orch_error *error)
{
    return orch_fail(
        error, ORCH_USAGE,
        ORCH_OPTION("layers") " %.60s: units and their layers, first ones first, as gpu=8,ane=3,amx=1 (cpu, amx, gpu, ane; "
                              "cpu and amx are the same cores)",
        text);
}

static enum orch_part part_named(const char *name, size_t length)
{
    static const enum orch_part parts[] = {PART_CPU, PART_AMX, PART_GPU, PART_ANE};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (strlen(orch_part_name(parts[i])) == length && strncmp(orch_part_name(parts[i]), name, length) == 0)
            return parts[i];
    return PART_COUNT;
}

bool language_shards_have(const struct language_shards *s, enum orch_part part)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->shard[i].part == part)
            return true;
    return false;
}

/* Cores have their AMX blocks beside them, and do one thing at a time. */
static bool has_queue_of(const struct language_shards *s, enum orch_part part)
{
    const bool cores = part == PART_CPU || part == PART_AMX;
    return cores ? language_shards_have(s, PART_CPU) || language_shards_have(s, PART_AMX) : language_shards_have(s, part);
}

bool language_shards_read(const char *text, unsigned layers, struct language_shards *s, struct orch_error *error)
{
    unsigned long sum = 0;
    *s = (struct language_shards){.count = 0};
    for (const char *at = text;; at++) {
        const size_t name = strcspn(at, "=");
        const enum orch_part part = part_named(at, name);
        char *end = NULL;
        if (part == PART_COUNT || at[name] != '=' || at[name + 1] < '0' || at[name + 1] > '9' || s->count == LANGUAGE_SHARDS ||
            has_queue_of(s, part))
            return refuse(text, error);
        const unsigned long count = strtoul(at + name + 1, &end, 10);
        if (count < 1 || count > layers || (*end && *end != ','))
            return count >= 1 && count <= layers
                       ? refuse(text, error)
                       : orch_fail(error, ORCH_USAGE, ORCH_OPTION("layers") " %.60s: the model has %u layers", text, layers);
        s->shard[s->count++] = (struct language_shard){part, (unsigned)count};
        sum += count;
        at = end;
        if (!*at)
            break;
    }
    return sum == layers ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("layers") " %.60s: they are %lu, the model has %u layers", text, sum, layers);
}

void language_shards_write(const struct language_shards *s, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < s->count && at < size; i++)
        at +=
            (size_t)snprintf(text + at, size - at, "%s%s=%u", i ? "," : "", orch_part_name(s->shard[i].part), s->shard[i].layers);
}

enum orch_part language_shards_part(const struct language_shards *s, unsigned layer)
{
    unsigned i = 0;
    while (i + 1 < s->count && layer >= s->shard[i].layers)
        layer -= s->shard[i++].layers;
    return s->shard[i].part;
}

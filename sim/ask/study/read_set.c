#include "sim/ask/study/read_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CERTAINTY "certainty:"

struct entry {
    uint64_t hash;
    double *mark; /* marks of everything that was read */
    struct run_timing timing;
};

struct read {
    uint16_t key;
    bool certainty;
    char *name; /* its name in the database */
};

struct read_set {
    uint8_t *bits;     /* bits of enum chip_read by key */
    struct read *read; /* sorted by name */
    size_t count;
    struct entry **slot; /* open addressing; NULL = free slot */
    size_t slots, used;
    double *mark; /* scratch space for the marks of one question */
};

/* ---- the set ---- */

static bool add_read(struct read_set *set, size_t key, bool certainty)
{
    const char *const name = chip_key_at(key)->name;
    char *const copy = malloc(strlen(name) + sizeof CERTAINTY);
    if (!copy)
        return false;
    strcat(strcpy(copy, certainty ? CERTAINTY : ""), name);
    set->read[set->count++] = (struct read){(uint16_t)key, certainty, copy};
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct read *const x = a, *const y = b;
    return strcmp(x->name, y->name);
}

static bool fill(struct read_set *set, const uint8_t *reads)
{
    const size_t keys = chip_key_count();
    set->bits = malloc(keys);
    set->read = calloc(2 * keys, sizeof *set->read);
    if (!set->bits || !set->read)
        return false;
    memcpy(set->bits, reads, keys);
    for (size_t i = 0; i < keys; i++)
        if (((reads[i] & CHIP_READ_NUMBER) && !add_read(set, i, false)) ||
            ((reads[i] & CHIP_READ_CERTAINTY) && !add_read(set, i, true)))
            return false;
    qsort(set->read, set->count, sizeof *set->read, by_name);
    struct read *const fitting = reallocarray(set->read, set->count + 1, sizeof *fitting);
    set->read = fitting ? fitting : set->read;
    set->mark = calloc(set->count + 1, sizeof *set->mark);
    return set->mark != NULL;
}

struct read_set *read_set_create(const uint8_t *reads, struct orch_error *error)
{
    struct read_set *const set = calloc(1, sizeof *set);
    if (set && fill(set, reads))
        return set;
    read_set_free(set);
    orch_no_memory(error);
    return NULL;
}

static bool take_name(uint8_t *bits, const char *name, size_t length)
{
    const size_t prefix = sizeof CERTAINTY - 1;
    const bool certainty = length > prefix && strncmp(name, CERTAINTY, prefix) == 0;
    const char *const key = certainty ? name + prefix : name;
    const size_t size = certainty ? length - prefix : length;
    for (size_t i = 0; i < chip_key_count(); i++) {
        const char *const known = chip_key_at(i)->name;
        if (known[0] == key[0] && strncmp(known, key, size) == 0 && !known[size]) {
            bits[i] |= certainty ? CHIP_READ_CERTAINTY : CHIP_READ_NUMBER;
            return true;
        }
    }
    return false;
}

struct read_set *read_set_parse(const char *names, struct orch_error *error)
{
    uint8_t *const bits = calloc(chip_key_count(), 1);
    struct read_set *set = NULL;
    bool ok = bits != NULL;
    if (!bits)
        orch_no_memory(error);
    for (const char *p = names; ok && *p;) {
        const size_t length = strcspn(p, ",");
        ok = take_name(bits, p, length) || orch_fail(error, ORCH_USAGE, "it read '%.60s', which is no key", p);
        p += length + (p[length] == ',');
    }
    if (ok)
        set = read_set_create(bits, error);
    free(bits);
    return set;
}

void read_set_empty(struct read_set *set)
{
    for (size_t i = 0; i < set->slots; i++) {
        if (!set->slot[i])
            continue;
        run_timing_free(&set->slot[i]->timing);
        free(set->slot[i]->mark);
        free(set->slot[i]);
    }
    free(set->slot);
    set->slot = NULL;
    set->slots = set->used = 0;
}

void read_set_free(struct read_set *set)
{
    if (!set)
        return;
    read_set_empty(set);
    for (size_t i = 0; set->read && i < set->count; i++)
        free(set->read[i].name);
    free(set->bits);
    free(set->read);
    free(set->mark);
    free(set);
}

const uint8_t *read_set_reads(const struct read_set *set)
{
    return set->bits;
}

bool read_set_is(const struct read_set *set, const uint8_t *reads)
{
    return memcmp(set->bits, reads, chip_key_count()) == 0;
}

/* ---- values ---- */

static double mark(const struct read *read, const struct chip *chip)
{
    return read->certainty ? chip_certainty_mark(chip, read->key) : chip_mark(chip, read->key);
}

struct db_parameter *read_set_parameters(const struct read_set *set, const struct chip *chip, size_t *count,
                                         struct orch_error *error)
{
    struct db_parameter *const list = calloc(set->count + 1, sizeof *list);
    if (!list) {
        orch_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < set->count; i++)
        list[i] = (struct db_parameter){set->read[i].name, mark(&set->read[i], chip)};
    *count = set->count;
    return list;
}

/* Fills the scratch space with the chip's marks and returns their hash: a multiplication and a fold for each. */
static uint64_t marks_of(const struct read_set *set, const struct chip *chip)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < set->count; i++) {
        uint64_t bits;
        set->mark[i] = mark(&set->read[i], chip);
        memcpy(&bits, &set->mark[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* ---- timings ---- */

static size_t place(const struct read_set *set, uint64_t hash, const double *marks)
{
    size_t at = hash & (set->slots - 1);
    while (set->slot[at] && (set->slot[at]->hash != hash || memcmp(set->slot[at]->mark, marks, set->count * sizeof *marks) != 0))
        at = (at + 1) & (set->slots - 1);
    return at;
}

const struct run_timing *read_set_find(const struct read_set *set, const struct chip *chip)
{
    if (!set->slots)
        return NULL;
    const uint64_t hash = marks_of(set, chip);
    const struct entry *const entry = set->slot[place(set, hash, set->mark)];
    return entry ? &entry->timing : NULL;
}

/* Keeps the table at most half full. */
static bool grow(struct read_set *set)
{
    struct entry **const old = set->slot;
    const size_t count = set->slots;
    if (2 * (set->used + 1) <= count)
        return true;
    struct entry **const bigger = calloc(count ? 2 * count : 16, sizeof(struct entry *));
    if (!bigger)
        return false;
    set->slot = bigger;
    set->slots = count ? 2 * count : 16;
    for (size_t i = 0; i < count; i++)
        if (old[i])
            set->slot[place(set, old[i]->hash, old[i]->mark)] = old[i];
    free(old);
    return true;
}

const struct run_timing *read_set_add(struct read_set *set, const struct chip *chip, struct run_timing *timing,
                                      struct orch_error *error)
{
    struct entry *const entry = calloc(1, sizeof *entry);
    double *const marks = calloc(set->count + 1, sizeof *marks);
    if (!entry || !marks || !grow(set)) {
        free(entry);
        free(marks);
        run_timing_free(timing);
        orch_no_memory(error);
        return NULL;
    }
    const uint64_t hash = marks_of(set, chip);
    memcpy(marks, set->mark, set->count * sizeof *marks);
    *entry = (struct entry){hash, marks, *timing};
    run_timing_init(timing);
    set->slot[place(set, hash, marks)] = entry;
    set->used++;
    return &entry->timing;
}

size_t read_set_count(const struct read_set *set)
{
    return set->used;
}

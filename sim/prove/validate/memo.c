#include "isa/list_grow.h"
#include "sim/prove/validate/memo.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct memo_entry {
    char *key;
    void *value; /* NULL while a thread works on it */
};

struct memo {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t changed;
    size_t value_bytes;
    struct memo_entry *entry;
    size_t count, room;
};

struct memo *memo_create(size_t value_bytes)
{
    struct memo *const memo = calloc(1, sizeof *memo);
    if (memo) {
        memo->value_bytes = value_bytes;
        pthread_mutex_init(&memo->lock, NULL);
        pthread_cond_init(&memo->changed, NULL);
    }
    return memo;
}

void memo_free(struct memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < memo->count; i++) {
        free(memo->entry[i].key);
        free(memo->entry[i].value);
    }
    free(memo->entry);
    pthread_cond_destroy(&memo->changed);
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}

static struct memo_entry *find(struct memo *memo, const char *key)
{
    for (size_t i = 0; i < memo->count; i++)
        if (strcmp(memo->entry[i].key, key) == 0)
            return &memo->entry[i];
    return NULL;
}

/* Without memory the work is not noted, and everybody who asks does it. */
static void begin(struct memo *memo, const char *key)
{
    struct memo_entry *const grown = list_grow(memo->entry, memo->count, &memo->room, sizeof *grown);
    if (!grown)
        return;
    memo->entry = grown;
    char *const copy = strdup(key);
    if (copy)
        memo->entry[memo->count++] = (struct memo_entry){copy, NULL};
}

static void drop(struct memo *memo, struct memo_entry *entry)
{
    free(entry->key);
    *entry = memo->entry[--memo->count];
}

bool memo_recall(struct memo *memo, const char *key, void *value)
{
    pthread_mutex_lock(&memo->lock);
    struct memo_entry *entry = find(memo, key);
    while (entry && !entry->value) {
        pthread_cond_wait(&memo->changed, &memo->lock);
        entry = find(memo, key);
    }
    if (entry)
        memcpy(value, entry->value, memo->value_bytes);
    else
        begin(memo, key);
    pthread_mutex_unlock(&memo->lock);
    return entry != NULL;
}

bool memo_remember(struct memo *memo, const char *key, const void *value, struct orch_error *error)
{
    void *const copy = malloc(memo->value_bytes);
    if (copy)
        memcpy(copy, value, memo->value_bytes);
    pthread_mutex_lock(&memo->lock);
    struct memo_entry *const entry = find(memo, key);
    const bool done = copy && entry;
    if (done)
        entry->value = copy;
    else if (entry)
        drop(memo, entry);
    pthread_cond_broadcast(&memo->changed);
    pthread_mutex_unlock(&memo->lock);
    if (!done)
        free(copy);
    return done || orch_no_memory(error);
}

void memo_forget(struct memo *memo, const char *key)
{
    pthread_mutex_lock(&memo->lock);
    struct memo_entry *const entry = find(memo, key);
    if (entry)
        drop(memo, entry);
    pthread_cond_broadcast(&memo->changed);
    pthread_mutex_unlock(&memo->lock);
}

#include "units/cpu/cpu_timing_predict.h"

#include <stdlib.h>
#include <string.h>

/* History lengths of the tagged tables: a geometric series, as in Seznec and Michaud, "A case for (partially) tagged geometric
 * history length branch prediction" (2006). */
static const uint32_t history_bits[CPU_PREDICT_TABLES] = {8, 22, 60};
#define TAG_BITS 11

bool cpu_predict_init(struct cpu_predict *predict, uint32_t bits)
{
    memset(predict, 0, sizeof *predict);
    predict->bits = bits < 4 ? 4 : bits > 24 ? 24 : bits;
    predict->changes = 1;
    const size_t count = (size_t)1 << predict->bits;
    predict->base = calloc(count, sizeof predict->base[0]);
    predict->target = calloc(count, sizeof predict->target[0]);
    bool ok = predict->base && predict->target;
    for (int i = 0; i < CPU_PREDICT_TABLES; i++) {
        predict->tagged[i] = calloc(count, sizeof predict->tagged[i][0]);
        ok = ok && predict->tagged[i];
    }
    if (!ok)
        cpu_predict_release(predict);
    return ok;
}

void cpu_predict_release(struct cpu_predict *predict)
{
    free(predict->base);
    free(predict->target);
    for (int i = 0; i < CPU_PREDICT_TABLES; i++)
        free(predict->tagged[i]);
    memset(predict, 0, sizeof *predict);
}

static uint64_t mix(uint64_t pc, uint64_t history, uint32_t length)
{
    const uint64_t recent = history & ((UINT64_C(1) << length) - 1);
    uint64_t h = (pc >> 2) * UINT64_C(0x9E3779B97F4A7C15) ^ (recent + length) * UINT64_C(0xC2B2AE3D27D4EB4F);
    h ^= h >> 31;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ h >> 33;
}

/* Returns whether it changed. */
static bool learn(int8_t *counter, bool taken, int low, int high)
{
    const int8_t before = *counter;
    if (taken && *counter < high)
        (*counter)++;
    if (!taken && *counter > low)
        (*counter)--;
    return *counter != before;
}

static void remember(struct cpu_predict *predict, bool taken)
{
    predict->history = predict->history << 1 | taken;
}

/* After a wrong guess: allocates an entry in one table with a longer history than the one that guessed. */
static void allocate(struct cpu_predict_entry *const *entry, const uint16_t *tag, int provider, bool taken)
{
    for (int i = provider + 1; i < CPU_PREDICT_TABLES; i++) {
        if (entry[i]->useful == 0) {
            *entry[i] = (struct cpu_predict_entry){.tag = tag[i], .counter = taken ? 0 : -1};
            return;
        }
        entry[i]->useful--;
    }
}

/* Of all histories, only as much as the longest table reads. */
static uint64_t seen_history(const struct cpu_predict *predict)
{
    return predict->history << (64 - history_bits[CPU_PREDICT_TABLES - 1]);
}

static struct cpu_predict_steady *steady_of(struct cpu_predict *predict, uint64_t pc)
{
    const uint64_t h = (seen_history(predict) ^ pc << 7) * UINT64_C(0x9E3779B97F4A7C15);
    return &predict->steady[h >> 32 & (CPU_PREDICT_STEADY - 1)];
}

static bool guess_conditional(struct cpu_predict *predict, uint64_t pc, bool taken, bool *changed)
{
    const uint64_t mask = (UINT64_C(1) << predict->bits) - 1;
    struct cpu_predict_entry *entry[CPU_PREDICT_TABLES];
    uint16_t tag[CPU_PREDICT_TABLES];
    int provider = -1, second = -1;
    for (int i = 0; i < CPU_PREDICT_TABLES; i++) {
        const uint64_t h = mix(pc, predict->history, history_bits[i]);
        entry[i] = &predict->tagged[i][h & mask];
        tag[i] = (uint16_t)(h >> 40 & ((1 << TAG_BITS) - 1)) | 1;
        if (entry[i]->tag == tag[i]) {
            second = provider;
            provider = i;
        }
    }
    int8_t *base = &predict->base[pc >> 2 & mask];
    const bool other = second >= 0 ? entry[second]->counter >= 0 : *base >= 0;
    const bool guess = provider >= 0 ? entry[provider]->counter >= 0 : *base >= 0;
    *changed = guess != taken;
    if (provider >= 0) {
        *changed |= learn(&entry[provider]->counter, taken, -4, 3);
        if (guess != other && guess == taken && entry[provider]->useful < 3) {
            entry[provider]->useful++;
            *changed = true;
        }
    } else {
        *changed |= learn(base, taken, -2, 1);
    }
    if (guess != taken)
        allocate(entry, tag, provider, taken);
    return guess == taken;
}

bool cpu_predict_conditional(struct cpu_predict *predict, uint64_t pc, bool taken)
{
    struct cpu_predict_steady *const steady = steady_of(predict, pc);
    const uint64_t history = seen_history(predict);
    bool right = true, changed = false;
    if (steady->changes != predict->changes || steady->pc != pc || steady->history != history || steady->taken != taken) {
        right = guess_conditional(predict, pc, taken, &changed);
        predict->changes += changed;
        if (!changed)
            *steady = (struct cpu_predict_steady){pc, history, predict->changes, taken};
    }
    remember(predict, taken);
    return right;
}

bool cpu_predict_indirect(struct cpu_predict *predict, uint64_t pc, uint64_t target)
{
    uint64_t *slot = &predict->target[mix(pc, predict->history, 16) & ((UINT64_C(1) << predict->bits) - 1)];
    const bool right = *slot == target;
    *slot = target;
    remember(predict, target >> 2 & 1);
    return right;
}

bool cpu_predict_return(struct cpu_predict *predict, uint64_t target)
{
    predict->returns_top = (predict->returns_top - 1) % CPU_RETURN_STACK;
    return predict->returns[predict->returns_top] == target;
}

void cpu_predict_call(struct cpu_predict *predict, uint64_t return_address)
{
    predict->returns[predict->returns_top] = return_address;
    predict->returns_top = (predict->returns_top + 1) % CPU_RETURN_STACK;
}

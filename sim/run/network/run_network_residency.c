#include "sim/run/network/run_network_residency.h"

#include "sim/chip/chip_units.h"
#include "sim/network/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tensor {
    const char *data;
    uint64_t bytes;
};

/* The tensors that were used last, the latest one behind all others. */
struct network_residency {
    struct tensor *tensor;
    size_t count, room;
    double held_bytes, most_bytes; /* as the host counts: four to an element */
};

/* Weights that kernels read, and what is between them at one time, as the host has them: four bytes to an element. */
static bool network_bytes(const struct net_model *model, double *bytes, struct orch_error *error)
{
    struct net_memory memory;
    if (!net_memory_plan(model, &memory, error))
        return false;
    *bytes = (double)memory.peak_bytes;
    net_memory_free(&memory);
    for (size_t i = 0; i < model->values; i++)
        *bytes += model->value[i].constant ? (double)net_array_bytes(model->value[i].constant) : 0;
    return true;
}

/* Halves take half of the host's bytes, so the cache holds twice as many of these. */
static double cache_bytes(const struct run_network *n, const struct mem_params *memory)
{
    const char *const precision = n->request->precision;
    const bool halves = n->mixed || (precision && (strcmp(precision, "f16") == 0 || strcmp(precision, "bf16") == 0));
    return 1024.0 * memory->slc.kib * memory->dies * (halves ? 2 : 1);
}

bool network_residency_open(const struct run_network *n, struct network_residency **residency, struct orch_error *error)
{
    struct mem_params memory;
    double bytes;
    *residency = NULL;
    if (n->request->cold || n->request->mode == RUN_FUNCTIONAL)
        return true;
    if (!chip_mem_params(n->request->chip, NULL, &memory, error) || !network_bytes(n->model, &bytes, error))
        return false;
    const double most = cache_bytes(n, &memory);
    if (bytes <= most)
        return true;
    struct network_residency *const r = *residency = calloc(1, sizeof *r);
    if (!r)
        return orch_no_memory(error);
    r->most_bytes = most;
    return true;
}

void network_residency_free(struct network_residency *r)
{
    if (r)
        free(r->tensor);
    free(r);
}

static void drop(struct network_residency *r, size_t at)
{
    r->held_bytes -= (double)r->tensor[at].bytes;
    r->count--;
    memmove(r->tensor + at, r->tensor + at + 1, (r->count - at) * sizeof *r->tensor);
}

void network_residency_begin(struct network_residency *r, const void *host, uint64_t bytes)
{
    const char *const begin = host;
    for (size_t i = r && host ? r->count : 0; i-- > 0;)
        if (r->tensor[i].data < begin + bytes && begin < r->tensor[i].data + r->tensor[i].bytes)
            drop(r, i);
}

/* The tensor that this is, or a part of; r->count = none that is there. */
static size_t find(const struct network_residency *r, const void *data)
{
    const char *const at = data;
    for (size_t i = r->count; i-- > 0;)
        if (at >= r->tensor[i].data && at < r->tensor[i].data + r->tensor[i].bytes)
            return i;
    return r->count;
}

/* What is larger than the cache leaves only its end there, which is not counted on. Without memory of the host less is present.
 */
static void touch(struct network_residency *r, const void *data, uint64_t bytes)
{
    const size_t at = find(r, data);
    struct tensor t = {data, bytes};
    if (at < r->count) {
        t = r->tensor[at];
        drop(r, at);
    }
    if (r->count == r->room) {
        const size_t room = 2 * r->room + 64;
        struct tensor *const grown = realloc(r->tensor, room * sizeof *grown);
        if (!grown)
            return;
        r->tensor = grown;
        r->room = room;
    }
    r->tensor[r->count++] = t;
    r->held_bytes += (double)t.bytes;
    while (r->count > 0 && r->held_bytes > r->most_bytes)
        drop(r, 0);
}

uint32_t network_residency_use(struct network_residency *r, const struct lowered_step *step)
{
    uint32_t present = 0;
    if (!r || step->at_load)
        return 0;
    for (unsigned i = 0; i < step->operands.inputs; i++)
        present |= find(r, step->input[i].data) < r->count ? UINT32_C(1) << i : 0;
    for (unsigned i = 0; i < step->operands.inputs; i++)
        touch(r, step->input[i].data, step->input[i].bytes);
    touch(r, step->operands.result, step->operands.result_bytes);
    return present;
}

void network_residency_ask(const struct network_residency *r, uint32_t present, struct run_request *request)
{
    if (!r)
        return;
    request->cold = true;
    request->evict = strcmp(request->unit, orch_part_name(PART_GPU)) != 0; /* as for any cold kernel of a network */
    request->present = present;
}

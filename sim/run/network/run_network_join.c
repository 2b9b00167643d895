#include "sim/run/network/run_network_join.h"

#include "sim/base/checksum.h"
#include "sim/network/join.h"
#include "sim/network/network.h"
#include "sim/network/zoo/zoo.h"
#include "sim/run/run_file.h"
#include "sim/run/network/run_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char separator[] = " + ";

/* The next name of "A + B + C"; *at goes behind it. False at the end. */
static bool next_name(const char **at, char *name, size_t size)
{
    if (!**at)
        return false;
    const char *const end = strstr(*at, separator);
    const size_t length = end ? (size_t)(end - *at) : strlen(*at);
    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), *at);
    *at += length + (end ? sizeof separator - 1 : 0);
    return true;
}

bool run_network_are_joint(const char *workload, const char *unit)
{
    char name[1024];
    unsigned count = 0;
    if (!unit || strcmp(unit, "hybrid") != 0)
        return false;
    for (const char *at = workload; next_name(&at, name, sizeof name); count++)
        if (!run_is_network(name) || strchr(name, '['))
            return false;
    return count > 1;
}

/* ---- one of them ---- */

/* "2:NAME=N" of the second one. */
static size_t own_dims(const struct run_request *q, unsigned number, const char **dim)
{
    size_t count = 0;
    for (size_t i = 0; i < q->dim_count; i++) {
        char *end;
        const unsigned long own = strtoul(q->dims[i], &end, 10);
        if (*end == ':' && own == number)
            dim[count++] = end + 1;
    }
    return count;
}

static bool check_dims(const struct run_request *q, unsigned networks, struct orch_error *error)
{
    for (size_t i = 0; i < q->dim_count; i++) {
        char *end;
        const unsigned long own = strtoul(q->dims[i], &end, 10);
        if (*end != ':' || own < 1 || own > networks)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("dim") " %.80s: of several networks, write 2:NAME=N for the second",
                             q->dims[i]);
    }
    return true;
}

/* What decides the answer: a name's architecture, a file's contents. */
static bool add_content(const char *name, uint64_t *content, struct orch_error *error)
{
    const struct net_zoo_model *const zoo = strncmp(name, NET_ZOO, sizeof NET_ZOO - 1) == 0 ? net_zoo_find(name) : NULL;
    struct run_file file;
    if (zoo) {
        *content = checksum_add(*content, zoo->notation, strlen(zoo->notation));
        return true;
    }
    if (!run_file_read(name, &file, error))
        return false;
    *content = checksum_add(*content, file.bytes, file.size);
    run_file_free(&file);
    return true;
}

static struct net_model *open_one(const struct run_request *request, const char *name, unsigned number, const char **dim,
                                  run_network_import *import, struct orch_error *error)
{
    static const struct net_open_options everything = {.level = 2};
    struct run_request q = *request;
    q.workload = name;
    q.dims = dim;
    q.dim_count = own_dims(request, number, dim);
    struct net_model *const model = import(&q, error);
    if (model && net_prepare(model, q.passes ? q.passes : &everything, NULL, error))
        return model;
    net_model_free(model);
    return NULL;
}

static bool join_all(const struct run_request *q, struct net_model *whole, const char **dim, run_network_import *import,
                     struct orch_error *error)
{
    char name[1024];
    unsigned number = 0;
    uint64_t content = CHECKSUM_START;
    bool ok = true;
    for (const char *at = q->workload; next_name(&at, name, sizeof name);)
        number++;
    if (number > NET_PARTS_MAX)
        return orch_fail(error, ORCH_USAGE, "at most %d networks are planned together", (int)NET_PARTS_MAX);
    if (!check_dims(q, number, error))
        return false;
    number = 0;
    for (const char *at = q->workload; ok && next_name(&at, name, sizeof name);) {
        number++;
        struct net_model *const one = open_one(q, name, number, dim, import, error);
        ok = one && add_content(name, &content, error);
        if (ok) {
            whole->shapes_only = one->shapes_only;
            ok = net_join(whole, one) || orch_no_memory(error);
        }
        net_model_free(one);
    }
    whole->content += content;
    return ok;
}

struct net_model *run_network_join(const struct run_request *q, run_network_import *import, struct orch_error *error)
{
    struct net_model *const whole = net_model_new(q->workload);
    const char **const dim = calloc(q->dim_count + 1, sizeof(*dim));
    const bool ok = whole && dim ? join_all(q, whole, dim, import, error) : orch_no_memory(error);
    free(dim);
    if (ok)
        return whole;
    net_model_free(whole);
    return NULL;
}

/* ---- the result ---- */

/* "Conv 2:Conv_7" is the second network's. */
static unsigned number_of(const char *op)
{
    const char *const space = strchr(op, ' ');
    return space ? (unsigned)strtoul(space + 1, NULL, 10) : 0;
}

bool run_network_join_tell(struct run_result *r)
{
    double end[NET_PARTS_MAX + 1] = {0};
    bool ok = true;
    for (size_t i = 0; i < r->placement.count; i++) {
        const unsigned number = number_of(r->placement.item[i].op);
        char name[60];
        snprintf(name, sizeof name, RUN_NETWORK_BEGIN, i + 1);
        const double begin = run_values_get(&r->counters, name);
        snprintf(name, sizeof name, RUN_NETWORK_SECONDS, i + 1);
        const double seconds = run_values_get(&r->counters, name);
        if (number >= 1 && number <= NET_PARTS_MAX && !isnan(begin) && !isnan(seconds))
            end[number] = fmax(end[number], begin + seconds);
    }
    for (unsigned k = 1; ok && k <= NET_PARTS_MAX; k++) {
        char name[60];
        snprintf(name, sizeof name, RUN_NETWORK_PART_END, k);
        ok = !(end[k] > 0) || run_values_set(&r->counters, name, end[k]);
    }
    return ok;
}

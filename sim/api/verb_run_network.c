#include "sim/api/verb_run_network.h"

#include "sim/ask/study/learned_rows.h"
#include "sim/run/language/language_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool verb_run_is_routing(const char *policy)
{
    return strcmp(policy, "all") == 0 || run_is_network_policy(policy);
}

bool verb_run_network_read(const struct api_args *args, struct verb_run_network *n, struct run_request *request,
                           struct orch_error *error)
{
    const size_t dims = api_count(args, "dim"), left_out = api_count(args, "no-pass"), images = api_count(args, "image");
    unsigned level = 2;
    n->text = calloc(dims + left_out + images + 1, sizeof(*n->text));
    if (!n->text)
        return orch_no_memory(error);
    for (size_t k = 0; k < dims; k++)
        n->text[k] = api_value_at(args, "dim", k);
    for (size_t k = 0; k < left_out; k++)
        n->text[dims + k] = api_value_at(args, "no-pass", k);
    for (size_t k = 0; k < images; k++)
        n->text[dims + left_out + k] = api_value_at(args, "image", k);
    n->images = (struct run_network_images){.file = n->text + dims + left_out,
                                            .count = images,
                                            .mean = api_value(args, "mean"),
                                            .std = api_value(args, "std"),
                                            .boxes = api_value(args, "boxes"),
                                            .least_score = 0.5,
                                            .labels = api_value(args, "labels")};
    if (n->images.boxes && images == 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("boxes") " %.200s: drawn on an image (" ORCH_OPTION("image") " FILE)",
                         n->images.boxes);
    const char *const ending = n->images.boxes ? strrchr(n->images.boxes, '.') : NULL;
    if (n->images.boxes && (!ending || (strcasecmp(ending, ".png") != 0 && strcasecmp(ending, ".svg") != 0)))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("boxes") " %.200s: FILE.png or FILE.svg", n->images.boxes);
    if (api_has(args, "least-score") && !n->images.boxes)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("least-score") ": of boxes that are drawn (" ORCH_OPTION("boxes") ")");
    if (!api_number(args, "least-score", 0, 1, &n->images.least_score, error))
        return false;
    if ((n->images.mean || n->images.std) && images == 0)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to " ORCH_OPTION("image"),
                         n->images.mean ? "mean" : "std");
    request->images = images || n->images.labels ? &n->images : NULL;
    if (!api_chosen(args, "opt", "0|1|2", &level, error))
        return false;
    n->passes = (struct net_open_options){.level = (int)level, .without = n->text + dims, .without_count = left_out};
    const char *const policy = api_value(args, "policy");
    if (policy && verb_run_is_routing(policy)) {
        const bool product = strncmp(policy, "split", 5) == 0 && strncmp(request->workload, "gemm:", 5) == 0;
        if (!product && !run_is_network(request->workload))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("policy") " %s: chooses units for the operators of a network",
                             policy);
        request->policy = policy;
    }
    request->dims = n->text;
    request->dim_count = dims;
    request->passes = left_out || api_value(args, "opt") ? &n->passes : NULL;
    return true;
}

/* Published language models have no values: their kernels are always timed by shape. */
static bool is_language_shape(const struct run_request *q)
{
    return strncmp(q->workload, LANGUAGE_ZOO, strlen(LANGUAGE_ZOO)) == 0 &&
           (language_model_is(q->workload) || (q->language && language_model_generates(q->workload)));
}

bool verb_run_network_db(const struct api_args *args, const struct run_request *q, struct verb_run_network *n,
                         struct orch_db *runs, struct orch_db **db, struct orch_error *error)
{
    const char *const folder = api_value(args, "cache");
    const bool timed = (q->detail && strcmp(q->detail, "op") == 0) ||
                       (q->mode == RUN_TIMING && (run_is_network(q->workload) || language_model_is(q->workload))) ||
                       is_language_shape(q);
    char path[4096];
    *db = timed ? runs : NULL;
    if (!folder)
        return true;
    if (!timed)
        return orch_fail(
            error, ORCH_USAGE,
            ORCH_OPTION("cache") ": of " ORCH_OPTION("detail") " op, of networks and language models in " ORCH_OPTION(
                "mode") " timing, and of model:NAME");
    if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || strlen(folder) > sizeof path - 40)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("cache") " %.300s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/characteristics.db", folder);
    *db = n->cache = db_open(path, DB_WRITE, error);
    return n->cache != NULL;
}

bool verb_run_network_learn(const struct api_args *args, struct verb_run_network *n, struct orch_db *runs, struct run_request *q,
                            struct orch_error *error)
{
    const char *const policy = api_value(args, "policy");
    if (!policy || (strcmp(policy, RUN_NETWORK_POLICY_PREDICTIVE) != 0 && strcmp(policy, "all") != 0))
        return true;
    learned_free(n->learned);
    q->learned = n->learned = learned_rows_read(n->cache ? n->cache : runs, q->chip, q->detail, error);
    return n->learned != NULL;
}

void verb_run_network_free(struct verb_run_network *n)
{
    learned_free(n->learned);
    db_close(n->cache);
    free(n->text);
}

bool verb_run_network_wants_values(const struct api_args *args)
{
    return api_has(args, "output") || api_has(args, "boxes") || api_has(args, "labels");
}

/* What the options of the verb run say of networks: open dimensions, and passes over their graphs. */
#ifndef ORCHARD_SIM_API_VERB_RUN_NETWORK_H
#define ORCHARD_SIM_API_VERB_RUN_NETWORK_H

#include "sim/api/api.h"
#include "sim/db/db.h"
#include "sim/network/network.h"
#include "sim/run/run.h"
#include "sim/run/network/run_network_image.h"

/* clang-format off */
#define VERB_RUN_NETWORK_OPTIONS \
    {"dim", 0, "NAME=N", true, "networks: the size of a dimension that the file leaves open; repeats"}, \
    {"image", 0, "FILE", true, "networks: a JPEG or PNG file for an input (NAME=FILE: that one), resized to its shape; repeats"}, \
    {"mean", 0, "M[,M,M]", false, "networks: taken from each pixel (0 to 255) of images, by channel: red, green, blue"}, \
    {"std", 0, "S[,S,S]", false, "networks: what the pixels are divided by then"}, \
    {"boxes", 0, "FILE", false, "networks: draws the boxes that a detector finds in the first image (FILE.png or FILE.svg)"}, \
    {"least-score", 0, "P", false, "networks: of boxes that are drawn (default 0.5)"}, \
    {"labels", 0, "FILE", false, "networks: names of classes, one on each line: the five best are printed"}, \
    {"opt", 0, "0|1|2", false, "networks: passes: 0 folds constants, 1 also tidies up, 2 (default) also fuses"}, \
    {"no-pass", 0, "NAME", true, "networks: leave a pass out; repeats"}, \
    {"cache", 0, "DIR", false, "detail op, networks in mode timing: a folder that keeps what kernels take, instead of the database"}
/* clang-format on */

struct verb_run_network {
    struct run_network_images images;
    struct net_open_options passes;
    const char **text;           /* what the requests point to */
    struct orch_db *cache;       /* NULL = none */
    struct learned_set *learned; /* of the chip at hand; NULL = nobody asks */
};

/* Whether a policy is one of networks (sim/run/network/run_network_plan.h), or "all" of these. */
bool verb_run_is_routing(const char *policy);
/* The request then points to `network`. Free in any case. */
bool verb_run_network_read(const struct api_args *args, struct verb_run_network *network, struct run_request *request,
                           struct orch_error *error);
/* Where operators, and kernels of networks without values, are looked up: in the run's database, or in the folder of the option
 * "cache". *db is NULL when nothing is. */
bool verb_run_network_db(const struct api_args *args, const struct run_request *request, struct verb_run_network *network,
                         struct orch_db *runs, struct orch_db **db, struct orch_error *error);
/* For the policy "predictive": what those databases know of kernels on the request's chip. */
bool verb_run_network_learn(const struct api_args *args, struct verb_run_network *network, struct orch_db *runs,
                            struct run_request *request, struct orch_error *error);
void verb_run_network_free(struct verb_run_network *network);

/* Whether outputs, boxes or classes are asked for, which the database does not have. */
bool verb_run_network_wants_values(const struct api_args *args);

#endif

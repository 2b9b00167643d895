/* Networks for the verb models. */
#ifndef ORCHARD_SIM_API_MODELS_NETWORK_H
#define ORCHARD_SIM_API_MODELS_NETWORK_H

#include "sim/api/api.h"
#include "sim/network/network.h"

/* Published networks as a table, and as rows of a document. */
void models_network_list(struct api_context *context, json_object *rows);

/* A kind of files, and model:NAME of published networks: whether a file with this name and these first bytes is an ONNX network,
 * and what is in it, after the passes that the options "opt", "no-pass" and "pass" ask for and with the dimensions of "dim". */
bool models_is_onnx(const char *path, const void *head, size_t size, uint64_t file_bytes);
int models_show_onnx(struct api_context *context, const char *path);

/* A file or model:NAME behind these passes, with the dimensions of "dim" and the values of "value"; `report` may be NULL. NULL
 * with *error. */
struct net_model *models_open_network(struct api_context *context, const char *path, const struct net_open_options *passes,
                                      struct net_report *report, struct orch_error *error);
/* What "dim" says, as a list from malloc. NULL with *error. */
const char **models_dims(const struct api_context *context, struct orch_error *error);

#endif

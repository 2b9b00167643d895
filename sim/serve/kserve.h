/* Parts of the KServe protocol. */
#ifndef ORCHARD_SIM_SERVE_KSERVE_H
#define ORCHARD_SIM_SERVE_KSERVE_H

#include "sim/serve/kserve_tensor.h"
#include "sim/serve/protocol.h"

/* kserve_infer.c */
void kserve_infer(const struct protocol_context *context, struct served_model *model, const struct http_request *request,
                  struct http_reply *reply);

#endif

/* Names of values, as the file has them, in scopes: a name that a scope does not have is looked for around it. */
#ifndef ORCHARD_SIM_NETWORK_COREML_COREML_NAMES_H
#define ORCHARD_SIM_NETWORK_COREML_COREML_NAMES_H

#include "sim/network/coreml/coreml_internal.h"

/* A list of tensors, of which some may be missing (NET_NONE). Lists are values: what writes to one makes another. */
struct coreml_list {
    struct coreml_list *next; /* of all that were made */
    size_t count;
    net_id item[];
};

enum coreml_kind { COREML_NOTHING, COREML_TENSOR, COREML_WORD, COREML_LIST };

struct coreml_value {
    enum coreml_kind kind;
    net_id id;
    struct pb word;
    const struct coreml_list *list;
};

struct coreml_named {
    struct pb name; /* without a state: free */
    uint64_t hash;
    struct coreml_value value;
};

struct coreml_names {
    const struct coreml_names *outer;
    struct coreml_named *slot;
    size_t count, room; /* room: a power of two, never full */
};

/* NULL when there is no such name. */
const struct coreml_value *coreml_names_find(const struct coreml_names *names, struct pb name);
/* A later value of the same name hides the earlier one. */
void coreml_names_add(struct coreml *c, struct coreml_names *names, struct pb name, const struct coreml_value *value);
void coreml_names_free(struct coreml_names *names);

static inline struct coreml_value coreml_tensor(net_id id)
{
    return (struct coreml_value){.kind = COREML_TENSOR, .id = id};
}

#endif

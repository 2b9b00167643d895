/* Networks for people and programs: what goes in and out, operators with shapes, work, memory, what passes have done. */
#ifndef ORCHARD_SIM_NETWORK_SHOW_H
#define ORCHARD_SIM_NETWORK_SHOW_H

#include "sim/network/memory.h"
#include "sim/network/network.h"

#include <json-c/json.h>
#include <stdio.h>

/* "[1,3,batch]"; "?" when not even the number of dimensions is known. Writes into `text` and returns it. */
char *net_shape_text(const struct net_model *model, const struct net_shape *shape, char *text, size_t size);

/* Tables; false when memory is out. `placements` also lists where each tensor lies. */
bool net_print(const struct net_model *model, const struct net_report *report, const struct net_memory *memory, bool placements,
               FILE *out, bool color);
/* The same as a document; NULL when memory is out. */
json_object *net_json(const struct net_model *model, const struct net_report *report, const struct net_memory *memory);

#endif

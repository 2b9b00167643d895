/* Attributes of nodes as they stand in files. */
#include "sim/network/onnx/onnx_internal.h"

#include <stdlib.h>
#include <string.h>

char *onnx_attribute_text(const ProtobufCBinaryData *bytes)
{
    char *const text = malloc(bytes->len + 1);
    if (text && bytes->len)
        memcpy(text, bytes->data, bytes->len);
    if (text)
        text[bytes->len] = 0;
    for (char *c = text; c && *c; c++) /* words reach terminals and one-line messages, as names do */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

Onnx__AttributeProto__AttributeType onnx_attribute_kind(const Onnx__AttributeProto *a)
{
    if (a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
        return a->type;
    return a->has_f      ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
           : a->has_i    ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
           : a->has_s    ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
           : a->t        ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR
           : a->g        ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH
           : a->n_ints   ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
           : a->n_floats ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
                         : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
}

bool onnx_attribute_list(const Onnx__AttributeProto *a, struct net_node *node, const char *name)
{
    struct net_attribute *to;
    switch (onnx_attribute_kind(a)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS: return net_set_ints(node, name, a->ints, a->n_ints);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        to = net_attr_set(node, name, NET_ATTR_REALS);
        if (!to || !(to->reals = calloc(a->n_floats + 1, sizeof *to->reals)))
            return false;
        for (to->count = 0; to->count < a->n_floats; to->count++)
            to->reals[to->count] = a->floats[to->count];
        return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
        to = net_attr_set(node, name, NET_ATTR_TEXTS);
        if (!to || !(to->texts = calloc(a->n_strings + 1, sizeof *to->texts)))
            return false;
        for (to->count = 0; to->count < a->n_strings; to->count++)
            if (!(to->texts[to->count] = onnx_attribute_text(&a->strings[to->count])))
                return false;
        return true;
    default: return true;
    }
}

#include "sim/run/network/run_network_product.h"

#include "sim/network/operators/operator.h"
#include "sim/run/network/run_network.h"

#include <stdio.h>
#include <string.h>

static const char product[] = "gemm:";

bool run_network_is_product(const struct run_request *q)
{
    return q->policy && strncmp(q->policy, "split", 5) == 0 && strncmp(q->workload, product, sizeof product - 1) == 0;
}

static net_id add_input(struct net_model *model, const char *name, int64_t rows, int64_t columns)
{
    const net_id id = net_value_add(model, name);
    if (id == NET_NONE)
        return id;
    model->value[id].type = NET_F32;
    model->value[id].shape = net_shape_of((const int64_t[]){rows, columns}, 2);
    return net_graph_add_input(model->graph, id) ? id : NET_NONE;
}

static bool add_product(struct net_model *model, int64_t m, int64_t n, int64_t k)
{
    const net_id a = add_input(model, "a", m, k), b = add_input(model, "b", k, n), c = net_value_add(model, "c");
    struct net_node *const node = net_node_new("product", "MatMul", "", 2, 1);
    if (!node || a == NET_NONE || b == NET_NONE || c == NET_NONE)
        return false;
    node->input[0] = a;
    node->input[1] = b;
    node->output[0] = c;
    node->row = net_operator_find("MatMul", "");
    node->version = 13;
    return net_graph_insert(model->graph, 0, node) && net_model_add_output(model, c);
}

struct net_model *run_network_product(const char *workload, struct orch_error *error)
{
    long long m, n, k;
    char rest;
    if (sscanf(workload + sizeof product - 1, "%lldx%lldx%lld%c", &m, &n, &k, &rest) != 3 || m < 1 || n < 1 || k < 1 ||
        m > 1 << 20 || n > 1 << 20 || k > 1 << 20) {
        orch_fail(error, ORCH_USAGE,
                  ORCH_OPTION("policy") " split: %.150s cannot be split; gemm:MxNxK can, without options, numbers up to 1048576",
                  workload);
        return NULL;
    }
    struct net_model *const model = net_model_new(workload);
    if (model && add_product(model, m, n, k))
        return model;
    net_model_free(model);
    orch_no_memory(error);
    return NULL;
}

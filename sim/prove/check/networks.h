/* Checks networks against golden outputs: folders with model.onnx and golden/, or with ONNX's test_data_set_N. */
#ifndef ORCHARD_SIM_PROVE_CHECK_NETWORKS_H
#define ORCHARD_SIM_PROVE_CHECK_NETWORKS_H

#include "sim/base/check.h"
#include "sim/network/network.h"
#include "sim/network/quantise/mixed.h"
#include "sim/run/run.h"

/* Of the largest expected number of an output, in golden data of an independent runtime. */
#define CHECK_NETWORK_F32  2e-4
#define CHECK_NETWORK_F16  NET_F16_TOLERANCE
#define CHECK_NETWORK_INT8 5e-2
/* What ONNX's own backend tests ask of each number; in f16, where the operands alone are off by half of that, outputs that miss
 * it are right within CHECK_NETWORK_F16 as others are. */
#define CHECK_NETWORK_RELATIVE 1e-3
#define CHECK_NETWORK_ABSOLUTE 1e-7

/* Least share that a unit computes of the multiplications of operators for which its library has a kernel. */
#define CHECK_NETWORK_SHARE 0.95

/* The worst output of a case. */
struct check_network_row {
    char *name;
    bool right;
    bool by_half; /* wrong: not as near as ONNX's own tests ask, which were made for f32, but as near as f16 is asked for */
    double difference, magnitude;
    uint64_t macs;
    double share; /* of the multiplications of operators with a kernel, what the unit computed; NAN = there are none */
    unsigned kernels, left, elsewhere; /* elsewhere: kernels that the CPU took because the unit's library lacks them */
    size_t whole, nodes;     /* nodes that stayed in f32, of all, because the network in f16 was wrong by `half`; 0 = none */
    bool bytes;              /* it was in integers, and of these nodes products are counted */
    double half, whole_macs; /* the share of the multiplications that is theirs */
    char *fallbacks;         /* "Resize up: the library has no kernel ...", one line each; "" = none */
};

struct check_network_rows {
    struct check_network_row *row;
    size_t count, room;
};

/* Every case of the folder (or only those named), after the passes that `options` asks for: by the reference operators, or by
 * kernels of the unit of `request`, which are executed without time. What is wrong in f16 is tried in mixed precision
 * (quantise/mixed.h). With precision i8, products with constant weights multiply integers, whose ranges are those of the golden
 * inputs; everything else is in f32. What the reference does not know is skipped with its name.
 * False with an error when there are no cases. */
bool check_networks(const char *folder, const char *const *names, size_t name_count, const struct net_open_options *options,
                    const struct run_request *request, struct check_report *report, struct check_network_rows *rows,
                    struct orch_error *error);
void check_network_rows_free(struct check_network_rows *rows);

#endif

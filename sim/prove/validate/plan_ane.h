/* Shared by the plans of Neural Engine rows: plan_ane.c chooses a plan, the others build it. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_PLAN_ANE_H
#define ORCHARD_SIM_PROVE_VALIDATE_PLAN_ANE_H

#include "sim/prove/validate/plan_launch.h"

struct ane_row {
    struct validate_row *row;
    struct validate_program *program;
    const char *precision; /* precision of the library; NULL when it has none like the row's */
    double watts;          /* watts of one of the row's units; 0 when the row is about time */
};

/* ---- for all plans (plan_ane_row.c) ---- */

/* A cell of the row; "" when the table has no such column. */
const char *plan_ane_cell(const struct ane_row *a, const char *column);
/* Adds a kernel, given as text, `times` times to the request. */
bool plan_ane_launch(struct ane_row *a, double times, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A matrix times a vector in f32 by Accelerate, beside requests: on one AMX block, or on all where it is large. */
bool plan_ane_core_gemv(struct ane_row *a, double times, uint64_t rows, uint64_t columns);
/* Notes what was assumed; a row has one note. */
void plan_ane_note(struct ane_row *a, const char *text);
/* The same of a size that the source does not give; the row is scored apart. */
void plan_ane_guess(struct ane_row *a, const char *text);
/* Sets what is measured, in the row's own unit. `operations` (or bytes) of one request count for rates. */
bool plan_ane_unit(struct ane_row *a, double operations);
/* Sets the framework whose time the row contains besides that of the request. `in` and `out` are bytes of inputs and outputs in
 * fp16. */
void plan_ane_harness(struct ane_row *a, double in, double out);
/* The same for programs that give the engine buffers of their own and copy nothing: what a call takes, where a machine says so by
 * a row with one small layer. `bytes` are those of inputs, outputs and weights. */
void plan_ane_caller(struct ane_row *a, unsigned layers, double bytes);
/* Whether the row is of sbryngelson/ANEForge's comparison of devices, whose program has the sizes
 * (bench/device_compare_wattcomplete.py). */
bool plan_ane_compares(const struct ane_row *a);

/* ---- plans: false when the row is refused, with the reason in the row ---- */

typedef bool plan_ane(struct ane_row *a);

/* plan_ane_product.c */
plan_ane plan_ane_gemm;
plan_ane plan_ane_cubed;
plan_ane plan_ane_two_inputs;
plan_ane plan_ane_peak_product;
plan_ane plan_ane_gemv;
plan_ane plan_ane_head;
plan_ane plan_ane_weight_stream;

/* plan_ane_stack.c */
plan_ane plan_ane_conv;
plan_ane plan_ane_counted_stack;
plan_ane plan_ane_peak_stack;
plan_ane plan_ane_single;
plan_ane plan_ane_layer;
plan_ane plan_ane_slope;
plan_ane plan_ane_above_l2;
plan_ane plan_ane_chain;
plan_ane plan_ane_fused_layers;

/* plan_ane_other.c */
plan_ane plan_ane_streaming;
plan_ane plan_ane_attention;
plan_ane plan_ane_norm;
plan_ane plan_ane_fourier;
plan_ane plan_ane_jacobi;
plan_ane plan_ane_stencil;
plan_ane plan_ane_speed_up;
plan_ane plan_ane_smallest;
plan_ane plan_ane_dispatch;
plan_ane plan_ane_wake;

/* plan_ane_network.c */
plan_ane plan_ane_network;
plan_ane plan_ane_whisperkit;
plan_ane plan_ane_feed_forward;
plan_ane plan_ane_chunks;
plan_ane plan_ane_gpt2;
plan_ane plan_ane_phi4;
plan_ane plan_ane_hymt;
plan_ane plan_ane_small_decoder;
plan_ane plan_ane_training;
plan_ane plan_ane_diffusion;
plan_ane plan_ane_diffusion_large;

#endif

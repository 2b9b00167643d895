/* How the rules of a framework write launches. Errors stay in the plan until its end: what comes after one does nothing. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_PLAN_H
#define ORCHARD_SIM_WORKLOAD_GPU_FRAMEWORKS_FRAMEWORK_PLAN_H

#include "sim/workload/gpu/frameworks/framework.h"

#include <string.h>

struct framework_plan {
    const struct framework_choice *choice;
    struct gpu_library *library;
    enum gpu_type type;
    uint32_t version;
    char letter;
    unsigned operands; /* buffers of the operator, which come first */
    uint8_t *number;   /* what launches are given by value */
    size_t number_bytes;
    bool failed;
    struct orch_error *error;
};

/* False, and the plan has failed, with a text of what is not there. */
bool plan_refuse(struct framework_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The operator's number of that name ("m", "batch"). */
uint64_t plan_value(const struct framework_plan *plan, const char *name);
double plan_decimal(const struct framework_plan *plan, const char *name);

/* "float" or "half", as names of kernels have it. */
const char *plan_type(const struct framework_plan *plan);

/* An operand lies with its second dimension last: images as N H W C in place of the operator's N C H W. */
void plan_channels_last(struct framework_plan *plan, unsigned buffer, uint64_t outer, uint64_t channels, uint64_t inner);

/* A buffer that lives from launch to launch. */
unsigned plan_scratch(struct framework_plan *plan, const char *name, enum gpu_type type, uint64_t count);

struct plan_size {
    uint64_t x, y, z;
};
/* Begins a launch of the kernel of that name; its arguments follow in the order of the source. */
void plan_launch(struct framework_plan *plan, struct plan_size grid_threads, struct plan_size group_threads, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
/* The same with a grid of threadgroups. */
void plan_launch_groups(struct framework_plan *plan, struct plan_size groups, struct plan_size group_threads, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
/* The launch that was begun last holds more registers as its framework has it compiled than our code names: struct
 * gpu_timing_launch. */
void plan_holds_more(struct framework_plan *plan);
/* So many at least, where it is known what the framework's own compiler made of it. */
void plan_registers(struct framework_plan *plan, unsigned halves);
void plan_buffer(struct framework_plan *plan, unsigned buffer);
void plan_buffer_at(struct framework_plan *plan, unsigned buffer, uint64_t offset_bytes);
/* Numbers that the kernel reads from device memory, as an argument of their own. */
void plan_table(struct framework_plan *plan, const void *bytes, size_t size);
void plan_numbers(struct framework_plan *plan, const void *bytes, size_t size);
#define plan_number(plan, ...) plan_numbers(plan, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}))

/* MLX's threadgroup for a grid of up to three sizes: they are doubled in turn while the grid is as large, up to 1024 threads. */
struct plan_size plan_block(uint64_t x, uint64_t y, uint64_t z);

static inline uint64_t plan_ceil(uint64_t count, uint64_t unit)
{
    return (count + unit - 1) / unit;
}

static inline struct plan_size plan_line(uint64_t x)
{
    return (struct plan_size){x, 1, 1};
}

/* A number as launches are given it. */
static inline uint32_t plan_bits(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static inline uint64_t plan_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Rules, a function for each operator. */
bool mlx_elementwise(struct framework_plan *plan);
bool mlx_copy(struct framework_plan *plan);
bool mlx_gemm(struct framework_plan *plan);
bool mlx_gemv(struct framework_plan *plan);
bool mlx_reduce(struct framework_plan *plan);
bool mlx_softmax(struct framework_plan *plan);
bool mlx_concat(struct framework_plan *plan);
bool mlx_conv2d(struct framework_plan *plan);
bool mlx_attention(struct framework_plan *plan);
bool mlx_cache_attention(struct framework_plan *plan);
bool mps_gemm(struct framework_plan *plan);
bool mps_reduce(struct framework_plan *plan);
bool mps_softmax(struct framework_plan *plan);
bool mps_conv2d(struct framework_plan *plan);
bool mfa_gemm(struct framework_plan *plan);
bool ggml_gemm(struct framework_plan *plan);
bool ggml_gemv(struct framework_plan *plan);
bool ggml_rmsnorm(struct framework_plan *plan);
bool ggml_softmax(struct framework_plan *plan);
bool ggml_elementwise(struct framework_plan *plan);
bool ggml_copy(struct framework_plan *plan);
bool ggml_rope(struct framework_plan *plan);
bool ggml_cache_attention(struct framework_plan *plan);

/* ggml's softmax of rows, as a part of another operator. */
void ggml_softmax_rows(struct framework_plan *plan, unsigned in, unsigned out, uint64_t rows, uint64_t columns);

/* MLX's convolution into another buffer, with channels last: for what turns the result afterwards. */
bool mlx_conv2d_to(struct framework_plan *plan, unsigned out);

/* Places of the largest ("argmax") or smallest: a threadgroup of at least so many threads a result, four elements a thread. */
void mlx_places(struct framework_plan *plan, const char *op, bool along_rows, unsigned least);

/* Of each of a batch, c (m x n) = a (m x k) times b (k x n), or the rows of b (n x k), as a part of another operator. */
bool mlx_products(struct framework_plan *plan, uint64_t batch, uint64_t m, uint64_t n, uint64_t k, bool rows_of_b, unsigned a,
                  unsigned b, unsigned c);

/* Rows of a softmax, and a function of an array and a number, as parts of other operators. */
void mlx_softmax_rows(struct framework_plan *plan, unsigned in, unsigned out, uint64_t rows, uint64_t columns);
void mlx_with_number(struct framework_plan *plan, const char *op, uint64_t count, unsigned in, double number, unsigned out);

/* Convolutions of 3 x 3 by Winograd's method: images N H W C, weights O 3 3 C. */
struct mlx_winograd {
    uint64_t images, channels, height, width, filters, pad;
    unsigned image, weights, out; /* buffers */
};
bool mlx_winograd(struct framework_plan *plan, const struct mlx_winograd *conv);

/* c (m x n) = a (m x k) times the rows of b (n x k), as a part of another operator. */
bool mlx_product_nt(struct framework_plan *plan, uint64_t m, uint64_t n, uint64_t k, unsigned a, unsigned b, unsigned c);

#endif

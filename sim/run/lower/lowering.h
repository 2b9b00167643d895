/* From a node of a network to kernels of the units' libraries: which kernels compute an operator, with which shapes, on which
 * values.
 *
 * lowering_rules is the one table, for all units: operators are names there, kernels are texts as `orchard run` takes them, which
 * are the same in every library. A rule that does not apply leaves the node with the reason, and then the reference operator
 * computes it under that name.
 */
#ifndef ORCHARD_SIM_RUN_LOWER_LOWERING_H
#define ORCHARD_SIM_RUN_LOWER_LOWERING_H

#include "sim/network/graph/graph.h"
#include "sim/run/run.h"

enum { LOWERED_STEPS = 40, LOWERED_INPUTS = 8, LOWERED_SCRATCHES = 40 };

/* One kernel: reads the operands in the order of its library, writes the result. Steps are run one after another. */
struct lowered_step {
    char workload[200];
    size_t common; /* so many of its characters hold in every library; what is behind them is an option of the asked unit's */
    const char *precision; /* of its elements; NULL = the network's */
    enum orch_part part;   /* who is asked for it: the lowering's, or the AMX block beside the GPU where a product is split */
    bool at_load;          /* it hangs on constants alone: it runs once, when the network is loaded (lowering_constant.c) */
    struct run_operand input[LOWERED_INPUTS];
    struct run_operands operands;
};

struct lowering {
    const struct net_model *model;
    const struct net_node *node;
    enum orch_part part; /* the unit that is asked for */
    bool whole;          /* in f32, whatever the network is in */
    double
        amx_share; /* of the rows of a product, or of the channels of a convolution, that an AMX block computes beside the GPU */
    struct net_array *const *in;
    struct net_array **out; /* of the shapes that the node's rule states */
    struct lowered_step step[LOWERED_STEPS];
    unsigned steps;
    void *scratch[LOWERED_SCRATCHES]; /* between the steps, and contents that follow from shapes */
    uint64_t scratch_bytes[LOWERED_SCRATCHES];
    unsigned scratches;
    char why[200]; /* that no kernel computes it; "" = the steps do */
};

struct lowering_rule {
    const char *op, *domain;
    /* Fills in the steps; false when it leaves the node. NULL = the same elements under another shape: nothing is to be computed.
     */
    bool (*lower)(struct lowering *l, const char *word);
    const char *word; /* the rule's own: name of a function, of a reduction */
};

/* NULL = the operator has none. */
const struct lowering_rule *lowering_rule(const struct net_node *node);
/* Whether the node's result has the elements of its input, so that nothing is to be computed; `halves`: numbers are halves on the
 * unit, whatever the network calls them. */
bool lowering_is_view(const struct lowering_rule *rule, const struct net_node *node, struct net_array *const *in, bool halves);
/* Whether the node's whole numbers may decide shapes and places of others, unlike those that quantised networks multiply. */
bool lowering_gives_places(const struct lowering_rule *rule, struct net_array *const *out, size_t outputs);
/* Begins with the node and its arrays, applies the rule; false with l->why. The caller frees in any case. */
bool lowering_apply(struct lowering *l, const struct lowering_rule *rule);
void lowering_free(struct lowering *l);

/* ---- for rules ---- */

/* Says why the rule does not apply; returns false. */
bool lowering_leave(struct lowering *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next kernel, and what it writes; NULL when there are too many, which is then the reason. */
struct lowered_step *lowering_step(struct lowering *l, void *result, int64_t count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The next operand that the kernel reads: elements of four bytes. A step that is NULL is passed over. */
void lowering_read(struct lowered_step *step, const void *data, int64_t count);
/* The same of bytes: the kernel multiplies integers of eight bits. */
void lowering_read_bytes(struct lowered_step *step, const void *data, int64_t count);
/* The kernel only moves elements of this type, as so many bytes or words of four bytes each; says so of the step, whose result
 * has `count` of them. A step that is NULL is passed over. */
struct lowered_step *lowering_moves(struct lowered_step *step, enum net_type type, int64_t count);
void lowering_read_elements(struct lowered_step *step, enum net_type type, const void *data, int64_t count);
/* Words of four bytes, or bytes, of an element that kernels move; 0 = none does. */
int64_t lowering_words(enum net_type type);
/* Whether the first two operands are integers of eight bits with a sign, and the others, zero points, all zero; else that is the
 * reason. */
bool lowering_is_bytes(struct lowering *l);
/* Memory of so many elements of four bytes, zeros; NULL when there is none, which is then the reason. */
void *lowering_scratch(struct lowering *l, int64_t count);
/* Whether an operand, or the one with these contents, is known before the network runs. */
bool lowering_is_constant(const struct lowering *l, size_t operand);
bool lowering_holds_constant(const struct lowering *l, const struct net_array *array);
/* So many of `count` rows are the AMX block's, whole tiles of it; 0 = the product is not split. */
int64_t lowering_amx_rows(const struct lowering *l, int64_t count);
/* The kernel's weights are known before the network runs: on units that bring them into a layout of their own by a launch, that
 * is done once, when the network is loaded. */
void lowering_load_weights(struct lowering *l, struct lowered_step *step);
/* Between these, steps are those of cores in f32 where the Neural Engine is asked for. */
struct lowering_cores {
    enum orch_part part;
    unsigned first;
};
struct lowering_cores lowering_begin_cores(struct lowering *l);
void lowering_end_cores(struct lowering *l, const struct lowering_cores *before);
/* Whether somebody reads the result of this number. */
bool lowering_wants(const struct lowering *l, size_t result);
/* Everything that was added could be added. */
bool lowering_holds(const struct lowering *l);

/* lowering_constant.c: finds the steps that hang on constants alone, for lowering_apply. */
void lowering_find_constants(struct lowering *l);

/* The rules, by family. */
bool lowering_conv(struct lowering *l, const char *word);
bool lowering_conv_integer(struct lowering *l, const char *word);
bool lowering_matmul_integer(struct lowering *l, const char *word);
bool lowering_pool(struct lowering *l, const char *word);
bool lowering_globalpool(struct lowering *l, const char *word);
bool lowering_product(struct lowering *l, const char *word);
bool lowering_function(struct lowering *l, const char *word);
bool lowering_pair(struct lowering *l, const char *word);
bool lowering_clip(struct lowering *l, const char *word);
bool lowering_softmax(struct lowering *l, const char *word);
bool lowering_norm(struct lowering *l, const char *word);
bool lowering_batch_norm(struct lowering *l, const char *word);
bool lowering_instance_norm(struct lowering *l, const char *word);
bool lowering_reduce(struct lowering *l, const char *word);
bool lowering_reduce_sum_of(struct lowering *l, const char *word);
bool lowering_reduce_log_sum_exp(struct lowering *l, const char *word);
bool lowering_group_norm(struct lowering *l, const char *word);
bool lowering_lrn(struct lowering *l, const char *word);
bool lowering_transpose(struct lowering *l, const char *word);
bool lowering_concat(struct lowering *l, const char *word);
bool lowering_gather(struct lowering *l, const char *word);
bool lowering_slice(struct lowering *l, const char *word);
bool lowering_cache_rows(struct lowering *l, const char *word);
bool lowering_expand(struct lowering *l, const char *word);
bool lowering_attention(struct lowering *l, const char *word);
bool lowering_rotary(struct lowering *l, const char *word);
bool lowering_cast(struct lowering *l, const char *word);
bool lowering_quantise(struct lowering *l, const char *word);
bool lowering_dequantise(struct lowering *l, const char *word);
bool lowering_dynamic_quantise(struct lowering *l, const char *word);
bool lowering_rescale(struct lowering *l, const char *word);
bool lowering_bits(struct lowering *l, const char *word);
bool lowering_flip(struct lowering *l); /* of unsigned bytes the highest bit; false without a reason: something else */
bool lowering_modulo(struct lowering *l, const char *word);
bool lowering_sum(struct lowering *l, const char *word);
bool lowering_whole_cast(struct lowering *l); /* false without a reason: other types */
bool lowering_whole_pair(struct lowering *l, const char *word);
bool lowering_whole_clip(struct lowering *l, const char *word);
bool lowering_compare(struct lowering *l, const char *word);
bool lowering_logic(struct lowering *l, const char *word);
bool lowering_where(struct lowering *l, const char *word);
bool lowering_is_nan(struct lowering *l, const char *word);
bool lowering_place_of(struct lowering *l, const char *word);
bool lowering_running_sum(struct lowering *l, const char *word);
bool lowering_top(struct lowering *l, const char *word);
bool lowering_celu(struct lowering *l, const char *word);
bool lowering_threshold(struct lowering *l, const char *word);
bool lowering_sign(struct lowering *l, const char *word);
bool lowering_scatter(struct lowering *l, const char *word);
bool lowering_tensor_scatter(struct lowering *l, const char *word);
bool lowering_composed(struct lowering *l, const char *word);
bool lowering_grid_sample(struct lowering *l, const char *word);
bool lowering_dft(struct lowering *l, const char *word);
bool lowering_stft(struct lowering *l, const char *word);
bool lowering_is_inf(struct lowering *l, const char *word);
bool lowering_lp_norm(struct lowering *l, const char *word);
bool lowering_mvn(struct lowering *l, const char *word);
bool lowering_one_hot(struct lowering *l, const char *word);
bool lowering_whole_sum(struct lowering *l, const char *word);
bool lowering_range(struct lowering *l, const char *word);
bool lowering_prelu(struct lowering *l, const char *word);
bool lowering_by_places(struct lowering *l, const char *word);
bool lowering_resize(struct lowering *l, const char *word);
bool lowering_conv_transpose(struct lowering *l, const char *word);
bool lowering_loss(struct lowering *l, const char *word);
bool lowering_constant_of_shape(struct lowering *l, const char *word);
bool lowering_eye_like(struct lowering *l, const char *word);
bool lowering_window(struct lowering *l, const char *word);
bool lowering_hardmax(struct lowering *l, const char *word);
bool lowering_shrink(struct lowering *l, const char *word);
bool lowering_non_zero(struct lowering *l, const char *word);
bool lowering_nms(struct lowering *l, const char *word);
bool lowering_angle(struct lowering *l, const char *word);
bool lowering_lstm(struct lowering *l, const char *word);
bool lowering_gru(struct lowering *l, const char *word);
bool lowering_rnn(struct lowering *l, const char *word);

/* to = the elements of `from` at these places, which count from 1 (0 = a zero), so many columns at a time. */
bool lowering_gather_places(struct lowering *l, enum net_type type, const void *from, int64_t from_count, const double *place,
                            int64_t count, int64_t columns, void *to);
/* Elements of `b`, of any type that kernels move, as ONNX repeats them over the shape of `shape`; returns `to`. */
const void *lowering_repeat(struct lowering *l, const struct net_array *shape, const struct net_array *b, void *to);
/* No axes, which by its attribute means that nothing is reduced. */
bool lowering_reduces_nothing(const struct net_node *node, struct net_array *const *in);
/* Whether it can be repeated so; else that is the reason. */
bool lowering_is_repeated(struct lowering *l, const struct net_array *shape, const struct net_array *b);
/* Elements after which `b` begins again when its dimensions stand below the last ones of `shape`; 0 = it is not so simple. */
int64_t lowering_period(const struct net_array *shape, const struct net_array *b);
/* out = x in another type, of those that kernels of whole numbers have. */
void lowering_add_cast(struct lowering *l, enum net_type from, const void *x, enum net_type to, void *out, int64_t count);
/* ScatterND and ScatterElements that add, multiply, or take the largest or least. */
bool lowering_scatter_pairs(struct lowering *l, const char *reduction);
/* Powers of numbers, and of whole numbers, by operands that differ. */
bool lowering_add_power(struct lowering *l, const struct net_array *a, const struct net_array *b);
bool lowering_whole_power(struct lowering *l, const struct net_array *a, const struct net_array *b);
/* Whether the first operand is of a type of whole numbers that kernels have only in a wider one: i8, u16, i16, u32 and u64, the
 * ones without a sign of 32 and 64 bits where it is of account (`ordered`); and the node in that type. */
bool lowering_is_narrow(const struct lowering *l, bool ordered);
bool lowering_narrow_pair(struct lowering *l, const char *op);
bool lowering_narrow_clip(struct lowering *l);
/* to = truth values: x op number, or a op b. */
void lowering_add_test(struct lowering *l, const char *op, const float *x, float number, int64_t count, void *to);
void lowering_add_comparison(struct lowering *l, const char *op, const float *a, const float *b, int64_t count, void *to);
/* to = a where the truth value holds, else b; either may be one element for all. */
struct lowering_choice {
    const void *condition, *a, *b;
    bool one_a, one_b;
    enum net_type type;
};
bool lowering_add_choice(struct lowering *l, const struct lowering_choice *c, int64_t count, void *to);
/* Elements in the order of [batch][columns][rows] that were in [batch][rows][columns]. */
void lowering_turn(struct lowering *l, enum net_type type, const void *from, int64_t batch, int64_t rows, int64_t columns,
                   void *to);
/* to = operands behind one another, each of so many columns in each row. */
void lowering_add_concat(struct lowering *l, int64_t rows, unsigned operands, const float *const *from, const int64_t *columns,
                         float *to);
/* to = alpha a b + beta c; `c` NULL = nothing is added. What is known before the network runs may become weights of a program. */
struct lowering_product {
    int64_t batch, m, n, k;
    bool ta, tb, a_known, b_known;
    bool repeated; /* some matrices are used several times */
    double alpha, beta;
};
void lowering_add_product(struct lowering *l, const struct lowering_product *p, const float *a, const float *b, const float *c,
                          float *to);
/* A convolution as a product, from its windows side by side. */
bool lowering_conv_by_windows(struct lowering *l);
/* The largest of each window, or averages, of which those with `border` count the elements of the border, too. */
struct net_window;
bool lowering_pool_by_windows(struct lowering *l, const struct net_window *window, bool largest, bool border);

/* The activation of a fused node on the result, in place; nothing when there is none. */
bool lowering_activation(struct lowering *l, float *data, int64_t count);
/* "relu" when the activation is one that a kernel has among its options, "" when there is none; NULL = not by one word. */
const char *lowering_activation_word(const struct net_node *node);
/* A chain of functions of two operands, of which the second is one number each. */
bool lowering_add_chain(struct lowering *l, const char *words, const float *number, unsigned numbers, const float *from,
                        float *to, int64_t count);
/* to = a and b, element by element. */
/* to = functions of the elements, one after another ("abs+sqrt"); returns to. */
float *lowering_add_function(struct lowering *l, const char *words, const float *from, int64_t count, float *to);
bool lowering_add_pair(struct lowering *l, const char *word, const float *a, const float *b, int64_t count, float *to);
/* to = a and b, where b is repeated as ONNX broadcasts it over the shape of `a`. */
bool lowering_broadcast_pair(struct lowering *l, const char *word, const float *a, const struct net_array *shape,
                             const struct net_array *b, float *to);

#endif

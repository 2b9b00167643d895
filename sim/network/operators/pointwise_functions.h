/* The functions of pointwise.inc, on runs of numbers. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_POINTWISE_FUNCTIONS_H
#define ORCHARD_SIM_NETWORK_OPERATORS_POINTWISE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef void net_real_function(const double *const *in, double *out, size_t count, const double *parameter);
typedef void net_integer_function(const int64_t *const *in, int64_t *out, size_t count, const double *parameter);

/* clang-format off */
#define NET_REALS(X) \
    X(abs) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(ceil) X(cos) X(cosh) X(elu) X(erf) X(exp) X(floor) X(gelu) \
    X(hard_sigmoid) X(hard_swish) X(is_inf) X(is_nan) X(leaky_relu) X(log) X(mish) X(neg) X(reciprocal) X(relu) X(round) X(selu) \
    X(celu) X(shrink) X(sigmoid) X(sign) X(sin) X(sinh) X(softplus) X(softsign) X(sqrt) X(swish) X(tan) X(tanh) \
    X(thresholded_relu) X(identity) X(add) X(sub) X(mul) X(div) X(mod) X(pow) X(prelu) X(max) X(min) X(equal) X(greater) \
    X(greater_equal) X(less) X(less_equal) X(where) X(clip)
#define NET_INTEGERS(X) \
    X(abs) X(neg) X(sign) X(relu) X(not) X(bit_not) X(add) X(sub) X(mul) X(div) X(mod) X(pow) X(max) X(min) X(and) X(or) X(xor) \
    X(bit_and) X(bit_or) X(bit_xor) X(shift) X(equal) X(greater) X(greater_equal) X(less) X(less_equal) X(where) X(clip) X(prelu) \
    X(identity)
#define NET_WIDES(X) X(div) X(mod) X(max) X(min) X(greater) X(greater_equal) X(less) X(less_equal) X(clip)
/* clang-format on */

#define X(name) net_real_function net_real_##name;
NET_REALS(X)
#undef X
#define X(name) net_integer_function net_integer_##name;
NET_INTEGERS(X)
#undef X
#define X(name) net_integer_function net_wide_##name; /* on bits of u64 */
NET_WIDES(X)
#undef X

#endif

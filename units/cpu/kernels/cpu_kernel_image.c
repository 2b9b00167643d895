/* pool, globalpool and resize: native/image.c; nms: native/nms.c; a plane is reduced as a row (native/reduce.c). */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

static const struct kernel_parameter pool_parameters[] = {ROUTINE_POOL_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter globalpool_parameters[] = {ROUTINE_GLOBALPOOL_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter nms_parameters[] = {ROUTINE_NMS_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter resize_parameters[] = {ROUTINE_RESIZE_PARAMETERS, {.name = NULL}};

static struct routine_call *add_call(const struct routine_request *r, struct routine_work *w, const char *name, const char *items,
                                     uint64_t count)
{
    struct routine_call *const c = routine_add_call(w, name, r->type, items, count);
    snprintf(w->variant, sizeof w->variant, "neon_%s_%s", r->row->operation->name, routine_type_name(r->type));
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    return c;
}

static uint64_t rows_of(const struct routine_work *w)
{
    return w->operand[1].dims[0] * w->operand[1].dims[1] * w->operand[1].dims[2];
}

static bool build_pool(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = add_call(r, w, "neon_pool", "rows of the result", rows_of(w));
    (void)error;
    routine_pass(c, r->value[IMAGE_H]);
    routine_pass(c, r->value[IMAGE_W]);
    routine_pass(c, operation_pool_side(r, true));
    routine_pass(c, operation_pool_side(r, false));
    for (unsigned value = POOL_R; value <= POOL_INCLUDE_PAD; value++)
        routine_pass(c, r->value[value]);
    return true;
}

static bool build_nms(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t rows = r->value[NMS_BATCHES] * r->value[NMS_CLASSES];
    struct routine_call *const c = routine_add_call(w, "neon_nms", ROUTINE_TYPES, "classes", (uint64_t)rows);
    (void)error;
    snprintf(w->variant, sizeof w->variant, "neon_nms");
    for (unsigned operand = 0; operand < 4; operand++)
        routine_pass_operand(c, operand, 0);
    for (unsigned value = NMS_CLASSES; value <= NMS_CENTER; value++)
        routine_pass(c, r->value[value]);
    return true;
}

static bool build_globalpool(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const int64_t planes = r->value[IMAGE_N] * r->value[IMAGE_C];
    struct routine_call *const c = add_call(r, w, "neon_reduce_rows", "planes of h x w", (uint64_t)planes);
    (void)error;
    routine_pass(c, planes);
    routine_pass(c, r->value[IMAGE_H] * r->value[IMAGE_W]);
    routine_pass(c, r->value[GLOBALPOOL_OP] ? REDUCE_MAX : REDUCE_MEAN);
    return true;
}

static bool build_resize(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c =
        add_call(r, w, r->value[RESIZE_MODE] ? "neon_resize_bilinear" : "neon_resize_nearest", "rows of the result", rows_of(w));
    (void)error;
    routine_pass(c, r->value[IMAGE_H]);
    routine_pass(c, r->value[IMAGE_W]);
    routine_pass(c, r->value[RESIZE_H]);
    routine_pass(c, r->value[RESIZE_W]);
    routine_pass(c, r->value[RESIZE_ALIGN]);
    return true;
}

const struct routine cpu_kernel_pool = {
    &operation_pool,
    "c=C,h=H,w=W[,n=N][,r=R][,s=S][,stride=D][,pad=P][,op=max|avg][,include_pad=0|1]",
    "f32 f16 bf16",
    "largest or mean element of R x S windows (2 x 2, stride 2 unless told otherwise), NCHW; padding counts in means with "
    "include_pad=1",
    pool_parameters,
    build_pool};
const struct routine cpu_kernel_globalpool = {&operation_globalpool, "c=C,h=H,w=W[,n=N][,op=avg|max]",
                                              "f32 f16 bf16",        "mean or largest element of each H x W plane",
                                              globalpool_parameters, build_globalpool};
const struct routine cpu_kernel_resize = {
    &operation_resize, "c=C,h=H,w=W,oh=H,ow=W[,n=N][,mode=nearest|bilinear][,align=0|1]",
    "f32 f16 bf16",    "images to OH x OW; bilinear between centres of pixels, or with align=1 between corners",
    resize_parameters, build_resize};
const struct routine cpu_kernel_nms = {
    &operation_nms,
    "BxCxN,k=K[,center=0|1]",
    "f32",
    "places of at most K of N boxes that stay for each of C classes in B images; limits: of the overlap, and of scores",
    nms_parameters,
    build_nms};

/* Vector handlers: reductions and prefixes over lanes (rules: gpu_exec_reduce.c), ballots. Included once per host instruction
 * set. */

ALWAYS vu combine_part(unsigned reduction, vu a, vu b)
{
    switch (reduction) {
    case AGX_REDUCE_AND: return a & b;
    case AGX_REDUCE_OR: return a | b;
    case AGX_REDUCE_XOR: return a ^ b;
    case AGX_REDUCE_UMIN: return vec_choose((vu)(a < b), a, b);
    case AGX_REDUCE_UMAX: return vec_choose((vu)(a > b), a, b);
    case AGX_REDUCE_SMIN: return vec_choose((vu)((vi)a < (vi)b), a, b);
    case AGX_REDUCE_SMAX: return vec_choose((vu)((vi)a > (vi)b), a, b);
    case AGX_REDUCE_FMIN: return vec_choose((vu)((vf)a < (vf)b), a, b);
    case AGX_REDUCE_FMAX: return vec_choose((vu)((vf)a > (vf)b), a, b);
    default: return a + b;
    }
}

/* What inactive lanes contribute. */
ALWAYS uint32_t neutral(unsigned reduction)
{
    switch (reduction) {
    case AGX_REDUCE_AND:
    case AGX_REDUCE_UMIN: return UINT32_MAX;
    case AGX_REDUCE_SMIN: return INT32_MAX;
    case AGX_REDUCE_SMAX: return GPU_SIGN32;
    case AGX_REDUCE_FMIN: return GPU_INF32;
    case AGX_REDUCE_FMAX: return GPU_INF32 | GPU_SIGN32;
    default: return 0;
    }
}

ALWAYS bool reduces_floats(unsigned reduction)
{
    return reduction == AGX_REDUCE_FADD || reduction == AGX_REDUCE_FMUL || reduction == AGX_REDUCE_FMIN ||
           reduction == AGX_REDUCE_FMAX;
}

ALWAYS struct lanes reduction_source(const struct gpu_simdgroup *group, const struct gpu_op *op, unsigned reduction)
{
    struct gpu_operand from = op->source[0];
    struct lanes out;
    if (reduces_floats(reduction)) {
        out = read_float(group, &from, GPU_NONE);
        EACH_PART out.part[p] = flush_part(out.part[p]);
        return out;
    }
    from.sign_extend = reduction == AGX_REDUCE_SMIN || reduction == AGX_REDUCE_SMAX;
    return read_int(group, &from, GPU_NONE);
}

/* Reduces the simdgroup or each quad in any order. Where floats are equal but not identical, zeros, the plain handler takes the
 * right one. */
ALWAYS const struct gpu_op *reduce_op(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned reduction)
{
    struct lanes a = reduction_source(group, op, reduction);
    const bool whole = op->inst->whole_simdgroup, floats = reduces_floats(reduction);
    uint32_t odd = 0;
    EACH_PART
    {
        const uint32_t active = part_bits(group->mask, p);
        a.part[p] = vec_select(active, a.part[p], vec_all(neutral(reduction)));
        if (floats)
            odd |= vec_fne((vf)a.part[p], (vf)a.part[p]);
    }
    if (whole) {
        vu all = a.part[0];
        for (unsigned p = 1; p < PARTS; p++)
            all = combine_part(reduction, all, a.part[p]);
        EACH_PART a.part[p] = all;
    }
    EACH_PART
    {
        vu v = a.part[p];
        for (unsigned step = whole ? PART_LANES / 2 : 2; step > 0; step /= 2)
            v = combine_part(reduction, v, __builtin_shuffle(v, vec_count() ^ step));
        a.part[p] = v;
        if (floats)
            odd |= vec_eq(v << 1, vec_all(0));
    }
    if (odd)
        return op->plain(group, op);
    if (floats)
        write_float(group, op, &a);
    else
        write_int(group, op, &a);
    return op->next;
}

/* Sums and products of floats: lane after lane, with each step rounded. `before` is the result of the active lanes below. Steps
 * that are NaN, denormal or the smallest normal number are left to the plain handler. */
ALWAYS const struct gpu_op *float_steps(struct gpu_simdgroup *group, const struct gpu_op *op, unsigned reduction)
{
    const struct lanes source = reduction_source(group, op, reduction);
    const unsigned lanes = op->inst->whole_simdgroup ? GPU_LANES : 4;
    const bool multiply = reduction == AGX_REDUCE_FMUL;
    float own[GPU_LANES], sum[GPU_LANES], before[GPU_LANES];
    struct lanes out;
    memcpy(own, &source, sizeof own);
    for (unsigned first = 0; first < GPU_LANES; first += lanes) {
        float so_far = multiply ? 1.0f : 0.0f;
        bool any = false;
        for (unsigned lane = first; lane < first + lanes; lane++) {
            before[lane] = so_far;
            if (group->mask >> lane & 1) {
                so_far = !any ? own[lane] : multiply ? so_far * own[lane] : so_far + own[lane];
                any = true;
            }
            sum[lane] = so_far;
        }
        for (unsigned lane = first; lane < first + lanes && !op->inst->prefix; lane++)
            before[lane] = so_far;
    }
    memcpy(&out, sum, sizeof out);
    uint32_t odd = 0;
    EACH_PART
    {
        const vu magnitude = out.part[p] & ~GPU_SIGN32;
        odd |= vec_lt(magnitude - 1, vec_all(GPU_MIN_NORMAL32)) | vec_gt(magnitude, vec_all(GPU_INF32));
    }
    if (odd)
        return op->plain(group, op);
    memcpy(&out, before, sizeof out);
    write_float(group, op, &out);
    return op->next;
}

HANDLER(prefix_add)
{
    const struct lanes source = reduction_source(group, op, AGX_REDUCE_IADD);
    uint32_t value[GPU_LANES], so_far = 0;
    struct lanes out;
    memcpy(value, &source, sizeof value);
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        const uint32_t own = group->mask >> lane & 1 ? value[lane] : 0;
        if (lane % 4 == 0 && !op->inst->whole_simdgroup)
            so_far = 0;
        value[lane] = so_far;
        so_far += own;
    }
    memcpy(&out, value, sizeof out);
    write_int(group, op, &out);
    return op->next;
}

HANDLER(reduce_and)
{
    return reduce_op(group, op, AGX_REDUCE_AND);
}
HANDLER(reduce_or)
{
    return reduce_op(group, op, AGX_REDUCE_OR);
}
HANDLER(reduce_xor)
{
    return reduce_op(group, op, AGX_REDUCE_XOR);
}
HANDLER(reduce_add)
{
    return reduce_op(group, op, AGX_REDUCE_IADD);
}
HANDLER(reduce_umin)
{
    return reduce_op(group, op, AGX_REDUCE_UMIN);
}
HANDLER(reduce_umax)
{
    return reduce_op(group, op, AGX_REDUCE_UMAX);
}
HANDLER(reduce_smin)
{
    return reduce_op(group, op, AGX_REDUCE_SMIN);
}
HANDLER(reduce_smax)
{
    return reduce_op(group, op, AGX_REDUCE_SMAX);
}
HANDLER(reduce_fmin)
{
    return reduce_op(group, op, AGX_REDUCE_FMIN);
}
HANDLER(reduce_fmax)
{
    return reduce_op(group, op, AGX_REDUCE_FMAX);
}
HANDLER(steps_add)
{
    return float_steps(group, op, AGX_REDUCE_FADD);
}
HANDLER(steps_multiply)
{
    return float_steps(group, op, AGX_REDUCE_FMUL);
}

static gpu_handler *pick_reduction(const struct gpu_op *op)
{
    const unsigned from = op->source[0].kind;
    if (op->dst_kind == GPU_PAIR || (from != GPU_WORD && from != GPU_LOW && from != GPU_HIGH))
        return NULL;
    if (op->inst->reduction == AGX_REDUCE_FADD)
        return steps_add;
    if (op->inst->reduction == AGX_REDUCE_FMUL)
        return steps_multiply;
    if (op->inst->prefix)
        return op->inst->reduction == AGX_REDUCE_IADD ? prefix_add : NULL;
    switch (op->inst->reduction) {
    case AGX_REDUCE_AND: return reduce_and;
    case AGX_REDUCE_OR: return reduce_or;
    case AGX_REDUCE_XOR: return reduce_xor;
    case AGX_REDUCE_IADD: return reduce_add;
    case AGX_REDUCE_UMIN: return reduce_umin;
    case AGX_REDUCE_UMAX: return reduce_umax;
    case AGX_REDUCE_SMIN: return reduce_smin;
    case AGX_REDUCE_SMAX: return reduce_smax;
    case AGX_REDUCE_FMIN: return reduce_fmin;
    case AGX_REDUCE_FMAX: return reduce_fmax;
    default: return NULL;
    }
}

/* --- ballots --- */

ALWAYS const struct gpu_op *ballot_op(struct gpu_simdgroup *group, const struct gpu_op *op, bool is_float, bool quad)
{
    const uint32_t votes = condition(group, op, is_float) & group->mask;
    struct lanes out = all_lanes(votes);
    if (quad)
        EACH_PART out.part[p] = out.part[p] >> ((vec_count() + p * PART_LANES) & 28) & 15;
    write_int(group, op, &out);
    return op->next;
}

HANDLER(ballot_int)
{
    return ballot_op(group, op, false, false);
}
HANDLER(ballot_float)
{
    return ballot_op(group, op, true, false);
}
HANDLER(quad_ballot_int)
{
    return ballot_op(group, op, false, true);
}
HANDLER(quad_ballot_float)
{
    return ballot_op(group, op, true, true);
}

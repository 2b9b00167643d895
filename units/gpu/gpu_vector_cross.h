/* Vector handlers: moves between lanes, matrix multiply, thread numbers, reciprocals. Included once per host instruction set. */

/* Lane t of the result is lane index[t] (0..31) of `from`. */
ALWAYS struct lanes pick_lanes(const struct lanes *from, const struct lanes *index)
{
    struct lanes out;
#ifdef HAVE_PICK
    EACH_PART out.part[p] = vec_pick(from->part, index->part[p]);
#else
    uint32_t value[GPU_LANES], at[GPU_LANES];
    memcpy(value, from, sizeof value);
    memcpy(at, index, sizeof at);
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        at[lane] = value[at[lane] & 31];
    memcpy(&out, at, sizeof out);
#endif
    return out;
}

ALWAYS struct lanes lane_numbers(void)
{
    struct lanes out;
    EACH_PART out.part[p] = vec_count() + p * PART_LANES;
    return out;
}

/* --- shuffles; rules in gpu_exec_shuffle.c --- */

/* OR of the low two bits over each quad. */
ALWAYS struct lanes quad_or(const struct lanes *b)
{
    struct lanes at = lane_numbers(), out = *b;
    for (unsigned step = 1; step <= 2; step++) {
        struct lanes other;
        EACH_PART other.part[p] = at.part[p] ^ step;
        other = pick_lanes(&out, &other);
        EACH_PART out.part[p] |= other.part[p];
    }
    EACH_PART out.part[p] &= 3;
    return out;
}

enum shuffle_way { SHUFFLE_INDEX, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_ROTATE };

ALWAYS const struct gpu_op *shuffle_op(struct gpu_simdgroup *group, const struct gpu_op *op, enum shuffle_way way)
{
    const struct lanes a = read_int(group, &op->source[0], GPU_NONE), b = read_int(group, &op->source[1], GPU_NONE);
    const struct lanes t = lane_numbers();
    struct lanes from, fits, q = quad_or(&b), out;
    EACH_PART
    {
        const vu lane = t.part[p], by = b.part[p];
        from.part[p] = way == SHUFFLE_INDEX  ? by
                       : way == SHUFFLE_XOR  ? lane ^ by
                       : way == SHUFFLE_DOWN ? lane + by
                                             : lane - by; /* up: a number below 0 wraps to a huge one */
        fits.part[p] = (vu)(from.part[p] < 32) & (vu)(by < 32);
        from.part[p] &= 31;
    }
    q = pick_lanes(&q, &from); /* the amount of the quad that is read */
    EACH_PART
    {
        const vu slot = t.part[p] & 3, by = q.part[p];
        const vu inside = way == SHUFFLE_INDEX  ? by
                          : way == SHUFFLE_XOR  ? slot ^ by
                          : way == SHUFFLE_DOWN ? slot + by
                                                : slot - by;
        from.part[p] = (from.part[p] & 28) | (inside & 3);
    }
    out = pick_lanes(&a, &from);
    if (way != SHUFFLE_ROTATE)
        EACH_PART out.part[p] = vec_choose(fits.part[p], out.part[p], a.part[p]);
    write_int(group, op, &out);
    return op->next;
}

HANDLER(shuffle_index)
{
    return shuffle_op(group, op, SHUFFLE_INDEX);
}
HANDLER(shuffle_xor)
{
    return shuffle_op(group, op, SHUFFLE_XOR);
}
HANDLER(shuffle_up)
{
    return shuffle_op(group, op, SHUFFLE_UP);
}
HANDLER(shuffle_down)
{
    return shuffle_op(group, op, SHUFFLE_DOWN);
}
HANDLER(shuffle_rotate)
{
    return shuffle_op(group, op, SHUFFLE_ROTATE);
}

/* --- matrix multiply; layout in gpu_exec_shuffle.c --- */

/* The i-th element that each lane holds of a matrix operand. */
ALWAYS struct lanes matrix_part(const struct gpu_simdgroup *group, const struct gpu_operand *operand, unsigned i)
{
    struct gpu_operand from = *operand;
    if (from.kind == GPU_WORD || from.kind == GPU_PAIR) {
        from.kind = GPU_WORD;
        from.word = (uint8_t)(from.word + i);
    } else if (from.kind != GPU_SCALAR) {
        const unsigned half = 2U * from.word + (from.kind == GPU_HIGH) + i;
        from.kind = half & 1 ? GPU_HIGH : GPU_LOW;
        from.word = (uint8_t)(half / 2);
    }
    return read_float(group, &from, GPU_NONE);
}

/* Operands of an 8x8 multiply, and the sums that replace C; [i] holds the i-th element of each lane. */
struct matrices {
    struct lanes a[2], b[2], sum[2];
};

#ifndef HAVE_MATRIX_PARTS
/* The lane that holds column pair `pair` of the row in bits 1, 2, 4 of a lane number; lane bits 0 and 3 are the pair. */
ALWAYS vu lane_of_pair(vu row_lane, unsigned pair)
{
    return (row_lane & 22) | (pair & 1) | (pair & 2) << 2;
}

/* The lane that holds row k at the column pair of `column_lane`. */
ALWAYS vu lane_of_row(vu column_lane, unsigned k)
{
    return (column_lane & 9) | (k & 3) << 1 | (k & 4) << 2;
}

/* Column k of A, for the row of each lane. */
ALWAYS struct lanes matrix_column_of(const struct lanes a[2], unsigned k)
{
    struct lanes at = lane_numbers();
    EACH_PART at.part[p] = lane_of_pair(at.part[p], k / 2);
    return pick_lanes(&a[k & 1], &at);
}

/* Row k of B, for the column of each lane. */
ALWAYS struct lanes matrix_row_of(const struct lanes *b, unsigned k)
{
    struct lanes at = lane_numbers();
    EACH_PART at.part[p] = lane_of_row(at.part[p], k);
    return pick_lanes(b, &at);
}
#else
/* A part of 8 lanes holds four rows (bits 1 and 2 of a lane; bit 4 counts parts) by two pairs of columns (bit 0; bit 3). */
ALWAYS struct lanes matrix_column_of(const struct lanes a[2], unsigned k)
{
    struct lanes out;
    EACH_PART out.part[p] = vec_twins(a[k & 1].part[(p & 2) | k >> 2], k >> 1 & 1);
    return out;
}

ALWAYS struct lanes matrix_row_of(const struct lanes *b, unsigned k)
{
    struct lanes out;
    EACH_PART out.part[p] = vec_fourth(b->part[(k >> 2) << 1 | (p & 1)], k & 3);
    return out;
}
#endif

/* True when no value but zero is closer to zero than 2^`exponent`. */
ALWAYS bool none_below(const struct lanes *value, unsigned count, int exponent)
{
    vu least[PARTS];
    uint32_t below = 0;
    EACH_PART least[p] = vec_all(UINT32_MAX);
    for (unsigned i = 0; i < count; i++)
        EACH_PART least[p] = vec_min(least[p], (value[i].part[p] << 1) - 1); /* zero becomes the largest number */
    EACH_PART below |= vec_lt(least[p], vec_all(((uint32_t)(127 + exponent) << 24) - 1));
    return below == 0;
}

/* True when no step can come near the denormal numbers. Products of factors of 2^-39 and more are multiples of 2^-124, and so is
 * C from 2^-101 on, as both have 24 bits; so every sum is zero or at least that large. */
ALWAYS bool matrix_far_from_denormals(const struct matrices *all)
{
    return none_below(all->a, 2, -39) && none_below(all->b, 2, -39) && none_below(all->sum, 2, -101);
}

/* The lane numbers are then constants. */
#ifdef HAVE_PICK
#define UNROLL_MATRIX _Pragma("GCC unroll 8")
#else
#define UNROLL_MATRIX
#endif

ALWAYS void matrix_sums(struct matrices *all)
{
    struct lanes even = all->sum[0], odd = all->sum[1];
    UNROLL_MATRIX for (unsigned k = 0; k < 8; k++)
    {
        const struct lanes x = matrix_column_of(all->a, k), y = matrix_row_of(&all->b[0], k), z = matrix_row_of(&all->b[1], k);
        EACH_PART even.part[p] = (vu)vec_fma((vf)x.part[p], (vf)y.part[p], (vf)even.part[p]);
        EACH_PART odd.part[p] = (vu)vec_fma((vf)x.part[p], (vf)z.part[p], (vf)odd.part[p]);
    }
    all->sum[0] = even;
    all->sum[1] = odd;
}

/* The same near denormal numbers. False where a step gave the smallest normal number: the host may have rounded up to it. */
static bool matrix_sums_near_denormals(struct matrices *all)
{
    vu edge[PARTS];
    uint32_t odd = 0;
    EACH_PART edge[p] = vec_all(1);
    UNROLL_MATRIX for (unsigned k = 0; k < 8; k++)
    {
        const struct lanes x = matrix_column_of(all->a, k);
        for (unsigned i = 0; i < 2; i++) {
            const struct lanes y = matrix_row_of(&all->b[i], k);
            EACH_PART
            {
                const vf r = vec_fma((vf)x.part[p], (vf)y.part[p], (vf)all->sum[i].part[p]);
                all->sum[i].part[p] = HOST_FLUSHES ? (vu)r : flush_part((vu)r);
                edge[p] = vec_min(edge[p], (vu)r << 1 ^ GPU_MIN_NORMAL32 << 1);
            }
        }
    }
    EACH_PART odd |= vec_eq(edge[p], vec_all(0));
    return odd == 0;
}

HANDLER(matrix)
{
    struct matrices all;
    uint32_t nan = 0;
    for (unsigned i = 0; i < 2; i++) {
        all.a[i] = matrix_part(group, &op->source[0], i);
        all.b[i] = matrix_part(group, &op->source[1], i);
        all.sum[i] = matrix_part(group, &op->source[2], i);
    }
    if (LIKELY(matrix_far_from_denormals(&all)))
        matrix_sums(&all);
    else if (!matrix_sums_near_denormals(&all))
        return op->plain(group, op);
    /* A sum that was NaN once stays NaN. */
    for (unsigned i = 0; i < 2; i++)
        EACH_PART nan |= vec_fne((vf)all.sum[i].part[p], (vf)all.sum[i].part[p]);
    if (nan)
        return op->plain(group, op);
    const unsigned first = 2U * op->dst_word + (op->dst_kind == GPU_HIGH);
    for (unsigned i = 0; i < 2; i++) {
        if (op->dst_kind == GPU_WORD || op->dst_kind == GPU_PAIR) {
            write_word(group, op->dst_word + i, &all.sum[i]);
        } else {
            EACH_PART all.sum[i].part[p] = vec_to_half((vf)all.sum[i].part[p]);
            write_half(group, (first + i) / 2, (first + i) & 1, &all.sum[i]);
        }
    }
    return op->next;
}

/* --- numbers of threads --- */

HANDLER(thread_position)
{
    const struct gpu_group *all = group->group;
    const unsigned special = op->inst->special, axis = special & 3;
    const uint32_t *position = &all->lane_position[axis][group->number * GPU_LANES];
    const uint32_t first = special >= 80 ? all->position[axis] * all->launch.group_threads[axis] : 0;
    struct lanes out;
    memcpy(&out, position, sizeof out);
    EACH_PART out.part[p] += first;
    write_int(group, op, &out);
    return op->next;
}

HANDLER(group_position)
{
    const struct lanes out = all_lanes(group->group->position[op->inst->special]);
    write_int(group, op, &out);
    return op->next;
}

/* The index in the threadgroup or in the simdgroup. */
HANDLER(thread_index)
{
    struct lanes out = lane_numbers();
    if (op->inst->special == 51)
        EACH_PART out.part[p] += group->number * GPU_LANES;
    write_int(group, op, &out);
    return op->next;
}

HANDLER(simdgroup_index)
{
    const struct lanes out = all_lanes(group->number);
    write_int(group, op, &out);
    return op->next;
}

static gpu_handler *pick_special(const struct gpu_op *op)
{
    switch (op->inst->special) {
    case 51:
    case 52: return thread_index;
    case 53: return simdgroup_index;
    case 0:
    case 1:
    case 2: return group_position;
    case 48:
    case 49:
    case 50:
    case 80:
    case 81:
    case 82: return thread_position;
    default: return NULL;
    }
}

/* --- exact by the host's own correctly rounded operations --- */

HANDLER(reciprocal)
{
    const struct lanes a = read_float(group, &op->source[0], GPU_NONE);
    struct lanes out;
    EACH_PART
    {
        const vf r = 1.0f / (vf)a.part[p];
        out.part[p] = HOST_FLUSHES ? (vu)r : flush_part((vu)r);
        out.part[p] = vec_select(vec_fne(r, r), vec_all(GPU_NAN32), out.part[p]);
    }
    write_float(group, op, &out);
    return op->next;
}

/* Vector handlers: conversions, 16-bit float arithmetic, 64-bit integers. Included once per host instruction set. */

/* --- conversions --- */

/* Rounds to nearest even. Whole numbers that float32 does not hold are beyond all halves, so that rounding twice does no harm. */
HANDLER(number_to_float)
{
    struct lanes a = read_int(group, &op->source[0], GPU_NONE);
    const unsigned mode = op->inst->mode;
    EACH_PART
    {
        const vi x = (vi)a.part[p];
        if (mode == AGX_U32_TO_F)
            a.part[p] = (vu) __builtin_convertvector((vu)x, vf);
        else
            a.part[p] = (vu) __builtin_convertvector(mode == AGX_U8_TO_F    ? x & 0xff
                                                     : mode == AGX_S8_TO_F  ? x << 24 >> 24
                                                     : mode == AGX_U16_TO_F ? x & 0xffff
                                                     : mode == AGX_S16_TO_F ? x << 16 >> 16
                                                                            : x,
                                                     vf);
        if (op->dst_kind != GPU_WORD)
            a.part[p] = vec_to_half((vf)a.part[p]);
    }
    write_int(group, op, &a);
    return op->next;
}

/* Saturates; NaN gives 0. `limit` is the first whole number above the range. */
ALWAYS vu number_part(vf x, float bottom, float limit, uint32_t top)
{
    const vf zero = {0}, low = zero + bottom, high = zero + limit, middle = zero + 0x1p31f;
    const uint32_t above = vec_fge(x, high), below = vec_flt(x, low), nan = vec_fne(x, x);
    const uint32_t large = vec_fge(x, middle) & ~above;
    const vu rest = vec_select(large, (vu)(x - middle), (vu)x);
    const vi small = __builtin_convertvector((vf)vec_select(above | below | nan, vec_all(0), rest), vi);
    const vu inside = (vu)small + vec_select(large, vec_all(GPU_SIGN32), vec_all(0));
    const vu least = vec_all(bottom < 0 ? -(top + 1) : 0); /* minus the first one above */
    return vec_select(nan, vec_all(0), vec_select(above, vec_all(top), vec_select(below, least, inside)));
}

HANDLER(float_to_number)
{
    struct lanes a = read_float(group, &op->source[0], GPU_NONE);
    const bool to_zero = op->inst->round == 0;
    EACH_PART
    {
        const vf x = (vf)flush_part(a.part[p]), r = to_zero ? vec_trunc(x) : vec_rint(x);
        switch (op->inst->mode) {
        case AGX_F_TO_U16: a.part[p] = number_part(r, 0.0f, 0x1p16f, UINT16_MAX); break;
        case AGX_F_TO_S16: a.part[p] = number_part(r, -0x1p15f, 0x1p15f, INT16_MAX); break;
        case AGX_F_TO_U32: a.part[p] = number_part(r, 0.0f, 0x1p32f, UINT32_MAX); break;
        default: a.part[p] = number_part(r, -0x1p31f, 0x1p31f, INT32_MAX); break;
        }
    }
    write_int(group, op, &a);
    return op->next;
}

static gpu_handler *pick_convert(const struct gpu_op *op)
{
    const unsigned kind = op->source[0].kind;
    if (op->dst_kind == GPU_PAIR || kind == GPU_PAIR)
        return NULL;
    switch (op->inst->mode) {
    case AGX_U8_TO_F:
    case AGX_S8_TO_F:
    case AGX_U16_TO_F:
    case AGX_S16_TO_F:
    case AGX_U32_TO_F:
    case AGX_S32_TO_F:
        /* The plain handler reads halves without their sign. */
        return op->inst->round == 0 || op->source[0].sign_extend ? NULL : number_to_float;
    case AGX_F_TO_U16:
    case AGX_F_TO_S16:
    case AGX_F_TO_U32:
    case AGX_F_TO_S32: return float_to_number;
    default: return NULL;
    }
}

/* --- 16-bit floats, as float32 --- */

ALWAYS struct lanes read_half(const struct gpu_simdgroup *group, const struct gpu_operand *from)
{
    struct lanes out;
    if (from->kind == GPU_SCALAR)
        out = all_lanes(from->float_half ? (uint32_t)from->scalar & 0xffff : gpu_half_from_float(from->scalar_float));
    else
        out = load_word(group, from->word);
    const uint32_t keep = from->absolute ? 0x7fff : 0xffff, turn = from->negate ? 0x8000 : 0;
    const unsigned shift = from->kind == GPU_HIGH ? 16 : 0;
    EACH_PART out.part[p] = (vu)vec_from_half((out.part[p] >> shift & keep) ^ turn);
    return out;
}

/* a*b + c of halves, such that rounding to half gives the exact value rounded once: float32 holds the product, and the sum is
 * rounded to odd. */
ALWAYS vf half_fma_part(vf a, vf b, vf c)
{
    const vf product = a * b, sum = product + c, part = sum - product;
    const vf error = (product - (sum - part)) + (c - part), zero = {0};
    const vu bits = (vu)sum, away = (vu)((error > zero) == (sum > zero));
    const vu odd = vec_choose(away, bits + 1, bits - 1);
    const vu exact = (vu)(error == zero) | (vu)(error != error) | (vu)((bits & 1) != 0) | (vu)((bits & ~GPU_SIGN32) >= GPU_INF32);
    return (vf)vec_choose(exact, bits, odd);
}

/* Sums of two halves survive a first rounding to float32 (24 bits are twice 11 and 2); products are exact there. */
ALWAYS const struct gpu_op *half_op(struct gpu_simdgroup *group, const struct gpu_op *op, enum float_way way)
{
    const struct lanes a = read_half(group, &op->source[0]), b = read_half(group, &op->source[1]);
    const struct lanes c = way == WAY_FMA ? read_half(group, &op->source[2]) : a;
    struct lanes out;
    EACH_PART
    {
        const vf x = (vf)a.part[p], y = (vf)b.part[p];
        vf r = way == WAY_FMA ? half_fma_part(x, y, (vf)c.part[p]) : way == WAY_ADD ? x + y : x * y;
        if (op->inst->saturate) {
            r = (vf)((vu)r & (vu)(r > 0.0f));
            r = (vf)vec_choose((vu)(r > 1.0f), vec_all(GPU_ONE32), (vu)r);
        }
        out.part[p] = vec_to_half((vf)vec_select(vec_fne(r, r), vec_all(GPU_NAN32), (vu)r));
    }
    write_int(group, op, &out);
    return op->next;
}

HANDLER(half_fma)
{
    return half_op(group, op, WAY_FMA);
}
HANDLER(half_add)
{
    return half_op(group, op, WAY_ADD);
}
HANDLER(half_multiply)
{
    return half_op(group, op, WAY_MUL);
}

/* --- 64 bits --- */

struct long_lanes {
    struct lanes low, high;
};

ALWAYS struct long_lanes read_long(const struct gpu_simdgroup *group, const struct gpu_operand *from)
{
    struct long_lanes out = {.low = read_int(group, from, GPU_NONE)};
    if (from->kind == GPU_PAIR)
        out.high = load_word(group, from->word + 1U);
    else if (from->kind == GPU_SCALAR)
        out.high = all_lanes((uint32_t)(from->scalar >> 32));
    else
        EACH_PART out.high.part[p] = from->sign_extend ? (vu)((vi)out.low.part[p] >> 31) : vec_all(0);
    return out;
}

ALWAYS vu high_product(vu a, vu b)
{
    const vu low = (a & 0xffff) * (b & 0xffff), one = (a >> 16) * (b & 0xffff) + (low >> 16);
    const vu other = (a & 0xffff) * (b >> 16) + (one & 0xffff);
    return (a >> 16) * (b >> 16) + (one >> 16) + (other >> 16);
}

/* left +- (right << shift); shifts of 5 and more give 0. */
ALWAYS const struct gpu_op *long_sum(struct gpu_simdgroup *group, const struct gpu_op *op, struct long_lanes left,
                                     struct long_lanes right)
{
    const unsigned shift = op->inst->shift;
    EACH_PART
    {
        vu low = right.low.part[p], high = right.high.part[p];
        if (shift >= 5)
            low = high = vec_all(0);
        else if (shift > 0) {
            high = high << shift | low >> (32 - shift);
            low = low << shift;
        }
        const vu a = left.low.part[p], sum = op->inst->subtract ? a - low : a + low;
        const vu carry = op->inst->subtract ? (vu)(a < low) : (vu)(sum < a); /* 0 or -1 */
        left.low.part[p] = sum;
        left.high.part[p] = op->inst->subtract ? left.high.part[p] - high + carry : left.high.part[p] + high - carry;
    }
    write_word(group, op->dst_word, &left.low);
    write_word(group, op->dst_word + 1U, &left.high);
    return op->next;
}

HANDLER(long_add)
{
    return long_sum(group, op, read_long(group, &op->source[0]), read_long(group, &op->source[1]));
}

HANDLER(long_multiply)
{
    const struct long_lanes a = read_long(group, &op->source[0]), b = read_long(group, &op->source[1]);
    struct long_lanes out;
    EACH_PART
    {
        const vu x = a.low.part[p], y = b.low.part[p];
        out.low.part[p] = x * y;
        out.high.part[p] = high_product(x, y) + x * b.high.part[p] + a.high.part[p] * y;
    }
    return long_sum(group, op, out, read_long(group, &op->source[2]));
}

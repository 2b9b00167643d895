/* A copy of blocks of sixteen bytes, of which only the call of memcpy says how they are aligned. */
typedef struct {
    uchar byte[16];
} __attribute__((aligned(16))) block;

kernel void blocks(global const block *in, global block *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i];
}

// Local memory and barriers.
//: reversed out:int:256 in:int:256
//: sums out:int:4 in:int:256 local:256
//: scans out:uint:256 in:uint:256
//: transposed out:int:256 in:int:256 grid:16x16 group:8x8
//: sorted out:int:256 in:int:256
//: products_in_tiles out:float:256 in:float:256:small in:float:256:small grid:16x16 group:8x8 ulp:1
//: local_structures out:int:256 in:int:256:small
//: local_bytes out:uchar:256 in:uchar:256
//: two_local_arguments out:int:256 in:int:256:small local:256 local:128
//: neighbours out:int:256 in:int:256
//: barriers_in_loops out:int:256 in:int:256
//: global_fences out:int:256 io:int:256:small
//: life out:uchar:256 in:uchar:256 grid:16x16 group:16x16

#define I const size_t i = get_global_id(0)

kernel void reversed(global int *o, global const int *a)
{
    local int s[64];
    I;
    const size_t l = get_local_id(0);
    s[l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[63 - l];
}

kernel void sums(global int *o, global const int *a, local int *s)
{
    I;
    const size_t l = get_local_id(0);
    s[l] = a[i] >> 8;
    for (size_t step = get_local_size(0) / 2; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            s[l] += s[l + step];
    }
    if (l == 0)
        o[get_group_id(0)] = s[0];
}

kernel void scans(global uint *o, global const uint *a)
{
    local uint s[2][64];
    I;
    const size_t l = get_local_id(0);
    int at = 0;
    s[0][l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 64; step *= 2) {
        s[1 - at][l] = s[at][l] + (l >= step ? s[at][l - step] : 0);
        at = 1 - at;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[i] = s[at][l];
}

kernel void transposed(global int *o, global const int *a)
{
    local int tile[8][9];
    const size_t x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0) * 8, gy = get_group_id(1) * 8;
    tile[y][x] = a[(gy + y) * 16 + gx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[(gx + y) * 16 + gy + x] = tile[x][y];
}

kernel void sorted(global int *o, global const int *a)
{
    local int s[64];
    I;
    const size_t l = get_local_id(0);
    s[l] = a[i];
    for (uint k = 2; k <= 64; k *= 2)
        for (uint j = k / 2; j; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const size_t other = l ^ j;
            if (other > l) {
                const bool up = (l & k) == 0;
                if ((s[l] > s[other]) == up) {
                    const int t = s[l];
                    s[l] = s[other];
                    s[other] = t;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[l];
}

kernel void products_in_tiles(global float *o, global const float *a, global const float *b)
{
    local float p[8][8], q[8][8];
    const size_t x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < 2; t++) {
        p[y][x] = a[gy * 16 + t * 8 + x];
        q[y][x] = b[(t * 8 + y) * 16 + gx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum = fma(p[y][k], q[k][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[gy * 16 + gx] = sum;
}

struct cell {
    int count;
    short tags[2];
    float2 place;
};

kernel void local_structures(global int *o, global const int *a)
{
    local struct cell cells[64];
    I;
    const size_t l = get_local_id(0);
    cells[l].count = a[i];
    cells[l].tags[0] = (short)l;
    cells[l].tags[1] = (short)(a[i] >> 16);
    cells[l].place = (float2)(l, a[i] & 255);
    barrier(CLK_LOCAL_MEM_FENCE);
    local const struct cell *const c = &cells[(l * 7 + 3) & 63];
    o[i] = c->count + c->tags[0] * 3 + c->tags[1] + (int)c->place.y * 5 + (int)c->place.x;
}

kernel void local_bytes(global uchar *o, global const uchar *a)
{
    local uchar s[64];
    local ushort t[64];
    local ulong w[64];
    I;
    const size_t l = get_local_id(0);
    s[l] = a[i];
    t[l] = a[i] * 3;
    w[l] = (ulong)a[i] << 40 | l;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[l ^ 5] ^ (uchar)t[l ^ 9] ^ (uchar)(w[l ^ 17] >> 40) ^ (uchar)w[l ^ 1];
}

kernel void two_local_arguments(global int *o, global const int *a, local int *s, local short *t)
{
    local int own[64];
    I;
    const size_t l = get_local_id(0);
    s[l] = a[i];
    t[l] = (short)(a[i] >> 8);
    own[l] = a[i] ^ 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[l ^ 1] + t[l ^ 2] + own[l ^ 3];
}

kernel void neighbours(global int *o, global const int *a)
{
    local int s[66];
    I;
    const size_t l = get_local_id(0), n = get_global_size(0);
    s[l + 1] = a[i];
    if (l == 0)
        s[0] = a[(i + n - 1) % n];
    if (l == 63)
        s[65] = a[(i + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = (s[l] >> 2) + (s[l + 1] >> 1) + (s[l + 2] >> 2);
}

kernel void barriers_in_loops(global int *o, global const int *a)
{
    local int s[64];
    I;
    const size_t l = get_local_id(0);
    int x = a[i];
    for (int k = 0; k < 5; k++) {
        s[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (s[k] & 1)
            x = s[(l + 1) & 63] ^ k;
        else
            x += s[(l + 63) & 63] >> 1 & 0xffff;
        barrier(CLK_LOCAL_MEM_FENCE);
        x &= 0xffffff;
    }
    o[i] = x;
}

kernel void global_fences(global int *o, global int *a)
{
    I;
    const size_t l = get_local_id(0), base = get_group_id(0) * 64;
    a[i] = a[i] * 2 + 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    o[i] = a[base + (l ^ 7)];
    mem_fence(CLK_LOCAL_MEM_FENCE);
}

kernel void life(global uchar *o, global const uchar *a)
{
    local uchar s[18][18];
    const int x = get_local_id(0), y = get_local_id(1);
    for (int k = x + y * 16; k < 18 * 18; k += 256)
        s[k / 18][k % 18] = a[(k / 18 + 15) % 16 * 16 + (k % 18 + 15) % 16] & 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int n = -s[y + 1][x + 1];
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            n += s[y + dy][x + dx];
    o[y * 16 + x] = n == 3 || (n == 2 && s[y + 1][x + 1]);
}

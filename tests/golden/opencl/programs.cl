// Whole programs.
//: hashed out:uint:2048 in:uint:256
//: primes_counted out:uint:32 grid:32 group:32
//: checksums out:uint:512 in:uchar:256
//: fractals out:int:256 val:float:-2 val:float:-1.25 val:float:0.15625 grid:16x16 group:16x4
//: queens out:int:64 grid:64 group:32
//: sorted_alone out:int:256 in:int:256
//: heaps out:uint:256 in:uint:256
//: transforms out:float:512 in:float:256:unit ulp:16 abs:2e-5
//: edit_distances out:int:256 in:uchar:256
//: numbers_parsed out:int:256 in:uchar:256
//: big_numbers out:uint:2048 in:uint:256
//: filtered out:uchar:256 in:uchar:256 grid:16x16 group:8x8
//: quantised out:int:256 in:uchar:256 in:char:256
//: interpreters out:int:256 in:uchar:256 in:int:256
//: inverses out:float:1024 in:float:1024:small ulp:64 abs:1e-2
//: softened out:float:256 in:float:256:small local:256 ulp:16

#define I const size_t i = get_global_id(0)

/* SHA-256, FIPS 180-4; the constants are what the cube roots of primes give, computed here. */
uint sha_constant(int n)
{
    int count = 0;
    uint p = 1;
    while (count <= n) {
        p++;
        bool prime = true;
        for (uint d = 2; d * d <= p; d++)
            if (p % d == 0) {
                prime = false;
                break;
            }
        count += prime;
    }
    ulong low = 0, high = (ulong)8 << 32; /* cube root of p by halving: 3 whole bits, 32 behind the point */
    while (high - low > 1) {
        const ulong m = (low + high) >> 1, square_high = mul_hi(m << 14, m << 14); /* m^2 * 2^28 / 2^64 */
        if (mul_hi(square_high << 10, m << 10) >= (ulong)p << 16 << 4)
            high = m;
        else
            low = m;
    }
    return (uint)low;
}

kernel void hashed(global uint *o, global const uint *a)
{
    I;
    uint w[16], s[8];
    for (int k = 0; k < 16; k++)
        w[k] = a[(i + k) & 255];
    for (int k = 0; k < 8; k++)
        s[k] = 0x6a09e667u + k * 0x01234567u;
    for (int r = 0; r < 64; r++) {
        const uint e = s[4], b = s[0];
        const uint t1 = s[7] + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + bitselect(s[6], s[5], e) + w[r & 15] + 0x428a2f98u * (r + 1);
        const uint t2 = (rotate(b, 30u) ^ rotate(b, 19u) ^ rotate(b, 10u)) + ((b & s[1]) ^ (b & s[2]) ^ (s[1] & s[2]));
        const uint x = w[(r + 1) & 15], y = w[(r + 14) & 15];
        w[r & 15] += (rotate(x, 25u) ^ rotate(x, 14u) ^ x >> 3) + w[(r + 9) & 15] + (rotate(y, 15u) ^ rotate(y, 13u) ^ y >> 10);
        for (int k = 7; k > 0; k--)
            s[k] = s[k - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++)
        o[i * 8 + k] = s[k];
}

kernel void primes_counted(global uint *o)
{
    I;
    o[i] = i < 8 ? sha_constant((int)i) : 0;
}

kernel void checksums(global uint *o, global const uchar *a)
{
    I;
    uint crc = ~0u, low = 1, high = 0;
    for (int k = 0; k < 32; k++) {
        const uchar byte = a[(i * 3 + k) & 255];
        crc ^= byte;
        for (int b = 0; b < 8; b++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        low = (low + byte) % 65521;
        high = (high + low) % 65521;
    }
    o[i * 2] = ~crc;
    o[i * 2 + 1] = high << 16 | low;
}

kernel void fractals(global int *o, float left, float top, float step)
{
#pragma OPENCL FP_CONTRACT OFF
    const int px = get_global_id(0), py = get_global_id(1);
    const float cx = left + px * step, cy = top + py * step;
    float x = 0, y = 0;
    int n = 0;
    while (x * x + y * y <= 4 && n < 100) {
        const float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    o[py * get_global_size(0) + px] = n;
}

kernel void queens(global int *o)
{
    I;
    /* Eight queens, the first two rows given by the work item. */
    int row[8], count = 0, y = 2;
    row[0] = i & 7;
    row[1] = i >> 3 & 7;
    const int apart = row[0] > row[1] ? row[0] - row[1] : row[1] - row[0];
    if (apart < 2) {
        o[i] = 0;
        return;
    }
    row[2] = -1;
    while (y >= 2) {
        bool good;
        do {
            row[y]++;
            good = true;
            for (int k = 0; k < y && good; k++)
                good = row[k] != row[y] && row[k] - row[y] != y - k && row[y] - row[k] != y - k;
        } while (row[y] < 8 && !good);
        if (row[y] >= 8)
            y--;
        else if (y == 7)
            count++;
        else
            row[++y] = -1;
    }
    o[i] = count;
}

kernel void sorted_alone(global int *o, global const int *a)
{
    I;
    int n[12];
    for (int k = 0; k < 12; k++)
        n[k] = a[(i * 5 + k) & 255];
    for (int k = 1; k < 12; k++) {
        const int x = n[k];
        int j = k;
        for (; j > 0 && n[j - 1] > x; j--)
            n[j] = n[j - 1];
        n[j] = x;
    }
    int sum = 0;
    for (int k = 0; k < 12; k++)
        sum = (int)((uint)sum * 31 + (uint)n[k]);
    o[i] = sum;
}

kernel void heaps(global uint *o, global const uint *a)
{
    I;
    uint h[16];
    for (int k = 0; k < 16; k++)
        h[k] = a[(i + k) & 255];
    for (int start = 7; start >= 0; start--)
        for (int at = start; at * 2 + 1 < 16;) {
            int child = at * 2 + 1;
            if (child + 1 < 16 && h[child + 1] > h[child])
                child++;
            if (h[at] >= h[child])
                break;
            const uint t = h[at];
            h[at] = h[child];
            h[child] = t;
            at = child;
        }
    o[i] = h[0] ^ h[a[i] & 15] * 3;
}

kernel void transforms(global float *o, global const float *a)
{
    local float2 s[64];
    I;
    const uint l = get_local_id(0), base = get_group_id(0) * 64;
    uint r = l, back = 0;
    for (int k = 0; k < 6; k++, r >>= 1)
        back = back << 1 | (r & 1);
    s[l] = (float2)(a[base + back], 0);
    for (uint half_ = 1; half_ < 64; half_ *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint k = l & (half_ - 1), first = (l >> 1 & ~(half_ - 1)) * 2 + (l >> 1 & (half_ - 1)), j = l >> 1 & (half_ - 1);
        const float angle = -(float)j / half_;
        const float2 w = (float2)(cospi(angle), sinpi(angle)), x = s[first], y = s[first + half_];
        const float2 t = (float2)(y.x * w.x - y.y * w.y, y.x * w.y + y.y * w.x);
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l & 1 ? first + half_ : first] = l & 1 ? x - t : x + t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i * 2] = s[l].x;
    o[i * 2 + 1] = s[l].y;
}

kernel void edit_distances(global int *o, global const uchar *a)
{
    I;
    int row[13];
    for (int k = 0; k < 13; k++)
        row[k] = k;
    for (int y = 1; y <= 12; y++) {
        int corner = row[0];
        row[0] = y;
        for (int x = 1; x <= 12; x++) {
            const int cost = (a[(i + x) & 255] & 3) != (a[(i * 2 + y) & 255] & 3), up = row[x];
            row[x] = min(min(row[x] + 1, row[x - 1] + 1), corner + cost);
            corner = up;
        }
    }
    o[i] = row[12];
}

kernel void numbers_parsed(global int *o, global const uchar *a)
{
    I;
    int value = 0, sign = 1, state = 0;
    for (int k = 0; k < 24; k++) {
        const uchar c = a[(i + k) & 255] % 16;
        if (state == 0 && c == 15) {
            sign = -1;
            state = 1;
        } else if (c < 10) {
            value = value > 100000000 ? value : value * 10 + c;
            state = 2;
        } else if (state == 2) {
            break;
        }
    }
    o[i] = value * sign;
}

kernel void big_numbers(global uint *o, global const uint *a)
{
    I;
    uint p[8] = {0};
    for (int x = 0; x < 4; x++) {
        ulong carry = 0;
        for (int y = 0; y < 4; y++) {
            const ulong t = (ulong)a[(i + x) & 255] * a[(i + 9 + y) & 255] + p[x + y] + carry;
            p[x + y] = (uint)t;
            carry = t >> 32;
        }
        p[x + 4] = (uint)carry;
    }
    for (int k = 0; k < 8; k++)
        o[i * 8 + k] = p[k];
}

kernel void filtered(global uchar *o, global const uchar *a)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += a[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)] * (dx ? 1 : 2) * (dy ? 1 : 2);
    o[y * w + x] = convert_uchar_sat((sum + 8) >> 4);
}

kernel void quantised(global int *o, global const uchar *q, global const char *v)
{
    I;
    int sum = 0;
    for (int k = 0; k < 16; k++) {
        const uchar b = q[(i * 16 + k) & 255];
        sum += ((b & 15) - 8) * v[(i + k) & 255] + ((b >> 4) - 8) * v[(i + k + 16) & 255];
    }
    o[i] = sum;
}

kernel void interpreters(global int *o, global const uchar *program, global const int *a)
{
    I;
    int stack[8] = {0}, top = 1, steps = 0;
    stack[0] = a[i] & 255;
    for (uint pc = i & 63; steps < 60; steps++) {
        const uchar op = program[pc & 255];
        const int x = stack[top - 1];
        pc++;
        switch (op & 7) {
        case 0: if (top < 8) stack[top++] = op >> 3; break;
        case 1: if (top > 1) { top--; stack[top - 1] = (stack[top - 1] + x) & 0xffff; } break;
        case 2: if (top > 1) { top--; stack[top - 1] ^= x; } break;
        case 3: if (top < 8) stack[top++] = x; break;
        case 4: if (x & 1) pc += op >> 3; break;
        case 5: stack[top - 1] = x >> 1; break;
        case 6: stack[top - 1] = x * 3 & 0xffff; break;
        default: if (op > 240) goto halted;
        }
    }
halted:
    o[i] = stack[top - 1] * 64 + steps;
}

kernel void inverses(global float *o, global const float *a)
{
    I;
    const float4 m = vload4(i, a);
    const float d = m.x * m.w - m.y * m.z;
    vstore4((float4)(m.w, -m.y, -m.z, m.x) / d, i, o);
}

kernel void softened(global float *o, global const float *a, local float *s)
{
    I;
    const size_t l = get_local_id(0);
    const float x = a[i];
    s[l] = x;
    for (uint step = 32; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            s[l] = fmax(s[l], s[l + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float e = exp(x - s[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    s[l] = e;
    for (uint step = 32; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step)
            s[l] += s[l + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = e / s[0];
}

// Control flow.
//: switches out:int:256 in:int:256
//: sparse_switches out:int:256 in:int:256
//: switches_in_loops out:int:256 in:int:256
//: gotos out:int:256 in:int:256
//: gotos_out_of_two out:int:256 in:int:256
//: breaks_and_continues out:int:256 in:int:256
//: returns_in_loops out:int:256 in:int:256
//: short_circuits out:int:256 in:int:256
//: calls out:int:256 in:int:256
//: loops_in_loops out:int:256 in:int:256
//: unrolled out:int:256 in:int:256
//: different_ways out:int:256 in:int:256
//: many_exits out:int:256 in:int:256
//: unsigned_bounds out:int:256 in:int:256
//: wide_switches out:int:256 in:long:256
//: do_loops out:int:256 in:uint:256
//: while_loops out:int:256 in:uint:256
//: long_counters out:ulong:256 in:uint:256
//: devices_of_duff out:int:256 in:int:256
//: nested_ternaries out:float:256 in:float:256:-3~3
//: computed_once out:int:256 in:int:256 val:int:13 val:uint:30

#define I const size_t i = get_global_id(0)

kernel void switches(global int *o, global const int *a)
{
    I;
    int r = 0;
    switch (a[i] & 7) {
    case 0: r = 10; break;
    case 1: r = 20; /* falls through */
    case 2: r += 5; break;
    case 3:
    case 4: r = 7; break;
    case 6: r = a[i] > 0 ? 1 : -1; /* falls through */
    default: r -= 100;
    }
    o[i] = r;
}

kernel void sparse_switches(global int *o, global const int *a)
{
    I;
    switch (a[i]) {
    case -1: o[i] = 1; return;
    case 0: o[i] = 2; break;
    case 255: o[i] = 3; break;
    case 65536: o[i] = 4; break;
    case INT_MIN: o[i] = 5; return;
    default: o[i] = 6;
    }
    o[i] += 10;
}

kernel void wide_switches(global int *o, global const long *a)
{
    I;
    switch (a[i]) {
    case 0: o[i] = 1; break;
    case 0x100000000: o[i] = 2; break;
    case LONG_MIN: o[i] = 3; break;
    case -1: o[i] = 4; break;
    default: o[i] = 5;
    }
}

kernel void switches_in_loops(global int *o, global const int *a)
{
    I;
    int state = 0, sum = 0;
    for (int k = 0; k < 40; k++) {
        const int c = a[(i + k) & 255] & 3;
        switch (state) {
        case 0:
            if (c == 1)
                continue;
            state = c;
            break;
        case 1: state = c ? 2 : 0; sum += 3; break;
        case 2:
            if (c == 3)
                goto out;
            state = 3;
        case 3: sum += c; state = (state + c) & 3; break;
        }
        sum = sum * 2 + 1 & 0xffffff;
    }
out:
    o[i] = sum * 4 + state;
}

kernel void gotos(global int *o, global const int *a)
{
    I;
    int n = a[i] & 31, sum = 0;
again:
    if (n <= 0)
        goto done;
    sum += n;
    if (n & 1)
        goto odd;
    n >>= 1;
    goto again;
odd:
    n -= 3;
    goto again;
done:
    o[i] = sum;
}

kernel void gotos_out_of_two(global int *o, global const int *a)
{
    I;
    int found = -1;
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 12; x++)
            if (a[(i + y * 12 + x) & 255] % 13 == 0) {
                found = y * 100 + x;
                goto out;
            }
    found = -2;
out:
    o[i] = found;
}

kernel void do_loops(global int *o, global const uint *a)
{
    I;
    uint x = a[i];
    int n = 0;
    do {
        x = x & 1 ? x * 3 + 1 : x >> 1;
        n++;
    } while (x > 1 && n < 60);
    o[i] = n;
}

kernel void while_loops(global int *o, global const uint *a)
{
    I;
    uint x = a[i] | 1, y = a[i ^ 1] | 2;
    while (y) {
        const uint t = x % y;
        x = y;
        y = t;
    }
    o[i] = (int)x;
}

kernel void breaks_and_continues(global int *o, global const int *a)
{
    I;
    int sum = 0;
    for (int k = 0;; k++) {
        if (k == 50)
            break;
        const int v = a[(i * 7 + k) & 255];
        if (v & 4)
            continue;
        if (v & 8) {
            int j = 0;
            while (true) {
                if (++j > (v >> 4 & 7))
                    break;
                if (j & 1)
                    continue;
                sum += j;
            }
            continue;
        }
        sum += v & 3;
        if (sum > 60)
            break;
    }
    o[i] = sum;
}

kernel void returns_in_loops(global int *o, global const int *a)
{
    I;
    o[i] = -1;
    for (int k = 0; k < 64; k++) {
        if (a[(i + k) & 255] > 2000000000) {
            o[i] = k;
            return;
        }
        if (a[(i + k) & 255] == 0)
            return;
    }
    o[i] = 64;
}

int side(local int *counter, int x)
{
    counter[get_local_id(0)]++;
    return x;
}

kernel void short_circuits(global int *o, global const int *a)
{
    local int counter[64];
    I;
    const size_t l = get_local_id(0);
    counter[l] = 0;
    const int x = a[i], r = (side(counter, x & 1) && side(counter, x & 2)) || (side(counter, x & 4) && !side(counter, x & 8));
    o[i] = r * 100 + counter[l] + (x & 16 ? side(counter, 3) : x & 32 ? side(counter, 5) : 7) + counter[l] * 10;
}

int depth3(int x)
{
    if (x < 0)
        return -x;
    for (int k = 0; k < x; k++)
        if (k * k > x)
            return k;
    return x;
}

int depth2(int x, int y)
{
    return x > y ? depth3(x - y) : depth3(y) + depth3(x);
}

kernel void calls(global int *o, global const int *a)
{
    I;
    o[i] = depth2(a[i] & 255, a[i] >> 8 & 255) + depth2(3, (int)i) * 1000;
}

kernel void loops_in_loops(global int *o, global const int *a)
{
    I;
    int sum = 0;
    for (int x = 0; x < (a[i] & 7); x++)
        for (int y = x; y < (a[i] >> 3 & 7); y++) {
            int z = y;
            do
                sum += z * x + y;
            while (z-- > x);
        }
    o[i] = sum;
}

kernel void long_counters(global ulong *o, global const uint *a)
{
    I;
    ulong sum = 0;
    for (ulong k = 0xfffffff0ul; k < 0x100000000ul + (a[i] & 31); k += 3)
        sum += k;
    for (char c = -120; c < 100; c += 50)
        sum += c;
    o[i] = sum;
}

kernel void devices_of_duff(global int *o, global const int *a)
{
    I;
    int count = (a[i] & 15) + 1, n = (count + 3) / 4, sum = 0, at = 0;
    switch (count & 3) {
    case 0:
        do {
            sum += a[at++] & 15;
        case 3: sum += a[at++] & 15;
        case 2: sum += a[at++] & 15;
        case 1: sum += a[at++] & 15;
        } while (--n > 0);
    }
    o[i] = sum;
}

kernel void unrolled(global int *o, global const int *a)
{
    I;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += a[(i + k) & 255] >> k;
#pragma unroll 3
    for (int k = 0; k < (a[i] & 15); k++)
        sum ^= k << k;
    __attribute__((opencl_unroll_hint(1))) for (int k = 0; k < 5; k++) sum += k;
    o[i] = sum;
}

kernel void different_ways(global int *o, global const int *a)
{
    I;
    int x = a[i], n = 0;
    if (i & 1) {
        while (x & 0xf0) {
            x -= 0x11;
            if (x & 0x100)
                break;
            n++;
        }
    } else if (i & 2) {
        if (x < 0)
            return;
        n = x % 7;
    } else {
        for (; n < 10 && x; n++, x >>= 3)
            ;
    }
    o[i] = n;
}

kernel void nested_ternaries(global float *o, global const float *a)
{
    I;
    const float x = a[i];
    o[i] = x < -1 ? x < -2 ? -2.0f : x * 2 : x > 1 ? x > 2 ? 4.0f : x * x : x == 0 ? 9.0f : isnan(x) ? 8.0f : x;
}

kernel void many_exits(global int *o, global const int *a)
{
    I;
    int r = 0;
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
            const int v = a[(i + y * 8 + x) & 255] & 63;
            if (v == 1)
                goto next;
            if (v == 2)
                goto end;
            if (v == 3) {
                o[i] = -r;
                return;
            }
            if (v < 10)
                continue;
            if (v > 60)
                break;
            r += v;
        }
        r ^= 0x55;
    next:
        r++;
    }
    r += 10000;
end:
    o[i] = r;
}

kernel void computed_once(global int *o, global const int *a, int n, uint m)
{
    I;
    int sum = 0;
    for (int k = 0; k < n; k++)
        if (n * 3 > (int)m)
            sum += a[(i + k) & 255] & (int)m;
        else
            sum -= n;
    o[i] = sum;
}

kernel void unsigned_bounds(global int *o, global const int *a)
{
    I;
    int sum = 0;
    for (uint k = a[i] & 7; k < 8; k--)
        sum += (int)k * 3 + 1;
    for (short s = 0; s != 20; s += 4)
        sum += s;
    o[i] = sum;
}

; y[i] = x[i] * factor, one element per thread
.arg xs u64
.arg ys u64
.arg factor f32
.local_size 32 1 1
get_sr r0, sr80
device_load 0, i32, x, r1, xs, r0, unsigned
wait 0
fmul32 r1, r1, factor
device_store 0, i32, x, r1, ys, r0, unsigned, 0
stop

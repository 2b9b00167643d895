// The sum of each row by a threadgroup of 256; arguments of the operator reduce.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce(global const float *x, global float *out, uint rows, uint columns)
{
    local float part[256];
    const uint lane = get_local_id(0);
    const size_t row = get_group_id(0);
    float sum = 0;
    for (uint i = lane; i < columns; i += 256)
        sum += x[row * columns + i];
    part[lane] = sum;
    for (uint half_of = 128; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_of)
            part[lane] += part[lane + half_of];
    }
    if (lane == 0)
        out[row] = part[0];
}

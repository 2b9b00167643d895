// The same in OpenCL C: c = a b of row-major matrices, m x k and k x n, by tiles of 16 x 16.
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(global const float *a, global const float *b, global float *c, uint m, uint n, uint k)
{
    local float left[TILE][TILE], right[TILE][TILE];
    const uint column = get_global_id(0), row = get_global_id(1), x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (uint step = 0; step < k; step += TILE) {
        left[y][x] = row < m && step + x < k ? a[row * k + step + x] : 0;
        right[y][x] = column < n && step + y < k ? b[(step + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++)
            sum += left[y][i] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (column < n && row < m)
        c[row * n + column] = sum;
}

__attribute__((reqd_work_group_size(16,4,1)))
__kernel void conv2d(__global const float *in, __global const float *w, __global float *out, uint width, uint height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= (int)width || y >= (int)height) return;
    float s = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            int xx = x + i, yy = y + j;
            if (xx >= 0 && xx < (int)width && yy >= 0 && yy < (int)height)
                s = fma(in[yy * width + xx], w[(j + 1) * 3 + i + 1], s);
        }
    out[y * width + x] = s;
}

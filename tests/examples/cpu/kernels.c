/* Functions that `orchard run kernels.o --entry NAME --args ...` calls, one at a time.
 * aarch64-linux-gnu-gcc -O2 -ffreestanding -fno-asynchronous-unwind-tables -c kernels.c -o kernels.o */
#include <stddef.h>

void saxpy(size_t n, float a, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

double dot(size_t n, const float *x, const float *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

/* The same product on two chips, with more and fewer GPU cores than they have. */
#include <orchard.h>

#include <stdio.h>

int main(void)
{
    const char *const lists[] = {"chip=m1,m2", "gpu_cores=4,8,16", NULL}, *const options[] = {"unit=gpu", "exact", "quiet", NULL};
    struct orchard_error error;
    struct orchard_answer *const a = orchard_sweep(NULL, "gemm:256x256x256", lists, options, &error);

    if (!a) {
        fprintf(stderr, "%s\n", error.text);
        return error.code;
    }
    for (size_t i = 0; i < orchard_answer_count(a, "workloads[0].rows"); i++) {
        char chip[64], cores[64], seconds[64];
        snprintf(chip, sizeof chip, "workloads[0].rows[%zu].settings.chip", i);
        snprintf(cores, sizeof cores, "workloads[0].rows[%zu].settings.gpu_cores", i);
        snprintf(seconds, sizeof seconds, "workloads[0].rows[%zu].seconds", i);
        printf("%-12s %3.0f cores  %.4g s\n", orchard_answer_text(a, chip), orchard_answer_number(a, cores),
               orchard_answer_number(a, seconds));
    }
    orchard_answer_free(a);
    return 0;
}

/* What happens on the simulated time line: the operators of a launch, then power and heat of half a minute in a fanless machine.
 */
#include <orchard.h>

#include <stdio.h>
#include <string.h>

struct seen {
    unsigned samples;
    double hottest_celsius, next_line_s;
};

static void on_event(void *context, const struct orchard_event *e)
{
    struct seen *const seen = context;
    const double value = orchard_event_number(e, "value");

    switch (e->kind) {
    case ORCHARD_RUN_BEGIN: printf("%s on %s begins\n", orchard_event_text(e, "workload"), orchard_event_text(e, "chip")); break;
    case ORCHARD_OP_END:
        printf("  %-12s on %s: %.4g s, %.0f cycles, %.4g flop\n", e->what, e->part, orchard_event_number(e, "seconds"),
               orchard_event_number(e, "cycles"), orchard_event_number(e, "flops"));
        break;
    case ORCHARD_SAMPLE:
        seen->samples++;
        if (strcmp(e->what, "temperature") == 0 && value > seen->hottest_celsius)
            seen->hottest_celsius = value;
        if (strcmp(e->what, "clock") == 0 && strcmp(e->part, "gpu") == 0 && e->seconds >= seen->next_line_s) {
            printf("  %4.0f s  GPU at %.0f MHz, hottest so far %.1f degrees\n", e->seconds, value, seen->hottest_celsius);
            seen->next_line_s += 10;
        }
        break;
    case ORCHARD_RUN_END:
        printf("%s after %.4g s, %.4g J\n", orchard_event_text(e, "status"), e->seconds, orchard_event_number(e, "joules"));
        break;
    default: break;
    }
}

int main(void)
{
    const char *const launch[] = {"unit=gpu", "chip=m2", NULL}, *const machine[] = {"unit=gpu", "chip=m2", "device=macbook-air",
                                                                                    "duration=30", NULL};
    struct seen seen = {0};
    const struct orchard_session session = {.context = &seen, .event = on_event};
    struct orchard_error error;
    struct orchard_answer *a = orchard_run(&session, "gemm:512x512x512", launch, &error);

    orchard_answer_free(a);
    if (a)
        a = orchard_run(&session, "gemm:512x512x512", machine, &error);
    if (!a) {
        fprintf(stderr, "%s\n", error.text);
        return error.code;
    }
    printf("%u samples\n", seen.samples);
    orchard_answer_free(a);
    return 0;
}

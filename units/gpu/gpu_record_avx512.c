/* Records for the timing side on hosts with AVX-512. */
#define RECORD gpu_record_avx512
#define SPAN   gpu_record_span_avx512
#include "units/gpu/gpu_record.h"

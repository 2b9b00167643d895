/* Records for the timing side on hosts with AVX2. */
#define RECORD gpu_record_avx2
#define SPAN   gpu_record_span_avx2
#include "units/gpu/gpu_record.h"

#include "formats.h"

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

void print_formats() {
    const __half half_value = __float2half(1.0f / 3.0f);
    const nv_bfloat16 bf16_value = __float2bfloat16(1.0f / 3.0f);
    const cuComplex product = cuCmulf(make_cuComplex(1.0f, 2.0f), make_cuComplex(3.0f, -1.0f));
    std::printf("half %.6f, bfloat16 %.6f\n", __half2float(half_value), __bfloat162float(bf16_value));
    std::printf("complex %.1f%+.1fi, magnitude %.4f\n", cuCrealf(product), cuCimagf(product), cuCabsf(product));
}

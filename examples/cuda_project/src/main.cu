#include <cstdio>
#include <vector>

#include "check.h"
#include "formats.h"
#include "statistics.h"
#ifdef WITH_BLAS
#include "gemm.h"
#endif

int main() {
    print_formats();
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
        std::printf("no device: %s\n", cudaGetErrorString(status));
        return 0;
    }
    std::vector<float> values(100003);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 7) - 3.0f;
    }
    std::printf("sum %.1f\n", device_sum(values));
#ifdef WITH_BLAS
    print_gemm();
#endif
    return 0;
}

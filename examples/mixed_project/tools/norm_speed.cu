// Measures rms_norm without PyTorch: norm_speed [rows] [columns]
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "kernels.cuh"

#define CUDA_CHECK(call)                                                                 \
    do {                                                                                 \
        const cudaError_t status = (call);                                               \
        if (status != cudaSuccess) {                                                     \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

int main(int argc, char** argv) {
    const int rows = argc > 1 ? std::atoi(argv[1]) : 4096;
    const int columns = argc > 2 ? std::atoi(argv[2]) : 4096;
    const size_t bytes = sizeof(float) * rows * columns;
    float *x, *y;
    CUDA_CHECK(cudaMalloc(&x, bytes));
    CUDA_CHECK(cudaMalloc(&y, bytes));
    CUDA_CHECK(cudaMemset(x, 0, bytes));
    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    constexpr int repeats = 100;
    CUDA_CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; ++i) {
        fastops::rms_norm_kernel<<<rows, fastops::kThreads>>>(x, x, y, columns, 1e-6f);
    }
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("%d x %d: %.1f GB/s\n", rows, columns, 2e-6 * bytes * repeats / milliseconds);
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
}

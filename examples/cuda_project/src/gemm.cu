#include "gemm.h"

#include <cublas_v2.h>

#include <cstdio>
#include <vector>

#include "check.h"

#define CUBLAS_CHECK(call)                                                          \
    do {                                                                            \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                      \
            std::fprintf(stderr, "%s:%d: cuBLAS failed\n", __FILE__, __LINE__);     \
            std::exit(EXIT_FAILURE);                                                \
        }                                                                           \
    } while (0)

void print_gemm() {
    constexpr int n = 2;
    const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};  // column by column
    std::vector<float> c(n * n);
    float* device[3];
    for (float*& pointer : device) {
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&pointer), n * n * sizeof(float)));
    }
    cublasHandle_t handle;
    CUBLAS_CHECK(cublasCreate(&handle));
    CUBLAS_CHECK(cublasSetMatrix(n, n, sizeof(float), a.data(), n, device[0], n));
    CUBLAS_CHECK(cublasSetMatrix(n, n, sizeof(float), b.data(), n, device[1], n));
    const float one = 1, zero = 0;
    CUBLAS_CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, device[0], n, device[1], n, &zero, device[2], n));
    CUBLAS_CHECK(cublasGetMatrix(n, n, sizeof(float), device[2], n, c.data(), n));
    CUBLAS_CHECK(cublasDestroy(handle));
    for (float* pointer : device) {
        CUDA_CHECK(cudaFree(pointer));
    }
    std::printf("gemm %.0f %.0f %.0f %.0f\n", c[0], c[1], c[2], c[3]);
}

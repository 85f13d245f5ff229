// Kernels on plain pointers: the PyTorch extension and the tool launch the same ones.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace fastops {

constexpr int kThreads = 256;

// y = x / sqrt(mean(x * x) + eps) * weight, one block for each row of kThreads threads.
template <typename T>
__global__ void rms_norm_kernel(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int columns,
                                float eps) {
    __shared__ float partial[kThreads];
    const int64_t row = static_cast<int64_t>(blockIdx.x) * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        const float value = static_cast<float>(x[row + i]);
        sum += value * value;
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    const float scale = rsqrtf(partial[0] / columns + eps);
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        y[row + i] = static_cast<T>(static_cast<float>(x[row + i]) * scale * static_cast<float>(weight[i]));
    }
}

// y[row, i] = silu(x[row, i]) * x[row, columns + i]; x has 2 * columns columns, y has columns.
template <typename T>
__global__ void silu_and_mul_kernel(const T* __restrict__ x, T* __restrict__ y, int64_t count, int columns) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(kThreads) + threadIdx.x;
    if (i >= count) {
        return;
    }
    const T* gate = x + i / columns * 2 * columns + i % columns;
    const float value = static_cast<float>(gate[0]);
    y[i] = static_cast<T>(value / (1.0f + __expf(-value)) * static_cast<float>(gate[columns]));
}

}  // namespace fastops

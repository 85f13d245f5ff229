// Sums within a block, by shuffles.
#pragma once

#include <cuda_runtime.h>

namespace reduce {

constexpr int kGroup = 32;  // lanes that shuffle with each other

template <typename T>
__device__ T group_sum(T value) {
    for (int distance = kGroup / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, distance, kGroup);
    }
    return value;  // complete in the first lane
}

template <typename T>
__device__ T block_sum(T value) {
    __shared__ T sums[kGroup];
    const int lane = threadIdx.x % kGroup;
    const int group = threadIdx.x / kGroup;
    value = group_sum(value);
    if (lane == 0) {
        sums[group] = value;
    }
    __syncthreads();
    const int groups = blockDim.x / kGroup;
    value = static_cast<int>(threadIdx.x) < groups ? sums[lane] : T(0);
    return group == 0 ? group_sum(value) : value;  // complete in the first thread
}

}  // namespace reduce

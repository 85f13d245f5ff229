#include "statistics.h"

#include "check.h"
#include "reduce.cuh"

namespace {

constexpr int kThreads = 256;
constexpr int kStreams = 2;

__global__ void sum_kernel(const float* values, int count, double* result) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }
    sum = reduce::block_sum(sum);
    if (threadIdx.x == 0) {
        atomicAdd(result, sum);
    }
}

}  // namespace

double device_sum(const std::vector<float>& values) {
    const int count = static_cast<int>(values.size());
    float* device_values = nullptr;
    double* device_result = nullptr;
    CUDA_CHECK(cudaMalloc(&device_values, count * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&device_result, sizeof(double)));
    CUDA_CHECK(cudaMemset(device_result, 0, sizeof(double)));
    CUDA_CHECK(cudaDeviceSynchronize());  // the streams below do not wait for the default stream

    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreateWithFlags(&stop, cudaEventDefault));
    CUDA_CHECK(cudaEventRecord(start));

    cudaStream_t streams[kStreams];
    const int part = (count + kStreams - 1) / kStreams;
    for (int i = 0; i < kStreams; ++i) {
        const int offset = i * part;
        const int size = count - offset < part ? count - offset : part;
        CUDA_CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CUDA_CHECK(cudaMemcpyAsync(device_values + offset, values.data() + offset, size * sizeof(float),
                                   cudaMemcpyHostToDevice, streams[i]));
        sum_kernel<<<8, kThreads, 0, streams[i]>>>(device_values + offset, size, device_result);
        CUDA_CHECK(cudaGetLastError());
    }
    for (cudaStream_t stream : streams) {
        CUDA_CHECK(cudaStreamSynchronize(stream));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }

    float milliseconds = 0;
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    std::fprintf(stderr, "device_sum: %.3f ms\n", milliseconds);

    double result = 0;
    CUDA_CHECK(cudaMemcpy(&result, device_result, sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    CUDA_CHECK(cudaFree(device_values));
    CUDA_CHECK(cudaFree(device_result));
    return result;
}

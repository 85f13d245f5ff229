#include <ATen/cuda/CUDAContext.h>
#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

namespace {

__global__ void scale_kernel(const float* input, float* output, float factor, int64_t count) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        output[i] = input[i] * factor;
    }
}

at::Tensor scale(const at::Tensor& input, double factor) {
    TORCH_CHECK(input.is_cuda(), "scale: expected a tensor on the device, got ", input.device());
    TORCH_CHECK(input.scalar_type() == at::kFloat, "scale: expected float32, got ", input.scalar_type());
    const c10::cuda::CUDAGuard guard(input.device());
    const at::Tensor source = input.contiguous();
    at::Tensor result = at::empty_like(source, source.options().device(at::kCUDA, input.get_device()));
    const int64_t count = source.numel();
    if (count == 0) {
        return result;
    }
    constexpr int threads = 256;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    scale_kernel<<<(count + threads - 1) / threads, threads, 0, stream>>>(
        source.data_ptr<float>(), result.data_ptr<float>(), static_cast<float>(factor), count);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return result;
}

}  // namespace

TORCH_LIBRARY(cuda_project, m) { m.def("scale(Tensor input, float factor) -> Tensor"); }
TORCH_LIBRARY_IMPL(cuda_project, CUDA, m) { m.impl("scale", &scale); }

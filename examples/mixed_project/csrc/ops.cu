#include "ops.h"

#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "kernels.cuh"

namespace fastops {
namespace {

void check(const at::Tensor& tensor, const char* name) {
    TORCH_CHECK(tensor.is_cuda(), name, ": expected a tensor on the GPU, got one on ", tensor.device());
    TORCH_CHECK(tensor.is_contiguous(), name, ": expected a contiguous tensor");
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    check(x, "x");
    check(weight, "weight");
    TORCH_CHECK(weight.scalar_type() == x.scalar_type(), "weight: expected ", x.scalar_type());
    const int64_t columns = x.size(-1);
    TORCH_CHECK(weight.numel() == columns, "weight: expected ", columns, " values, got ", weight.numel());
    at::Tensor y = at::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    const c10::cuda::OptionalCUDAGuard guard(x.device());
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm", [&] {
        rms_norm_kernel<scalar_t><<<x.numel() / columns, kThreads, 0, stream>>>(
            x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), columns, eps);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

at::Tensor silu_and_mul(const at::Tensor& x) {
    check(x, "x");
    const int64_t columns = x.size(-1) / 2;
    TORCH_CHECK(x.size(-1) == 2 * columns, "x: expected an even number of columns, got ", x.size(-1));
    at::DimVector shape(x.sizes());
    shape.back() = columns;
    at::Tensor y = at::empty(shape, x.options());
    const int64_t count = y.numel();
    if (count == 0) {
        return y;
    }
    const c10::cuda::OptionalCUDAGuard guard(x.device());
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "silu_and_mul", [&] {
        silu_and_mul_kernel<scalar_t><<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), count, columns);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

}  // namespace fastops

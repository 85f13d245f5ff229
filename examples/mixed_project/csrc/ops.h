#pragma once

#include <ATen/ATen.h>

namespace fastops {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);
at::Tensor silu_and_mul(const at::Tensor& x);

}  // namespace fastops

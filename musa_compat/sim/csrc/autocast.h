// Autocast: cast the floating device tensors among the arguments, then go on below autocast.
// The lists are those of torch's own autocast macros.
#pragma once
#include "alias.h"

#include <ATen/autocast_mode.h>

namespace musa_sim {
enum class Cast { lower, fp32, widest };

inline at::Tensor cast(const at::Tensor& t, ScalarType to, bool only_low) {
  if (!is_musa(t) || !t.is_floating_point() || t.scalar_type() == at::kDouble || t.scalar_type() == to) return t;
  if (only_low && t.scalar_type() != at::kHalf && t.scalar_type() != at::kBFloat16) return t;
  return t.to(to);
}
template <class F> void map_tensors(Stack* stack, size_t n, F f) {
  for (size_t i = stack->size() - n; i < stack->size(); ++i) {
    auto& v = (*stack)[i];
    if (v.isTensor()) v = f(v.toTensor());
    else if (v.isTensorList()) {
      c10::List<at::Tensor> out;
      for (const IValue& x : v.toListRef()) out.push_back(f(x.toTensor()));
      v = out;
    }
  }
}
template <Cast mode> void autocast(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  c10::impl::ExcludeDispatchKeyGuard below(DispatchKey::AutocastPrivateUse1);
  size_t n = op.schema().arguments().size();
  auto to = mode == Cast::fp32 ? at::kFloat : at::autocast::get_autocast_dtype(kMusa);
  if (mode == Cast::widest)
    map_tensors(stack, n, [&](const at::Tensor& t) {
      if (t.defined() && t.scalar_type() == at::kFloat) to = at::kFloat;
      return t;
    });
  map_tensors(stack, n, [&](const at::Tensor& t) { return cast(t, to, mode == Cast::fp32); });
  op.callBoxed(stack);
}
template <Cast mode> void autocast_all(torch::Library& m, std::initializer_list<const char*> names) {
  for (auto* n : names) m.impl(n, torch::CppFunction::makeFromBoxedFunction<&autocast<mode>>());
}
inline void register_autocast(torch::Library& m) {
  autocast_all<Cast::lower>(m, {"_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d.input",
                                "conv_transpose3d.input", "convolution", "prelu", "addmm", "addmv", "addr", "matmul", "einsum", "mm", "mv",
                                "linalg_vecdot", "linear", "addbmm", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot", "lstm_cell",
                                "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "scaled_dot_product_attention"});
  autocast_all<Cast::fp32>(
      m, {"acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh", "tan",
          "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus", "layer_norm", "native_layer_norm", "rms_norm", "group_norm",
          "cosine_similarity", "poisson_nll_loss", "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss", "kl_div",
          "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss", "multilabel_margin_loss", "soft_margin_loss",
          "triplet_margin_loss", "multi_margin_loss", "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp",
          "prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum", "linalg_vector_norm", "linalg_matrix_norm", "sum",
          "sum.dim_IntList"});
  autocast_all<Cast::widest>(m, {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sampler", "index_put", "scatter_add",
                                 "tensordot", "vdot", "cat", "stack"});
}
}  // namespace musa_sim

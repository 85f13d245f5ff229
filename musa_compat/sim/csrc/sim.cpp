// A simulated `musa` (PrivateUse1) device whose memory is host memory: one translation unit.
// No Python header is used, so the library serves any Python that loads the same torch.
#include "autocast.h"
#include "interface.h"

using namespace musa_sim;

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }
// Our copy reads the conjugate and negative bits itself.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&host_watch>()); }
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) { register_autocast(m); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", TORCH_FN(musa_sim::empty));
  m.impl("empty_strided", TORCH_FN(musa_sim::empty_strided));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("resize_", TORCH_FN(musa_sim::resize_));
  m.impl("set_.source_Storage", TORCH_FN(set_source));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage));
  m.impl("set_.source_Tensor", TORCH_FN(set_tensor));
  m.impl("set_", TORCH_FN(set_none));
  m.impl("_has_compatible_shallow_copy_type", TORCH_FN(compatible));
  m.impl("record_stream", TORCH_FN(musa_sim::record_stream));
  // These have a decomposition for unknown devices, which comes before the fallback; a card has kernels for them, and so has the CPU.
  for (auto* name : {"native_layer_norm", "native_group_norm", "native_channel_shuffle", "_stack", "_stack.out", "addr", "addr.out", "all.dims",
                     "all.dims_out", "any.dims", "any.dims_out", "linalg__powsum", "mish_backward", "silu_backward"})
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&fallback>());
  m.impl("_local_scalar_dense", torch::CppFunction::makeFromBoxedFunction<&read_scalar>());
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&musa_sim::convolution>());
  m.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&musa_sim::convolution_backward>());
}

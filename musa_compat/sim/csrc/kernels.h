// Operations that are more than the CPU's kernel: factories, copies, storages, convolution, scalar reads.
#pragma once
#include "alias.h"

#include <ATen/EmptyTensor.h>

namespace musa_sim {
inline ScalarType dtype_of(std::optional<ScalarType> t) { return t ? *t : typeMetaToScalarType(at::get_default_dtype()); }
inline void not_pinned(std::optional<bool> pin) {
  TORCH_CHECK(!pin || !*pin, "pin_memory=True was given for a musa tensor; only dense CPU tensors can be pinned");
}
inline DeviceIndex index_of(std::optional<Device> d) { return d ? d->index() : (DeviceIndex)-1; }

inline at::Tensor empty(SymIntArrayRef size, std::optional<ScalarType> t, std::optional<Layout>, std::optional<Device> d, std::optional<bool> pin,
                        std::optional<MemoryFormat> format) {
  not_pinned(pin);
  DeviceScope on(index_of(d));
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &DeviceMemory::get(), DispatchKeySet(DispatchKey::PrivateUse1),
                                   dtype_of(t), format);
}
inline at::Tensor empty_strided(SymIntArrayRef size, SymIntArrayRef stride, std::optional<ScalarType> t, std::optional<Layout>,
                                std::optional<Device> d, std::optional<bool> pin) {
  not_pinned(pin);
  DeviceScope on(index_of(d));
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), &DeviceMemory::get(),
                                           DispatchKeySet(DispatchKey::PrivateUse1), dtype_of(t));
}

inline const OperatorHandle& find(const char* name) {
  static std::mutex mutex;
  static auto* found = new std::map<std::string, OperatorHandle>;
  std::lock_guard<std::mutex> lock(mutex);
  auto it = found->find(name);
  if (it == found->end()) it = found->emplace(name, Dispatcher::singleton().findSchemaOrThrow(name, "")).first;
  return it->second;
}

inline void strict_copy(const at::Tensor& from, const at::Tensor& to, DeviceIndex on, bool waits, bool pinned) {
  if (waits && is_musa(from)) hidden_sync("a copy to the host");
  if (waits && is_musa(to)) hidden_sync(pinned ? "a copy to the device without non_blocking=True" : "a copy to the device from memory that is not pinned");
  if (!g_track_streams) return;
  watch_this_thread();
  Touches touches;
  touch(touches, from, false);
  touch(touches, to, true);
  touch_all(touches, current_stream(on), "a copy");
}

inline at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  ++g_operations;
  bool across = is_musa(dst) != is_musa(self), strict = g_strict;
  auto& host_side = is_musa(dst) ? self : dst;
  bool pinned = across && PinnedMemory::get().has(host_side.const_data_ptr());
  bool waits = across && host_side.numel() > 0 && !(non_blocking && pinned);
  auto on = (is_musa(dst) ? dst : self).device().index();
  // Between two devices each one's stream waits for the other's, before and after.
  bool between = is_musa(dst) && is_musa(self) && dst.device() != self.device();
  if (between) Timelines::get().meet(current_stream(on), current_stream(self.device().index()));
  auto to = as_host(dst), from = as_host(self);
  if (strict) strict_copy(self, dst, on, waits && !t_graph, pinned);
  if (t_graph) {
    TORCH_CHECK(!across || pinned, "MUSA error: operation not permitted when stream is capturing (a copy between the device and memory that is not pinned)");
    t_graph->nodes.push_back({find("aten::copy_"), {to, from, non_blocking}, {to}});
    waits = false;
  }
  if (between && strict) Timelines::get().meet(current_stream(on), current_stream(self.device().index()));
  if (waits) host_waits(on);
  Unwatched inside;
  to.copy_(from);
  return dst;
}
inline at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  const_cast<at::Tensor&>(dst).resize_(self.sizes());
  return copy_from(self, dst, false);
}

inline const at::Tensor& resize_(const at::Tensor& self, SymIntArrayRef sym_size, std::optional<MemoryFormat> format) {
  auto size = C10_AS_INTARRAYREF_SLOW(sym_size);
  auto* impl = self.unsafeGetTensorImpl();
  if (impl->sizes() != size) {
    impl->set_sizes_contiguous(size);
    size_t need = impl->numel() ? (size_t)(impl->storage_offset() + impl->numel()) * impl->itemsize() : 0;
    if (need > self.storage().nbytes()) resize_storage(self.storage().unsafeGetStorageImpl(), need);
  }
  if (format && *format != MemoryFormat::Preserve) impl->empty_tensor_restride(*format);
  return self;
}

inline DimVector row_major(IntArrayRef size) {
  DimVector strides(size.size());
  int64_t step = 1;
  for (auto k = (int64_t)size.size() - 1; k >= 0; --k) {
    strides[k] = step;
    step *= std::max<int64_t>(size[k], 1);
  }
  return strides;
}
inline at::Tensor& set_storage(at::Tensor& self, at::Storage source, SymInt offset, SymIntArrayRef sym_size, SymIntArrayRef sym_stride) {
  auto* impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(source.device() == self.device() || !self.storage().data(), "Attempted to set the storage of a tensor on device \"",
              self.device(), "\" to a storage on different device \"", source.device(), "\"");
  auto size = C10_AS_INTARRAYREF_SLOW(sym_size);
  auto stride = sym_stride.size() == size.size() ? DimVector(C10_AS_INTARRAYREF_SLOW(sym_stride)) : row_major(size);
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset.guard_int(__FILE__, __LINE__));
  impl->set_sizes_and_strides(size, stride);
  size_t need = at::detail::computeStorageNbytes(size, stride, impl->itemsize(), impl->storage_offset());
  if (need > self.storage().nbytes()) resize_storage(self.storage().unsafeGetStorageImpl(), need);
  return self;
}
inline at::Tensor& set_source(at::Tensor& self, at::Storage source) {
  SymInt size[] = {(int64_t)(source.nbytes() / self.itemsize())};
  return set_storage(self, std::move(source), 0, size, {});
}
inline at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& other) {
  if (self.is_same(other)) return self;
  return set_storage(self, other.storage(), other.sym_storage_offset(), other.sym_sizes(), other.sym_strides());
}
inline at::Tensor& set_none(at::Tensor& self) {
  DeviceScope on(self.device().index());
  SymInt size[] = {0};
  return set_storage(self, Storage(Storage::use_byte_size_t(), 0, &DeviceMemory::get(), true), 0, size, {});
}
inline bool compatible(const at::Tensor&, const at::Tensor&) { return true; }
inline void record_stream(at::Tensor& self, Stream s) { DeviceMemory::get().recordStream(self.storage().data_ptr(), s); }

// The dispatcher sends the convolutions of unknown devices to *_overrideable.
inline void convolution(const OperatorHandle&, DispatchKeySet, Stack* stack) { fallback(find("aten::convolution"), {}, stack); }
inline void convolution_backward(const OperatorHandle&, DispatchKeySet, Stack* stack) {
  // (grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, output_mask): bias_sizes comes after weight
  auto grad = (*stack)[stack->size() - 10].toTensor();
  stack->insert(stack->end() - 7, IValue(c10::List<int64_t>({grad.size(1)})));
  fallback(find("aten::convolution_backward"), {}, stack);
}

inline void read_scalar(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  not_in_capture("reading a scalar on the host");
  auto d = stack->back().toTensor().device().index();
  if (g_strict) hidden_sync("reading a value (item, bool, int, float)");
  fallback(op, keys, stack);
  host_waits(d);
}
}  // namespace musa_sim

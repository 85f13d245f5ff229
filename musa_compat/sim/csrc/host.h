// What the host does to pinned memory: in strict mode the operations of the CPU pass here on their way.
#pragma once
#include "alias.h"

namespace musa_sim {
inline void host_touch(const at::Tensor& t, bool write, const char* op) {
  if (!t.defined() || !t.device().is_cpu() || t.layout() != Layout::Strided || !t.has_storage() || t.numel() == 0) return;
  if (auto history = PinnedMemory::get().history(t.const_data_ptr())) host_access(*history, region_of(t), write, op);
}

// Only kernels of the CPU touch memory; copies to and from the device are the device's.
inline void host_operation(const OperatorHandle& op, const Stack& stack) {
  auto& info = info_of(op);
  if (info.view || !info.on_cpu) return;
  auto base = stack.size() - op.schema().arguments().size();
  bool device = false;
  for (size_t i = base; i < stack.size(); ++i) each_tensor(stack[i], [&](const at::Tensor& t) { device |= is_musa(t); });
  if (device) return;
  for (size_t i = base; i < stack.size(); ++i)
    each_tensor(stack[i], [&](const at::Tensor& t) { host_touch(t, info.writes[i - base], op.schema().name().c_str()); });
}

inline void host_watch(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (!g_track_streams) c10::impl::tls_set_dispatch_key_included(kHostWatch, false);
  else if (PinnedMemory::get().any()) host_operation(op, *stack);
  op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kHostWatch), stack);
}

// `numpy()` and `tolist()` are no operations: Python says when they are called.
inline void host_reads(const at::Tensor& t, std::string op) {
  static auto* names = new std::set<std::string>;
  static std::mutex mutex;
  const char* name;
  {
    std::lock_guard<std::mutex> lock(mutex);
    name = names->insert(op).first->c_str();
  }
  host_touch(t, false, name);
}
}  // namespace musa_sim

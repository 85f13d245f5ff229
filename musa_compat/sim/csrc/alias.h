// The heart: an operation of the device is the CPU's kernel on aliases of the device tensors (same
// bytes, no copy), and its fresh results are labelled as device tensors (no copy again).
#pragma once
#include "guard.h"

#include <c10/core/CPUAllocator.h>

#include <shared_mutex>
#include <unordered_map>

namespace musa_sim {
inline bool is_musa(const at::Tensor& t) { return t.defined() && t.device().type() == kMusa; }

inline intrusive_ptr<StorageImpl> host_storage(StorageImpl* device) {
  auto* keep = new intrusive_ptr<StorageImpl>(intrusive_ptr<StorageImpl>::reclaim_copy(device));
  auto release = [](void* p) { delete static_cast<intrusive_ptr<StorageImpl>*>(p); };
  return make_intrusive<StorageImpl>(StorageImpl::use_byte_size_t(), device->nbytes(),
                                     DataPtr(device->mutable_data(), keep, release, Device(DeviceType::CPU)), GetCPUAllocator(), true);
}

// A tensor with the geometry of `t` on another storage.
inline at::Tensor relabel(const at::Tensor& t, Storage s, DispatchKey key) {
  auto impl = make_intrusive<TensorImpl>(std::move(s), DispatchKeySet(key), t.dtype());
  impl->set_storage_offset(t.storage_offset());
  impl->set_sizes_and_strides(t.sizes(), t.strides());
  auto* from = t.unsafeGetTensorImpl();
  if (from->is_wrapped_number()) impl->set_wrapped_number(true);
  if (from->is_conj()) impl->_set_conj(true);
  if (from->is_neg()) impl->_set_neg(true);
  return at::Tensor(std::move(impl));
}
inline at::Tensor as_host(const at::Tensor& t) {
  return is_musa(t) ? relabel(t, Storage(host_storage(t.storage().unsafeGetStorageImpl())), DispatchKey::CPU) : t;
}
inline Storage device_storage(StorageImpl* host, DeviceIndex d) {
  auto keep = intrusive_ptr<StorageImpl>::reclaim_copy(host);
  auto n = host->nbytes();
  return Storage(make_intrusive<StorageImpl>(StorageImpl::use_byte_size_t(), n, DeviceMemory::get().adopt(keep, d), &DeviceMemory::get(), true));
}

// What a schema says of an operation, looked up once.
struct OpInfo {
  bool view = false, takes_cpu_tensors = false, random = false, waits = false, index = false, on_cpu = false;
  int generator = -1, pin_memory = -1;
  SmallVector<bool, 12> writes;
};

inline bool takes_cpu_tensors(const std::string& name) {
  for (auto* p : {"aten::index", "aten::_index_put", "aten::_unsafe_index", "aten::_pack_padded", "aten::_pad_packed", "c10d::", "aten::copy",
                  "aten::_foreach_copy", "aten::_amp", "aten::_fused_adam", "aten::_fused_sgd", "aten::_fused_adagrad", "aten::_cudnn",
                  "aten::tensor_split", "aten::_nested"})
    if (name.rfind(p, 0) == 0) return true;
  return name.find("_to_copy") != std::string::npos;
}

inline OpInfo read_schema(const OperatorHandle& op) {
  auto& s = op.schema();
  OpInfo r;
  bool collective = s.name().rfind("c10d::", 0) == 0;  // their schemas do not say what they write
  for (auto& a : s.returns())
    if (a.alias_info() && !a.alias_info()->isWrite()) r.view = true;
  for (size_t i = 0; i < s.arguments().size(); ++i) {
    auto& a = s.arguments()[i];
    r.writes.push_back(collective ? a.name().rfind("input", 0) != 0 && s.name() != "c10d::send" : a.alias_info() && a.alias_info()->isWrite());
    if (a.name() == "generator") r.generator = (int)i;
    if (a.name() == "pin_memory") r.pin_memory = (int)i;
  }
  r.takes_cpu_tensors = takes_cpu_tensors(s.name());
  r.index = s.name().rfind("aten::index", 0) == 0 || s.name().rfind("aten::_index_put", 0) == 0;
  r.waits = r.index || s.name() == "aten::equal";
  r.on_cpu = op.hasKernelForDispatchKey(DispatchKey::CPU) || s.name() == "aten::copy_";
  for (auto tag : op.getTags()) {
    if (tag == at::Tag::nondeterministic_seeded) r.random = r.generator < 0;
    if (tag == at::Tag::dynamic_output_shape) r.waits = true;
  }
  return r;
}

inline const OpInfo& info_of(const OperatorHandle& op) {
  static std::shared_mutex mutex;
  static auto* cache = new std::unordered_map<const FunctionSchema*, OpInfo>;
  auto* key = &op.schema();
  {
    std::shared_lock<std::shared_mutex> lock(mutex);
    auto it = cache->find(key);
    if (it != cache->end()) return it->second;
  }
  auto info = read_schema(op);
  std::unique_lock<std::shared_mutex> lock(mutex);
  return cache->emplace(key, std::move(info)).first->second;
}

// Calls f(tensor) for the tensors in a value.
template <class F> void each_tensor(const IValue& v, F&& f) {
  if (v.isTensor()) f(v.toTensor());
  else if (v.isTensorList() || v.isOptionalTensorList() || v.isList())
    for (const IValue& x : v.toListRef()) each_tensor(x, f);
}

inline HistoryPtr history_of(const at::Tensor& t) {
  if (!is_musa(t)) return t.device().is_cpu() ? PinnedMemory::get().history(t.const_data_ptr()) : HistoryPtr();
  auto* block = DeviceMemory::block_of(t.storage().data_ptr());
  if (!block) return {};
  std::lock_guard<std::recursive_mutex> lock(Timelines::get().mutex);
  refreshed(block->history);
  return block->history;
}
inline void touch(Touches& touches, const at::Tensor& t, bool write) {
  if (!t.defined() || t.layout() != Layout::Strided || !t.has_storage() || t.numel() == 0) return;
  if (auto history = history_of(t)) touches.all.push_back({std::move(history), region_of(t), write});
}

inline bool has_mask(const IValue& v) {
  bool found = false;
  each_tensor(v, [&](const at::Tensor& t) { found |= t.defined() && (t.scalar_type() == at::kBool || t.scalar_type() == at::kByte); });
  return found;
}

// The arguments of an operation; `base` is the first.
inline void strict_operation(const OperatorHandle& op, const OpInfo& info, const Stack& stack, size_t base) {
  auto name = op.schema().name().c_str();
  if (g_checks.syncs && info.waits && (!info.index || has_mask(stack[base + 1]))) hidden_sync(name);
  if (!g_track_streams) return;
  watch_this_thread();
  DeviceIndex on = -1;
  Touches touches;
  for (size_t i = base; i < stack.size(); ++i)
    each_tensor(stack[i], [&](const at::Tensor& t) {
      if (on < 0 && is_musa(t)) on = t.device().index();
      touch(touches, t, info.writes[i - base]);
    });
  if (on >= 0) touch_all(touches, current_stream(on), name);
}

// What an operation made.
inline void strict_results(const OperatorHandle& op, const Stack& stack, size_t first) {
  Touches touches;
  DeviceIndex on = -1;
  for (size_t i = first; i < stack.size(); ++i)
    each_tensor(stack[i], [&](const at::Tensor& t) {
      if (!is_musa(t)) return;
      on = t.device().index();
      touch(touches, t, true);
    });
  if (on >= 0) touch_all(touches, current_stream(on), op.schema().name().c_str());
}

// Whether the operation is one that a card lacks.
inline void strict_lacking(const OperatorHandle& op, const OpInfo& info, const Stack& stack) {
  uint64_t read = 0, written = 0;
  bool in_place = false;
  SmallVector<const TensorImpl*, 8> reads;
  size_t base = stack.size() - op.schema().arguments().size();
  for (size_t i = base; i < stack.size(); ++i)
    each_tensor(stack[i], [&](const at::Tensor& t) {
      if (!is_musa(t)) return;
      (info.writes[i - base] ? written : read) |= uint64_t(1) << (int)t.scalar_type();
      if (!info.writes[i - base]) reads.push_back(t.unsafeGetTensorImpl());
      else in_place |= std::find(reads.begin(), reads.end(), t.unsafeGetTensorImpl()) != reads.end();
    });
  lacking(toString(op.operator_name()), in_place, read ? read : written);
}

class Aliaser {
 public:
  Aliaser(const char* op, bool same_device) : op_(op), same_device_(same_device) {}
  DeviceIndex device = -1;

  IValue down(const IValue& v) {
    if (v.isDevice() && v.toDevice().type() == kMusa) {
      if (device < 0) device = check_index(v.toDevice().index());
      return Device(DeviceType::CPU);
    }
    if (v.isGenerator() && v.toGenerator().device().type() == kMusa) return cpu_generator(v.toGenerator());
    return map(v, [this](const at::Tensor& t) { return down(t); });
  }
  IValue up(const IValue& v) {
    return map(v, [this](const at::Tensor& t) { return up(t); });
  }
  // A kernel may have resized an out= tensor: carry that back.
  void sync() {
    for (auto& [host, dev] : tensors_) {
      auto *hi = host.unsafeGetTensorImpl(), *di = dev.unsafeGetTensorImpl();
      auto *hs = host.storage().unsafeGetStorageImpl(), *ds = dev.storage().unsafeGetStorageImpl();
      if (hs->data() != ds->data() || hs->nbytes() != ds->nbytes()) {
        // The CPU allocator gave the alias memory of its own: the device storage takes it over.
        ds->set_data_ptr_noswap(DeviceMemory::get().adopt(intrusive_ptr<StorageImpl>::reclaim_copy(hs), ds->device().index()));
        ds->set_nbytes(hs->nbytes());
      }
      if (hi->sizes() != di->sizes() || hi->strides() != di->strides() || hi->storage_offset() != di->storage_offset()) {
        di->set_storage_offset(hi->storage_offset());
        di->set_sizes_and_strides(hi->sizes(), hi->strides());
      }
    }
  }

 private:
  const char* op_;
  bool same_device_, saw_cpu_ = false;
  SmallVector<std::pair<at::Tensor, at::Tensor>, 8> tensors_;                            // host alias, device tensor
  SmallVector<std::pair<StorageImpl*, intrusive_ptr<StorageImpl>>, 8> stores_;           // device, host alias
  SmallVector<std::pair<StorageImpl*, Storage>, 4> fresh_;                               // host, device label

  template <class F> IValue map(const IValue& v, F&& f) {
    if (v.isTensor()) return f(v.toTensor());
    if (v.isTensorList()) {
      c10::List<at::Tensor> out;
      for (const IValue& x : v.toListRef()) out.push_back(f(x.toTensor()));
      return out;
    }
    if (v.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> out;
      for (const IValue& x : v.toListRef()) out.push_back(x.isNone() ? std::optional<at::Tensor>() : f(x.toTensor()));
      return out;
    }
    if (v.isList() && v.toList().elementType()->kind() == c10::TypeKind::ListType) {  // Tensor[][] of c10d
      c10::impl::GenericList out(v.toList().elementType());
      for (const IValue& x : v.toListRef()) out.push_back(map(x, f));
      return out;
    }
    return v;
  }
  [[noreturn]] void mixed(const std::string& other) const {
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, musa:", (int)device, " and ", other,
                "! (when checking the arguments of ", op_, ")");
  }
  void check_cpu() const {
    if (same_device_ && saw_cpu_ && device >= 0) mixed("cpu");
  }
  at::Tensor down(const at::Tensor& t) {
    if (!t.defined()) return t;
    if (t.device().type() != kMusa) {
      if (t.device().is_cpu() && t.dim() > 0) {
        saw_cpu_ = true;
        check_cpu();
      }
      return t;
    }
    auto d = t.device().index();
    if (device < 0) {
      device = d;
      check_cpu();
    } else if (same_device_ && d != device && t.dim() > 0) {
      mixed("musa:" + std::to_string((int)d));
    }
    for (auto& p : tensors_)
      if (p.second.is_same(t)) return p.first;
    auto* storage = t.storage().unsafeGetStorageImpl();
    intrusive_ptr<StorageImpl> host;
    for (auto& p : stores_)
      if (p.first == storage) host = p.second;
    if (!host) {
      host = host_storage(storage);
      stores_.emplace_back(storage, host);
    }
    auto alias = relabel(t, Storage(std::move(host)), DispatchKey::CPU);
    tensors_.emplace_back(alias, t);
    return alias;
  }
  at::Tensor up(const at::Tensor& t) {
    if (!t.defined() || !t.device().is_cpu() || t.layout() != Layout::Strided) return t;
    for (auto& p : tensors_)
      if (p.first.is_same(t)) return p.second;
    auto* host = t.storage().unsafeGetStorageImpl();
    for (auto& p : stores_)
      if (p.second.get() == host) return relabel(t, Storage(intrusive_ptr<StorageImpl>::reclaim_copy(p.first)), DispatchKey::PrivateUse1);
    for (auto& p : fresh_)
      if (p.first == host) return relabel(t, p.second, DispatchKey::PrivateUse1);
    auto storage = device_storage(host, device < 0 ? t_device : device);
    fresh_.emplace_back(host, storage);
    return relabel(t, storage, DispatchKey::PrivateUse1);
  }
};

template <class Call> void run_aliased(const OperatorHandle& op, const OpInfo& info, Stack* stack, Call&& call) {
  auto& schema = op.schema();
  size_t n = schema.arguments().size(), base = stack->size() - n;
  ++g_operations;
  bool strict = g_strict;
  if (strict) strict_operation(op, info, *stack, base);
  Aliaser alias(schema.name().c_str(), !info.takes_cpu_tensors);
  for (size_t i = base; i < stack->size(); ++i) {
    auto& v = (*stack)[i];
    if (!v.isNone() && !v.isInt() && !v.isDouble() && !v.isBool()) v = alias.down(v);
  }
  DeviceIndex d = alias.device < 0 ? t_device : alias.device;
  if (info.generator >= 0 && (*stack)[base + info.generator].isNone()) (*stack)[base + info.generator] = cpu_generator(default_generator(d));
  if (info.pin_memory >= 0) (*stack)[base + info.pin_memory] = IValue();
  auto* graph = t_graph;
  std::vector<IValue> inputs;
  if (graph) inputs.assign(stack->begin() + base, stack->end());
  {
    Unwatched inside;
    std::optional<LendState> lend;
    if (info.random) lend.emplace(d);
    call(stack);
  }
  size_t first = stack->size() - schema.returns().size();
  if (graph) graph->nodes.push_back({op, std::move(inputs), std::vector<IValue>(stack->begin() + first, stack->end())});
  alias.sync();
  for (size_t i = first; i < stack->size(); ++i) {
    auto& v = (*stack)[i];
    if (v.isTensor() || v.isList()) v = alias.up(v);
  }
  if (strict && g_track_streams) strict_results(op, *stack, first);
}

inline void fallback(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  auto& info = info_of(op);
  auto cpu = DispatchKeySet(DispatchKey::CPU);
  if (g_checks.operators) strict_lacking(op, info, *stack);
  // A view kernel only reads and makes metadata, so the CPU's serves the device tensor itself.
  if (info.view) return op.redispatchBoxed(cpu, stack);
  run_aliased(op, info, stack, [&](Stack* s) { op.redispatchBoxed(cpu, s); });
}
}  // namespace musa_sim

// What Python calls: operators of the namespace musa_sim, and C functions for ctypes.
#pragma once
#include "host.h"
#include "kernels.h"

namespace musa_sim {
inline at::Tensor as_cpu(const at::Tensor& t) {
  TORCH_CHECK(is_musa(t), "as_cpu expected a musa tensor; got one on ", t.device());
  if (g_track_streams) {  // who asks for the bytes is going to read them
    Touches touches;
    touch(touches, t, false);
    touch_all(touches, current_stream(t.device().index()), "as_cpu");
  }
  return as_host(t);
}
inline at::Tensor from_cpu(const at::Tensor& t, int64_t d) {
  TORCH_CHECK(t.device().is_cpu(), "from_cpu expected a CPU tensor; got one on ", t.device());
  return relabel(t, device_storage(t.storage().unsafeGetStorageImpl(), check_index((DeviceIndex)d)), DispatchKey::PrivateUse1);
}

// For an operation that Python serves.
inline void strict_uses(std::string name, const at::Tensor& x) {
  if (g_checks.operators && is_musa(x)) lacking(name, false, uint64_t(1) << (int)x.scalar_type());
}

// The c10d kernels of PrivateUse1 exist: wrap them, so that a gloo process group sees CPU tensors.
inline std::unordered_map<const FunctionSchema*, SafeKernelFunction>& wrapped() {
  static auto* table = new std::unordered_map<const FunctionSchema*, SafeKernelFunction>;
  return *table;
}
inline void call_wrapped(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  not_in_capture("a collective");
  Timelines::get().sleep_through(current_stream(t_device));
  run_aliased(op, info_of(op), stack,
              [&](Stack* s) { wrapped().at(&op.schema()).callBoxed(op, DispatchKeySet(DispatchKey::PrivateUse1), s); });
}
struct Silent : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};
inline void wrap_collective(std::string name) {
  Silent handler;  // that a kernel is replaced is meant
  c10::WarningUtils::WarningHandlerGuard quiet(&handler);
  static auto* libraries = new std::vector<std::unique_ptr<torch::Library>>;
  auto op = Dispatcher::singleton().findSchemaOrThrow(("c10d::" + name).c_str(), "");
  wrapped().emplace(&op.schema(), op.getComputedKernelForDispatchKey(DispatchKey::PrivateUse1));
  auto lib = std::make_unique<torch::Library>(torch::Library::IMPL, "c10d", DispatchKey::PrivateUse1, __FILE__, __LINE__);
  lib->impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&call_wrapped>());
  libraries->push_back(std::move(lib));
}
inline void get_default_generator(const OperatorHandle&, Stack* stack) {
  auto d = torch::jit::pop(*stack).toInt();
  stack->push_back(default_generator((DeviceIndex)d));
}
inline void start(int devices) {
  static bool started = false;
  g_device_count = devices;
  if (started) return;
  started = true;
  c10::SetAllocator(kMusa, &DeviceMemory::get());
  if (!Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::AutogradPrivateUse1)) {  // torch before 2.10
    static auto* lib = new torch::Library(torch::Library::IMPL, "_", DispatchKey::AutogradPrivateUse1, __FILE__, __LINE__);
    lib->fallback(torch::CppFunction::makeFallthrough());
  }
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  register_graph();
}
}  // namespace musa_sim

#define MUSA_SIM_API extern "C" __attribute__((visibility("default")))
MUSA_SIM_API void musa_sim_start(int devices) { musa_sim::start(devices); }
MUSA_SIM_API int musa_sim_get_device() { return musa_sim::t_device; }
MUSA_SIM_API int musa_sim_set_device(int d) {
  if (d < 0 || d >= musa_sim::g_device_count) return -1;
  musa_sim::t_device = (c10::DeviceIndex)d;
  return 0;
}
MUSA_SIM_API int musa_sim_capturing() { return musa_sim::t_graph != nullptr; }
MUSA_SIM_API void musa_sim_sleep(int64_t nanoseconds) {
  musa_sim::Timelines::get().sleep(musa_sim::current_stream(musa_sim::t_device), nanoseconds);
}
// Milliseconds between two events; -1: one was not recorded, -2: one is not over yet.
MUSA_SIM_API double musa_sim_elapsed(void* a, void* b) {
  if (!a || !b) return -1;
  auto& t = musa_sim::Timelines::get();
  auto *first = static_cast<musa_sim::EventState*>(a), *second = static_cast<musa_sim::EventState*>(b);
  if (!t.query(*first) || !t.query(*second)) return -2;
  return (double)(second->when - first->when) / 1e6;
}
MUSA_SIM_API void musa_sim_set_limit(int d, uint64_t bytes) { musa_sim::DeviceMemory::get().limit[d] = bytes; }
MUSA_SIM_API int64_t musa_sim_allocated(int d, int peak) { return musa_sim::DeviceMemory::get().allocated((c10::DeviceIndex)d, peak); }
MUSA_SIM_API int64_t musa_sim_operations() { return musa_sim::g_operations; }
MUSA_SIM_API int64_t musa_sim_host_syncs() { return musa_sim::g_host_syncs; }
MUSA_SIM_API void musa_sim_strict(int streams, int syncs, int operators, musa_sim::SiteFn site) {
  using namespace musa_sim;
  g_checks.site = site;
  g_checks.syncs = syncs;
  g_checks.operators = operators;
  forget_lacks();
  if (streams && !g_track_streams) ++g_checks.epoch;
  g_track_streams = streams;
  g_strict = streams || syncs || operators;
  if (streams) watch_this_thread();
}

TORCH_LIBRARY(musa_sim, m) {
  using namespace musa_sim;
  auto any = [](auto f) { return torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, std::move(f)); };
  m.def("as_cpu(Tensor x) -> Tensor", any(TORCH_FN(as_cpu)));
  m.def("from_cpu(Tensor x, int device) -> Tensor", any(TORCH_FN(from_cpu)));
  m.def("wrap_collective(str name) -> ()", any(TORCH_FN(wrap_collective)));
  m.def("host_reads(Tensor x, str op) -> ()", any(TORCH_FN(host_reads)));
  m.def("strict_lacks(str name, bool in_place, str[] dtypes) -> str");
  m.def("strict_uses(str name, Tensor x) -> ()", any(TORCH_FN(strict_uses)));
  m.def("strict_report(str check, str[] facts, int site, int earlier) -> ()");
  m.def("default_generator(int device) -> Generator", any(torch::CppFunction::makeFromBoxedFunction<&get_default_generator>()));
  m.def("graph_new() -> int", any(TORCH_FN(graph_new)));
  m.def("graph_begin(int g) -> ()", any(TORCH_FN(graph_begin)));
  m.def("graph_end(int g) -> ()", any(TORCH_FN(graph_end)));
  m.def("graph_replay(int g) -> ()", any(TORCH_FN(graph_replay)));
  m.def("graph_free(int g) -> ()", any(TORCH_FN(graph_free)));
  m.def("graph_nodes(int g) -> int", any(TORCH_FN(graph_nodes)));
  m.def("graph_text(int g) -> str", any(TORCH_FN(graph_text)));
}

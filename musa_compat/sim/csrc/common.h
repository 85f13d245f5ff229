// What every other header uses: the device type, the current device, counters.
#pragma once
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace musa_sim {
using namespace c10;
using torch::jit::Stack;

constexpr DeviceType kMusa = DeviceType::PrivateUse1;
constexpr int kMaxDevices = 16;  // torch_musa's own limit

inline std::atomic<int> g_device_count{1};
inline thread_local DeviceIndex t_device = 0;
inline std::atomic<int64_t> g_operations{0}, g_host_syncs{0};

inline DeviceIndex check_index(DeviceIndex i) {
  if (i < 0) return t_device;
  TORCH_CHECK(i < g_device_count, "MUSA error: invalid device ordinal (musa:", (int)i, " was asked for, but ",
              g_device_count.load(), " simulated; enable the simulation with more devices)");
  return i;
}

inline Device musa(DeviceIndex i) { return Device(kMusa, i); }

struct DeviceScope {
  DeviceIndex old;
  explicit DeviceScope(DeviceIndex d) : old(t_device) { t_device = check_index(d); }
  ~DeviceScope() { t_device = old; }
};
}  // namespace musa_sim

// What PyTorch asks of a device: current device and stream, events, hooks.
#pragma once
#include "graph.h"
#include "memory.h"
#include "random.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace musa_sim {
struct Guard final : impl::DeviceGuardImplInterface {
  DeviceType type() const override { return kMusa; }
  Device exchangeDevice(Device d) const override {
    auto old = t_device;
    setDevice(d);
    return musa(old);
  }
  Device getDevice() const override { return musa(t_device); }
  void setDevice(Device d) const override {
    if (d.index() >= 0) t_device = check_index(d.index());
  }
  void uncheckedSetDevice(Device d) const noexcept override {
    if (d.index() >= 0 && d.index() < kMaxDevices) t_device = d.index();
  }
  DeviceIndex deviceCount() const noexcept override { return (DeviceIndex)g_device_count.load(); }

  Stream getStream(Device d) const override { return current_stream(check_index(d.index())); }
  Stream getDefaultStream(Device d) const override { return Stream(Stream::DEFAULT, musa(check_index(d.index()))); }
  Stream getStreamFromGlobalPool(Device d, bool high = false) const override { return getNewStream(d, high ? -1 : 0); }
  // A stream's id is a counter times 4; the lowest bit says high priority.
  Stream getNewStream(Device d, int priority = 0) const override {
    return Stream(Stream::UNSAFE, musa(check_index(d.index())), g_next_stream++ * 4 + (priority < 0 ? 1 : 0));
  }
  Stream exchangeStream(Stream s) const override {
    auto old = current_stream(s.device_index());
    t_stream[s.device_index()] = s.id();
    return old;
  }
  void* getStreamNativeHandle(const Stream s) const /* override since 2.11 */ { return reinterpret_cast<void*>(s.id()); }
  bool isStreamCapturing(const Stream&) const /* override since 2.12 */ { return t_graph != nullptr; }
  bool queryStream(const Stream& s) const override { return Timelines::get().query(s); }
  void synchronizeStream(const Stream& s) const override {
    not_in_capture("stream synchronize");
    ++g_host_syncs;
    Timelines::get().synchronize(s);
  }
  void synchronizeDevice(const DeviceIndex d) const override {
    not_in_capture("device synchronize");
    ++g_host_syncs;
    Timelines::get().synchronize(check_index(d));
  }

  void destroyEvent(void* e, const DeviceIndex) const noexcept override { delete static_cast<EventState*>(e); }
  void record(void** e, const Stream& s, const DeviceIndex, const EventFlag) const override {
    if (!*e) *e = new EventState;
    Timelines::get().record(*static_cast<EventState*>(*e), s);
  }
  void block(void* e, const Stream& s) const override {
    if (e) Timelines::get().wait(*static_cast<EventState*>(e), s);
  }
  bool queryEvent(void* e) const override { return !e || Timelines::get().query(*static_cast<EventState*>(e)); }
  void synchronizeEvent(void* e) const override {
    not_in_capture("event synchronize");
    ++g_host_syncs;
    if (e) Timelines::get().synchronize(*static_cast<EventState*>(e));
  }
  double elapsedTime(void* a, void* b, const DeviceIndex) const override {
    TORCH_CHECK(a && b, "Both events must be recorded before calculating elapsed time.");
    auto *first = static_cast<EventState*>(a), *second = static_cast<EventState*>(b);
    TORCH_CHECK(queryEvent(a) && queryEvent(b),
                "Both events must be completed before calculating elapsed time: synchronize the second event or the device first.");
    return (double)(second->when - first->when) / 1e6;
  }
  void recordDataPtrOnStream(const DataPtr& p, const Stream& s) const override { DeviceMemory::get().recordStream(p, s); }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

inline void resize_storage(StorageImpl* s, size_t n) {
  DeviceScope on(s->device().index());
  DataPtr p = DeviceMemory::get().allocate(n);
  if (auto kept = std::min(n, s->nbytes())) std::memcpy(p.get(), s->data(), kept);
  s->set_data_ptr_noswap(std::move(p));
  s->set_nbytes(n);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return g_device_count > 0; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return (DeviceIndex)g_device_count.load(); }
  void setCurrentDevice(DeviceIndex d) const override { t_device = check_index(d); }
  DeviceIndex getCurrentDevice() const override { return t_device; }
  DeviceIndex exchangeDevice(DeviceIndex d) const override {
    auto old = t_device;
    t_device = check_index(d);
    return old;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex d) const override { return exchangeDevice(d); }
  const at::Generator& getDefaultGenerator(DeviceIndex d) const override { return default_generator(d); }
  at::Generator getNewGenerator(DeviceIndex d = -1) const override { return new_generator(d); }
  bool isPinnedPtr(const void* p) const override { return PinnedMemory::get().has(p); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &PinnedMemory::get(); }
  at::Device getDeviceFromPtr(void*) const override { return musa(t_device); }
  void resizePrivateUse1Bytes(const Storage& s, size_t n) const override { resize_storage(s.unsafeGetStorageImpl(), n); }
};
}  // namespace musa_sim

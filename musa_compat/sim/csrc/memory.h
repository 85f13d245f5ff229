// Device memory (host memory with an account and a limit for each device) and pinned memory.
#pragma once
#include "strict.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace musa_sim {
struct Block {
  void* pointer;
  size_t size;
  DeviceIndex device;
  StreamId stream;
  intrusive_ptr<StorageImpl> host;  // the CPU storage that owns the bytes, if one does
  HistoryPtr history;
};

class DeviceMemory final : public DeviceAllocator {
  template <class S> static auto bytes(S& s) { return std::array{&s.allocated_bytes, &s.reserved_bytes, &s.active_bytes, &s.requested_bytes}; }
  template <class S> static auto counted(S& s) {
    return std::array{&s.allocation, &s.active, &s.allocated_bytes, &s.reserved_bytes, &s.active_bytes, &s.requested_bytes};
  }
 public:
  static DeviceMemory& get() {
    static auto* m = new DeviceMemory;
    return *m;
  }
  std::array<size_t, kMaxDevices> limit;
  DeviceMemory() { limit.fill(size_t(80) << 30); }

  DataPtr allocate(size_t n) override {
    auto d = t_device;
    if (!n) return {nullptr, nullptr, &nothing, musa(d)};
    take(d, n);
    void* p = nullptr;
    if (posix_memalign(&p, 256, n) != 0) {
      give(d, n);
      TORCH_CHECK_WITH(OutOfMemoryError, false, "MUSA out of memory (simulated): the host has no ", n, " bytes left");
    }
    return {p, new Block{p, n, d, t_stream[d], {}, earlier(p, n, d)}, &release, musa(d)};
  }
  // Label memory that a CPU storage owns as device memory; the storage is kept alive.
  DataPtr adopt(const intrusive_ptr<StorageImpl>& host, DeviceIndex d) {
    void* p = host->mutable_data();
    if (!p) return {nullptr, nullptr, &nothing, musa(d)};
    take(d, host->nbytes());
    return {p, new Block{p, host->nbytes(), d, t_stream[d], host, earlier(p, host->nbytes(), d)}, &release, musa(d)};
  }
  static Block* block_of(const DataPtr& p) { return p.get_deleter() == &release ? static_cast<Block*>(p.get_context()) : nullptr; }

  DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t n) const override { std::memcpy(to, from, n); }
  bool initialized() override { return true; }
  void emptyCache(MempoolId_t = {0, 0}) override {}
  void recordStream(const DataPtr& p, Stream s) override {
    if (auto* b = block_of(p); b && g_track_streams) {
      std::lock_guard<std::recursive_mutex> lock(Timelines::get().mutex);
      refreshed(b->history).recorded.push_back(Timelines::get().of(s).index);
    }
  }
  CachingDeviceAllocator::DeviceStats getDeviceStats(DeviceIndex d) override {
    std::lock_guard<std::mutex> lock(mutex_);
    return stats_[check_index(d)];
  }
  void resetAccumulatedStats(DeviceIndex d) override {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& s = stats_[check_index(d)];
    s.num_ooms = 0;
    for (auto* a : counted(s)) (*a)[0].reset_accumulated();
  }
  void resetPeakStats(DeviceIndex d) override {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto* a : counted(stats_[check_index(d)])) (*a)[0].reset_peak();
  }
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex d) /* override since 2.10 */ {
    d = check_index(d);
    std::lock_guard<std::mutex> lock(mutex_);
    return {limit[d] - stats_[d].allocated_bytes[0].current, limit[d]};
  }
  int64_t allocated(DeviceIndex d, bool peak) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& s = stats_[d].allocated_bytes[0];
    return peak ? s.peak : s.current;
  }

 private:
  std::mutex mutex_;
  std::array<CachingDeviceAllocator::DeviceStats, kMaxDevices> stats_;

  void take(DeviceIndex d, size_t n) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& s = stats_[d];
    size_t used = s.allocated_bytes[0].current;
    if (used + n > limit[d]) {
      ++s.num_ooms;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "MUSA out of memory (simulated). Tried to allocate ", n, " bytes on musa:", (int)d,
                       "; ", used, " of ", limit[d], " bytes are in use. The limit is the argument `memory` of musa_compat.sim.enable.");
    }
    s.allocation[0].increase(1);
    s.active[0].increase(1);
    for (auto* a : bytes(s)) (*a)[0].increase(n);
  }
  void give(DeviceIndex d, size_t n) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& s = stats_[d];
    s.allocation[0].decrease(1);
    s.active[0].decrease(1);
    for (auto* a : bytes(s)) (*a)[0].decrease(n);
  }
  static void release(void* context) {
    auto* b = static_cast<Block*>(context);
    if (b->history && g_track_streams) Graves::get().bury(*b->history, b->size, b->device, b->stream);
    get().give(b->device, b->size);
    if (!b->host) std::free(b->pointer);
    delete b;
  }
  static HistoryPtr earlier(const void* p, size_t n, DeviceIndex d) {
    return g_track_streams ? Graves::get().inherit(p, n, d, t_stream[d]) : HistoryPtr();
  }
  static void nothing(void*) {}
};

class PinnedMemory final : public Allocator {
 public:
  static PinnedMemory& get() {
    static auto* p = new PinnedMemory;
    return *p;
  }
  DataPtr allocate(size_t n) override {
    void* p = nullptr;
    n = n ? n : 1;
    TORCH_CHECK(posix_memalign(&p, 4096, n) == 0, "the host has no ", n, " bytes left to pin");
    std::lock_guard<std::mutex> lock(mutex_);
    live_[(const char*)p] = {n, {}};
    ++count_;
    return {p, p, &release, Device(DeviceType::CPU)};
  }
  bool any() const { return count_ > 0; }
  bool has(const void* q) {
    std::lock_guard<std::mutex> lock(mutex_);
    return holder(q);
  }
  // The history of the pinned allocation that holds `q`; null where memory is not pinned.
  HistoryPtr history(const void* q) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto* pinned = holder(q);
    if (pinned && !pinned->history) pinned->history = std::make_shared<History>();
    return pinned ? pinned->history : HistoryPtr();
  }
  DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t n) const override { std::memcpy(to, from, n); }

 private:
  struct Pinned {
    size_t size;
    HistoryPtr history;
  };
  std::mutex mutex_;
  std::map<const char*, Pinned> live_;
  std::atomic<int64_t> count_{0};
  Pinned* holder(const void* q) {
    auto it = live_.upper_bound((const char*)q);
    if (it == live_.begin()) return nullptr;
    --it;
    return (const char*)q < it->first + it->second.size ? &it->second : nullptr;
  }
  static void release(void* p) {
    auto& self = get();
    {
      std::lock_guard<std::mutex> lock(self.mutex_);
      self.live_.erase((const char*)p);
      --self.count_;
    }
    std::free(p);
  }
};
}  // namespace musa_sim

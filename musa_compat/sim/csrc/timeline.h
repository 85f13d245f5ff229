// Streams and events on a virtual time line.
//
// Kernels run on the host at once, so values are always current. What a program can see of
// asynchrony is simulated beside that: a stream is busy until a moment (`_sleep` moves it), and
// events, queries and waits go by that moment. In strict mode each stream also has a vector clock,
// by which strict.h tells whether one access is ordered before another.
#pragma once
#include "common.h"

#include <chrono>
#include <memory>
#include <thread>
#include <unordered_map>

namespace musa_sim {
using Nanos = int64_t;
inline Nanos now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// clock[i] = how much of time line i is known to have happened.
using VectorClock = std::vector<uint64_t>;
inline void merge(VectorClock& into, const VectorClock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}
inline bool knows(const VectorClock& clock, size_t line, uint64_t stamp) { return line < clock.size() && clock[line] >= stamp; }

struct Timeline {
  size_t index;
  DeviceIndex device;
  StreamId id;
  Nanos busy_until = 0;
  VectorClock clock;
};

struct EventState {
  Nanos when = 0;
  VectorClock clock;
};

// Strict mode compares accesses of streams: a host that waits must then be known to have waited.
inline std::atomic<bool> g_track_streams{false};

// One lock for all of it: it is taken by streams, events and strict mode, never by an ordinary operation. All host
// threads share one clock: what one has waited for is taken as known to the others, since how they talk is not seen.
class Timelines {
 public:
  static Timelines& get() {
    static auto* t = new Timelines;
    return *t;
  }
  std::recursive_mutex mutex;
  VectorClock host;
  std::atomic<Nanos> latest{0};  // no stream is busy after this

  Timeline& of(DeviceIndex device, StreamId id) {
    auto& slot = lines_[(int64_t)device << 48 ^ id];
    if (!slot) slot.reset(new Timeline{lines_.size() - 1, device, id, 0, {}});
    return *slot;
  }
  Timeline& of(const Stream& s) { return of(s.device_index(), s.id()); }

  void sleep(const Stream& s, Nanos length) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    auto& line = of(s);
    line.busy_until = std::max(line.busy_until, now()) + length;
    if (line.busy_until > latest) latest = line.busy_until;
  }
  void record(EventState& e, const Stream& s) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    auto& line = of(s);
    e.when = std::max(line.busy_until, now());
    merge(line.clock, host);
    e.clock = line.clock;
  }
  void wait(const EventState& e, const Stream& s) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    auto& line = of(s);
    line.busy_until = std::max(line.busy_until, e.when);
    merge(line.clock, e.clock);
  }
  bool query(const EventState& e) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (e.when > now()) return false;
    merge(host, e.clock);
    return true;
  }
  void synchronize(const EventState& event) {
    EventState e;
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      e = event;  // another thread may record it anew meanwhile
    }
    sleep_until(e.when);
    std::lock_guard<std::recursive_mutex> lock(mutex);
    merge(host, e.clock);
  }
  bool query(const Stream& s) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    auto& line = of(s);
    if (line.busy_until > now()) return false;
    merge(host, line.clock);
    return true;
  }
  void synchronize(const Stream& s) {
    Nanos until;
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      auto& line = of(s);
      until = line.busy_until;
      merge(host, line.clock);
    }
    sleep_until(until);
  }
  void synchronize(DeviceIndex device) {
    Nanos until = 0;
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      for (auto& [key, line] : lines_)
        if (line->device == device) {
          until = std::max(until, line->busy_until);
          merge(host, line->clock);
        }
    }
    sleep_until(until);
  }
  // What comes after on each of the two streams waits for what the other was given so far.
  void meet(const Stream& a, const Stream& b) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    auto &x = of(a), &y = of(b);
    x.busy_until = y.busy_until = std::max(x.busy_until, y.busy_until);
    merge(x.clock, y.clock);
    merge(y.clock, x.clock);
  }
  // The host sleeps until the stream is idle, and learns nothing by it.
  void sleep_through(const Stream& s) {
    Nanos until;
    {
      std::lock_guard<std::recursive_mutex> lock(mutex);
      until = of(s).busy_until;
    }
    sleep_until(until);
  }
  std::string name(size_t index) {
    for (auto& [key, line] : lines_)
      if (line->index == index)
        return (line->id ? "stream " + std::to_string(line->id) : std::string("the default stream")) + " of musa:" + std::to_string(line->device);
    return "a stream";
  }

 private:
  std::unordered_map<int64_t, std::unique_ptr<Timeline>> lines_;
  static void sleep_until(Nanos when) {
    auto left = when - now();
    if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
  }
};

inline std::atomic<int64_t> g_next_stream{1};
inline thread_local std::array<StreamId, kMaxDevices> t_stream{};
inline Stream current_stream(DeviceIndex d) { return Stream(Stream::UNSAFE, musa(d), t_stream[d]); }

// The host waits for what the current stream was given: a scalar read, a blocking copy.
inline void host_waits(DeviceIndex d) {
  ++g_host_syncs;
  auto& t = Timelines::get();
  if (g_track_streams || t.latest > now()) t.synchronize(current_stream(d));
}
}  // namespace musa_sim

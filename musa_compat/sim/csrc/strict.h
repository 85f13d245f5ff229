// Strict mode: races between streams, and host synchronisation that a reader of the program does not see.
//
// Python gives two callbacks: `site` names the user's source line (an integer that Python can look up),
// `report` says a finding and answers whether it is an error. Both are called with no lock held.
#pragma once
#include "timeline.h"

namespace musa_sim {
using SiteFn = int (*)();
using ReportFn = int (*)(const char* kind, const char* message, int site, int earlier);

struct Strict {
  std::atomic<bool> on{false};
  std::atomic<bool> streams{false}, syncs{false};
  SiteFn site = nullptr;
  ReportFn report = nullptr;
  std::mutex mutex;
  std::vector<std::pair<std::string, int>> pending;  // found where nothing can be raised: in a destructor
  static Strict& get() {
    static auto* s = new Strict;
    return *s;
  }
};

inline void finding(const char* kind, const std::string& message, int site, int earlier) {
  auto& s = Strict::get();
  if (s.report && s.report(kind, message.c_str(), site, earlier)) TORCH_CHECK(false, "musa_compat strict mode: ", message);
}

inline void hidden_sync(const char* what) {
  auto& s = Strict::get();
  if (s.syncs && s.site) finding("sync", std::string(what) + " makes the host wait for the device", s.site(), -1);
}

struct Access {
  uintptr_t begin, end;
  size_t line;
  uint64_t stamp;
  int site;
  bool write;
};

// What was done to one allocation and may still be unordered to what comes.
struct History {
  std::vector<Access> accesses;
  std::vector<size_t> recorded;  // streams named to record_stream
};

inline const char* verb(bool write) { return write ? "written" : "read"; }

inline const Access* unordered(const History& h, const VectorClock& clock, uintptr_t begin, uintptr_t end, bool write) {
  for (auto& a : h.accesses)
    if ((write || a.write) && a.begin < end && begin < a.end && !knows(clock, a.line, a.stamp)) return &a;
  return nullptr;
}

inline std::string race_text(bool write, const std::string& by, const Access& earlier, const char* what) {
  return std::string(what) + " is " + verb(write) + " by " + by + " and was " + verb(earlier.write) + " on " +
         Timelines::get().name(earlier.line) + " with no event, wait or synchronisation between";
}

// An operation on `stream` reads or writes [begin, end).
inline void stream_access(History& h, const Stream& stream, uintptr_t begin, uintptr_t end, bool write, const char* op) {
  auto& t = Timelines::get();
  auto& s = Strict::get();
  int site = s.site ? s.site() : -1;
  std::string text;
  int earlier = -1;
  {
    std::lock_guard<std::recursive_mutex> lock(t.mutex);
    auto& line = t.of(stream);
    merge(line.clock, t.host);
    if (auto* a = unordered(h, line.clock, begin, end, write)) {
      text = race_text(write, std::string(op) + " on " + t.name(line.index), *a, "a tensor");
      earlier = a->site;
    }
    if (line.clock.size() <= line.index) line.clock.resize(line.index + 1);
    Access now{begin, end, line.index, ++line.clock[line.index], site, write};
    // A later access of the same stream to all of the bytes stands for the earlier ones it is ordered after.
    auto covered = [&](const Access& a) {
      return a.begin >= begin && a.end <= end && (write || !a.write) && knows(line.clock, a.line, a.stamp);
    };
    h.accesses.erase(std::remove_if(h.accesses.begin(), h.accesses.end(), covered), h.accesses.end());
    h.accesses.push_back(now);
  }
  if (!text.empty()) finding("stream", text, site, earlier);
}

// The host reads or writes [begin, end) of pinned memory.
inline void host_access(History& h, uintptr_t begin, uintptr_t end, bool write, const char* op) {
  auto& t = Timelines::get();
  std::string text;
  int earlier = -1;
  {
    std::lock_guard<std::recursive_mutex> lock(t.mutex);
    if (auto* a = unordered(h, t.host, begin, end, write)) {
      text = race_text(write, std::string("the host (") + op + ")", *a, "a pinned tensor");
      earlier = a->site;
    }
  }
  if (!text.empty()) finding("stream", text, Strict::get().site(), earlier);
}

// The allocator gives memory back to the stream that it was allocated on.
inline void freed(const History& h, DeviceIndex device, StreamId owner) {
  auto& t = Timelines::get();
  auto& s = Strict::get();
  std::lock_guard<std::recursive_mutex> lock(t.mutex);
  auto& line = t.of(device, owner);
  VectorClock clock = line.clock;
  merge(clock, t.host);
  for (auto& a : h.accesses) {
    bool recorded = std::find(h.recorded.begin(), h.recorded.end(), a.line) != h.recorded.end();
    if (a.line == line.index || recorded || knows(clock, a.line, a.stamp)) continue;
    std::lock_guard<std::mutex> guard(s.mutex);
    s.pending.emplace_back("the memory of a tensor of " + t.name(line.index) + " was freed while " + t.name(a.line) +
                               " may still use it; call record_stream or wait for that stream first",
                           a.site);
    return;
  }
}

inline void report_pending() {
  auto& s = Strict::get();
  std::vector<std::pair<std::string, int>> found;
  {
    std::lock_guard<std::mutex> guard(s.mutex);
    found.swap(s.pending);
  }
  for (auto& [text, site] : found) finding("stream", text, s.site ? s.site() : -1, site);
}
}  // namespace musa_sim

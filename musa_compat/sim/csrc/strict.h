// Strict mode: accesses that nothing orders, hidden synchronisation, operators that a card lacks.
//
// Off, an operation pays one atomic load (`g_strict`). On, each operation says which bytes it reads and writes on
// which stream; vector clocks say what is ordered before it. A finding goes to Python, which may raise: with no lock
// held, and before the operation has done anything, except for memory that the operation itself got.
#pragma once
#include "region.h"
#include "timeline.h"

#include <map>
#include <set>
#include <tuple>

namespace musa_sim {
// Python's: the number of the user's source line. Cheaper than an operator, and it never raises.
using SiteFn = int (*)();

inline std::atomic<bool> g_strict{false};
struct Strict {
  std::atomic<bool> syncs{false}, operators{false};
  std::atomic<SiteFn> site{nullptr};
  std::atomic<uint64_t> epoch{0};  // what was seen before streams were last switched on is forgotten
};
inline Strict g_checks;

constexpr auto kHostWatch = DispatchKey::TESTING_ONLY_GenericMode;

inline int user_site() {
  auto f = g_checks.site.load();
  return f ? f() : -1;
}

// Calls Python; what Python raises passes through.
inline void finding(const char* check, std::vector<std::string> facts, int site, int earlier) {
  static auto op = Dispatcher::singleton().findSchemaOrThrow("musa_sim::strict_report", "");
  Stack stack{check, c10::List<std::string>(std::move(facts)), (int64_t)site, (int64_t)earlier};
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), &stack);
}

inline void hidden_sync(const std::string& what) {
  if (g_checks.syncs) finding("syncs", {what}, user_site(), -1);
}

// Python's answers to "does a card lack this?", by name and dtypes.
class Lacks {
 public:
  static Lacks& get() {
    static auto* l = new Lacks;
    return *l;
  }
  std::string why(const std::string& name, bool in_place, uint64_t dtypes) {
    auto key = std::make_tuple(name, in_place, dtypes);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = known_.find(key);
      if (it != known_.end()) return it->second;
    }
    static auto op = Dispatcher::singleton().findSchemaOrThrow("musa_sim::strict_lacks", "");
    Stack stack{name, in_place, names(dtypes)};
    op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), &stack);
    auto answer = torch::jit::pop(stack).toStringRef();
    std::lock_guard<std::mutex> lock(mutex_);
    known_[key] = answer;
    return answer;
  }
  static c10::List<std::string> names(uint64_t dtypes) {
    c10::List<std::string> out;
    for (int i = 0; i < (int)ScalarType::NumOptions; ++i)
      if (dtypes >> i & 1) out.push_back(std::string(c10::getDtypeNames((ScalarType)i).first));
    return out;
  }
  void forget() {
    std::lock_guard<std::mutex> lock(mutex_);
    known_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, bool, uint64_t>, std::string> known_;
};
inline void forget_lacks() { Lacks::get().forget(); }
inline void lacking(const std::string& name, bool in_place, uint64_t dtypes) {
  auto why = Lacks::get().why(name, in_place, dtypes);
  if (why.empty()) return;
  std::string all;
  for (std::string one : Lacks::names(dtypes)) all += (all.empty() ? "" : ", ") + one;
  finding("operators", {name, all, why}, user_site(), -1);
}

struct Access {
  Region region;
  size_t line;
  uint64_t stamp;
  int site;
  const char* op;
  bool write;
  bool before_free = false;  // of a tensor that had this memory earlier
};

// What was done to one allocation and may be unordered to what comes. Guarded by the lock of the time lines.
struct History {
  uint64_t epoch = 0;
  std::vector<Access> accesses;
  std::vector<size_t> recorded;  // time lines named to record_stream

  void refresh() {
    if (epoch == g_checks.epoch) return;
    accesses.clear();
    recorded.clear();
    epoch = g_checks.epoch;
  }
  const Access* unordered(const VectorClock& clock, const Region& region, bool write) const {
    for (auto& a : accesses)
      if ((write || a.write) && !knows(clock, a.line, a.stamp) && overlap(a.region, region)) return &a;
    return nullptr;
  }
  void add(Access now, const VectorClock& clock, const VectorClock& host) {
    // An access of all the bytes stands for the earlier ones that it comes after.
    drop([&](const Access& a) { return now.region.contains(a.region) && (now.write || !a.write) && knows(clock, a.line, a.stamp); });
    // What the host knows of is before everything that the host starts from now on.
    if (accesses.size() >= 64) drop([&](const Access& a) { return knows(host, a.line, a.stamp); });
    if (accesses.size() >= 4096) accesses.erase(accesses.begin(), accesses.begin() + 1024);
    accesses.push_back(std::move(now));
  }
  template <class F> void drop(F f) { accesses.erase(std::remove_if(accesses.begin(), accesses.end(), f), accesses.end()); }
};
using HistoryPtr = std::shared_ptr<History>;

inline History& refreshed(HistoryPtr& h) {
  if (!h) h = std::make_shared<History>();
  h->refresh();
  return *h;
}

inline const char* verb(bool write) { return write ? "written" : "read"; }

// Facts of a race, in the order in which Python takes them.
inline std::vector<std::string> race(const char* op, bool write, const std::string& by, const Access& a) {
  return {op, verb(write), by, a.op, verb(a.write), Timelines::get().name(a.line), a.before_free ? "freed" : ""};
}

// What one operation does to memory, on one stream.
struct Touch {
  HistoryPtr history;
  Region region;
  bool write;
};
class Touches {
 public:
  SmallVector<Touch, 8> all;

  // Reports what is unordered, then notes the accesses.
  void on(const Stream& stream, const char* op) {
    if (all.empty()) return;
    int site = user_site();
    for (auto& t : all) check(t, stream, op, site);
    std::lock_guard<std::recursive_mutex> lock(Timelines::get().mutex);
    auto& line = present(stream);
    if (line.clock.size() <= line.index) line.clock.resize(line.index + 1);
    auto stamp = ++line.clock[line.index];
    for (auto& t : all) {
      t.history->refresh();
      t.history->add({t.region, line.index, stamp, site, op, t.write}, line.clock, Timelines::get().host);
    }
  }

 private:
  static Timeline& present(const Stream& stream) {
    auto& line = Timelines::get().of(stream);
    merge(line.clock, Timelines::get().host);
    return line;
  }
  static void check(const Touch& t, const Stream& stream, const char* op, int site) {
    std::vector<std::string> facts;
    int earlier = -1;
    {
      std::lock_guard<std::recursive_mutex> lock(Timelines::get().mutex);
      t.history->refresh();
      auto& line = present(stream);
      if (auto* a = t.history->unordered(line.clock, t.region, t.write)) {
        facts = race(op, t.write, Timelines::get().name(line.index), *a);
        earlier = a->site;
      }
    }
    if (!facts.empty()) finding("streams", std::move(facts), site, earlier);
  }
};

// What a captured graph touches. Within the capture its streams are compared with one another; to the program all of
// it happens when the graph is replayed, on the stream of the replay.
class Recording {
 public:
  void add(Touches& touches, const Stream& stream, const char* op) {
    Touches inside;
    for (auto& t : touches.all) {
      auto& own = own_[t.history.get()];
      if (!own) own = std::make_shared<History>();
      inside.all.push_back({own, t.region, t.write});
      auto key = std::make_tuple(t.history.get(), t.region.begin, t.region.end, t.region.run, t.write);
      if (seen_.insert(key).second) all_.all.push_back(t);
    }
    inside.on(stream, op);
  }
  void captured() {
    own_.clear();
    seen_.clear();
  }
  void replay(const Stream& stream) { all_.on(stream, "a graph's replay"); }

 private:
  Touches all_;
  std::map<History*, HistoryPtr> own_;
  std::set<std::tuple<History*, uintptr_t, uintptr_t, size_t, bool>> seen_;
};

// The host reads or writes pinned memory.
inline void host_access(History& h, const Region& region, bool write, const char* op) {
  std::vector<std::string> facts;
  int earlier = -1;
  {
    auto& t = Timelines::get();
    std::lock_guard<std::recursive_mutex> lock(t.mutex);
    h.refresh();
    if (auto* a = h.unordered(t.host, region, write)) {
      facts = race(op, write, "the host", *a);
      earlier = a->site;
    }
  }
  if (!facts.empty()) finding("streams", std::move(facts), user_site(), earlier);
}

// Memory that went back to its stream while others may still use it. The caching allocator of a card may give it out
// again at once to a tensor of that stream: such a tensor then begins with those accesses.
class Graves {
 public:
  static Graves& get() {
    static auto* g = new Graves;
    return *g;
  }
  void bury(History& h, size_t size, DeviceIndex device, StreamId owner) {
    auto& t = Timelines::get();
    std::lock_guard<std::recursive_mutex> lock(t.mutex);
    h.refresh();
    auto& line = t.of(device, owner);
    h.drop([&](const Access& a) {
      bool recorded = std::find(h.recorded.begin(), h.recorded.end(), a.line) != h.recorded.end();
      return recorded || known(a, line);
    });
    if (h.accesses.empty()) return;
    all_.push_back({line.index, rounded(size), g_checks.epoch, std::move(h.accesses)});
    count_ = all_.size();
  }
  HistoryPtr inherit(const void* p, size_t size, DeviceIndex device, StreamId owner) {
    if (!count_) return {};
    auto& t = Timelines::get();
    std::lock_guard<std::recursive_mutex> lock(t.mutex);
    auto& line = t.of(device, owner);
    auto over = [&](Grave& g) {
      auto still = std::remove_if(g.accesses.begin(), g.accesses.end(), [&](const Access& a) { return g.line == line.index && known(a, line); });
      g.accesses.erase(still, g.accesses.end());
      return g.epoch != g_checks.epoch || g.accesses.empty();
    };
    all_.erase(std::remove_if(all_.begin(), all_.end(), over), all_.end());
    auto best = all_.end();
    for (auto g = all_.begin(); g != all_.end(); ++g)
      if (g->line == line.index && fits(g->size, rounded(size)) && (best == all_.end() || g->size < best->size)) best = g;
    HistoryPtr h;
    if (best != all_.end()) {
      h = std::make_shared<History>();
      h->epoch = best->epoch;
      for (auto& a : best->accesses) h->accesses.push_back({whole(p, size), a.line, a.stamp, a.site, a.op, true, true});
      all_.erase(best);
    }
    count_ = all_.size();
    return h;
  }

 private:
  struct Grave {
    size_t line, size;
    uint64_t epoch;
    std::vector<Access> accesses;
  };
  std::vector<Grave> all_;
  std::atomic<size_t> count_{0};
  static bool known(const Access& a, const Timeline& line) {
    return a.line == line.index || knows(line.clock, a.line, a.stamp) || knows(Timelines::get().host, a.line, a.stamp);
  }
  // torch's caching allocators round to 512 bytes and keep memory above and below 1 MiB apart.
  static size_t rounded(size_t n) { return (n + 511) / 512 * 512; }
  static bool fits(size_t has, size_t wants) { return wants <= has && (has <= 1 << 20) == (wants <= 1 << 20); }
};

// CPU operations of this thread show themselves (host.h).
inline void watch_this_thread() { c10::impl::tls_set_dispatch_key_included(kHostWatch, true); }
// Not those inside of an operation of the device.
struct Unwatched {
  std::optional<c10::impl::ExcludeDispatchKeyGuard> guard;
  Unwatched() {
    if (g_track_streams) guard.emplace(kHostWatch);
  }
};
}  // namespace musa_sim

// The bytes that a tensor covers: runs of equal length at regular steps, so that two halves of a row do not meet.
#pragma once
#include "common.h"

#include <algorithm>

namespace musa_sim {
struct Region {
  uintptr_t begin = 0, end = 0;
  size_t run = 0;                                        // bytes of one unbroken run
  SmallVector<std::pair<int64_t, int64_t>, 4> steps;     // (size, stride in bytes) over the runs; none: one run
  bool dense() const { return steps.empty(); }
  bool contains(const Region& o) const { return dense() && begin <= o.begin && o.end <= end; }
};

inline Region whole(const void* p, size_t n) { return {(uintptr_t)p, (uintptr_t)p + n, n, {}}; }

inline Region region_of(const at::Tensor& t) {
  auto item = (int64_t)t.itemsize();
  SmallVector<std::pair<int64_t, int64_t>, 8> dims;  // (stride, size)
  for (int64_t i = 0; i < t.dim(); ++i)
    if (t.size(i) > 1 && t.stride(i) != 0) dims.emplace_back(t.stride(i) * item, t.size(i));
  std::sort(dims.begin(), dims.end());
  Region r;
  r.begin = r.end = (uintptr_t)t.const_data_ptr();
  r.run = item;
  size_t inner = 0;
  for (; inner < dims.size() && dims[inner].first <= (int64_t)r.run; ++inner)
    r.run += (size_t)(dims[inner].first * (dims[inner].second - 1));
  r.end += r.run;
  for (; inner < dims.size(); ++inner) {
    r.steps.emplace_back(dims[inner].second, dims[inner].first);
    r.end += (uintptr_t)(dims[inner].first * (dims[inner].second - 1));
  }
  return r;
}

// The start of each run, sorted. Empty if there are too many to look at.
inline std::vector<uintptr_t> runs(const Region& r) {
  constexpr size_t most = size_t(1) << 22;
  std::vector<uintptr_t> out{r.begin};
  for (auto& [size, stride] : r.steps) {
    size_t n = out.size();
    if (n * size > most) return {};
    for (int64_t k = 1; k < size; ++k)
      for (size_t i = 0; i < n; ++i) out.push_back(out[i] + k * stride);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Whether two regions share a byte. Called seldom: only for accesses that nothing orders.
inline bool overlap(const Region& a, const Region& b) {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (a.dense() && b.dense()) return true;
  auto x = runs(a), y = runs(b);
  for (size_t i = 0, k = 0; i < x.size() && k < y.size();) {
    if (x[i] < y[k] + b.run && y[k] < x[i] + a.run) return true;
    if (x[i] < y[k]) ++i;
    else ++k;
  }
  return false;
}
}  // namespace musa_sim

// A generator for each device, made of a CPU generator of its own.
#pragma once
#include "common.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>

namespace musa_sim {
// Like the Philox generator of a card its state is a seed and an offset (16 bytes, which DTensor reads and writes), and
// each operation that draws moves the offset. The numbers come from a CPU generator seeded by both.
struct MusaGenerator final : GeneratorImpl {
  at::Generator cpu;
  uint64_t seed_ = default_rng_seed_val, offset_ = 0;
  MusaGenerator(DeviceIndex d, at::Generator g) : GeneratorImpl(musa(d), DispatchKeySet(DispatchKey::PrivateUse1)), cpu(std::move(g)) {}
  at::Generator draw() {
    uint64_t x = seed_ + 0x9e3779b97f4a7c15ull * (offset_ + 1);  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    cpu.set_current_seed((x ^ (x >> 31)) & 0xffffffff);
    offset_ += 4;
    return cpu;
  }
  void set_current_seed(uint64_t s) override {
    seed_ = s;
    offset_ = 0;
  }
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return seed_;
  }
  void set_offset(uint64_t o) override { offset_ = o; }
  uint64_t get_offset() const override { return offset_; }
  void set_state(const TensorImpl& s) override {
    TORCH_CHECK(s.device().is_cpu() && s.dtype() == caffe2::TypeMeta::Make<uint8_t>() && s.is_contiguous(),
                "RNG state must be a torch.ByteTensor on the CPU");
    TORCH_CHECK(s.numel() == 16, "RNG state is wrong size: expected 16 bytes (seed and offset), got ", s.numel());
    auto* words = static_cast<const uint64_t*>(s.data());
    seed_ = words[0];
    offset_ = words[1];
  }
  intrusive_ptr<TensorImpl> get_state() const override {
    auto t = at::detail::empty_cpu({16}, at::kByte);
    auto* words = static_cast<uint64_t*>(t.mutable_data_ptr());
    words[0] = seed_;
    words[1] = offset_;
    return t.getIntrusivePtr();
  }
  MusaGenerator* clone_impl() const override {
    auto* g = new MusaGenerator(device_.index(), cpu.clone());
    g->seed_ = seed_;
    g->offset_ = offset_;
    return g;
  }
};

inline at::Generator new_generator(DeviceIndex d) {
  return at::make_generator<MusaGenerator>(check_index(d), at::detail::createCPUGenerator());
}
inline const at::Generator& default_generator(DeviceIndex d) {
  static auto* all = [] {
    auto* a = new std::array<at::Generator, kMaxDevices>;
    for (int i = 0; i < kMaxDevices; ++i) (*a)[i] = at::make_generator<MusaGenerator>((DeviceIndex)i, at::detail::createCPUGenerator());
    return a;
  }();
  return (*all)[check_index(d)];
}
// A CPU generator for one operation.
inline at::Generator cpu_generator(const at::Generator& g) { return static_cast<MusaGenerator*>(g.unsafeGetGeneratorImpl())->draw(); }

// An operation without a generator argument draws from the CPU's default: lend it the device's state.
class LendState {
 public:
  explicit LendState(DeviceIndex d)
      : cpu_(at::check_generator<at::CPUGeneratorImpl>(at::detail::getDefaultCPUGenerator())),
        saved_(cpu_->clone()) {
    auto drawn = cpu_generator(default_generator(d));
    copy(*cpu_, *at::check_generator<at::CPUGeneratorImpl>(drawn));
  }
  ~LendState() { copy(*cpu_, *saved_); }

 private:
  at::CPUGeneratorImpl* cpu_;
  std::shared_ptr<at::CPUGeneratorImpl> saved_;
  static void copy(at::CPUGeneratorImpl& to, at::CPUGeneratorImpl& from) {
    to.set_engine(from.engine());
    to.set_next_float_normal_sample(from.next_float_normal_sample());
    to.set_next_double_normal_sample(from.next_double_normal_sample());
  }
};
}  // namespace musa_sim

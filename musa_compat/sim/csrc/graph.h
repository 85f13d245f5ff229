// Graph capture. Operations run while they are captured (a card only records them); replay runs the
// recorded CPU kernels again on the same memory.
#pragma once
#include "strict.h"

#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#define MUSA_SIM_GRAPH_IMPL 1  // torch.accelerator.Graph
#endif

#include <fstream>
#include <map>
#include <memory>

namespace musa_sim {
struct Node {
  OperatorHandle op;
  std::vector<IValue> inputs, outputs;
};
struct Graph {
  std::vector<Node> nodes;
  Recording recording;
};
inline thread_local Graph* t_graph = nullptr;

// What is captured touches memory when it is replayed.
inline void touch_all(Touches& touches, const Stream& stream, const char* op) {
  if (t_graph) t_graph->recording.add(touches, stream, op);
  else touches.on(stream, op);
}

inline void not_in_capture(const char* what) {
  TORCH_CHECK(!t_graph, "MUSA error: operation not permitted when stream is capturing (", what, ")");
}

inline void put_back(const at::Tensor& to, const at::Tensor& from) {
  if (!to.defined() || to.is_same(from) || to.storage().unsafeGetStorageImpl() == from.storage().unsafeGetStorageImpl()) return;
  TORCH_CHECK(to.sizes() == from.sizes(), "a replayed operation gave shape ", from.sizes(), ", but ", to.sizes(), " when it was captured");
  const_cast<at::Tensor&>(to).copy_(from);
}

inline void replay(const Graph& graph) {
  for (auto& node : graph.nodes) {
    Stack stack(node.inputs.begin(), node.inputs.end());
    node.op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), &stack);
    auto first = stack.size() - node.outputs.size();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const IValue &a = node.outputs[i], &b = stack[first + i];
      if (a.isTensor()) put_back(a.toTensor(), b.toTensor());
      else if (a.isTensorList())
        for (size_t k = 0; k < a.toTensorList().size(); ++k) put_back(a.toTensorList().get(k), b.toTensorList().get(k));
    }
  }
}

class Graphs {
 public:
  static Graphs& get() {
    static auto* g = new Graphs;
    return *g;
  }
  int64_t add() {
    std::lock_guard<std::mutex> lock(mutex_);
    all_[++last_] = std::make_unique<Graph>();
    return last_;
  }
  void remove(int64_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    all_.erase(id);
  }
  Graph& at(int64_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = all_.find(id);
    TORCH_CHECK(it != all_.end(), "no graph ", id);
    return *it->second;
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, std::unique_ptr<Graph>> all_;
  int64_t last_ = 0;
};

inline int64_t graph_new() { return Graphs::get().add(); }
inline void graph_free(int64_t id) { Graphs::get().remove(id); }
inline void graph_begin(int64_t id) {
  not_in_capture("a second capture");
  auto& g = Graphs::get().at(id);
  g.nodes.clear();
  g.recording = {};
  t_graph = &g;
}
inline void graph_end(int64_t id) {
  TORCH_CHECK(t_graph == &Graphs::get().at(id), "this graph is not being captured in this thread");
  t_graph->recording.captured();
  t_graph = nullptr;
}
inline void graph_replay(int64_t id) {
  not_in_capture("replay");
  c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  auto& graph = Graphs::get().at(id);
  if (g_track_streams) graph.recording.replay(current_stream(t_device));
  Unwatched inside;
  replay(graph);
}
inline int64_t graph_nodes(int64_t id) { return (int64_t)Graphs::get().at(id).nodes.size(); }
inline std::string graph_text(int64_t id) {
  std::string text;
  int k = 0;
  for (auto& n : Graphs::get().at(id).nodes) text += std::to_string(k++) + ": " + toString(n.op.operator_name()) + "\n";
  return text;
}

#ifdef MUSA_SIM_GRAPH_IMPL
struct AcceleratorGraph final : at::GraphImplInterface {
  int64_t id = graph_new();
  explicit AcceleratorGraph(const at::GraphImplArgs&) {}
  ~AcceleratorGraph() override { graph_free(id); }
  void capture_begin(MempoolId_t, at::GraphCaptureMode) override { graph_begin(id); }
  void capture_end() override { graph_end(id); }
  void instantiate() override {}
  void replay() override { graph_replay(id); }
  void reset() override { Graphs::get().at(id).nodes.clear(); }
  MempoolId_t pool() const override { return {(CaptureId_t)id, 0}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string& path) override { std::ofstream(path) << graph_text(id); }
};
inline void register_graph() {
  auto key = c10::DeviceTypeName(kMusa, false);
  if (at::GraphImplRegistry()->Has(key)) return;
  at::GraphImplRegistry()->Register(
      key, [](const at::GraphImplArgs& a) -> std::unique_ptr<at::GraphImplInterface> { return std::make_unique<AcceleratorGraph>(a); });
}
#else
inline void register_graph() {}
#endif
}  // namespace musa_sim

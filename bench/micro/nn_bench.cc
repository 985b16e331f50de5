// SPDX-License-Identifier: Apache-2.0
// Links: hg_nn
// Training steps of whole models and of single layers, one thread. Counter "samples": per second.
#include <benchmark/benchmark.h>

#include "learning/nn/loss.h"
#include "learning/nn/model.h"

namespace {

using namespace hourglass;
using namespace hourglass::nn;

/// One batch through `network`, with buffers that live as long as it.
class Pass {
 public:
  Pass(std::unique_ptr<Network> network, std::size_t batch) : network_(std::move(network)), batch_(batch) {
    Random random(1);
    parameters_.resize(network_->parameter_count());
    network_->initialise(parameters_, random);
    gradient_.resize(parameters_.size());
    input_.resize(batch * network_->input().size());
    for (float& each : input_) each = random.uniform_float();
    output_.resize(batch * network_->output().size());
    slope_.assign(output_.size(), 0.01F);
  }
  void forward() { tape_ = network_->forward(parameters_, input_, batch_, output_, true); }
  void backward() { network_->backward(parameters_, *tape_, slope_, gradient_, {}); }

 private:
  std::unique_ptr<Network> network_;
  std::size_t batch_;
  std::vector<float> parameters_, gradient_, input_, output_, slope_;
  std::unique_ptr<Tape> tape_;
};

void forward_and_backward(benchmark::State& state, Pass& pass, std::size_t batch) {
  pass.forward();
  pass.backward();  // creates the primitives
  for (auto _ : state) {
    pass.forward();
    pass.backward();
  }
  state.counters["samples"] =
      benchmark::Counter(static_cast<double>(batch) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bm_model(benchmark::State& state, const std::string& name) {
  const auto batch = static_cast<std::size_t>(state.range(0));
  const Shape shape = name == "cifar_cnn" ? Shape{3, 32, 32} : Shape{1, 28, 28};
  auto model = build_model(name, shape, 10, false);
  Pass pass(std::move(std::move(model).value().conv), batch);
  forward_and_backward(state, pass, batch);
}

struct LayerRow {
  const char* name;
  const char* spec;
  Shape input;
};
constexpr LayerRow kLayers[] = {
    {"conv1_of_lenet5", "conv 6 kernel=5 pad=2 | relu | pool 2", {1, 28, 28}},
    {"conv2_of_lenet5", "conv 16 kernel=5 | relu | pool 2", {6, 14, 14}},
    {"conv2_of_cnn", "conv 64 kernel=5 pad=2 | relu | pool 2", {32, 14, 14}},
    {"pool_plain", "pool 2", {32, 28, 28}},
    {"fc1_of_cnn", "fc 1024 | relu", {3136, 1, 1}},
};

void bm_layer(benchmark::State& state, const LayerRow& row) {
  const auto batch = static_cast<std::size_t>(state.range(0));
  auto network = build_network(*parse_spec(row.spec), row.input);
  Pass pass(std::move(network).value(), batch);
  forward_and_backward(state, pass, batch);
}

void bm_loss(benchmark::State& state) {
  const std::size_t rows = 64, classes = 10;
  std::vector<float> logits(rows * classes, 0.5F), gradient(logits.size());
  const std::vector<std::uint16_t> labels(rows, 3);
  for (auto _ : state) benchmark::DoNotOptimize(softmax_cross_entropy(logits, labels, classes, gradient));
}
BENCHMARK(bm_loss);

const bool kRegistered = [] {
  for (const ModelRow& row : models()) {
    const std::string name(row.name);
    benchmark::RegisterBenchmark(("step/" + name).c_str(), [name](benchmark::State& state) { bm_model(state, name); })
        ->Arg(1)
        ->Arg(32)
        ->Arg(64)
        ->Unit(benchmark::kMicrosecond);
  }
  for (const LayerRow& row : kLayers) {
    benchmark::RegisterBenchmark((std::string("layer/") + row.name).c_str(), [&row](benchmark::State& state) { bm_layer(state, row); })
        ->Arg(32)
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace

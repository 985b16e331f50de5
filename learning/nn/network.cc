// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/network.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "learning/nn/gemm.h"
#include "learning/nn/plan.h"

namespace hourglass::nn {
namespace {

class ChainTape final : public Tape {
 public:
  ChainTape(std::shared_ptr<Plan> made_by, std::unique_ptr<Frame> values) : plan(std::move(made_by)), frame(std::move(values)) {}
  ~ChainTape() override { plan->give_back(std::move(frame)); }
  ChainTape(const ChainTape&) = delete;
  ChainTape& operator=(const ChainTape&) = delete;
  std::shared_ptr<Plan> plan;
  std::unique_ptr<Frame> frame;
};

/// oneDNN's C++ interface throws; across ours nothing is thrown. The layers were checked when they were parsed, so this is our mistake.
template <class Work>
auto no_throw(Work&& work) {
  try {
    return work();
  } catch (const std::exception& failure) {
    check_failed(__FILE__, __LINE__, "oneDNN", failure.what());
  }
}

using Counts = std::map<std::string, std::uint32_t, std::less<>>;

class Chain final : public Network {
 public:
  Chain(std::vector<std::unique_ptr<Layer>> layers, std::vector<std::string> names, Counts counts, Shape input, std::uint32_t threads)
      : layers_(std::move(layers)),
        names_(std::move(names)),
        counts_(std::move(counts)),
        input_(input),
        threads_(static_cast<int>(threads)) {
    place_parameters();
  }

  [[nodiscard]] Shape input() const override { return input_; }
  [[nodiscard]] Shape output() const override { return layers_.empty() ? input_ : layers_.back()->output(); }
  [[nodiscard]] const std::vector<Parameter>& parameters() const override { return parameters_; }
  [[nodiscard]] std::size_t parameter_count() const override { return count_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

  void initialise(std::span<float> parameters, Random& random) const override {
    HG_CHECK(parameters.size() == count_, "initialise: the vector has another size than the network");
    const std::size_t layers = parameters_.size() / 2;  // all weights, then all biases, in the order of the layers
    for (std::size_t i = 0; i < layers; ++i) {
      const Parameter& weight = parameters_[i];
      const std::size_t fan_in = weight.size / weight.shape[0];
      const float bound = 1.0F / std::sqrt(static_cast<float>(fan_in));
      Random own = random.fork(names_[i]);
      for (const Parameter* each : {&weight, &parameters_[layers + i]}) {
        for (float& value : parameters.subspan(each->offset, each->size)) value = (2 * own.uniform_float() - 1) * bound;
      }
    }
  }

  std::unique_ptr<Tape> forward(std::span<const float> parameters, std::span<const float> input, std::size_t batch, std::span<float> output,
                                bool keep) override {
    HG_CHECK(batch > 0 && batch <= kBatchMax, "forward: batch size out of range");
    HG_CHECK(parameters.size() == count_, "forward: wrong number of parameters");
    HG_CHECK(input.size() == batch * input_.size(), "forward: the input has another size than batch x shape");
    HG_CHECK(output.size() == batch * this->output().size(), "forward: the output has another size than batch x shape");
    return no_throw([&]() -> std::unique_ptr<Tape> {
      const ThreadScope scope(threads_);
      std::shared_ptr<Plan> plan = plan_for(batch);
      auto tape = std::make_unique<ChainTape>(plan, plan->take_frame());
      plan->forward(*tape->frame, parameters.data(), input.data(), output.data());
      if (!keep) tape.reset();
      return tape;
    });
  }

  void backward(std::span<const float> parameters, Tape& tape, std::span<const float> output_gradient, std::span<float> parameter_gradient,
                std::span<float> input_gradient) override {
    auto& own = dynamic_cast<ChainTape&>(tape);
    const std::size_t batch = own.plan->batch();
    HG_CHECK(parameters.size() == count_ && parameter_gradient.size() == count_, "backward: wrong number of parameters");
    HG_CHECK(output_gradient.size() == batch * output().size(), "backward: the output gradient has another size than the output");
    HG_CHECK(input_gradient.empty() || input_gradient.size() == batch * input_.size(),
             "backward: the input gradient has another size than the input");
    no_throw([&] {
      const ThreadScope scope(threads_);
      own.plan->backward(*own.frame, parameters.data(), output_gradient.data(), parameter_gradient.data(),
                         input_gradient.empty() ? nullptr : input_gradient.data());
      return 0;
    });
  }

 private:
  void place_parameters() {
    std::vector<Layer*> owners;
    for (const auto& layer : layers_) {
      if (!layer->weight_shape().empty()) owners.push_back(layer.get());
    }
    std::vector<Parameter> biases;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      Parameter weight{names_[i] + ".weight", owners[i]->weight_shape(), count_, 1};
      for (const std::uint32_t extent : weight.shape) weight.size *= extent;
      count_ += weight.size;
      biases.push_back({names_[i] + ".bias", {weight.shape[0]}, 0, weight.shape[0]});
      parameters_.push_back(std::move(weight));
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      biases[i].offset = count_;
      count_ += biases[i].size;
      owners[i]->place(parameters_[i].offset, biases[i].offset);
      parameters_.push_back(std::move(biases[i]));
    }
  }

  std::shared_ptr<Plan> plan_for(std::size_t batch) {
    const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return plan->batch() == batch; });
    if (found != plans_.end()) {
      std::rotate(plans_.begin(), found, found + 1);
    } else {
      if (plans_.size() == kPlansMax) plans_.pop_back();
      plans_.insert(plans_.begin(), std::make_shared<Plan>(layers_, input_, batch));
    }
    return plans_.front();
  }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::string> names_;  ///< of the layers with parameters
  Counts counts_;                   ///< layers of each kind, with those of the network that this one continues
  Shape input_;
  int threads_;
  std::vector<Parameter> parameters_;
  std::size_t count_ = 0;
  std::vector<std::shared_ptr<Plan>> plans_;  ///< most recently used first
};

Error at_stage(std::size_t number, const std::vector<SpecStage>& stages, const Error& cause) {
  return {cause.code, "stage " + std::to_string(number + 1) + " of '" + to_string(stages) + "': " + cause.text};
}

}  // namespace

Result<std::unique_ptr<Network>> build_network(const std::vector<SpecStage>& stages, Shape input, std::uint32_t threads,
                                               const Network* continued) {
  const bool narrow = std::max({input.channels, input.height, input.width}) <= kActivationsMax;  // so that size() cannot wrap around
  if (!narrow || input.size() == 0 || input.size() > kActivationsMax)
    return {Errc::bad_config, "an input of " + to_string(input) + " is out of range"};
  if (threads == 0 || threads > kThreadsMax) return {Errc::bad_config, "threads must be from 1 to " + std::to_string(kThreadsMax)};
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<std::string> names;
  Counts counts;
  if (continued != nullptr) counts = dynamic_cast<const Chain&>(*continued).counts();
  Shape shape = input;
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    MadeLayer made = make_layer(stages[i], shape);
    if (!made) return at_stage(i, stages, made.error());
    const std::string name = stages[i].name + std::to_string(++counts[stages[i].name]);
    shape = (*made)->output();
    std::size_t weights = 1;
    const auto weight_shape = (*made)->weight_shape();
    for (const std::uint32_t extent : weight_shape) weights *= extent;
    if (!weight_shape.empty()) parameters += weights + weight_shape[0];
    if (shape.size() > kActivationsMax || parameters > kParametersMax) {
      return at_stage(
          i, stages,
          {Errc::bad_config, "the network is too large (" + to_string(shape) + ", " + std::to_string(parameters) + " parameters)"});
    }
    if (stages[i].name == "relu" && !layers.empty() && layers.back()->take_relu()) continue;
    if (!layers.empty()) (*made)->follow(*layers.back());
    if (!weight_shape.empty()) names.push_back(name);
    layers.push_back(std::move(*made));
  }
  return std::unique_ptr<Network>(std::make_unique<Chain>(std::move(layers), std::move(names), std::move(counts), input, threads));
}

}  // namespace hourglass::nn

// SPDX-License-Identifier: Apache-2.0
// A chain of layers over one flat parameter vector. The vector's layout is the contract between workers, aggregator and files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/spec.h"

namespace hourglass::nn {

struct Shape {  ///< of one sample
  std::uint32_t channels = 1, height = 1, width = 1;
  [[nodiscard]] std::size_t size() const { return std::size_t{channels} * height * width; }
  auto operator<=>(const Shape&) const = default;
};

/// One tensor of the flat vector. Large tensors (weights) come first, then all small ones (biases, norms), so that the small ones
/// are one contiguous range.
struct Parameter {
  std::string name;                  ///< "conv1.weight", "fc2.bias" as PyTorch users expect
  std::vector<std::uint32_t> shape;  ///< conv weight OIHW, fc weight out x in, both row-major
  std::size_t offset = 0;            ///< in floats
  std::size_t size = 0;
};

/// What one forward pass leaves for its backward pass. Valid until its Network is destroyed.
class Tape {
 public:
  virtual ~Tape() = default;
};

/// Not thread-safe; keeps scratch memory. Several tapes may be alive at once (outstanding batches).
class Network {
 public:
  virtual ~Network() = default;
  [[nodiscard]] virtual Shape input() const = 0;
  [[nodiscard]] virtual Shape output() const = 0;
  [[nodiscard]] virtual const std::vector<Parameter>& parameters() const = 0;
  [[nodiscard]] virtual std::size_t parameter_count() const = 0;
  /// PyTorch's default for Conv2d and Linear: uniform in +-1/sqrt(fan_in) for weights and biases.
  virtual void initialise(std::span<float> parameters, Random& random) const = 0;

  /// `input` is batch x channels x height x width, row-major f32; writes batch x output().size() to `output`. Returns the tape where
  /// `keep` is true, else null (evaluation). `parameters` must stay unchanged until the tape's backward pass is done.
  virtual std::unique_ptr<Tape> forward(std::span<const float> parameters, std::span<const float> input, std::size_t batch,
                                        std::span<float> output, bool keep) = 0;
  /// Writes (not adds) the gradient with respect to all parameters; with respect to the input only where `input_gradient` is not empty.
  virtual void backward(std::span<const float> parameters, Tape& tape, std::span<const float> output_gradient,
                        std::span<float> parameter_gradient, std::span<float> input_gradient) = 0;
};

/// Builds a network from layer stages: "conv 32 kernel=5 pad=2 stride=1", "relu", "pool 2" (max, stride = size), "flatten", "fc 1024".
/// Layers are numbered by kind from 1 (conv1, conv2, fc1, fc2), in each network by itself; the part of a model behind its cut goes on where
/// the part before it ended: `continued`. Errors: bad_config naming the stage.
Result<std::unique_ptr<Network>> build_network(const std::vector<SpecStage>& stages, Shape input, std::uint32_t threads = 1,
                                               const Network* continued = nullptr);

struct LayerKind {
  std::string_view name;
  std::string_view help;
};
const std::vector<LayerKind>& layer_kinds();

inline constexpr std::size_t kBatchMax = 65536;                       ///< samples in one forward pass
inline constexpr std::size_t kParametersMax = std::size_t{1} << 28;   ///< floats in one network
inline constexpr std::size_t kActivationsMax = std::size_t{1} << 24;  ///< floats of one sample between two layers
inline constexpr std::uint32_t kThreadsMax = 256;                     ///< of one network

}  // namespace hourglass::nn

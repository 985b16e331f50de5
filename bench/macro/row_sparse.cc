// SPDX-License-Identifier: Apache-2.0
// Bytes and held-out loss of ways to exchange naturally row-sparse gradients: those of the two embeddings of a word model (continuous bag
// of words, negative sampling) trained by P synchronous workers, one replica standing for all since all apply the same sum. One line a run.
//   row_sparse TRAIN_TOKENS VALID_TOKENS [steps] [workers ...]     default: 1200 steps, 4 8 workers; files of blank-separated words
// all-gather: every worker sends its tensor to every other; else to an aggregator, which sends one sum to each. Bytes are those through the
// workers' links, sent and received, a step and worker.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "learning/compress/compressor.h"
#include "learning/compress/count_sketch.h"

namespace {

using namespace hourglass;

constexpr std::size_t kWidth = 64;      ///< of an embedding
constexpr std::size_t kReach = 3;       ///< words of context on each side
constexpr std::size_t kBatch = 128;     ///< examples a worker and step
constexpr std::size_t kNegatives = 64;  ///< words that a worker's batch is contrasted with
constexpr std::size_t kBlockHeader = 32;
constexpr float kRate = 0.05F;

using Matrix = std::vector<float>;  ///< words x kWidth

struct Text {
  std::vector<std::uint32_t> words;
};

Text read_words(const char* path, std::unordered_map<std::string, std::uint32_t>& vocabulary) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "row_sparse: cannot read '%s': give a file of words\n", path);
    std::exit(66);
  }
  Text text;
  for (std::string word; file >> word;) {
    text.words.push_back(vocabulary.try_emplace(word, static_cast<std::uint32_t>(vocabulary.size())).first->second);
  }
  return text;
}

struct Model {
  Matrix in, out;
};
struct Gradients {
  Matrix in, out;
};

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

/// Adds the gradient of one example's loss, summed over its target and the negatives; returns the loss.
float learn(const Model& model, const std::uint32_t* center, const std::vector<std::uint32_t>& negatives, Gradients* gradients) {
  float context[kWidth] = {}, back[kWidth] = {};
  const auto neighbour = [&](std::size_t i) { return i < kReach ? *(center + i - kReach) : *(center + i - kReach + 1); };
  for (std::size_t i = 0; i < 2 * kReach; ++i) {
    const float* row = &model.in[neighbour(i) * kWidth];
    for (std::size_t d = 0; d < kWidth; ++d) context[d] += row[d] / (2 * kReach);
  }
  float loss = 0;
  const auto contrast = [&](std::uint32_t word, bool target, float weight) {
    const float* row = &model.out[word * kWidth];
    float dot = 0;
    for (std::size_t d = 0; d < kWidth; ++d) dot += context[d] * row[d];
    const float p = sigmoid(dot);
    loss -= weight * std::log(std::max(target ? p : 1 - p, 1e-7F));
    if (gradients == nullptr) return;
    const float slope = weight * (p - (target ? 1.0F : 0.0F));
    float* to = &gradients->out[word * kWidth];
    for (std::size_t d = 0; d < kWidth; ++d) {
      back[d] += slope * row[d];
      to[d] += slope * context[d];
    }
  };
  contrast(*center, true, 1);
  for (const std::uint32_t word : negatives) {
    if (word != *center) contrast(word, false, 5.0F / kNegatives);
  }
  if (gradients == nullptr) return loss;
  for (std::size_t i = 0; i < 2 * kReach; ++i) {
    float* to = &gradients->in[neighbour(i) * kWidth];
    for (std::size_t d = 0; d < kWidth; ++d) to[d] += back[d];  // word2vec's: not divided by the number of words
  }
  return loss;
}

std::vector<std::uint32_t> draw_negatives(const Text& text, Random& random) {
  std::vector<std::uint32_t> out(kNegatives);
  for (std::uint32_t& word : out) word = text.words[random.below(text.words.size())];
  return out;
}

double held_out_loss(const Model& model, const Text& train, const Text& valid) {
  Random random(99);
  double loss = 0;
  std::size_t examples = 0;
  for (std::size_t at = kReach; at + kReach < valid.words.size(); at += 11, ++examples) {
    if (examples % kBatch == 0) random = Random(99 + examples);
    static std::vector<std::uint32_t> negatives;
    if (examples % kBatch == 0) negatives = draw_negatives(train, random);
    loss += learn(model, &valid.words[at], negatives, nullptr);
  }
  return loss / static_cast<double>(examples);
}

std::size_t bytes_of(const GradientBlock& block) { return block.indices.size() + block.values.size() + kBlockHeader; }

/// How P gradients of one matrix become one step of it.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// `sum` becomes what every worker applies. Returns the bytes through all workers' links.
  virtual std::size_t run(std::vector<Matrix>& gradients, Matrix& sum, std::uint64_t step) = 0;
};

class AllGather final : public Exchange {
 public:
  explicit AllGather(const compress::Shape& shape) : compressor_(compress::make_compressor("row_sparse | f32 | rice", shape).value()) {}
  std::size_t run(std::vector<Matrix>& gradients, Matrix& sum, std::uint64_t step) override {
    std::size_t bytes = 0;
    for (const Matrix& gradient : gradients) {
      const GradientBlock block = compressor_->compress(gradient, step);
      HG_CHECK(compress::accumulate(block, sum).ok(), "our own block");
      bytes += 2 * (gradients.size() - 1) * bytes_of(block);
    }
    return bytes;
  }

 private:
  std::unique_ptr<compress::Compressor> compressor_;
};

/// Sketches of one key are added, and the sum's goes back to all.
class Sketch final : public Exchange {
 public:
  Sketch(std::string_view spec, const compress::Shape& shape) : compressor_(compress::make_compressor(spec, shape).value()) {}
  std::size_t run(std::vector<Matrix>& gradients, Matrix& sum, std::uint64_t step) override {
    std::size_t bytes = 0;
    GradientBlock merged;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      GradientBlock block = compressor_->compress(gradients[i], step);
      bytes += bytes_of(block);
      if (i == 0) {
        merged = std::move(block);
      } else {
        const Status status = compress::merge(merged, block);
        HG_CHECK(status.ok(), "sketches of one key and size");
      }
    }
    HG_CHECK(compress::accumulate(merged, sum).ok(), "our own block");
    return bytes + gradients.size() * bytes_of(merged);
  }

 private:
  std::unique_ptr<compress::Compressor> compressor_;
};

/// Ordinary pushes with error feedback at the workers, and where the downlink loses something, at the aggregator.
class Pushes final : public Exchange {
 public:
  Pushes(std::string_view up, std::string_view down, const compress::Shape& shape, std::size_t workers) {
    for (std::size_t i = 0; i < workers; ++i) up_.push_back(compress::make_compressor(up, shape).value());
    down_ = compress::make_compressor(down, shape).value();
    residuals_.assign(workers + 1, Matrix(shape.length));
  }
  std::size_t run(std::vector<Matrix>& gradients, Matrix& sum, std::uint64_t step) override {
    std::size_t bytes = 0;
    Matrix& total = residuals_.back();
    for (std::size_t i = 0; i < gradients.size(); ++i) bytes += send(*up_[i], gradients[i], residuals_[i], total, step);
    const Matrix nothing(total.size());
    return bytes + gradients.size() * send(*down_, nothing, total, sum, step);
  }

 private:
  static std::size_t send(compress::Compressor& compressor, const Matrix& fresh, Matrix& residual, Matrix& into, std::uint64_t step) {
    const auto block = compressor.compress_sum(fresh, residual, residual, step);
    HG_CHECK(block.ok(), "finite gradients");
    HG_CHECK(compress::accumulate(*block, into).ok() && compress::accumulate(*block, residual, -1.0F).ok(), "our own block");
    return bytes_of(*block);
  }
  std::vector<std::unique_ptr<compress::Compressor>> up_;
  std::unique_ptr<compress::Compressor> down_;
  std::vector<Matrix> residuals_;
};

struct Way {
  const char* name;
  std::string up, down;  ///< down: empty for all-gather and sketches
};

std::unique_ptr<Exchange> make_exchange(const Way& way, const compress::Shape& shape, std::size_t workers) {
  if (way.up.empty()) return std::make_unique<AllGather>(shape);
  if (way.down.empty()) return std::make_unique<Sketch>(way.up, shape);
  return std::make_unique<Pushes>(way.up, way.down, shape, workers);
}

void run(const Way& way, std::size_t workers, std::size_t steps, std::size_t vocabulary, const Text& train, const Text& valid, float rate) {
  Random random(1);
  Model model{Matrix(vocabulary * kWidth), Matrix(vocabulary * kWidth)};
  for (float& value : model.in) value = (random.uniform_float() - 0.5F) / kWidth;
  const compress::Shape shape{vocabulary * kWidth, kWidth};
  const auto in = make_exchange(way, shape, workers), out = make_exchange(way, shape, workers);
  std::size_t bytes = 0;
  std::vector<Matrix> of_in(workers), of_out(workers);
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
      Gradients gradients{Matrix(vocabulary * kWidth), Matrix(vocabulary * kWidth)};
      const std::vector<std::uint32_t> negatives = draw_negatives(train, random);
      const std::size_t begin = kReach + random.below(train.words.size() - kBatch - 2 * kReach);
      for (std::size_t i = 0; i < kBatch; ++i) (void)learn(model, &train.words[begin + i], negatives, &gradients);
      of_in[worker] = std::move(gradients.in);
      of_out[worker] = std::move(gradients.out);
    }
    const float now = rate * (1 - static_cast<float>(step) / static_cast<float>(steps));
    const auto apply = [&](Exchange& exchange, std::vector<Matrix>& gradients, Matrix& values) {
      // The rate is part of what is exchanged, so that residuals do not outlive a change of it.
      for (Matrix& gradient : gradients) {
        for (float& value : gradient) value *= -now;
      }
      Matrix sum(values.size());
      bytes += exchange.run(gradients, sum, step);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += sum[i];
    };
    apply(*in, of_in, model.in);
    apply(*out, of_out, model.out);
  }
  std::printf("P=%zu  %-44s rate %.4f  %9.0f bytes a step and worker  loss %.4f\n", workers, way.name, static_cast<double>(rate),
              static_cast<double>(bytes) / static_cast<double>(steps * workers), held_out_loss(model, train, valid));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: row_sparse TRAIN_TOKENS VALID_TOKENS [steps] [workers ...]\n");
    return 64;
  }
  std::unordered_map<std::string, std::uint32_t> vocabulary;
  const Text train = read_words(argv[1], vocabulary);
  const Text valid = read_words(argv[2], vocabulary);
  const std::size_t steps = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1200;
  std::vector<std::size_t> workers;
  for (int i = 4; i < argc; ++i) workers.push_back(std::strtoul(argv[i], nullptr, 10));
  if (workers.empty()) workers = {4, 8};
  const auto ways_of = [](std::size_t count) {
    // A worker's batch touches about 0.4 % of the rows of a matrix; an exact sketch needs 1.3 cells for each element that any worker
    // touches.
    const std::string exact = "count_sketch cells=" + std::to_string(0.005 * static_cast<double>(count));
    return std::vector<Way>{
        {"all-gather, f32", "", ""},
        {"S2 float, 1/4 cell a non-zero (the paper's)", "count_sketch form=float cells=0.001", ""},
        {"S2 float, 1 cell a non-zero", "count_sketch form=float cells=0.004", ""},
        {"S2 exact, 32-bit cells", exact + " exponent=-26", ""},
        {"S2 exact, 16-bit cells", exact + " exponent=-15 width=16", ""},
        {"row_sparse f32, union", "row_sparse | f32 | rice", "nonzero | f32 | rice"},
        {"row_sparse 0.5 % u8 both ways", "row_sparse ratio=0.005 | u8 | rice", "row_sparse ratio=0.01 | u8 | rice"},
        {"row_sparse 0.5 % two_level both ways", "row_sparse ratio=0.005 | two_level | rice", "row_sparse ratio=0.01 | two_level | rice"},
        {"topk 0.2 % two_level both ways", "topk ratio=0.002 | two_level | rice", "topk ratio=0.004 | two_level | rice"},
    };
  };
  for (const std::size_t count : workers) {
    for (const Way& way : ways_of(count)) run(way, count, steps, vocabulary.size(), train, valid, kRate);
  }
  return 0;
}

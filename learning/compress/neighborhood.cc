// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/neighborhood.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "learning/compress/ranking.h"

namespace hourglass::compress {
namespace {

constexpr double kRatioDefault = 0.01;
constexpr std::int64_t kSizeMost = 15;

class Neighborhood final : public Selector {
 public:
  Neighborhood(double ratio, std::size_t size, const Shape& shape) : ratio_(ratio), size_(size), shape_(shape) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    HG_CHECK(values.size() == shape_.length, "a range keeps its length");
    scores_.resize(values.size());
    score_neighborhoods(values, shape_, size_, scores_);
    ranking_.choose(scores_, budget_of(ratio_, values.size()), chosen);
    gather(values, chosen);
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  double ratio_;
  std::size_t size_;
  Shape shape_;
  Ranking ranking_;
  std::vector<float> scores_;
};

}  // namespace

void score_neighborhoods(std::span<const float> values, const Shape& shape, std::size_t size, std::span<float> scores) {
  const std::size_t columns = shape.columns;
  const std::size_t rows = shape.rows();
  const std::size_t reach = size / 2;
  // Of the rows around: sums by column, with `reach` zeros on either side, so that the sum along the row needs no edges.
  std::vector<double> sums(columns + 2 * reach, 0.0);
  std::vector<double> squares(columns + 2 * reach, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t top = row - std::min(row, reach);
    const std::size_t bottom = std::min(rows - 1, row + reach);
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
    for (std::size_t from = top; from <= bottom; ++from) {
      const float* line = values.data() + from * columns;
      for (std::size_t x = 0; x < columns; ++x) {
        const double value = line[x];
        sums[reach + x] += value;
        squares[reach + x] += value * value;
      }
    }
    const float* line = values.data() + row * columns;
    for (std::size_t x = 0; x < columns; ++x) {
      double sum = 0;
      double square = 0;
      for (std::size_t j = 0; j < size; ++j) {
        sum += sums[x + j];
        square += squares[x + j];
      }
      const std::size_t across = std::min(columns - 1, x + reach) - (x - std::min(x, reach)) + 1;
      const auto count = static_cast<double>((bottom - top + 1) * across);
      const double mean = sum / count;
      scores[row * columns + x] = score_for(line[x], std::abs(mean) + std::sqrt(std::max(0.0, square / count - mean * mean)));
    }
  }
}

Result<std::unique_ptr<Selector>> make_neighborhood(const SpecStage& stage, const Shape& shape) {
  if (Status known = stage.only({"ratio", "size"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage, kRatioDefault);
  if (!ratio.ok()) return ratio.error();
  const Result<std::int64_t> size = stage.whole("size", 3, 1, kSizeMost);
  if (!size.ok()) return size.error();
  if (*size % 2 == 0) return {Errc::bad_config, "neighborhood: size must be odd, not " + std::to_string(*size)};
  return std::unique_ptr<Selector>(std::make_unique<Neighborhood>(*ratio, static_cast<std::size_t>(*size), shape));
}

}  // namespace hourglass::compress

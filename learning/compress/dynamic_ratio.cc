// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/dynamic_ratio.h"

#include <algorithm>
#include <cmath>

namespace hourglass::compress {
namespace {

class DynamicRatio final : public RatioPolicy {
 public:
  DynamicRatio(std::size_t width, double ratio, std::span<const Shape> shapes, Scores scores)
      : width_(width), ratio_(ratio), shapes_(shapes.begin(), shapes.end()), scores_(std::move(scores)) {}

  [[nodiscard]] bool looks() const override { return scores_.due(); }

  void choose(std::span<const std::span<const float>> sums, std::uint64_t /*step*/, std::span<double> ratios) override {
    if (scores_.due()) {
      for (std::size_t i = 0; i < sums.size(); ++i) scores_.note(i, neighbourhood_importance(sums[i], shapes_[i], width_));
      share_out(ratio_, scores_.values(), shapes_, ratios);
    }
    scores_.pass();
  }

 private:
  std::size_t width_;
  double ratio_;
  std::vector<Shape> shapes_;
  Scores scores_;
};

/// Sums of the values and their squares in a window that stands around one row, by columns.
struct Columns {
  std::vector<double> sums, squares;

  void fill(std::span<const float> values, std::size_t columns, std::size_t first_row, std::size_t last_row) {
    sums.assign(columns, 0.0);
    squares.assign(columns, 0.0);
    for (std::size_t row = first_row; row <= last_row; ++row) {
      const float* at = values.data() + row * columns;
      for (std::size_t column = 0; column < columns; ++column) {
        const double value = at[column];
        sums[column] += value;
        squares[column] += value * value;
      }
    }
  }
};

}  // namespace

double neighbourhood_importance(std::span<const float> values, const Shape& shape, std::size_t width) {
  const std::size_t reach = width / 2;
  const std::size_t rows = shape.rows();
  Columns window;
  double importance = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first_row = row - std::min(row, reach);
    const std::size_t last_row = std::min(rows - 1, row + reach);
    window.fill(values, shape.columns, first_row, last_row);
    for (std::size_t column = 0; column < shape.columns; ++column) {
      const std::size_t first = column - std::min(column, reach);
      const std::size_t last = std::min(shape.columns - 1, column + reach);
      double sum = 0;
      double squares = 0;
      for (std::size_t at = first; at <= last; ++at) {
        sum += window.sums[at];
        squares += window.squares[at];
      }
      const auto count = static_cast<double>((last_row - first_row + 1) * (last - first + 1));
      const double mean = sum / count;
      importance += std::abs(mean) + std::sqrt(std::max(0.0, squares / count - mean * mean));
    }
  }
  return importance;
}

Result<std::unique_ptr<RatioPolicy>> make_dynamic_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes) {
  if (Status known = stage.only({"width", "every", "average"}); !known.ok()) return known.error();
  const Result<std::int64_t> width = stage.whole("width", 3, 1, 31);
  Result<Scores> scores = Scores::make(stage, shapes.size());
  if (!width.ok()) return width.error();
  if (*width % 2 == 0) return {Errc::bad_config, "'dynamic': width=" + std::to_string(*width) + " has to be odd"};
  if (!scores.ok()) return scores.error();
  return std::unique_ptr<RatioPolicy>(
      std::make_unique<DynamicRatio>(static_cast<std::size_t>(*width), ratio, shapes, std::move(scores).value()));
}

}  // namespace hourglass::compress

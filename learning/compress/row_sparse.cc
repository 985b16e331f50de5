// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/row_sparse.h"

#include <algorithm>

#include "learning/compress/kernels.h"
#include "learning/compress/ranking.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kVectorBlock = 256;
constexpr std::int64_t kBlockMost = 1 << 24;

class RowSparse final : public Selector {
 public:
  RowSparse(double ratio, std::size_t row) : ratio_(ratio), row_(row) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    chosen.indices.clear();
    chosen.values.clear();
    for (const std::size_t row : rows_to_send(values)) {
      const std::size_t end = std::min(values.size(), (row + 1) * row_);
      for (std::size_t i = row * row_; i < end; ++i) {
        if (values[i] == 0) continue;
        chosen.indices.push_back(static_cast<std::uint32_t>(i));
        chosen.values.push_back(values[i]);
      }
    }
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  std::span<const std::size_t> rows_to_send(std::span<const float> values) {
    const std::size_t rows = (values.size() + row_ - 1) / row_;
    squares_.resize(rows);
    order_.clear();
    for (std::size_t row = 0; row < rows; ++row) {
      const auto part = values.subspan(row * row_, std::min(row_, values.size() - row * row_));
      squares_[row] = kernels().sum_of_squares(part.data(), part.size());
      if (squares_[row] > 0) order_.push_back(row);
    }
    const std::size_t k = budget_of(ratio_, rows);
    if (k < order_.size()) {
      const auto larger = [&](std::size_t a, std::size_t b) { return squares_[a] > squares_[b] || (squares_[a] == squares_[b] && a < b); };
      std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k), order_.end(), larger);
      order_.resize(k);
      std::sort(order_.begin(), order_.end());
    }
    return order_;
  }

  double ratio_;
  std::size_t row_;  ///< entries of one
  std::vector<double> squares_;
  std::vector<std::size_t> order_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_row_sparse(const SpecStage& stage, const Shape& shape) {
  if (Status known = stage.only({"ratio", "block"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage, 1.0);
  if (!ratio.ok()) return ratio.error();
  const Result<std::int64_t> block = stage.whole("block", 0, 0, kBlockMost);
  if (!block.ok()) return block.error();
  const std::size_t row = shape.rows() > 1 ? shape.columns : kVectorBlock;
  return std::unique_ptr<Selector>(std::make_unique<RowSparse>(*ratio, *block == 0 ? row : static_cast<std::size_t>(*block)));
}

}  // namespace hourglass::compress

// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/outer_sum.h"

#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "learning/compress/kernels.h"
#include "learning/compress/whole.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kHeaderBytes = 8;

class OuterSum final : public WholeDecoder {
 public:
  OuterSum(ValueCodec wire, std::size_t rank_max) : wire_(wire), rank_max_(rank_max) {}
  [[nodiscard]] ValueCodec wire() const override { return wire_; }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status whole = check_whole(block); !whole.ok()) return whole;
    if (block.values.size() < kHeaderBytes) return {Errc::malformed, "factors without their header"};
    const std::size_t rank = get<std::uint32_t>(block.values, 0);
    const std::size_t columns = get<std::uint32_t>(block.values, 4);
    if (rank == 0 || rank > rank_max_) return {Errc::malformed, "factors of rank 0, or above the limit"};
    if (columns == 0 || block.length == 0 || block.length % columns != 0)
      return {Errc::malformed, "factors whose columns do not fit their range"};
    const std::size_t rows = block.length / columns;
    if (block.values.size() != kHeaderBytes + rank * (rows + columns) * sizeof(float)) {
      return {Errc::malformed, "factors whose values do not fit their range"};
    }
    const auto values = from_bytes<float>(std::span(block.values).subspan(kHeaderBytes));
    const auto all = std::span<const float>(values);
    const double bound = outer_bound(all.first(rank * rows), all.subspan(rank * rows), rank);
    if (!std::isfinite(bound)) return {Errc::bad_data, "factors with a non-finite value"};
    if (bound > FLT_MAX) return {Errc::malformed, "factors whose sum may not be finite"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    const std::size_t rank = get<std::uint32_t>(block.values, 0);
    const std::size_t columns = get<std::uint32_t>(block.values, 4);
    const std::size_t rows = target.size() / columns;
    const std::byte* left = block.values.data() + kHeaderBytes;
    kernels().add_outer(left, rows, left + rank * rows * sizeof(float), columns, rank, weight, target.data());
  }

 private:
  ValueCodec wire_;
  std::size_t rank_max_;
};

}  // namespace

double outer_bound(std::span<const float> left, std::span<const float> right, std::size_t rank) {
  double bound = 0;
  const std::size_t rows = left.size() / rank;
  const std::size_t columns = right.size() / rank;
  for (std::size_t k = 0; k < rank; ++k) {
    const float a = kernels().largest_magnitude(left.data() + k * rows, rows);
    const float b = kernels().largest_magnitude(right.data() + k * columns, columns);
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    bound += static_cast<double>(a) * b;
  }
  return bound;
}

void write_outer(ValueCodec wire, std::span<const float> left, std::span<const float> right, std::size_t rank, GradientBlock& block) {
  block.value_codec = wire;
  block.values.clear();
  block.values.reserve(kHeaderBytes + left.size_bytes() + right.size_bytes());
  put(block.values, static_cast<std::uint32_t>(rank));
  put(block.values, static_cast<std::uint32_t>(right.size() / rank));
  for (const auto part : {std::as_bytes(left), std::as_bytes(right)}) block.values.insert(block.values.end(), part.begin(), part.end());
}

const ValueDecoder& low_rank_decoder() {
  static const OuterSum decoder(ValueCodec::low_rank, kLowRankMax);
  return decoder;
}

const ValueDecoder& factors_decoder() {
  static const OuterSum decoder(ValueCodec::factors, kFactorsMax);
  return decoder;
}

}  // namespace hourglass::compress

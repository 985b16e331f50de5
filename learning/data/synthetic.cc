// SPDX-License-Identifier: Apache-2.0
#include "learning/data/synthetic.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"

namespace hourglass::data {
namespace {

constexpr std::uint32_t kCell = 4;        // pixels between two knots of a pattern
constexpr std::int32_t kDarkest = 28;     // knots take equally spaced levels from here ...
constexpr std::int32_t kBrightest = 228;  // ... to here
constexpr std::int32_t kNoiseTimes = 60;  // noise deviation in byte values: 209 * 60 / 256, about 49

/// A pattern that wraps around: knots with shuffled levels (so that all patterns have the same mean), bilinear in between.
std::vector<std::int32_t> pattern(std::uint32_t height, std::uint32_t width, Random& random) {
  const std::uint32_t rows = height / kCell;
  const std::uint32_t columns = width / kCell;
  const auto knots = static_cast<std::int32_t>(rows * columns);
  std::vector<std::int32_t> level(rows * columns);
  for (std::int32_t i = 0; i < knots; ++i) level[static_cast<std::size_t>(i)] = kDarkest + (kBrightest - kDarkest) * i / (knots - 1);
  random.shuffle(level);
  std::vector<std::int32_t> out;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      const auto knot = [&](std::uint32_t down, std::uint32_t right) {
        return level[(y / kCell + down) % rows * columns + (x / kCell + right) % columns];
      };
      const auto below = static_cast<std::int32_t>(y % kCell);
      const auto beside = static_cast<std::int32_t>(x % kCell);
      const auto cell = static_cast<std::int32_t>(kCell);
      const std::int32_t upper = knot(0, 0) * (cell - beside) + knot(0, 1) * beside;
      const std::int32_t lower = knot(1, 0) * (cell - beside) + knot(1, 1) * beside;
      out.push_back((upper * (cell - below) + lower * below) / (cell * cell));
    }
  }
  return out;
}

/// About normal with mean 0: the sum of eight uniform bytes, whose deviation is 209, scaled.
std::int32_t noise(Random& random) {
  std::int32_t sum = 0;
  for (std::uint64_t draw = random.next(); draw != 0; draw >>= 8) sum += static_cast<std::int32_t>(draw & 0xff);
  return (sum - 8 * 255 / 2) * kNoiseTimes / 256;
}

}  // namespace

Result<Dataset> make_synthetic(const DatasetRow& row, const std::string& /*dir*/, Split split, std::uint64_t seed) {
  HG_CHECK(row.channels == 1 && row.height % kCell == 0 && row.width % kCell == 0, "patterns are made of whole cells");
  const Random base(seed);
  Random shapes = base.fork("synthetic patterns");
  std::vector<std::vector<std::int32_t>> patterns;
  for (std::uint32_t i = 0; i < row.classes; ++i) patterns.push_back(pattern(row.height, row.width, shapes));

  Random random = base.fork(split == Split::train ? "synthetic train" : "synthetic test");
  const std::size_t count = split == Split::train ? kSyntheticTrain : kSyntheticTest;
  const std::size_t sample_bytes = std::size_t{row.height} * row.width;
  Bytes images;
  images.reserve(count * sample_bytes);
  std::vector<std::uint16_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::uint16_t>(i % row.classes));
    const std::vector<std::int32_t>& shape = patterns[labels.back()];
    const auto down = static_cast<std::uint32_t>(random.below(3));
    const auto right = static_cast<std::uint32_t>(random.below(3));
    for (std::uint32_t y = 0; y < row.height; ++y) {
      for (std::uint32_t x = 0; x < row.width; ++x) {
        const std::int32_t value = shape[(y + down) % row.height * row.width + (x + right) % row.width] + noise(random);
        images.push_back(static_cast<std::byte>(std::clamp(value, 0, 255)));
      }
    }
  }
  return Dataset(sample_bytes, std::move(images), std::move(labels));
}

}  // namespace hourglass::data

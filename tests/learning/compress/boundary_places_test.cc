// SPDX-License-Identifier: Apache-2.0
// Boundary specs that keep a part of the entries, and the codes of 8, 6 and 4 bits.
#include <gtest/gtest.h>

#include "learning/compress/boundary.h"
#include "learning/compress/row_codes.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

BoundarySpec spec_of(std::string_view text) { return boundary_spec(text).value(); }

BoundaryTensor encoded(std::span<const float> values, std::size_t rows, std::string_view spec, std::uint64_t seed = 1) {
  Random random(seed);
  return encode_boundary(values, rows, rows == 0 ? 0 : values.size() / rows, spec_of(spec), random);
}

std::vector<float> decoded(const BoundaryTensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.rows) * tensor.columns, -99.0F);
  const Status status = decode_boundary(tensor, out);
  HG_CHECK(status.ok(), status.ok() ? "" : status.error().text);
  return out;
}

/// What a ReLU leaves: `share` of the entries, positive.
std::vector<float> rectified(std::size_t length, double share, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(length, 0.0F);
  for (float& value : out) {
    const auto magnitude = static_cast<float>(std::abs(random.normal()));
    if (random.uniform() < share) value = magnitude;
  }
  return out;
}

std::size_t bytes_of(const BoundaryTensor& tensor) { return tensor.scales.size() + tensor.places.size() + tensor.values.size(); }

const std::vector<std::string> kSpecs = {"u8",           "u6",         "u4",         "zeros",      "zeros | f32",
                                         "zeros | bf16", "zeros | u8", "zeros | u6", "zeros | u4", "topk ratio=0.1 | f32",
                                         "topk k=7",     "topk | u8",  "topk | u6",  "topk | u4",  "sampled ratio=0.3 | f32",
                                         "sampled | u8", "sampled k=9"};

/// The mean over N keys lies within 5 sigma of the value, sigma as measured (and a float's own rounding).
TEST(BoundarySparse, WhatClaimsToIsUnbiased) {
  constexpr std::size_t kColumns = 96;
  constexpr int kRounds = 8000;
  std::vector<float> values = normal_vector(kColumns, 3);
  for (std::size_t i = 0; i < kColumns; i += 3) values[i] = 0;
  values[4] = 6;  // certain to be kept where others are not
  for (const std::string spec : {"u8", "u6", "u4", "zeros | u8", "zeros | u6", "zeros | u4", "sampled ratio=0.2 | f32", "sampled k=5 | f32",
                                 "sampled ratio=0.2 | u8", "sampled ratio=0.2 | u4", "sampled ratio=1 | u6"}) {
    std::vector<double> sum(kColumns, 0.0);
    std::vector<double> squares(kColumns, 0.0);
    for (int seed = 0; seed < kRounds; ++seed) {
      const auto out = decoded(encoded(values, 1, spec, static_cast<std::uint64_t>(seed)));
      for (std::size_t i = 0; i < kColumns; ++i) {
        sum[i] += out[i];
        squares[i] += static_cast<double>(out[i]) * out[i];
      }
    }
    for (std::size_t i = 0; i < kColumns; ++i) {
      const double mean = sum[i] / kRounds;
      const double sigma = std::sqrt(std::max(0.0, squares[i] / kRounds - mean * mean) / kRounds);
      EXPECT_NEAR(mean, values[i], 5 * sigma + 1e-6 * std::abs(values[i])) << spec << " at " << i;
    }
  }
}

TEST(BoundarySparse, ZerosAreExactAndTheRestIsWithinAStepOfItsRow) {
  constexpr std::size_t kRows = 7;
  constexpr std::size_t kColumns = 500;
  auto values = rectified(kRows * kColumns, 0.4, 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= std::pow(10.0F, static_cast<float>(i / kColumns) - 3);
  for (const auto& [spec, levels] : {std::pair{"zeros | u8", 255.0F}, {"zeros | u6", 63.0F}, {"zeros | u4", 15.0F}}) {
    const auto out = decoded(encoded(values, kRows, spec));
    for (std::size_t r = 0; r < kRows; ++r) {
      float low = FLT_MAX, high = 0;
      for (std::size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
        if (values[i] != 0) low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      for (std::size_t i = r * kColumns; i < (r + 1) * kColumns; ++i) {
        if (values[i] == 0) {
          ASSERT_EQ(out[i], 0.0F) << spec;
        } else {
          ASSERT_GE(out[i], low);
          ASSERT_LE(std::abs(out[i] - values[i]), (high - low) / levels * 1.0001F) << spec;
        }
      }
    }
  }
}

TEST(BoundarySparse, ZerosAloneIsLosslessAtAnyDensity) {
  for (const double share : {0.0, 0.001, 0.05, 0.2, 0.5, 1.0}) {
    const auto values = rectified(std::size_t{9} * 777, share, 4);
    EXPECT_EQ(decoded(encoded(values, 9, "zeros")), values) << share;
    const auto rounded = decoded(encoded(values, 9, "bf16"));
    EXPECT_EQ(decoded(encoded(values, 9, "zeros | bf16")), rounded) << share;
  }
}

TEST(BoundarySparse, TopKKeepsTheLargestOfEachRowAndTiesByPosition) {
  const std::vector<float> values = {1, -3, 2, 0, 0.5F, /**/ 0, 0, 0, 0, 0, /**/ 2, -2, 2, 2, 1, /**/ 0, 0, -7, 0, 0};
  const std::vector<float> two = {0, -3, 2, 0, 0, /**/ 0, 0, 0, 0, 0, /**/ 2, -2, 0, 0, 0, /**/ 0, 0, -7, 0, 0};
  EXPECT_EQ(decoded(encoded(values, 4, "topk k=2 | f32")), two);
  EXPECT_EQ(decoded(encoded(values, 4, "topk ratio=0.4 | f32")), two);
  const auto wide = normal_vector(20000, 6);
  const auto out = decoded(encoded(wide, 4, "topk ratio=0.1 | f32"));
  for (std::size_t r = 0; r < 4; ++r) {
    std::vector<float> magnitudes;
    float least_kept = FLT_MAX;
    std::size_t kept = 0;
    for (std::size_t i = r * 5000; i < (r + 1) * 5000; ++i) {
      if (out[i] != 0) {
        ASSERT_EQ(out[i], wide[i]);
        ++kept;
        least_kept = std::min(least_kept, std::abs(out[i]));
      } else {
        magnitudes.push_back(std::abs(wide[i]));
      }
    }
    EXPECT_EQ(kept, 500U);
    EXPECT_GE(least_kept, *std::max_element(magnitudes.begin(), magnitudes.end()));
  }
}

TEST(BoundarySparse, SampledKeepsKOfEachRowAndTheLargestForCertain) {
  constexpr std::size_t kColumns = 1000;
  auto values = normal_vector(4 * kColumns, 8);
  values[5] = 1000;
  values[1007] = -500;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto out = decoded(encoded(values, 4, "sampled k=100 | f32", seed));
    for (std::size_t r = 0; r < 4; ++r) {
      const auto kept =
          kColumns - static_cast<std::size_t>(std::count(out.begin() + static_cast<std::ptrdiff_t>(r * kColumns),
                                                         out.begin() + static_cast<std::ptrdiff_t>((r + 1) * kColumns), 0.0F));
      EXPECT_GE(kept, 99U);
      EXPECT_LE(kept, 101U);
    }
    EXPECT_EQ(out[5], 1000);
    EXPECT_EQ(out[1007], -500);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_TRUE(out[i] == 0 || std::signbit(out[i]) == std::signbit(values[i]));
  }
  const std::vector<float> few = {0, 3, 0, -1, 0, 0};
  EXPECT_EQ(decoded(encoded(few, 1, "sampled k=2 | f32")), few) << "nothing to leave out";
}

TEST(BoundarySparse, BytesAreWhatTheHeaderSays) {
  constexpr std::size_t kRows = 32;
  constexpr std::size_t kColumns = 3136;
  const auto values = rectified(kRows * kColumns, 0.4, 2);
  const std::size_t kept = values.size() - static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0F));
  const std::size_t bitmap = values.size() / 8;
  const auto of = [&](std::string_view spec) { return bytes_of(encoded(values, kRows, spec)); };
  EXPECT_EQ(of("u6"), values.size() * 6 / 8 + kRows * 8);
  EXPECT_EQ(of("zeros"), bitmap + kept * 4);
  EXPECT_EQ(of("zeros | bf16"), bitmap + kept * 2);
  EXPECT_EQ(of("zeros | u8"), bitmap + kept + kRows * 8);
  EXPECT_EQ(of("zeros | u6"), bitmap + packed_bytes(kept, 6) + kRows * 8);
  EXPECT_EQ(of("zeros | u4"), bitmap + packed_bytes(kept, 4) + kRows * 8);
  // At 10 % a place costs 0.469 bits a column by entropy; Rice codes come within 5 % of it.
  const BoundaryTensor tenth = encoded(values, kRows, "topk ratio=0.1 | u8");
  EXPECT_EQ(tenth.kept, BoundaryPlaces::rice);
  EXPECT_EQ(tenth.count, kRows * 314);
  EXPECT_LT(static_cast<double>(tenth.places.size()) * 8, 0.47 * 1.05 * static_cast<double>(values.size()));
  EXPECT_EQ(bytes_of(encoded(std::vector<float>(1000, 0.0F), 10, "zeros | bf16")), 1U) << "nothing but a Rice parameter";
}

TEST(C7_BoundarySparse, HardRowsStayFiniteAndKeepTheirZeros) {
  for (const std::string& spec : kSpecs) {
    for (const NamedVector& hard : hard_vectors()) {
      const auto out = decoded(encoded(hard.values, hard.values.empty() ? 0 : 1, spec));
      const bool keeps_zeros = spec[0] != 'u';
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_TRUE(std::isfinite(out[i])) << spec << hard.name;
        ASSERT_TRUE(!keeps_zeros || hard.values[i] != 0 || out[i] == 0) << spec << hard.name;
      }
    }
    Random random(1);
    EXPECT_TRUE(decoded(encode_boundary({}, 0, 5, spec_of(spec), random)).empty());
    EXPECT_TRUE(decoded(encode_boundary({}, 3, 0, spec_of(spec), random)).empty());
  }
  for (const char* spec : {"u6", "u4", "zeros | u6", "zeros | u4"}) {
    for (const float constant : {0.0F, -0.3F, FLT_MAX, FLT_TRUE_MIN}) {
      const std::vector<float> row(33, constant);
      EXPECT_EQ(decoded(encoded(row, 1, spec)), row);
    }
  }
}

TEST(C9_BoundarySparse, ANonFiniteValueIsRefusedByTheReceiver) {
  for (const std::string& spec : kSpecs) {
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      auto values = normal_vector(80, 2);
      values[37] = bad;
      std::vector<float> out(80);
      const Status status = decode_boundary(encoded(values, 4, spec), out);
      ASSERT_FALSE(status.ok()) << spec;
      EXPECT_EQ(status.error().code, Errc::bad_data);
    }
  }
}

TEST(BoundarySparse, SameSeedSameBytes) {
  const auto values = normal_vector(1000, 3);
  for (const std::string& spec : kSpecs) {
    const BoundaryTensor a = encoded(values, 10, spec, 7), b = encoded(values, 10, spec, 7);
    EXPECT_TRUE(a.values == b.values && a.places == b.places && a.scales == b.scales) << spec;
  }
  EXPECT_NE(encoded(values, 10, "sampled", 7).places, encoded(values, 10, "sampled", 8).places);
}

TEST(BoundarySparse, HostileTensorsAreRefusedAndLeaveTheReceiverAlone) {
  const auto values = rectified(3 * 41, 0.4, 2);
  const auto expect_malformed = [](const BoundaryTensor& tensor, const std::string& what) {
    std::vector<float> out(3 * 41, 1.0F);
    const Status status = decode_boundary(tensor, out);
    ASSERT_FALSE(status.ok()) << what;
    EXPECT_EQ(status.error().code, Errc::malformed) << what;
    EXPECT_EQ(out, std::vector<float>(3 * 41, 1.0F)) << what;
  };
  for (const std::string& spec : kSpecs) {
    const BoundaryTensor good = encoded(values, 3, spec);
    const auto changed = [&](const std::string& what, auto change) {
      BoundaryTensor bad = good;
      change(bad);
      expect_malformed(bad, spec + ": " + what);
    };
    changed("one value fewer", [](auto& t) { t.values.pop_back(); });
    changed("one byte more", [](auto& t) { t.values.push_back(std::byte{0}); });
    changed("a huge count", [](auto& t) { t.count = 1U << 28; });
    changed("another count", [](auto& t) { t.count += 8; });
    changed("more columns", [](auto& t) { t.columns = 1U << 24; });
    changed("unknown codec", [](auto& t) { t.codec = static_cast<BoundaryCodec>(5); });
    changed("unknown places", [](auto& t) { t.kept = static_cast<BoundaryPlaces>(3); });
    changed("a place more", [](auto& t) { t.places.push_back(std::byte{0}); });
    if (good.kept == BoundaryPlaces::all) continue;
    changed("no places", [](auto& t) { t.places.clear(); });
    changed("a place lost", [](auto& t) { t.places.pop_back(); });
    if (good.kept == BoundaryPlaces::bitmap) {
      changed("a flipped place", [](auto& t) { t.places[3] ^= std::byte{4}; });
      changed("a place behind the end", [](auto& t) { t.places.back() |= std::byte{0x80}; });
    } else {
      changed("a Rice parameter of 32", [](auto& t) { t.places[0] = std::byte{32}; });
    }
  }
  BoundaryTensor bad = encoded(std::vector<float>(123, 1.0F), 3, "u4");  // 123 codes: half a byte is left
  bad.values.back() |= std::byte{0x10};
  expect_malformed(bad, "ones behind the last code");
}

TEST(BoundarySparse, CorruptedBytesAreRefusedOrDecodeFinite) {
  const auto values = rectified(5 * 60, 0.3, 9);
  Random random(3);
  std::size_t refused = 0;
  for (const std::string& spec : kSpecs) {
    const BoundaryTensor good = encoded(values, 5, spec);
    for (int round = 0; round < 400; ++round) {
      BoundaryTensor bad = good;
      Bytes* blobs[] = {&bad.scales, &bad.places, &bad.values};
      Bytes& blob = *blobs[random.below(3)];
      if (blob.empty()) continue;
      blob[random.below(blob.size())] ^= static_cast<std::byte>(1 + random.below(255));
      std::vector<float> out(values.size(), 1.0F);
      const bool ok = decode_boundary(bad, out).ok();
      refused += static_cast<std::size_t>(!ok);
      for (const float value : out) ASSERT_TRUE(std::isfinite(value) && (ok || value == 1.0F)) << spec;
    }
  }
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace hourglass::compress::testing

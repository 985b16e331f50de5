// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/boundary.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

std::vector<float> decoded_boundary(const BoundaryTensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.rows) * tensor.columns, -99.0F);
  const Status status = decode_boundary(tensor, out);
  HG_CHECK(status.ok(), status.ok() ? "" : status.error().text);
  return out;
}

TEST(Boundary, SpecsSayWhatIsKeptAndHow) {
  const auto is = [](std::string_view text, BoundaryKeep keep, BoundaryCodec codec, std::size_t kept_of_200) {
    const auto spec = boundary_spec(text);
    ASSERT_TRUE(spec.ok()) << spec.error().text;
    EXPECT_EQ(spec->keep, keep) << text;
    EXPECT_EQ(spec->codec, codec) << text;
    if (kept_of_200 > 0) {
      EXPECT_EQ(spec->kept_of(200), kept_of_200) << text;
    }
  };
  is("f32", BoundaryKeep::all, BoundaryCodec::f32, 0);
  is("bf16", BoundaryKeep::all, BoundaryCodec::bf16, 0);
  is("u8", BoundaryKeep::all, BoundaryCodec::u8, 0);
  is("u6", BoundaryKeep::all, BoundaryCodec::u6, 0);
  is("u4", BoundaryKeep::all, BoundaryCodec::u4, 0);
  is("zeros", BoundaryKeep::zeros, BoundaryCodec::f32, 0);
  is("zeros | u6", BoundaryKeep::zeros, BoundaryCodec::u6, 0);
  is("zeros|bf16", BoundaryKeep::zeros, BoundaryCodec::bf16, 0);
  is("topk", BoundaryKeep::topk, BoundaryCodec::bf16, 20);
  is("topk ratio=0.07 | u8", BoundaryKeep::topk, BoundaryCodec::u8, 14);
  is("topk ratio=0.000001 | u8", BoundaryKeep::topk, BoundaryCodec::u8, 1);
  is("topk k=31 | bf16", BoundaryKeep::topk, BoundaryCodec::bf16, 31);
  is("topk k=3100", BoundaryKeep::topk, BoundaryCodec::bf16, 200);
  is("sampled ratio=0.5 | u4", BoundaryKeep::sampled, BoundaryCodec::u4, 100);
  EXPECT_EQ(boundary_gradients_spec("same", "zeros | u4")->codec, BoundaryCodec::u4);
  EXPECT_EQ(boundary_gradients_spec("bf16", "zeros | u4")->codec, BoundaryCodec::bf16);
}

TEST(Boundary, WrongSpecsAreRefusedWithTheList) {
  const auto refused = [](std::string_view text, std::string_view part) {
    const auto spec = boundary_spec(text);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_EQ(spec.error().code, Errc::bad_config) << text;
    EXPECT_NE(spec.error().text.find(part), std::string::npos) << spec.error().text;
  };
  refused("f16", "f32, bf16, u8, u6, u4");
  refused("same", "f32, bf16");
  refused("", "");
  refused("u8 | zeros", "'u8' is unknown");
  refused("zeros | zeros", "'zeros' is unknown");
  refused("zeros | u6 | u8", "at most two");
  refused("zeros ratio=0.1", "ratio");
  refused("u8 bits=3", "bits");
  refused("topk ratio=0", "ratio");
  refused("topk ratio=1.5", "ratio");
  refused("topk k=0", "k=0");
  refused("topk k=4 ratio=0.1", "not both");
  refused("topk share=0.1", "share");
  refused("topk | rice", "'rice' is unknown");
}

TEST(Boundary, F32IsExactAndBf16IsRounded) {
  Random random(1);
  const auto values = normal_vector(7 * 311, 1);
  EXPECT_EQ(decoded_boundary(encode_boundary(values, 7, 311, {BoundaryCodec::f32}, random)), values);
  const BoundaryTensor half = encode_boundary(values, 7, 311, {BoundaryCodec::bf16}, random);
  EXPECT_EQ(half.values.size(), values.size() * 2);
  const auto out = decoded_boundary(half);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(out[i] - values[i]), std::abs(values[i]) / 256);
}

TEST(Boundary, U8IsWithinAStepOfItsRow) {
  Random random(1);
  const std::size_t rows = 9;
  const std::size_t columns = 300;
  auto values = normal_vector(rows * columns, 1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= std::pow(10.0F, static_cast<float>(i / columns) - 4);
  const BoundaryTensor tensor = encode_boundary(values, rows, columns, {BoundaryCodec::u8}, random);
  EXPECT_EQ(tensor.values.size(), rows * columns);
  EXPECT_EQ(tensor.scales.size(), rows * 8);
  const auto out = decoded_boundary(tensor);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto [low, high] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(r * columns),
                                                 values.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns));
    for (std::size_t i = r * columns; i < (r + 1) * columns; ++i) ASSERT_LE(std::abs(out[i] - values[i]), (*high - *low) / 255 * 1.0001F);
  }
}

/// The mean of N roundings lies within 4 sigma of the value; sigma of one rounding is at most half a step.
TEST(Boundary, U8IsUnbiased) {
  const std::size_t columns = 64;
  std::vector<float> values = normal_vector(columns, 3);
  values[0] = 5;
  values[1] = -5;  // so a step is 10 / 255
  const int rounds = 20000;
  std::vector<double> sum(columns, 0.0);
  double all = 0;
  for (int seed = 0; seed < rounds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto out = decoded_boundary(encode_boundary(values, 1, columns, {BoundaryCodec::u8}, random));
    for (std::size_t i = 0; i < columns; ++i) {
      sum[i] += out[i];
      all += static_cast<double>(out[i]) - values[i];
    }
  }
  const double sigma = 0.5 * (10.0 / 255) / std::sqrt(rounds);
  for (std::size_t i = 0; i < columns; ++i) EXPECT_NEAR(sum[i] / rounds, values[i], 4 * sigma) << i;
  EXPECT_NEAR(all / rounds / static_cast<double>(columns), 0, 4 * sigma / std::sqrt(static_cast<double>(columns)));
}

TEST(Boundary, U8RoundsNeighboursIndependently) {
  Random random(5);
  const std::size_t columns = 100000;
  std::vector<float> values(columns, 0.5F);
  values[0] = 0;
  values[1] = 255;  // a step is 1, every other value lies half-way
  const BoundaryTensor tensor = encode_boundary(values, 1, columns, {BoundaryCodec::u8}, random);
  for (const std::size_t lag : {1UL, 2UL, 8UL, 64UL, 1024UL}) {
    double correlation = 0;
    for (std::size_t i = 2; i + lag < columns; ++i) {
      correlation += (static_cast<double>(tensor.values[i]) - 0.5) * (static_cast<double>(tensor.values[i + lag]) - 0.5) * 4;
    }
    EXPECT_LT(std::abs(correlation), 4.5 * std::sqrt(static_cast<double>(columns))) << lag;
  }
}

TEST(Boundary, SameSeedSameBytes) {
  const auto values = normal_vector(1000, 3);
  Random a(7);
  Random b(7);
  EXPECT_EQ(encode_boundary(values, 10, 100, {BoundaryCodec::u8}, a).values,
            encode_boundary(values, 10, 100, {BoundaryCodec::u8}, b).values);
  Random other(8);
  EXPECT_NE(encode_boundary(values, 10, 100, {BoundaryCodec::u8}, a).values,
            encode_boundary(values, 10, 100, {BoundaryCodec::u8}, other).values);
}

TEST(C7_Boundary, ConstantRowsAreExactAndExtremesStayFinite) {
  Random random(1);
  for (const float constant : {0.0F, -0.3F, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, 1e-40F}) {
    const std::vector<float> row(33, constant);
    EXPECT_EQ(decoded_boundary(encode_boundary(row, 1, 33, {BoundaryCodec::u8}, random)), row);
  }
  const std::vector<std::vector<float>> rows = {{FLT_MAX, -FLT_MAX, 0},
                                                {FLT_MAX, 0, 1},
                                                {FLT_TRUE_MIN, 0, 3 * FLT_TRUE_MIN},
                                                {1e-38F, 2e-38F, -1e-38F},
                                                {1e30F, 1.0000001e30F, 1e30F},
                                                {-FLT_MAX, -FLT_MAX / 2, -FLT_MAX / 3}};
  for (const auto& row : rows) {
    const auto out = decoded_boundary(encode_boundary(row, 1, row.size(), {BoundaryCodec::u8}, random));
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    const double step = (static_cast<double>(*high) - *low) / 255;
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i]));
      ASSERT_LE(std::abs(static_cast<double>(out[i]) - row[i]), 1.001 * step + FLT_TRUE_MIN + std::abs(row[i]) * 1e-6);
    }
  }
}

TEST(Boundary, EmptyShapes) {
  Random random(1);
  for (const BoundaryCodec codec : {BoundaryCodec::f32, BoundaryCodec::bf16, BoundaryCodec::u8}) {
    EXPECT_TRUE(decoded_boundary(encode_boundary({}, 0, 5, {codec}, random)).empty());
    EXPECT_TRUE(decoded_boundary(encode_boundary({}, 3, 0, {codec}, random)).empty());
  }
}

TEST(C9_Boundary, ANonFiniteValueIsRefusedByTheReceiver) {
  Random random(1);
  for (const BoundaryCodec codec : {BoundaryCodec::f32, BoundaryCodec::bf16, BoundaryCodec::u8}) {
    for (const float bad : {std::nanf(""), -std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      for (const std::size_t at : {0UL, 37UL, 79UL}) {
        auto values = normal_vector(80, 2);
        values[at] = bad;
        std::vector<float> out(80);
        const Status status = decode_boundary(encode_boundary(values, 4, 20, {codec}, random), out);
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, Errc::bad_data);
      }
    }
  }
}

TEST(Boundary, BlobsOfAnotherSizeAreMalformed) {
  Random random(1);
  const auto values = normal_vector(60, 2);
  for (const BoundaryCodec codec : {BoundaryCodec::f32, BoundaryCodec::bf16, BoundaryCodec::u8}) {
    const BoundaryTensor good = encode_boundary(values, 3, 20, {codec}, random);
    const auto code_of = [](const BoundaryTensor& tensor, std::size_t receiver = 60) {
      std::vector<float> out(receiver, 1.0F);
      const Status status = decode_boundary(tensor, out);
      if (!status.ok()) {
        EXPECT_EQ(out, std::vector<float>(receiver, 1.0F));
      }
      return status.ok() ? std::optional<Errc>() : status.error().code;
    };
    EXPECT_EQ(code_of(good), std::nullopt);
    EXPECT_EQ(code_of(good, 59), Errc::malformed);
    EXPECT_EQ(code_of(good, 61), Errc::malformed);
    for (std::size_t size = 0; size < good.values.size(); ++size) {
      BoundaryTensor bad = good;
      bad.values.resize(size);
      EXPECT_EQ(code_of(bad), Errc::malformed);
    }
    BoundaryTensor bad = good;
    bad.scales.push_back(std::byte{0});
    EXPECT_EQ(code_of(bad), Errc::malformed);
    bad = good;
    bad.columns = 1U << 24;
    EXPECT_EQ(code_of(bad), Errc::malformed);
    bad = good;
    bad.codec = static_cast<BoundaryCodec>(5);
    EXPECT_EQ(code_of(bad), Errc::malformed);
  }
  BoundaryTensor bad = encode_boundary(values, 3, 20, {BoundaryCodec::u8}, random);
  const float negative = -1;
  std::memcpy(bad.scales.data() + 20, &negative, 4);
  std::vector<float> out(60);
  EXPECT_EQ(decode_boundary(bad, out).error().code, Errc::malformed);
}

}  // namespace
}  // namespace hourglass::compress::testing

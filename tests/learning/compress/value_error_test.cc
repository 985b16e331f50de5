// SPDX-License-Identifier: Apache-2.0
// How much of what top-k keeps each value codec loses; and that those that say so are unbiased.
#include <gtest/gtest.h>

#include <map>

#include "learning/compress/registry.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

enum class Distribution { normal, laplace, student3 };

std::vector<float> sample_of(Distribution distribution, std::size_t length) {
  Random random(7);
  std::vector<float> out(length);
  for (auto& value : out) {
    if (distribution == Distribution::normal) {
      value = static_cast<float>(random.normal());
    } else if (distribution == Distribution::laplace) {
      const double u = random.uniform() - 0.5;
      value = static_cast<float>(std::copysign(std::log(1 - 2 * std::abs(u)), u));
    } else {
      double square = 0;
      for (int i = 0; i < 3; ++i) {
        const double part = random.normal();
        square += part * part;
      }
      value = static_cast<float>(random.normal() / std::sqrt(square / 3));
    }
  }
  return out;
}

/// Squared error over energy of the values that top-k keeps.
double relative_error(const std::vector<float>& kept, const std::string& codec) {
  const auto out = decoded(compressor_of("dense | " + codec, kept.size())->compress(kept, 0), kept.size());
  double error = 0;
  double energy = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    error += (static_cast<double>(out[i]) - kept[i]) * (static_cast<double>(out[i]) - kept[i]);
    energy += static_cast<double>(kept[i]) * kept[i];
  }
  return error / energy;
}

struct Row {
  Distribution distribution;
  const char* ratio;
  double mean;       ///< published for one level
  double two_level;  ///< and for two
};

TEST(ValueError, OrderAfterTopK) {
  for (const Row& row : {Row{Distribution::normal, "0.01", 0.0102, 0.0035}, Row{Distribution::laplace, "0.01", 0.0309, 0.0109},
                         Row{Distribution::laplace, "0.001", 0.0155, 0.0056}, Row{Distribution::student3, "0.01", 0.318, 0.192},
                         Row{Distribution::student3, "0.001", 0.343, 0.157}}) {
    SCOPED_TRACE(row.ratio + std::string(" of distribution ") + std::to_string(static_cast<int>(row.distribution)));
    const auto values = sample_of(row.distribution, 1000000);
    Entries entries;
    const auto block = compressor_of(std::string("topk ratio=") + row.ratio, values.size())->compress(values, 0);
    ASSERT_TRUE(entries_of(block, values.size(), entries).ok());
    const std::vector<float>& kept = entries.values;
    std::map<std::string, double> error;
    for (const std::string codec : {"f16", "bf16", "u8", "curve", "two_level", "mean", "sign", "natural", "qsgd",
                                    "qsgd levels=127 bucket=4096", "qsgd bucket=4096", "terngrad"}) {
      error[codec] = relative_error(kept, codec);
    }
    float threshold = FLT_MAX;
    for (const float value : kept) threshold = std::min(threshold, std::abs(value));
    const double at_threshold = relative_error(kept, "mxnet_two_bit threshold=" + std::to_string(threshold * 0.9999));
    EXPECT_LT(error["f16"], error["bf16"]);
    EXPECT_LT(error["bf16"], error["two_level"]);
    EXPECT_LT(error["f16"], error["u8"]);
    EXPECT_LT(error["u8"], error["two_level"]);
    EXPECT_LT(error["u8"], error["qsgd levels=127 bucket=4096"]);  // random rounding doubles the error at least
    EXPECT_LT(error["qsgd levels=127 bucket=4096"], error["qsgd bucket=4096"]);
    EXPECT_LT(error["curve"], error["two_level"]);
    EXPECT_LT(error["two_level"], error["mean"]);
    EXPECT_LE(error["sign"], error["mean"]);
    EXPECT_LT(error["mean"], at_threshold);
    EXPECT_LT(error["qsgd"], error["terngrad"]);
    EXPECT_LT(error["mean"], error["terngrad"]);
    EXPECT_LT(error["natural"], 0.125);
    if (row.distribution != Distribution::student3) {  // the others hang on a few values
      EXPECT_NEAR(error["mean"], row.mean, 0.1 * row.mean);
      EXPECT_NEAR(error["two_level"], row.two_level, 0.1 * row.two_level);
    }
  }
}

/// Specs of value codecs that say they are unbiased, with options that their examples do not have.
std::vector<std::string> unbiased_specs() {
  std::vector<std::string> out = {"natural", "qsgd levels=127", "qsgd levels=1 bucket=64", "qsgd levels=4 norm=l2"};
  for (const CompressRow& row : registry()) {
    if (row.kind == StageKind::value_codec && row.traits.unbiased) out.emplace_back(row.name);
  }
  return out;
}

TEST(Unbiased, MeanOverKeysIsWhatWasEncoded) {
  std::vector<float> values = normal_vector(600, 21);
  for (std::size_t i = 0; i < 100; ++i) values[i] *= 1e-3F;
  values[0] = 0;
  values[1] = 1;
  constexpr int kKeys = 2000;
  for (const std::string& spec : unbiased_specs()) {
    SCOPED_TRACE(spec);
    auto compressor = compressor_of("dense | " + spec, values.size());
    std::vector<double> sum(values.size(), 0.0);
    std::vector<double> squares(values.size(), 0.0);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const auto out = decoded(compressor->compress(values, key), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum[i] += out[i];
        squares[i] += static_cast<double>(out[i]) * out[i];
      }
    }
    double signed_deviation = 0;
    int beyond_three = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double mean = sum[i] / kKeys;
      const double sigma = std::sqrt(std::max(squares[i] / kKeys - mean * mean, 0.0) / kKeys);
      // A value that is next to a level may never have been seen on its other side: as rarely as once in all rounds.
      const double rare = 8 * (std::abs(values[i]) + 3) / kKeys;
      ASSERT_LE(std::abs(mean - values[i]), sigma > 0 ? std::max(4.5 * sigma, rare * 0.25) : rare) << i;
      if (sigma == 0) continue;
      signed_deviation += (mean - values[i]) / sigma * (values[i] < 0 ? -1 : 1);
      beyond_three += std::abs(mean - values[i]) > 3 * sigma ? 1 : 0;
    }
    // All entries together: a bias that none of them shows alone.
    EXPECT_LE(std::abs(signed_deviation), 4 * std::sqrt(static_cast<double>(values.size())));
    EXPECT_LE(beyond_three, 12);
  }
}

TEST(Unbiased, WorkersAtOneStepRoundDifferently) {
  auto a = normal_vector(1000, 1);
  auto b = a;
  b[3] = std::nextafter(b[3], 9.0F);
  auto compressor = compressor_of("dense | qsgd levels=2", 1000);
  const auto of_a = decoded(compressor->compress(a, 5), 1000);
  const auto of_b = decoded(compressor->compress(b, 5), 1000);
  int different = 0;
  for (std::size_t i = 0; i < 1000; ++i) different += of_a[i] != of_b[i] ? 1 : 0;
  EXPECT_GT(different, 200);
}

}  // namespace
}  // namespace hourglass::compress::testing

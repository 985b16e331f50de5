// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/factors.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "learning/compress/outer_sum.h"
#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix as_matrix(const std::vector<float>& values, std::size_t columns) {
  return Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
             values.data(), static_cast<Eigen::Index>(values.size() / columns), static_cast<Eigen::Index>(columns))
      .cast<double>();
}

struct Batch {
  std::size_t samples, in, out;
  std::vector<float> activations = normal_vector(samples * in, samples);
  std::vector<float> deltas = normal_vector(samples * out, samples + 1);

  [[nodiscard]] Matrix gradient() const { return as_matrix(deltas, out).transpose() * as_matrix(activations, in); }
  [[nodiscard]] GradientBlock block(const FactorOptions& options = {}) const {
    return factor_gradient({activations, samples, in}, {deltas, samples, out}, options).value();
  }
};

TEST(Factors, SumOverWorkersIsThePooledGradient) {
  const std::size_t in = 70;
  const std::size_t out = 50;
  std::vector<float> sum(in * out, 0.0F);
  Matrix pooled = Matrix::Zero(static_cast<Eigen::Index>(out), static_cast<Eigen::Index>(in));
  for (const std::size_t samples : {1UL, 5UL, 16UL, 33UL}) {
    const Batch batch{samples, in, out};
    const GradientBlock block = batch.block();
    EXPECT_EQ(payload(block), 8 + 4 * samples * (in + out));
    ASSERT_TRUE(accumulate(block, sum).ok());
    pooled += batch.gradient();
  }
  EXPECT_LT((as_matrix(sum, in) - pooled).norm() / pooled.norm(), 1e-6);
}

TEST(Factors, ReducedToARankAreAlmostTheTruncatedDecomposition) {
  const Batch batch{48, 90, 60};
  const Matrix gradient = batch.gradient();
  const Eigen::JacobiSVD<Matrix> svd(gradient);
  for (const std::size_t rank : {1UL, 4UL, 8UL, 24UL}) {
    const GradientBlock block = batch.block({.rank = rank});
    EXPECT_EQ(payload(block), 8 + 4 * rank * (90 + 60));
    const double error = (as_matrix(decoded(block, 90 * 60), 90) - gradient).norm();
    const double best = svd.singularValues().tail(svd.singularValues().size() - static_cast<Eigen::Index>(rank)).norm();
    EXPECT_LT(error, 1.05 * best) << rank;
    EXPECT_GT(error, best * (1 - 1e-6)) << rank;
  }
  EXPECT_TRUE(equal(batch.block({.rank = 48}), batch.block()));
}

TEST(Factors, OfSamplesThatSpanLessAreExact) {
  Batch batch{20, 40, 30};
  for (std::size_t i = 0; i < batch.activations.size(); ++i) batch.activations[i] = batch.activations[i % (3 * batch.in)];
  const Matrix gradient = batch.gradient();
  const double error = (as_matrix(decoded(batch.block({.rank = 5}), 40 * 30), 40) - gradient).norm();
  EXPECT_LT(error / gradient.norm(), 1e-5);
}

TEST(Factors, RefusesWhatIsNotFiniteOrDoesNotFit) {
  Batch batch{4, 10, 8};
  const auto code = [](const Result<GradientBlock>& made) { return made.ok() ? Errc::io : made.error().code; };
  EXPECT_EQ(code(factor_gradient({batch.activations, 4, 10}, {batch.deltas, 2, 16})), Errc::bad_config);
  EXPECT_EQ(code(factor_gradient({{}, 0, 10}, {{}, 0, 8})), Errc::bad_config);
  const auto many = normal_vector(513, 1);
  EXPECT_EQ(code(factor_gradient({many, 513, 1}, {many, 513, 1})), Errc::over_limit);
  for (const float bad : {std::nanf(""), HUGE_VALF, FLT_MAX}) {
    batch.activations[7] = bad;
    batch.deltas[3] = 100;
    EXPECT_EQ(code(factor_gradient({batch.activations, 4, 10}, {batch.deltas, 4, 8})), Errc::bad_data);
    EXPECT_EQ(code(factor_gradient({batch.activations, 4, 10}, {batch.deltas, 4, 8}, {.rank = 2})), Errc::bad_data);
  }
}

TEST(Factors, HostileBlobsAreHarmless) {
  const Batch batch{6, 50, 40};
  expect_hostile_values_harmless(batch.block(), batch.in * batch.out);
}

}  // namespace
}  // namespace hourglass::compress::testing

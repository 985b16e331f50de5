// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/tail_fit.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

constexpr double kFirstShare = 0.25;
constexpr double kShapeNear = 1e-6;  ///< a shape nearer to 0 is 0

/// Q(a, x) by the series of P below a + 1, by Lentz's continued fraction above.
double gamma_upper(double a, double x) {
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (double n = a + 1; term > sum * 1e-15; ++n) {
      term *= x / n;
      sum += term;
    }
    return 1 - front * sum;
  }
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < 1000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    d = 1 / (std::abs(d) < 1e-300 ? 1e-300 : d);
    c = b + an / c;
    c = std::abs(c) < 1e-300 ? 1e-300 : c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return front * h;
}

double pareto_excess(double mean, double variance, double share) {
  const double square = mean * mean;
  if (variance <= 1e-9 * square) return mean;  // all alike
  const double ratio = square / variance;
  const double shape = 0.5 * (1 - ratio);
  if (std::abs(shape) < kShapeNear) return -mean * std::log(share);
  return 0.5 * mean * (ratio + 1) * std::expm1(-shape * std::log(share)) / shape;
}

double mean_log_of(std::span<const float> values, std::size_t nonzero) {
  const LogSum sum = kernels().log_sum(values.data(), values.size());
  return std::log(2.0) * (static_cast<double>(sum.exponents) + std::log2(sum.mantissas)) / static_cast<double>(nonzero);
}

float narrowed(double threshold) { return static_cast<float>(std::clamp<double>(threshold, FLT_TRUE_MIN, FLT_MAX)); }

}  // namespace

double gamma_exceeded(double shape, double share) {
  double low = 0;
  double high = shape + 1;
  while (gamma_upper(shape, high) > share) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (middle > 0 && gamma_upper(shape, middle) <= share ? high : low) = middle;
  }
  return high;
}

double tail_threshold(TailShape shape, const TailMoments& moments, double boundary, double mean_log, double share) {
  const auto count = static_cast<double>(moments.count);
  const double mean_magnitude = moments.sum / count;
  const double mean = std::max(0.0, mean_magnitude - boundary);
  if (shape == TailShape::exponential) return boundary - mean * std::log(share);
  if (shape == TailShape::gamma && boundary == 0) {
    const double s = std::clamp(std::log(mean) - mean_log, 1e-3, 100.0);
    const double alpha = (3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
    return mean / alpha * gamma_exceeded(alpha, share);
  }
  const double variance = std::max(0.0, moments.squares / count - mean_magnitude * mean_magnitude);
  return boundary + pareto_excess(mean, variance, share);
}

double staged_threshold(std::span<const float> values, std::size_t k, TailShape shape, int stages) {
  double boundary = 0;
  Entries survivors;
  std::span<const float> seen = values;
  for (int left = stages; left > 0; --left) {
    const TailMoments moments = kernels().tail_moments(seen.data(), seen.size(), static_cast<float>(boundary));
    if (moments.count <= k) break;
    const double wanted = static_cast<double>(k) / static_cast<double>(moments.count);
    const bool first = left == stages;
    const double share = left == 1 ? wanted : (first ? std::max(kFirstShare, wanted) : std::pow(wanted, 1.0 / left));
    const double mean_log = first && shape == TailShape::gamma ? mean_log_of(values, moments.count) : 0;
    boundary = narrowed(tail_threshold(shape, moments, boundary, mean_log, share));
    if (share <= wanted) break;
    // From where few are left the rest is done on these.
    const auto next = static_cast<std::size_t>(share * static_cast<double>(moments.count));
    if (seen.data() == values.data() && left > 1 && next < values.size() / 16) {
      const std::size_t room = 2 * next + 1024;
      if (collect(values, magnitude_bits(static_cast<float>(boundary)), room, survivors) <= room) seen = survivors.values;
    }
  }
  return boundary;
}

}  // namespace hourglass::compress

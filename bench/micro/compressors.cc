// SPDX-License-Identifier: Apache-2.0
// compressors <millions of parameters>...: a Markdown table of every row of the compressors' registry, run on its example. Rows come from
// the registry alone. bench/micro/compressors.py puts it into docs/results.md.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr int kRunsMax = 7;
constexpr int kRunsMin = 3;
constexpr double kSecondsMax = 2;  ///< for the runs of one cell, once there are enough
constexpr double kLn2 = 0.69314718055994531;

/// Of this thread: other load on the machine counts little.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least of some runs.
template <class Run>
double seconds_of(Run run) {
  double least = HUGE_VAL;
  double total = 0;
  for (int i = 0; i < kRunsMin || (i < kRunsMax && total < kSecondsMax); ++i) {
    const double begin = cpu_seconds();
    run(i);
    const double took = cpu_seconds() - begin;
    least = std::min(least, took);
    total += took;
  }
  return least;
}

double log2_choose(double n, double k) { return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / kLn2; }

/// As square as it can be.
Shape shape_of(std::size_t length) {
  auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(length)));
  while (length % rows != 0) --rows;
  return {length, length / rows};
}

struct Measured {
  double encode_seconds = 0;
  double decode_seconds = 0;
  double bytes = 0;
  std::size_t nonzeros = 0;
  double error = 0;  ///< ||decoded - input||^2 / ||input||^2
};

/// One range's compressor; a memory or ratio policy needs a group around it, and is measured with its residual, in its third step.
Measured measure(const CompressRow& row, std::span<const float> values) {
  Measured out;
  std::vector<GradientBlock> blocks;
  const Shape shape = shape_of(values.size());
  if (row.kind == StageKind::memory || row.kind == StageKind::ratio) {
    auto feedback = std::move(ErrorFeedback::make(row.example, {{0, values.size(), false}}, values.size())).value();
    out.encode_seconds = seconds_of([&](int run) { blocks = feedback.compress(values, static_cast<std::uint64_t>(run)).value(); });
  } else {
    auto compressor = std::move(make_compressor(row.example, shape)).value();
    blocks.resize(1);
    out.encode_seconds = seconds_of([&](int run) { blocks[0] = compressor->compress(values, static_cast<std::uint64_t>(run)); });
  }
  std::vector<float> sum(values.size(), 0.0F);
  const auto decode = [&](int) {
    for (const GradientBlock& block : blocks) HG_CHECK(accumulate(block, sum).ok(), "a block of our own must decode");
  };
  decode(0);
  double squares = 0;
  double difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.nonzeros += static_cast<std::size_t>(sum[i] != 0);
    squares += static_cast<double>(values[i]) * values[i];
    difference += (static_cast<double>(sum[i]) - values[i]) * (static_cast<double>(sum[i]) - values[i]);
  }
  out.error = difference / squares;
  for (const GradientBlock& block : blocks) out.bytes += static_cast<double>(block.indices.size() + block.values.size());
  out.decode_seconds = seconds_of(decode);
  return out;
}

void print_floor(const char* name, double seconds, double bytes, std::size_t length) {
  std::printf("| %s | | %.2f | | %.3f | | | | | |\n", name, 1e-9 * bytes / seconds, 1e9 * seconds / static_cast<double>(length));
}

void print_table(std::size_t length) {
  std::vector<float> values(length);
  Random random(1);
  for (float& value : values) value = static_cast<float>(random.normal());
  const auto n = static_cast<double>(length);
  std::printf("\n%.0f M parameters, standard normal:\n\n", n * 1e-6);
  std::printf(
      "| name | example | encode GB/s | decode GB/s | encode ns/element | decode ns/element | bytes | bits/non-zero | index bound | NMSE "
      "|\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  print_floor("(floor: read)", seconds_of([&](int) { HG_CHECK(kernels().finite(values.data(), length), "normal values"); }), 4 * n, length);
  std::vector<float> sum(length, 0.0F);
  print_floor("(floor: read, add, write)",
              seconds_of([&](int) { HG_CHECK(kernels().add(values.data(), sum.data(), sum.data(), length), "small sums"); }), 4 * n,
              length);
  for (const CompressRow& row : registry()) {
    const Measured m = measure(row, values);
    const auto k = static_cast<double>(m.nonzeros);
    std::string example(row.example);
    for (std::size_t at = 0; (at = example.find('|', at)) != std::string::npos; at += 2) example.replace(at, 1, "\\|");
    std::printf("| %.*s | `%s` | %.2f | %.2f | %.3f | %.3f | %.0f | %.2f | %.2f | %.4f |\n", static_cast<int>(row.name.size()),
                row.name.data(), example.c_str(), 4e-9 * n / m.encode_seconds, 4e-9 * n / m.decode_seconds, 1e9 * m.encode_seconds / n,
                1e9 * m.decode_seconds / n, m.bytes, 8 * m.bytes / k, log2_choose(n, k) / k, m.error);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace hourglass::compress

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const double millions = std::atof(arguments[i]);
    if (!(millions > 0 && millions <= 200)) {
      std::fprintf(stderr, "compressors: millions of parameters, in (0, 200]\n");
      return 2;
    }
    hourglass::compress::print_table(static_cast<std::size_t>(millions * 1e6));
  }
  return 0;
}

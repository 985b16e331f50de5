// SPDX-License-Identifier: Apache-2.0
// Several passes under way, several batch sizes, several threads.
#include <gtest/gtest.h>

#include <omp.h>

#include <cmath>

#include "learning/nn/network.h"
#include "reference.h"

namespace hourglass::nn {
namespace {

constexpr std::string_view kSpec =
    "conv 6 kernel=5 pad=2 | relu | pool 2 | conv 16 kernel=5 | relu | pool 2 | flatten | fc 24 | relu | fc 5";
constexpr Shape kInput{1, 16, 16};

struct Pass {
  std::vector<float> input, output, seed, gradient;
  std::unique_ptr<Tape> tape;
};

Pass start(Network& network, const std::vector<float>& parameters, std::size_t batch, std::uint64_t seed) {
  Pass pass{random_floats(batch * network.input().size(), seed), {}, {}, std::vector<float>(parameters.size(), std::nanf("")), nullptr};
  pass.output.resize(batch * network.output().size());
  pass.seed = random_floats(pass.output.size(), seed + 1000);
  pass.tape = network.forward(parameters, pass.input, batch, pass.output, true);
  return pass;
}

void finish(Network& network, const std::vector<float>& parameters, Pass& pass) {
  network.backward(parameters, *pass.tape, pass.seed, pass.gradient, {});
}

TEST(Tapes, several_at_once_do_not_disturb_each_other) {
  const auto network = must_build(kSpec, kInput), other = must_build(kSpec, kInput);
  const auto parameters = random_floats(network->parameter_count(), 5), changed = random_floats(network->parameter_count(), 6);
  const std::size_t batches[] = {3, 1, 3, 8, 3, 1};
  std::vector<Pass> passes;
  for (std::size_t i = 0; i < std::size(batches); ++i) {
    passes.push_back(start(*network, i % 2 == 0 ? parameters : changed, batches[i], i));  // a version of the parameters for each tape
  }
  for (std::vector<float> garbage : {random_floats(3 * kInput.size(), 77)}) {  // evaluation between forward and backward
    std::vector<float> output(3 * 5);
    EXPECT_EQ(network->forward(changed, garbage, 3, output, false), nullptr);
  }
  for (const std::size_t i : {4, 0, 5, 3, 1, 2}) finish(*network, i % 2 == 0 ? parameters : changed, passes[i]);
  for (std::size_t i = 0; i < std::size(batches); ++i) {
    Pass alone = start(*other, i % 2 == 0 ? parameters : changed, batches[i], i);
    finish(*other, i % 2 == 0 ? parameters : changed, alone);
    EXPECT_EQ(alone.output, passes[i].output) << i;
    EXPECT_EQ(alone.gradient, passes[i].gradient) << i;
  }
}

TEST(Tapes, backward_may_be_repeated) {
  const auto network = must_build(kSpec, kInput);
  const auto parameters = random_floats(network->parameter_count(), 5);
  Pass pass = start(*network, parameters, 4, 1);
  finish(*network, parameters, pass);
  const auto first = pass.gradient;
  finish(*network, parameters, pass);
  EXPECT_EQ(first, pass.gradient);
}

TEST(Tapes, survive_the_eviction_of_their_batch_size) {
  const auto network = must_build(kSpec, kInput), other = must_build(kSpec, kInput);
  const auto parameters = random_floats(network->parameter_count(), 5);
  Pass early = start(*network, parameters, 2, 1);
  for (std::size_t batch = 3; batch < 23; ++batch) {
    Pass pass = start(*network, parameters, batch, batch);
    finish(*network, parameters, pass);
  }
  finish(*network, parameters, early);
  Pass alone = start(*other, parameters, 2, 1);
  finish(*other, parameters, alone);
  EXPECT_EQ(alone.gradient, early.gradient);
}

TEST(Tapes, a_sample_does_not_depend_on_its_batch) {
  const auto network = must_build(kSpec, kInput);
  const auto parameters = random_floats(network->parameter_count(), 5);
  const Pass many = start(*network, parameters, 32, 9);
  for (std::size_t sample = 0; sample < 32; sample += 7) {
    std::vector<float> output(5);
    network->forward(parameters, std::span(many.input).subspan(sample * kInput.size(), kInput.size()), 1, output, false);
    for (std::size_t i = 0; i < output.size(); ++i) EXPECT_NEAR(output[i], many.output[sample * 5 + i], 1e-4);
  }
}

TEST(Threads, give_the_same_numbers_and_leave_the_setting_alone) {
  const int before = omp_get_max_threads();
  const auto one = must_build(kSpec, kInput, 1), two = must_build(kSpec, kInput, 2);
  const auto parameters = random_floats(one->parameter_count(), 5);
  Pass a = start(*one, parameters, 8, 1), b = start(*two, parameters, 8, 1);
  finish(*one, parameters, a);
  finish(*two, parameters, b);
  EXPECT_LT(largest_error(a.output, to_doubles(b.output)), 1e-5);
  EXPECT_LT(largest_error(a.gradient, to_doubles(b.gradient)), 1e-4);
  Pass again = start(*two, parameters, 8, 1);
  finish(*two, parameters, again);
  EXPECT_EQ(b.gradient, again.gradient);
  EXPECT_EQ(omp_get_max_threads(), before);
}

}  // namespace
}  // namespace hourglass::nn

// SPDX-License-Identifier: Apache-2.0
// Training steps on command, for step_vs_torch.py. Reads lines "model batch steps" and answers each with the CPU seconds of one step
// (forward, loss, backward, SGD), the mean loss of the last one and the page faults; reads "save path" and writes the last model's
// parameters there.
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "learning/nn/loss.h"
#include "learning/nn/model_file.h"

namespace {

using namespace hourglass;
using namespace hourglass::nn;

constexpr std::uint32_t kClasses = 10;
constexpr float kRate = 0.01F;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// The whole model in one network, its parameters, and one batch. Both sides of the comparison compute the same batch.
struct Trainer {
  Model model;
  std::vector<float> parameters, none, gradient, input, logits, slope;
  std::vector<std::uint16_t> labels;

  Trainer(const std::string& name, std::size_t batch) {
    const Shape shape = name == "cifar_cnn" ? Shape{3, 32, 32} : Shape{1, 28, 28};
    auto built = build_model(name, shape, kClasses, false);
    model = std::move(built).value();
    initialise(model, 1, parameters, none);
    gradient.resize(parameters.size());
    input.resize(batch * shape.size());
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i * 7919 % 1009) / 1009.0F;
    logits.resize(batch * kClasses);
    slope.resize(logits.size());
    for (std::size_t i = 0; i < batch; ++i) labels.push_back(static_cast<std::uint16_t>(i % kClasses));
  }

  double step() {
    const auto tape = model.conv->forward(parameters, input, labels.size(), logits, true);
    const double loss = softmax_cross_entropy(logits, labels, kClasses, slope).loss_sum / static_cast<double>(labels.size());
    model.conv->backward(parameters, *tape, slope, gradient, {});
    float* values = parameters.data();
    const float* slopes = gradient.data();
    for (std::size_t i = 0; i < parameters.size(); ++i) values[i] -= kRate * slopes[i];
    return loss;
  }
};

}  // namespace

int main() {
  std::map<std::pair<std::string, std::size_t>, Trainer> trainers;
  const Trainer* last = nullptr;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "save" && last != nullptr) {
      std::string path;
      words >> path;
      const Bytes file = model_to_safetensors(last->model, last->parameters, {}, {});
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
      std::cout << "saved" << std::endl;
      continue;
    }
    std::size_t batch = 0, steps = 0;
    if (!(words >> batch >> steps) || batch == 0 || steps == 0) return 2;
    Trainer& trainer = trainers.try_emplace({name, batch}, name, batch).first->second;
    last = &trainer;
    const long faults = page_faults();
    const double start = cpu_seconds();
    double loss = 0;
    for (std::size_t i = 0; i < steps; ++i) loss = trainer.step();
    const double each = (cpu_seconds() - start) / static_cast<double>(steps);
    std::printf("%.9f %.9f %ld\n", each, loss, (page_faults() - faults) / static_cast<long>(steps));
    std::fflush(stdout);
  }
  return 0;
}

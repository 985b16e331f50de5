// SPDX-License-Identifier: Apache-2.0
#include "services/solo/solo_trainer.h"

#include <algorithm>

#include "learning/nn/loss.h"
#include "learning/params/arithmetic.h"
#include "learning/params/server_rule.h"

namespace hourglass {
namespace {

constexpr ActorId kSelf{Role::conv_worker, 1};
constexpr std::size_t kScoreBatch = 250;

LeasePlan plan_of(const Job& job, const data::Dataset& train, const data::Dataset& test) {
  LeasePlan plan;
  plan.train_size = train.size();
  plan.test_size = test.size();
  plan.batch = job.batch;
  plan.epochs = job.epochs;
  plan.samples = job.samples;
  plan.evaluate_every = job.evaluate_every;
  plan.seed = job.seed;
  return plan;
}

void append_sample(const data::Dataset& dataset, std::size_t index, Bytes& images, std::vector<std::uint16_t>& labels) {
  const auto image = dataset.image(index);
  images.insert(images.end(), image.begin(), image.end());
  labels.push_back(dataset.label(index));
}

void to_floats(const data::DatasetRow& row, const Bytes& images, std::vector<float>& input) {
  input.resize(images.size());
  data::normalise(images, row.channels, std::size_t{row.height} * row.width, row.mean, row.deviation, input);
}

/// Logits of a batch without keeping anything for a backward pass.
void infer(const nn::Model& model, std::span<const float> conv, std::span<const float> fc, std::span<const float> input, std::size_t rows,
           std::vector<float>& middle, std::vector<float>& logits) {
  middle.resize(rows * model.conv->output().size());
  model.conv->forward(conv, input, rows, middle, false);
  if (!model.fc) {
    logits = middle;
    return;
  }
  logits.resize(rows * model.fc->output().size());
  model.fc->forward(fc, middle, rows, logits, false);
}

}  // namespace

Result<Score> evaluate(const nn::Model& model, std::span<const float> conv, std::span<const float> fc, const data::DatasetRow& row,
                       const data::Dataset& dataset) {
  const std::size_t fc_size = model.fc ? model.fc->parameter_count() : 0;
  if (conv.size() != model.conv->parameter_count() || fc.size() != fc_size) return {Errc::bad_data, "the parameters do not fit the model"};
  if (dataset.size() == 0) return {Errc::bad_data, "the dataset is empty"};
  nn::LossResult sum;
  Bytes images;
  std::vector<std::uint16_t> labels;
  std::vector<float> input, middle, logits;
  for (std::size_t first = 0; first < dataset.size(); first += kScoreBatch) {
    images.clear();
    labels.clear();
    for (std::size_t i = first; i < std::min(first + kScoreBatch, dataset.size()); ++i) append_sample(dataset, i, images, labels);
    to_floats(row, images, input);
    infer(model, conv, fc, input, labels.size(), middle, logits);
    const nn::LossResult loss = nn::softmax_cross_entropy(logits, labels, row.classes, {});
    sum.loss_sum += loss.loss_sum;
    sum.hits += loss.hits;
  }
  const auto size = static_cast<double>(dataset.size());
  return Score{sum.loss_sum / size, sum.hits / size};
}

SoloTrainer::SoloTrainer(const Job& job, const data::Dataset& train, const data::Dataset& test, const data::DatasetRow& row,
                         std::uint32_t workers)
    : job_(job), train_(&train), test_(&test), row_(&row), workers_(workers), leases_(plan_of(job, train, test)) {}

Result<SoloTrainer> SoloTrainer::make(const Job& job, const data::Dataset& train, const data::Dataset& test, std::uint32_t workers) {
  const auto row = data::find_dataset(job.dataset);
  if (!row.ok()) return row.error();
  if (train.size() == 0 || test.size() == 0 || workers == 0) return {Errc::bad_config, "a trainer needs samples and at least one worker"};
  SoloTrainer out(job, train, test, **row, workers);
  auto model = nn::build_model(job.model, {job.channels, job.height, job.width}, job.classes, job.fc_workers > 0, job.threads);
  if (!model.ok()) return model.error();
  out.model_ = std::move(*model);
  nn::initialise(out.model_, job.seed, out.conv_.parameters, out.fc_.parameters);
  for (Part* part : {&out.conv_, &out.fc_}) {
    part->gradient.resize(part->parameters.size());
    auto optimizer = params::make_worker_optimizer(job, true, part->parameters.size());
    if (!optimizer.ok()) return optimizer.error();
    part->optimizer = std::move(*optimizer);
  }
  auto schedule = params::make_schedule(job.schedule);
  if (!schedule.ok()) return schedule.error();
  out.schedule_ = std::move(*schedule);
  return out;
}

void SoloTrainer::gather(const Lease& lease) {
  for (const std::uint32_t index : lease.samples) append_sample(lease.mode == Mode::train ? *train_ : *test_, index, images_, labels_);
}

void SoloTrainer::learn(Part& part, double rate) {
  (void)params::step_if_usable(*part.optimizer, part.parameters, part.gradient, rate);
  params::add(part.parameters, part.gradient);
}

void SoloTrainer::train(double progress) {
  const std::size_t rows = labels_.size();
  to_floats(*row_, images_, input_);
  middle_.resize(rows * model_.conv->output().size());
  const auto conv_tape = model_.conv->forward(conv_.parameters, input_, rows, middle_, true);
  const double rate = job_.learning_rate * schedule_->factor(progress);
  logit_gradient_.resize(rows * job_.classes);
  nn::LossResult loss;
  if (model_.fc) {
    logits_.resize(rows * job_.classes);
    const auto fc_tape = model_.fc->forward(fc_.parameters, middle_, rows, logits_, true);
    loss = nn::softmax_cross_entropy(logits_, labels_, job_.classes, logit_gradient_);
    middle_gradient_.resize(middle_.size());
    model_.fc->backward(fc_.parameters, *fc_tape, logit_gradient_, fc_.gradient, middle_gradient_);
    model_.conv->backward(conv_.parameters, *conv_tape, middle_gradient_, conv_.gradient, {});
    learn(fc_, rate);
  } else {
    loss = nn::softmax_cross_entropy(middle_, labels_, job_.classes, logit_gradient_);
    model_.conv->backward(conv_.parameters, *conv_tape, logit_gradient_, conv_.gradient, {});
  }
  learn(conv_, rate);
  loss_ = loss.loss_sum / static_cast<double>(rows);
  ++steps_;
}

void SoloTrainer::score(const Lease& lease) {
  images_.clear();
  labels_.clear();
  gather(lease);
  to_floats(*row_, images_, input_);
  infer(model_, conv_.parameters, fc_.parameters, input_, labels_.size(), middle_, logits_);
  const nn::LossResult loss = nn::softmax_cross_entropy(logits_, labels_, job_.classes, {});
  leases_.complete(kSelf, {lease.id, static_cast<std::uint32_t>(labels_.size()), loss.loss_sum, loss.hits});
  if (const auto result = leases_.take_evaluation()) {
    const auto count = static_cast<double>(result->count);
    HistoryRow row;
    row.samples = result->samples_done;
    row.loss = result->loss_sum / count;
    row.accuracy = static_cast<double>(result->hits) / count;
    history_.push_back(row);
    final_done_ = result->final_parameters;
  }
}

bool SoloTrainer::step() {
  if (final_done_) return false;
  while (const Lease* lease = leases_.issue(kSelf, Instant{}, false)) score(*lease);
  images_.clear();
  labels_.clear();
  std::vector<LeaseResult> taken;
  double progress = 0;
  for (std::uint32_t worker = 0; worker < workers_; ++worker) {
    const Lease* lease = leases_.issue(kSelf, Instant{}, true);
    if (lease == nullptr) break;
    gather(*lease);
    progress = std::max(progress, lease->progress);
    taken.push_back({lease->id, static_cast<std::uint32_t>(lease->samples.size()), 0, 0});
  }
  if (taken.empty()) {
    leases_.begin_evaluation(true);
    while (const Lease* lease = leases_.issue(kSelf, Instant{}, false)) score(*lease);
    return false;
  }
  train(progress);
  for (const LeaseResult& result : taken) leases_.complete(kSelf, result);
  return true;
}

}  // namespace hourglass

// SPDX-License-Identifier: Apache-2.0
// Trains a job in one process: the yardstick of speed, and what a synchronous cluster must equal.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "actors/lease_table.h"
#include "learning/data/dataset.h"
#include "learning/nn/model.h"
#include "learning/params/optimizer.h"
#include "messages/job.h"
#include "messages/run_status.h"

namespace hourglass {

/// Loss and accuracy over samples.
struct Score {
  double loss = 0;      ///< mean
  double accuracy = 0;  ///< 0..1
};

/// One forward pass over the whole dataset. `fc` is empty where the model has no fc part. Errors: bad_data where parameters do not fit the
/// model.
Result<Score> evaluate(const nn::Model& model, std::span<const float> conv, std::span<const float> fc, const data::DatasetRow& row,
                       const data::Dataset& dataset);

/// Each step takes one batch for each of `workers` simulated CONV workers, in the order in which a cluster's data loader hands them out,
/// concatenated, with the gradient of their mean loss. A cluster with staleness 0, one outstanding batch and no compression takes the same
/// steps, given local_steps = 1 and a constant schedule: with another, a cluster's CONV workers each use their own batch's progress, this
/// the step's latest. Other settings of the cluster have no effect.
class SoloTrainer {
 public:
  /// The datasets must outlive the trainer. Errors: bad_config.
  static Result<SoloTrainer> make(const Job& job, const data::Dataset& train, const data::Dataset& test, std::uint32_t workers);

  /// One step, and the evaluations that come due. False when every sample has been used; then the final parameters have been evaluated.
  bool step();

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] DataProgress progress() const { return leases_.progress(); }
  [[nodiscard]] const std::vector<float>& conv() const { return conv_.parameters; }
  [[nodiscard]] const std::vector<float>& fc() const { return fc_.parameters; }
  [[nodiscard]] const nn::Model& model() const { return model_; }
  [[nodiscard]] double training_loss() const { return loss_; }                       ///< of the newest step, mean
  [[nodiscard]] const std::vector<HistoryRow>& history() const { return history_; }  ///< `seconds` is left to the caller
  [[nodiscard]] bool finished() const { return final_done_; }

 private:
  struct Part {
    std::vector<float> parameters, gradient;
    std::unique_ptr<params::Optimizer> optimizer;
  };
  SoloTrainer(const Job& job, const data::Dataset& train, const data::Dataset& test, const data::DatasetRow& row, std::uint32_t workers);
  void gather(const Lease& lease);
  void train(double progress);
  void score(const Lease& lease);
  void learn(Part& part, double rate);

  Job job_;
  const data::Dataset* train_;
  const data::Dataset* test_;
  const data::DatasetRow* row_;
  std::uint32_t workers_;
  nn::Model model_;
  Part conv_, fc_;
  std::unique_ptr<params::Schedule> schedule_;
  LeaseTable leases_;
  std::uint64_t steps_ = 0;
  double loss_ = 0;
  bool final_done_ = false;
  std::vector<HistoryRow> history_;
  // scratch of one step
  Bytes images_;
  std::vector<std::uint16_t> labels_;
  std::vector<float> input_, middle_, middle_gradient_, logits_, logit_gradient_;
};

}  // namespace hourglass

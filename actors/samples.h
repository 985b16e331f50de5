// SPDX-License-Identifier: Apache-2.0
// The dataset of a job, at the data loader and, with `data.local`, at the CONV workers: turns sample numbers into what is trained on.
#pragma once

#include <functional>

#include "learning/data/dataset.h"
#include "messages/batch.h"
#include "messages/job.h"
#include "runtime/context.h"

namespace hourglass {

/// Reads a split of a dataset; actors themselves touch no file.
using DatasetSource = std::function<Result<data::Dataset>(std::string_view name, data::Split split, std::uint64_t seed)>;

class Samples {
 public:
  /// Errors: bad_config for an unknown dataset; unsupported where this build describes it differently from the job; as `source`.
  static Result<Samples> load(const DatasetSource& source, const Job& job);
  /// How a process that cannot load ends.
  static ExitCode exit_code_of(const Error& error);

  [[nodiscard]] const data::Dataset& split(Mode mode) const { return mode == Mode::train ? train_ : test_; }
  /// Labels and images of batch.ids, mean and deviation. Errors: bad_data where an id is not in the dataset; nothing changed.
  Status gather(Batch& batch) const;
  /// Leaves what the receiver cannot know: the ids, and a digest of what they stand for.
  static void strip(Batch& batch);
  /// gather(), for a batch that was stripped. Errors: bad_data where this dataset is another than the sender's.
  Status restore(Batch& batch) const;

 private:
  Samples(const data::DatasetRow& row, data::Dataset train, data::Dataset test)
      : row_(&row), train_(std::move(train)), test_(std::move(test)) {}

  const data::DatasetRow* row_;
  data::Dataset train_, test_;
};

}  // namespace hourglass

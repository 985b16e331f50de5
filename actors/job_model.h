// SPDX-License-Identifier: Apache-2.0
// What a job's model looks like as two parameter groups: computed alike by the aggregator and by every worker.
#pragma once

#include <vector>

#include "learning/compress/error_feedback.h"
#include "learning/nn/model.h"
#include "messages/job.h"
#include "messages/message_type.h"

namespace hourglass {

struct JobModel {
  nn::Model model;
  std::vector<float> conv, fc;  ///< initial parameters; fc is empty where the model is not cut
  std::vector<compress::Segment> conv_segments, fc_segments;
  std::uint64_t hash = 0;

  [[nodiscard]] std::vector<float>& initial(Group group) { return group == Group::conv ? conv : fc; }
  [[nodiscard]] const std::vector<compress::Segment>& segments(Group group) const {
    return group == Group::conv ? conv_segments : fc_segments;
  }
};

/// Errors: bad_config.
Result<JobModel> make_job_model(const Job& job);

/// Large tensors are compressed one by one, so that no layer starves; the small ones at the end of the vector together.
std::vector<compress::Segment> segments_of(const std::vector<nn::Parameter>& parameters);

}  // namespace hourglass

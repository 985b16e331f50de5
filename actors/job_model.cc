// SPDX-License-Identifier: Apache-2.0
#include "actors/job_model.h"

namespace hourglass {
namespace {
/// Below this many values an index costs more than it saves.
constexpr std::size_t kSmallTensor = 1024;
}  // namespace

std::vector<compress::Segment> segments_of(const std::vector<nn::Parameter>& parameters) {
  std::vector<compress::Segment> segments;
  for (const nn::Parameter& parameter : parameters) {
    const bool small = parameter.size < kSmallTensor;
    if (small && !segments.empty() && segments.back().small && segments.back().offset + segments.back().length == parameter.offset) {
      segments.back().length += parameter.size;
    } else {
      const bool matrix = !small && parameter.shape.size() > 1;
      segments.push_back({parameter.offset, parameter.size, small, matrix ? parameter.size / parameter.shape.front() : 0});
    }
  }
  return segments;
}

Result<JobModel> make_job_model(const Job& job) {
  auto model = nn::build_model(job.model, {job.channels, job.height, job.width}, job.classes, job.fc_workers > 0, job.threads);
  if (!model.ok()) return model.error();
  JobModel out;
  out.model = std::move(*model);
  if (job.fc_workers > 0 && !out.model.fc) {
    return {Errc::bad_config, "model '" + job.model + "' has no cut: give it one, or set cluster.fc_workers = 0"};
  }
  nn::initialise(out.model, job.seed, out.conv, out.fc);
  out.conv_segments = segments_of(out.model.conv->parameters());
  if (out.model.fc) out.fc_segments = segments_of(out.model.fc->parameters());
  out.hash = nn::layout_hash(out.model);
  return out;
}

}  // namespace hourglass

// SPDX-License-Identifier: Apache-2.0
#include "actors/worker_parts.h"

namespace hourglass {

Result<WorkerParts> make_worker_parts(const Welcome& welcome, Group group, std::string_view compress) {
  const Job& job = welcome.job;
  auto model = make_job_model(job);
  if (!model.ok()) return model.error();
  if (model->hash != welcome.model_hash) {
    return {Errc::unsupported, "this build lays out the model differently from the aggregator's: update the older one"};
  }
  const std::size_t size = model->initial(group).size();
  auto memory = compress::ErrorFeedback::make(compress, model->segments(group), size);
  if (!memory.ok()) return memory.error();
  memory->take_seat({welcome.number, group == Group::conv ? job.conv_workers : job.fc_workers});
  auto optimizer = params::make_optimizer(job.optimizer, job.weight_decay, size);
  if (!optimizer.ok()) return optimizer.error();
  auto schedule = params::make_schedule(job.schedule);
  if (!schedule.ok()) return schedule.error();
  const auto boundary = compress::boundary_codec(job.boundary);
  if (!boundary.ok()) return boundary.error();
  return WorkerParts{std::move(*model), std::move(*memory), std::move(*optimizer), std::move(*schedule), *boundary};
}

}  // namespace hourglass

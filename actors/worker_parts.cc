// SPDX-License-Identifier: Apache-2.0
#include "actors/worker_parts.h"

#include "learning/params/local_policy.h"
#include "learning/params/take_policy.h"

namespace hourglass {

Result<WorkerParts> make_worker_parts(const Welcome& welcome, Group group) {
  const Job& job = welcome.job;
  auto model = make_job_model(job);
  if (!model.ok()) return model.error();
  if (model->hash != welcome.model_hash) {
    return {Errc::unsupported, "this build lays out the model differently from the aggregator's: update the older one"};
  }
  const std::size_t size = model->initial(group).size();
  const bool owner = group == Group::fc && job.fc_workers == 1;
  auto memory = compress::ErrorFeedback::make(owner ? "dense" : job.compress, model->segments(group), size);
  if (!memory.ok()) return memory.error();
  memory->take_seat({welcome.number, group == Group::conv ? job.conv_workers : job.fc_workers});
  auto optimizer = params::make_worker_optimizer(job, owner, size);
  if (!optimizer.ok()) return optimizer.error();
  auto schedule = params::make_schedule(job.schedule);
  if (!schedule.ok()) return schedule.error();
  const auto boundary = group == Group::conv ? compress::boundary_spec(job.boundary)
                                             : compress::boundary_gradients_spec(job.boundary_gradients, job.boundary);
  if (!boundary.ok()) return boundary.error();
  bool masks = false;
  if (group == Group::fc && boundary->keep != compress::BoundaryKeep::all) {
    const auto layers = nn::parse_model(job.model, {job.channels, job.height, job.width}, job.classes, true);
    const auto activations = compress::boundary_spec(job.boundary);
    masks = layers.ok() && nn::ends_rectified(layers->conv) && activations.ok() && activations->tells_zeros();
  }
  const bool gradients = !params::adds(job) && !owner;
  std::optional<compress::ErrorFeedback> warmup;
  if (gradients && params::warms_up_uncompressed(job)) {
    auto dense = compress::ErrorFeedback::make("dense", model->segments(group), size);
    if (!dense.ok()) return dense.error();
    warmup = std::move(*dense);
  }
  std::vector<float> initial = model->initial(group);
  params::Replica replica = gradients ? params::Replica::of_gradients(std::move(initial), std::move(*memory), std::move(warmup))
                                      : params::Replica(std::move(initial), std::move(*memory));
  const auto alpha = params::parse_take_policy(job.take_policy);
  if (!alpha.ok()) return alpha.error();
  if (!owner) replica.mix(*alpha);
  const auto local = params::make_local_policy(job);
  if (!local.ok()) return local.error();
  std::optional<params::NoiseMeter> noise;
  if (group == Group::conv && (*local)->wants_noise()) noise.emplace(size);
  return WorkerParts{std::move(*model), std::move(replica), std::move(*optimizer), std::move(*schedule), *boundary, masks,
                     std::move(noise),  gradients};
}

}  // namespace hourglass

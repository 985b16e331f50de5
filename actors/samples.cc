// SPDX-License-Identifier: Apache-2.0
#include "actors/samples.h"

#include <algorithm>

namespace hourglass {
namespace {

std::uint64_t digest_of(const Batch& batch) {
  const std::uint64_t parts[] = {fingerprint(batch.images), fingerprint(std::as_bytes(std::span(batch.labels)))};
  return fingerprint(std::as_bytes(std::span(parts)));
}

}  // namespace

ExitCode Samples::exit_code_of(const Error& error) {
  switch (error.code) {
    case Errc::unsupported: return ExitCode::protocol;
    case Errc::bad_config: return ExitCode::config;
    default: return ExitCode::missing_data;
  }
}

Result<Samples> Samples::load(const DatasetSource& source, const Job& job) {
  const auto row = data::find_dataset(job.dataset);
  if (!row.ok()) return row.error();
  if ((*row)->channels != job.channels || (*row)->height != job.height || (*row)->width != job.width || (*row)->classes != job.classes) {
    return {Errc::unsupported, "this build describes dataset '" + job.dataset + "' differently from the aggregator's"};
  }
  auto train = source(job.dataset, data::Split::train, job.seed);
  if (!train.ok()) return train.error();
  auto test = source(job.dataset, data::Split::test, job.seed);
  if (!test.ok()) return test.error();
  return Samples(**row, std::move(*train), std::move(*test));
}

Status Samples::gather(Batch& batch) const {
  const data::Dataset& dataset = split(batch.mode);
  for (const std::uint32_t id : batch.ids) {
    if (id >= dataset.size()) return {Errc::bad_data, "sample " + std::to_string(id) + " of " + std::to_string(dataset.size())};
  }
  batch.images.clear();
  batch.labels.clear();
  batch.images.reserve(batch.ids.size() * dataset.sample_bytes());
  for (const std::uint32_t id : batch.ids) {
    const auto image = dataset.image(id);
    batch.images.insert(batch.images.end(), image.begin(), image.end());
    batch.labels.push_back(dataset.label(id));
  }
  batch.mean = row_->mean;
  batch.deviation = row_->deviation;
  return {};
}

void Samples::strip(Batch& batch) {
  batch.digest = digest_of(batch);
  batch.images.clear();
  batch.labels.clear();
  batch.mean.clear();
  batch.deviation.clear();
}

Status Samples::restore(Batch& batch) const {
  if (Status gathered = gather(batch); !gathered.ok()) return gathered;
  if (digest_of(batch) == batch.digest) return {};
  return {Errc::bad_data,
          "the samples here are others than the data loader's: give all machines the same files, or let the loader send them (data.local "
          "= false)"};
}

}  // namespace hourglass

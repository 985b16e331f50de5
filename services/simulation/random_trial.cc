// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "services/simulation/trial.h"

namespace hourglass {
namespace {

constexpr std::size_t kTrain = 480, kTest = 60;

/// The first samples of the synthetic set, which is made once: it is the same for every seed of a trial.
Result<data::Dataset> tiny_data(std::string_view name, data::Split split, std::uint64_t /*seed*/) {
  static std::array<std::optional<data::Dataset>, 2> made;
  const bool train = split == data::Split::train;
  std::optional<data::Dataset>& slot = made.at(train ? 0 : 1);
  if (!slot) {
    auto whole = data::load_dataset(name, "", split, 1);
    if (!whole.ok()) return whole.error();
    const std::size_t count = train ? kTrain : kTest;
    Bytes images;
    std::vector<std::uint16_t> labels;
    for (std::size_t i = 0; i < count; ++i) {
      const auto image = whole->image(i);
      images.insert(images.end(), image.begin(), image.end());
      labels.push_back(whole->label(i));
    }
    slot.emplace(whole->sample_bytes(), std::move(images), std::move(labels));
  }
  return *slot;
}

template <class T, std::size_t N>
T one_of(const T (&choices)[N], Random& random) {
  return choices[random.below(N)];
}

Job random_job(Random& random) {
  Job job;
  job.dataset = "synthetic";
  job.conv_workers = 1 + static_cast<std::uint32_t>(random.below(8));
  job.fc_workers = one_of<std::uint32_t>({0, 1, 1, 2, 3}, random);
  job.model =
      job.fc_workers > 0 ? "conv 2 kernel=5 stride=4 | relu | flatten | cut | fc" : "conv 2 kernel=5 stride=4 | relu | flatten | fc";
  job.staleness = one_of<std::int64_t>({0, 1, 3, 8, kUnlimited}, random);
  job.local_steps = one_of<std::uint32_t>({1, 1, 2, 3}, random);
  job.outstanding = 1 + static_cast<std::uint32_t>(random.below(3));
  job.compress = one_of<const char*>({"dense", "topk ratio=0.1 | two_level | rice", "topk ratio=0.3", "dense | qsgd"}, random);
  job.downlink = one_of<const char*>({"dense", "topk ratio=0.1", "topk ratio=0.4"}, random);
  job.publish_every = one_of<std::uint32_t>({1, 1, 0}, random);
  if (job.conv_workers > 2 && random.below(4) == 0) {
    job.tree_arity = 2 + static_cast<std::uint32_t>(random.below(2));
    job.tree_keep = one_of<double>({1, 2, 64}, random);
  }
  job.batch = 8;
  job.samples = one_of<std::uint64_t>({480, 480, 640}, random);
  job.evaluate_every = one_of<std::uint64_t>({0, 0, 160}, random);
  job.learning_rate = 0.1;
  job.dead_after_seconds = 3;
  job.start_timeout_seconds = 10;
  return job;
}

sim::SimOptions random_network(Random& random) {
  using std::chrono::milliseconds;
  sim::SimOptions out;
  out.link.latency = one_of<Duration>({milliseconds(1), milliseconds(10), milliseconds(80)}, random);
  out.link.jitter = one_of<Duration>({milliseconds(0), milliseconds(5), milliseconds(200)}, random);
  out.link.tail = one_of<Duration>({milliseconds(0), milliseconds(0), milliseconds(300)}, random);
  out.link.loss = random.below(2) == 0 ? 0 : 0.3 * random.uniform();
  out.link.duplication = random.below(2) == 0 ? 0 : 0.2 * random.uniform();
  out.link.reorder = random.below(2) == 0;
  out.nic_bytes_per_second = one_of<double>({0, 0, 2e6, 2e5}, random);
  out.unreachable_is_silent = random.below(2) == 0;
  out.credit_bytes = one_of<std::size_t>({256U << 20, 64U << 10, 16U << 10}, random);
  return out;
}

/// Does this cluster learn enough in so few steps for the loss to tell?
bool learns(const TrialOptions& trial) {
  const Job& job = trial.cluster.job;
  const std::uint64_t rounds = job.samples / (std::uint64_t{job.batch} * job.conv_workers * job.local_steps);
  bool forgets = false;  // the only FC worker takes what it learned with it
  for (const Fault& fault : trial.faults) forgets = forgets || (fault.who.role == Role::fc_worker && job.fc_workers == 1);
  // One worker that is three units of several steps ahead of its own pushes diverges by itself.
  const bool hasty = job.conv_workers == 1 && job.outstanding > 2 && job.local_steps > 1;
  return rounds >= 10 && !hasty && !forgets && job.fc_workers < 3 && job.downlink == "dense" &&
         job.compress != "topk ratio=0.1 | two_level | rice";
}

}  // namespace

std::string describe(const SimulatedClusterOptions& cluster) {
  const Job& job = cluster.job;
  const sim::SimOptions& network = cluster.network;
  const auto ms = [](Duration d) { return std::to_string(static_cast<long>(1000 * seconds(d))); };
  std::string out = "conv " + std::to_string(job.conv_workers) + ", fc " + std::to_string(job.fc_workers);
  if (job.tree_arity > 0) out += ", tree " + std::to_string(job.tree_arity);
  out += "; staleness " + (job.staleness == kUnlimited ? "unlimited" : std::to_string(job.staleness)) + ", H " +
         std::to_string(job.local_steps) + ", W " + std::to_string(job.outstanding) + "; " + job.compress + " / " + job.downlink +
         ", publish_every " + std::to_string(job.publish_every) + "; latency " + ms(network.link.latency) + "+" + ms(network.link.jitter) +
         "+" + ms(network.link.tail) + " ms" + (network.link.reorder ? ", reordering" : "");
  char shares[64];
  std::snprintf(shares, sizeof shares, ", loss %.3f, twice %.3f, credit %zu", network.link.loss, network.link.duplication,
                network.credit_bytes);
  return out + shares;
}

TrialOptions random_trial(std::uint64_t seed) {
  using std::chrono::milliseconds;
  Random random = Random(seed).fork("trial");
  TrialOptions out;
  SimulatedClusterOptions& cluster = out.cluster;
  cluster.seed = seed;
  cluster.job = random_job(random);
  cluster.network = random_network(random);
  if (cluster.network.link.loss > 0.1) cluster.job.dead_after_seconds = 10;  // three beats in a row are lost too often
  cluster.source = tiny_data;
  cluster.monitor = random.below(4) == 0;
  cluster.compute.conv = one_of<Duration>({milliseconds(60), milliseconds(150), milliseconds(400)}, random);
  cluster.compute.fc = one_of<Duration>({milliseconds(5), milliseconds(40)}, random);
  const bool recovers = random.below(2) == 0;
  if (recovers) cluster.recovery.checkpoint_every_seconds = one_of<double>({0.5, 2, 5}, random);
  out.faults = random_faults(cluster.job, random.below(8), std::chrono::seconds(8), !recovers, random);
  out.loss_falls = learns(out);
  const bool watched =
      cluster.monitor && std::ranges::none_of(out.faults, [](const Fault& fault) { return fault.who.role == Role::monitor; });
  if (watched && random.below(2) == 0) {
    const auto at = milliseconds(random.below(6000));
    out.pause.emplace(at, milliseconds(500 + random.below(8000)));
  }
  return out;
}

}  // namespace hourglass

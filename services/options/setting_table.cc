// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "services/chaos/nemesis.h"
#include "services/options/setting.h"
#include "services/options/setting_kinds.h"

namespace hourglass {
namespace {

// Ranges are those of Job::fields: a job that passes here passes the codec.
#define HG_MEMBER(path) \
  [](auto& settings) -> auto& { return settings.path; }

std::vector<Setting> make_table() {
  using namespace kinds;
  constexpr std::int64_t kMany = 1'000'000'000'000'000;
  const std::string folder = "a folder, or empty";
  const std::string policies = "see `hourglass policies`";
  const std::string specs = "see `hourglass compressors`";
  return {
      per_process(
          text("run.dir", "--run-dir", folder, "folder for the model, logs and result; empty: a new one below ./runs", HG_MEMBER(run_dir))),
      per_process(real("run.checkpoint_every", "--checkpoint-every", 0, 1e6,
                       "seconds between checkpoints, which is how much work a crash of the aggregator can cost; 0: none",
                       HG_MEMBER(checkpoint_every))),
      per_process(whole("run.keep_checkpoints", "--keep-checkpoints", 1, 1000,
                        "newest checkpoints to keep; the best by accuracy stays, too", HG_MEMBER(keep_checkpoints))),
      per_process(choice("run.recover", "--recover", {"auto", "never"},
                         "auto: an aggregator goes on with the unfinished run of its folder; never: it removes that", HG_MEMBER(recover))),
      whole("run.seed", "--seed", 0, std::numeric_limits<std::int64_t>::max(), "seed of every random choice", HG_MEMBER(job.seed)),

      spec("model.name", "--model", "a name of `hourglass models` or a layer spec", "model", HG_MEMBER(job.model)),

      spec("data.set", "--dataset", "a name of `hourglass datasets`", "dataset", HG_MEMBER(job.dataset)),
      per_process(
          text("data.dir", "--data-dir", folder, "folder with the dataset's files; empty: the dataset's default", HG_MEMBER(data_dir))),
      yes_no("data.local", "--local-data", "CONV workers read the dataset themselves; batches name samples only",
             HG_MEMBER(job.local_data)),

      whole("cluster.conv_workers", "--conv-workers", 1, 1000, "CONV workers to wait for at the start", HG_MEMBER(job.conv_workers)),
      whole("cluster.fc_workers", "--fc-workers", 0, 100, "FC workers; 0: no cut, the whole model on the CONV workers",
            HG_MEMBER(job.fc_workers)),
      whole("cluster.tree_arity", "--tree-arity", 0, 64,
            "most children of the aggregator and of each tree node between it and the CONV workers; 0 or 1: no tree nodes",
            HG_MEMBER(job.tree_arity)),
      real("cluster.tree_keep", "--tree-keep", 0.01, 1024, "entries that a tree node forwards, in multiples of what one child pushed",
           HG_MEMBER(job.tree_keep)),
      real("cluster.start_timeout", "--start-timeout", 1, 86400, "seconds after which to start with fewer CONV workers",
           HG_MEMBER(job.start_timeout_seconds)),
      real("cluster.dead_after", "--dead-after", 1, 3600, "seconds without heartbeat after which a member is removed",
           HG_MEMBER(job.dead_after_seconds)),

      whole("train.batch", "--batch", 1, limits::kBatchSamples, "samples per CONV worker and step", HG_MEMBER(job.batch)),
      whole("train.epochs", "--epochs", 1, 1'000'000, "passes over the training set", HG_MEMBER(job.epochs)),
      whole("train.samples", "--samples", 0, kMany, "stop after this many training samples; 0: epochs decide", HG_MEMBER(job.samples)),
      whole("train.evaluate_every", "--evaluate-every", 0, kMany, "training samples between evaluations; 0: after each epoch",
            HG_MEMBER(job.evaluate_every)),
      whole("train.staleness", "--staleness", 0, 1'000'000, "most steps a worker may be ahead of the slowest; 0: synchronous",
            HG_MEMBER(job.staleness), Word{"unlimited", kUnlimited}),
      whole("train.local_steps", "--local-steps", 1, limits::kLocalSteps, "steps between two pushes", HG_MEMBER(job.local_steps)),
      spec("train.bound_policy", "--bound-policy", "a bound policy, " + policies,
           "what is granted beyond the bound, as \"dynamic range=4\"", HG_MEMBER(job.bound_policy)),
      spec("train.local_policy", "--local-policy", "a local policy, " + policies,
           "who takes how many steps between two pushes, as \"speed max=64\"", HG_MEMBER(job.local_policy)),
      spec("train.stale_policy", "--stale-policy", "a stale policy, " + policies, "what a late push is worth, as \"polynomial power=0.5\"",
           HG_MEMBER(job.stale_policy)),
      spec("train.apply_policy", "--apply-policy", "an apply policy, " + policies, "when pushes are applied, as \"buffer size=4\"",
           HG_MEMBER(job.apply_policy)),
      spec("train.take_policy", "--take-policy", "a take policy, " + policies,
           "how workers take in published parameters, as \"mix alpha=0.5\"", HG_MEMBER(job.take_policy)),
      whole("train.outstanding", "--outstanding", 1, 32, "batches a CONV worker has under way", HG_MEMBER(job.outstanding)),
      whole("train.fc_batch_samples", "--fc-batch-samples", 1, 1 << 20, "most samples of one FC step", HG_MEMBER(job.fc_batch_samples)),
      real("train.learning_rate", "--learning-rate", 0, 1000, "base learning rate", HG_MEMBER(job.learning_rate)),
      spec("train.optimizer", "--optimizer", "an optimizer spec", "as \"sgd momentum=0.9 nesterov=1\"", HG_MEMBER(job.optimizer)),
      spec("train.server", "--server", "\"add\" or an optimizer spec",
           "what the aggregator makes of pushes; an optimizer takes gradients, as amsgrad", HG_MEMBER(job.server)),
      spec("train.schedule", "--schedule", "a schedule spec", "as \"cosine warmup=0.05\"", HG_MEMBER(job.schedule)),
      real("train.weight_decay", "--weight-decay", 0, 10, "added to the gradient, times the parameters", HG_MEMBER(job.weight_decay)),

      spec("bytes.compress", "--compress", "a compressor spec, " + specs, "what workers push, as \"topk ratio=0.01 | two_level | rice\"",
           HG_MEMBER(job.compress)),
      spec("bytes.downlink", "--downlink", "a compressor spec, " + specs, "what workers are sent", HG_MEMBER(job.downlink)),
      whole("bytes.publish_every", "--publish-every", 1, 1'000'000,
            "pushes between two publications of a compressed downlink; round: one of each active worker (fewest bytes)",
            HG_MEMBER(job.publish_every), Word{"round", 0}),
      spec("bytes.boundary", "--boundary", "a boundary spec, " + specs,
           "activations and their gradients at the cut, as f32, bf16, u8, \"zeros | u6\"", HG_MEMBER(job.boundary)),
      spec("bytes.boundary_gradients", "--boundary-gradients", "a boundary spec or \"same\"",
           "the gradients alone, as u4, \"sampled ratio=0.1 | u8\"", HG_MEMBER(job.boundary_gradients)),
      yes_no("bytes.flush_residual", "--flush-residual", "at the end, push what error feedback still holds", HG_MEMBER(job.flush_residual)),
      whole("bytes.credit", "--credit", 1 << 20, std::int64_t{1} << 40, "most bytes queued towards one peer", HG_MEMBER(job.credit_bytes)),

      per_process(whole("process.threads", "--threads", 1, 256, "threads of each worker; auto: what the CPU quota allows",
                        HG_MEMBER(threads), Word{"auto", 0})),
      per_process(address("process.aggregator", "--aggregator", "where the aggregator listens", HG_MEMBER(aggregator))),
      per_process(address("process.listen", "--listen", "where this process listens; port 0: any free one", HG_MEMBER(listen))),
      per_process(text("process.host", "--host", "a host name or address, or empty", "address that peers should use; empty: found out",
                       HG_MEMBER(host), limits::kNameBytes)),
      per_process(text("process.name", "--name", "at most 128 bytes of text", "what people call this process; empty: its host name",
                       HG_MEMBER(name), limits::kNameBytes)),
      per_process(text("process.port_file", "--port-file", "a file, or empty", "file that receives the bound port", HG_MEMBER(port_file))),
      per_process(text("process.health_file", "--health-file", "a file, \"auto\" or \"off\"", "what `hourglass healthcheck` reads",
                       HG_MEMBER(health_file))),

      per_process(
          whole("monitor.port", "--monitor-port", 0, 65535, "HTTP port of the dashboard; 0: any free one", HG_MEMBER(monitor_port))),
      per_process(
          spec("monitor.bind", "--monitor-bind", "an address of this host", "HTTP address of the dashboard", HG_MEMBER(monitor_bind))),
      secret(per_process(
          text_where("monitor.token", "--monitor-token", "8 to 128 of A-Z a-z 0-9 - _ . ~, or empty",
                     "lets people pause, resume, checkpoint, stop on the dashboard; empty: the run folder's monitor.token, or a new one",
                     HG_MEMBER(monitor_token), [](std::string_view text) { return text.empty() || is_token(text); }))),
      per_process(text("monitor.tensorboard", "--tensorboard", folder,
                       "folder for TensorBoard event files, in one folder for each run; empty: none", HG_MEMBER(tensorboard))),

      of_simulation(real("simulate.bandwidth", "--bandwidth", 0, 1e6, "Mbit/s of each process's network card, both ways; 0: unlimited",
                         HG_MEMBER(simulation.bandwidth_mbit))),
      of_simulation(
          real("simulate.latency", "--latency", 0, 60000, "milliseconds that each message travels", HG_MEMBER(simulation.latency_ms))),
      of_simulation(real("simulate.jitter", "--jitter", 0, 60000, "most milliseconds added to the latency, at random",
                         HG_MEMBER(simulation.jitter_ms))),
      of_simulation(real("simulate.loss", "--loss", 0, 0.9, "share of messages that vanish", HG_MEMBER(simulation.loss))),
      of_simulation(real("simulate.conv_time", "--conv-time", 0, 1e6, "milliseconds of a CONV worker's forward and backward of one batch",
                         HG_MEMBER(simulation.conv_ms))),
      of_simulation(
          real("simulate.fc_time", "--fc-time", 0, 1e6, "milliseconds of an FC worker's step on one batch", HG_MEMBER(simulation.fc_ms))),
      of_simulation(
          text("simulate.faults", "--faults", "a file, \"random\", or empty",
               "what goes wrong, and when: a script of [[fault]] tables, or a schedule that the seed draws; see docs/operations.md",
               HG_MEMBER(simulation.faults))),
      of_simulation(whole("simulate.seeds", "--seeds", 0, kMany,
                          "run so many seeds, one after the other, under random faults where --faults names no others; 0: one run",
                          HG_MEMBER(simulation.seeds))),
      of_simulation(
          whole("simulate.first_seed", "--first-seed", 0, kMany, "first of them; 0: that of --seed", HG_MEMBER(simulation.first_seed))),
      of_simulation(yes_no("simulate.random_cluster", "--random-cluster",
                           "the seed draws the whole job, a tiny one, its network and its faults; the settings of the job are not used",
                           HG_MEMBER(simulation.random_cluster))),
      of_simulation(
          text("simulate.trace", "--trace", "a file, or empty", "writes a line for each message and fault", HG_MEMBER(simulation.trace))),
      of_simulation(text("simulate.compare", "--compare", "a file, or empty", "a trace that the run must repeat; stops where it does not",
                         HG_MEMBER(simulation.compare))),
      of_simulation(text("simulate.slow", "--slow", "as \"conv-0:10, fc-1:2.5\", or empty",
                         "workers that take so many times as long for each batch", HG_MEMBER(simulation.slow))),
      of_simulation(real("simulate.pause_time", "--pause-time", 0, 1e6, "milliseconds that a CONV worker stands still, at random batches",
                         HG_MEMBER(simulation.pause_ms))),
      of_simulation(
          real("simulate.pause_share", "--pause-share", 0, 1, "share of the batches where it does", HG_MEMBER(simulation.pause_share))),
      of_simulation(yes_no("simulate.free_evaluation", "--free-evaluation", "evaluations cost no time and no network",
                           HG_MEMBER(simulation.free_evaluation))),

      of_chaos(real("chaos.minutes", "--minutes", 0.01, 100000, "no strike after so many minutes of training", HG_MEMBER(chaos.minutes))),
      of_chaos(text_where("chaos.every", "--every", "seconds or a range of seconds, as 5-20",
                          "pause between two strikes, drawn anew each time", HG_MEMBER(chaos.every),
                          [](const std::string& text) { return chaos::parse_pauses(text).has_value(); })),
      of_chaos(text_where("chaos.roles", "--roles", "a list of conv, fc, loader, tree, monitor, aggregator",
                          "whose processes are struck; the aggregator is not asked to leave, which would end the run, but killed",
                          HG_MEMBER(chaos.roles), [](const std::string& text) { return chaos::parse_roles(text).has_value(); })),
      of_chaos(text_where("chaos.actions", "--actions", "a list of kill, stop, term",
                          "SIGKILL; SIGSTOP, and SIGCONT after up to 1.5 times cluster.dead_after; SIGTERM", HG_MEMBER(chaos.actions),
                          [](const std::string& text) { return chaos::parse_actions(text).has_value(); })),

      per_process(choice("log.format", "--log-format", {"auto", "text", "json"}, "auto: text, JSON lines inside containers",
                         HG_MEMBER(log_format))),
      per_process(
          choice("log.level", "--log-level", {"debug", "info", "warning", "error"}, "least severe line to write", HG_MEMBER(log_level))),
  };
}

#undef HG_MEMBER

}  // namespace

std::string Setting::environment_name() const {
  std::string out = "HOURGLASS_";
  for (const char c : flag.substr(2)) out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

const std::vector<Setting>& setting_table() {
  static const std::vector<Setting> table = make_table();
  return table;
}

const Setting* find_setting(std::string_view key) {
  const auto& table = setting_table();
  const auto row = std::find_if(table.begin(), table.end(), [key](const Setting& each) { return each.key == key; });
  return row == table.end() ? nullptr : &*row;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const auto& row : setting_table()) keys.emplace_back(row.key);
  return keys;
}

const std::vector<OtherVariable>& other_variables() {
  static const std::vector<OtherVariable> rows = {
      {"HOURGLASS_JOB", "job file to read where the command line names none"},
      {"HOURGLASS_NO_INSTALL", "1: the ./hourglass wrapper only lists the packages it would install"},
      {"HOURGLASS_SKIP_PACKAGES", "1: the ./hourglass wrapper does not look for packages"},
      {"HOURGLASS_COMMIT", "while building: the commit that --version names"},
      {"HOURGLASS_IMAGE", "the container image of docker-compose.yml"},
      {"HOURGLASS_BASELINE", "1: use the code for any x86-64 processor"},
  };
  return rows;
}

}  // namespace hourglass

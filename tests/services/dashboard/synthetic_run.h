// SPDX-License-Identifier: Apache-2.0
// A training run that never was, told to a real monitor by real messages: for looking at the dashboard and for testing it.
#pragma once

#include <cmath>

#include "tests/actors/monitor_bench.h"
#include "tests/services/dashboard/synthetic_spans.h"

namespace hourglass {

struct SyntheticOptions {
  std::uint32_t conv_workers = 4, fc_workers = 1;
  double run_seconds = 400;    ///< until the data is used up
  bool lose_one = false;       ///< a CONV worker vanishes in the middle
  std::string host = "node-";  ///< of the workers; a number follows
};

class SyntheticRun {
 public:
  SyntheticRun(StateSink* sink, SyntheticOptions options, CommandSource* commands = nullptr)
      : bench_(sink, "node-0", commands), options_(options) {
    bench_.start();
    Welcome welcome;
    welcome.run = kRun;
    welcome.generation = 1;
    welcome.job = job();
    bench_.deliver(kAggregator, welcome);
    add(Role::data_loader, 1);
    for (std::uint32_t i = 0; i < options_.conv_workers; ++i) add(Role::conv_worker, i + 1);
    for (std::uint32_t i = 0; i < options_.fc_workers; ++i) add(Role::fc_worker, i + 1);
    add_self();
    deliver_roster();
    bench_.deliver(kAggregator, RunPhase{1, Phase::training});
  }

  void deliver(const CommandReply& reply) { bench_.deliver(kAggregator, reply); }

  /// One second passes.
  void tick() {
    if (bench_.exit_code) return;
    time_ += 1;
    HeartbeatReply alive;
    alive.generation = 1;
    bench_.deliver(kAggregator, alive);
    const bool lost = options_.lose_one && time_ > options_.run_seconds / 2;
    for (Worker& worker : workers_) {
      if (lost && worker.member.id.role == Role::conv_worker && worker.member.number == 2) worker.gone = true;
      if (!worker.gone && worker.member.id != MonitorBench::kSelf) report(worker);
    }
    report_aggregator();
    bench_.deliver(kAggregator, status(time_ < options_.run_seconds ? Phase::training : Phase::finished));
    bench_.advance(std::chrono::seconds(1));
  }
  [[nodiscard]] double time() const { return time_; }
  MonitorBench& bench() { return bench_; }

 private:
  static constexpr std::uint64_t kRun = 0x5eed0123456789abULL;
  static constexpr double kBatch = 64, kSamplesTotal = 600000;
  struct Worker {
    Member member;
    double samples = 0, cpu = 0;
    std::map<std::string, double> sent;
    std::uint64_t sequence = 0;
    bool gone = false;
  };

  [[nodiscard]] Job job() const {
    Job job;
    job.conv_workers = options_.conv_workers;
    job.fc_workers = options_.fc_workers;
    job.epochs = 10;
    job.compress = "topk ratio=0.01 | two_level | rice";
    job.downlink = "topk ratio=0.01 | two_level | rice";
    job.boundary = "bf16";
    return job;
  }
  void add(Role role, std::uint32_t number) {
    Worker worker;
    worker.member.id = {role, 1000 * static_cast<std::uint32_t>(role) + number};
    worker.member.number = number;
    worker.member.name = options_.host + std::to_string(role == Role::conv_worker ? number : 0);
    worker.member.endpoint = "tcp://10.0.0." + std::to_string(10 + number) + ":4100" + std::to_string(static_cast<int>(role));
    worker.member.active = true;
    workers_.push_back(worker);
  }
  void add_self() {
    add(Role::monitor, 1);
    workers_.back().member.id = MonitorBench::kSelf;
  }
  void deliver_roster() {
    Roster roster;
    roster.generation = 1;
    roster.revision = 1;
    for (const Worker& worker : workers_) roster.members.push_back(worker.member);
    bench_.deliver(kAggregator, roster);
  }
  double wobble(double size) { return 1 + size * random_.normal(); }

  static double speed_of(const Worker& worker) { return 380.0 - 25.0 * ((worker.member.number - 1) % 12 + 1); }

  void report(Worker& worker) {
    const Role role = worker.member.id.role;
    const double speed = role == Role::conv_worker ? speed_of(worker) : role == Role::fc_worker ? speed_all() : 0;
    const double samples = std::max(0.0, speed * wobble(0.04));
    worker.samples += samples;
    worker.cpu += role == Role::conv_worker ? 0.97 : role == Role::fc_worker ? 0.55 : 0.06;
    const auto send = [&](const char* kind, double payload) {
      worker.sent["sent." + std::string(kind) + ".payload"] += payload;
      worker.sent["sent." + std::string(kind) + ".socket"] += payload * 1.004 + 300;
    };
    if (role == Role::data_loader) send("batch", speed_all() * 785 * wobble(0.05));
    if (role == Role::conv_worker) {
      send("activations", samples * 3136 * 2 * 0.45);
      send("push_conv", samples / kBatch * 2100 * wobble(0.1));
      if (options_.fc_workers == 0) send("push_fc", samples / kBatch * 31000);
    }
    if (role == Role::fc_worker) send("activation_gradients", samples * 3136 * 2);
    send("metrics", 1800);
    send("control", 420);
    MetricReport out;
    out.sequence = ++worker.sequence;
    out.uptime_seconds = time_;
    out.last = time_ >= options_.run_seconds;
    synthetic_spans(out, worker.member.id, worker.member.number, options_.conv_workers);
    for (const auto& [name, value] : worker.sent) out.values.push_back({name, value});
    if (role == Role::conv_worker || role == Role::fc_worker) out.values.push_back({"samples", worker.samples});
    if (role == Role::conv_worker) add_layers(out);
    out.values.push_back({"cpu_seconds", worker.cpu});
    out.values.push_back({"rss_bytes", (role == Role::conv_worker ? 168e6 : 92e6) + 1e6 * worker.member.number});
    bench_.deliver(worker.member.id, out);
  }
  /// As compression of a deeper model might look: later layers send less of more.
  void add_layers(MetricReport& out) {
    const auto layer = [&](const std::string& name, double density, double bits, double residual, double entropy) {
      out.values.push_back({"layer." + name + ".density", density});
      out.values.push_back({"layer." + name + ".bits", bits});
      out.values.push_back({"layer." + name + ".residual", residual * wobble(0.03)});
      out.values.push_back({"layer." + name + ".entropy", entropy});
    };
    for (int i = 1; i <= 6; ++i) {
      const double density = 0.04 / i / i * wobble(0.05);
      layer("conv" + std::to_string(i) + ".weight", density, 10.5 * density, 0.4 * i * (2 - std::exp(-time_ / 60)), 0.97 - 0.06 * i);
    }
    layer("conv1.bias +5", 1, 16, 0.002, 0.88);
  }
  void report_aggregator() {
    update_bytes_ += speed_all() / kBatch * 2600 * options_.conv_workers * wobble(0.08);
    MetricReport out;
    out.sequence = static_cast<std::uint64_t>(time_);
    out.uptime_seconds = time_;
    out.values = {{"sent.update_conv.payload", update_bytes_},
                  {"sent.update_conv.socket", update_bytes_ * 1.01},
                  {"sent.snapshot.payload", 210e3},
                  {"sent.snapshot.socket", 211e3},
                  {"cpu_seconds", time_ * 0.21},
                  {"rss_bytes", 74e6}};
    synthetic_spans(out, kAggregator, 0, options_.conv_workers);
    bench_.deliver(kAggregator, out);
  }
  [[nodiscard]] double speed_all() const {
    double sum = 0;
    for (const Worker& worker : workers_) {
      if (worker.member.id.role == Role::conv_worker && !worker.gone) sum += speed_of(worker);
    }
    return sum;
  }
  RunStatus status(Phase phase) {
    RunStatus out;
    out.run = kRun;
    out.generation = 1;
    out.phase = phase;
    out.model = "cnn";
    out.dataset = "fashion_mnist";
    out.progress = std::min(1.0, time_ / options_.run_seconds);
    out.epochs = 10;
    out.epoch = static_cast<std::uint32_t>(out.progress * 10);  // from 0
    out.samples_total = static_cast<std::uint64_t>(kSamplesTotal);
    out.samples_done = static_cast<std::uint64_t>(out.progress * kSamplesTotal);
    out.samples_repeated = options_.lose_one && time_ > options_.run_seconds / 2 ? 192 : 0;
    out.seconds = time_;
    out.samples_per_second = phase == Phase::training ? speed_all() * wobble(0.02) : 0;
    out.loss = (0.22 + 2.1 * std::exp(-time_ / 28)) * wobble(0.025);
    out.staleness_bound = 4;
    while (static_cast<double>(history_.size()) < std::floor(out.progress * 10)) {
      const double t = static_cast<double>(history_.size() + 1);
      history_.push_back({time_, static_cast<std::uint64_t>(t * kSamplesTotal / 10), static_cast<std::uint64_t>(t * 4e9),
                          0.29 + 0.5 * std::exp(-t / 1.6), 0.916 - 0.14 * std::exp(-t / 2.1)});
    }
    out.history = history_;
    const auto received = static_cast<std::uint64_t>(time_ * 19.7);
    const auto fc = static_cast<std::uint64_t>(time_ * 9.4);
    const std::uint64_t stale = received / 211;
    out.groups = {{received - stale,
                   received,
                   {received - stale, stale, 0, 0, 0},
                   0,
                   received / 300,
                   9,
                   2.31,
                   {received / 8, received / 4, received / 3}},
                  {fc, fc, {fc, 0, 0, 0, 0}, 0, 0, 0, 0, {fc}}};
    for (const Worker& worker : workers_) {
      MemberStatus member;
      member.id = worker.member.id;
      member.number = worker.member.number;
      member.name = worker.member.name;
      member.endpoint = worker.member.endpoint;
      member.active = worker.member.number != 4 || std::fmod(time_, 90) > 12;
      member.gone = worker.gone || phase == Phase::finished;
      member.clock = static_cast<std::uint64_t>(worker.samples / kBatch);
      member.version = received - stale - (worker.member.number % 3);
      member.last_seen_seconds = worker.gone ? time_ - options_.run_seconds / 2 : 0.2 + 0.15 * worker.member.number;
      out.members.push_back(member);
    }
    return out;
  }

  MonitorBench bench_;
  SyntheticOptions options_;
  Random random_{5};
  double time_ = 0, update_bytes_ = 0;
  std::vector<Worker> workers_;
  std::vector<HistoryRow> history_;
};

}  // namespace hourglass

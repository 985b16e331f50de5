// SPDX-License-Identifier: Apache-2.0
// The values of every setting of the command, after all sources have spoken.
#pragma once

#include <cstdint>
#include <string>

#include "messages/job.h"

namespace hourglass {

/// The machines and the network that `hourglass simulate` stands in for.
struct SimulationSettings {
  double bandwidth_mbit = 1000;  ///< of each process's network card; 0: unlimited
  double latency_ms = 0.2;
  double jitter_ms = 0;
  double loss = 0;      ///< probability that a message vanishes
  double conv_ms = 20;  ///< forward and backward of one CONV worker's batch
  double fc_ms = 8;     ///< an FC worker's step on one batch
  bool free_evaluation = false;
  std::string faults;            ///< a fault script, "random", or empty: none
  std::uint64_t seeds = 0;       ///< runs to make, one a seed; 0: one run, and no more said of it than of any run
  std::uint64_t first_seed = 0;  ///< 0: the job's
  bool random_cluster = false;   ///< the seed draws the job and the network, too
  std::string trace;             ///< file for one line a message; empty: none
  std::string compare;           ///< a trace that this run must repeat; empty: none
  std::string slow;              ///< see options/slow_workers.h
  double pause_ms = 0;           ///< that a CONV worker stands still, now and then,
  double pause_share = 0;        ///< at this share of its batches
};

/// What `hourglass chaos` does to its run. Texts as services/chaos/nemesis.h reads them.
struct ChaosSettings {
  double minutes = 2;
  std::string every = "5-20";
  std::string roles = "conv,fc,loader,tree,monitor,aggregator";
  std::string actions = "kill,stop,term";
};

struct Settings {
  Job job;  ///< `threads` and the sample's shape are filled in by complete() in options/validate.h
  SimulationSettings simulation;
  ChaosSettings chaos;
  double checkpoint_every = 60;           ///< seconds; 0: none
  std::uint32_t keep_checkpoints = 3;     ///< of the newest
  std::string recover = "auto";           ///< auto | never
  std::string run_dir;                    ///< empty: train makes one below ./runs; a role process uses the working folder
  std::string data_dir;                   ///< empty: the dataset's own default
  std::uint32_t threads = Job{}.threads;  ///< 0: as many as this process may use
  std::string aggregator;                 ///< host:port; needed by every role but the aggregator
  std::string listen;                     ///< host:port; empty: the role's default
  std::string host;                       ///< address that peers should use; empty: what the aggregator sees
  std::string name;                       ///< empty: the host's name
  std::string port_file;                  ///< empty: none
  std::string health_file = "auto";       ///< a path, "auto" (/tmp/hourglass.health inside a container, else none) or "off"
  std::uint32_t monitor_port = 8080;
  std::string monitor_bind = "127.0.0.1";
  std::string monitor_token;
  std::string tensorboard;          ///< folder for event files; empty: none
  std::string log_format = "auto";  ///< auto | text | json
  std::string log_level = "info";   ///< debug | info | warning | error
};

}  // namespace hourglass

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/fields.h"

namespace hourglass {

inline constexpr std::int64_t kUnlimited = -1;  ///< of `staleness`

/// Everything the actors of a run must agree on. The aggregator hands it out in Welcome, so workers need no settings of
/// their own. The option table in services/ gives each member its key, range, default origin and help.
struct Job {
  // model and data
  std::string model = "cnn";                                          ///< registry name or layer spec
  std::string dataset = "fashion_mnist";                              ///< registry name
  std::uint32_t channels = 1, height = 28, width = 28, classes = 10;  ///< of one sample, from the dataset's registry row
  std::uint64_t seed = 1;
  bool local_data = false;  ///< CONV workers have the dataset too: batches name samples only
  // cluster
  std::uint32_t conv_workers = 2;      ///< how many to wait for at the start; more may join, some may leave
  std::uint32_t fc_workers = 1;        ///< 0: no cut, the whole model on the CONV workers
  double start_timeout_seconds = 120;  ///< with fewer CONV workers than asked for, start after this (at least one)
  double dead_after_seconds = 10;      ///< a member without heartbeat for this long is removed
  std::uint32_t tree_arity = 0;  ///< most children of the aggregator and of each tree node, in the conv group; 0: a star, no tree nodes
  double tree_keep = 1;          ///< a tree node forwards so many times the most entries that one of its children pushed
  // training
  std::uint32_t batch = 32;  ///< samples per CONV worker and step; the learning rate is that of all workers' batches together
  std::uint32_t epochs = 3;
  std::uint64_t samples = 0;             ///< stop after this many training samples; 0: epochs decide
  std::uint64_t evaluate_every = 0;      ///< training samples between evaluations; 0: at the end of each epoch
  std::int64_t staleness = 4;            ///< bound s; kUnlimited
  std::uint32_t local_steps = 1;         ///< H
  std::string bound_policy = "fixed";    ///< of the bound s, spec of params/bound_policy.h
  std::string local_policy = "fixed";    ///< of H and of a step's batch, spec of params/local_policy.h
  std::string stale_policy = "equal";    ///< what a late push is worth, spec of params/stale_policy.h
  std::string apply_policy = "each";     ///< when pushes reach the parameters, spec of params/apply_policy.h
  std::string take_policy = "keep";      ///< how workers take in published parameters, spec of params/take_policy.h
  std::uint32_t outstanding = 2;         ///< W, batches a CONV worker has under way
  std::uint32_t fc_batch_samples = 256;  ///< most samples of one FC step
  // optimizer
  std::string optimizer = "sgd momentum=0.9";
  double learning_rate = 0.03;
  std::string schedule = "cosine warmup=0.02";  ///< a stale start at the full rate can kill a small net
  double weight_decay = 0;
  std::string server = "add";  ///< what the aggregator makes of pushes; see params/server_rule.h
  // bytes
  std::string compress = "dense";           ///< push, spec string
  std::string downlink = "dense";           ///< update, spec string
  std::uint32_t publish_every = 1;          ///< pushes between two publications of a compressed downlink; 0: one from each active worker
  std::string boundary = "f32";             ///< activations, and their gradients unless the next line differs; spec of compress/boundary.h
  std::string boundary_gradients = "same";  ///< spec, or "same"
  bool flush_residual = true;               ///< at the end, send what error feedback still holds
  // process
  std::uint32_t threads = 1;                  ///< per worker, for layers
  std::uint64_t credit_bytes = 256ULL << 20;  ///< most bytes queued towards one peer

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.text(m.model, limits::kSpecBytes);
    v.text(m.dataset, limits::kNameBytes);
    v.number(m.channels, 1, 1024);
    v.number(m.height, 1, 4096);
    v.number(m.width, 1, 4096);
    v.number(m.classes, 2, 65535);
    v.number(m.seed);
    v.flag(m.local_data);
    v.number(m.conv_workers, 1, 1000);
    v.number(m.fc_workers, 0, 100);
    v.real(m.start_timeout_seconds);
    v.real(m.dead_after_seconds);
    v.number(m.tree_arity, 0, 64);
    v.real(m.tree_keep);
    v.number(m.batch, 1, limits::kBatchSamples);
    v.number(m.epochs, 1, 1000000);
    v.number(m.samples);
    v.number(m.evaluate_every);
    v.number(m.staleness, kUnlimited, 1000000);
    v.number(m.local_steps, 1, limits::kLocalSteps);
    v.text(m.bound_policy, limits::kSpecBytes);
    v.text(m.local_policy, limits::kSpecBytes);
    v.text(m.stale_policy, limits::kSpecBytes);
    v.text(m.apply_policy, limits::kSpecBytes);
    v.text(m.take_policy, limits::kSpecBytes);
    v.number(m.outstanding, 1, 32);
    v.number(m.fc_batch_samples, 1, 1 << 20);
    v.text(m.optimizer, limits::kSpecBytes);
    v.real(m.learning_rate);
    v.text(m.schedule, limits::kSpecBytes);
    v.real(m.weight_decay);
    v.text(m.server, limits::kSpecBytes);
    v.text(m.compress, limits::kSpecBytes);
    v.text(m.downlink, limits::kSpecBytes);
    v.number(m.publish_every, 0, 1000000);
    v.text(m.boundary, limits::kSpecBytes);
    v.text(m.boundary_gradients, limits::kSpecBytes);
    v.flag(m.flush_residual);
    v.number(m.threads, 1, 256);
    v.number(m.credit_bytes, 1 << 20, 1ULL << 40);
  }
};

}  // namespace hourglass

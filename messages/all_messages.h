// SPDX-License-Identifier: Apache-2.0
// Every message of the protocol. The codec, the contract tests, the golden files and the fuzz targets go over this list.
#pragma once

#include <string_view>

#include "messages/activation_gradients.h"
#include "messages/activations.h"
#include "messages/activity.h"
#include "messages/batch.h"
#include "messages/batch_request.h"
#include "messages/command_reply.h"
#include "messages/data_progress.h"
#include "messages/evaluation_result.h"
#include "messages/goodbye.h"
#include "messages/gradient_push.h"
#include "messages/heartbeat.h"
#include "messages/heartbeat_reply.h"
#include "messages/hello.h"
#include "messages/lease_update.h"
#include "messages/metric_report.h"
#include "messages/parameter_request.h"
#include "messages/parameter_update.h"
#include "messages/phase_reached.h"
#include "messages/push_verdict.h"
#include "messages/refuse.h"
#include "messages/roster.h"
#include "messages/run_command.h"
#include "messages/run_phase.h"
#include "messages/run_status.h"
#include "messages/snapshot_chunk.h"
#include "messages/state_chunk.h"
#include "messages/state_request.h"
#include "messages/welcome.h"

/// X(struct, name in logs)
#define HOURGLASS_MESSAGES(X)                    \
  X(Hello, "hello")                              \
  X(Welcome, "welcome")                          \
  X(Refuse, "refuse")                            \
  X(Roster, "roster")                            \
  X(Heartbeat, "heartbeat")                      \
  X(HeartbeatReply, "heartbeat_reply")           \
  X(RunPhase, "run_phase")                       \
  X(PhaseReached, "phase_reached")               \
  X(Activity, "activity")                        \
  X(Goodbye, "goodbye")                          \
  X(BatchRequest, "batch_request")               \
  X(LeaseUpdate, "lease_update")                 \
  X(Batch, "batch")                              \
  X(DataProgress, "data_progress")               \
  X(EvaluationResult, "evaluation_result")       \
  X(Activations, "activations")                  \
  X(ActivationGradients, "activation_gradients") \
  X(GradientPush, "gradient_push")               \
  X(PushVerdict, "push_verdict")                 \
  X(ParameterRequest, "parameter_request")       \
  X(ParameterUpdate, "parameter_update")         \
  X(SnapshotChunk, "snapshot_chunk")             \
  X(StateRequest, "state_request")               \
  X(StateChunk, "state_chunk")                   \
  X(MetricReport, "metric_report")               \
  X(RunStatus, "run_status")                     \
  X(RunCommand, "run_command")                   \
  X(CommandReply, "command_reply")

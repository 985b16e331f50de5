// SPDX-License-Identifier: Apache-2.0
// The HTTP side of the monitor: page, JSON, server-sent events, health, Prometheus metrics. docs: GET /api/v1/state and look.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "services/dashboard/board.h"
#include "services/dashboard/checkpoint_files.h"
#include "services/dashboard/command_box.h"
#include "services/dashboard/earlier_runs.h"
#include "services/dashboard/http_server.h"

namespace hourglass {

struct DashboardOptions {
  std::string bind = "127.0.0.1";          ///< numeric address or "localhost"; 0.0.0.0 or :: in a container
  std::uint16_t port = 8080;               ///< 0: any free one
  MeasureModel measure = {};               ///< may be empty: then nothing is said about bytes before compression
  std::string token = {};                  ///< lets people give commands; empty: nobody may
  std::string run_folder = {};             ///< whose checkpoints are listed; empty: none
  DescribeCheckpoint describe = {};        ///< may be empty: then only their names and sizes are
  std::shared_ptr<EarlierRuns> runs = {};  ///< null: none to compare with
};

/// Serves from threads of its own until it is destroyed. On a loopback address it answers only to loopback names, so that a page from
/// elsewhere cannot read it by DNS rebinding. Commands need the token, and are not taken from pages of other sites.
///
///   /  /app.js  /app.css  /icon.svg  /licenses.txt   the page
///   /api/v1/state     the newest state, JSON
///   /api/v1/events    server-sent events: "snapshot" first, then "state" each second; id = sequence
///   /api/v1/series    curves; ?resolution=1|10|60, or the whole run
///   /api/v1/speeds    samples per second of each worker, the last five minutes
///   /api/v1/checkpoints        of the run folder, the newest first
///   /api/v1/checkpoints/NAME   one of them, as a file
///   /api/v1/commands/pause   POST, or resume, checkpoint, stop; Authorization: Bearer TOKEN
///                     202 and its number: the state tells what became of it
///   /api/v1/log       the newest events, JSON lines; ?from=ID
///   /api/v1/trace     what every process did in the last minute, as a Chrome trace
///   /api/v1/timeline  the same for the page's timeline; ?seconds=10|30|60
///   /api/v1/runs  /api/v1/runs/ID   earlier runs to compare with; curves of one
///   /livez  /readyz  /healthz   200 "ok"; /readyz: 503 until the aggregator knows the monitor
///   /metrics          Prometheus text format 0.0.4
class Dashboard {
 public:
  /// Errors: bad_config (no such address), io (port taken: the caller may try the next).
  static Result<std::unique_ptr<Dashboard>> start(const DashboardOptions& options);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// Where the monitor actor publishes, and takes commands from; both live as long as this.
  Board& sink() { return board_; }
  CommandSource& commands() { return commands_; }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] const Board& board() const { return board_; }

 private:
  explicit Dashboard(const DashboardOptions& options)
      : board_(options.measure), token_(options.token), checkpoints_(options.run_folder, options.describe), runs_(options.runs) {}
  http::Response answer(const http::Request& request);
  http::Response route(const http::Request& request);
  http::Response command(const http::Request& request);
  http::Response page(const http::Request& request);
  http::Response events(const http::Request& request);
  http::Response series(const http::Request& request);
  http::Response log(const http::Request& request);
  http::Response trace();
  http::Response timeline(const http::Request& request);
  http::Response metrics();
  http::Response checkpoint(std::string_view name);
  http::Response earlier_run(std::string_view id);
  void beat();

  Board board_;
  CommandBox commands_;
  std::string token_;
  CheckpointFiles checkpoints_;
  std::shared_ptr<EarlierRuns> runs_;
  bool loopback_ = true;
  std::unique_ptr<http::Server> server_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread beat_;
};

/// True where a Host header names this machine itself: localhost, a name under it, or a loopback address, with or without a port.
bool names_loopback(std::string_view host);

}  // namespace hourglass

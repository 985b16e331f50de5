// SPDX-License-Identifier: Apache-2.0
#include "services/history/history_store.h"

#include <algorithm>
#include <cstdio>

#include "services/dashboard/state_json.h"
#include "services/history/sql.h"

namespace hourglass {
namespace {
using sql::Statement;

/// How long a writer waits for another process, before the attempt is given up and made again with the next state.
constexpr int kBusyMs = 2000;

/// Step n makes schema n + 1 of schema n. What has been released is never changed here, only added to.
constexpr std::array<const char*, HistoryStore::kSchema> kMigrations = {
    "CREATE TABLE run (id TEXT PRIMARY KEY, model TEXT, dataset TEXT, phase TEXT, build TEXT, generation INTEGER, workers INTEGER,"
    " started_ms INTEGER, updated_ms INTEGER, seconds REAL, samples_done INTEGER, samples_total INTEGER, loss REAL, test_loss REAL,"
    " accuracy REAL, sent_bytes REAL, received INTEGER, applied INTEGER, rejected INTEGER, rolled_back INTEGER, balanced INTEGER);"
    "CREATE TABLE setting (run TEXT, key TEXT, value TEXT, PRIMARY KEY (run, key)) WITHOUT ROWID;"
    "CREATE TABLE series (run TEXT, step INTEGER, name TEXT, time REAL, mean REAL, least REAL, greatest REAL,"
    " PRIMARY KEY (run, step, name, time)) WITHOUT ROWID;",
    "ALTER TABLE run ADD COLUMN alarm TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE evaluation (run TEXT, samples INTEGER, seconds REAL, bytes INTEGER, loss REAL, accuracy REAL,"
    " PRIMARY KEY (run, samples)) WITHOUT ROWID;",
};

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string id_of(std::uint64_t run) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(run));
  return text;
}

double sent_bytes(const DashboardState& state) {
  double sum = 0;
  for (const TrafficState& traffic : state.traffic) sum += traffic.socket_bytes;
  return sum;
}

std::int64_t workers_of(const DashboardState& state) {
  return std::count_if(state.actors.begin(), state.actors.end(), [](const ActorState& actor) {
    return actor.presence != Presence::gone && (actor.id.role == Role::conv_worker || actor.id.role == Role::fc_worker);
  });
}
}  // namespace

Result<std::unique_ptr<HistoryStore>> HistoryStore::connect(const std::string& file, int flags) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<HistoryStore> store(new HistoryStore(database));
  if (code != SQLITE_OK) return Error{Errc::io, "history: cannot open " + file + ": " + sqlite3_errstr(code)};
  sqlite3_busy_timeout(database, kBusyMs);
  return store;
}

Result<std::unique_ptr<HistoryStore>> HistoryStore::open(const std::string& file, int schema) {
  auto store = connect(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!store.ok()) return store;
  // NORMAL: a power cut may cost the newest seconds, never the file.
  if (const Status set = sql::execute((*store)->database_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"); !set.ok()) {
    return Error{set.error().code, set.error().text + ": " + file};
  }
  if (const Status done = (*store)->migrate(schema); !done.ok()) return Error{done.error().code, done.error().text + ": " + file};
  return store;
}

Result<std::unique_ptr<HistoryStore>> HistoryStore::open_existing(const std::string& file) {
  auto store = connect(file, SQLITE_OPEN_READONLY);
  if (!store.ok()) return store;
  Statement version((*store)->database_, "PRAGMA user_version");
  if (!version.step()) return Error{version.status().error().code, version.status().error().text + ": " + file};
  return version.number(0) == kSchema ? std::move(store) : open(file);
}

Result<std::unique_ptr<HistoryStore>> HistoryStore::open_as_it_is(const std::string& file) {
  auto store = connect(file, SQLITE_OPEN_READONLY);
  if (!store.ok()) return store;
  Statement version((*store)->database_, "PRAGMA user_version");
  if (!version.step()) return Error{version.status().error().code, version.status().error().text + ": " + file};
  if (version.number(0) != kSchema) return Error{Errc::unsupported, "history: schema " + std::to_string(version.number(0)) + ": " + file};
  return store;
}

HistoryStore::~HistoryStore() { sqlite3_close_v2(database_); }

Status HistoryStore::migrate(int schema) {
  // Within the transaction nobody else can be at it.
  if (const Status begun = sql::execute(database_, "BEGIN IMMEDIATE"); !begun.ok()) return begun;
  std::int64_t found = 0;
  {
    Statement version(database_, "PRAGMA user_version");
    if (version.step()) found = version.number(0);
  }
  Status out;
  if (found > kSchema) {
    out = Error{Errc::unsupported,
                "history: schema " + std::to_string(found) + " is of a newer build; this one knows " + std::to_string(kSchema)};
  }
  for (std::int64_t step = found; out.ok() && step < schema; ++step) {
    out = sql::execute(database_, kMigrations[static_cast<std::size_t>(step)]);
    if (out.ok()) out = sql::execute(database_, "PRAGMA user_version = " + std::to_string(step + 1));
  }
  if (out.ok()) return sql::execute(database_, "COMMIT");
  (void)sql::execute(database_, "ROLLBACK");
  return out;
}

Status HistoryStore::store(const DashboardState& state, const KeyedTexts& settings, std::int64_t unix_ms) {
  if (!state.status) return {};
  if (const Status begun = sql::execute(database_, "BEGIN IMMEDIATE"); !begun.ok()) return begun;
  Status out = store_rows(state, settings, unix_ms);
  if (out.ok()) out = sql::execute(database_, "COMMIT");
  if (out.ok()) return out;
  (void)sql::execute(database_, "ROLLBACK");
  settings_stored_of_.clear();
  newest_of_ = {};
  return out;
}

Status HistoryStore::store_rows(const DashboardState& state, const KeyedTexts& settings, std::int64_t unix_ms) {
  const RunStatus& status = *state.status;
  const std::string id = id_of(status.run);
  const LedgerSums ledger = ledger_sums(status);
  const HistoryRow* last = status.history.empty() ? nullptr : &status.history.back();
  Statement run(database_,
                "INSERT INTO run (id, model, dataset, phase, build, alarm, generation, workers, started_ms, updated_ms, seconds,"
                " samples_done, samples_total, loss, test_loss, accuracy, sent_bytes, received, applied, rejected, rolled_back, balanced)"
                " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET phase = excluded.phase,"
                " build = excluded.build, alarm = excluded.alarm, generation = excluded.generation,"
                " workers = max(workers, excluded.workers), updated_ms = excluded.updated_ms, seconds = excluded.seconds,"
                " samples_done = excluded.samples_done, samples_total = excluded.samples_total, loss = excluded.loss,"
                " test_loss = excluded.test_loss, accuracy = excluded.accuracy, sent_bytes = max(sent_bytes, excluded.sent_bytes),"
                " received = excluded.received, applied = excluded.applied, rejected = excluded.rejected,"
                " rolled_back = excluded.rolled_back, balanced = excluded.balanced");
  run.bind(id).bind(status.model).bind(status.dataset).bind(std::string(name_of(state.phase))).bind(state.build).bind(status.alarm);
  run.bind(std::int64_t{state.generation}).bind(workers_of(state)).bind(unix_ms).bind(unix_ms).bind(status.seconds);
  run.bind(number(status.samples_done)).bind(number(status.samples_total)).bind(status.samples_done > 0 ? status.loss : kUnknown);
  run.bind(last == nullptr ? kUnknown : last->loss).bind(last == nullptr ? kUnknown : last->accuracy).bind(sent_bytes(state));
  run.bind(number(ledger.received)).bind(number(ledger.applied)).bind(number(ledger.rejected)).bind(number(ledger.rolled_back));
  if (const Status done = run.bind(std::int64_t{ledger.balanced}).run(); !done.ok()) return done;

  if (settings_stored_of_ != id && !settings.empty()) {
    Statement setting(database_, "INSERT OR REPLACE INTO setting VALUES (?,?,?)");
    for (const auto& [key, value] : settings) {
      if (const Status done = setting.bind(id).bind(key).bind(value).run(); !done.ok()) return done;
    }
    settings_stored_of_ = id;
  }
  Statement stale(database_, "DELETE FROM evaluation WHERE run = ? AND samples > ?");  // of a life that was rolled back
  if (const Status done = stale.bind(id).bind(last == nullptr ? std::int64_t{-1} : number(last->samples)).run(); !done.ok()) return done;
  Statement evaluation(database_, "INSERT OR REPLACE INTO evaluation VALUES (?,?,?,?,?,?)");
  for (const HistoryRow& row : status.history) {
    evaluation.bind(id).bind(number(row.samples)).bind(row.seconds).bind(number(row.bytes)).bind(row.loss).bind(row.accuracy);
    if (const Status done = evaluation.run(); !done.ok()) return done;
  }
  const auto& rings = state.series->rings();
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (const Status done = store_ring(id, rings[i], i); !done.ok()) return done;
  }
  return {};
}

Status HistoryStore::store_ring(const std::string& run, const SeriesRing& ring, std::size_t index) {
  if (ring.rows.empty()) return {};
  const auto step = static_cast<std::int64_t>(ring.step_seconds);
  // A run that went back to a checkpoint, or a monitor that has just begun: its rows from there on take the place of the stored ones.
  const bool anew = newest_of_[index] != run || ring.rows.back().time < newest_[index];
  double after = newest_[index];
  if (anew) {
    after = -1;
    Statement gone(database_, "DELETE FROM series WHERE run = ? AND step = ? AND time >= ?");
    if (const Status done = gone.bind(run).bind(step).bind(ring.rows.front().time).run(); !done.ok()) return done;
  }
  Statement insert(database_, "INSERT OR REPLACE INTO series VALUES (?,?,?,?,?,?,?)");
  for (const SeriesRow& row : ring.rows) {
    if (row.time <= after) continue;
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (std::isnan(row.mean[column])) continue;
      insert.bind(run).bind(step).bind(column_name(column)).bind(row.time);
      insert.bind(double{row.mean[column]}).bind(double{row.least[column]}).bind(double{row.greatest[column]});
      if (const Status done = insert.run(); !done.ok()) return done;
    }
  }
  newest_of_[index] = run;
  newest_[index] = ring.rows.back().time;
  Statement old(database_, "DELETE FROM series WHERE run = ? AND step = ? AND time < ?");
  return old.bind(run).bind(step).bind(newest_[index] - static_cast<double>(kRowsMax[index]) * ring.step_seconds).run();
}

Result<std::vector<RunSummary>> HistoryStore::runs() {
  Statement rows(database_,
                 "SELECT id, model, dataset, phase, build, alarm, generation, workers, started_ms, updated_ms, seconds, samples_done,"
                 " samples_total, loss, test_loss, accuracy, sent_bytes, received, applied, rejected, rolled_back, balanced"
                 " FROM run ORDER BY started_ms DESC, id");
  std::vector<RunSummary> out;
  const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.number(column)); };
  while (rows.step()) {
    RunSummary& run = out.emplace_back();
    run.id = rows.text(0);
    run.model = rows.text(1);
    run.dataset = rows.text(2);
    run.phase = rows.text(3);
    run.build = rows.text(4);
    run.alarm = rows.text(5);
    run.generation = static_cast<std::uint32_t>(rows.number(6));
    run.workers = static_cast<std::uint32_t>(rows.number(7));
    run.started_ms = rows.number(8);
    run.updated_ms = rows.number(9);
    run.seconds = rows.real(10);
    run.samples_done = count(11);
    run.samples_total = count(12);
    run.loss = rows.real(13);
    run.test_loss = rows.real(14);
    run.accuracy = rows.real(15);
    run.sent_bytes = rows.real(16);
    run.received = count(17);
    run.applied = count(18);
    run.rejected = count(19);
    run.rolled_back = count(20);
    run.balanced = rows.number(21) != 0;
  }
  if (const Status done = rows.status(); !done.ok()) return done.error();
  return out;
}

Result<KeyedTexts> HistoryStore::settings(const std::string& run) {
  Statement rows(database_, "SELECT key, value FROM setting WHERE run = ? ORDER BY key");
  rows.bind(run);
  KeyedTexts out;
  while (rows.step()) out.emplace_back(rows.text(0), rows.text(1));
  if (const Status done = rows.status(); !done.ok()) return done.error();
  return out;
}

Result<std::vector<HistoryRow>> HistoryStore::evaluations(const std::string& run) {
  Statement rows(database_, "SELECT seconds, samples, bytes, loss, accuracy FROM evaluation WHERE run = ? ORDER BY samples");
  rows.bind(run);
  std::vector<HistoryRow> out;
  while (rows.step()) {
    out.push_back(
        {rows.real(0), static_cast<std::uint64_t>(rows.number(1)), static_cast<std::uint64_t>(rows.number(2)), rows.real(3), rows.real(4)});
  }
  if (const Status done = rows.status(); !done.ok()) return done.error();
  return out;
}

Result<std::vector<HistoryPoint>> HistoryStore::series(const std::string& run, int step_seconds, const std::string& column) {
  Statement rows(database_, "SELECT time, mean, least, greatest FROM series WHERE run = ? AND step = ? AND name = ? ORDER BY time");
  rows.bind(run).bind(std::int64_t{step_seconds}).bind(column);
  std::vector<HistoryPoint> out;
  while (rows.step()) {
    out.push_back({rows.real(0), static_cast<float>(rows.real(1)), static_cast<float>(rows.real(2)), static_cast<float>(rows.real(3))});
  }
  if (const Status done = rows.status(); !done.ok()) return done.error();
  return out;
}

}  // namespace hourglass

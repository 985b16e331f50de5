// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/tensorboard_writer.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace hourglass {
namespace {
double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string name_of_run(std::uint64_t run) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(run));
  return text;
}

std::string safe_in_names(std::string host) {
  std::ranges::replace_if(
      host, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return host.empty() ? "host" : host;
}
}  // namespace

TensorboardWriter::TensorboardWriter(std::string folder, const std::string& host, StateSink* next, Complain complain)
    : folder_(std::move(folder)),
      host_(safe_in_names(host)),
      next_(next),
      writer_([this](const DashboardState& state) { return write_state(state); }, std::move(complain)) {}

void TensorboardWriter::publish(std::shared_ptr<const DashboardState> state) {
  if (next_ != nullptr) next_->publish(state);
  writer_.tell(std::move(state));
}

Status TensorboardWriter::write_state(const DashboardState& state) {
  if (!state.status) return {};
  const std::string folder = folder_ + "/" + name_of_run(state.status->run);
  if (!feed_ || state.status->run != run_) {
    run_ = state.status->run;
    file_ = {};
    std::error_code none;  // a folder that cannot be read is a new one
    const std::filesystem::directory_iterator first(folder, none);
    feed_.emplace(!none && first != std::filesystem::directory_iterator());
  }
  const double now = unix_now();
  const auto news = feed_->look(state, now);
  if (news.begins) begin_step_ = news.begin_step;
  if (news.rows.empty() && !news.begins) return {};
  if (news.begins || !file_.is_open()) {
    if (const Status begun = begin_file(folder, begin_step_, now); !begun.ok()) return begun;
  }
  std::string records;
  for (const auto& row : news.rows) records += tensorboard::record(tensorboard::scalars_message(row));
  return file_.append(records);
}

Status TensorboardWriter::begin_file(const std::string& folder, std::int64_t step, double now) {
  // A later name than the last file's, should the clock have been set back.
  const std::int64_t seconds = std::max(static_cast<std::int64_t>(now), file_.seconds() + 1);
  file_ = {};
  auto file = tensorboard::EventFile::create(folder, seconds, host_);
  if (!file.ok()) return file.error();
  const Status begun =
      file->append(tensorboard::record(tensorboard::version_message(now)) + tensorboard::record(tensorboard::restart_message(now, step)));
  if (begun.ok()) file_ = std::move(file).value();
  return begun;
}

Status can_write_events(const std::string& folder) {
  auto file = tensorboard::EventFile::create(folder, 0, "test");
  if (!file.ok()) return file.error();
  std::error_code none;
  std::filesystem::remove(file->path(), none);
  return {};
}

}  // namespace hourglass

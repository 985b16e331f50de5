// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: TFRecord frames, each with one protobuf message Event. The few fields that scalars need are encoded by hand:
//
//   frame    length (u64), masked CRC-32C of the length (u32), message, masked CRC-32C of the message (u32); little-endian
//   Event    1 wall_time (double), 2 step (int64), 3 file_version (string), 5 summary, 7 session_log
//   Summary  1 value, repeated: 1 tag (string), 2 simple_value (float)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hourglass::tensorboard {

struct Scalar {
  std::string tag;  ///< "train/loss": what stands before the slash is the group in which it is shown
  float value = 0;
};

/// Scalars of one moment of the run.
struct ScalarRow {
  double wall_time = 0;   ///< Unix time, seconds
  std::int64_t step = 0;  ///< training samples
  std::vector<Scalar> scalars;
};

/// A message in its frame.
std::string record(std::string_view message);
/// What a file begins with.
std::string version_message(double wall_time);
/// From `step` on, readers forget what earlier files of the folder say.
std::string restart_message(double wall_time, std::int64_t step);
std::string scalars_message(const ScalarRow& row);

/// One file, written by one process. What a failed write has left is cut off, so that whole records stand in it.
class EventFile {
 public:
  EventFile() = default;
  /// A new file "events.out.tfevents.<seconds>.<host>"; a later second where that is taken, since readers go from file to file by name.
  /// Makes the folder. Errors: io.
  static Result<EventFile> create(const std::string& folder, std::int64_t unix_seconds, const std::string& host);
  ~EventFile();
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&& other) noexcept;

  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t seconds() const { return seconds_; }  ///< of its name
  /// Whole records, handed to the kernel at once. Errors: io.
  Status append(std::string_view records);

 private:
  int file_ = -1;
  std::string path_;
  std::int64_t seconds_ = 0, size_ = 0;
};

}  // namespace hourglass::tensorboard

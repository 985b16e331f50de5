// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "services/tensorboard/crc32c.h"

namespace hourglass::tensorboard {
namespace {
constexpr int kNamesTried = 100;
constexpr unsigned kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // protobuf's wire types

template <class T>
void put_number(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

void put_key(std::string& out, unsigned field, unsigned type) { put_varint(out, field << 3 | type); }

void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

/// So that a checksum over data that holds checksums is none of a simple form.
std::uint32_t masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xA282EAD8U; }

std::string event(double wall_time, std::int64_t step) {
  std::string out;
  put_key(out, 1, kFixed64);
  put_number(out, std::bit_cast<std::uint64_t>(wall_time));
  put_key(out, 2, kVarint);
  put_varint(out, static_cast<std::uint64_t>(step));
  return out;
}

std::string cause() { return std::strerror(errno); }
}  // namespace

std::string record(std::string_view message) {
  std::string out;
  put_number(out, std::uint64_t{message.size()});
  put_number(out, masked(crc32c(out)));
  out += message;
  put_number(out, masked(crc32c(message)));
  return out;
}

std::string version_message(double wall_time) {
  std::string out = event(wall_time, 0);
  put_bytes(out, 3, "brain.Event:2");
  return out;
}

std::string restart_message(double wall_time, std::int64_t step) {
  std::string start;
  put_key(start, 1, kVarint);
  put_varint(start, 1);  // SessionLog.START
  std::string out = event(wall_time, step);
  put_bytes(out, 7, start);
  return out;
}

std::string scalars_message(const ScalarRow& row) {
  std::string summary;
  for (const Scalar& scalar : row.scalars) {
    std::string value;
    put_bytes(value, 1, scalar.tag);
    put_key(value, 2, kFixed32);
    put_number(value, std::bit_cast<std::uint32_t>(scalar.value));
    put_bytes(summary, 1, value);
  }
  std::string out = event(row.wall_time, row.step);
  put_bytes(out, 5, summary);
  return out;
}

Result<EventFile> EventFile::create(const std::string& folder, std::int64_t unix_seconds, const std::string& host) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{Errc::io, "cannot make " + folder + ": " + failed.message()};
  EventFile out;
  for (int i = 0; i < kNamesTried; ++i) {
    out.seconds_ = unix_seconds + i;
    out.path_ = folder + "/events.out.tfevents." + std::to_string(out.seconds_) + "." + host;
    out.file_ = ::open(out.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (out.file_ >= 0) return out;
    if (errno != EEXIST) break;
  }
  return Error{Errc::io, "cannot make " + out.path_ + ": " + cause()};
}

EventFile::~EventFile() {
  if (file_ >= 0) ::close(file_);
}

EventFile::EventFile(EventFile&& other) noexcept { *this = std::move(other); }

EventFile& EventFile::operator=(EventFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(path_, other.path_);
  std::swap(seconds_, other.seconds_);
  std::swap(size_, other.size_);
  return *this;
}

Status EventFile::append(std::string_view records) {
  std::size_t written = 0;
  while (written < records.size()) {
    const ssize_t count = ::write(file_, records.data() + written, records.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const std::string why = cause();
      if (::ftruncate(file_, size_) != 0) return {Errc::io, "cannot write or mend " + path_ + ": " + why};
      return {Errc::io, "cannot write " + path_ + ": " + why};
    }
    written += static_cast<std::size_t>(count);
  }
  size_ += static_cast<std::int64_t>(written);
  return {};
}

}  // namespace hourglass::tensorboard

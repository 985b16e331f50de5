// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hourglass {

Result<FolderLock> FolderLock::take(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{Errc::io, "run folder " + folder + ": " + failure.message()};
  const std::string path = folder + "/.lock";
  FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.file_ < 0) return Error{Errc::io, path + ": " + std::strerror(errno)};
  if (flock(lock.file_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return lock;  // a file system without locks: nothing can be done
  return Error{Errc::io,
               "run folder " + folder + " is in use by another aggregator; end that one, or give this one a folder of its own (--run-dir)"};
}

FolderLock::FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace hourglass

// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/folder_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hourglass {

namespace {
constexpr const char* kFile = "/.lock";

/// Of the open file, not of the process: any descriptor that a process closes would give up its locks else.
struct flock whole_file() {
  struct flock out {};
  out.l_type = F_WRLCK;
  out.l_whence = SEEK_SET;
  return out;
}
}  // namespace

Result<FolderLock> FolderLock::take(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{Errc::io, "run folder " + folder + ": " + failure.message()};
  const std::string path = folder + kFile;
  FolderLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.file_ < 0) return Error{Errc::io, path + ": " + std::strerror(errno)};
  struct flock whole = whole_file();
  if (fcntl(lock.file_, F_OFD_SETLK, &whole) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return lock;  // a file system without locks: nothing can be done
  return Error{Errc::io,
               "run folder " + folder + " is in use by another aggregator; end that one, or give this one a folder of its own (--run-dir)"};
}

bool FolderLock::held(const std::string& folder) {
  const FolderLock look(open((folder + kFile).c_str(), O_RDWR | O_CLOEXEC));
  struct flock whole = whole_file();
  return look.file_ >= 0 && fcntl(look.file_, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
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

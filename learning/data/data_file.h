// SPDX-License-Identifier: Apache-2.0
// One file of a dataset, plain or gzip (RFC 1952), decoded in order and never past its limits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

struct z_stream_s;

namespace hourglass::data {

/// The most that one file may hold, on disk and decoded, and that a split's files may hold together. MNIST has 47 MB, CIFAR-10 154 MB.
inline constexpr std::size_t kDataFileBytesMax = std::size_t{256} << 20;

/// Gzip is told by the first two bytes, not by the name. All errors are bad_data or over_limit and begin with the file's name.
class DataFile {
 public:
  /// Reads the first of `paths` that exists into memory; only regular files of at most kDataFileBytesMax.
  static Result<DataFile> open(const std::vector<std::string>& paths);
  /// A file that is in memory already.
  DataFile(std::string name, Bytes raw);
  DataFile(DataFile&&) noexcept;
  DataFile& operator=(DataFile&&) noexcept;
  ~DataFile();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Fills `out`; returns less than its size only where the data end.
  Result<std::size_t> read(std::span<std::byte> out);
  /// The next `size` bytes, called `what` in errors. A claim that the rest of the file cannot fulfil fails before memory is taken for it.
  Result<Bytes> take(std::size_t size, std::string_view what);
  /// Fails when data are left. Only after it succeeded are gzip's checksums known to be right.
  Status end();

  /// "name: text", for what the readers find wrong inside.
  [[nodiscard]] Error wrong(const std::string& text) const;

 private:
  struct CloseStream {
    void operator()(z_stream_s* stream) const;
  };
  Result<std::size_t> inflate_into(std::span<std::byte> out);

  std::string name_;
  Bytes raw_;
  std::size_t used_ = 0;                             ///< bytes of raw_ given out (plain) or decoded (gzip)
  std::unique_ptr<z_stream_s, CloseStream> stream_;  ///< null: plain
  bool member_done_ = false;                         ///< gzip: the current member ended and its checksum was right
};

}  // namespace hourglass::data

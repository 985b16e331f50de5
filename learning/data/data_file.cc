// SPDX-License-Identifier: Apache-2.0
#include "learning/data/data_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/check.h"

namespace hourglass::data {
namespace {

constexpr std::size_t kDeflateRatioMax = 1032;  // the format cannot expand more: 258 bytes for two bits
constexpr int kGzipOnly = MAX_WBITS + 16;       // zlib's way to ask for gzip's header and checksum

bool is_gzip(std::span<const std::byte> raw) { return raw.size() >= 2 && raw[0] == std::byte{0x1f} && raw[1] == std::byte{0x8b}; }

Error failed(const std::string& path, const std::string& text) { return {Errc::bad_data, path + ": " + text}; }

Result<Bytes> read_whole(const std::string& path) {
  std::error_code status;
  const std::uintmax_t size = std::filesystem::file_size(path, status);
  if (status) return failed(path, "cannot be read: " + status.message());
  if (size > kDataFileBytesMax) {
    return {Errc::over_limit,
            path + ": has " + std::to_string(size) + " bytes, more than the limit of " + std::to_string(kDataFileBytesMax)};
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return failed(path, "cannot be opened; are its permissions right?");
  Bytes raw(size);
  if (std::fread(raw.data(), 1, raw.size(), file.get()) != raw.size()) return failed(path, "could not be read to its end");
  return raw;
}

}  // namespace

void DataFile::CloseStream::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

DataFile::DataFile(DataFile&&) noexcept = default;
DataFile& DataFile::operator=(DataFile&&) noexcept = default;
DataFile::~DataFile() = default;

Result<DataFile> DataFile::open(const std::vector<std::string>& paths) {
  std::string tried;
  for (const std::string& path : paths) {
    std::error_code status;
    const auto kind = std::filesystem::status(path, status).type();  // follows links
    if (kind == std::filesystem::file_type::not_found) {
      tried += (tried.empty() ? "" : ", ") + path;
      continue;
    }
    // A pipe or a device would block or never end.
    if (kind != std::filesystem::file_type::regular) return failed(path, "is not a readable regular file");
    Result<Bytes> raw = read_whole(path);
    if (!raw) return raw.error();
    return DataFile(path, std::move(*raw));
  }
  return {Errc::bad_data, "no data file found; looked for " + tried};
}

DataFile::DataFile(std::string name, Bytes raw) : name_(std::move(name)), raw_(std::move(raw)) {
  HG_CHECK(raw_.size() <= kDataFileBytesMax, "a data file beyond its limit");
  if (!is_gzip(raw_)) return;
  auto fresh = std::make_unique<z_stream>();
  HG_CHECK(inflateInit2(fresh.get(), kGzipOnly) == Z_OK, "zlib does not start");
  stream_.reset(fresh.release());
}

Error DataFile::wrong(const std::string& text) const { return failed(name_, text); }

Result<std::size_t> DataFile::read(std::span<std::byte> out) {
  HG_CHECK(out.size() <= kDataFileBytesMax, "a read beyond the limit of data files");
  if (stream_ != nullptr) return inflate_into(out);
  const std::size_t size = std::min(out.size(), raw_.size() - used_);
  std::copy_n(raw_.begin() + static_cast<std::ptrdiff_t>(used_), size, out.begin());
  used_ += size;
  return size;
}

Result<std::size_t> DataFile::inflate_into(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    if (member_done_) {
      if (used_ == raw_.size()) break;
      if (!is_gzip(std::span(raw_).subspan(used_))) return wrong("trailing bytes after the gzip data");
      inflateReset(stream_.get());  // gzip files may be joined end to end
      member_done_ = false;
    }
    stream_->next_in = reinterpret_cast<Bytef*>(raw_.data() + used_);
    stream_->avail_in = static_cast<uInt>(raw_.size() - used_);
    stream_->next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream_->avail_out = static_cast<uInt>(out.size() - filled);
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    used_ = raw_.size() - stream_->avail_in;
    filled = out.size() - stream_->avail_out;
    if (code == Z_STREAM_END) {
      member_done_ = true;
    } else if (code == Z_BUF_ERROR || (code == Z_OK && stream_->avail_in == 0 && filled < out.size())) {
      return wrong("truncated gzip data; the file is incomplete");
    } else if (code != Z_OK) {
      return wrong(std::string("damaged gzip data (") + (stream_->msg != nullptr ? stream_->msg : "unknown cause") + ")");
    }
  }
  return filled;
}

Result<Bytes> DataFile::take(std::size_t size, std::string_view what) {
  if (size > kDataFileBytesMax) {
    return {Errc::over_limit, name_ + ": " + std::string(what) + " would take " + std::to_string(size) + " bytes, more than the limit of " +
                                  std::to_string(kDataFileBytesMax)};
  }
  const std::size_t left = raw_.size() - used_;
  const std::string expected = "truncated: expected " + std::to_string(size) + " bytes of " + std::string(what);
  // What zlib holds back of earlier input is below its window of 32 KiB.
  const std::size_t possible = stream_ != nullptr ? left * kDeflateRatioMax + (std::size_t{1} << MAX_WBITS) : left;
  if (size > possible) return wrong(expected + ", the file has " + std::to_string(left) + (stream_ != nullptr ? " compressed" : ""));
  Bytes out(size);
  const Result<std::size_t> filled = read(out);
  if (!filled) return filled.error();
  if (*filled != size) return wrong(expected + ", got " + std::to_string(*filled));
  return out;
}

Status DataFile::end() {
  std::byte extra{};
  const Result<std::size_t> more = read({&extra, 1});
  if (!more) return more.error();
  if (*more != 0) return wrong("has more data than its header says");
  return {};
}

}  // namespace hourglass::data

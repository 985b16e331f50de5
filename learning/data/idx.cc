// SPDX-License-Identifier: Apache-2.0
#include "learning/data/idx.h"

#include <array>
#include <cstdio>

namespace hourglass::data {
namespace {

constexpr std::uint32_t kUnsignedByte = 0x08;

std::uint32_t big_endian(std::span<const std::byte> four) {
  std::uint32_t out = 0;
  for (const std::byte each : four.first(4)) out = out << 8 | std::to_integer<std::uint32_t>(each);
  return out;
}

std::string hex(std::uint32_t number) {
  std::array<char, 12> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", number);
  return text.data();
}

/// The sizes of an idx file's dimensions.
Result<std::vector<std::uint32_t>> take_header(DataFile& file, std::uint32_t rank, std::string_view content) {
  const Result<Bytes> magic = file.take(4, "idx header");
  if (!magic) return magic.error();
  const std::uint32_t expected = kUnsignedByte << 8 | rank;
  if (big_endian(*magic) != expected) {
    return file.wrong("is not an idx file of " + std::string(content) + ": expected the magic number " + hex(expected) +
                      " (unsigned bytes, " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") + "), got " +
                      hex(big_endian(*magic)));
  }
  const Result<Bytes> raw = file.take(std::size_t{4} * rank, "idx sizes");
  if (!raw) return raw.error();
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < rank; ++i) sizes.push_back(big_endian(std::span(*raw).subspan(std::size_t{4} * i)));
  if (sizes[0] == 0) return file.wrong("holds no " + std::string(content));
  return sizes;
}

Result<std::vector<std::uint16_t>> take_labels(DataFile& file, std::uint32_t classes) {
  const auto sizes = take_header(file, 1, "labels");
  if (!sizes) return sizes.error();
  const Result<Bytes> raw = file.take((*sizes)[0], "labels");
  if (!raw) return raw.error();
  if (const Status end = file.end(); !end) return end.error();
  std::vector<std::uint16_t> labels(raw->size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = std::to_integer<std::uint16_t>((*raw)[i]);
    if (labels[i] >= classes) {
      return file.wrong("label " + std::to_string(labels[i]) + " of sample " + std::to_string(i) + " is beyond the expected 0 to " +
                        std::to_string(classes - 1));
    }
  }
  return labels;
}

}  // namespace

Result<Dataset> parse_idx(const DatasetRow& row, DataFile images, DataFile labels) {
  HG_CHECK(row.channels == 1, "idx images have one channel");
  Result<std::vector<std::uint16_t>> classes = take_labels(labels, row.classes);
  if (!classes) return classes.error();
  const auto sizes = take_header(images, 3, "images");
  if (!sizes) return sizes.error();
  const auto [count, height, width] = std::array{(*sizes)[0], (*sizes)[1], (*sizes)[2]};
  if (height != row.height || width != row.width) {
    return images.wrong("expected images of " + std::to_string(row.height) + " x " + std::to_string(row.width) + ", got " +
                        std::to_string(height) + " x " + std::to_string(width));
  }
  if (count != classes->size()) {
    return images.wrong("has " + std::to_string(count) + " images, but " + labels.name() + " has " + std::to_string(classes->size()) +
                        " labels");
  }
  const std::size_t sample_bytes = std::size_t{height} * width;
  Result<Bytes> pixels = images.take(count * sample_bytes, "images");
  if (!pixels) return pixels.error();
  if (const Status end = images.end(); !end) return end.error();
  return Dataset(sample_bytes, std::move(*pixels), std::move(*classes));
}

Result<Dataset> read_idx(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t /*seed*/) {
  const std::string stem = dir + "/" + (split == Split::train ? "train" : "t10k");
  const auto open = [&](const std::string& name) { return DataFile::open({stem + name, stem + name + ".gz"}); };
  Result<DataFile> images = open("-images-idx3-ubyte");
  if (!images) return images.error();
  Result<DataFile> labels = open("-labels-idx1-ubyte");
  if (!labels) return labels.error();
  return parse_idx(row, std::move(*images), std::move(*labels));
}

}  // namespace hourglass::data

// SPDX-License-Identifier: Apache-2.0
// Datasets: index -> sample, held in memory as bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hourglass::data {

/// What is known of a dataset without reading it.
struct DatasetRow {
  std::string_view name;
  std::string_view help;  ///< what it is, where its files come from, how to get them
  std::uint32_t channels, height, width, classes;
  std::vector<float> mean, deviation;  ///< per channel over the training set, in 0..1 units
  std::string_view default_dir;        ///< "" where there is none
};

const std::vector<DatasetRow>& datasets();
/// Errors: bad_config with the list and the nearest name.
Result<const DatasetRow*> find_dataset(std::string_view name);

enum class Split : std::uint8_t { train, test };

class Dataset {
 public:
  Dataset(std::size_t sample_bytes, Bytes images, std::vector<std::uint16_t> labels)
      : sample_bytes_(sample_bytes), images_(std::move(images)), labels_(std::move(labels)) {}
  [[nodiscard]] std::size_t size() const { return labels_.size(); }
  [[nodiscard]] std::size_t sample_bytes() const { return sample_bytes_; }
  [[nodiscard]] std::span<const std::byte> image(std::size_t index) const {
    return std::span(images_).subspan(index * sample_bytes_, sample_bytes_);
  }
  [[nodiscard]] std::uint16_t label(std::size_t index) const { return labels_[index]; }

 private:
  std::size_t sample_bytes_;
  Bytes images_;  ///< samples x channels x height x width
  std::vector<std::uint16_t> labels_;
};

/// Reads a split. `dir` empty: the row's default. Errors: bad_data naming the file, what was expected and how to get it; over_limit.
Result<Dataset> load_dataset(std::string_view name, std::string_view dir, Split split, std::uint64_t seed);

/// The order of one epoch's samples: a permutation of [0, size), the same for the same seed and epoch everywhere.
std::vector<std::uint32_t> epoch_order(std::size_t size, std::uint64_t seed, std::uint32_t epoch);

/// (byte / 255 - mean) / deviation, per channel; `images` holds whole samples of channels x pixels bytes.
void normalise(std::span<const std::byte> images, std::size_t channels, std::size_t pixels, std::span<const float> mean,
               std::span<const float> deviation, std::span<float> out);

}  // namespace hourglass::data

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include "base/check.h"
#include "learning/data/cifar.h"
#include "learning/data/idx.h"

namespace hourglass::fuzz {
namespace {

/// As the real rows, but so small that a mutation reaches everything.
data::DatasetRow row(std::uint32_t channels) { return {"fuzz", "", channels, 2, 3, 10, {}, {}, ""}; }

void read_idx(Bytes images, Bytes labels) {
  const Result<data::Dataset> read =
      parse_idx(row(1), data::DataFile("images", std::move(images)), data::DataFile("labels", std::move(labels)));
  if (!read) return;
  HG_CHECK(read->size() > 0 && read->sample_bytes() == 6, "a dataset of another shape passed");
  HG_CHECK(read->image(read->size() - 1).size() == 6, "a sample is missing");
  for (std::size_t i = 0; i < read->size(); ++i) HG_CHECK(read->label(i) < 10, "a label beyond the classes passed");
}

void read_cifar(Bytes records) {
  data::DataFile file("records", std::move(records));
  Bytes images;
  std::vector<std::uint16_t> labels;
  if (!append_cifar(row(3), file, images, labels)) return;
  HG_CHECK(!labels.empty() && images.size() == labels.size() * 18, "a dataset of another shape passed");
  for (const std::uint16_t label : labels) HG_CHECK(label < 10, "a label beyond the classes passed");
}

}  // namespace

void read_dataset_files(std::span<const std::byte> input) {
  if (input.size() < 3) return;
  const std::span<const std::byte> rest = input.subspan(3);
  if (std::to_integer<unsigned>(input[0]) % 2 == 1) return read_cifar(Bytes(rest.begin(), rest.end()));
  const std::size_t cut = (std::to_integer<std::size_t>(input[1]) << 8 | std::to_integer<std::size_t>(input[2])) % (rest.size() + 1);
  const auto middle = rest.begin() + static_cast<std::ptrdiff_t>(cut);
  read_idx(Bytes(middle, rest.end()), Bytes(rest.begin(), middle));
}

}  // namespace hourglass::fuzz

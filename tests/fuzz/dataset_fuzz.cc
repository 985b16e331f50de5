// SPDX-License-Identifier: Apache-2.0
// Dataset files from memory: the first byte picks the reader, the next two say where the labels' file ends.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "learning/data/cifar.h"
#include "learning/data/idx.h"

namespace {

using namespace hourglass;

/// As the real rows, but so small that a mutation reaches everything.
data::DatasetRow row(std::uint32_t channels) { return {"fuzz", "", channels, 2, 3, 10, {}, {}, ""}; }

void check_labels(const std::vector<std::uint16_t>& labels) {
  for (const std::uint16_t label : labels) HG_CHECK(label < 10, "a label passed");
}

void read_idx(Bytes images, Bytes labels) {
  const Result<data::Dataset> read =
      parse_idx(row(1), data::DataFile("images", std::move(images)), data::DataFile("labels", std::move(labels)));
  if (!read) return;
  HG_CHECK(read->size() > 0 && read->sample_bytes() == 6, "a dataset of another shape passed");
  HG_CHECK(read->image(read->size() - 1).size() == 6, "a sample is missing");
  for (std::size_t i = 0; i < read->size(); ++i) HG_CHECK(read->label(i) < 10, "a label passed");
}

void read_cifar(Bytes records) {
  data::DataFile file("records", std::move(records));
  Bytes images;
  std::vector<std::uint16_t> labels;
  if (!append_cifar(row(3), file, images, labels)) return;
  HG_CHECK(!labels.empty() && images.size() == labels.size() * 18, "a dataset of another shape passed");
  check_labels(labels);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  if (size < 3) return 0;
  const auto bytes = std::as_bytes(std::span(input, size));
  const std::span<const std::byte> rest = bytes.subspan(3);
  if (input[0] % 2 == 0) {
    const std::size_t cut = (std::size_t{input[1]} << 8 | input[2]) % (rest.size() + 1);
    read_idx(Bytes(rest.begin() + static_cast<std::ptrdiff_t>(cut), rest.end()),
             Bytes(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(cut)));
  } else {
    read_cifar(Bytes(rest.begin(), rest.end()));
  }
  return 0;
}

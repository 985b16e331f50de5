// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "learning/compress/compressor.h"
#include "learning/compress/index_coder.h"
#include "learning/compress/selector.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

/// A row with its factory: exactly one of the three is set, or none for `auto`, which picks among the index codecs.
struct Stage {
  CompressRow row;
  MakeSelector make_selector = nullptr;
  const ValueCoder* value_coder = nullptr;
  const IndexCoder* index_coder = nullptr;
};

std::span<const Stage> stages();
/// By the wire's enum; null where there is none (IndexCodec::none).
const ValueCoder* find_value_coder(ValueCodec codec);
const IndexCoder* find_index_coder(IndexCodec codec);

}  // namespace hourglass::compress

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "learning/compress/compressor.h"
#include "learning/compress/index_coder.h"
#include "learning/compress/memory.h"
#include "learning/compress/ratio_policy.h"
#include "learning/compress/selector.h"
#include "learning/compress/transform.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

/// A row with what makes it: one of the factories, or none for `auto`, which picks among the index codecs.
struct Stage {
  CompressRow row;
  MakeMemory make_memory = nullptr;
  MakeRatioPolicy make_ratio_policy = nullptr;
  MakeSelector make_selector = nullptr;
  MakeTransform make_transform = nullptr;
  MakeValueCoder make_value_coder = nullptr;
  const ValueDecoder* decoder = nullptr;  ///< of a transform or value codec
  const IndexCoder* index_coder = nullptr;
};

std::span<const Stage> stages();
const Stage* find_stage(std::string_view name);
/// By the wire's enum; null where there is none (IndexCodec::none).
const ValueDecoder* find_value_decoder(ValueCodec codec);
const IndexCoder* find_index_coder(IndexCodec codec);

}  // namespace hourglass::compress

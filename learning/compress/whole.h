// SPDX-License-Identifier: Apache-2.0
// What the readers of transforms share: blocks whose blob describes the whole range, a header of fixed fields in front.
#pragma once

#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

class WholeDecoder : public ValueDecoder {
 public:
  void scatter_add(const GradientBlock& /*block*/, float /*weight*/, std::span<const std::uint32_t> /*indices*/,
                   std::span<float> /*target*/) const final {
    HG_CHECK(false, "a block of the whole range has no indices");
  }
};

/// What their check() begins with. Errors: malformed.
inline Status check_whole(const GradientBlock& block) {
  if (block.index_codec != IndexCodec::none || block.count != block.length || !block.indices.empty()) {
    return {Errc::malformed, "gradient block of a whole range, but with indices"};
  }
  if (block.low != 0 || block.high != 0) return {Errc::malformed, "gradient block with levels that its codec does not have"};
  return {};
}

template <class T>
void put(Bytes& blob, T value) {
  const std::size_t end = blob.size();
  blob.resize(end + sizeof value);
  std::memcpy(blob.data() + end, &value, sizeof value);
}

/// The `T` at `at`, which must be within the blob.
template <class T>
T get(std::span<const std::byte> blob, std::size_t at) {
  HG_CHECK(at <= blob.size() && sizeof(T) <= blob.size() - at, "a field beyond its blob");
  T value;
  std::memcpy(&value, blob.data() + at, sizeof value);
  return value;
}

/// The position of the option's word among `words`; 0 where it is absent. Errors: bad_config with the list.
inline Result<std::size_t> word_of(const SpecStage& stage, std::string_view key, std::initializer_list<std::string_view> words) {
  for (const auto& [name, value] : stage.options) {
    if (name != key) continue;
    std::string list;
    std::size_t position = 0;
    for (const std::string_view word : words) {
      if (word == value) return position;
      ++position;
      list += (list.empty() ? "" : ", ") + std::string(word);
    }
    return {Errc::bad_config, stage.name + ": " + std::string(key) + "=" + value + " must be one of: " + list};
  }
  return std::size_t{0};
}

}  // namespace hourglass::compress

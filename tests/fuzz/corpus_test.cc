// SPDX-License-Identifier: Apache-2.0
// Replays the corpus: seeds, and whatever a fuzzer once found, on every compiler and in every test run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "learning/compress/registry.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
#include "tests/fuzz/targets.h"
#include "tests/support/message_sample.h"

namespace hourglass {
namespace {

std::vector<std::string> corpus(const std::string& name) {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(HOURGLASS_CORPUS_FOLDER "/" + name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

/// Each input as it is, cut off everywhere, and with each byte changed.
template <class Target>
void replay(const std::string& name, Target target) {
  const auto inputs = corpus(name);
  ASSERT_FALSE(inputs.empty());
  for (const std::string& input : inputs) {
    target(as_span(input));
    for (std::size_t size = 0; size < input.size(); ++size) target(as_span(std::string_view(input).substr(0, size)));
    for (std::size_t at = 0; at < input.size(); ++at) {
      for (const int change : {1, 0x80, 0xff}) {
        std::string changed = input;
        changed[at] = static_cast<char>(changed[at] ^ change);
        target(as_span(changed));
      }
    }
  }
}

TEST(Corpus, Messages) { replay("message", fuzz::decode_message); }
TEST(Corpus, Headers) { replay("header", fuzz::decode_envelope_header); }
TEST(Corpus, Specs) { replay("spec", fuzz::parse_spec_text); }
TEST(Corpus, Datasets) { replay("dataset", fuzz::read_dataset_files); }
TEST(Corpus, GradientBlocks) { replay("block", fuzz::apply_gradient_block); }
TEST(Corpus, BoundaryTensors) { replay("boundary", fuzz::decode_boundary_tensor); }

TEST(Corpus, HasASeedThatEachIndexCodecAccepts) {
  std::set<unsigned> accepted;
  for (const std::string& input : corpus("block")) {
    if (!input.empty() && fuzz::apply_gradient_block(as_span(std::string_view(input))))
      accepted.insert(static_cast<unsigned char>(input[0]) & 7U);
  }
  EXPECT_EQ(accepted.size(), static_cast<unsigned>(kLastIndexCodec) + 1);
}

/// Whatever codec a seed's values are said to have, for the index codecs that take any.
TEST(Corpus, GradientBlocksOfEachValueCodec) {
  std::set<unsigned> accepted;
  for (const std::string& input : corpus("block")) {
    for (unsigned value_codec = 0; value_codec < 32; ++value_codec) {
      std::string changed = input;
      if (changed.size() < 2) continue;
      changed[0] = static_cast<char>((static_cast<unsigned char>(input[0]) & 7U) | value_codec << 3);
      changed[1] = static_cast<char>(static_cast<unsigned char>(input[1]) | 0x80U);
      if (fuzz::apply_gradient_block(as_span(std::string_view(changed)))) accepted.insert(value_codec);
    }
  }
  for (const auto& stage : compress::stages()) {
    if (stage.make_value_coder == nullptr) continue;
    EXPECT_TRUE(accepted.contains(static_cast<unsigned>(stage.decoder->wire()))) << stage.row.name;
  }
}

TEST(Corpus, HasASeedThatEachMessageAccepts) {
  const auto inputs = corpus("message");
  std::size_t row = 0;
#define HOURGLASS_ACCEPTED(Struct, name)                                                      \
  {                                                                                           \
    bool accepted = false;                                                                    \
    for (const std::string& input : inputs) {                                                 \
      if (input.empty() || static_cast<unsigned char>(input[0]) != row) continue;             \
      accepted = accepted || decode<Struct>(as_span(std::string_view(input).substr(1))).ok(); \
    }                                                                                         \
    EXPECT_TRUE(accepted) << name;                                                            \
    ++row;                                                                                    \
  }
  HOURGLASS_MESSAGES(HOURGLASS_ACCEPTED)
#undef HOURGLASS_ACCEPTED
}

}  // namespace
}  // namespace hourglass

// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/checkpoint_shelf.h"

#include <gtest/gtest.h>

#include "runtime/sim/memory_storage.h"

namespace hourglass {
namespace {

Checkpoint example(std::uint64_t number, std::optional<double> accuracy = std::nullopt) {
  Checkpoint out;
  out.meta.run = 5;
  out.meta.number = number;
  out.meta.samples_done = 100 * number;
  out.meta.accuracy = accuracy;
  out.meta.build = "test";
  out.job.model = "lenet5";
  out.parameters = Bytes(50, std::byte{1});
  out.worker_states[{Role::conv_worker, 3}] = Bytes(7, std::byte{2});
  out.worker_states[{Role::fc_worker, 0}] = Bytes(9, std::byte{3});
  return out;
}

std::vector<std::uint64_t> there(sim::MemoryStorage& storage) {
  std::vector<std::uint64_t> out;
  for (const auto& [name, bytes] : storage.files()) {
    if (const auto number = checkpoint_number_of(name)) out.push_back(*number);
  }
  return out;
}

TEST(Checkpoint, ReadsWhatWasWritten) {
  const auto read = decode_checkpoint(encode_checkpoint(example(12, 0.75)));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->meta.number, 12U);
  EXPECT_EQ(read->meta.samples_done, 1200U);
  EXPECT_EQ(read->meta.accuracy, 0.75);
  EXPECT_EQ(read->meta.build, "test");
  EXPECT_EQ(read->job.model, "lenet5");
  EXPECT_EQ(read->parameters.size(), 50U);
  EXPECT_EQ(read->worker_states, example(12).worker_states);
  EXPECT_FALSE(decode_checkpoint(params::write_checkpoint({{"meta", {}}})).ok()) << "sections are missing";
}

TEST(Checkpoint, TellsWhatItIsFromItsBeginning) {
  const Bytes file = encode_checkpoint(example(12, 0.75));
  const auto meta = decode_checkpoint_meta(std::span(file).first(file.size() - 60));  // the parameters are cut off
  ASSERT_TRUE(meta.ok()) << meta.error().text;
  EXPECT_EQ(meta->number, 12U);
  EXPECT_EQ(meta->accuracy, 0.75);
  EXPECT_FALSE(decode_checkpoint_meta(std::span(file).first(100)).ok());
  EXPECT_FALSE(decode_checkpoint_meta({}).ok());
  const Bytes other = params::write_checkpoint({{"job", Bytes(9)}});
  EXPECT_FALSE(decode_checkpoint_meta(other).ok());
}

TEST(CheckpointShelf, KeepsTheNewestAndTheBest) {
  sim::MemoryStorage storage;
  CheckpointShelf shelf(2);
  ASSERT_TRUE(shelf.open(storage).ok());
  for (std::uint64_t number = 1; number <= 6; ++number) {
    EXPECT_EQ(shelf.oldest_of_newest(), number <= 2 ? 0 : number - 2) << "before the first one the run begins";
    EXPECT_EQ(shelf.next_number(), number);
    ASSERT_TRUE(
        shelf.save(storage, example(number, number == 2 ? std::optional(0.9) : (number == 5 ? std::optional(0.8) : std::nullopt))).ok());
  }
  EXPECT_EQ(there(storage), (std::vector<std::uint64_t>{2, 5, 6}));
  EXPECT_EQ(shelf.best(), 2U);
  EXPECT_EQ(shelf.oldest_of_newest(), 5U);
  CheckpointShelf next(2);
  const auto found = next.open(storage);
  ASSERT_TRUE(found.ok() && found->newest);
  EXPECT_EQ(found->newest->meta.number, 6U);
  EXPECT_EQ(next.best(), 2U) << "read off the files";
  EXPECT_EQ(next.next_number(), 7U);
}

TEST(CheckpointShelf, K1_ABrokenNewestFallsBackToThePreviousGoodOneAndIsNamed) {
  for (const double part : {0.0, 0.01, 0.5, 0.99}) {
    sim::MemoryStorage storage;
    CheckpointShelf shelf(3);
    for (std::uint64_t number = 1; number <= 3; ++number) ASSERT_TRUE(shelf.save(storage, example(number)).ok());
    Bytes& newest = storage.files().at(checkpoint_file_name(3));
    newest.resize(static_cast<std::size_t>(part * static_cast<double>(newest.size())));
    Bytes& second = storage.files().at(checkpoint_file_name(2));
    second[second.size() / 2] ^= std::byte{1};
    CheckpointShelf next(3);
    const auto found = next.open(storage);
    ASSERT_TRUE(found.ok() && found->newest) << part;
    EXPECT_EQ(found->newest->meta.number, 1U);
    ASSERT_EQ(found->broken.size(), 2U);
    EXPECT_EQ(found->broken[0].file, checkpoint_file_name(3));
    EXPECT_EQ(found->broken[1].file, checkpoint_file_name(2));
    EXPECT_NE(found->broken[1].cause.find("damaged"), std::string::npos) << found->broken[1].cause;
    EXPECT_EQ(next.next_number(), 4U) << "the broken one's number is taken";
  }
}

TEST(CheckpointShelf, K2_AFullDiskCostsNoneOfThoseThatAreThere) {
  sim::MemoryStorage storage;
  CheckpointShelf shelf(2);
  for (std::uint64_t number = 1; number <= 2; ++number) ASSERT_TRUE(shelf.save(storage, example(number)).ok());
  storage.set_full(true);
  EXPECT_FALSE(shelf.save(storage, example(3)).ok());
  EXPECT_EQ(there(storage), (std::vector<std::uint64_t>{1, 2}));
  storage.set_full(false);
  EXPECT_TRUE(shelf.save(storage, example(4)).ok());
  EXPECT_EQ(there(storage), (std::vector<std::uint64_t>{2, 4}));
}

}  // namespace
}  // namespace hourglass

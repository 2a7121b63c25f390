#include "stepwright/checkpoint/index.h"

#include <gmock/gmock.h>

#include "tests/checkpoint/refusal.h"
#include "tests/folder.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

checkpoint::CheckpointIndex example() {
  return {.run = {.step = 3,
                  .seed = ~0ULL,
                  .samples = 24,
                  .length = 16,
                  .tokens = 99,
                  .plan = "stepwright: plan/1\n",
                  .program = "0123"},
          .dtype = "F32",
          .states = {"weights", "first_moment", "second_moment"},
          .files = {{"rank-00000.safetensors", {96, "aa"}}, {"rank-00001.safetensors", {96, "bb"}}},
          .tensors = {{"layers.0.mlp.fc2", {4, 4}, {{0, {{0, 2, 4, 4}}}, {1, {{2, 2, 4, 4}}}}}}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// What an index is refused with after a change that its checksum covers.
std::string refusal(checkpoint::CheckpointIndex index) {
  return refusal_of(
      [&] { (void)checkpoint::parse_index(checkpoint::index_text(index), "checkpoint.json"); });
}

TEST(Index, ReadsWhatItWrote) {
  EXPECT_EQ(checkpoint::parse_index(checkpoint::index_text(example()), "checkpoint.json"),
            example());
  checkpoint::check_complete(example(), "checkpoint.json");
  checkpoint::CheckpointIndex beside = example();
  beside.run.base = "/models/base";
  EXPECT_EQ(checkpoint::parse_index(checkpoint::index_text(beside), "checkpoint.json"), beside);
}

TEST(Index, EveryChangedByteIsSeen) {
  const std::string text = checkpoint::index_text(example());
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_NE(refusal_of([&] { (void)checkpoint::parse_index(changed, "checkpoint.json"); }), "")
        << i;
  }
  EXPECT_THAT(refusal_of([&] {
                (void)checkpoint::parse_index(replaced(text, "\"step\":3", "\"step\":4"),
                                              "checkpoint.json");
              }),
              HasSubstr("checkpoint.json: damaged: checksum"));
}

TEST(Index, RefusesPiecesOutsideTheirTensor) {
  checkpoint::CheckpointIndex index = example();
  index.tensors[0].slices[0].pieces = {{0, 2, 4, 5}};
  EXPECT_THAT(refusal(index), HasSubstr("tensor 'layers.0.mlp.fc2': the piece [0, 2, 4, 5]"));
  index.tensors[0].slices[0].pieces = {{0, 1, INT64_MAX, 3}};
  EXPECT_THAT(refusal(index), HasSubstr("does not lie in 16 elements"));
}

TEST(Index, RefusesNamesThatLeadElsewhere) {
  checkpoint::CheckpointIndex index = example();
  index.files[0].name = "../rank-00000.safetensors";
  EXPECT_THAT(refusal(index), HasSubstr("no plain name"));
  index = example();
  index.tensors[0].slices[0].file = 2;
  EXPECT_THAT(refusal(index), HasSubstr("file 2 of 2"));
}

TEST(Index, AHoleIsNoCheckpoint) {
  checkpoint::CheckpointIndex index = example();
  index.tensors[0].slices.pop_back();
  EXPECT_THAT(refusal_of([&] { checkpoint::check_complete(index, "checkpoint.json"); }),
              HasSubstr("do not hold element 2 of 16 exactly once"));
}

TEST(Index, PartsOfRanksMakeOne) {
  checkpoint::CheckpointIndex index;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const checkpoint::ShardPart part{{"r" + std::to_string(rank), {8, "aa"}},
                                     {{"t", {4}, {{0, {{2 * rank, 2, 0, 1}}}}}}};
    checkpoint::add_part(index, checkpoint::parse_part(checkpoint::part_text(part)));
  }
  EXPECT_EQ(index.files.size(), 2U);
  EXPECT_EQ(index.tensors.at(0).slices.at(1).file, 1);
  checkpoint::check_complete(index, "here");
}

}  // namespace
}  // namespace stepwright::testing

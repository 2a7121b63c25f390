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

/// Returns the error for an index that was changed before its checksum was computed.
std::string refusal(checkpoint::CheckpointIndex index) {
  return refusal_of([&] {
    (void)checkpoint::parse_checkpoint_index(checkpoint::checkpoint_index_text(index),
                                             "checkpoint.json");
  });
}

TEST(Index, ReadsWhatItWrote) {
  EXPECT_EQ(checkpoint::parse_checkpoint_index(checkpoint::checkpoint_index_text(example()),
                                               "checkpoint.json"),
            example());
  checkpoint::check_tensor_coverage(example(), "checkpoint.json");
  checkpoint::CheckpointIndex beside = example();
  beside.run.base = "/models/base";
  beside.run.data = "/data/text";
  beside.run.data_sum = "0123456789abcdef";
  EXPECT_EQ(checkpoint::parse_checkpoint_index(checkpoint::checkpoint_index_text(beside),
                                               "checkpoint.json"),
            beside);
}

TEST(Index, EveryChangedByteIsSeen) {
  const std::string text = checkpoint::checkpoint_index_text(example());
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_NE(
        refusal_of([&] { (void)checkpoint::parse_checkpoint_index(changed, "checkpoint.json"); }),
        "")
        << i;
  }
  EXPECT_THAT(refusal_of([&] {
                (void)checkpoint::parse_checkpoint_index(replaced(text, "\"step\":3", "\"step\":4"),
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
  EXPECT_THAT(refusal(index), HasSubstr("not a plain name"));
  index = example();
  index.tensors[0].slices[0].file = 2;
  EXPECT_THAT(refusal(index), HasSubstr("file 2 of 2"));
}

TEST(Index, RefusesNamesThatEndEarlyOrChangeATerminal) {
  for (const std::string& bad :
       {std::string("a\0b", 3), std::string("a\x1b[2J"), std::string("..")}) {
    checkpoint::CheckpointIndex index = example();
    index.files[0].name = bad;
    EXPECT_THAT(refusal(index), HasSubstr("not a plain name")) << bad;
  }
  checkpoint::CheckpointIndex index = example();
  index.tensors[0].name = std::string("t\0", 2);
  EXPECT_THAT(refusal(index), HasSubstr("'name': 't\\x00' has characters that no name has"));
  index = example();
  index.states[1] = "first\nmoment";
  EXPECT_THAT(refusal(index), HasSubstr("'states': 'first\\x0amoment'"));
}

TEST(Index, RefusesShapesThatItsFilesCannotHold) {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  checkpoint::CheckpointIndex index = example();
  index.tensors[0].shape = {kMany};
  index.tensors[0].slices = {{0, {{0, 1, 2, kMany / 2}}}, {1, {{1, 1, 2, kMany / 2}}}};
  EXPECT_THAT(refusal(index),
              HasSubstr("tensor 'layers.0.mlp.fc2': its 549755813888 elements in "
                        "rank-00000.safetensors are more than the file's 96 bytes hold"));
  index = example();
  index.files[1].sum.bytes = 95;
  EXPECT_THAT(refusal(index), HasSubstr("rank-00001.safetensors are more than the file's 95"));
}

TEST(Index, RefusesWhatIsNestedDeeperThanAnyIndex) {
  const std::string deep(1 << 20, '[');
  const std::string text = R"({"stepwright":"checkpoint/1","xxh3":"","content":)" + deep +
                           std::string(1 << 20, ']') + "}";
  EXPECT_THAT(
      refusal_of([&] { (void)checkpoint::parse_checkpoint_index(text, "checkpoint.json"); }),
      HasSubstr("checkpoint.json: is nested deeper than 16 levels"));
  checkpoint::CheckpointIndex quoted = example();
  quoted.run.plan = "\"" + deep;  // text is not nested
  EXPECT_EQ(refusal(quoted), "");
}

TEST(Index, AHoleIsNoCheckpoint) {
  checkpoint::CheckpointIndex index = example();
  index.tensors[0].slices.pop_back();
  EXPECT_THAT(refusal_of([&] { checkpoint::check_tensor_coverage(index, "checkpoint.json"); }),
              HasSubstr("do not hold element 2 of 16 exactly once"));
}

TEST(Index, PartsOfRanksMakeOne) {
  checkpoint::CheckpointIndex index;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const checkpoint::RankCheckpointPart part{{"r" + std::to_string(rank), {8, "aa"}},
                                              {{"t", {4}, {{0, {{2 * rank, 2, 0, 1}}}}}}};
    checkpoint::add_checkpoint_part(
        index, checkpoint::parse_checkpoint_part(checkpoint::checkpoint_part_text(part)));
  }
  EXPECT_EQ(index.files.size(), 2U);
  EXPECT_EQ(index.tensors.at(0).slices.at(1).file, 1);
  checkpoint::check_tensor_coverage(index, "here");
}

}  // namespace
}  // namespace stepwright::testing

// Lines that match rows of clues, and similar lines that do not.
#include "stepwright/diagnose/clue.h"

#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Diagnosis from_log(std::string_view text) {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(text, "job.log");
  return diagnose_files(files);
}

TEST(Clue, EachRowHasAdviceAndWordsOfItsOwn) {
  for (const FaultLinePattern& kind : fault_line_patterns()) {
    FaultLogLines clues;
    ASSERT_FALSE(kind.lines.empty()) << kind.reason;
    std::string line;
    for (const std::string& word : kind.lines.front()) line += word + " ";
    ASSERT_NE(match_log_line_to_fault_pattern(line), nullptr) << line;
    EXPECT_EQ(match_log_line_to_fault_pattern(line)->reason, kind.reason) << line;
    EXPECT_TRUE(clues.add(line, "job.log", 1, 3));
    const std::vector<FaultFinding> findings = clues.findings(kind.rank);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_FALSE(findings.front().causes.empty()) << kind.reason;
    EXPECT_FALSE(findings.front().changes.empty()) << kind.reason;
    EXPECT_THAT(findings.front().ranks, ElementsAre(3));
  }
}

TEST(Clue, OrdinaryLinesAreNone) {
  EXPECT_EQ(match_log_line_to_fault_pattern("iteration 7/ 100 | lm loss: 2.0"), nullptr);
  EXPECT_EQ(match_log_line_to_fault_pattern(""), nullptr);
  EXPECT_EQ(match_log_line_to_fault_pattern("the data loader shares memory"), nullptr);
}

TEST(Clue, ManyLinesAreOneFinding) {
  std::string text;
  for (int i = 0; i < 9; ++i) {
    text +=
        "n1:7:9 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a (size "
        "1)\n";
  }
  const Diagnosis found = from_log(text);
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kSetup);
  EXPECT_EQ(found.findings.front().where.line, 1);
  EXPECT_THAT(found.findings.front().evidence.back(), HasSubstr("6 more lines"));
}

/// A lost connection is a consequence of the rank that ended.
TEST(Clue, WhatFollowsIsSaidOnlyAlone) {
  constexpr std::string_view kLost =
      "n1:7:9 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
      "n2\n";
  EXPECT_EQ(from_log(kLost).findings.front().kind, DiagnosedFaultKind::kMissingRank);
  const Diagnosis found = from_log(std::string(kLost) + "srun: error: n2: task 3: Killed\n");
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_THAT(found.findings.front().what, HasSubstr("Rank 3 ended: signal 9"));
}

TEST(Clue, RanksOfNcclComeFromItsCommunicators) {
  const Diagnosis found = from_log(
      "n1:41:77 [1] NCCL INFO comm 0x1 rank 1 nranks 2 cudaDev 1 - Init START\n"
      "n1:41:77 [1] NCCL INFO comm 0x2 rank 9 nranks 16 cudaDev 1 - Init START\n"
      "n1:41:78 [1] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr failed with error x\n");
  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(9));
}

}  // namespace
}  // namespace stepwright::diagnose

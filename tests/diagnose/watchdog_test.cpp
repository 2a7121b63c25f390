// Lines of PyTorch's watchdog, complete and partial.
#include "stepwright/diagnose/watchdog.h"

#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"
#include "stepwright/diagnose/launcher_lines.h"

namespace stepwright::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Watchdog, ReadsWhatALineHas) {
  const auto whole = read_watchdog_timeout(
      "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, "
      "NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600020 milliseconds");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->rank, 3);
  EXPECT_EQ(whole->call.sequence, 7);
  EXPECT_EQ(whole->call.sizes, "[4]");
  EXPECT_EQ(whole->limit_ms, 600000);
  const auto part = read_watchdog_timeout("WorkNCCL(OpType=BROADCAST) ran for 18 ms");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->call.operation, "BROADCAST");
  EXPECT_EQ(part->call.sequence, logs::kUnknown);
  EXPECT_FALSE(read_watchdog_timeout("WorkNCCL("));
}

TEST(Watchdog, ReadsHowFarARankWas) {
  const auto progress = read_rank_progress_from_watchdog_line(
      "[PG ID 0 PG GUID 5(tp) Rank 1] Exception detected by watchdog at work: 808, last enqueued "
      "NCCL work: 811, last completed NCCL work: 807.");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->group.name, "5");
  EXPECT_EQ(progress->group.purpose, "tp");
  EXPECT_EQ(progress->at, 808);
  EXPECT_EQ(progress->enqueued, 811);
  EXPECT_FALSE(read_rank_progress_from_watchdog_line("work: 3"));
}

TEST(Watchdog, ReadsRanksThatPyTorchNames) {
  EXPECT_THAT(
      read_ranks_blamed_by_pytorch(
          "\t     [2, 5] finished collective #4, but didn't join collective #5 (count from 1)"),
      ElementsAre(2, 5));
  EXPECT_THAT(read_ranks_blamed_by_pytorch(
                  "\t - To our best knowledge, ranks [1] are the lagging ranks that "
                  "caused this timeout. They never joined any collectives"),
              ElementsAre(1));
  EXPECT_THAT(read_ranks_blamed_by_pytorch("[2] joined but didn't finish collective #4"),
              IsEmpty());
  EXPECT_THAT(numbers_in_list("[-1, x, 99999999999]"), IsEmpty());
}

TEST(Watchdog, WorkInFrontOfATimeOutIsTheFirstCause) {
  constexpr std::string_view kLog =
      "Saving model checkpoint to /tmp/checkpoint-500\n"
      "[rank1]:[E x] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=900, "
      "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600020 milliseconds\n"
      "***** Running Evaluation *****\n";
  std::vector<logs::FileByteReader> files;
  files.emplace_back(kLog, "job.log");
  const Diagnosis found = diagnose_files(files);
  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.findings.front().causes.front(),
              HasSubstr("checkpoint is written by one rank"));
}

TEST(LauncherRankEndParser, ReadsExitsOfTorchrunWithoutABlock) {
  LauncherRankEndParser lines;
  const auto end = lines.read_launcher_log_line(
      "E1028 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) "
      "local_rank: "
      "2 (pid: 598577) of binary: /opt/conda/bin/python");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->rank, 2);
  EXPECT_TRUE(end->local);
  EXPECT_EQ(end->what, "signal 9 (SIGKILL)");
  EXPECT_FALSE(lines.read_launcher_log_line("failed (exitcode: 1) local_rank: 2 (pid: 7)"));
  EXPECT_FALSE(
      lines.read_launcher_log_line("failed (exitcode: -99999999999999999999) local_rank: x"));
}

}  // namespace
}  // namespace stepwright::diagnose

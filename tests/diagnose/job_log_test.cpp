// Lines of launchers and libraries, quoted from public reports.
#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"
#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Diagnosis of_log(std::string_view text, std::string name = "job.log") {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(text, std::move(name));
  return diagnose_files(files);
}

TEST(LineOrigin, TakesMarksOfLaunchersOff) {
  const auto origin = [](std::string_view line) {
    const LogLineOrigin found = strip_log_line_prefix(line);
    return std::pair<std::int64_t, std::string>(found.rank, found.text);
  };
  EXPECT_EQ(origin("[rank12]: ValueError: x"),
            std::pair(std::int64_t{12}, std::string("ValueError: x")));
  EXPECT_EQ(origin("[default3]:[rank11]: x"), std::pair(std::int64_t{11}, std::string("x")));
  EXPECT_EQ(origin("[1,3]<stderr>:x"), std::pair(std::int64_t{3}, std::string("x")));
  EXPECT_EQ(origin(" 7: x"), std::pair(std::int64_t{7}, std::string("x")));
  EXPECT_EQ(origin("worker-0: [rank2]: x"), std::pair(std::int64_t{2}, std::string("x")));
  EXPECT_EQ(origin("\x1b[36m(Worker pid=9, ip=10.0.0.1)\x1b[0m [rank4]:[E x"),
            std::pair(std::int64_t{4}, std::string("[E x")));
  EXPECT_EQ(origin("2026-01-02T03:04:05.678Z [rank1]: x"),
            std::pair(std::int64_t{1}, std::string("x")));
  EXPECT_EQ(origin("loss: 3"), std::pair(logs::kUnknown, std::string("loss: 3")));
}

TEST(LineOrigin, ReadsTheRankOfAPath) {
  EXPECT_EQ(rank_in_log_path("logs/none_x/attempt_0/3/stderr.log"), 3);
  EXPECT_EQ(rank_in_log_path("logs/rank_12.log"), 12);
  EXPECT_EQ(rank_in_log_path("slurm-4711.out"), logs::kUnknown);
}

TEST(JobLogFacts, WatchdogsOfRanksAtDifferentCalls) {
  const Diagnosis found = of_log(
      "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466119168, NumelOut=466119168, "
      "Timeout(ms)=600000) ran for "
      "600060 milliseconds before timing out.\n"
      "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:1664] [PG ID 0 PG GUID 0(default_pg) Rank 0] "
      "Exception (either "
      "an error or timeout) detected by watchdog at work: 1580, last enqueued NCCL work: 1582, "
      "last completed NCCL work: 1579.\n"
      "[rank1]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=1580, OpType=_ALLGATHER_BASE, NumelIn=5, NumelOut=10, Timeout(ms)=600000) "
      "ran for "
      "600060 milliseconds before timing out.\n"
      "[rank2]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 2] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466119168, NumelOut=466119168, "
      "Timeout(ms)=600000) ran for "
      "600060 milliseconds before timing out.\n");
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMismatch);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(1));
  EXPECT_THAT(found.findings.front().what, HasSubstr("_ALLGATHER_BASE"));
}

TEST(JobLogFacts, AWatchdogAfterAnExceptionFollowsFromIt) {
  const Diagnosis found = of_log(
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"/home/me/train.py\", line 12, in load\n"
      "[rank3]:     raise KeyError(name)\n"
      "[rank3]: KeyError: 'tokens'\n"
      "[rank0]:[E321 x ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation "
      "timeout: "
      "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for "
      "600060 milliseconds\n"
      "[rank1]:[E321 x ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation "
      "timeout: "
      "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for "
      "600060 milliseconds\n");
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMissingRank);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(3));
  EXPECT_THAT(found.findings.front().what, HasSubstr("KeyError: 'tokens', at train.py:12 in load"));
}

TEST(JobLogFacts, DetailNamesTheMismatch) {
  const Diagnosis found = of_log(
      "[rank0]: RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running "
      "collective: "
      "CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[512]), but Rank 2 is "
      "running "
      "collective: CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[96]).\n");
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMismatch);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(2));
}

TEST(JobLogFacts, BarriersNameTheRanksThatDidNotCome) {
  const Diagnosis found = of_log(
      "[rank0]:[E x ProcessGroupGloo.cpp:1] [Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier "
      "in 10000 ms\n");
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMissingRank);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(1, 3));
}

TEST(JobLogFacts, SchedulersNameTheTaskThatWasKilled) {
  const Diagnosis killed =
      of_log("srun: error: node12: task 3: Killed\nsrun: error: node12: tasks 0-2: Terminated\n");
  ASSERT_FALSE(killed.findings.empty());
  EXPECT_THAT(killed.findings.front().ranks, ElementsAre(3));
  const Diagnosis mpi = of_log(
      "mpirun noticed that process rank 5 with PID 0 on node n1 exited on signal 11 (Segmentation "
      "fault).\n");
  ASSERT_FALSE(mpi.findings.empty());
  EXPECT_THAT(mpi.findings.front().ranks, ElementsAre(5));
  EXPECT_THAT(mpi.findings.front().what, HasSubstr("signal 11 (Segmentation fault)"));
}

TEST(JobLogFacts, ALogThatSaysNothingIsNoFinding) {
  const Diagnosis found = of_log("step 1 loss 3.0\nstep 2 loss 2.9\n");
  EXPECT_TRUE(found.findings.empty());
  EXPECT_THAT(found.notes, Contains(HasSubstr("No line shows")));
}

}  // namespace
}  // namespace stepwright::diagnose

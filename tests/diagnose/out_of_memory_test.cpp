// Out-of-memory messages of PyTorch, the kernel and Slurm, quoted from public reports.
#include "stepwright/diagnose/out_of_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(OutOfMemory, ReadsTheMessageInSentences) {
  const auto event = read_device_out_of_memory(
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total "
      "capacity of 79.25 GiB "
      "of which 1.25 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory "
      "in use. Of the allocated "
      "memory 70.00 GiB is allocated by PyTorch, and 5.50 GiB is reserved by PyTorch but "
      "unallocated.");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->asked_bytes, 2 * kGiB);
  EXPECT_EQ(event->capacity_bytes, 79.25 * kGiB);
  EXPECT_EQ(event->free_bytes, 1.25 * kGiB);
  EXPECT_EQ(event->process_bytes, 78 * kGiB);
  EXPECT_EQ(event->allocated_bytes, 70 * kGiB);
  EXPECT_EQ(event->unused_bytes, 5.5 * kGiB);
  EXPECT_EQ(event->others_bytes, 0);
}

TEST(OutOfMemory, ReadsTheMessageInBrackets) {
  const auto event = read_device_out_of_memory(
      "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 79.15 GiB total "
      "capacity; 76.00 GiB already "
      "allocated; 10.00 MiB free; 77.50 GiB reserved in total by PyTorch) If reserved memory is >> "
      "allocated memory");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->asked_bytes, 20 * kGiB / 1024);
  EXPECT_EQ(event->capacity_bytes, 79.15 * kGiB);
  EXPECT_EQ(event->allocated_bytes, 76 * kGiB);
  EXPECT_EQ(event->unused_bytes, 1.5 * kGiB);
}

/// In a container, PyTorch lists its own process among the others.
TEST(OutOfMemory, SumsWhatOtherProcessesHold) {
  constexpr std::string_view kBegin =
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a "
      "total capacty of 79.15 GiB of which 0.50 GiB is free. Process 11 has 40.00 GiB memory in "
      "use. Process 12 has 30.00 GiB memory in use. ";
  constexpr std::string_view kEnd =
      "Of the allocated memory 28.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by "
      "PyTorch but unallocated.";
  const auto own_listed = read_device_out_of_memory(fmt::format("{}{}", kBegin, kEnd));
  ASSERT_TRUE(own_listed);
  EXPECT_EQ(own_listed->others_bytes, 40 * kGiB);
  const auto own_said = read_device_out_of_memory(fmt::format(
      "{}Including non-PyTorch memory, this process has 8.00 GiB memory in use. {}", kBegin, kEnd));
  ASSERT_TRUE(own_said);
  EXPECT_EQ(own_said->others_bytes, 70 * kGiB);
}

TEST(OutOfMemory, OtherLinesAreNone) {
  EXPECT_FALSE(read_device_out_of_memory("the budget is out of memory of everybody"));
  EXPECT_FALSE(read_host_out_of_memory("step 3 loss 2.0"));
}

TEST(OutOfMemory, HostsAreTold) {
  const auto event = read_host_out_of_memory(
      "[12345.6] Out of memory: Killed process 4242 (python3) total-vm:900000kB, "
      "anon-rss:1048576kB, file-rss:0kB");
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->host);
  EXPECT_EQ(event->process_bytes, kGiB);
  EXPECT_TRUE(read_host_out_of_memory(
      "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks"));
}

/// The finding names the reason that the figures show; consequences are not reported as findings.
TEST(OutOfMemory, IsTheFirstFinding) {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(
      std::string_view("[rank1]: Traceback (most recent call last):\n"
                       "[rank1]:   File \"/home/me/train.py\", line 88, in step\n"
                       "[rank1]:     loss.backward()\n"
                       "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
                       "2.00 GiB. GPU 1 has a total capacity of 79.25 "
                       "GiB of which 1.25 GiB is free. Including non-PyTorch memory, this process "
                       "has 78.00 GiB memory in use. Of the "
                       "allocated memory 70.00 GiB is allocated by PyTorch, and 5.50 GiB is "
                       "reserved by PyTorch but unallocated.\n"
                       "[rank0]:[E x] [Rank 0] Watchdog caught collective operation timeout: "
                       "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=4, "
                       "NumelOut=4, Timeout(ms)=600000) ran for 600060 milliseconds\n"),
      "job.log");
  const Diagnosis found = diagnose_files(files);
  ASSERT_FALSE(found.findings.empty());
  const FaultFinding& finding = found.findings.front();
  EXPECT_EQ(finding.kind, DiagnosedFaultKind::kOutOfMemory);
  EXPECT_THAT(finding.ranks, ElementsAre(1));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("train.py:88 in step")));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("2.50 GiB are the context")));
  EXPECT_THAT(finding.changes, Contains(HasSubstr("expandable_segments")));
  EXPECT_EQ(finding.lost_bytes, 0.75 * kGiB);
}

}  // namespace
}  // namespace stepwright::diagnose

// Snapshots of PyTorch's allocator together with out-of-memory messages of devices.
#include "stepwright/diagnose/memory_snapshot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A snapshot with one segment of 100 MiB: 60 in use, 20 unused, 10 in use, 10 unused. An
/// allocation of 25 MiB failed while the device had 5 MiB free.
constexpr std::string_view kSnapshot =
    R"({"segments": [{"address": 1048576, "total_size": 104857600,
 "device": 0, "blocks": [
 {"size": 62914560, "requested_size": 62914560, "state": "active_allocated",
  "frames": [{"filename": "/x/model.py", "line": 88, "name": "forward"}]},
 {"size": 20971520, "state": "inactive"},
 {"size": 10485760, "requested_size": 10485760, "state": "active_allocated",
  "frames": [{"filename": "/x/train.py", "line": 7, "name": "step"}]},
 {"size": 10485760, "state": "inactive"}]}],
 "device_traces": [[{"action": "oom", "size": 26214400, "device_free": 5242880}]]})";

constexpr std::string_view kMessage =
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 25.00 MiB. GPU 3 has a "
    "total capacity of 79.25 GiB of which 5.00 MiB is free. Including non-PyTorch memory, this "
    "process has 79.00 GiB memory in use. Of the allocated memory 70.00 MiB is allocated by "
    "PyTorch, and 30.00 MiB is reserved by PyTorch but unallocated.\n";

Diagnosis of(std::string_view snapshot, std::string_view log) {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(snapshot, "rank_3.json");
  if (!log.empty()) files.emplace_back(log, "job.log");
  return diagnose_files(files);
}

TEST(MemorySnapshot, ExplainsTheMessageOfItsRank) {
  const Diagnosis found = of(kSnapshot, kMessage);
  ASSERT_EQ(found.findings.size(), 1u);
  const FaultFinding& finding = found.findings.front();
  EXPECT_EQ(finding.where.file, "job.log");
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("blocks of 70.0 MiB at the peak, in segments of 100 MiB")));
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("60.0 MiB in 1 block, at x/model.py:88 forward")));
  EXPECT_THAT(finding.evidence,
              Contains(HasSubstr("30.0 MiB of the segments are in no block, the largest piece of "
                                 "it 20.0 MiB; 25.0 MiB were asked for")));
  EXPECT_THAT(finding.causes, Contains(HasSubstr("pieces that are too small")));
}

TEST(MemorySnapshot, SaysByItselfWhatFailed) {
  const Diagnosis found = of(kSnapshot, "");
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kOutOfMemory);
  EXPECT_THAT(found.findings.front().ranks, ::testing::ElementsAre(3));
  EXPECT_THAT(found.findings.front().what,
              HasSubstr("asked its device for 25.0 MiB where 5.00 MiB were free"));
  EXPECT_THAT(found.files.front().what, HasSubstr("snapshot of memory, device 0 with 1 event"));
}

/// Real dumps of two formats, with a failed allocation.
TEST(MemorySnapshot, SaysAloneWhatFailed) {
  for (const char* name : {"torch-2.6.pickle", "torch-2.6.json"}) {
    std::vector<logs::FileByteReader> files;
    files.emplace_back(std::filesystem::path("tests/snapshot/data") / name);
    const Diagnosis found = diagnose_files(files);
    ASSERT_EQ(found.findings.size(), 1u) << name;
    EXPECT_THAT(found.findings.front().what, HasSubstr("asked its device for 1.00 GiB")) << name;
    ASSERT_EQ(found.snapshots.size(), 1u) << name;
    // Two pieces of its one segment are in no block.
    EXPECT_EQ(found.snapshots.front().unused_bytes, 2097152 + 521216) << name;
    EXPECT_EQ(found.snapshots.front().largest_unused_bytes, 2097152) << name;
  }
}

TEST(MemorySnapshot, ADamagedOneIsNamedAndTheRestIsRead) {
  const Diagnosis found = of(kSnapshot.substr(0, 300), kMessage);
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_THAT(found.notes, Contains(HasSubstr("Not read: rank_3.json")));
}

}  // namespace
}  // namespace stepwright::diagnose

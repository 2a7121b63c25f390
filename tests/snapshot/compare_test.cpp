// Snapshots written from a plan, compared with the plan unchanged and with one block more or fewer.
#include <gmock/gmock.h>

#include <random>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/output_file.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/snapshot/compare_snapshots.h"
#include "stepwright/snapshot/read_snapshot.h"
#include "stepwright/snapshot/write_snapshot.h"
#include "tests/folder.h"
#include "tests/memory/jobs.h"

namespace stepwright::snapshot {
namespace {

using testing::any_planned_job;
using ::testing::ElementsAre;
using testing::gpt_job;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string written(const plan::Job& job, const step::StepProgram& program) {
  std::string bytes;
  write_predicted_snapshot(job, program, [&](std::string_view more) { bytes += more; });
  return bytes;
}

AllocatorSnapshot read_bytes(std::string_view bytes) {
  logs::FileByteReader source(bytes, "s.pickle");
  return read_allocator_snapshot(source);
}

TEST(WriteSnapshot, IsReadAsThePlanWhateverItIs) {
  constexpr const char* kFrameworks[] = {"", "megatron-core", "torchtitan"};
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    plan::PlannedJob planned = any_planned_job(random);
    planned.job.framework = {.name = kFrameworks[i % 3]};
    const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
    const AllocatorSnapshot snapshot = read_bytes(written(planned.job, program));
    ASSERT_EQ(snapshot.devices.size(), program.stages.size());
    for (std::size_t stage = 0; stage < program.stages.size(); ++stage) {
      const PlannedStagePeak planned_blocks =
          planned_peak(planned.job, program, program.stages[stage]);
      const DeviceMemorySnapshot& recording = snapshot.devices[stage];
      EXPECT_EQ(recording.peak_bytes, planned_blocks.bytes);
      EXPECT_GE(recording.reserved_bytes, recording.peak_bytes);
      const SnapshotBlockMatch match =
          match_predicted_blocks(recording, snapshot.stacks, planned_blocks);
      EXPECT_EQ(match.matched_bytes, recording.peak_bytes);
      EXPECT_EQ(match.by_size, recording.peak_bytes);
      EXPECT_THAT(match.unexplained, IsEmpty());
      EXPECT_THAT(match.missing, IsEmpty());
    }
  }
}

class OneDevice : public ::testing::Test {
 protected:
  OneDevice() {
    job_ = gpt_job(2, 512, 8, 1024);
    job_.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
    plan::Plan plan;
    plan.parallel.data = 8;
    program_ = step::build_step_program(job_, plan);
    planned_ = planned_peak(job_, program_, program_.stages.front());
    snapshot_ = read_bytes(written(job_, program_));
  }
  DeviceMemorySnapshot& recording() { return snapshot_.devices.front(); }
  SnapshotBlockMatch match() {
    return match_predicted_blocks(recording(), snapshot_.stacks, planned_);
  }

  plan::Job job_;
  step::StepProgram program_;
  PlannedStagePeak planned_;
  AllocatorSnapshot snapshot_;
};

TEST_F(OneDevice, NamesAForeignBlockWithItsFrames) {
  const FrameId frame = snapshot_.stacks.frame({.file = "/a/b/ema.py", .line = 5, .name = "copy"});
  const std::vector<FrameId> frames{frame};
  const StackId stack = snapshot_.stacks.store_call_stack(frames);
  for (int i = 0; i < 2; ++i) {
    recording().at_peak.push_back({.bytes = 12'345'678, .event = 3, .what = stack});
  }
  recording().peak_bytes += 2 * 12'345'678;
  const SnapshotBlockMatch found = match();
  ASSERT_EQ(found.unexplained.size(), 1U);
  EXPECT_EQ(found.unexplained.front().bytes, 2 * 12'345'678);
  EXPECT_EQ(found.unexplained.front().count, 2);
  EXPECT_THAT(found.unexplained.front().frames, ElementsAre("b/ema.py:5 copy"));
  EXPECT_EQ(found.matched_bytes, recording().peak_bytes - 2 * 12'345'678);
  EXPECT_THAT(found.missing, IsEmpty());
}

TEST_F(OneDevice, NamesWhatTheRunLacks) {
  auto& blocks = recording().at_peak;
  const auto last = std::ranges::max_element(
      blocks, {}, [](const MemoryBlock& block) { return block.event >= 0 ? block.bytes : 0; });
  const std::int64_t bytes = last->bytes;
  blocks.erase(last);
  const SnapshotBlockMatch found = match();
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing.front().bytes, bytes);
  EXPECT_FALSE(found.missing.front().tensor.empty());
  EXPECT_THAT(found.unexplained, IsEmpty());
}

/// Replaces the blocks allocated before the recording by others with the same sum.
void replace_states(DeviceMemorySnapshot& recording, const std::vector<std::int64_t>& sizes) {
  std::erase_if(recording.at_peak, [](const MemoryBlock& block) { return block.event < 0; });
  for (const std::int64_t size : sizes) recording.at_peak.push_back({.bytes = size});
}

TEST_F(OneDevice, FindsModelStatesInFlatBuffers) {
  const step::RankModelStateBytes& states = program_.stages.front().states;
  // The optimizer states of all parameters in one buffer, with a little padding.
  replace_states(recording(),
                 {states.parameters, states.gradients, states.optimizer + states.optimizer / 1000});
  const SnapshotBlockMatch found = match();
  EXPECT_GE(found.by_layout, states.parameters + states.gradients + states.optimizer);
  EXPECT_THAT(found.unexplained, IsEmpty());
  EXPECT_THAT(found.missing, IsEmpty());
}

TEST_F(OneDevice, TakesOlderBlocksForWhatIsLeftOfTheStates) {
  const step::RankModelStateBytes& states = program_.stages.front().states;
  const std::int64_t all = states.parameters + states.gradients + states.optimizer;
  replace_states(recording(), {all / 7 + 11, all / 3 + 5});
  const SnapshotBlockMatch found = match();
  EXPECT_EQ(found.by_lifetime, all / 7 + 11 + all / 3 + 5);
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing.front().tensor, "model states");
  EXPECT_EQ(found.missing.front().bytes, all - found.by_lifetime);
}

TEST_F(OneDevice, PrefersBlocksWhoseFramesNameTheModule) {
  // Two blocks of one size for one planned block of an MLP: the other one is not explained.
  planned_.blocks = {{.bytes = 5'000'000, .part = "mlp.fc1", .tensor = "activation"}};
  const auto stack = [&](const char* file) {
    const std::vector<FrameId> frames{
        snapshot_.stacks.frame({.file = file, .line = 1, .name = "f"})};
    return snapshot_.stacks.store_call_stack(frames);
  };
  recording().at_peak = {{.bytes = 5'000'000, .event = 1, .what = stack("x/attention.py")},
                         {.bytes = 5'000'000, .event = 2, .what = stack("x/mlp.py")}};
  const SnapshotBlockMatch found = match();
  ASSERT_EQ(found.unexplained.size(), 1U);
  EXPECT_THAT(found.unexplained.front().frames, ElementsAre("x/attention.py:1 f"));
}

class Ranks : public ::testing::Test {
 protected:
  Ranks() {
    job_ = gpt_job(4, 512, 8, 1024);
    job_.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
    plan::Plan plan;
    plan.parallel = {.pipeline = 2, .data = 4};
    program_ = step::build_step_program(job_, plan);
    bytes_ = written(job_, program_);
  }

  std::string file(const std::string& name, std::string_view bytes) {
    const std::string path = (folder_.path() / name).string();
    write_file(path, bytes);
    return path;
  }
  SnapshotComparison compare(const std::vector<std::string>& files) {
    return compare_snapshots(files, job_, program_);
  }

  Folder folder_;
  plan::Job job_;
  step::StepProgram program_;
  std::string bytes_;
};

TEST_F(Ranks, OfOneFileWithADeviceForEachPositionAreThePositions) {
  const SnapshotComparison comparison = compare({file("plan.pickle", bytes_)});
  ASSERT_EQ(comparison.ranks.size(), 2U);
  EXPECT_EQ(comparison.ranks[1].stage, 1);
  for (const RankSnapshotComparison& rank : comparison.ranks) {
    EXPECT_EQ(rank.recording.peak_bytes, rank.predicted_peak_bytes);
    EXPECT_EQ(rank.match.matched_bytes, rank.recording.peak_bytes);
  }
}

/// Returns a fixture that `make_snapshots.py` wrote.
std::string small() { return "tests/snapshot/data/torch-2.9.pickle"; }

TEST_F(Ranks, AreTakenFromTheNamesOfFilesOrFromTheirOrder) {
  const std::string bytes = read_file_or_standard_input(small(), 1 << 20);
  const SnapshotComparison named =
      compare({file("rank5.pickle", bytes), file("rank2.pickle", bytes)});
  EXPECT_EQ(named.ranks[0].rank, 5);
  EXPECT_EQ(named.ranks[0].stage, 1);
  EXPECT_EQ(named.ranks[1].stage, 0);
  const SnapshotComparison ordered = compare({file("a.pickle", bytes), file("b.pickle", bytes)});
  EXPECT_EQ(ordered.ranks[0].rank, -1);
  EXPECT_EQ(ordered.ranks[1].stage, 1);
  EXPECT_THAT(ordered.notes, ::testing::Contains(HasSubstr("pipeline positions in order")));
  EXPECT_THAT(ordered.notes, ::testing::Contains(HasSubstr("out of memory: 1.00 GiB")));
}

TEST_F(Ranks, TeachWhatTheFrameworkHoldsBesideThePlan) {
  SnapshotComparison comparison = compare({file("plan.pickle", bytes_)});
  const memory::MemoryReport report = memory::memory_report(job_, program_);
  DeviceMemorySnapshot& recording = comparison.ranks[comparison.fullest].recording;
  const LearnedMemoryMargins exact = learned_margins(comparison, report);
  EXPECT_EQ(exact.other_bytes, 0);
  recording.peak_bytes += 1000;
  recording.reserved_bytes = recording.peak_bytes;
  const LearnedMemoryMargins more = learned_margins(comparison, report);
  EXPECT_EQ(more.other_bytes, 1000);
  EXPECT_EQ(more.fragmentation, 0);
}

}  // namespace
}  // namespace stepwright::snapshot

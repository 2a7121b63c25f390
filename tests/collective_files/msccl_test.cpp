#include "stepwright/collective_files/msccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "stepwright/collective/proof.h"
#include "stepwright/collective_files/thread_blocks.h"
#include "stepwright/core/error.h"
#include "tests/collective_files/msccl_interpreter.h"

namespace stepwright::collective_files {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<collective::CollectiveOperation> kAllCollectives = {
    collective::CollectiveOperation::kAllGather, collective::CollectiveOperation::kReduceScatter,
    collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllToAll,
    collective::CollectiveOperation::kBroadcast, collective::CollectiveOperation::kReduce};

/// Limits that are large enough for all schedules of these tests.
MscclLoaderLimits roomy() {
  return {.name = "test", .most_steps = 10000, .most_thread_blocks = 10000};
}

std::string refusal(const collective::CollectiveScheduleSpec& spec) {
  try {
    msccl_xml(collective::generate_collective_schedule(spec), {.name = "test"});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    return error.what();
  }
  return "none";
}

TEST(Msccl, FilesOfAllSchedulesGiveTheRightNumbers) {
  for (const collective::CollectiveScheduleSpec& spec : small_specs(kAllCollectives)) {
    const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
    const Pieces inputs = inputs_of(schedule);
    const MscclFile file = read_msccl(msccl_xml(schedule, roomy()));
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
      SCOPED_TRACE(name_of(collective::kCollectiveAlgorithmNames, spec.method));
      expect_outputs(schedule, inputs, run_msccl(file, inputs, seed, 1 + seed % 2));
    }
  }
}

/// Files are right whatever the timing, even if a connection holds no message.
TEST(Msccl, FilesOfAllSchedulesAreProvenAsTheyAreWritten) {
  for (const collective::CollectiveScheduleSpec& spec : small_specs(kAllCollectives)) {
    const MscclFile file =
        read_msccl(msccl_xml(collective::generate_collective_schedule(spec), roomy()));
    const auto defect =
        collective::find_collective_schedule_defect(schedule_of(file, spec.collective));
    ASSERT_FALSE(defect.has_value())
        << name_of(collective::kCollectiveAlgorithmNames, spec.method) << ": " << defect->text;
  }
}

TEST(Msccl, SaysWhatItsLoadersAskFor) {
  const std::string text = msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {3}}),
      {.name = "ring", .min_bytes = 1024, .max_bytes = 4096});
  EXPECT_TRUE(text.starts_with("<algo name=\"ring\" proto=\"Simple\" "));
  EXPECT_THAT(text, Not(HasSubstr("\t")));
  const MscclFile file = read_msccl(text);
  EXPECT_EQ(file.collective, "allgather");
  EXPECT_EQ(file.pieces, 3);
  EXPECT_FALSE(file.in_place);
  EXPECT_TRUE(file.out_of_place);
  EXPECT_EQ(file.min_bytes, 1024);
  EXPECT_EQ(file.max_bytes, 4096);
}

/// Worked by hand: rank 0 sends its part of block 1, adds what it receives to block 0, sends the
/// sum and receives the other sum.
TEST(Msccl, AnAllReduceOfTwoIsThis) {
  const std::string text = msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kRing,
                                                collective::CollectiveOperation::kAllReduce,
                                                {2}}),
      {.name = "two"});
  EXPECT_THAT(text, HasSubstr(R"(
  <gpu id="0" i_chunks="2" o_chunks="2" s_chunks="2">
    <tb id="0" send="1" recv="-1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0" />
      <step s="1" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="1" deps="0" hasdep="0" />
    </tb>
    <tb id="1" send="-1" recv="1" chan="0">
      <step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1" />
      <step s="1" type="r" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0" />
    </tb>
  </gpu>
)"));
}

/// A rank of four sends to three ranks and receives from three: six connections, none of which
/// waits.
TEST(Msccl, SplitsAChannelThatTalksToSeveral) {
  const MscclFile file = read_msccl(msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kDirect,
                                                collective::CollectiveOperation::kAllGather,
                                                {4}}),
      {.name = "direct"}));
  EXPECT_EQ(file.channels, 1);
  int talking = 0;
  for (const MscclBlock& block : file.gpus[0].blocks) {
    for (const MscclStep& step : block.steps) EXPECT_FALSE(step.on.exists());
    talking += block.send >= 0 || block.receive >= 0 ? 1 : 0;
  }
  EXPECT_EQ(talking, 6);
}

/// A sum of four arrives from three ranks, one after the other; its sender waits only for the last.
TEST(Msccl, LeavesOutDependencesThatOthersImply) {
  const MscclFile file = read_msccl(msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kDirect,
                                                collective::CollectiveOperation::kAllReduce,
                                                {4}}),
      {.name = "direct"}));
  for (const MscclBlock& block : file.gpus[0].blocks) {
    for (const MscclStep& step : block.steps) EXPECT_NE(step.type, "nop");
  }
}

/// The second message of a rank of four consists of its own block, which it copied, and a received
/// one: a nop waits for one of the two and the step itself for the other.
TEST(Msccl, WaitsForSeveralInNops) {
  const MscclFile file = read_msccl(msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHalvingDoubling,
                                                collective::CollectiveOperation::kAllGather,
                                                {4}}),
      {.name = "doubling"}));
  std::vector<std::string> awaited;
  for (const MscclBlock& block : file.gpus[0].blocks) {
    for (const MscclStep& step : block.steps) {
      if (!step.on.exists()) continue;
      EXPECT_EQ(step.type, awaited.empty() ? "nop" : "s");
      awaited.push_back(file.gpus[0]
                            .blocks[static_cast<std::size_t>(step.on.channel)]
                            .steps[static_cast<std::size_t>(step.on.step)]
                            .type);
    }
  }
  EXPECT_THAT(awaited, testing::UnorderedElementsAre("cpy", "r"));
}

TEST(FlowChannels, AreTheirOwnBetweenTheSameRanks) {
  const collective::CollectiveScheduleStep step{};
  const ReceivesOfFlows landings = {{{0, 1, 2}, {{0, &step}}},
                                    {{1, 1, 2}, {{0, &step}}},
                                    {{1, 2, 1}, {{0, &step}}},
                                    {{5, 1, 2}, {{0, &step}}}};
  EXPECT_EQ(assign_msccl_channels(landings, 32),
            (FlowChannels{{{0, 1, 2}, 0}, {{1, 1, 2}, 1}, {{1, 2, 1}, 0}, {{5, 1, 2}, 2}}));
}

TEST(FlowChannels, HoldSoManyPeers) {
  const collective::CollectiveScheduleStep step{};
  const ReceivesOfFlows landings = {{{0, 0, 1}, {{0, &step}}},
                                    {{0, 0, 2}, {{0, &step}}},
                                    {{0, 0, 3}, {{0, &step}}},
                                    {{0, 1, 3}, {{0, &step}}}};
  EXPECT_EQ(assign_msccl_channels(landings, 2),
            (FlowChannels{{{0, 0, 1}, 0}, {{0, 0, 2}, 0}, {{0, 0, 3}, 1}, {{0, 1, 3}, 0}}));
}

TEST(Msccl, CutsLongMessages) {
  const collective::CollectiveScheduleSpec spec{collective::CollectiveAlgorithm::kHalvingDoubling,
                                                collective::CollectiveOperation::kAllGather,
                                                {4},
                                                48};
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
  const Pieces inputs = inputs_of(schedule);
  const std::string text = msccl_xml(schedule, {.name = "long"});
  EXPECT_THAT(text, HasSubstr("cnt=\"71\""));
  const MscclFile file = read_msccl(text);
  expect_outputs(schedule, inputs, run_msccl(file, inputs, 1, 1));
  EXPECT_FALSE(
      collective::find_collective_schedule_defect(schedule_of(file, spec.collective)).has_value());
}

TEST(Msccl, FitsOnEightNodesOfEight) {
  for (const collective::CollectiveOperation collective :
       {collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter,
        collective::CollectiveOperation::kAllReduce}) {
    EXPECT_EQ(refusal({collective::CollectiveAlgorithm::kHoRing, collective, {8, 8}, 4}), "none");
  }
  EXPECT_EQ(refusal({collective::CollectiveAlgorithm::kRing,
                     collective::CollectiveOperation::kAllReduce,
                     {33}}),
            "none");
  EXPECT_EQ(refusal({collective::CollectiveAlgorithm::kDirect,
                     collective::CollectiveOperation::kAllToAll,
                     {54}}),
            "none");
}

TEST(Msccl, RefusesWhatItsLoadersHaveNoRoomFor) {
  EXPECT_EQ(refusal({collective::CollectiveAlgorithm::kRing,
                     collective::CollectiveOperation::kAllReduce,
                     {34}}),
            "rank 0 needs 66 steps in a thread block, but MSCCL allows at most 64: use fewer "
            "chunks or ranks");
  EXPECT_THAT(refusal({collective::CollectiveAlgorithm::kDirect,
                       collective::CollectiveOperation::kAllToAll,
                       {64}}),
              HasSubstr("rank 0 needs 126 thread blocks, but MSCCL allows at most 108"));
  EXPECT_THAT(refusal({collective::CollectiveAlgorithm::kRing,
                       collective::CollectiveOperation::kAllGather,
                       {4},
                       8193}),
              HasSubstr("32772 pieces of a buffer, but MSCCL allows at most 32768"));
}

/// The interpreter detects a missing dependence.
TEST(Msccl, WithoutADependenceIsNotProven) {
  const collective::CollectiveSchedule schedule =
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllReduce,
                                                {2, 2}});
  const Pieces inputs = inputs_of(schedule);
  const MscclFile file = read_msccl(msccl_xml(schedule, {.name = "broken"}));
  int dependences = 0;
  for (std::size_t b = 0; b < file.gpus[0].blocks.size(); ++b) {
    for (std::size_t s = 0; s < file.gpus[0].blocks[b].steps.size(); ++s) {
      MscclFile broken = file;
      collective::CollectiveStepReference& on = broken.gpus[0].blocks[b].steps[s].on;
      if (!on.exists()) continue;
      on = {};
      ++dependences;
      EXPECT_TRUE(
          collective::find_collective_schedule_defect(schedule_of(broken, schedule.collective))
              .has_value())
          << "thread block " << b << " step " << s;
    }
  }
  EXPECT_GT(dependences, 4);
}

TEST(Msccl, WithoutItsDependencesGivesOtherNumbers) {
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(
      {collective::CollectiveAlgorithm::kRing, collective::CollectiveOperation::kAllReduce, {4}});
  const Pieces inputs = inputs_of(schedule);
  MscclFile file = read_msccl(msccl_xml(schedule, {.name = "broken"}));
  const Pieces right = run_msccl(file, inputs, 1, 2);
  for (MscclGpu& gpu : file.gpus) {
    for (MscclBlock& block : gpu.blocks) {
      for (MscclStep& step : block.steps) step.on = {};
    }
  }
  bool differs = false;
  for (std::uint32_t seed = 1; seed < 10; ++seed) {
    differs |= run_msccl(file, inputs, seed, 2) != right;
  }
  EXPECT_TRUE(differs);
}

TEST(Msccl, WithoutAnAttributeIsNotRead) {
  std::string text = msccl_xml(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {2}}),
      {.name = "x"});
  EXPECT_NO_THROW(read_msccl(text));
  const std::string attribute = " outofplace=\"1\"";
  text.erase(text.find(attribute), attribute.size());
  EXPECT_THROW(read_msccl(text), std::runtime_error);
}

/// Written by hand: a sum along 0, 1, 2 that is sent back the same way, with combined
/// receive-and-send steps, which our exporter never writes.
TEST(MscclInterpreter, KnowsStepsThatReceiveAndSend) {
  const std::string places = R"(srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" )";
  const auto step = [&](const std::string& number, const std::string& type) {
    return "<step s=\"" + number + "\" type=\"" + type + "\" " + places +
           "deps=\"-1\" hasdep=\"0\"/>";
  };
  const auto gpu = [](const std::string& id, const std::string& peers, const std::string& steps) {
    return "<gpu id=\"" + id + R"(" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" )" + peers +
           " chan=\"0\">" + steps + "</tb></gpu>";
  };
  const MscclFile file =
      read_msccl(R"(<algo name="chain" proto="LL" nchannels="1" nchunksperloop="1" ngpus="3" )"
                 R"(coll="allreduce" inplace="0" outofplace="1" minBytes="0" maxBytes="0">)" +
                 gpu("0", R"(send="1" recv="2")", step("0", "s") + step("1", "rcs")) +
                 gpu("1", R"(send="2" recv="0")", step("0", "rrs") + step("1", "r")) +
                 gpu("2", R"(send="0" recv="1")", step("0", "rrcs")) + "</algo>");
  EXPECT_EQ(run_msccl(file, {{1}, {20}, {300}}, 1, 1), (Pieces{{321}, {321}, {321}}));
}

}  // namespace
}  // namespace stepwright::collective_files

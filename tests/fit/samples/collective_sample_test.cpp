#include "stepwright/fit/samples/collective_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

using testing::HasSubstr;

constexpr const char* kPerlmutter = "a100_sxm4_80g_perlmutter";

CollectiveSampleTable one_machine(const std::string& rows,
                                  const std::string& machine = kPerlmutter) {
  return read_collective_samples(
      parse_csv("op,nodes,gpus_per_node,elements_fp16,time_us\n" + rows, "samples.csv"), machine);
}

CollectiveSampleTable clusters(const std::string& rows) {
  return read_collective_samples(
      parse_csv("gpu,nodes,gpus,inter_node,library,tool,collective,datatype,size_bytes,time_us,"
                "busbw_gbps_bytes\n" +
                    rows,
                "clusters.csv"),
      "");
}

TEST(CollectiveSample, GatheredElementsAreThoseOfOneRank) {
  const auto read = one_machine(
      "all_gather,2,4,1000000,20000\nall_reduce,2,4,1000000,20000\nsend_recv,2,1,1000000,20000\n");
  ASSERT_EQ(read.samples.size(), 3U);
  EXPECT_EQ(read.samples[0].payload_bytes, 8 * 2e6);
  EXPECT_EQ(read.samples[1].payload_bytes, 2e6);
  EXPECT_EQ(read.samples[2].payload_bytes, 2e6);
  EXPECT_EQ(read.samples[0].nodes_by_ranks_text(), "2x4");
  EXPECT_DOUBLE_EQ(read.samples[0].seconds, 0.02);
}

TEST(CollectiveSample, SizesOfNcclTestsAreWholeBuffers) {
  const auto read = clusters(
      "H100-SXM-80GB,1,8,,NCCL 2.29,nccl-tests,all_gather,half,1048576,17,\n"
      "GH200-96GB,1,4,,NCCL via torch.distributed,Aceso comm_profiler.py,all_gather,fp16,1048576,"
      "147,\n");
  ASSERT_EQ(read.samples.size(), 2U);
  EXPECT_EQ(read.samples[0].payload_bytes, 1048576);
  EXPECT_EQ(read.samples[0].machine->name, "h100-sxm-80g");
  EXPECT_EQ(read.samples[1].payload_bytes, 4 * 1048576);
  EXPECT_EQ(read.samples[1].library, kTensorListLibraryName);
}

TEST(CollectiveSample, TheNetworkNamesTheMachine) {
  const auto machine = [](const std::string& network) {
    return std::string(clusters("H100-SXM-80GB,2,16," + network +
                                ",NCCL,nccl-tests,all_reduce,float,1048576,90,\n")
                           .samples.at(0)
                           .machine->name);
  };
  EXPECT_EQ(machine("8x400Gb/s InfiniBand NDR per node"), "dgx-h100");
  EXPECT_EQ(machine("InfiniBand 400G (user statement)"), "h100-infiniband");
  EXPECT_EQ(machine("carrier pigeons"), "h100-sxm-80g");
}

TEST(CollectiveSample, DevicesThatNobodySampledAreTakenForTheirFamily) {
  EXPECT_EQ(sampled_machine_of_columns("H100-NVL-94GB", "", false)->name, "h100-sxm-80g");
  EXPECT_EQ(sampled_machine_of_columns("H800", "", true)->cluster, "h800-8gpu");
  EXPECT_EQ(sampled_machine_of_columns("abacus", "", false), nullptr);
  EXPECT_EQ(sampled_machine_of_columns("", "", false), nullptr);
  EXPECT_EQ(find_sampled_machine("dgx-a100-40g")->cluster, "dgx-a100-40g");
}

TEST(CollectiveSample, ABandwidthStandsForAMissingTime) {
  const auto read = clusters("H200-SXM-141GB,4,32,EFA,NCCL,bench,all_reduce,,4294967296,,364.87\n");
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_NEAR(read.samples[0].seconds, 4294967296 * 2 * 31.0 / 32 / 364.87e9, 1e-9);
}

TEST(CollectiveSample, TheLayoutHasTheLinksToItself) {
  const auto read = one_machine("all_reduce,2,2,50000000,150000\n");
  SampledClusterCache made;
  const CollectiveSample& sample = read.samples.at(0);
  const cluster::GroupLayout layout = rank_placement_of_sample(sample, made.of(sample));
  EXPECT_EQ(layout.members[0], 2);
  EXPECT_EQ(layout.members[1], 4);
  EXPECT_EQ(layout.sharers[1], 1);
  EXPECT_EQ(layout.span, 1);
}

std::string reason(const std::string& row) {
  const auto read = one_machine(row);
  return read.dropped.empty() ? "" : read.dropped.front().reason;
}

TEST(CollectiveSample, RowsThatAreNoMeasurementAreDroppedWithTheReason) {
  EXPECT_THAT(reason("all_reduce,2,1,50000000,nan\n"), HasSubstr("time"));
  EXPECT_THAT(reason("all_reduce,2,1,50000000,-3\n"), HasSubstr("time"));
  EXPECT_THAT(reason("all_reduce,2,1,,3\n"), HasSubstr("size"));
  EXPECT_THAT(reason("all_reduce,1,1,50000000,3000\n"), HasSubstr("group"));
  EXPECT_THAT(reason("all_reduce,1,8,50000000,3000\n"), HasSubstr("8 ranks a node"));
  EXPECT_THAT(reason("barrier,2,1,50000000,3000\n"), HasSubstr("'barrier'"));
  EXPECT_THAT(reason("all_reduce,2,1,50000000,117\n"), HasSubstr("line rate"));
  EXPECT_THAT(reason("all_reduce,2,1,50000000,90e6\n"), HasSubstr("another unit"));
}

TEST(CollectiveSample, ARowThatStandsThereTwiceCountsOnce) {
  const auto read = one_machine("all_reduce,2,1,50000000,90000\nall_reduce,2,1,50000000,90000\n");
  EXPECT_EQ(read.samples.size(), 1U);
  ASSERT_EQ(read.dropped.size(), 1U);
  EXPECT_EQ(read.dropped[0].line, 3U);
}

TEST(CollectiveSample, AnInterruptedRowIsDropped) {
  std::string rows;
  for (int i = 1; i <= 12; ++i) {
    rows +=
        "all_reduce,2,1," + std::to_string(i * 50000000) + "," + std::to_string(i * 84000) + "\n";
  }
  const auto read = one_machine("all_reduce,2,1,40000000,900000\n" + rows);
  ASSERT_EQ(read.dropped.size(), 1U);
  EXPECT_EQ(read.dropped[0].line, 2U);
  EXPECT_THAT(read.dropped[0].reason, HasSubstr("slow"));
}

TEST(CollectiveSample, ATableWithoutAMachineNeedsOne) {
  EXPECT_THROW(one_machine("all_reduce,2,1,50000000,90000\n", ""), Error);
  EXPECT_THROW(one_machine("all_reduce,2,1,50000000,90000\n", "deep-thought"), Error);
}

TEST(CollectiveSample, BuiltInProfilesPredictSamples) {
  const auto read = one_machine("all_reduce,4,1,500000000,1280000\n");
  SamplePredictor predictor;
  EXPECT_EQ(predictor.fit(read.samples.at(0)), kPerlmutter);
  EXPECT_NEAR(predictor.seconds(read.samples.at(0)) / 1.28, 1, 0.1);
}

}  // namespace
}  // namespace stepwright::fit

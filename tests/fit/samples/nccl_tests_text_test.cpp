#include "stepwright/logs/readers/nccl_tests_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/collective_sample.h"

namespace stepwright::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kText = R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 1024
# Collective test starting: all_gather_perf
#
# Using devices
#  Rank  0 Group  0 Pid    101 on     node1 device  0 [0x10] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid    102 on     node1 device  1 [0x20] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid    103 on     node2 device  0 [0x10] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid    104 on     node2 device  1 [0x20] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576         65536     float    none      -1    71.93   14.58   10.93      0    73.01   14.36   10.77      0
     2097152        131072     float    none      -1    76.24   27.51   20.63      0    77.01   27.23   20.42      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 15.6
)";

std::string text_refusal(const std::string& text, const std::string& name = "perf.txt") {
  try {
    logs::read_nccl_tests_text(text, name);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string with(std::string_view from, std::string_view to) {
  std::string text(kText);
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(NcclTestsText, ReadsRowsWithLayoutAndOperation) {
  ASSERT_TRUE(logs::is_nccl_tests_text(kText));
  const CsvTable table = logs::read_nccl_tests_text(kText, "perf.txt");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(table.rows[1].cells,
              ElementsAre("all_gather", "2", "4", "float", "2097152", "76.24"));
  EXPECT_EQ(table.rows[1].line, 14U);
}

TEST(NcclTestsText, BecomesSamplesOfTheNamedMachine) {
  const auto samples =
      read_collective_samples(logs::read_nccl_tests_text(kText, "perf.txt"), "dgx-h100").samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].operation, collective::CollectiveOperation::kAllGather);
  EXPECT_EQ(samples[0].nodes_by_ranks_text(), "2x2");
  EXPECT_EQ(samples[0].payload_bytes, 1048576);
  EXPECT_DOUBLE_EQ(samples[0].seconds, 71.93e-6);
}

TEST(NcclTestsText, OldVersionsNameTheirOperationInTheFileOnly) {
  const std::string text = with("# Collective test starting: all_gather_perf\n", "");
  EXPECT_EQ(logs::read_nccl_tests_text(text, "runs/all_reduce_perf.txt").rows[0].cells[0],
            "all_reduce");
  EXPECT_THAT(text_refusal(text), HasSubstr("perf.txt: names no operation"));
}

TEST(NcclTestsText, RefusesWhatIsNoWholeText) {
  EXPECT_THAT(text_refusal(with("# Rank", "# Ring")), HasSubstr(""));
  EXPECT_THAT(text_refusal(with("#  Rank  3", "#  Gone  3")), HasSubstr("the same number on each"));
  EXPECT_THAT(text_refusal(with(" Rank ", " Gone ")), HasSubstr("lists no ranks"));
  EXPECT_THAT(text_refusal(with("  none      -1    76.24   27.51   20.63      0    77.01   27.23   "
                                "20.42      0",
                                "")),
              HasSubstr("perf.txt:14: 3 columns"));
  EXPECT_THAT(text_refusal("# algbw busbw\n"), HasSubstr("has no rows"));
}

}  // namespace
}  // namespace stepwright::fit

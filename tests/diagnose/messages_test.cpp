// Times of messages in logs, compared with the law of a cluster.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/collective_cost.h"
#include "stepwright/diagnose/diagnose.h"
#include "stepwright/diagnose/slow_messages.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kLargest = 1024.0 * 1024 * 1024;

MessageClusterAndPlan two_nodes() {
  return {.cluster = *cluster::built_in_cluster("dgx-h100", 2), .plan = {}};
}

/// Returns the output of all_reduce_perf on two nodes of eight devices, with so many seconds for 1
/// GiB.
std::string all_reduce_perf(double time_s) {
  std::string text = "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824\n";
  for (int rank = 0; rank < 16; ++rank) {
    text +=
        fmt::format("#  Rank {:2} Group  0 Pid 7 on n{} device {} [0x1b] NVIDIA H100 80GB HBM3\n",
                    rank, rank / 8, rank % 8);
  }
  text +=
      "./build/all_reduce_perf\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  return text + fmt::format(
                    "  1073741824     268435456     float     sum      -1   {:.1f}   1.65"
                    "    3.10      0\n",
                    time_s * 1e6);
}

std::vector<TimedMessage> messages_in(const std::string& text) {
  MessageTimeLogReader lines;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.read_message_log_line(std::string_view(text).substr(at, end - at), ++number);
    at = end + 1;
  }
  return std::move(lines).take_timed_messages();
}

TEST(Messages, ATableOfNcclTestsSaysRanksAndNodes) {
  const std::vector<TimedMessage> messages = messages_in(all_reduce_perf(0.65));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].ranks, 16);
  EXPECT_EQ(messages[0].nodes, 2);
  EXPECT_EQ(messages[0].payload_bytes, kLargest);
  EXPECT_NEAR(messages[0].seconds, 0.65, 1e-9);
}

/// 2 x 15/16 x 1 GiB in 0.65 s is a bus bandwidth of 3.10 GB/s.
TEST(Messages, FarBelowTheLawIsASlowLink) {
  const MeasuredMessages measured{"perf.txt", messages_in(all_reduce_perf(0.65))};
  const std::vector<FaultFinding> findings = slow_message_findings(measured, two_nodes(), {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, DiagnosedFaultKind::kSlowLink);
  EXPECT_THAT(findings[0].what, HasSubstr("all_reduce of 1.00 GiB over 16 ranks reaches 3.1 GB/s"));
  EXPECT_THAT(findings[0].what, HasSubstr("dgx-h100"));
  EXPECT_EQ(findings[0].where.line, 20);
  EXPECT_THAT(findings[0].evidence, ElementsAre(HasSubstr("perf.txt:20: 1.00 GiB in 650 ms")));
}

TEST(Messages, AsFastAsTheLawIsNoFinding) {
  const cost::MessageCostModel cost(two_nodes().cluster);
  const cluster::GroupLayout whole =
      cluster::network_layout_of_strided_group(two_nodes().cluster, 16, 1);
  const double law_s =
      cost.priced_message_time({collective::CollectiveOperation::kAllReduce, kLargest, whole})
          .seconds;
  for (const double share : {1.0, 1.9}) {
    const MeasuredMessages measured{"perf.txt", messages_in(all_reduce_perf(share * law_s))};
    EXPECT_TRUE(slow_message_findings(measured, two_nodes(), {}).empty()) << share;
  }
}

/// Users quote a table without the command above it; the ratio of its rates identifies the
/// operation.
TEST(Messages, ATableWithoutItsProgramIsOfWhatItsRatesSay) {
  const auto without_program = [](std::string text, std::string_view bus_rate) {
    text.erase(text.find("./build/all_reduce_perf"),
               std::string("./build/all_reduce_perf\n").size());
    return messages_in(text.replace(text.find("3.10"), 4, bus_rate));
  };
  const auto all_reduce = without_program(all_reduce_perf(0.65), "3.10");
  ASSERT_EQ(all_reduce.size(), 1u);
  EXPECT_EQ(all_reduce[0].operation, collective::CollectiveOperation::kAllReduce);
  const auto reduce_scatter = without_program(all_reduce_perf(0.65), "1.55");
  ASSERT_EQ(reduce_scatter.size(), 1u);
  EXPECT_EQ(reduce_scatter[0].operation, collective::CollectiveOperation::kReduceScatter);
  EXPECT_TRUE(without_program(all_reduce_perf(0.65), "1.65").empty());
}

TEST(Messages, RanksThatTheClusterLacksAreLeftOut) {
  const MessageClusterAndPlan one{.cluster = *cluster::built_in_cluster("dgx-h100", 1), .plan = {}};
  const MeasuredMessages measured{"perf.txt", messages_in(all_reduce_perf(0.65))};
  EXPECT_TRUE(slow_message_findings(measured, one, {}).empty());
}

TEST(Messages, SlowWaysOfTheSameLogAreTheFirstCauses) {
  const FaultFinding link{.kind = DiagnosedFaultKind::kSlowLink,
                          .where = {.file = "job.log", .line = 3},
                          .what = "Messages between nodes go over sockets."};
  const MeasuredMessages measured{"perf.txt", messages_in(all_reduce_perf(0.65))};
  const std::vector<FaultFinding> findings =
      slow_message_findings(measured, two_nodes(), {&link, 1});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].causes.front(), "Messages between nodes go over sockets (job.log:3)");
}

/// Returns a row of DeepSpeed's summary: 20 all-reduces of 1 GiB over 16 ranks. Its throughput
/// counts the bytes twice; its bus bandwidth is 15/16 of that.
std::string summary(double mean_ms, double throughput_gbps) {
  return fmt::format(
      "Comm. Op            Message Size        Count               Total Latency(ms)   Avg "
      "Latency(ms)     tput_avg (Gbps)     busbw_avg (Gbps)\n"
      "all_reduce\n"
      "                    1.0 GB              20                  {:<20.2f}{:<20.2f}{:<20.2f}"
      "{:<20.2f}\n",
      20 * mean_ms, mean_ms, throughput_gbps, throughput_gbps * 15 / 16);
}

TEST(Messages, ATableOfDeepSpeedHasTimesWhereTheyAreNoTotals) {
  // 2 GiB in 650 ms are 26.4 Gbit/s.
  const std::vector<TimedMessage> plain = messages_in(summary(650, 26.43));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_NEAR(plain[0].seconds, 0.65, 1e-9);
  EXPECT_EQ(plain[0].world, 16);
  EXPECT_EQ(slow_message_findings({"log", plain}, two_nodes(), {}).size(), 1u);
  // Running totals of 20 calls of 62 ms each: their mean is 651 ms, the mean of their rates 1.36
  // times the rate of that.
  EXPECT_TRUE(messages_in(summary(651, 26.4 * 1.36)).empty());
}

/// Rows of a public table (https://github.com/deepspeedai/DeepSpeed/issues/7019) of 16 ranks; in
/// one of four rows, calls waited for other ranks.
TEST(Messages, APublicTableOfDeepSpeedHasTimes) {
  const std::vector<TimedMessage> messages = messages_in(
      "Comm. Op            Message Size        Count               Total Latency(ms)   Avg "
      "Latency(ms)     tput_avg (Gbps)     busbw_avg (Gbps)\n"
      "all_gather_into_tensor\n"
      "                    92.58 MB            63                  8171.55             129.19      "
      "  "
      "      96.21               90.19               \n"
      "reduce_scatter_tensor\n"
      "                    20.0 MB             960                 3403.01             3.36        "
      "  "
      "      967.55              907.08              \n"
      "                    42.1 MB             20                  274.15              13.72       "
      "  "
      "      412.33              386.56              \n"
      "                    48.0 MB             100                 1251.77             12.49       "
      "  "
      "      515.95              483.70              \n"
      "                    48.66 MB            80                  1159.37             14.43       "
      "  "
      "      452.85              424.55              \n");
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0].operation, collective::CollectiveOperation::kAllGather);
  EXPECT_LT(messages[0].payload_bytes, 0);
  EXPECT_NEAR(messages[0].part_bytes, 92.58 * 1024 * 1024, 1);
  EXPECT_NEAR(messages[3].seconds, 12.49e-3, 1e-12);
  for (const TimedMessage& message : messages) EXPECT_EQ(message.world, 16);
}

TEST(Messages, LinesOfDeepSpeedCountTheirShortestCall) {
  std::string text;
  for (const double ms : {900.0, 650.0, 800.0}) {
    text += fmt::format(
        "[INFO] [logging.py:123:log_dist] [Rank 0] comm op: all_reduce | time (ms): {:.2f} | msg "
        "size: 1.0 GB | algbw (Gbps): 1.00 | busbw (Gbps): 1.00\n",
        ms);
  }
  const std::vector<TimedMessage> messages = messages_in(text);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NEAR(messages[0].seconds, 0.65, 1e-9);
  EXPECT_EQ(messages[0].calls, 3);
  const std::vector<FaultFinding> findings =
      slow_message_findings({"log", messages}, two_nodes(), {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].evidence, Contains(HasSubstr("does not state the ranks of groups")));
  EXPECT_THAT(findings[0].causes, Contains(HasSubstr("wait for the slowest rank")));
}

TEST(Messages, BrokenTablesAreNone) {
  for (const std::string_view text :
       {"# size busbw\n1 2 3\n", "all_reduce_perf\n# size busbw\n8 2 float sum -1 x y z 0\n",
        "Comm. Op\nall_reduce\n      1.0 GB   20   650\n",
        "comm op: all_reduce | time (ms): x\n"}) {
    EXPECT_TRUE(messages_in(std::string(text)).empty()) << text;
  }
}

}  // namespace
}  // namespace stepwright::diagnose

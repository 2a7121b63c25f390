// Execution traces, Chakra, DeepSpeed's logger, NCCL's plugins, nccl-tests: files from the programs
// themselves if they run without a GPU, otherwise texts in the form that their sources print.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "stepwright/core/error.h"
#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ExecutionTrace, HoldsEveryCallOfTheHost) {
  const CommunicationLog log = fixture_log({"calls.et.0.json.gz"});
  EXPECT_EQ(log.unexplained(), 0);
  EXPECT_THAT(sums_of(log), AllOf(Contains(Pair(Pair("all_reduce", 0), Pair(6, 3 * (10 + 28)))),
                                  Contains(Pair(Pair("all_gather", 4), Pair(6, 3 * (96 + 48)))),
                                  Contains(Pair(Pair("reduce_scatter", 2), Pair(3, 3 * 48))),
                                  Contains(Pair(Pair("send", 0), Pair(3, 3 * 44)))));
}

TEST(ExecutionTrace, TakesTheGroupOfAFunctionalCall) {
  const CommunicationLog log = fixture_log({"tensor.et.0.json.gz"});
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_reduce", 2), Pair(9, 9 * 2048))));
}

TEST(ExecutionTrace, ReadsDescribedCalls) {
  const CommunicationLog log = log_of(R"json({"schema": "1.1.1-chakra.0.0.4", "nodes": [
    {"id": 1, "name": "## process_group:init ##", "inputs": {"values":
      ["[{\"pg_name\": \"2\", \"ranks\": [1, 3], \"group_size\": 2}]"]}, "attrs": []},
    {"id": 2, "name": "record_param_comms", "inputs": {"values":
      [[[434, 435, 0, 50, 4, "cuda:1"]], 33, ["2", "tp"], 1, "send", [], [], 0, 1, 2]},
      "outputs": {"values": []}, "attrs": []},
    {"id": 3, "name": "record_param_comms", "inputs": {"values": []}, "attrs": [
      {"name": "collective_name", "value": "_allgather_base"}, {"name": "dtype", "value": "BFloat16"},
      {"name": "in_msg_nelems", "value": 10}, {"name": "out_msg_nelems", "value": 20},
      {"name": "pg_name", "value": "2"}]},
    {"id": 4, "name": "record_param_comms", "inputs": {"values": []}, "attrs": [
      {"name": "collective_name", "value": "wait"}]}]})json",
                                      "et.1.json");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("send", 2), Pair(1, 200)),
                                                 Pair(Pair("all_gather", 2), Pair(1, 40))));
  EXPECT_EQ(log.records[0].peer, 3);
}

/// The bytes that a rank sends to each other rank, read from attributes and from arguments.
TEST(ExecutionTrace, ReadsPartsOfAllToAlls) {
  constexpr std::string_view kGroup = R"json({"id": 1, "name": "## process_group:init ##", "inputs":
      {"values": ["[{\"pg_name\": \"0\", \"ranks\": [0, 1], \"group_size\": 2}]"]}, "attrs": []},)json";
  const auto described = [&](std::string_view parts) {
    return fmt::format(R"json({{"schema": "1.1.1", "nodes": [{}
      {{"id": 2, "name": "record_param_comms", "inputs": {{"values": []}}, "attrs": [
        {{"name": "collective_name", "value": "all_to_allv"}}, {{"name": "dtype", "value": "Float"}},
        {{"name": "in_msg_nelems", "value": 40}}, {{"name": "out_msg_nelems", "value": 30}},
        {{"name": "in_split_size", "value": "{}"}}, {{"name": "pg_name", "value": "0"}}]}}]}})json",
                       kGroup, parts);
  };
  const auto sent = [](const std::string& text) {
    const CommunicationLog log = log_of(text, "et.0.json");
    return log.exchanges.empty() ? std::vector<std::int64_t>{} : log.exchanges[0].sent_bytes;
  };
  EXPECT_THAT(sent(described("[1, 3]")), ElementsAre(40, 120));
  EXPECT_THAT(sent(described("[]")), ElementsAre(80, 80));
  EXPECT_THAT(sent(described("[1, 2]")), IsEmpty()) << "of 160 bytes";
  EXPECT_THAT(sent(fmt::format(R"json({{"schema": "1.1.1", "nodes": [{}
      {{"id": 2, "name": "c10d::alltoall_base_", "ctrl_deps": 1, "inputs": {{"values":
        [[5, 6, 0, 8, 4, "cpu"], [7, 8, 0, 8, 4, "cpu"], "<Object>", [3, 1], [2, 2], false, -1],
        "shapes": [[4, 2], [4, 2], [], [], [], [], []],
        "types": ["Tensor(float)", "Tensor(float)"]}}, "attrs": []}}]}})json",
                               kGroup)),
              ElementsAre(16, 16));
}

TEST(DeepSpeed, CountsLinesOnceThoughASummaryFollows) {
  const CommunicationLog log = fixture_log({"deepspeed.txt"});
  EXPECT_THAT(sums_of(log), AllOf(Contains(Pair(Pair("reduce_scatter", 0), Pair(3, 3 * 16'384))),
                                  Contains(Pair(Pair("broadcast", 0), Pair(3, 3 * 308))),
                                  Contains(Pair(Pair("all_gather", 0), Pair(3, 0))),
                                  Contains(Pair(Pair("barrier", 0), Pair(3, 0)))));
  EXPECT_EQ(log.unexplained(), 2);  // output of its build of an extension
  EXPECT_EQ(log.records.front().rank, 0);
}

TEST(DeepSpeed, HasExactSizesInRawData) {
  for (const std::string name : {"deepspeed.raw.json", "deepspeed.summary.json"}) {
    const CommunicationLog log = fixture_log({name});
    EXPECT_THAT(sums_of(log), Contains(Pair(Pair("all_reduce", 0), Pair(6, 3 * (4000 + 12)))))
        << name;
    EXPECT_EQ(log.unexplained(), 0);
  }
}

TEST(DeepSpeed, TakesTimesApartThatAreRunningTotals) {
  const CommunicationLog log = fixture_log({"deepspeed.raw.json"});
  double all_reduces_s = 0;
  for (const LoggedCall& record : log.records) {
    if (record.operation == LoggedOperation::kAllReduce) all_reduces_s += record.duration_s;
  }
  EXPECT_NEAR(all_reduces_s, 9.943962097167969e-3, 1e-12);  // the last total
}

TEST(DeepSpeed, ReadsASummaryAlone) {
  const CommunicationLog log = log_of(
      "Comm. Op            Message Size        Count               Total Latency(ms)\n"
      "all_reduce\n"
      "                    1.5 MB              4                   11.12\n");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_reduce", 0), Pair(4, 6 << 20))));
}

TEST(DeepSpeed, LeavesOutMoreBytesThanAnyJobSends) {
  const CommunicationLog log = log_of(
      "Comm. Op            Message Size        Count               Total Latency(ms)\n"
      "all_reduce\n"
      "                    7.5 TB              99999999999                   11.12\n"
      "                    7.5 TB              3                   11.12\n");
  EXPECT_EQ(log.calls(), 3);
  EXPECT_EQ(log.unexplained(), 1);
}

constexpr std::string_view kPluginEvents = R"([
{"name": "AllGather", "cat": "COLL_API", "ph": "b", "id": 0, "pid": 7, "tid": 1, "ts": 1.0, "args": {"count": 100, "datatype": ncclFloat32}},
{"name": "AllGather", "cat": "COLL", "ph": "b", "id": 0, "pid": 7, "tid": 1, "ts": 2.0, "args": {"SeqNum": 0, "CommHash": 1493613951195738943, "Rank": @, "Count": 400, "Datatype": "ncclInt8", "Algorithm": "RING", "Protocol": "SIMPLE", "nChannels": 2}},
{"name": "AllGather", "cat": "COLL", "ph": "e", "id": 0, "pid": 7, "tid": 1, "ts": 12.0},
{}]
)";

TEST(NcclProfiler, KnowsSizesOfGroupsAllOfWhoseRanksAreThere) {
  std::string first(kPluginEvents);
  std::string second(kPluginEvents);
  first.replace(first.find('@'), 1, "0");
  second.replace(second.find('@'), 1, "1");
  EXPECT_THAT(sums_of(log_of(first)),
              UnorderedElementsAre(Pair(Pair("all_gather", 0), Pair(1, 0))));
  std::vector<FileByteReader> files;
  files.emplace_back(first, "a.txt");
  files.emplace_back(second, "b.txt");
  const CommunicationLog log = read_logs(files);
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_gather", 2), Pair(2, 1600))));
  EXPECT_NEAR(log.records[0].duration_s, 10e-6, 1e-12);
  EXPECT_EQ(log.unexplained(), 0);
}

TEST(NcclInspector, ReadsLinesAndSaysWhatIsMissing) {
  const std::string header = R"({"header":{"id":"0x7f8c","rank":2,"n_ranks":8,"nnodes":1},)";
  const CommunicationLog log = log_of(
      header +
      R"("coll_perf":{"coll":"AllGather","coll_sn":4,"coll_msg_size_bytes":1024,"coll_exec_time_us":6}})" +
      "\n" + header +
      R"("p2p_perf":{"p2p":"Send","p2p_sn":1,"p2p_peer":3,"p2p_msg_size_bytes":9000,"p2p_exec_time_us":5}})" +
      "\n" + header + R"("coll_perf":{"coll":"AllReduce","coll_sn":6,"coll_msg_size_bytes":64}})" +
      "\n" + header + R"("coll_perf":{"coll":"Un)");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_gather", 8), Pair(1, 8192)),
                                                 Pair(Pair("all_reduce", 8), Pair(1, 64)),
                                                 Pair(Pair("send", 8), Pair(1, 9000))));
  EXPECT_EQ(log.unexplained(), 1);
  EXPECT_THAT(log.sources[0].notes, Contains(HasSubstr("1 calls are missing")));
}

TEST(NcclInspector, CountsMissingCallsInAnyOrderAndRanksByTheLargestGroup) {
  const auto line = [](std::string_view id, int rank, int ranks, int number) {
    return fmt::format(
        R"({{"header":{{"id":"{}","rank":{},"n_ranks":{}}},"coll_perf":{{"coll":"AllReduce",)"
        R"("coll_sn":{},"coll_msg_size_bytes":64}}}})"
        "\n",
        id, rank, ranks, number);
  };
  std::string text;
  for (const int number : {6, 4, 5, 5, 9, 12, 11}) text += line("0xa", 5, 8, number);
  for (const int number : {1, 0}) text += line("0xb", 1, 2, number);
  const CommunicationLog log = log_of(text);
  EXPECT_EQ(log.records.size(), 9U);
  EXPECT_THAT(log.sources[0].notes, Contains(HasSubstr("3 calls are missing")));  // 7, 8 and 10
  EXPECT_EQ(log.sources[0].world, 8);
  for (const LoggedCall& record : log.records) EXPECT_EQ(record.rank, 5);
}

TEST(NcclTests, CountsEachRow) {
  const CommunicationLog log = log_of(
      "# nccl-tests version 2.13.8 all_gather_perf\n"
      "#  Rank  0 Group  0 Pid   9 on  host device  0 [0x10] NVIDIA A100\n"
      "#  Rank  1 Group  0 Pid   9 on  host device  1 [0x20] NVIDIA A100\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "        1024           128     float    none      -1    10.00    0.10    0.05      0\n"
      "        2048           256     float    none      -1    20.00    0.10    0.05      0\n",
      "all_gather_perf.txt");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_gather", 2), Pair(2, 3072))));
  EXPECT_NEAR(log.records[1].duration_s, 20e-6, 1e-12);
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number_field(std::uint64_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string bytes_field(std::uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}
std::string with_length(const std::string& message) { return varint(message.size()) + message; }

std::string chakra_node(std::uint64_t comm_type, std::uint64_t bytes) {
  const auto attribute = [](const std::string& name, std::uint64_t value) {
    return bytes_field(10, bytes_field(1, name) + number_field(9, value));
  };
  return with_length(number_field(1, 7) + bytes_field(2, "nccl:all_reduce") + number_field(3, 7) +
                     number_field(7, 25) + attribute("comm_type", comm_type) +
                     attribute("comm_size", bytes) +
                     bytes_field(10, bytes_field(1, "pg_name") + bytes_field(29, "0")));
}

TEST(Chakra, ReadsNodesOfCommunication) {
  const std::string trace = with_length(bytes_field(1, "0.0.4")) + chakra_node(0, 4096) +
                            with_length(number_field(1, 8) + number_field(3, 4)) +
                            chakra_node(2, 100) + chakra_node(77, 100);
  const CommunicationLog log = log_of(trace, "chakra.3.et");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_reduce", 0), Pair(1, 4096)),
                                                 Pair(Pair("all_gather", 0), Pair(1, 0))));
  EXPECT_EQ(log.records[0].rank, 3);
  EXPECT_EQ(log.records[1].logged_bytes, 100);
  EXPECT_NEAR(log.records[0].duration_s, 25e-6, 1e-12);
  EXPECT_EQ(log.unexplained(), 1);
  EXPECT_THROW(log_of(trace.substr(0, trace.size() - 3), "chakra.3.et"), Error);
}

}  // namespace
}  // namespace stepwright::logs

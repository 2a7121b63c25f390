// Traces and flight recorder dumps of PyTorch runs over Gloo (make_fixtures/torch_runs.py) whose
// calls are known.
#include <gmock/gmock.h>

#include "stepwright/core/error.h"
#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(TorchLogs, HoldEveryCallOfATrace) {
  const CommunicationLog log = fixture_log({"calls.trace.0.json.gz", "calls.trace.1.json.gz"});
  EXPECT_EQ(log.unexplained(), 0);
  // Three steps of two ranks; groups of Gloo are known where sizes tell.
  EXPECT_THAT(sums_of(log), AllOf(Contains(Pair(Pair("all_reduce", 0), Pair(12, 6 * (10 + 28)))),
                                  Contains(Pair(Pair("all_gather", 4), Pair(6, 6 * 96))),
                                  Contains(Pair(Pair("all_gather", 2), Pair(6, 6 * 48))),
                                  Contains(Pair(Pair("reduce_scatter", 4), Pair(6, 6 * 96))),
                                  Contains(Pair(Pair("reduce_scatter", 2), Pair(6, 6 * 48))),
                                  Contains(Pair(Pair("all_to_all", 0), Pair(6, 6 * 32))),
                                  Contains(Pair(Pair("broadcast", 0), Pair(6, 6 * 72))),
                                  Contains(Pair(Pair("reduce", 0), Pair(6, 6 * 40))),
                                  Contains(Pair(Pair("send", 0), Pair(3, 3 * 44))),
                                  Contains(Pair(Pair("recv", 0), Pair(3, 3 * 44))),
                                  Contains(Pair(Pair("barrier", 0), Pair(6, 0)))));
}

TEST(TorchLogs, SayThatCallsOfADumpDidNotEnd) {
  std::vector<std::string> files = {"tests/diagnose/data/stopped_rank/flight.3"};
  EXPECT_THAT(read_logs(files).sources.front().notes, Contains(HasSubstr("1 call did not end")));
  EXPECT_THAT(fixture_log({"calls.flight.0"}).sources.front().notes,
              Not(Contains(HasSubstr("did not end"))));
}

TEST(TorchLogs, HoldEveryCallOfADump) {
  const CommunicationLog log = fixture_log({"calls.flight.0", "calls.flight.2"});
  EXPECT_EQ(log.unexplained(), 0);
  EXPECT_EQ(log.records.front().rank, 0);
  EXPECT_EQ(log.records.back().rank, 2);
  // Five steps of two ranks; Gloo records a reduce-scatter as an all-reduce.
  EXPECT_THAT(sums_of(log), AllOf(Contains(Pair(Pair("all_reduce", 4), Pair(20, 10 * (10 + 96)))),
                                  Contains(Pair(Pair("all_gather", 4), Pair(20, 10 * (96 + 48)))),
                                  Contains(Pair(Pair("all_reduce", 2), Pair(20, 10 * (28 + 48))))));
}

TEST(TorchLogs, AreTheSameFromAPickleAndFromJson) {
  EXPECT_EQ(sums_of(fixture_log({"ddp.flight.0"})), sums_of(fixture_log({"ddp.flight.0.json"})));
}

TEST(TorchLogs, HaveTheGradientsOfDataParallelism) {
  // 70,336 parameters in two buckets, fp32, three steps.
  const CommunicationLog log = fixture_log({"ddp.trace.0.json.gz"});
  EXPECT_THAT(sums_of(log),
              UnorderedElementsAre(Pair(Pair("all_reduce", 2), Pair(6, 3 * 70'336 * 4))));
  EXPECT_EQ(log.sources[0].step_starts_s.size(), 3U);
}

TEST(TorchLogs, HaveTheGathersAndScattersOfFsdp) {
  const CommunicationLog log = fixture_log({"fsdp2.trace.0.json.gz", "fsdp2.trace.1.json.gz"});
  EXPECT_THAT(sums_of(log),
              UnorderedElementsAre(Pair(Pair("all_gather", 2), Pair(36, 6 * 2 * 70'336 * 4)),
                                   Pair(Pair("reduce_scatter", 2), Pair(18, 6 * 70'336 * 4))));
}

TEST(TorchLogs, SayWhoMessagesAreFor) {
  const CommunicationLog log = fixture_log({"pipeline.trace.0.json.gz"});
  for (const LoggedCall& record : log.records) {
    EXPECT_EQ(record.rank, 0);
    EXPECT_EQ(record.peer, 1);
  }
}

constexpr std::string_view kGpuTrace = R"json({"schemaVersion": 1,
 "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 4, "nccl_version": "2.21.5", "pg_count": 2,
  "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 4, "ranks": []},
                {"pg_name": "3", "pg_desc": "tp", "pg_size": 2, "ranks": [1, 3]}]},
 "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "ts": 0, "dur": 9, "args": {"Input Dims": [[[7]]]}},
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 1, "dur": 5, "args": {"External id": 5,
  "Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100, "Group size": 2,
  "dtype": "BFloat16", "Process Group Name": "3", "Process Group Ranks": "[1, 3]"}},
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 2, "dur": 5, "args": {"External id": 6,
  "Collective name": "wait", "In msg nelems": 0, "Out msg nelems": 0, "Group size": 2, "dtype": "Int"}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)",
  "ts": 10, "dur": 20, "args": {"External id": 5, "Collective name": "allreduce", "In msg nelems": 100,
  "Out msg nelems": 100, "Group size": 2, "dtype": "BFloat16"}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 25, "dur": 100, "args": {}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)", "ts": 50, "dur": 1,
  "args": {}}
]})json";

TEST(TorchLogs, TakeTheTimeOfACallFromItsKernel) {
  const CommunicationLog log = log_of(kGpuTrace, "trace.json");
  ASSERT_EQ(log.records.size(), 1U);
  const LoggedCall& record = log.records[0];
  EXPECT_EQ(record.payload_bytes, 200);
  EXPECT_EQ(record.rank, 1);
  EXPECT_THAT(log.communicators[static_cast<std::size_t>(record.communicator)].ranks,
              ::testing::ElementsAre(1, 3));
  EXPECT_NEAR(record.duration_s, 20e-6, 1e-12);
  EXPECT_NEAR(record.exposed_s, 15e-6, 1e-12);
  EXPECT_EQ(log.unexplained(), 1);  // the kernel without a description
}

TEST(TorchLogs, TakeCallsOfOldTracesFromTheirOperators) {
  const CommunicationLog log = log_of(R"json({"traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 1, "dur": 5, "args": {"External id": 5}},
 {"ph": "X", "cat": "cpu_op", "name": "c10d::_allgather_base_", "ts": 0, "dur": 9, "args":
   {"Input Dims": [[8], [2], []], "Input type": ["float", "float", ""]}},
 {"ph": "X", "cat": "kernel", "name": "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*)", "ts": 10,
  "dur": 20, "args": {}}]})json",
                                      "trace.2.json");
  EXPECT_THAT(sums_of(log), UnorderedElementsAre(Pair(Pair("all_gather", 4), Pair(1, 32))));
  EXPECT_NEAR(log.records[0].duration_s, 20e-6, 1e-12);
  EXPECT_EQ(log.records[0].rank, 2);
  EXPECT_EQ(log.unexplained(), 0);
}

TEST(TorchLogs, RefuseATraceThatEndsInTheMiddle) {
  const std::string_view cut = kGpuTrace.substr(0, kGpuTrace.size() / 2);
  EXPECT_THROW(log_of(cut, "trace.json"), Error);
}

}  // namespace
}  // namespace stepwright::logs

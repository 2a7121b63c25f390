#include "stepwright/logs/readers/kineto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/logs/readers/kineto.h"
#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(KinetoTrace, NestsOperatorsAndJoinsKernelsWithThem) {
  FileByteReader bytes{std::filesystem::path("tests/fit/samples/traces/step.json")};
  const KinetoTrace trace = read_kineto_trace(bytes);
  EXPECT_THAT(trace.device, testing::StartsWith("NVIDIA A100"));
  const auto gemm = std::ranges::find_if(trace.kernels, [&](const KinetoKernel& kernel) {
    return trace.name_of(kernel).starts_with("ampere_bf16");
  });
  const KinetoOperatorSignature& mm = trace.signature_of(gemm->op);
  EXPECT_EQ(mm.name, "aten::mm");
  EXPECT_THAT(mm.dims, ElementsAre(ElementsAre(4096, 1024), ElementsAre(1024, 3072)));
  const int outer = trace.operators.at(gemm->op).parent;
  EXPECT_EQ(trace.signature_of(outer).name, "aten::matmul");
  EXPECT_EQ(trace.signature_of(trace.operators.at(outer).parent).name, "aten::linear");
}

TEST(KinetoTrace, RanksMayBeAList) {
  constexpr std::string_view kText = R"({"traceEvents": [{"ph": "X", "cat": "kernel",
    "name": "ncclDevKernel_AllReduce", "ts": 1, "dur": 2, "args": {"Collective name": "allreduce",
    "Group size": 4, "Process Group Ranks": [0, 1, 2, 3], "In split size": []}}]})";
  FileByteReader bytes(kText, "t.json");
  const KinetoTrace trace = read_kineto_trace(bytes);
  ASSERT_THAT(trace.kernels, SizeIs(1));
  EXPECT_EQ(trace.messages[0].ranks, "[0, 1, 2, 3]");
  EXPECT_TRUE(trace.messages[0].even);
}

/// One pass that also reads the operators gives the same calls as a pass for calls alone.
TEST(KinetoTrace, OnePassHasCallsAndOperators) {
  const std::string file = "tests/logs/data/calls.trace.0.json.gz";
  std::size_t operators = 0;
  const CommunicationLog both = read_kineto_host_traces(
      std::span(&file, 1), [&](const KinetoTrace& trace) { operators = trace.operators.size(); });
  const CommunicationLog alone = fixture_log({"calls.trace.0.json.gz"});
  EXPECT_GT(operators, alone.records.size());
  ASSERT_EQ(both.records.size(), alone.records.size());
  ASSERT_FALSE(alone.records.empty());
  for (std::size_t i = 0; i < alone.records.size(); ++i) {
    EXPECT_EQ(both.records[i].line, alone.records[i].line);
    EXPECT_EQ(both.records[i].payload_bytes, alone.records[i].payload_bytes);
    EXPECT_EQ(both.records[i].start_s, alone.records[i].start_s);
  }
}

}  // namespace
}  // namespace stepwright::logs

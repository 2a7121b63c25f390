#include "stepwright/fit/samples/kineto_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/collective_sample.h"
#include "stepwright/fit/samples/kineto_collectives.h"
#include "stepwright/logs/readers/kineto.h"

namespace stepwright::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Returns a trace of two steps of a layer on rank 0 of 32: tests/fit/samples/traces/step.json.
std::string step_text() {
  std::ifstream file("tests/fit/samples/traces/step.json", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

logs::KinetoTrace trace_of(std::string_view text, const std::string& name) {
  logs::FileByteReader bytes(text, name);
  return logs::read_kineto_trace(bytes);
}

logs::KinetoTrace step() { return trace_of(step_text(), "step.json"); }

std::string trace_refusal(const std::string& text) {
  try {
    read_trace_operators(trace_of(text, "t.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

const OperatorSample* sample_of(const TraceOperatorSamples& operators, std::string_view name,
                                bool forward, std::int64_t columns = 0) {
  for (const OperatorSample& sample : operators.table.samples) {
    if (sample.name == name && sample.forward_s.has_value() == forward &&
        (columns == 0 || sample.op.shape.columns == columns)) {
      return &sample;
    }
  }
  return nullptr;
}

std::size_t unused(const UnusedByName& names, const std::string& name, const std::string& reason) {
  const auto found = names.find({name, reason});
  return found == names.end() ? 0 : found->second.kernels;
}

TEST(KinetoSamples, AKernelWithoutExternalIdIsJoinedByItsLaunch) {
  const TraceOperatorSamples operators = read_trace_operators(step());
  ASSERT_NE(sample_of(operators, "aten::mm", true, 512), nullptr);
}

TEST(KinetoSamples, ProductsHaveTheSizesOfTheirInputs) {
  const TraceOperatorSamples operators = read_trace_operators(step());
  const OperatorSample* mm = sample_of(operators, "aten::mm", true, 3072);
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->what, cost::OperatorClass::kProduct);
  EXPECT_EQ(mm->op.dtype, DType::kBf16);
  EXPECT_EQ(mm->op.shape, (step::OperatorShape{.rows = 4096, .columns = 3072, .inner = 1024}));
  EXPECT_DOUBLE_EQ(*mm->forward_s, 115e-6);
  EXPECT_EQ(mm->device, "a100-sxm-80g");
}

TEST(KinetoSamples, KernelsOfOneOperatorAddUp) {
  const TraceOperatorSamples operators = read_trace_operators(step());
  const OperatorSample* addmm = sample_of(operators, "aten::addmm", true);
  ASSERT_NE(addmm, nullptr);
  EXPECT_NEAR(*addmm->forward_s, 48e-6, 1e-12);
}

TEST(KinetoSamples, TheBackwardOfAProductIsBothGradients) {
  const TraceOperatorSamples operators = read_trace_operators(step());
  const OperatorSample* backward = sample_of(operators, "aten::mm", false);
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(backward->op.shape,
            (step::OperatorShape{.rows = 4096, .columns = 3072, .inner = 1024}));
  EXPECT_NEAR(*backward->backward_s, 234e-6, 1e-12);
  EXPECT_EQ(unused(operators.unused, "MmBackward0", "no product of the forward fits"), 4U);
}

TEST(KinetoSamples, AttentionNormActivationAndEmbeddingAreMapped) {
  const TraceOperatorSamples operators = read_trace_operators(step());
  const auto* attention = sample_of(operators, "aten::_scaled_dot_product_flash_attention", true);
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->op.shape.heads, 16);
  EXPECT_EQ(attention->op.shape.pairs, 2048 * 2049 / 2);
  EXPECT_EQ(attention->kernel, cluster::AttentionKernel::kFlash2);
  const auto* backward =
      sample_of(operators, "aten::_scaled_dot_product_flash_attention_backward", false);
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(backward->op.shape, attention->op.shape);
  EXPECT_NEAR(*backward->backward_s, 417e-6, 1e-12);
  const auto* norm = sample_of(operators, "aten::native_layer_norm", true);
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->op.shape, (step::OperatorShape{.rows = 4096, .columns = 1024}));
  const auto* embedding = sample_of(operators, "aten::embedding", true);
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->op.shape,
            (step::OperatorShape{.rows = 4096, .columns = 1024, .inner = 50304}));
  EXPECT_NE(sample_of(operators, "aten::add", true), nullptr);
  EXPECT_NE(sample_of(operators, "aten::gelu", true), nullptr);
  EXPECT_NE(sample_of(operators, "aten::gelu_backward", false), nullptr);
  EXPECT_THAT(operators.table.samples, SizeIs(11));
}

TEST(KinetoSamples, CountsWhatItCannotMap) {
  const UnusedByName names = read_trace_operators(step()).unused;
  EXPECT_EQ(unused(names, "aten::mul", "no operator of ours"), 2U);
  EXPECT_EQ(unused(names, "aten::mm", "not in 16 bits"), 2U);
  EXPECT_EQ(unused(names, "aten::mm", "beside another kernel"), 2U);
  EXPECT_EQ(unused(names, "void someone::fused_kernel<float>", "launched by no operator"), 1U);
  EXPECT_THAT(names, SizeIs(5));
}

TEST(KinetoCollectives, TheLeastTimeOfEqualMessagesIsTheirSample) {
  const TraceCollectiveSamples collectives = read_trace_collectives(step(), 8);
  ASSERT_THAT(collectives.table.rows, SizeIs(2));
  EXPECT_THAT(collectives.table.rows[0].cells,
              ElementsAre("all_gather", "4", "4", "BFloat16", "4194304", "310"));
  EXPECT_THAT(collectives.table.rows[1].cells,
              ElementsAre("all_reduce", "1", "8", "BFloat16", "8388608", "97"));
  EXPECT_EQ(unused(collectives.unused, "broadcast", "no operation of the model"), 2U);
  EXPECT_EQ(unused(collectives.unused, "_allgather_base", "beside another kernel"), 2U);
  const auto samples = read_collective_samples(collectives.table, "dgx-a100-80g");
  EXPECT_THAT(samples.samples, SizeIs(2));
  EXPECT_THAT(samples.dropped, IsEmpty());
}

TEST(KinetoCollectives, RanksThatACutListLeavesOutFollowItsStep) {
  logs::KinetoTrace trace{.file = "t.json", .names = {"ncclDevKernel_AllReduce"}};
  const auto add = [&](std::string ranks, std::int64_t size) {
    trace.kernels.push_back(
        {.event = 1, .duration_us = 500, .message = static_cast<int>(trace.messages.size())});
    trace.messages.push_back({.name = "allreduce",
                              .ranks = std::move(ranks),
                              .group_size = size,
                              .in_elements = 1 << 20,
                              .out_elements = 1 << 20,
                              .type = "Float",
                              .element_bytes = 4});
  };
  add("[0, 8, 16, ...]", 64);
  add("[0, 8, 17, ...]", 64);
  add("[0, 1, 2]", 4);
  const TraceCollectiveSamples collectives = read_trace_collectives(trace, 8);
  ASSERT_THAT(collectives.table.rows, SizeIs(1));
  EXPECT_EQ(collectives.table.rows[0].cells[1], "64");
  EXPECT_EQ(unused(collectives.unused, "allreduce",
                   "the ranks of its group are not known, or uneven over nodes"),
            2U);
}

TEST(KinetoSamples, SaysWhatToDoWithWhatIsNoUsableTrace) {
  EXPECT_THAT(trace_refusal("{\"traceEvents\": ["), HasSubstr("the file ends"));
  EXPECT_THAT(trace_refusal("{\"a\": 1}"), HasSubstr("has no `traceEvents`"));
  EXPECT_THAT(trace_refusal("{\"traceEvents\": []}"), HasSubstr("ProfilerActivity.CUDA"));
  const std::string kernel =
      R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {}})";
  EXPECT_THAT(trace_refusal("{\"traceEvents\": [" + kernel + "]}"),
              HasSubstr("ProfilerActivity.CPU"));
  const std::string op =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "args": {}})";
  EXPECT_THAT(trace_refusal("{\"traceEvents\": [" + kernel + "," + op + "]}"),
              HasSubstr("record_shapes=True"));
}

}  // namespace
}  // namespace stepwright::fit

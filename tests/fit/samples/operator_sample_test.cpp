#include "stepwright/fit/samples/operator_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

constexpr const char* kHeader = "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n";

OperatorSampleTable read(const std::string& rows) {
  return read_operator_samples(parse_csv(kHeader + rows, "samples.csv"));
}

step::OperatorShape shape_of(const std::string& row) {
  return read(row + "\n").samples.at(0).op.shape;
}

TEST(OperatorSample, ReadsTheShapesOfProducts) {
  const auto product = [](const char* op) {
    const step::OperatorShape s = shape_of(std::string(op) + ",2,4,1024,4096,,,10,20");
    return std::array{s.rows, s.inner, s.columns};
  };
  EXPECT_EQ(product("linear_qkv"), (std::array<std::int64_t, 3>{4096, 4096, 6144}));
  EXPECT_EQ(product("linear_attn_out"), (std::array<std::int64_t, 3>{4096, 2048, 4096}));
  EXPECT_EQ(product("linear_mlp_up"), (std::array<std::int64_t, 3>{4096, 4096, 8192}));
  EXPECT_EQ(product("linear_mlp_down"), (std::array<std::int64_t, 3>{4096, 8192, 4096}));
  // 50,257 padded to a multiple of 256 is 50,432: half of it.
  EXPECT_EQ(product("linear_lm_head"), (std::array<std::int64_t, 3>{4096, 4096, 25216}));
}

TEST(OperatorSample, ReadsOtherShapes) {
  const step::OperatorShape attention =
      shape_of("flash_attention_noncausal,4,4,2048,4096,32,,10,20");
  EXPECT_EQ(attention.heads, 8);
  EXPECT_EQ(attention.head_dim, 128);
  EXPECT_EQ(attention.pairs, 2048 * 2048);
  const step::OperatorShape softmax = shape_of("softmax_unfused,4,4,2048,,32,,10,20");
  EXPECT_EQ(softmax.batch * softmax.heads * softmax.queries, 65536);
  EXPECT_EQ(shape_of("gelu,4,4,2048,4096,,,10,20").columns, 4096);
  // Four layers of 4 h + 12 h^2 + 9 h, and a table of 50,304 x h.
  EXPECT_EQ(shape_of("adam_first_stage,1,,,2048,,4,10,").rows,
            4 * (4 * 2048 + 12 * 2048 * 2048 + 9 * 2048) + 50304 * 2048);
}

TEST(OperatorSample, TimesAreMicroseconds) {
  const OperatorSample sample = read("layernorm,,2,1024,2048,,,25.5,\n").samples.at(0);
  EXPECT_DOUBLE_EQ(sample.forward_s.value(), 25.5e-6);
  EXPECT_FALSE(sample.backward_s);
  EXPECT_EQ(sample.hold_out, 2048);
}

TEST(OperatorSample, ReportsBadRowsByLine) {
  const OperatorSampleTable table = read(
      "layernorm,,2,1024,2048,,,25,60\n"
      "layernorm,,2,1024,2048,,,26,60\n"
      "layernorm,,2,1024,2560,,,-25,60\n"
      "layernorm,,2,1024,2560,,,nan,60\n"
      "layernorm,,2,1024,,,,25,60\n"
      "layernorm,,2,1024.5,2560,,,25,60\n"
      "layernormal,,2,1024,2560,,,25,60\n"
      "layernorm,,2,1024,2560,,,,\n");
  EXPECT_EQ(table.samples.size(), 1);
  std::vector<std::string> bad;
  for (const UnusableOperatorRow& row : table.bad) {
    bad.push_back(std::to_string(row.line) + ": " + row.reason + ": " + row.detail);
  }
  EXPECT_THAT(bad, testing::ElementsAre(
                       "3: duplicate: layernorm as in line 2",
                       testing::StartsWith("4: bad value: fwd_us is -25, not positive"),
                       testing::StartsWith("5: bad value: fwd_us is `nan`"),
                       testing::StartsWith("6: bad value: layernorm needs a positive `hidden`"),
                       testing::StartsWith("7: bad value: seq is 1024.5"),
                       testing::StartsWith("8: bad value: op is `layernormal`"),
                       testing::StartsWith("9: bad value: neither fwd_us nor bwd_us")));
}

TEST(OperatorSample, RefusesAnotherTable) {
  EXPECT_THROW((void)read_operator_samples(parse_csv("a,b\n1,2\n", "other.csv")), Error);
}

TEST(OperatorSample, ReadsTablesOfKernels) {
  const OperatorSampleTable table = read_operator_samples(parse_csv(
      "id,gpu,op,dtype,m,n,k,batch,seq_len,heads,kv_heads,head_dim,causal,direction,metric,value\n"
      "1,H100-SXM-80GB,gemm,bf16,4096,8192,1024,1,,,,,,,time_us,125\n"
      "2,H100-SXM-80GB,gemm,bf16,4096,8192,1024,2,,,,,,,tflops,500\n"
      "3,H100-SXM-80GB,attention,bf16,,,,2,4096,32,8,128,y,forward,time_us,300\n"
      "4,H100-SXM-80GB,gemm,fp8,4096,8192,1024,1,,,,,,,time_us,125\n"
      "5,other,gemm,bf16,4096,8192,1024,1,,,,,,,time_us,125\n",
      "kernels.csv"));
  ASSERT_EQ(table.samples.size(), 3);
  EXPECT_EQ(table.samples[0].device, "h100-sxm-80g");
  EXPECT_EQ(table.samples[0].hold_out, 1024);
  EXPECT_DOUBLE_EQ(table.samples[1].forward_s.value(), 2.0 * 4096 * 8192 * 1024 / 500e12);
  EXPECT_EQ(table.samples[2].op.shape.pairs, 4096 * 4097 / 2);
  EXPECT_EQ(table.samples[2].op.shape.kv_heads, 8);
  EXPECT_TRUE(table.bad.empty());
}

TEST(OperatorSample, ReadsKernelsOfAttentionAndTheirBackward) {
  const OperatorSampleTable table = read_operator_samples(parse_csv(
      "gpu,software,op,dtype,m,n,k,batch,seq_len,heads,kv_heads,head_dim,causal,direction,metric,"
      "value\n"
      "H100-SXM-80GB,x; SDPA flash (FlashAttention-2),attention,bf16,,,,2,4096,32,8,128,y,backward,"
      "time_us,700\n"
      "H100-SXM-80GB,x; SDPA cuDNN,attention,bf16,,,,2,4096,32,8,128,y,forward,time_us,300\n"
      "H100-SXM-80GB,another engine,attention,bf16,,,,2,4096,32,8,128,y,forward,time_us,310\n"
      "H100-SXM-80GB,x,gemm,bf16,4096,8192,1024,1,,,,,,weight_gradient,time_us,125\n",
      "kernels.csv"));
  ASSERT_EQ(table.samples.size(), 3);
  EXPECT_EQ(table.samples[0].kernel, cluster::AttentionKernel::kFlash2);
  EXPECT_FALSE(table.samples[0].forward_s);
  EXPECT_DOUBLE_EQ(table.samples[0].backward_s.value(), 700e-6);
  EXPECT_EQ(table.samples[1].kernel, cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(table.samples[2].kernel, cluster::AttentionKernel::kFlash3);
  ASSERT_EQ(table.passed_over.size(), 1);
  EXPECT_EQ(table.passed_over[0].reason, "no class covers direction: weight_gradient");
}

}  // namespace
}  // namespace stepwright::fit

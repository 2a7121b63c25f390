#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/huggingface/arguments.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright {
namespace {

const SourceFile kModel{"config.json", R"({"model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "rope_theta": 500000.0,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-5})"};
const SourceFile kArguments{"args.yaml",
                            "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
                            "bf16: true\nfsdp: full_shard auto_wrap\n"
                            "gradient_checkpointing: true\nmax_length: 4096\n"};
const SourceFile kDeepSpeed{"ds.json", R"({"train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})"};

PlannedJob read(std::vector<SourceFile> files) {
  Given given;
  given.cluster = "dgx-h100:2";
  given.batch = "128x4096";
  return import_sources("hf", files, given).planned;
}

TEST(HuggingFaceArguments, ReadsModelAndTraining) {
  const PlannedJob planned = read({kModel, kArguments});
  EXPECT_EQ(planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(planned.plan.parallel.data, 16);
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(sharding_word(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.recompute.kind, RecomputeKind::kFull);
  EXPECT_EQ(planned.plan.accumulate, DType::kBf16);
}

TEST(HuggingFaceArguments, ReadsTheDeepSpeedFileBesideThem) {
  SourceFile arguments = kArguments;
  arguments.text =
      "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n"
      "deepspeed: ds.json\n";
  const PlannedJob planned = read({arguments, kDeepSpeed, kModel});
  EXPECT_EQ(sharding_word(planned.plan.sharding), "NGG");
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(planned.job.framework.name, "deepspeed");
  EXPECT_THROW(read({arguments, kModel}), Error);
}

TEST(HuggingFaceArguments, RefusesTwoOfAKindAndContradictions) {
  EXPECT_THROW(read({kModel, kModel}), Error);
  SourceFile both = kArguments;
  both.text += "fp16: true\n";
  EXPECT_THROW(read({kModel, both}), Error);
  SourceFile other = kArguments;
  other.text = "per_device_train_batch_size: 3\n";
  EXPECT_THROW(read({kModel, other}), Error);
}

}  // namespace
}  // namespace stepwright

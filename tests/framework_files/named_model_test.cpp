#include "stepwright/framework_files/draft/named_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imported.h"
#include "stepwright/core/error.h"

namespace stepwright::framework_files {
namespace {

std::string named_as(std::string_view id) {
  StatedModel words;
  ImportReport report;
  return set_built_in_model(id, {}, words, report) ? words.model->name
                                                   : "no " + words.unknown_model;
}

TEST(NamedModel, ModelsTrainedFurtherHaveTheSizesThatTheyBeganWith) {
  EXPECT_EQ(named_as("meta-llama/Llama-3.1-8B-Instruct"), "llama-3.1-8b");
  EXPECT_EQ(named_as("Qwen/Qwen2.5-Coder-7B-Instruct"), "qwen2.5-7b");
  EXPECT_EQ(named_as("Qwen/Qwen2.5-Math-7B"), "qwen2.5-7b");
  EXPECT_EQ(named_as("/data/models/DeepSeek-R1-Distill-Qwen-14B/"), "qwen2.5-14b");
  EXPECT_EQ(named_as("deepseek-ai/DeepSeek-R1-Distill-Llama-70B"), "llama-3.1-70b");
  EXPECT_EQ(named_as("deepseek-ai/DeepSeek-R1"), "deepseek-v3");
  EXPECT_EQ(named_as("unsloth/DeepSeek-V3-0324-BF16"), "deepseek-v3");
  EXPECT_EQ(named_as("axolotl-ai-co/gpt-oss-120b-dequantized"), "gpt-oss-120b");
  EXPECT_EQ(named_as("unsloth/Qwen3-1.7B-Base-unsloth-bnb-4bit"), "qwen3-1.7b");
  EXPECT_EQ(named_as("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-Base-BF16"), "nemotron-3-nano-30b-a3b");
  EXPECT_EQ(named_as("meta-llama/Llama-3.3-70B-Instruct"), "llama-3.1-70b");
  EXPECT_EQ(named_as("allenai/OLMo-2-1124-7B"), "olmo-2-7b");
  EXPECT_EQ(named_as("Qwen/Qwen3-Coder-30B-A3B-Instruct"), "qwen3-30b-a3b");
}

TEST(NamedModel, OthersAreNamedAsUnknown) {
  for (const char* id : {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "Qwen/Qwen2.5-Coder-9B",
                         "deepseek-ai/DeepSeek-R1-Unknown", "vicuna-7b-v1.5-16k"}) {
    EXPECT_EQ(named_as(id), std::string("no ") + id);
  }
  EXPECT_EQ(named_as(""), "no ");
}

TEST(NamedModel, ReadersAskForAModelByItsName) {
  const std::string text =
      "#!/bin/bash\npython3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=mine/Odd-7B "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=8 "
      "trainer.nnodes=1\n";
  EXPECT_THAT([&] { import_text("", "run.sh", text, {.cluster = "dgx-h100"}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "--model is required: run.sh names the model mine/Odd-7B, which is not built in: "
                  "give its sizes with --model CONFIG.JSON")));
}

TEST(NamedModel, APathMayHoldTheOwnerOrTheHubsCache) {
  EXPECT_EQ(named_as("/m/models--Qwen--Qwen2.5-7B-Instruct/snapshots/a09a35458c70"), "qwen2.5-7b");
  EXPECT_EQ(named_as("./Qwen--Qwen3-8B"), "qwen3-8b");
  EXPECT_EQ(named_as("./Qwen_Qwen3-8B"), "qwen3-8b");
  EXPECT_EQ(named_as("./my_own-model"), "no ./my_own-model");
}

}  // namespace
}  // namespace stepwright::framework_files

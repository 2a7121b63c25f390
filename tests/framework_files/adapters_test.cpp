#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/forms/regular.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/model/catalog.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the adapters that a program's arguments describe, before the plan is checked.
StatedLoraAdapters words_of(const std::string& target, const std::string& text) {
  const std::vector<launch_scripts::SourceFile> files = {{"train.yaml", text}};
  UserFacts given;
  given.cluster = "dgx-h100";
  PlanDraft draft;
  const auto targets = launch_targets();
  const auto found = std::ranges::find(targets, target, &LaunchTarget::word);
  draft.framework.name = std::string(found->framework);
  ImportReport report;
  return found->read(files, given, std::move(draft), report).adapters.value();
}

TEST(AdaptersOfFiles, AxolotlSaysThemUnderItsKeys) {
  const std::string head =
      "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n"
      "sequence_len: 4096\nbf16: auto\n";
  const StatedLoraAdapters words =
      words_of("axolotl", head +
                              "adapter: qlora\nload_in_4bit: true\nlora_r: 32\nlora_alpha: 16\n"
                              "lora_dropout: 0.05\nlora_target_linear: true\n");
  EXPECT_EQ(words.rank, 32);
  EXPECT_EQ(words.alpha, 16);
  EXPECT_EQ(words.dropout, 0.05);
  EXPECT_EQ(words.base, DType::kNf4);
  EXPECT_THAT(words.modules, ElementsAre("all-linear"));
  // Absent settings have peft's defaults: rank 8, the queries and the values.
  const StatedLoraAdapters usual = words_of("axolotl", head + "adapter: lora\n");
  EXPECT_EQ(usual.rank, 8);
  EXPECT_THAT(usual.modules, ElementsAre("q_proj", "v_proj"));
}

TEST(AdaptersOfFiles, LlamaFactoryTrainsThemByDefault) {
  const std::string text =
      "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ncutoff_len: 2048\n"
      "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n"
      "quantization_bit: 8\n";
  const StatedLoraAdapters words = words_of("llama-factory", text);
  EXPECT_EQ(words.rank, 8);
  EXPECT_EQ(words.alpha, 16);  // twice the rank
  EXPECT_EQ(words.base, DType::kFp8);
  EXPECT_THAT(words.modules, ElementsAre("all"));
  const StatedLoraAdapters named =
      words_of("llama-factory", text + "lora_rank: 64\nlora_target: q_proj,o_proj\n");
  EXPECT_EQ(named.alpha, 128);
  EXPECT_THAT(named.modules, ElementsAre("q_proj", "o_proj"));
}

TEST(AdaptersOfFiles, SwiftAndTrlHaveDefaultsOfTheirOwn) {
  const StatedLoraAdapters swift =
      words_of("ms-swift",
               "model: Qwen/Qwen3-8B\ntuner_type: lora\nmax_length: 2048\n"
               "per_device_train_batch_size: 1\nlora_rank: 16\nquant_bits: 4\n"
               "quant_method: bnb\n");
  EXPECT_EQ(swift.rank, 16);
  EXPECT_EQ(swift.alpha, 32);
  EXPECT_EQ(swift.dropout, 0.05);
  EXPECT_EQ(swift.base, DType::kNf4);
  const StatedLoraAdapters trl =
      words_of("hf",
               "model_name_or_path: meta-llama/Meta-Llama-3-8B\nuse_peft: true\noutput_dir: out\n"
               "per_device_train_batch_size: 1\nbf16: true\nmax_length: 1024\n");
  EXPECT_EQ(trl.rank, 16);
  EXPECT_EQ(trl.alpha, 32);
}

TEST(AdaptersOfFiles, VerlHasThemWhereTheirRankIsAboveZero) {
  const std::string script =
      "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 "
      "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.n_gpus_per_node=8 "
      "trainer.nnodes=1 actor_rollout_ref.model.lora_rank=";
  const StatedLoraAdapters words = words_of("verl", script + "32\n");
  EXPECT_EQ(words.rank, 32);
  EXPECT_EQ(words.alpha, 16);
  EXPECT_THAT(words.modules, ElementsAre("all-linear"));
  const ImportedPlan none = import_text("verl", "run.sh", script + "0\n", {.cluster = "dgx-h100"});
  EXPECT_THAT(none.report.not_read, lists("actor_rollout_ref.model.lora_rank", SettingImpact::kNo));
}

TEST(AdaptersOfFiles, ModulesAreTargetsOfTheModel) {
  plan::Job job;
  job.model = model::built_in_model("llama-3-8b").value();
  job.framework.name = "accelerate";
  ImportReport report;
  StatedLoraAdapters words{
      .rank = 16, .alpha = 32, .modules = {"q_proj", "model.layers.0.mlp.down_proj"}};
  words.modules.emplace_back("lm_head");
  apply_lora_adapters(words, "train.yaml", job, report);
  ASSERT_TRUE(job.model.adapters.has_value());
  EXPECT_TRUE(job.model.adapters->has(model::LoraTargetProduct::kQuery));
  EXPECT_TRUE(job.model.adapters->has(model::LoraTargetProduct::kFc2));
  EXPECT_FALSE(job.model.adapters->has(model::LoraTargetProduct::kKey));
  EXPECT_THAT(report.not_read, lists("lm_head", SettingImpact::kYes));
  EXPECT_THAT(transformers_names_of_adapted_modules(job.model).modules,
              ElementsAre("q_proj", "down_proj"));
  job.model.adapters->targets = model::possible_adapter_targets(job.model);
  EXPECT_THAT(transformers_names_of_adapted_modules(job.model).modules, ElementsAre("all-linear"));
}

TEST(AdaptersOfFiles, ProjectionsOfLatentsAreModules) {
  plan::Job job;
  job.model = model::built_in_model("deepseek-v3").value();
  job.framework.name = "megatron-core";
  ImportReport report;
  apply_lora_adapters({.rank = 8,
                       .alpha = 16,
                       .modules = {"linear_q_up_proj", "linear_kv_down_proj", "linear_qkv"}},
                      "train.yaml", job, report);
  ASSERT_TRUE(job.model.adapters.has_value());
  EXPECT_TRUE(job.model.adapters->has(model::LoraTargetProduct::kQueryUp));
  EXPECT_TRUE(job.model.adapters->has(model::LoraTargetProduct::kKeyValueDown));
  EXPECT_EQ(job.model.adapters->targets.count(), 2);
  EXPECT_THAT(report.not_read, lists("linear_qkv", SettingImpact::kYes));
  EXPECT_THAT(megatron_adapter_modules(job.model),
              ElementsAre("linear_q_up_proj", "linear_kv_down_proj"));
  job.model.adapters->joined = false;
  EXPECT_THAT(transformers_names_of_adapted_modules(job.model).modules,
              ElementsAre("q_b_proj", "kv_a_proj_with_mqa"));
}

/// Expects the modules that files name for these targets of a built-in model, and that these
/// modules are read back as the same targets.
void expect_modules(const std::string& model,
                    std::initializer_list<model::LoraTargetProduct> targets, bool joined,
                    const std::vector<std::string>& modules) {
  plan::Job job;
  job.model = model::built_in_model(model).value();
  job.framework.name = "accelerate";
  job.model.adapters = model::LoraAdapters{.rank = 4, .alpha = 4, .joined = joined};
  for (const model::LoraTargetProduct target : targets)
    job.model.adapters->targets.set(model::place_of(target));
  const model::LoraAdapters adapters = *job.model.adapters;
  EXPECT_EQ(transformers_names_of_adapted_modules(job.model).modules, modules) << model;
  ImportReport report;
  apply_lora_adapters({.rank = 4, .alpha = 4, .modules = modules}, "train.yaml", job, report);
  EXPECT_EQ(job.model.adapters, adapters) << model;
}

TEST(AdaptersOfFiles, ModulesAreThoseOfTheFamilyOfAModel) {
  using enum model::LoraTargetProduct;
  expect_modules("mixtral-8x7b", {kGate, kUp, kFc2}, false, {"w1", "w3", "w2"});
  expect_modules("gpt-neox-20b", {kQuery, kKey, kValue, kUp}, true,
                 {"query_key_value", "dense_h_to_4h"});
  expect_modules("gpt2", {kProjection, kFc2}, false, {"c_proj"});
  expect_modules("gpt2", {kProjection}, false, {"attn.c_proj"});
  expect_modules("qwen3-30b-a3b", {kQuery, kGate, kUp, kFc2}, false,
                 {"q_proj", "gate_proj", "up_proj", "down_proj"});
}

TEST(AdaptersOfFiles, ModulesThatNoModelHasAreRefused) {
  plan::Job job;
  job.model = model::built_in_model("llama-3-8b").value();
  ImportReport report;
  try {
    apply_lora_adapters({.rank = 8, .alpha = 8, .modules = {"lm_head"}}, "train.yaml", job, report);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("train.yaml: adapters stand beside lm_head"));
  }
  EXPECT_THROW(apply_lora_adapters({.rank = 100'000, .alpha = 8, .modules = {"all"}}, "train.yaml",
                                   job, report),
               Error);
}

/// Returns the targets of a model to which axolotl gives adapters, with these lines.
model::AdapterTargets targets_by(const std::string& model, const std::string& lines,
                                 ImportReport* report = nullptr) {
  const ImportedPlan plan = import_text("axolotl", "train.yaml",
                                        "base_model: " + model +
                                            "\nmicro_batch_size: 1\nsequence_len: 4096\n"
                                            "adapter: lora\nlora_r: 8\n" +
                                            lines,
                                        {.cluster = "dgx-h100"});
  if (report != nullptr) *report = plan.report;
  return plan.planned.job.model.adapters.value_or(model::LoraAdapters()).targets;
}

model::AdapterTargets these(std::initializer_list<model::LoraTargetProduct> targets) {
  model::AdapterTargets set;
  for (const model::LoraTargetProduct target : targets) set.set(model::place_of(target));
  return set;
}

TEST(AdaptersOfFiles, ExpressionsMatchWholeNames) {
  using enum model::LoraTargetProduct;
  const std::string all = R"('model.layers.[\d]+.(mlp|self_attn).(up|down|gate|q|k|v|o)_proj')";
  EXPECT_EQ(targets_by("Qwen/Qwen3-8B", "lora_target_modules: " + all + "\n"),
            these({kQuery, kKey, kValue, kProjection, kGate, kUp, kFc2}));
  ImportReport report;
  EXPECT_EQ(targets_by("Qwen/Qwen3-8B",
                       R"(lora_target_modules: '.*\.layers\.(3|7)\.self_attn\.(q|v)_proj')"
                       "\n",
                       &report),
            these({kQuery, kValue}));
  EXPECT_TRUE(std::ranges::any_of(report.not_read, [](const SettingNotInPlan& one) {
    return one.why == "that some layers have no adapters";
  }));
  EXPECT_THROW(targets_by("Qwen/Qwen3-8B", "lora_target_modules: 'model.visual.*'\n"), Error);
  EXPECT_THROW(targets_by("Qwen/Qwen3-8B", "lora_target_modules: '(((a*)*)*)*(?=x)'\n"), Error);
}

TEST(AdaptersOfFiles, ExpertsAreParametersThatAreNamed) {
  using enum model::LoraTargetProduct;
  EXPECT_EQ(targets_by("openai/gpt-oss-20b", "lora_target_linear: true\n"),
            these({kQuery, kKey, kValue, kProjection}));
  EXPECT_EQ(targets_by("openai/gpt-oss-20b",
                       "lora_target_linear: true\nlora_target_parameters:\n"
                       "  - mlp.experts.gate_up_proj\n  - mlp.experts.down_proj\n"),
            these({kQuery, kKey, kValue, kProjection, kGate, kUp, kFc2}));
  ImportReport report;
  targets_by("Qwen/Qwen3-8B", "lora_target_linear: true\nlora_modules_to_save: [embed_tokens]\n",
             &report);
  EXPECT_THAT(report.not_read, lists("lora_modules_to_save", SettingImpact::kYes));
}

TEST(AdaptersOfFiles, ExpressionsAreThoseOfPython) {
  EXPECT_EQ(fullmatch_regex("a.c", "abc"), true);
  EXPECT_EQ(fullmatch_regex("a|bc+", "bcc"), true);
  EXPECT_EQ(fullmatch_regex("[^a-c]{2,3}?x", "zzx"), true);
  EXPECT_EQ(fullmatch_regex("(?:ab)*", "ababa"), false);
  EXPECT_EQ(fullmatch_regex("^a\\.b$", "a.b"), true);
  EXPECT_EQ(fullmatch_regex("a\\.b", "axb"), false);
  EXPECT_EQ(fullmatch_regex("[\\d]+", "2026"), true);
  for (const char* other : {"(a", "a)", "[a", "*a", "a**", "(?=a)b", "\\1", "a{999}", "\\"}) {
    EXPECT_EQ(fullmatch_regex(other, "a"), std::nullopt) << other;
  }
  EXPECT_EQ(fullmatch_regex("(((a*)*)*)*b", std::string(200, 'a')), false);
}

TEST(AdaptersOfFiles, OtherTunersAreSaid) {
  const ImportedPlan plan = import_text("axolotl", "train.yaml",
                                        "base_model: Qwen/Qwen3-8B\nmicro_batch_size: "
                                        "2\nsequence_len: 4096\nadapter: llama-adapter\n",
                                        {.cluster = "dgx-h100"});
  EXPECT_FALSE(plan.planned.job.model.adapters.has_value());
  EXPECT_THAT(plan.report.not_read, lists("adapter", SettingImpact::kYes));
}

}  // namespace
}  // namespace stepwright::framework_files

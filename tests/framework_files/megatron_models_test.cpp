#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/frameworks/law.h"
#include "tests/framework_files/imported.h"
#include "tests/model/random_architecture.h"
#include "tests/plan/random_plans.h"

// Models whose layers differ, as Megatron's arguments and Megatron-Bridge's recipes describe them.

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

plan::PlannedJob planned_for(const model::ModelArchitecture& model) {
  plan::PlannedJob planned;
  planned.job = plan::small_job();
  planned.job.model = model;
  planned.job.model_name = model.name;
  planned.job.cluster.device.memory_bytes = 1e15;
  planned.job.framework.name = "megatron-core";
  planned.plan.parallel.data = planned.job.cluster.devices();
  planned.plan.sharding = plan::sharding_named_by_word("NNG").value();
  return planned;
}

plan::PlannedJob read_text(std::string_view target, const std::string& text,
                           const cluster::Cluster& cluster) {
  UserFacts given;
  given.known_cluster = cluster;
  const launch_scripts::SourceFile file{fmt::format("plan.{}", target == "nemo" ? "py" : "sh"),
                                        text};
  return import_plan_files(target, {&file, 1}, given).planned;
}

/// Expects that a model is read back from the files unchanged, and that its plan has the same
/// price.
void expect_read_back(std::string_view target, const model::ModelArchitecture& model) {
  const plan::PlannedJob planned = planned_for(model);
  const std::string text = export_plan(target, planned, "", true).text;
  const plan::PlannedJob back = read_text(target, text, planned.job.cluster);
  EXPECT_THAT(huggingface::differences_between_models(back.job.model, model), IsEmpty()) << text;
  EXPECT_EQ(back.job.model.pattern, model.pattern) << text;
  EXPECT_EQ(back.job.model.extra_predicted_tokens(), model.extra_predicted_tokens());
  EXPECT_EQ(back.plan.parallel, planned.plan.parallel);
}

bool runs_model(std::string_view framework, const model::ModelArchitecture& model) {
  const plan::PlannedJob planned = planned_for(model);
  const std::vector<plan::UnsupportedChoice> all = plan::choices_unsupported_by_framework(
      {.name = std::string(framework)}, planned.job, planned.plan);
  return std::ranges::none_of(all, [](const plan::UnsupportedChoice& one) {
    return one.ability == plan::FrameworkProperty::kModel;
  });
}

class MegatronModels : public testing::TestWithParam<std::string_view> {};

TEST_P(MegatronModels, BuiltInOnesOfUnlikeLayersComeBack) {
  for (const char* name : {"deepseek-v3", "glm-4.5-air", "gpt-oss-20b", "moonlight-16b-a3b",
                           "nemotron-4-15b", "nemotron-h-8b", "qwen3-next-80b-a3b"}) {
    SCOPED_TRACE(name);
    const model::ModelArchitecture model = model::built_in_model(name).value();
    EXPECT_TRUE(runs_model("megatron-core", model));
    expect_read_back(GetParam(), model);
  }
}

/// Returns a random model without most features that Megatron lacks.
model::ModelArchitecture tamed(model::ModelArchitecture model, std::mt19937_64& random) {
  const auto maybe = [&](std::uint64_t one_in) { return random() % one_in == 0; };
  const model::ModelArchitecture usual;
  model.parallel_residual = model.shared_input_norm = model.embedding_norm = false;
  model.head_bias = model.gate_bias = model.qk_norm_bias = false;
  model.norm_weight = true;
  model.norm_bias = model.norm == model::Norm::kLayer;
  model.norm_placement = model::NormPlacement::kBefore;
  model.beyond.clear();
  model.encoder.reset();
  model.attention_scale = model.attention_cap = model.logit_cap = 0;
  model.logit_scale = model.embedding_scale = model.residual_scale = 1;
  model.window_rotary_base = model.inner_norm_epsilon = 0;
  model.first_position = 0;
  if (model.rotary_scaling && model.rotary_scaling->kind == model::RotaryScalingKind::kLlama3) {
    model.rotary_scaling = {.kind = model::RotaryScalingKind::kLlama3, .factor = 8};
  }
  if (model.rotary_scaling && model.rotary_scaling->kind == model::RotaryScalingKind::kYarn) {
    model::RotaryScaling& scaling = *model.rotary_scaling;
    scaling.attention_factor = scaling.mscale_all_dim = 0;
    scaling.mscale = 1;
    scaling.original_positions = 4096;
    if (model.latent) scaling.rounded = true;
  }
  const bool said =
      model.rotary_scaling && (model.rotary_scaling->kind == model::RotaryScalingKind::kLlama3 ||
                               model.rotary_scaling->kind == model::RotaryScalingKind::kLinear ||
                               model.rotary_scaling->kind == model::RotaryScalingKind::kYarn);
  if (!said) model.rotary_scaling.reset();
  if (model.position != model::PositionEncoding::kRope) {
    model.rotary_scaling.reset();
    model.rotary_fraction = usual.rotary_fraction;
    model.rotary_base = usual.rotary_base;
  }
  const bool bias = maybe(3);
  model.qkv_bias = !model.latent && (bias || maybe(2));
  model.attention_output_bias =
      bias && model::model_has_mixer_kind(model, model::TokenMixer::kAttention);
  model.mlp_bias = bias && model::model_has_feed_forward_kind(model, model::FeedForward::kDense);
  if (model.experts) {
    model.experts->bias = bias;
    model.experts->router_bias = bias && !model.experts->correction_bias;
  }
  if (!model.count_multi_token) model.multi_token_layers = 0;
  return model;
}

/// Returns the model with random layers that consist of a mixer or a feed-forward part alone.
model::ModelArchitecture hybrid(model::ModelArchitecture model, std::mt19937_64& random) {
  model.latent.reset();
  model.head_dim = 64;
  model.multi_token_layers = 0;
  std::vector<model::LayerClass> layers;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const std::uint64_t kind = i == 0 ? 1 : random() % 3;
    model::LayerClass layer{.feed_forward = model::FeedForward::kNone};
    if (kind == 0) layer.mixer = model::TokenMixer::kMamba2;
    if (kind == 2) layer = {.mixer = model::TokenMixer::kNone};
    if (kind == 2 && model.experts) layer.feed_forward = model::FeedForward::kExperts;
    layers.push_back(layer);
  }
  if (model.experts)
    layers.push_back(
        {.mixer = model::TokenMixer::kNone, .feed_forward = model::FeedForward::kExperts});
  model.layers = std::ssize(layers);
  model::set_layer_class_pattern(model, std::move(layers));
  model.state_mixer.reset();
  if (model::model_has_mixer_kind(model, model::TokenMixer::kMamba2)) {
    model.state_mixer =
        model::RecurrentMixer{.heads = 8 * static_cast<std::int64_t>(1 + random() % 9),
                              .head_dim = 32,
                              .groups = 4,
                              .state = 64,
                              .chunk = 128,
                              .convolution_bias = true,
                              .normed = true};
  }
  if (!model::model_has_mixer_kind(model, model::TokenMixer::kAttention))
    model.qkv_bias = model.attention_output_bias = false;
  if (!model::model_has_feed_forward_kind(model, model::FeedForward::kDense))
    model.mlp_bias = false;
  return model;
}

TEST_P(MegatronModels, WhatTheFrameworkRunsComesBack) {
  model::RandomArchitecture source(23);
  std::mt19937_64 random(5);
  int written = 0;
  int hybrids = 0;
  int others = 0;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    model::ModelArchitecture model = tamed(source.make(), random);
    if (i % 4 == 0) model = hybrid(std::move(model), random);
    model.name = "random";
    model::check_model_sizes(model, "random");
    if (!runs_model("megatron-core", model)) continue;
    SCOPED_TRACE(model::inline_model_mapping(model).dump());
    ++written;
    hybrids +=
        std::ranges::any_of(model::model_layer_classes(model), model::layer_has_one_branch) ? 1 : 0;
    others += model::has_recurrent_mixer(model) || model.sinks || model.attention_gate ? 1 : 0;
    try {
      expect_read_back(GetParam(), model);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kUnsupported) << error.what();
      ++refused;
    }
    if (HasFailure()) return;
  }
  // Files refuse models that their arguments cannot distinguish.
  EXPECT_LT(refused * 10, written);
  EXPECT_GT(written, 60);
  EXPECT_GT(hybrids, 15);
  EXPECT_GT(others, 15);
}

INSTANTIATE_TEST_SUITE_P(Targets, MegatronModels, testing::Values("megatron", "nemo"),
                         [](const auto& tested) { return std::string(tested.param); });

constexpr const char* kHybridScript = R"(torchrun --nproc_per_node 8 pretrain_mamba.py \
  --hybrid-override-pattern M-M-M*-M- --hidden-size 1024 --ffn-hidden-size 4096 \
  --num-attention-heads 8 --mamba-num-heads 32 --mamba-num-groups 4 --squared-relu \
  --normalization RMSNorm --disable-bias-linear --position-embedding-type none \
  --seq-length 4096 --max-position-embeddings 4096 --vocab-size 32000 \
  --micro-batch-size 1 --global-batch-size 64 --bf16 --attention-dropout 0 --hidden-dropout 0 \
  --spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec
)";

plan::PlannedJob read_script(const std::string& text) {
  return read_text("megatron", text, plan::small_cluster(1, 8));
}

std::string hybrid_refusal(const std::string& text) {
  try {
    read_script(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string changed_in(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(MegatronHybrid, IsReadFromItsPattern) {
  const model::ModelArchitecture model = read_script(kHybridScript).job.model;
  EXPECT_EQ(model.layers, 9);
  EXPECT_EQ(model.pattern[0].mixer, model::TokenMixer::kMamba2);
  EXPECT_EQ(model.pattern[1].feed_forward, model::FeedForward::kDense);
  EXPECT_EQ(model.pattern[5].mixer, model::TokenMixer::kAttention);
  EXPECT_EQ(model.pattern[5].feed_forward, model::FeedForward::kNone);
  ASSERT_TRUE(model.state_mixer);
  EXPECT_EQ(model.state_mixer->heads, 32);
  EXPECT_EQ(model.state_mixer->groups, 4);
  EXPECT_EQ(model.state_mixer->head_dim, 64);
  EXPECT_EQ(model.state_mixer->chunk, 128);
}

TEST(MegatronHybrid, MayBeCutIntoStages) {
  const std::string cut = changed_in(kHybridScript, "M-M-M*-M-", "'M-M-|M*-M-'");
  const plan::Plan plan =
      read_script(changed_in(cut, "--bf16", "--bf16 --pipeline-model-parallel-size 2")).plan;
  EXPECT_EQ(plan.layers, (std::vector<std::int64_t>{4, 5}));
  EXPECT_THAT(hybrid_refusal(changed_in(cut, "--bf16", "--bf16 --pipeline-model-parallel-size 4")),
              HasSubstr("2 parts are not a multiple of pipeline size 4"));
}

TEST(MegatronHybrid, SharesOfLayersStandForAPattern) {
  // By hand: 2 of 10 layers attend, so 8 others are 3 sections of 8/3 layers each;
  // 2 of the 8 are MLPs, each behind 3 of the other 6.
  const std::string shares =
      changed_in(kHybridScript, "--hybrid-override-pattern M-M-M*-M-",
                 "--num-layers 10 --hybrid-attention-ratio 0.2 --hybrid-mlp-ratio 0.2");
  std::string letters;
  for (const model::LayerClass& layer : read_script(shares).job.model.pattern) {
    letters += layer.attends() ? '*' : layer.mixer == model::TokenMixer::kMamba2 ? 'M' : '-';
  }
  EXPECT_EQ(letters, "MMM*-M*MM-");
}

TEST(MegatronHybrid, NamesWhatItCannotRead) {
  EXPECT_THAT(hybrid_refusal(changed_in(kHybridScript, "M-M-M*-M-", "M-G-M*-M-")),
              HasSubstr("a hybrid of other layers than M (Mamba-2)"));
  EXPECT_THAT(hybrid_refusal(changed_in(kHybridScript, "--bf16", "--bf16 --num-layers 8")),
              HasSubstr("has 9 layers; num_layers says 8"));
  EXPECT_THAT(hybrid_refusal(changed_in(kHybridScript, "M-M-M*-M-", "M-M-M*-ME")),
              HasSubstr("experts"));
}

}  // namespace
}  // namespace stepwright::framework_files

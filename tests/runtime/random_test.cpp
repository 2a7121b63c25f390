// Random legal plans: every call of the ranks is predicted, and they learn what one process learns.
// STEPWRIGHT_RANDOM_PLANS sets a larger number of plans.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/launch/executable.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

int plans_to_try() {
  const char* asked = std::getenv("STEPWRIGHT_RANDOM_PLANS");
  return asked != nullptr ? static_cast<int>(std::strtol(asked, nullptr, 10)) : 8;
}

/// Returns a random model that needs different features of the executor.
model::ModelArchitecture random_model(plan::Dice& dice) {
  model::ModelArchitecture model;
  model.name = "random";
  model.layers = 4;
  model.hidden = 32;
  model.heads = 8;
  model.kv_heads = dice.pick<std::int64_t>({4, 8});
  model.head_dim = 4;
  model.ffn = 48;
  model.vocabulary = 250;
  model.positions = 64;
  model.tied = dice.chance(2);
  model.qk_norm = dice.chance(4) ? model::QkNorm::kHead : model::QkNorm::kNone;
  if (dice.chance(2)) model::set_layer_attention_windows(model, {0, 5, 0, 3});
  if (dice.chance(4)) model.window_rotary_base = 50;
  if (dice.chance(4)) model.activation = model::ActivationFunction::kClampedSwiglu;
  if (dice.chance(2)) return model;
  model.norm = model::Norm::kLayer;
  model.norm_bias = true;
  model.gated = false;
  model.activation = model::ActivationFunction::kGelu;
  model.position =
      dice.chance(2) ? model::PositionEncoding::kLearned : model::PositionEncoding::kRope;
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = dice.chance(2);
  model.parallel_residual = dice.chance(3);
  return model;
}

/// Replaces queries, keys and values of one width by latent attention.
void use_latent(plan::Dice& dice, model::ModelArchitecture& model) {
  model.latent = model::LatentAttention{.query_rank = dice.pick<std::int64_t>({0, 12}),
                                        .kv_rank = 10,
                                        .nope_head_dim = 4,
                                        .rope_head_dim = 2,
                                        .value_head_dim = 4};
  if (model.latent->query_rank > 0 && dice.chance(2)) {
    model.latent->index_heads = 16;  // of few heads many scores are alike
    model.latent->index_head_dim = 4;
    model.latent->index_top_k = 5;
  }
  model.head_dim = 6;
  model.kv_heads = model.heads;
  model.qkv_bias = false;
  model.qk_norm = model::QkNorm::kNone;
}

/// Gives every second layer a mixer with a recurrent state.
void use_mixers(plan::Dice& dice, model::ModelArchitecture& model) {
  const auto kind = dice.pick<model::TokenMixer>(
      {model::TokenMixer::kDeltaNet, model::TokenMixer::kMamba2, model::TokenMixer::kMamba,
       model::TokenMixer::kShortConvolution});
  const bool of_heads = kind == model::TokenMixer::kDeltaNet || kind == model::TokenMixer::kMamba2;
  model.state_mixer =
      model::RecurrentMixer{.heads = of_heads ? 8 : 32,
                            .head_dim = of_heads ? 6 : 1,
                            .groups = of_heads ? 8 : 1,
                            .state = kind == model::TokenMixer::kShortConvolution ? 0 : 5,
                            .kernel = 3,
                            .step_rank = kind == model::TokenMixer::kMamba ? 3 : 0,
                            .convolution_bias = dice.chance(2),
                            .bias = dice.chance(2),
                            .normed = of_heads && !dice.chance(4)};
  std::vector<model::LayerClass> layers;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    model::LayerClass layer = model.layer_class(i);
    if (i % 2 == 0) {
      layer.mixer = kind;
      layer.window = 0;
    }
    layers.push_back(layer);
  }
  model.pattern = std::move(layers);
}

/// Adds multi-token layers, which predict tokens further ahead, where the model can have them.
void use_multi_token(plan::Dice& dice, model::ModelArchitecture& model) {
  if (model.position != model::PositionEncoding::kRope) return;
  model.multi_token_layers = dice.pick<std::int64_t>({1, 2});
  model.count_multi_token = true;
  model.multi_token_weight = 0.3;
}

/// Adds experts to some of the model's layers.
void add_experts(plan::Dice& dice, plan::Job& job) {
  model::ModelArchitecture& model = job.model;
  model.mlp_bias = false;
  model.experts = model::MixtureOfExperts{.count = dice.pick<std::int64_t>({4, 8}),
                                          .top_k = dice.pick<std::int64_t>({1, 2, 3}),
                                          .ffn = 24,
                                          .shared_ffn = dice.pick<std::int64_t>({0, 16}),
                                          .normalize_top_k = dice.chance(2)};
  model.experts->shared_gate = model.experts->shared_ffn > 0 && dice.chance(2);
  model.experts->bias = dice.chance(4);
  if (dice.chance(4)) model.experts->latent = 20;
  model.experts->correction_bias = dice.chance(3);
  if (dice.chance(2)) model.experts->scoring = model::RouterScoring::kSigmoid;
  if (model.experts->count == 8 && dice.chance(2)) {
    model.experts->groups = 4;
    model.experts->top_groups = 2;
  }
  model::assign_dense_mlp_layers(model, dice.chance(2) ? std::vector<std::uint8_t>{1, 0, 0, 1}
                                                       : std::vector<std::uint8_t>(4, 0));
  job.routing = dice.pick<plan::Routing>({plan::Routing::kBalanced, plan::Routing::kLearned});
  job.dispatcher = dice.pick<plan::TokenDispatcher>(
      {plan::TokenDispatcher::kAllToAll, plan::TokenDispatcher::kAllGather});
  job.kernels.expert_weights = dice.pick<plan::RouterWeightPlacement>(
      {plan::RouterWeightPlacement::kAfter, plan::RouterWeightPlacement::kBefore});
}

plan::Job random_training(plan::Dice& dice) {
  plan::Job job = plan::small_job();
  job.model = random_model(dice);
  if (dice.chance(4)) use_latent(dice, job.model);
  if (dice.chance(2)) add_experts(dice, job);
  if (dice.chance(4)) use_mixers(dice, job.model);
  if (dice.chance(4)) use_multi_token(dice, job.model);
  if (dice.chance(3)) job.model.dropout = 0.2;
  job.model_name = job.model.name;
  job.cluster = plan::small_cluster(1, dice.pick<std::int64_t>({2, 4, 4, 8}));
  job.cluster.device.peak_flops[DType::kFp64] = 1e13;
  job.sequences = 8;
  job.length = 16;
  job.precision = DType::kFp64;
  job.optimizer = dice.pick<plan::Optimizer>({plan::Optimizer::kAdam, plan::Optimizer::kAdamW});
  if (dice.chance(2)) job.kernels.cross_entropy = plan::CrossEntropyKernel::kCompiled;
  job.kernels.loss_chunks = dice.pick<std::int64_t>({1, 1, 0, 3, 5});
  job.kernels.loss_keeps = dice.pick<plan::LossSavedTensors>(
      {plan::LossSavedTensors::kLogits, plan::LossSavedTensors::kGradients,
       plan::LossSavedTensors::kRows, plan::LossSavedTensors::kSums});
  return job;
}

bool executes(const plan::PlannedJob& planned) {
  try {
    runtime::check_runtime_supports_plan(planned);
    return true;
  } catch (const Error&) {
    return false;
  }
}

plan::PlannedJob random_training_plan(plan::Dice& dice) {
  while (true) {
    const plan::Job job = random_training(dice);
    plan::PlannedJob planned{job, plan::random_legal_plan(dice, job)};
    planned.plan.gradient_bucket = dice.pick<std::int64_t>({999, 40'000'000});
    planned.plan.parameter_bucket = dice.pick<std::int64_t>({999, 40'000'000});
    planned.plan.overlap.gradients = !dice.chance(4);
    planned.plan.overlap.parameters = !dice.chance(4);
    if (executes(planned)) return planned;
  }
}

/// Returns the job on one rank, with all choices at their defaults and an unchunked loss.
plan::PlannedJob alone(const plan::PlannedJob& planned) {
  plan::PlannedJob one{planned.job, plan::Plan{}};
  one.job.kernels.loss_chunks = 1;
  one.job.kernels.loss_keeps = plan::LossSavedTensors::kLogits;
  one.job.cluster = plan::small_cluster(1, 2);
  one.job.cluster.device.peak_flops[DType::kFp64] = 1e13;
  one.job.cluster.devices_per_node = 1;
  one.job.cluster.levels = {{.name = "network", .size = 1, .network = true}};
  one.plan.accumulate = DType::kFp64;
  return one;
}

TEST(RandomPlans, SendWhatIsPredictedAndLearnWhatOneProcessLearns) {
  plan::Dice dice(20240607);
  for (int i = 0; i < plans_to_try(); ++i) {
    const plan::PlannedJob planned = random_training_plan(dice);
    SCOPED_TRACE(::testing::Message() << "plan " << i << ": " << plan::shown(planned.plan) << "\n"
                                      << plan::plan_yaml(planned));
    const Trained one = train({.plan = plan::plan_yaml(alone(planned)), .steps = 2});
    const Trained many = train({.plan = plan::plan_yaml(planned), .steps = 2});
    ASSERT_EQ(one.exit_code, 0) << one.errors;
    ASSERT_EQ(many.exit_code, 0) << many.errors;
    for (std::size_t step = 0; step < one.losses.size(); ++step) {
      EXPECT_NEAR(one.losses[step], many.losses[step], kBound * (1 + one.losses[step]));
    }
    EXPECT_LE(distance(one.gradients, many.gradients), kBound);
    EXPECT_LE(distance(one.weights, many.weights), kBound);
    EXPECT_NE(many.comparison.find("; the run differs in 0."), std::string::npos)
        << many.comparison;
  }
}

}  // namespace
}  // namespace stepwright::testing

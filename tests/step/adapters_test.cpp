// Steps that train only part of the model.
#include "tests/step/adapters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/program.h"
#include "stepwright/step/work.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

using enum model::LoraTargetProduct;

plan::Job adapted_job(std::initializer_list<model::LoraTargetProduct> targets,
                      std::int64_t rank = 8) {
  plan::Job job = job_of("llama-3-8b", 1, 64, 4096);
  adapt(job, rank);
  if (targets.size() > 0) job.model.adapters->targets.reset();
  for (const model::LoraTargetProduct target : targets)
    job.model.adapters->targets.set(model::place_of(target));
  return job;
}

plan::Plan one_device() {
  plan::Plan plan;
  plan.parallel.data = 8;
  plan.sharding = *plan::sharding_named_by_word("NNN");
  return plan;
}

ModelBlockTemplatePair layer(const plan::Job& job, std::int64_t index,
                             const plan::Plan& plan = one_device()) {
  return build_layer_templates(make_setting(job, plan), job.model.layer_class(index),
                               plan::kNoRecompute);
}

double product_flops(const OperatorTemplate& piece, Phase phase) {
  double sum = 0;
  for (const Operator& op : piece.operators) {
    if (op.kind == OperatorKind::kLinear && op.phase == phase) sum += operator_flops(op);
  }
  return sum;
}

double saved_bytes(const OperatorTemplate& piece) {
  double bytes = 0;
  for (const TensorId id : piece.saved) {
    bytes += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].bytes());
  }
  return bytes;
}

constexpr double kTokens = 4096;
constexpr double kHidden = 4096, kFfn = 14336, kQkv = 6144;
constexpr double kFrozen = kHidden * kQkv + kHidden * kHidden + 3 * kHidden * kFfn;

/// Llama-3-8B with rank-8 adapters on all seven projections.
TEST(LoraAdapters, CostFourFlopsOfEachFrozenWeightAndSixOfTheirOwn) {
  const plan::Job job = adapted_job({});
  const double own = 8 * (3 * kHidden + kQkv + 2 * kHidden + 3 * (kHidden + kFfn));
  const ModelBlockTemplatePair pair = layer(job, 1);
  EXPECT_EQ(product_flops(pair.forward, Phase::kForward), 2 * kTokens * (kFrozen + own));
  EXPECT_EQ(product_flops(pair.backward, Phase::kDataGradient), 2 * kTokens * (kFrozen + own));
  EXPECT_EQ(product_flops(pair.backward, Phase::kWeightGradient), 2 * kTokens * own);
  const double scores = 2 * 4096.0 * 4096 * 2;
  const double head = 2 * 4096.0 * 128256;
  EXPECT_EQ(model::training_flops_per_token(job.model, 4096),
            32 * (4 * kFrozen + 6 * own + 3 * scores) + 2 * head);
}

/// The backward pass of the lowest layer stops at its first adapters; the embedding has none.
TEST(LoraAdapters, EndTheBackward) {
  const plan::Job job = adapted_job({});
  const ModelBlockTemplatePair lowest = layer(job, 0);
  EXPECT_TRUE(lowest.backward.outputs.empty());
  EXPECT_EQ(layer(job, 1).backward.outputs.size(), 1U);
  // The gradients of the rows of qkv, through its weight and its A, and of the norm are left out.
  const double not_run = 2 * kTokens * (kHidden * kQkv + 3 * 8 * kHidden);
  EXPECT_EQ(product_flops(layer(job, 1).backward, Phase::kDataGradient) -
                product_flops(lowest.backward, Phase::kDataGradient),
            not_run);
  EXPECT_TRUE(
      build_embedding_templates(make_setting(job, one_device()), false).backward.operators.empty());
  const plan::Job projection = adapted_job({kProjection});
  for (const Operator& op : layer(projection, 0).backward.operators) {
    EXPECT_NE(op.kind, OperatorKind::kAttention);
    EXPECT_NE(op.kind, OperatorKind::kRotary);
  }
}

/// Bytes per token in bf16: the inputs of both norms (h each) with their statistics (4 bytes),
/// queries, keys and values, the attention's result (h) with its log-sum-exp (4 bytes a head), both
/// halves of the MLP, and the tensors of the adapters.
TEST(LoraAdapters, KeepTheInputsOfTheirTargetsAndNoOthers) {
  const double always = kTokens * (2 * (2 * kHidden + kQkv + kHidden + 2 * kFfn) + 2 * 4 + 4 * 32);
  const auto kept = [](std::initializer_list<model::LoraTargetProduct> targets) {
    return saved_bytes(layer(adapted_job(targets), 1).forward);
  };
  EXPECT_EQ(kept({kProjection}), always + kTokens * 2 * 8);
  EXPECT_EQ(kept({kQuery}), always + kTokens * 2 * (kHidden + 8));
  EXPECT_EQ(kept({kQuery, kValue}), always + kTokens * 2 * (kHidden + 16));
  EXPECT_EQ(kept({kFc2}), always + kTokens * 2 * (kFfn + 8));
  plan::Job dropping = adapted_job({kFc2});
  dropping.model.adapters->dropout = 0.1;
  EXPECT_EQ(saved_bytes(layer(dropping, 1).forward), always + kTokens * (2 * (kFfn + 8) + kFfn));
}

/// Returns a plan with two tensor ranks under sequence parallelism, each with half of the rows
/// between products.
plan::Plan halved(const plan::Job& job, plan::GatheredInputPolicy input) {
  plan::Plan plan = plan_of(job, 2, 1);
  plan.sequence_parallel = true;
  plan.tensor_input = input;
  return plan;
}

/// Transformer Engine keeps more than autograd: after a fused norm it keeps the norm's result for
/// both products, the rank's own rows, unless an adapter keeps the same tensor.
TEST(LoraAdapters, BehindANormOfTransformerEngineKeepItsRowsAsWell) {
  const auto more = [](std::initializer_list<model::LoraTargetProduct> targets, bool cut,
                       plan::GatheredInputPolicy input) {
    plan::Job job = adapted_job(targets);
    const plan::Plan plan = cut ? halved(job, input) : one_device();
    const double plain = saved_bytes(layer(job, 1, plan).forward);
    job.kernels.transformer_engine = true;
    return saved_bytes(layer(job, 1, plan).forward) - plain;
  };
  const double both = 2 * 2 * kTokens * kHidden;
  EXPECT_EQ(more({}, true, plan::GatheredInputPolicy::kKeep), both / 2);
  EXPECT_EQ(more({}, true, plan::GatheredInputPolicy::kRegather), 0);
  EXPECT_EQ(more({kQuery}, true, plan::GatheredInputPolicy::kRegather), both / 4);
  EXPECT_EQ(more({kFc2}, true, plan::GatheredInputPolicy::kKeep), both / 2);
  EXPECT_EQ(more({}, false, plan::GatheredInputPolicy::kKeep), 0);
  EXPECT_EQ(more({kFc2}, false, plan::GatheredInputPolicy::kKeep), both);
}

/// There, an adapter that keeps only its own rows gathers them separately in forward and backward,
/// and reduces their gradient separately.
TEST(LoraAdapters, BehindANormOfTransformerEngineGatherTheirRowsThemselves) {
  const auto messages = [](bool engine, plan::GatheredInputPolicy input) {
    plan::Job job = adapted_job({});
    job.kernels.transformer_engine = engine;
    const ModelBlockTemplatePair pair = layer(job, 1, halved(job, input));
    std::array<std::int64_t, 3> counts{};
    for (const Operator& op : pair.forward.operators) {
      counts[0] += op.kind == OperatorKind::kAllGather ? 1 : 0;
    }
    for (const Operator& op : pair.backward.operators) {
      counts[1] += op.kind == OperatorKind::kAllGather ? 1 : 0;
      counts[2] += op.kind == OperatorKind::kReduceScatter ? 1 : 0;
    }
    return counts;
  };
  using Counts = std::array<std::int64_t, 3>;
  EXPECT_EQ(messages(false, plan::GatheredInputPolicy::kKeep), (Counts{2, 2, 2}));
  EXPECT_EQ(messages(true, plan::GatheredInputPolicy::kKeep), (Counts{2, 2, 2}));
  EXPECT_EQ(messages(false, plan::GatheredInputPolicy::kRegather), (Counts{2, 4, 2}));
  EXPECT_EQ(messages(true, plan::GatheredInputPolicy::kRegather), (Counts{4, 4, 4}));
}

/// 2 bytes for each frozen weight; for trained weights 2, fp32 gradient sums, and a master copy and
/// two moments in fp32.
TEST(LoraAdapters, AloneHaveGradientsAndOptimizerStates) {
  const plan::Job job = adapted_job({});
  const StepProgram program = build_step_program(job, one_device());
  const RankModelStateBytes& states = program.stages[0].states;
  const std::int64_t trained = model::count_trained_parameters(job.model);
  EXPECT_EQ(states.parameters, 2 * model::count_parameters(job.model));
  EXPECT_EQ(states.frozen, 2 * (model::count_parameters(job.model) - trained));
  EXPECT_EQ(states.gradients, 4 * trained);
  EXPECT_EQ(states.optimizer, 12 * trained);
}

/// Returns the elements of all messages in templates with a name, and of the largest message.
std::pair<std::int64_t, std::int64_t> elements(const StepProgram& program, std::string_view name) {
  std::pair<std::int64_t, std::int64_t> found;
  for (const OperatorTemplate& piece : program.templates) {
    if (piece.name != name) continue;
    for (const Operator& op : piece.operators) {
      found.first += op.payload_elements * op.repeats;
      found.second = std::max(found.second, op.payload_elements);
    }
  }
  return found;
}

TEST(LoraAdapters, AloneAreReducedWhileTheBaseIsGathered) {
  const plan::Job job = adapted_job({});
  plan::Plan plan = one_device();
  plan.sharding = *plan::sharding_named_by_word("GGG");
  const StepProgram program = build_step_program(job, plan);
  EXPECT_EQ(elements(program, "reduce").first, model::count_trained_parameters(job.model));
  EXPECT_GE(static_cast<double>(elements(program, "gather").second), kFrozen);
}

/// Matrices of layers take 0.516 bytes an element; each product dequantises its own, in forward and
/// backward.
TEST(LoraAdapters, OnANarrowBaseMakeEachWeightWideForEachUse) {
  plan::Job job = adapted_job({});
  const StepProgram wide = build_step_program(job, one_device());
  job.model.adapters->base = DType::kNf4;
  const StepProgram narrow = build_step_program(job, one_device());
  const double saved = 32 * kFrozen * (2 - 4.13 / 8);
  EXPECT_NEAR(
      static_cast<double>(wide.stages[0].states.parameters - narrow.stages[0].states.parameters),
      saved, 1e-4 * saved);
  const ModelBlockTemplatePair pair = layer(job, 1);
  for (const OperatorTemplate* piece : {&pair.forward, &pair.backward}) {
    double elements = 0;
    for (const Operator& op : piece->operators) {
      if (op.kind != OperatorKind::kDequantize) continue;
      elements += static_cast<double>(op.shape.rows * op.shape.columns);
      EXPECT_NEAR(device_memory_traffic_bytes(op),
                  (2 + 0.51625) * static_cast<double>(op.shape.rows * op.shape.columns), 1);
    }
    EXPECT_EQ(elements, kFrozen);
  }
}

/// Gradients of adapters that each tensor rank holds whole (A on a product cut by columns, B on one
/// cut by rows) are partial and are summed at the end of the step.
TEST(LoraAdapters, UnderTensorParallelismSumWhatEachRankHoldsWhole) {
  const plan::Job job = adapted_job({});
  const plan::Plan plan = plan_of(job, 8, 1);
  std::int64_t whole = 0;
  for (const RankLocalParameter& parameter :
       local_layer_parameters(make_setting(job, plan), job.model.layer_class(1))) {
    EXPECT_EQ(parameter.frozen, parameter.name.find("lora") == std::string_view::npos);
    if (parameter.tensor_partial) whole += parameter.elements();
  }
  EXPECT_EQ(whole, static_cast<std::int64_t>(8 * (3 * kHidden + 2 * kHidden + 2 * kHidden)));
}

/// Projections into the latents are whole on every tensor rank, which has the same rows; only
/// adapters on divided weights need sums.
TEST(LoraAdapters, BesideWholeWeightsAreSummedByNobody) {
  plan::Job job = job_of("deepseek-v2-lite", 1, 64, 4096);
  adapt(job, 8);
  plan::Plan plan = plan_of(job, 8, 1);
  for (const bool shared : {false, true}) {
    plan.sequence_parallel = shared;
    for (const RankLocalParameter& parameter :
         local_layer_parameters(make_setting(job, plan), job.model.layer_class(1))) {
      if (parameter.name.starts_with("attention.kv_down_lora")) {
        EXPECT_EQ(parameter.tensor_partial, shared) << parameter.name;
      } else if (parameter.name == "attention.kv_up_lora_a") {
        EXPECT_TRUE(parameter.tensor_partial);
      } else if (parameter.name == "attention.kv_up_lora_b") {
        EXPECT_FALSE(parameter.tensor_partial);
      }
    }
  }
}

/// Gradients of experts' adapters that expert-tensor ranks hold whole are summed in one message at
/// the end of a step.
TEST(LoraAdapters, OfExpertsThatAreCutAreSummed) {
  plan::Job job = job_of("mixtral-8x7b", 2, 64, 4096);
  adapt(job, 8);
  plan::Plan plan;
  plan.parallel.data = 16;
  plan.parallel.expert = 4;
  plan.parallel.expert_tensor = 2;
  plan.sharding = *plan::sharding_named_by_word("NNN");
  const ModelBlockParameterCounts size =
      unit_size(make_setting(job, plan),
                local_layer_parameters(make_setting(job, plan), job.model.layer_class(0)));
  // A of gate and input, and B of the second product, of two experts.
  EXPECT_EQ(size.expert_partial, static_cast<std::int64_t>(2 * 8 * (2 * kHidden + kHidden)));
  const auto messages = partial_gradient_all_reduces(plan, {.expert_partial = size.expert_partial});
  const auto found =
      std::ranges::find(messages, plan::CommunicatorKind::kExpertTensor, &StepEndMessage::group);
  ASSERT_NE(found, messages.end());
  EXPECT_EQ(found->elements, size.expert_partial);
}

TEST(FrozenModelParts, LayersBelowTheLowestTrainedOneHaveNoBackward) {
  plan::Job job = job_of("llama-3-8b", 1, 64, 4096);
  job.model.frozen = {.embedding = true, .first = 0, .layers = 16};
  const ModelBlockTemplatePair below = layer(job, 3);
  EXPECT_TRUE(below.backward.operators.empty());
  EXPECT_TRUE(below.forward.saved.empty());
  EXPECT_TRUE(layer(job, 16).backward.outputs.empty());
  const plan::Job whole = job_of("llama-3-8b", 1, 64, 4096);
  EXPECT_EQ(layer(job, 17).backward.operators.size(), layer(whole, 17).backward.operators.size());
}

}  // namespace
}  // namespace stepwright::step

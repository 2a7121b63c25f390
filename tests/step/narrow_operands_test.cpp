#include "stepwright/step/narrow_operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "stepwright/step/layer.h"
#include "tests/step/adapters.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

constexpr std::int64_t kNarrowTokens = 4096;
constexpr std::int64_t kNarrowHidden = 4096;  // llama-3-8b
constexpr std::int64_t kMlpColumns = 14336;   // columns of its MLP

plan::Job narrow_job(DType precision) {
  plan::Job job = job_of("llama-3-8b", 1, 8, kNarrowTokens);
  job.precision = precision;
  job.kernels.transformer_engine = true;
  return job;
}

ModelBlockTemplatePair narrow_layer(const plan::Job& job, plan::RecomputeModuleSet modules = {},
                                    std::int64_t expert = 1) {
  plan::Plan plan = plan_of(job, 1, 1, 1);
  plan.parallel.expert = expert;
  return build_layer_templates(make_setting(job, plan), job.model.layer_class(0),
                               {.modules = modules});
}

std::int64_t bytes_kept(const ModelBlockTemplatePair& layer) {
  std::int64_t bytes = 0;
  for (const TensorId id : layer.forward.saved) {
    bytes += layer.forward.tensors[static_cast<std::size_t>(id)].bytes();
  }
  return bytes;
}

/// Returns how many bytes fewer a layer keeps in a precision than in bf16.
std::int64_t kept_less(DType precision) {
  return bytes_kept(narrow_layer(narrow_job(DType::kBf16))) -
         bytes_kept(narrow_layer(narrow_job(precision)));
}

// Inputs of the products of queries, keys and values and of the first of the MLP are rows of 4,096
// columns, that of the second rows of 14,336. The input of attention's last product is what its
// core keeps.
TEST(NarrowOperands, InputsAreKeptWithTheirScalesInPlaceOfSixteenBits) {
  for (const DType precision : {DType::kMxfp8, DType::kNvfp4}) {
    std::int64_t less = 0;
    for (const std::int64_t columns : {kNarrowHidden, kNarrowHidden, kMlpColumns}) {
      less += 2 * kNarrowTokens * columns - bytes_of_elements(precision, kNarrowTokens * columns);
    }
    EXPECT_EQ(kept_less(precision), less);
  }
}

// Scales that have a history ask for a copy of the core's result, too.
TEST(NarrowOperands, DelayedScalesKeepACopyOfWhatTheCoreKeeps) {
  EXPECT_EQ(kept_less(DType::kFp8),
            kNarrowTokens * (2 * kNarrowHidden + kMlpColumns) - kNarrowTokens * kNarrowHidden);
}

TEST(NarrowOperands, ProductsThatCastForEachUseKeepSixteenBits) {
  plan::Job job = narrow_job(DType::kFp8);
  job.kernels.casts = plan::LowPrecisionCastScaling::kRowwise;
  EXPECT_EQ(bytes_kept(narrow_layer(job)), bytes_kept(narrow_layer(narrow_job(DType::kBf16))));
}

TEST(NarrowOperands, AFrozenProductBesideAnAdapterKeepsSixteenBits) {
  plan::Job wide = narrow_job(DType::kBf16);
  adapt(wide, 16);
  plan::Job narrow = wide;
  narrow.precision = DType::kMxfp8;
  EXPECT_EQ(bytes_kept(narrow_layer(narrow)), bytes_kept(narrow_layer(wide)));
}

/// Counts how often a backward pass repeats each operator.
std::map<std::string, int> operators_again(const ModelBlockTemplatePair& layer) {
  std::map<std::string, int> count;
  for (const Operator& op : layer.backward.operators) {
    if (op.phase == Phase::kRecompute) ++count[std::string(op.name)];
  }
  return count;
}

// The second product of experts keeps no copy where its input is made again: no product runs again
// for it.
TEST(NarrowOperands, AnActivationThatRunsAgainGivesItsProductSixteenBits) {
  plan::Job job = job_of("qwen3-30b-a3b", 1, 8, kNarrowTokens);
  job.precision = DType::kMxfp8;
  const ModelBlockTemplatePair none = narrow_layer(job, {}, 8);
  const ModelBlockTemplatePair activation =
      narrow_layer(job, {plan::RecomputeModule::kMoeActivation}, 8);
  // Eight of 128 experts of 768 columns for each token.
  EXPECT_EQ(bytes_kept(none) - bytes_kept(activation),
            bytes_of_elements(DType::kMxfp8, kNarrowTokens * 8 * 768));
  EXPECT_THAT(operators_again(activation),
              ::testing::ElementsAre(::testing::Pair("activation", 1)));
}

/// Returns the number of weight elements that a forward pass multiplies in low precision.
std::int64_t narrow_elements(const OperatorTemplate& forward) {
  std::vector<bool> seen(forward.parameters.size());
  std::int64_t elements = 0;
  for (const Operator& op : forward.operators) {
    if (op.parameter < 0 || op.dtype == plan::parameter_storage_type(op.dtype)) continue;
    const auto place = static_cast<std::size_t>(op.parameter);
    if (!seen[place]) elements += forward.parameters[place].elements();
    seen[place] = true;
  }
  return elements;
}

// Recognised by the operators, without a list of names.
TEST(NarrowOperands, NarrowWeightsAreThoseThatNarrowProductsMultiply) {
  for (const std::string_view name :
       {"llama-3-8b", "qwen3-30b-a3b", "deepseek-v3", "mixtral-8x7b"}) {
    plan::Job job = job_of(name, 8, 64, kNarrowTokens);
    job.precision = DType::kMxfp8;
    plan::Plan plan = plan_of(job, 1, 1);
    const StepBuildSettings setting = make_setting(job, plan);
    for (std::int64_t layer = 0; layer < job.model.layers; ++layer) {
      const model::LayerClass kind = job.model.layer_class(layer);
      const ModelBlockParameterCounts size =
          unit_size(setting, local_layer_parameters(setting, kind));
      const ModelBlockTemplatePair pair = build_layer_templates(setting, kind, {});
      EXPECT_EQ(size.narrow_dense + size.narrow_expert, narrow_elements(pair.forward))
          << name << " layer " << layer;
    }
  }
}

/// Elements of the weights in a layer of llama-3-8b: queries, keys and values of 6,144 columns, the
/// output, gate, up and down.
constexpr std::int64_t kLayerWeights = kNarrowHidden * 6144 + kNarrowHidden * kNarrowHidden +
                                       std::int64_t{3} * kNarrowHidden * kMlpColumns;

RankModelStateBytes narrow_states(const plan::Job& job, std::string_view sharding = "NNN") {
  plan::Plan plan = plan_of(job, 1, 1);
  plan.sharding = *plan::sharding_named_by_word(sharding);
  return build_step_program(job, plan).stages.front().states;
}

TEST(NarrowOperands, WeightsStandInBothLayoutsBesideThoseOfSixteenBits) {
  const std::int64_t wide = narrow_states(narrow_job(DType::kBf16)).parameters;
  EXPECT_EQ(narrow_states(narrow_job(DType::kFp8)).parameters - wide, 2 * 32 * kLayerWeights);
  EXPECT_EQ(narrow_states(narrow_job(DType::kMxfp8)).parameters - wide,
            2 * 32 * kLayerWeights * 825 / 800);
  EXPECT_EQ(narrow_states(narrow_job(DType::kMxfp8)).copies, 2 * 32 * kLayerWeights * 825 / 800);
  plan::Job blackwell = narrow_job(DType::kFp8);
  blackwell.cluster = *cluster::built_in_cluster("dgx-b200", 1);
  EXPECT_EQ(narrow_states(blackwell).parameters - wide, 32 * kLayerWeights);
}

// Megatron-LM's own tests of parameters in fp8 hold 9.4 MB more on an H100 than on a GB200, which
// is a byte for each weight of their layers (data/launches_megatron_ci.csv).
TEST(NarrowOperands, NarrowParametersHaveNoOthersBesideThem) {
  const std::int64_t wide = narrow_states(narrow_job(DType::kBf16)).parameters;
  plan::Job hopper = narrow_job(DType::kFp8);
  hopper.kernels.narrow_parameters = true;
  EXPECT_EQ(narrow_states(hopper).parameters, wide);
  plan::Job blackwell = hopper;
  blackwell.cluster = *cluster::built_in_cluster("dgx-b200", 1);
  EXPECT_EQ(narrow_states(blackwell).parameters, wide - 32 * kLayerWeights);
}

TEST(NarrowOperands, OnlyTheCacheOfTransformerEngineOutlivesAGather) {
  plan::Job job = narrow_job(DType::kFp8);
  const std::int64_t shards = narrow_states(narrow_job(DType::kBf16), "GGG").parameters;
  EXPECT_EQ(narrow_states(job, "GGG").parameters - shards, 2 * 32 * kLayerWeights);
  job.kernels.transformer_engine = false;
  EXPECT_EQ(narrow_states(job, "GGG").parameters, shards);
}

// The gradient of a result exists in both layouts in addition to the tensors made from it.
TEST(NarrowOperands, GradientsOfResultsAreCastWhileTheyAreMultiplied) {
  const ModelBlockTemplatePair layer = narrow_layer(narrow_job(DType::kFp8));
  for (const Operator& op : layer.backward.operators) {
    if (op.kind != OperatorKind::kLinear || op.phase != Phase::kDataGradient) continue;
    const auto writes = layer.backward.writes(op);
    ASSERT_EQ(writes.size(), 2U) << op.name;
    EXPECT_EQ(layer.backward.tensors[static_cast<std::size_t>(writes[1])].bytes(),
              2 * kNarrowTokens * op.shape.columns)
        << op.name;
  }
}

}  // namespace
}  // namespace stepwright::step

// Layers of every kind: the FLOPs of their program equal the model's count.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/work.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

struct Variant {
  const char* name;
  const char* keys;  ///< Keys of the inline model besides its sizes.
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

plan::Job job_with(const Variant& variant) {
  plan::Job job = job_of("llama-2-7b", 1, 16, 512);
  const std::string text =
      std::string("model: {hidden: 64, heads: 8, ffn: 96, vocab: 128, ") + variant.keys + "}";
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "variant");
  job.model = model::read_job_model(document.root().get("model"), ".");
  return job;
}

/// Returns the FLOPs of the matrix products in one phase of a template.
double multiplied(const OperatorTemplate& piece, Phase phase) {
  double sum = 0;
  for (const Operator& op : piece.operators) {
    if (op.kind == OperatorKind::kLinear && op.phase == phase) sum += operator_flops(op);
  }
  return sum;
}

/// Returns the FLOPs of all matrices of a layer except those of routed experts, for one token.
/// `trunk`: without the indexer, which gets no gradient.
double matrix_flops(const model::ModelArchitecture& model, const model::LayerClass& layer,
                    bool trunk) {
  double sum = 0;
  for (const model::ModelParameter& parameter : model::layer_parameters(model, layer)) {
    if (parameter.vector || parameter.expert) continue;
    if (trunk && parameter.name.starts_with("attention.index")) continue;
    sum += 2.0 * static_cast<double>(parameter.rows * parameter.columns);
  }
  return sum;
}

void expect_reads_what_is_written(const OperatorTemplate& piece) {
  std::set<TensorId> written(piece.inputs.begin(), piece.inputs.end());
  written.insert(piece.restored.begin(), piece.restored.end());
  for (const Operator& op : piece.operators) {
    for (const TensorId id : piece.reads(op)) {
      EXPECT_TRUE(written.contains(id))
          << piece.name << ": " << layer_part_name(op.part) << " reads "
          << piece.tensors[static_cast<std::size_t>(id)].name;
    }
    for (const TensorId id : piece.writes(op)) written.insert(id);
  }
}

class LayerVariants : public testing::TestWithParam<Variant> {};

TEST_P(LayerVariants, MultiplyWhatTheModelCounts) {
  const plan::Job job = job_with(GetParam());
  const StepBuildSettings setting = make_setting(job, plan_of(job, 1, 1));
  const auto tokens = static_cast<double>(setting.tokens);
  for (const auto& [layer, count] : job.model.layer_counts_by_class()) {
    const ModelBlockTemplatePair pair = build_layer_templates(setting, layer, {});
    const double all = tokens * matrix_flops(job.model, layer, false);
    EXPECT_DOUBLE_EQ(multiplied(pair.forward, Phase::kForward), all);
    EXPECT_DOUBLE_EQ(multiplied(pair.backward, Phase::kWeightGradient), all);
    EXPECT_DOUBLE_EQ(multiplied(pair.backward, Phase::kDataGradient),
                     tokens * matrix_flops(job.model, layer, true));
  }
}

TEST_P(LayerVariants, AreWellFormedUnderAnyRecomputationAndTensorDegree) {
  const plan::Job job = job_with(GetParam());
  for (const std::int64_t tensor : {1, 2}) {
    const StepBuildSettings setting = make_setting(job, plan_of(job, tensor, 1));
    for (const auto& [layer, count] : job.model.layer_counts_by_class()) {
      for (const bool whole : {false, true}) {
        const ModelBlockTemplatePair pair = build_layer_templates(setting, layer, {.whole = whole});
        expect_reads_what_is_written(pair.forward);
        expect_reads_what_is_written(pair.backward);
        EXPECT_EQ(pair.forward.saved.size(), pair.backward.restored.size());
      }
    }
  }
}

constexpr Variant kVariants[] = {
    {"Llama", "layers: 1"},
    {"NormsOfTheirOwn",
     "layers: [{count: 1}, {count: 1, mixer: delta_net, norms: before}], norm_placement: after, "
     "state_mixer: {heads: 8, head_dim: 8, groups: 8, state: 16, normed: true}"},
    {"SelectionNormed",
     "layers: [{count: 1, mixer: mamba}], state_mixer: {heads: 64, state: 16, step_rank: 4, "
     "selection_normed: true}"},
    {"TwoMixers",
     "layers: [{count: 2, beside: mamba2}], state_mixer: {heads: 8, head_dim: 8, groups: 2, "
     "state: 16, normed: true}"},
    {"GatesWithBiases", "layers: 1, attention_gate: true, gate_bias: true"},
    {"TrainedActivation", "layers: 1, gated: false, activation: xielu"},
    {"Indexer",
     "layers: 1, latent: {query_rank: 24, kv_rank: 16, nope_head_dim: 8, rope_head_dim: 8, "
     "value_head_dim: 8, index_heads: 4, index_head_dim: 16, index_top_k: 64}"},
    {"ParallelExperts",
     "layers: 1, parallel_residual: true, shared_input_norm: true, experts: {count: 4, top_k: 2, "
     "ffn: 32, shared_ffn: 32}"},
};
INSTANTIATE_TEST_SUITE_P(Models, LayerVariants, testing::ValuesIn(kVariants),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(LayerVariants, AnIndexerLeavesAttentionItsChosenKeys) {
  const Variant variant = kVariants[6];
  const plan::Job job = job_with(variant);
  const ModelBlockTemplatePair pair =
      build_layer_templates(make_setting(job, plan_of(job, 1, 1)), {}, {});
  for (const Operator& op : pair.forward.operators) {
    if (op.kind != OperatorKind::kAttention) continue;
    const std::int64_t reach = op.part == LayerPart::kIndexScores ? 512 : 64;
    EXPECT_EQ(op.shape.pairs, reach * (reach + 1) / 2 + (512 - reach) * reach);
  }
  plan::Plan plan = plan_of(job, 1, 1, 2);
  EXPECT_TRUE(plan::find_plan_rejection(job, plan).has_value());
}

}  // namespace
/// Returns the shapes of the attention cores in a layer's forward pass under a ring over so many
/// context ranks.
std::vector<OperatorShape> ring_cores(const Variant& variant, std::int64_t context) {
  const plan::Job job = job_with(variant);
  const plan::Plan plan = plan_of(job, 1, 1, context);
  std::vector<OperatorShape> cores;
  for (const Operator& op :
       build_layer_templates(make_setting(job, plan), {}, {}).forward.operators) {
    if (op.kind == OperatorKind::kAttention) cores.push_back(op.shape);
  }
  return cores;
}

// By hand: four ranks with 128 of 512 tokens in two pieces of 64. A rank's own keys: 64 * 65 / 2
// for each piece and 64 * 64 of the later piece with the earlier: 8,256; visiting ones: 128 * 64.
TEST(Ring, MasksCutARanksOwnKeysAlone) {
  const std::vector<OperatorShape> cores = ring_cores(kVariants[0], 4);
  ASSERT_EQ(cores.size(), 4);
  EXPECT_EQ(cores[0].pairs, 8256);
  EXPECT_EQ(cores[0].keys, 128);
  for (std::size_t step = 1; step < cores.size(); ++step) {
    EXPECT_EQ(cores[step].keys, 64);
    EXPECT_EQ(cores[step].pairs, cores[step].queries * cores[step].keys);
  }
  EXPECT_EQ(4 * (8256 + 3 * 128 * 64), 512 * 513 / 2);
}

}  // namespace stepwright::step

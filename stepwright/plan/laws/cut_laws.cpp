#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {
namespace {

// --- Laws of tensor parallelism. ---

bool heads_cut(const Job& job, const Plan& plan) {
  return !splits_heads_evenly(job, plan.parallel.tensor);
}

/// Names the first number of heads that the tensor degree does not divide.
std::string heads_values(const Job& job, const Plan& plan) {
  struct HeadCount {
    std::int64_t count = 0;
    std::string_view name;
  };
  const model::ModelArchitecture& model = job.model;
  const std::int64_t tensor = plan.parallel.tensor;
  const bool gathers = job.kernels.gathered_heads && tensor % model.kv_heads == 0;
  std::vector<HeadCount> counts = {{model.heads, "heads"}};
  if (!model.latent && !gathers) counts.push_back({model.kv_heads, "kv_heads"});
  if (model.state_mixer) {
    counts.push_back({model.state_mixer->heads, "state_mixer.heads"});
    counts.push_back({model.state_mixer->groups, "state_mixer.groups"});
  }
  const auto uneven = std::ranges::find_if(
      counts, [&](const HeadCount& heads) { return heads.count % tensor != 0; });
  const HeadCount& named = uneven == counts.end() ? counts.back() : *uneven;
  return fmt::format("{} {} are not a multiple of tensor {}", named.count, named.name, tensor);
}

void repair_tensor(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kTensorKnob, legal_tensor_degrees(repairs.job()));
}

bool dense_ffn_cut(const model::ModelArchitecture& model, std::int64_t tensor) {
  if (model.ffn % tensor != 0 && model::has_default_ffn_layer(model)) return true;
  return std::ranges::any_of(model.pattern, [&](const model::LayerClass& layer) {
    return layer.ffn != 0 && layer.ffn % tensor != 0;
  });
}

bool ffn_cut(const Job& job, const Plan& plan) {
  const model::ModelArchitecture& model = job.model;
  const std::int64_t tensor = plan.parallel.tensor;
  return dense_ffn_cut(model, tensor) || (model.experts && model.experts->shared_ffn % tensor != 0);
}

std::string ffn_values(const Job& job, const Plan& plan) {
  const std::int64_t tensor = plan.parallel.tensor;
  const bool dense = dense_ffn_cut(job.model, tensor);
  return fmt::format("{} {} is not a multiple of tensor {}", dense ? "ffn" : "shared_ffn",
                     dense ? job.model.ffn : job.model.experts->shared_ffn, tensor);
}

bool sequence_without_tensor(const Job& /*job*/, const Plan& plan) {
  return plan.sequence_parallel && plan.parallel.tensor == 1;
}

std::string sequence_without_tensor_values(const Job& /*job*/, const Plan& /*plan*/) {
  return "sequence_parallel splits tokens over the tensor ranks, but tensor is 1";
}

void drop_sequence_parallel(NearestLegalPlanSearch& repairs) {
  Plan plan = repairs.plan();
  plan.sequence_parallel = false;
  repairs.propose_plans({plan});
}

// --- Laws of context parallelism. ---

bool length_cut(const Job& job, const Plan& plan) {
  const std::int64_t context = plan.parallel.context;
  return context > 1 &&
         (job.model.has_sparse_attention_indexer() || job.length % (2 * context) != 0);
}

std::string length_cut_values(const Job& job, const Plan& plan) {
  if (job.model.has_sparse_attention_indexer()) {
    return fmt::format("context {}: an indexer chooses among the keys of whole sequences",
                       plan.parallel.context);
  }
  return fmt::format("length {} is not a multiple of 2 x context {}", job.length,
                     plan.parallel.context);
}

void repair_context(NearestLegalPlanSearch& repairs) {
  repairs.propose_values(kContextKnob, legal_context_degrees(repairs.job()));
}

bool ulysses_heads_cut(const Job& job, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  const model::ModelArchitecture& model = job.model;
  if (context == 1) return false;
  if (model.state_mixer && model.state_mixer->heads / tensor % context != 0) return true;
  if (plan.context_kind != ContextKind::kUlysses) return false;
  return model.heads % (tensor * context) != 0 ||
         (!model.latent && model.kv_heads % (tensor * context) != 0);
}

std::string ulysses_values(const Job& job, const Plan& plan) {
  const std::optional<model::RecurrentMixer>& mixer = job.model.state_mixer;
  if (mixer && mixer->heads / plan.parallel.tensor % plan.parallel.context != 0) {
    return fmt::format("{} state_mixer.heads / tensor {} are not a multiple of context {}",
                       mixer->heads, plan.parallel.tensor, plan.parallel.context);
  }
  const model::ModelArchitecture& model = job.model;
  return fmt::format("{} {} / tensor {} are not a multiple of context {} (ulysses)",
                     model.latent ? model.heads : std::gcd(model.heads, model.kv_heads),
                     model.latent ? "heads" : "kv_heads", plan.parallel.tensor,
                     plan.parallel.context);
}

void repair_ulysses(NearestLegalPlanSearch& repairs) {
  repair_context(repairs);
  Plan plan = repairs.plan();
  plan.context_kind = ContextKind::kRing;
  repairs.propose_plans({plan});
}

// --- Laws of the sequence length. ---

bool tokens_cut(const Job& job, const Plan& plan) {
  const auto& [tensor, pipeline, context, expert, expert_tensor, data] = plan.parallel;
  return plan.sequence_parallel && job.length / context % tensor != 0;
}

std::string tokens_values(const Job& job, const Plan& plan) {
  return fmt::format("length {} / context {} is not a multiple of tensor {} (sequence_parallel)",
                     job.length, plan.parallel.context, plan.parallel.tensor);
}

void repair_tokens(NearestLegalPlanSearch& repairs) {
  drop_sequence_parallel(repairs);
  repair_tensor(repairs);
  repair_context(repairs);
}

std::int64_t positions_of(const Job& job) {
  return job.documents ? job.documents->needed_position_count(job.length) : job.length;
}

bool beyond_positions(const Job& job, const Plan& /*plan*/) {
  return job.model.position == model::PositionEncoding::kLearned &&
         positions_of(job) > job.model.longest_learned_sequence();
}

std::string beyond_positions_values(const Job& job, const Plan& /*plan*/) {
  return fmt::format("length {} is beyond the {} learned positions of {}", positions_of(job),
                     job.model.longest_learned_sequence(), job.model_name);
}

void shorten(NearestLegalPlanSearch& repairs) {
  const ParallelismDegrees& degrees = repairs.plan().parallel;
  const std::int64_t step = 2 * degrees.context * degrees.tensor;
  const std::int64_t length = repairs.job().model.longest_learned_sequence() / step * step;
  if (length > 0)
    repairs.set_job_change_advice(fmt::format("nearest legal: batch.length {}", length));
}

constexpr PlanRuleDefinition kCutLaws[] = {
    {PlanLegalityRule::kTensorDividesHeads, "heads-per-tensor",
     "tensor divides the heads and the key-value heads (or is a multiple of the latter where a "
     "framework gathers them)",
     heads_cut, heads_values, repair_tensor},
    {PlanLegalityRule::kTensorDividesFfn, "ffn-per-tensor",
     "tensor divides the width of the dense and of the shared MLPs", ffn_cut, ffn_values,
     repair_tensor},
    {PlanLegalityRule::kSequenceParallelNeedsTensor, "sequence-parallel-needs-tensor",
     "sequence parallelism needs tensor above 1", sequence_without_tensor,
     sequence_without_tensor_values, drop_sequence_parallel},
    {PlanLegalityRule::kContextDividesLength, "length-per-context",
     "2 x context divides the length, so that every rank gets an equal share of the causal half",
     length_cut, length_cut_values, repair_context},
    {PlanLegalityRule::kUlyssesDividesHeads, "heads-per-ulysses",
     "with Ulysses context divides the key-value heads of a tensor rank", ulysses_heads_cut,
     ulysses_values, repair_ulysses},
    {PlanLegalityRule::kLengthDividesTensor, "length-per-tensor",
     "with sequence parallelism tensor divides the tokens that a context rank has of a sequence",
     tokens_cut, tokens_values, repair_tokens},
    {PlanLegalityRule::kLengthWithinPositions, "length-within-positions",
     "the length is within the model's table of positions", beyond_positions,
     beyond_positions_values, shorten, /*of_job=*/true}};

}  // namespace

std::span<const PlanRuleDefinition> tensor_and_context_rules() { return kCutLaws; }

}  // namespace stepwright::plan

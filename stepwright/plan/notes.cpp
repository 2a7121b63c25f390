#include "stepwright/plan/notes.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/cluster/unlikely.h"
#include "stepwright/core/format.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/plan/state_types.h"

namespace stepwright::plan {
namespace {

void add_unlikely_limit(const Job& job, std::vector<std::string>& notes) {
  const double limit = job.objective.memory_limit_bytes;
  if (limit <= 0 || limit >= 1e8) return;
  notes.push_back(fmt::format(
      "objective.memory_limit is {:g} bytes, less than any device has. A number without a unit is "
      "in bytes: write `70 GiB` for that.",
      limit));
}

void add_groups_of_one(const Job& job, const Sharding& sharding, std::vector<std::string>& notes) {
  if (!sharding.uses(StateShardingScope::kInner)) return;
  if (sharding.group == 1) {
    notes.push_back(
        fmt::format("The sharding group is 1, so every rank stores unsharded what {} would split "
                    "inside groups{}.",
                    sharding_letters(sharding),
                    job.model.experts && sharding.expert_group > 1 ? ", but for experts" : ""));
  }
  if (job.model.experts && sharding.expert_group == 1) {
    notes.emplace_back(
        "The sharding's expert_group is 1, so every rank stores its experts' states unsharded.");
  }
}

/// Adds notes about packing settings that only first fit uses.
void add_unread_packing(const packing::Packing& packing, std::vector<std::string>& notes) {
  if (packing.kind == packing::PackingKind::kFirstFit) return;
  const auto add = [&](std::string_view key) {
    notes.push_back(fmt::format(
        "batch.packing.{} has no effect: only first-fit reads it, and the packing is {}.", key,
        name_of(packing::kPackingKindNames, packing.kind)));
  };
  if (packing.order != packing::PackingOrder{}) add("order");
  if (packing.group > 0) add("group");
}

void add_unread_muon(const Job& job, std::vector<std::string>& notes) {
  if (job.optimizer == Optimizer::kMuon || job.muon == MuonTensorSplit{}) return;
  notes.push_back(fmt::format(
      "The key muon has no effect: only the optimizer muon reads it, and the optimizer is {}.",
      name_of(kOptimizerNames, job.optimizer)));
}

std::string encoder_note(const model::ImageEncoder& encoder) {
  const std::int64_t parameters = encoder.parameters + encoder.projector;
  const std::string count =
      parameters > 0 ? fmt::format("{} parameters", format_count(parameters)) : "not counted";
  const std::string who =
      fmt::format("images' encoder ({}, {})", one_line_printable_text(encoder.name), count);
  if (!encoder.is_encoder_in_training_step()) {
    return fmt::format("The step contains only the language model: memory and time exclude its {}.",
                       who);
  }
  return fmt::format(
      "The {} runs together with the embedding, unsharded on every rank of the first stage, for "
      "{:.6g} {} of "
      "{} patches in each sequence{}.",
      who, encoder.images, encoder.images == 1 ? "image" : "images", format_count(encoder.patches),
      encoder.any_size ? " (images can have any size: state another with `batch.images`)" : "");
}

/// Adds a note about Megatron-Core's early gradient reduction (NVIDIA/Megatron-LM issue 1012,
/// megatron/core/pipeline_parallel/schedules.py of 0.16.1).
void add_early_reduction(const Job& job, const Plan& plan, std::vector<std::string>& notes) {
  const bool megatron = job.framework.name == "megatron-core" || job.framework.name == "nemo";
  const bool early = effective_overlap_flags(job, plan).defer_embedding_gradient &&
                     plan.overlap.gradients && reduces_gradients(job, plan.parallel);
  if (!megatron || !early) return;
  notes.emplace_back(
      "Megatron-Core starts to reduce the head's gradients before it has added the deferred ones "
      "(NVIDIA/Megatron-LM issue 1012, read in 0.16.1). Train with overlap.gradients false, or "
      "compare the head's gradients with those of a run that defers none.");
}

}  // namespace

std::string training_method_note(const Job& job) {
  const TrainingMethodKind kind = job.method.kind;
  if (kind == TrainingMethodKind::kPretrain || kind == TrainingMethodKind::kSft) return "";
  const OtherModelCounts others = other_models(job);
  return fmt::format(
      "The step is one update of {}{}: `stepwright phases` adds the time of the other phases "
      "(forwards of other models, generation).",
      name_of(kMethodNames, kind),
      others.updates > 0      ? "; the memory includes the critic"
      : others.parameters > 0 ? "; the memory includes the reference model"
                              : "");
}

std::vector<std::string> plan_notes(const PlannedJob& planned) {
  const auto& [job, plan] = planned;
  std::vector<std::string> notes = job.notes;
  for (std::string& note : cluster::implausible_cluster_notes(job.cluster))
    notes.push_back(std::move(note));
  add_unlikely_limit(job, notes);
  add_unread_muon(job, notes);
  if (job.documents) add_unread_packing(job.documents->packing, notes);
  if (job.model.multi_token_layers > 0 && !job.model.count_multi_token) {
    notes.emplace_back("Parameters and step exclude the model's multi-token prediction layers.");
  }
  const std::int64_t positions = vocabulary_table_pipeline_ranks(plan);
  const std::int64_t padded =
      model::padded_vocabulary(job.model.vocabulary, plan.parallel.tensor * positions);
  if (padded != job.model.vocabulary) {
    notes.push_back(
        fmt::format("The vocabulary is padded from {} to {} tokens, so that {} get equal parts.",
                    format_count(job.model.vocabulary), format_count(padded),
                    positions > 1 ? "the ranks that share it" : "tensor-parallel ranks"));
  }
  add_groups_of_one(job, plan.sharding, notes);
  if (job.model.encoder) notes.push_back(encoder_note(*job.model.encoder));
  if (!job.model.beyond.empty()) {
    notes.push_back(
        fmt::format("The prediction ignores: {}.", one_line_printable_text(job.model.beyond)));
  }
  add_early_reduction(job, plan, notes);
  if (job.model.experts && job.routing == Routing::kLearned) {
    notes.emplace_back(
        "A router sends tokens to experts: the bytes of these messages are means, which vary from "
        "step to step.");
  }
  return notes;
}

}  // namespace stepwright::plan

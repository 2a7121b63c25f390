#include "stepwright/framework_files/read_back.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/files/document_batch.h"

namespace stepwright::framework_files {
namespace {

std::string plain_batch(const plan::Job& job) {
  return fmt::format("{}x{}", job.sequences, job.length);
}

/// Returns the batch of a job, with document lengths but without packing.
std::string batch_text(const plan::Job& job) {
  if (!job.documents) return plain_batch(job);
  nlohmann::ordered_json batch = {{"sequences", job.sequences}, {"length", job.length}};
  plan::write_document_batch(batch, *job.documents);
  batch.erase("packing");
  return batch.dump();
}

plan::PlannedJob read_back(const LaunchTarget& target, const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  UserFacts given;
  given.known_cluster = job.cluster;
  given.batch = batch_text(job);
  const SourceFile file{fmt::format("the file for {}", target.word), target.write(planned, {})};
  PlanDraft draft;
  draft.framework = job.framework;
  // The file must state what is trained, like every other choice of the plan.
  model::ModelArchitecture whole = job.model;
  whole.adapters.reset();
  whole.frozen = {};
  given.known_model = whole;
  ImportReport report;
  draft = target.read({&file, 1}, given, std::move(draft), report);
  // A file that states no packing is read with the job's plain batch.
  if (!draft.batch.packing) given.batch = plain_batch(job);
  if (draft.model) given.known_model.reset();
  return finish(std::move(draft), report, given, file.name);
}

/// Returns the plan that is read back from the target's file; fails if the file cannot be read
/// back.
plan::PlannedJob sayable(const LaunchTarget& target, const plan::PlannedJob& planned) {
  try {
    return read_back(target, planned);
  } catch (const Error& error) {
    fail_unsupported(
        fmt::format("{}: its files cannot express this plan: {}", target.word, error.what()),
        error.place());
  }
}

/// True if the target's file can be read back for a plan.
bool can_say(const LaunchTarget& target, const plan::PlannedJob& planned) {
  try {
    sayable(target, planned);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns a plan with those choices of another plan that change no result, which a file need not
/// state.
plan::Plan with_soft_choices(plan::Plan plan, const plan::Plan& soft) {
  plan.overlap = soft.overlap;
  plan.gradient_bucket = soft.gradient_bucket;
  plan.parameter_bucket = soft.parameter_bucket;
  plan.collectives = soft.collectives;
  return plan;
}

/// Returns the properties of a job that were lost, such as "precision bf16 becomes fp32".
std::vector<std::string> lost_of_job(const plan::Job& from, const plan::Plan& plan,
                                     const plan::Job& to) {
  std::vector<std::string> lost = huggingface::differences_between_models(to.model, from.model);
  const auto compare = [&](std::string_view field, auto before, auto after) {
    if (before != after) lost.push_back(fmt::format("{} {} becomes {}", field, before, after));
  };
  compare("multi-token layers", from.model.extra_predicted_tokens(),
          to.model.extra_predicted_tokens());
  if (from.model.extra_predicted_tokens() > 0) {
    compare("model.multi_token_weight", from.model.multi_token_weight, to.model.multi_token_weight);
  }
  compare("dropout", from.model.dropout, to.model.dropout);
  const std::optional<model::LoraAdapters>& before = from.model.adapters;
  const std::optional<model::LoraAdapters>& after = to.model.adapters;
  if (before && after && before->joined != after->joined) {
    compare("adapters.joined", before->joined, after->joined);
  } else if (before != after) {
    lost.emplace_back(after ? "adapters become others"
                            : "adapters (all weights are trained there)");
  }
  if (from.model.frozen != to.model.frozen) {
    lost.emplace_back(to.model.frozen.any() ? "frozen parts become others"
                                            : "frozen parts (they are trained there)");
  }
  compare("precision", name_of(plan::kPrecisionNames, from.precision),
          name_of(plan::kPrecisionNames, to.precision));
  if (plan.parallel.expert * plan.parallel.expert_tensor > 1) {
    compare("dispatcher", name_of(plan::kDispatcherNames, from.dispatcher),
            name_of(plan::kDispatcherNames, to.dispatcher));
  }
  const auto plain = [](const plan::Job& job) {
    return job.optimizer == plan::Optimizer::kAdam || job.optimizer == plan::Optimizer::kAdamW;
  };
  if (!plain(from) || !plain(to)) {
    compare("optimizer", name_of(plan::kOptimizerNames, from.optimizer),
            name_of(plan::kOptimizerNames, to.optimizer));
  }
  compare("batch.sequences", from.sequences, to.sequences);
  compare("batch.length", from.length, to.length);
  return lost;
}

/// Adds notes on packing that differs in the file, or that the file does not state.
template <class Compare>
void note_packing(const packing::Packing& from, const std::optional<plan::PackedDocumentBatch>& to,
                  Compare compare, std::vector<std::string>& notes) {
  if (!to) {
    notes.push_back(
        fmt::format("The file does not state how documents are packed (here {}, padded to {}): set "
                    "this where the data are set.",
                    name_of(packing::kPackingKindNames, from.kind),
                    name_of(packing::kPaddingTargetNames, from.pad_to)));
    return;
  }
  const packing::Packing& there = to->packing;
  compare("batch.packing.kind", name_of(packing::kPackingKindNames, from.kind),
          name_of(packing::kPackingKindNames, there.kind));
  if (from.kind == packing::PackingKind::kFirstFit && there.kind == from.kind) {
    compare("batch.packing.order", name_of(packing::kPackingOrderNames, from.order),
            name_of(packing::kPackingOrderNames, there.order));
    compare("batch.packing.group", std::to_string(from.group), std::to_string(there.group));
  }
  compare("batch.packing.masks", from.masks ? "true" : "false", there.masks ? "true" : "false");
  compare("batch.packing.pad_to", name_of(packing::kPaddingTargetNames, from.pad_to),
          name_of(packing::kPaddingTargetNames, there.pad_to));
  compare("batch.packing.too_long", name_of(packing::kLongDocumentPolicyNames, from.too_long),
          name_of(packing::kLongDocumentPolicyNames, there.too_long));
}

/// Adds notes on job properties that differ in the file. Returns true if the step time does not
/// change: Adam and AdamW take the same, and a file can leave packing to the data.
bool note_job(const plan::Job& from, const plan::Job& to, std::vector<std::string>& notes) {
  bool alike = true;
  const auto compare = [&](std::string_view field, std::string_view before,
                           std::string_view after) {
    if (before == after) return;
    alike = alike && field == "optimizer";
    notes.push_back(
        fmt::format("`{0}` is {1} in the framework and {2} in the plan: `stepwright predict PLAN "
                    "--set {0}={1}` predicts a step of the framework.",
                    field, after, before));
  };
  compare("optimizer", name_of(plan::kOptimizerNames, from.optimizer),
          name_of(plan::kOptimizerNames, to.optimizer));
  if (from.optimizer == plan::Optimizer::kMuon) {
    compare("muon", name_of(plan::kMuonFormNames, from.muon),
            name_of(plan::kMuonFormNames, to.muon));
  }
  if (from.documents) note_packing(from.documents->packing, to.documents, compare, notes);
  compare("kernels.masters", name_of(plan::kMasterWeightsNames, from.kernels.masters),
          name_of(plan::kMasterWeightsNames, to.kernels.masters));
  compare("kernels.attention", name_of(cluster::kAttentionKernelNames, from.kernels.attention),
          name_of(cluster::kAttentionKernelNames, to.kernels.attention));
  return alike;
}

}  // namespace

bool write_and_read_back_plan(const LaunchTarget& target, plan::PlannedJob& planned, bool nearest,
                              std::vector<std::string>& notes) {
  plan::PlannedJob back = sayable(target, planned);
  const std::vector<std::string> lost = lost_of_job(planned.job, planned.plan, back.job);
  if (!lost.empty()) {
    fail_unsupported(
        fmt::format("{}: its files cannot express: {}", target.word, fmt::join(lost, "; ")));
  }
  const plan::Plan held =
      plan::canonical_plan(with_soft_choices(back.plan, planned.plan), planned.job);
  if (held != planned.plan) {
    const std::string what = plan::differing_choices_text(planned.plan, held);
    if (!nearest) {
      if (!can_say(target, {planned.job, held})) {
        fail_unsupported(
            fmt::format("{}: its files can express neither this plan nor the nearest, which has {}",
                        target.word, what));
      }
      fail_unsupported(fmt::format("{}: its files cannot express this plan; the nearest has {}",
                                   target.word, what));
    }
    notes.push_back(
        fmt::format("The nearest plan that its files can express was written; it has {}.", what));
    planned.plan = held;
    back = sayable(target, planned);
  }
  if (back.plan != planned.plan) {
    notes.push_back(fmt::format("The framework then runs a plan with {}.",
                                plan::differing_choices_text(planned.plan, back.plan)));
  }
  const bool alike = note_job(planned.job, back.job, notes);
  planned.job.muon = back.job.muon;
  planned.job.kernels.masters = back.job.kernels.masters;
  return alike && back.plan == planned.plan;
}

}  // namespace stepwright::framework_files

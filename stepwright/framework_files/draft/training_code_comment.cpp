#include "stepwright/framework_files/draft/training_code_comment.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/plan/files/read_adapters.h"

namespace stepwright::framework_files {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = "# stepwright: ";

}  // namespace

plan::Optimizer optimizer_to_export(const plan::Job& job) {
  return job.optimizer == plan::Optimizer::kAdam ? plan::Optimizer::kAdamW : job.optimizer;
}

std::string training_code_settings_comment(const plan::PlannedJob& planned, bool recomputes) {
  const plan::Job& job = planned.job;
  const std::string form = job.optimizer == plan::Optimizer::kMuon
                               ? fmt::format(", muon: {}", name_of(plan::kMuonFormNames, job.muon))
                               : "";
  Json rest = Json::object();
  if (recomputes) rest[kGradientCheckpointingKey] = true;
  if (planned.plan.offload.offloads_layer_inputs()) rest[kActivationOffloadingKey] = true;
  plan::write_adapters_and_frozen_parts(rest, job);
  std::string parts;
  for (const auto& [key, value] : rest.items()) {
    parts += fmt::format(", {}: {}", key, value.dump());
  }
  return fmt::format(
      "# the training code does the rest:\n"
      "{}{{model: {}, micro_batch: {}, micro_batches: {}, sequences: {}, length: {}, "
      "optimizer: {}{}{}}}\n",
      kMark, exported_model_folder(job), planned.plan.micro_batch,
      plan::micro_batches_per_pipeline(job, planned.plan), job.sequences, job.length,
      name_of(plan::kOptimizerNames, optimizer_to_export(job)), form, parts);
}

PlanDraft read_training_code_comment(const SourceFile& file, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report) {
  const std::size_t at = file.text.find(kMark);
  if (at == std::string::npos) {
    report.add_assumption("micro_batch", "the file leaves it to the training code");
    return draft;
  }
  const std::size_t begin = at + kMark.size();
  const std::string line = file.text.substr(begin, file.text.find('\n', begin) - begin);
  const YamlJsonDocument document =
      YamlJsonDocument::parse("code: " + line, file.name + " (what the training code does)");
  const DocumentNode node = document.root().get("code");
  node.allow_only_keys({"model", "micro_batch", "micro_batches", "sequences", "length", "optimizer",
                        "muon", kGradientCheckpointingKey, kActivationOffloadingKey, "adapters",
                        "frozen"});
  const FrameworkSettingsReader fields(node);
  if (const auto model = node.find("model"))
    set_built_in_model(model->text(), given, draft, report);
  draft.plan.micro_batch = fields.integer("micro_batch", 1);
  draft.batch.micro_batches = fields.size("micro_batches");
  draft.batch.sequences = fields.size("sequences");
  draft.batch.length = fields.size("length");
  draft.optimizer = fields.choice("optimizer", plan::kOptimizerNames, plan::Optimizer::kAdamW);
  draft.muon = fields.choice("muon", plan::kMuonFormNames, draft.muon);
  if (fields.flag(kGradientCheckpointingKey, false))
    draft.plan.recompute.kind = plan::RecomputeKind::kFull;
  if (fields.flag(kActivationOffloadingKey, false)) draft.plan.offload.move_inputs();
  draft.trained =
      YamlJsonDocument::from_tree(node.copy_tree_with_file_positions(), document.document_name());
  return draft;
}

}  // namespace stepwright::framework_files

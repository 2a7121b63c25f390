#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/training_code_comment.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/huggingface/config_writer.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/choices/read_choices.h"

namespace stepwright::framework_files {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlaceOfPlan = "PLAN = json.loads(\"{}\")";
constexpr std::string_view kBeforePlan = "PLAN = json.loads(r\"\"\"\n";
constexpr std::string_view kBehindPlan = "\n\"\"\")";

Json plan_of(const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  const plan::Sharding& sharding = plan.sharding;
  const std::int64_t data = plan.parallel.data;
  const std::int64_t copies = sharding.uses(plan::StateShardingScope::kInner)
                                  ? data / sharding.group
                              : sharding.gradients == plan::StateShardingScope::kNone &&
                                      sharding.parameters == plan::StateShardingScope::kNone
                                  ? data
                                  : 1;
  return {{"model",
           huggingface::huggingface_config_json(
               planned.job.model, huggingface::huggingface_family_of_model(planned.job.model))},
          {"nodes", planned.job.cluster.nodes},
          {"sequences", planned.job.sequences},
          {"length", planned.job.length},
          {"precision", name_of(plan::kPrecisionNames, planned.job.precision)},
          {"optimizer", name_of(plan::kOptimizerNames, optimizer_to_export(planned.job))},
          {"tensor", plan.parallel.tensor},
          {"replicas", copies},
          {"shards", data / copies},
          {"distributed", data > 1},
          {"states", plan::sharding_letters(sharding)},
          {"host", needs_fsdp_cpu_offload(plan)},
          {"micro_batch", plan.micro_batch},
          {"recompute", plan.recompute.kind == plan::RecomputeKind::kEvery
                            ? Json{{"every", plan.recompute.every}}
                            : Json(name_of(plan::kRecomputeNames, plan.recompute.kind))},
          {"accumulate", name_of(kDTypeNames, plan.accumulate)},
          {"gradient_bucket", plan.gradient_bucket}};
}

}  // namespace

std::string write_fsdp(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  std::string text(embedded_file_text("fsdp/fsdp"));
  const std::string plan =
      fmt::format("{}{}{}", kBeforePlan, plan_of(planned).dump(2), kBehindPlan);
  text.replace(text.find(kPlaceOfPlan), kPlaceOfPlan.size(), plan);
  return shell_comment_lines(header) + text;
}

PlanDraft read_fsdp(Sources files, const UserFacts& given, PlanDraft draft, ImportReport& report) {
  if (files.size() != 1) fail_input("fsdp: one file is read at a time");
  const auto& [name, text] = files.front();
  const std::size_t begin = text.find(kBeforePlan);
  const std::size_t end = text.find(kBehindPlan, begin);
  if (begin == std::string::npos || end == std::string::npos) {
    fail_input(fmt::format("{}: is not a program that export --to fsdp has written", name));
  }
  const std::size_t first = begin + kBeforePlan.size();
  const YamlJsonDocument document = YamlJsonDocument::parse(text.substr(first, end - first), name);
  const FrameworkSettingsReader fields(document.root());
  const YamlJsonDocument config = YamlJsonDocument::from_tree(
      fields.nested_settings("model").node().copy_tree(), name + " (model)");
  draft.model = model::read_huggingface_config(config, &report.notes);
  plan::Plan& plan = draft.plan;
  plan.parallel.tensor = fields.integer("tensor", 1);
  draft.extent.ranks =
      plan.parallel.tensor * fields.integer("replicas", 1) * fields.integer("shards", 1);
  draft.extent.nodes = fields.size("nodes");
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, name);
  draft.batch.sequences = fields.size("sequences");
  draft.batch.length = fields.size("length");
  draft.precision = fields.choice("precision", plan::kPrecisionNames, DType::kBf16);
  draft.optimizer = fields.choice("optimizer", plan::kOptimizerNames, plan::Optimizer::kAdamW);
  plan.micro_batch = fields.integer("micro_batch", 1);
  plan::Notes notes;
  plan.sharding = plan::read_state_sharding(document.root().get("states"),
                                            {plan::PlanFileVersion::kTwo, notes});
  if (plan.sharding.uses(plan::StateShardingScope::kInner))
    plan.sharding.group = fields.integer("shards", 1);
  if (fields.flag("host", false))
    set_fsdp_host_offload(make_unread_setting(*fields.find("host")), draft, report);
  plan.recompute = plan::read_recompute(document.root().get("recompute"));
  plan.accumulate = document.root().get("accumulate").choice(plan::kAccumulateNames);
  draft.framework_overlap = true;
  const bool copied = plan.sharding.gradients == plan::StateShardingScope::kNone &&
                      plan.sharding.parameters == plan::StateShardingScope::kNone;
  if (copied) plan.gradient_bucket = fields.integer("gradient_bucket", plan.gradient_bucket);
  return draft;
}

}  // namespace stepwright::framework_files

#include "stepwright/explore/question.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/named.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/free_kernels.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

constexpr Named<ErrorKind> kErrorKindNames[] = {{ErrorKind::kInput, "input"},
                                                {ErrorKind::kUnsupported, "unsupported"},
                                                {ErrorKind::kRuntime, "runtime"}};

plan::PlannedJob begin(const plan::Job& given) {
  plan::PlannedJob first{.job = tune::with_fastest_attention_kernel(given), .plan = {}};
  if (const auto rule = tune::rule_of_thumb_plan(first.job, cost::CostModel(first.job),
                                                 simulate::plan_memory_limit(first.job))) {
    first.plan = rule->plan;
    return first;
  }
  first.plan.parallel.data = first.job.cluster.devices();
  first.plan.sharding = *plan::sharding_named_by_word("zero3");
  first.plan.recompute.kind = plan::RecomputeKind::kFull;
  return first;
}

/// Describes the differences of two plans, and the number of nodes if it differs.
std::string changes_between(const plan::PlannedJob& from, const plan::PlannedJob& to) {
  const std::string changes = plan::differing_choices_text(from.plan, to.plan);
  if (from.job.cluster.nodes == to.job.cluster.nodes) return changes;
  const std::string nodes = count_with_noun(to.job.cluster.nodes, "node");
  return changes.empty() ? nodes : fmt::format("{}, {}", nodes, changes);
}

}  // namespace

plan::PlannedJob plan_of_explorer_question(const Json& question) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(question.at("text").get<std::string>(), question.at("name"));
  if (plan::is_stepwright_file_of_kind(document, "job")) return begin(plan::read_job(document, {}));
  return plan::read_plan(document, {});
}

Json described_plan_json(const plan::PlannedJob& planned) {
  return {{"code", plan::short_plan_code(planned.plan)},
          {"words", plan::plan_description(planned.plan, planned.job)},
          {"plan", plan::plan_json(planned)}};
}

Json explorer_alternative_plan_json(const plan::PlannedJob& offered,
                                    const plan::PlannedJob& instead_of) {
  Json json = described_plan_json(offered);
  json["changes"] = changes_between(instead_of, offered);
  return json;
}

Json explorer_error_json(const std::exception& failure) {
  Json json = {{"error", failure.what()}};
  if (const auto* error = dynamic_cast<const Error*>(&failure)) {
    const InputErrorPlace& place = error->place();
    json["kind"] = name_of(kErrorKindNames, error->kind());
    json["place"] = {{"file", place.file},
                     {"line", place.line},
                     {"column", place.column},
                     {"field", place.field},
                     {"value", place.value}};
  }
  return json;
}

}  // namespace stepwright::explore

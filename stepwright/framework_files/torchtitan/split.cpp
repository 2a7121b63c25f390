#include "stepwright/framework_files/torchtitan/split.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::framework_files {
namespace {

std::int64_t layers_of_part(DocumentNode part, bool end) {
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part.at(i).text().starts_with("layers.")) ++layers;
  }
  if (layers == 0 && !end) {
    part.fail_unsupported("a part without layers, embedding and output: nothing covers it yet");
  }
  return layers;
}

void read_parts(DocumentNode parts, plan::Plan& plan) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool end = i == 0 || i + 1 == parts.size();
    plan.layers.push_back(layers_of_part(parts.at(i), end));
  }
  const std::int64_t count = std::ssize(plan.layers);
  if (count % plan.parallel.pipeline != 0) {
    parts.fail(
        fmt::format("{} parts are not a multiple of pipeline {}", count, plan.parallel.pipeline));
  }
  plan.schedule.chunks = count / plan.parallel.pipeline;
}

/// Splits layers with embedding and output counted as layers of the first and the last stage.
void split_by_weight(const FrameworkSettingsReader& fields, std::int64_t layers, plan::Plan& plan) {
  const std::int64_t first = fields.integer("pipeline_parallel_first_stage_less_layers", 1, 0);
  const std::int64_t last = fields.integer("pipeline_parallel_last_stage_less_layers", 1, 0);
  const std::int64_t weight = std::min(layers + first + last, kMaxIntegerSetting);
  const auto each = fields.size("pipeline_parallel_layers_per_stage");
  const std::int64_t pipeline = plan.parallel.pipeline;
  std::int64_t parts = pipeline * plan.schedule.chunks;
  if (each) {
    parts = (weight + *each - 1) / *each;
    const bool one = plan.schedule.chunks == 1;
    if (parts % pipeline != 0 || (one != (parts == pipeline))) {
      fields.find("pipeline_parallel_layers_per_stage")
          ->fail(fmt::format("makes {} stages on {} ranks of a pipeline", parts, pipeline));
    }
    plan.schedule.chunks = parts / pipeline;
  }
  const std::int64_t share = weight / parts;
  if (share < std::max({first, last, std::int64_t{1}})) {
    fields.node().fail(fmt::format("{} layers are too few for {} stages", layers, parts));
  }
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t whole = share + (i < weight % parts ? 1 : 0);
    plan.layers.push_back(whole - (i == 0 ? first : i + 1 == parts ? last : 0));
  }
}

}  // namespace

void read_titan_schedule(const FrameworkSettingsReader& fields, std::int64_t layers,
                         plan::Plan& plan, ImportReport& report) {
  if (plan.parallel.pipeline == 1) return;
  const auto named = fields.find("pipeline_parallel_schedule");
  const auto foreign = [&](std::string_view word) { return named && named->text() == word; };
  if (std::ranges::any_of(kTorchtitanUnsupportedSchedules, foreign)) {
    named->fail_unsupported("no plan has this schedule");
  }
  plan.schedule.kind = fields.choice("pipeline_parallel_schedule", kTitanSchedules,
                                     schedule::PipelineScheduleKind::kOneForwardOneBackward);
  plan.schedule.chunks = schedule::model_chunk_counts_to_try(plan.schedule.kind, {2}).front();
  const auto parts = fields.find("module_fqns_per_model_part");
  if (parts && parts->size() > 0) {
    read_parts(*parts, plan);
  } else if (layers > 0) {
    split_by_weight(fields, layers, plan);
    report.add_assumption("layers",
                          "as torchtitan splits them: embedding and output count as layers");
  }
}

}  // namespace stepwright::framework_files

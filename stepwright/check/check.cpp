#include "stepwright/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/format.h"
#include "stepwright/plan/grid.h"

namespace stepwright {
namespace {

FullestStage fullest_stage(const Prediction& prediction) {
  const auto& stages = prediction.memory.stages;
  const auto most = std::ranges::max_element(stages, {}, &StageMemory::peak_bytes);
  const std::int64_t stage = most - stages.begin();
  const Grid grid(prediction.planned.plan);
  std::int64_t rank = 0;
  while (rank + 1 < grid.ranks() && grid.coordinates(rank).pipeline != stage) ++rank;
  return {.stage = stage, .first_rank = rank};
}

/// Nothing where the plan is as good as the best, or no plan fits.
Against way_to_best(const PlannedJob& planned, const TuneOptions& options) {
  Job job = planned.job;
  job.use_all = true;
  const TuneResult result = tune(job, options);
  std::optional<AttentionKernel> own;
  if (!job.attention_stated) own = planned.job.kernels.attention;
  return against(result, planned.plan, options, own);
}

}  // namespace

double JobCheck::gain() const {
  if (!better) return 0;
  double saved = 0;
  for (const Change& change : better->changes) saved += change.gain_s;
  return std::max(0.0, saved / better->own.step_time_s);
}

JobCheck check_job(ImportedPlan imported, const TuneOptions& options) {
  JobCheck check{.imported = std::move(imported), .prediction = {}, .fullest = {}, .better = {}};
  if (!check.starts()) return check;
  check.prediction = predict(check.imported.planned);
  check.fullest = fullest_stage(*check.prediction);
  check.better = way_to_best(check.prediction->planned, options);
  return check;
}

std::string fault_of(const JobCheck& check, std::optional<double> most_gain) {
  if (!check.starts()) {
    return fmt::format("does not start: {}", check.imported.refused->message);
  }
  const MemoryReport& memory = check.prediction->memory;
  if (!check.fits()) {
    return fmt::format(
        "does not fit: stage {} (rank {}) needs {} of {} ({} kept free), {} too much; it fits with "
        "a probability of {}",
        check.fullest.stage, check.fullest.first_rank, format_bytes(memory.peak_bytes),
        format_bytes(memory.capacity_bytes), format_bytes(memory.reserve_bytes),
        format_bytes(memory.over_by_bytes()), format_percent(memory.p_fits));
  }
  if (most_gain && check.gain() >= *most_gain) {
    return fmt::format("leaves {} of a step on the table, {} or more are too much",
                       format_percent(check.gain()), format_percent(*most_gain));
  }
  return "";
}

}  // namespace stepwright

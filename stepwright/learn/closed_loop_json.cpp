#include <nlohmann/json.hpp>

#include "stepwright/learn/closed_loop.h"
#include "stepwright/plan/files.h"

namespace stepwright::learn {
namespace {

using LoopJson = nlohmann::ordered_json;

LoopJson plan_entry(const PlanWithExpectedTime& one) {
  LoopJson entry;
  if (one.id.empty()) {
    entry["plan"] = plan::plan_json(one.planned);
  } else {
    entry["id"] = one.id;
  }
  entry["expected_step_s"] = one.expected_s;
  entry["low_s"] = one.low_s;
  entry["high_s"] = one.high_s;
  entry["p_fits"] = one.p_fits;
  return entry;
}

LoopJson skipped_list(const std::vector<SkippedRunRow>& skipped) {
  LoopJson list = LoopJson::array();
  for (const SkippedRunRow& run : skipped) {
    list.push_back({{"line", run.line}, {"reason", run.reason}});
  }
  return list;
}

LoopJson learned_list(const std::vector<LearnedConstant>& learned) {
  LoopJson list = LoopJson::array();
  for (const LearnedConstant& one : learned) {
    list.push_back({{"key", one.before.key},
                    {"of", one.before.of},
                    {"before", one.before.value},
                    {"now", one.now.value}});
  }
  return list;
}

LoopJson runs_list(const std::vector<RunWithPrediction>& runs) {
  LoopJson list = LoopJson::array();
  for (const RunWithPrediction& run : runs) {
    list.push_back({{"line", run.line},
                    {"id", run.id},
                    {"measured_s", run.measured_s},
                    {"before_s", run.before_s},
                    {"now_s", run.now_s}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json measured_runs_verdict_json(const MeasuredRunsVerdict& loop) {
  LoopJson best = nullptr;
  if (loop.best) {
    best = plan_entry(*loop.best);
    best["ran"] = loop.best->ran;
  }
  LoopJson next = LoopJson::array();
  for (const PlanWithExpectedTime& one : loop.next) {
    next.push_back(plan_entry(one));
    next.back()["gain"] = one.gain;
  }
  return {{"best", best},
          {"next", next},
          {"stop", loop.stop},
          {"runs",
           {{"measured", loop.measured},
            {"out_of_memory", loop.out_of_memory},
            {"failed", loop.failed}}},
          {"predictions", runs_list(loop.runs)},
          {"learned", learned_list(loop.learned)},
          {"contrary", learned_list(loop.contrary)},
          {"skipped", skipped_list(loop.skipped)},
          {"skipped_candidates", skipped_list(loop.skipped_candidates)}};
}

}  // namespace stepwright::learn

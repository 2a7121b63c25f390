#include "stepwright/report/memory_curves.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;
using Kinds = std::array<double, memory::kMemoryKinds>;

/// Returns begin and end of the computation of each schedule slot, by stage.
std::vector<std::vector<std::pair<double, double>>> slot_times(
    const simulate::PlanPrediction& prediction) {
  const step::StepProgram& program = prediction.program;
  std::vector<std::vector<std::pair<double, double>>> times;
  for (const step::PipelineStageProgram& stage : program.stages) {
    times.emplace_back(stage.schedule.size(), std::pair{prediction.step_time_s(), 0.0});
  }
  for (const simulate::TimelineEvent& event : prediction.simulation.events) {
    if (program.templates[event.which].operators[event.operation].stream !=
        step::DeviceStream::kCompute) {
      continue;
    }
    auto& [start_s, end_s] = times[event.stage][event.slot];
    start_s = std::min(start_s, event.start_s);
    end_s = std::max(end_s, event.end_s);
  }
  return times;
}

/// Stores different memory states, each once; there are few, because a schedule repeats itself.
class Fillings {
 public:
  std::size_t number(const Kinds& kinds) {
    const auto [found, fresh] = numbers_.try_emplace(kinds, list_.size());
    if (fresh) {
      Json bytes = Json::array();
      for (const double kind : kinds) bytes.push_back(static_cast<std::int64_t>(kind));
      list_.push_back(std::move(bytes));
    }
    return found->second;
  }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  std::map<Kinds, std::size_t> numbers_;
  Json list_ = Json::array();
};

}  // namespace

Json memory_curves_json(const simulate::PlanPrediction& prediction) {
  const auto times = slot_times(prediction);
  const auto moments = memory::slot_memory_by_stage(prediction.planned.job, prediction.program);
  Json kinds = Json::array();
  for (const auto& kind : memory::kMemoryKindNames) kinds.push_back(kind.name);
  Json stages = Json::array();
  for (std::size_t stage = 0; stage < moments.size(); ++stage) {
    Fillings fillings;
    Json curve = Json::array();
    for (std::size_t slot = 0; slot < moments[stage].size(); ++slot) {
      const auto& [start_s, end_s] = times[stage][slot];
      if (end_s <= start_s) continue;
      curve.push_back({start_s, fillings.number(moments[stage][slot].during.kinds)});
      curve.push_back({end_s, fillings.number(moments[stage][slot].after.kinds)});
    }
    stages.push_back({{"stage", stage}, {"fillings", fillings.list()}, {"curve", curve}});
  }
  return {{"kinds", kinds}, {"stages", stages}};
}

}  // namespace stepwright::report

#include "stepwright/report/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "stepwright/core/named.h"
#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

/// With more bars than this, communication is shown for the critical stage only, and only in the
/// detailed part.
constexpr std::size_t kMostBars = 20'000;
constexpr std::size_t kMostOperators = 6'000;
/// The most ticks of a timeline: fine enough for a thousandfold zoom, with few digits.
constexpr double kMostTicks = 1e7;
constexpr std::string_view kLinkLanes[cost::kLinkClasses] = {"", "link inside a node",
                                                             "link of the network"};
constexpr std::string_view kPair = "forward beside backward";
/// Kind of bars for passes over the vocabulary, which stages share.
constexpr std::string_view kVocabulary = "vocabulary";
constexpr std::string_view kHostWork = "host";

/// Writes times as whole multiples of a power of ten.
class Ticks {
 public:
  explicit Ticks(double longest_s)
      : unit_s_(std::pow(10, std::ceil(std::log10(std::max(longest_s, 1e-9) / kMostTicks)))) {}
  [[nodiscard]] double unit_s() const { return unit_s_; }
  [[nodiscard]] std::int64_t of(double time_s) const { return std::llround(time_s / unit_s_); }

 private:
  double unit_s_;
};

/// Gives names consecutive numbers in the order of their first use.
class Names {
 public:
  std::size_t number(std::string name) {
    const auto [found, fresh] = numbers_.try_emplace(std::move(name), names_.size());
    if (fresh) names_.push_back(found->first);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
};

/// A row of the timeline; the streams of a stage come first, then its link classes.
struct Lane {
  std::int32_t stage = 0;
  int place = 0;
  auto operator<=>(const Lane&) const = default;

  [[nodiscard]] bool is_compute() const {
    return place == static_cast<int>(step::DeviceStream::kCompute);
  }
  [[nodiscard]] std::string_view name() const {
    if (place < step::kStreams)
      return name_of(step::kStreamNames, static_cast<step::DeviceStream>(place));
    return kLinkLanes[place - step::kStreams];
  }
};

/// A part of a row without a visible gap.
struct Bar {
  std::int32_t slot = 0;
  std::string_view kind;
  double start_s = 0;
  double end_s = 0;
  /// Seconds of the operators in it; on a computation row, of computing ones only.
  double busy_s = 0;
};

class Timeline {
 public:
  explicit Timeline(const simulate::PlanPrediction& prediction)
      : program_(prediction.program),
        simulation_(prediction.simulation),
        prices_(simulate::price_operators(
            program_, cost::CostModel(prediction.planned.job),
            cost::rank_group_network_layouts(prediction.planned.job.cluster,
                                             plan::RankGrid(prediction.planned.plan)),
            prediction.planned.plan.collectives)) {}

  Json overview() {
    std::map<Lane, std::vector<Bar>> rows;
    for (const simulate::TimelineEvent& event : simulation_.events) {
      if (event.end_s <= event.start_s) continue;
      for (const Lane& lane : lanes_of(event)) add(rows[lane], lane, event);
    }
    std::size_t bars = 0;
    for (const auto& [lane, row] : rows) bars += row.size();
    if (bars > kMostBars) {
      std::erase_if(rows, [&](const auto& row) {
        return !row.first.is_compute() && row.first.stage != simulation_.critical_stage;
      });
    }
    const Ticks ticks(simulation_.step_time_s);
    Names kinds;
    Json list = Json::array();
    for (const auto& [lane, row] : rows) list.push_back(row_json(lane, row, ticks, kinds));
    return {{"step_time_s", simulation_.step_time_s},
            {"unit_s", ticks.unit_s()},
            {"critical_stage", simulation_.critical_stage},
            {"kinds", kinds.list()},
            {"rows", list}};
  }

  Json detail() {
    const auto [from_s, to_s] = window();
    std::vector<const simulate::TimelineEvent*> events;
    for (const simulate::TimelineEvent& event : simulation_.events) {
      if (event.end_s > from_s && event.start_s < to_s && event.end_s > event.start_s) {
        events.push_back(&event);
      }
    }
    const auto elsewhere = [&](const simulate::TimelineEvent* event) {
      return event->stage != simulation_.critical_stage;
    };
    if (events.size() > kMostOperators) std::erase_if(events, elsewhere);
    const Ticks ticks(to_s - from_s);
    Names names;
    std::map<Lane, Json> rows;
    for (const simulate::TimelineEvent* event : events) {
      const double start_s = std::max(event->start_s, from_s);
      const double end_s = std::min(event->end_s, to_s);
      for (const Lane& lane : lanes_of(*event)) {
        Json& row = rows.try_emplace(lane, Json::array()).first->second;
        for (const std::int64_t number : {ticks.of(start_s - from_s), ticks.of(end_s - start_s),
                                          static_cast<std::int64_t>(names.number(label(*event))),
                                          static_cast<std::int64_t>(event->layer),
                                          static_cast<std::int64_t>(event->micro_batch)}) {
          row.push_back(number);
        }
      }
    }
    Json list = Json::array();
    for (auto& [lane, row] : rows) {
      list.push_back({{"stage", lane.stage}, {"lane", lane.name()}, {"bars", std::move(row)}});
    }
    return {{"from_s", from_s},
            {"to_s", to_s},
            {"unit_s", ticks.unit_s()},
            {"names", names.list()},
            {"rows", list}};
  }

 private:
  [[nodiscard]] const step::Operator& operator_of(const simulate::TimelineEvent& event) const {
    return program_.templates[event.which].operators[event.operation];
  }
  [[nodiscard]] const step::PipelineStageProgram& stage(std::int32_t position) const {
    return program_.stages[position];
  }
  [[nodiscard]] const step::TemplateSequence& sequence(std::int32_t position,
                                                       std::int32_t slot) const {
    return stage(position).sequences[stage(position).schedule[slot].sequence];
  }

  /// Returns the rows of an event: its stream and, for a message, also its link.
  [[nodiscard]] std::vector<Lane> lanes_of(const simulate::TimelineEvent& event) const {
    const step::Operator& op = operator_of(event);
    std::vector<Lane> lanes = {{event.stage, static_cast<int>(op.stream)}};
    const cost::LinkClass link = prices_[event.which][event.operation].link;
    if (link != cost::LinkClass::kNone && step::is_communication(op.kind)) {
      lanes.push_back({event.stage, step::kStreams + static_cast<int>(link)});
    }
    return lanes;
  }

  [[nodiscard]] std::string_view kind_of(const Lane& lane,
                                         const simulate::TimelineEvent& event) const {
    if (lane.is_compute()) {
      const step::TemplateSequence& own = sequence(event.stage, event.slot);
      if (own.beside >= 0) return kPair;
      const bool shared =
          schedule::is_joint_work(own.direction) || schedule::is_vocabulary_pass(own.direction);
      return shared ? kVocabulary : name_of(schedule::kDirectionNames, own.direction);
    }
    if (lane.place >= step::kStreams) return lane.name();
    return messages_of(operator_of(event));
  }

  /// Returns the scheme of a message; empty for copies and updates of the host.
  static std::string_view messages_of(const step::Operator& op) {
    return step::operator_involves_host(op.kind) ? kHostWork
                                                 : name_of(step::kSchemeNames, op.scheme);
  }

  /// Adds an event to the row's last bar if it is in the same slot and of the same kind; otherwise
  /// as a new bar.
  void add(std::vector<Bar>& row, const Lane& lane, const simulate::TimelineEvent& event) const {
    const std::string_view kind = kind_of(lane, event);
    // A message or host work on the computation stream makes computation wait.
    const bool waits = lane.is_compute() && !step::computes_on_device(operator_of(event).kind);
    const double busy_s = waits ? 0 : event.end_s - event.start_s;
    if (row.empty() || row.back().slot != event.slot || row.back().kind != kind) {
      row.push_back({event.slot, kind, event.start_s, event.end_s, busy_s});
      return;
    }
    row.back().end_s = std::max(row.back().end_s, event.end_s);
    row.back().busy_s += busy_s;
  }

  /// Returns each bar as five numbers: gap before it, length, kind, micro-batch, and the
  /// thousandths of the length that are busy (on a computation row: that compute).
  [[nodiscard]] Json row_json(const Lane& lane, const std::vector<Bar>& row, const Ticks& ticks,
                              Names& kinds) const {
    Json bars = Json::array();
    std::int64_t end = 0;
    for (const Bar& bar : row) {
      const std::int64_t start = ticks.of(bar.start_s);
      const std::int64_t length = ticks.of(bar.end_s) - start;
      const double share = std::min(1.0, bar.busy_s / (bar.end_s - bar.start_s));
      bars.push_back(start - end);
      bars.push_back(length);
      bars.push_back(kinds.number(std::string(bar.kind)));
      bars.push_back(stage(lane.stage).schedule[bar.slot].micro_batch);
      bars.push_back(std::llround(1000 * share));
      end = start + length;
    }
    return {{"stage", lane.stage}, {"lane", lane.name()}, {"bars", std::move(bars)}};
  }

  /// Returns name, phase and scheme of an operator.
  [[nodiscard]] std::string label(const simulate::TimelineEvent& event) const {
    const step::Operator& op = operator_of(event);
    std::string text(op.name.empty() ? name_of(step::kOperatorNames, op.kind) : op.name);
    text += '|';
    text += name_of(step::kOperatorNames, op.kind);
    text += '|';
    text += name_of(step::kPhaseNames, op.phase);
    text += '|';
    text += messages_of(op);
    return text + '|' + std::to_string(step::is_communication(op.kind) ? op.payload_bytes() : 0);
  }

  /// Returns the window for details: from the start of a forward pass in the middle of the critical
  /// stage's schedule to the end of the following backward pass; the whole step if there is none.
  [[nodiscard]] std::pair<double, double> window() const {
    const std::int32_t critical = simulation_.critical_stage;
    const auto slots = static_cast<std::int32_t>(stage(critical).schedule.size());
    std::int32_t first = slots / 2;
    const auto goes_forward = [&](std::int32_t slot) {
      return sequence(critical, slot).direction == schedule::Direction::kForward;
    };
    while (first > 0 && !(goes_forward(first) && !goes_forward(first + 1))) --first;
    double from_s = simulation_.step_time_s;
    double to_s = 0;
    for (const simulate::TimelineEvent& event : simulation_.events) {
      const bool inside = event.slot == first || event.slot == first + 1;
      const bool own =
          event.stage == critical && operator_of(event).stream == step::DeviceStream::kCompute;
      if (!inside || !own) continue;
      from_s = std::min(from_s, event.start_s);
      to_s = std::max(to_s, event.end_s);
    }
    return {from_s, to_s};
  }

  const step::StepProgram& program_;
  const simulate::Simulation& simulation_;
  simulate::Prices prices_;
};

}  // namespace

Json timeline_overview_json(const simulate::PlanPrediction& prediction) {
  return Timeline(prediction).overview();
}

Json timeline_json(const simulate::PlanPrediction& prediction) {
  Timeline timeline(prediction);
  Json json = timeline.overview();
  json["detail"] = timeline.detail();
  return json;
}

}  // namespace stepwright::report

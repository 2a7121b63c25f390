#include "stepwright/schedule/found/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/schedule/found/order_bound.h"
#include "stepwright/schedule/found/order_search.h"
#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {
namespace {

/// Number of parts simulated to improve an order, about a tenth of a second.
constexpr std::int64_t kWalked = 3'000'000;
/// Upper limit of the gain from changing parts of an order; the largest gain seen is 4.5 %.
constexpr double kMostGain = 0.06;
constexpr double kUnreached = std::numeric_limits<double>::infinity();
/// Search stops if an order is this close to the lower bound, as the simulator's error is larger.
constexpr double kShortEnough = 1e-3;

/// Returns an order with every backward split.
Order cut(const Order& order) {
  Order parts;
  for (const PipelineWorkPart& part : order) {
    if (part.direction != Direction::kBackward) {
      parts.push_back(part);
      continue;
    }
    parts.push_back(
        make_schedule_work_item(Direction::kDataGradient, part.chunk, part.micro_batch));
    parts.push_back(
        make_schedule_work_item(Direction::kWeightGradient, part.chunk, part.micro_batch));
  }
  return parts;
}

/// Returns the step by which caps are changed: the memory that one forward keeps, as a mean over
/// chunks.
double mean_forward(const std::vector<ModelChunkKeptMemory>& chunks) {
  double sum = 0;
  for (const ModelChunkKeptMemory& chunk : chunks) sum += chunk.forward;
  return sum / static_cast<double>(chunks.size());
}

class Finder {
 public:
  explicit Finder(const UnevenPipeline& pipeline)
      : pipeline_(pipeline), least_s_(makespan_lower_bound_s(pipeline)), search_(pipeline) {
    for (std::size_t i = 0; i < pipeline.room.size(); ++i) {
      const auto chunks = static_cast<double>(pipeline.kept[i].size());
      const double needed = mean_forward(pipeline.kept[i]) * chunks;
      if (KeptMemoryTracker(pipeline, i).has_free_activation_memory(needed)) continue;
      fail_input(fmt::format(
          "position {} can keep {:g} bytes of activations, but one micro-batch needs {:g}", i,
          pipeline.room[i], needed));
    }
  }

  std::vector<Order> run(double useful_s) {
    one_by_one();
    named();
    lists();
    if (best_s_ > useful_s * (1 + kMostGain)) return {};
    search();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool done() const { return best_s_ <= least_s_ * (1 + kShortEnough); }
  [[nodiscard]] std::int64_t stages() const { return std::ssize(pipeline_.seconds.parts); }

  void offer(std::vector<Order>&& orders, double seconds) {
    if (seconds >= best_s_) return;
    best_s_ = seconds;
    best_ = std::move(orders);
  }

  /// Tries one micro-batch after the other, for which there is always room.
  void one_by_one() {
    const std::int64_t chunks = pipeline_.placement.chunks();
    Order order;
    for (std::int64_t i = 0; i < pipeline_.micro_batches; ++i) {
      for (std::int64_t c = 0; c < chunks; ++c)
        order.push_back(make_schedule_work_item(Direction::kForward, c, i));
      for (std::int64_t c = chunks; c-- > 0;)
        order.push_back(make_schedule_work_item(Direction::kBackward, c, i));
    }
    std::vector<Order> orders(pipeline_.seconds.parts.size(), order);
    const double seconds = search_.improve_order_from_best_orders(orders);
    offer(std::move(orders), seconds);
  }

  /// Tries named schedules with this placement, as far as there is room, unchanged and with every
  /// backward split.
  void named() {
    const std::int64_t chunks = pipeline_.placement.chunks();
    for (const auto& [kind, name] : kScheduleKindNames) {
      const PipelineScheduleTraits& traits = traits_of(kind);
      const PipelineSchedule schedule{.kind = kind, .chunks = chunks};
      if (!is_fixed_order_kind(kind)) continue;
      if (chunks < traits.least_chunks || chunks > traits.most_chunks) continue;
      if (chunks > 1 && model_chunk_placement(schedule, stages()) != pipeline_.placement) continue;
      if (pipeline_.micro_batches < traits.least_rounds * stages()) continue;
      if (traits.groups && pipeline_.micro_batches < stages()) continue;
      std::vector<Order> whole;
      std::vector<Order> parts;
      for (const Turns& list :
           schedule_turns_of_named_kind(schedule, stages(), pipeline_.micro_batches)) {
        whole.push_back(work_items_in_issue_order(list));
        parts.push_back(cut(whole.back()));
      }
      for (std::vector<Order>* orders : {&whole, &parts}) {
        if (!has_free_activation_memory(*orders)) continue;
        const double seconds = search_.improve_order_from_best_orders(*orders);
        offer(std::move(*orders), seconds);
      }
    }
  }

  [[nodiscard]] bool has_free_activation_memory(const std::vector<Order>& orders) const {
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (!stepwright::schedule::has_free_activation_memory(pipeline_, i, orders[i])) return false;
    }
    return true;
  }

  /// Returns caps that fall by the memory of `slope` forwards from position to position.
  [[nodiscard]] std::vector<double> sloping(int slope) const {
    std::vector<double> caps;
    for (std::size_t i = 0; i < pipeline_.room.size(); ++i) {
      const double each = mean_forward(pipeline_.kept[i]);
      const auto chunks = static_cast<double>(pipeline_.kept[i].size());
      const double room = pipeline_.room[i];
      const double fewer = room - slope * static_cast<double>(i) * each;
      caps.push_back(std::clamp(fewer, std::min(room, (chunks + 1) * each), room));
    }
    return caps;
  }

  /// Choices of the backwards to split: none, all, the first ones (as many as there are positions),
  /// and the last ones (as many as chunks wait for them, or as there are positions).
  enum class Cut { kAll, kNone, kWaiting, kFirst, kFirstAndWaiting, kFirstAndLast };
  [[nodiscard]] std::vector<std::vector<SplitBackwardCounts>> cuts(Cut which) const {
    const std::int64_t all = pipeline_.micro_batches;
    const std::int64_t few = std::min(all, stages());
    std::vector<std::vector<SplitBackwardCounts>> ends;
    for (std::int64_t position = 0; position < stages(); ++position) {
      std::vector<SplitBackwardCounts>& chunks = ends.emplace_back();
      for (std::int64_t chunk = 0; chunk < pipeline_.placement.chunks(); ++chunk) {
        const std::int64_t waiting =
            std::min(all, pipeline_.placement.model_chunk_index({position, chunk}));
        switch (which) {
          case Cut::kAll: chunks.push_back({.first = all, .last = 0}); break;
          case Cut::kNone: chunks.push_back({.first = 0, .last = 0}); break;
          case Cut::kWaiting: chunks.push_back({.first = 0, .last = waiting}); break;
          case Cut::kFirst: chunks.push_back({.first = few, .last = 0}); break;
          case Cut::kFirstAndWaiting: chunks.push_back({.first = few, .last = waiting}); break;
          case Cut::kFirstAndLast: chunks.push_back({.first = few, .last = few}); break;
        }
      }
    }
    return ends;
  }

  // NOLINTNEXTLINE(readability-function-size): one loop per choice
  void lists() {
    const bool several = pipeline_.placement.chunks() > 1;
    for (const Cut which : {Cut::kNone, Cut::kAll, Cut::kWaiting, Cut::kFirst,
                            Cut::kFirstAndWaiting, Cut::kFirstAndLast}) {
      for (const int slope : {0, 1, 2}) {
        for (const double patience : {0.0, 0.5, 1.0}) {
          for (const bool forward_first : {false, true}) {
            for (const bool deep_first : {true, false}) {
              if (!deep_first && !several) continue;
              if (which == Cut::kNone && patience > 0) continue;
              try_policy({cuts(which), sloping(slope), patience, forward_first, deep_first});
            }
          }
        }
      }
    }
  }

  void try_policy(const ListSchedulerPolicy& policy) {
    if (done()) return;
    ListedOrders list = schedule_greedily_by_time(pipeline_, policy, best_s_);
    if (list.complete) offer(std::move(list.orders), list.seconds);
  }

  void search() {
    search_.improve_order_from_best_orders(best_);
    search_.join_split_backwards();
    search_.improve_order_by_random_changes(search_.simulated_work_item_count() + kWalked,
                                            least_s_ * (1 + kShortEnough));
    search_.join_split_backwards();
    offer(search_.orders(), search_.seconds());
  }

  const UnevenPipeline& pipeline_;
  double least_s_;
  WorkOrderSearch search_;
  std::vector<Order> best_;
  double best_s_ = kUnreached;
};

}  // namespace

std::vector<Turns> find_shortest_schedule_turns(const UnevenPipeline& pipeline, double useful_s) {
  std::vector<Turns> turns;
  for (const Order& order : Finder(pipeline).run(useful_s)) {
    Turns& list = turns.emplace_back();
    for (const PipelineWorkPart& part : order)
      list.push_back({.part = part, .beside = std::nullopt});
  }
  return turns;
}

bool cache_auto_schedule_turns(PipelineSchedule& schedule, std::int64_t positions,
                               std::int64_t micro_batches, double useful_s) {
  AutoScheduleTurns found{
      micro_batches,
      find_shortest_schedule_turns(
          pipeline_for_order_search(schedule.basis, model_chunk_placement(schedule, positions),
                                    micro_batches),
          useful_s)};
  const bool useful = !found.turns.empty();
  schedule.known.found =
      useful ? std::make_shared<const AutoScheduleTurns>(std::move(found)) : nullptr;
  return useful;
}

double auto_schedule_step_seconds(const PipelineSchedule& schedule, std::span<const Turns> turns) {
  const UnevenPipeline pipeline = pipeline_for_order_search(
      schedule.basis, model_chunk_placement(schedule, std::ssize(turns)), 1);
  ScheduleTurnSimulator player;
  return makespan_s(player.turn_end_seconds(turns, pipeline.placement, pipeline.seconds));
}

double lower_bound_s_over_all_orders(const PipelineSchedule& schedule, std::int64_t positions,
                                     std::int64_t micro_batches) {
  return makespan_lower_bound_s(pipeline_for_order_search(
      schedule.basis, model_chunk_placement(schedule, positions), micro_batches));
}

std::vector<double> peak_kept_micro_batches_by_position(std::span<const Turns> turns,
                                                        double parts) {
  std::vector<double> held;
  for (const Turns& list : turns) {
    double now = 0;
    double most = 0;
    for (const PipelineWorkPart& part : work_items_in_issue_order(list)) {
      if (part.direction == Direction::kForward) most = std::max(most, ++now);
      if (part.direction == Direction::kBackward) --now;
      if (part.direction == Direction::kWeightGradient) --now;
    }
    held.push_back(most / parts);
  }
  return held;
}

}  // namespace stepwright::schedule

#include "stepwright/simulate/found_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/legality.h"
#include "stepwright/plan/placement.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright {
namespace {

/// Chunks of a position that `auto` may have, and so the named schedules that it stands for.
constexpr std::int64_t kMostAutoChunks = traits_of(ScheduleKind::kAuto).most_chunks;

std::int64_t whole_nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

/// The schedule that places as many chunks as an `auto` one does, and cuts all backwards too.
Schedule placed_alike(std::int64_t chunks) {
  return {.kind = chunks == 1 ? ScheduleKind::kZeroBubbleH1 : ScheduleKind::kZeroBubbleV,
          .chunks = chunks};
}

/// Micro-batches that a position may hold, the most first.
std::vector<std::int64_t> holdings(std::int64_t stages, std::int64_t micro_batches) {
  std::vector<std::int64_t> list;
  for (const std::int64_t held : {2 * stages, 3 * stages / 2, stages, 3 * stages / 4,
                                  stages / 2 + 1, stages / 3 + 1, std::int64_t{1}}) {
    const std::int64_t most = std::min(held, micro_batches);
    if (list.empty() || most < list.back()) list.push_back(most);
  }
  return list;
}

/// Plays candidates of one plan and keeps the best.
class Settling {
 public:
  Settling(const Job& job, const Plan& plan) : job_(job), plan_(plan), cost_(job) {}

  Plan run() {
    Pricer pricer(job_, cost_);
    for (const auto& [plan, price] : named(pricer)) {
      if (price.lower_bound_s < best_s_) offer(plan);
    }
    for (std::int64_t chunks = 1; chunks <= kMostAutoChunks; ++chunks) {
      Plan found = plan_;
      found.schedule = {.kind = ScheduleKind::kAuto, .chunks = chunks};
      if (broken_rule(job_, found)) continue;
      for (const Plan& order : found_orders(pricer, job_, found)) offer(order);
    }
    const bool fits = best_s_ < std::numeric_limits<double>::infinity();
    return fits ? best_ : smallest_;
  }

 private:
  struct Priced {
    Plan plan;
    Price price;
  };

  /// The legal plans with a named schedule, by price.
  std::vector<Priced> named(Pricer& pricer) const {
    std::vector<Priced> list;
    for (const auto& [kind, name] : kScheduleNames) {
      const ScheduleTraits& traits = traits_of(kind);
      if (traits.found || !traits.runs) continue;
      for (std::int64_t chunks = 1; chunks <= kMostAutoChunks; ++chunks) {
        Plan plan = plan_;
        plan.schedule = {.kind = kind, .chunks = chunks};
        if (broken_rule(job_, plan)) continue;
        list.push_back({plan, pricer.played_price(plan)});
      }
    }
    std::ranges::stable_sort(list, {}, [](const Priced& one) { return one.price.seconds; });
    return list;
  }

  void offer(const Plan& plan) {
    const StepProgram program = build_program(job_, plan);
    const MemoryReport memory = memory_report(job_, program);
    if (memory.peak_bytes < least_bytes_) {
      least_bytes_ = memory.peak_bytes;
      smallest_ = plan;
    }
    if (!memory.fits()) return;
    const auto layouts = group_layouts(job_.cluster, Grid(plan));
    const double seconds = simulate(program, cost_, layouts, plan).step_time_s;
    if (seconds >= best_s_) return;
    best_s_ = seconds;
    best_ = plan;
  }

  const Job& job_;
  const Plan& plan_;
  CostModel cost_;
  Plan best_;
  double best_s_ = std::numeric_limits<double>::infinity();
  Plan smallest_;
  double least_bytes_ = std::numeric_limits<double>::infinity();
};

std::string order_note(const Schedule& schedule) {
  if (!traits_of(schedule.kind).found) {
    return fmt::format("schedule auto: {} with chunks {} is the best, no found order is faster",
                       name_of(kScheduleNames, schedule.kind), schedule.chunks);
  }
  return fmt::format(
      "schedule auto: an order found for this plan's durations, with {:g} micro-batches in flight "
      "at most",
      static_cast<double>(schedule.durations.held) / static_cast<double>(schedule.chunks));
}

}  // namespace

bool lacks_order(const Plan& plan) {
  return traits_of(plan.schedule.kind).found && plan.schedule.durations.chunks.empty();
}

Durations priced_durations(Pricer& pricer, const Plan& plan, std::int64_t held) {
  Plan alike = plan;
  alike.schedule = placed_alike(plan.schedule.chunks);
  const TurnSeconds seconds = pricer.turn_seconds(alike);
  const Placement placement(traits_of(ScheduleKind::kAuto).placement, plan.parallel.pipeline,
                            plan.schedule.chunks);
  Durations durations{.chunks = {}, .hop_ns = whole_nanoseconds(seconds.hop_s), .held = held};
  for (std::int64_t i = 0; i < placement.model_chunks(); ++i) {
    const auto [position, chunk] = placement.holder(i);
    const PartSeconds& part =
        seconds.parts[static_cast<std::size_t>(position)][static_cast<std::size_t>(chunk)];
    durations.chunks.push_back({.forward_ns = whole_nanoseconds(part.forward),
                                .data_ns = whole_nanoseconds(part.data),
                                .weight_ns = whole_nanoseconds(part.weight)});
  }
  return durations;
}

std::vector<Plan> found_orders(Pricer& pricer, const Job& job, const Plan& plan) {
  const std::int64_t chunks = plan.schedule.chunks;
  const std::int64_t stages = plan.parallel.pipeline;
  const std::int64_t all = micro_batches(job, plan);
  const double usable = usable_bytes(job);
  std::vector<Plan> orders;
  Plan found = plan;
  found.schedule = {.kind = ScheduleKind::kAuto,
                    .chunks = chunks,
                    .durations = priced_durations(pricer, plan, chunks)};
  for (const std::int64_t held : holdings(stages, all)) {
    // Less than 1F1B holds is for those that cannot hold as much.
    if (!orders.empty() && held != std::min(stages, all)) continue;
    found.schedule.durations.held = held * chunks;
    if (pricer.price(found).memory_bytes <= usable) orders.push_back(found);
  }
  return orders;
}

PlannedJob with_order(PlannedJob planned) {
  if (!lacks_order(planned.plan)) return planned;
  planned.plan = Settling(planned.job, planned.plan).run();
  planned.job.notes.push_back(order_note(planned.plan.schedule));
  return planned;
}

}  // namespace stepwright

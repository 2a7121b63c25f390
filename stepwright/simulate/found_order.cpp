#include "stepwright/simulate/found_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {
namespace {

/// Returns the most chunks of a position that `auto` may have, and so the most chunks of the named
/// schedules that it stands for.
std::int64_t most_auto_chunks() {
  return schedule::traits_of(schedule::PipelineScheduleKind::kAuto).most_chunks;
}

std::int64_t whole_nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

/// How often an order that does not fit is replaced by one found with less memory.
constexpr int kTries = 3;
/// Factor on the bytes by which the allowed memory is reduced: an order found with less memory may
/// keep chunks longer at other positions.
constexpr double kOvershoot = 1.1;

/// True if every position has memory for one micro-batch.
bool holds_one(const schedule::OrderSearchBasis& basis, const plan::Plan& plan) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  std::vector<std::int64_t> left = basis.room_bytes;
  for (std::int64_t i = 0; i < placement.model_chunk_count(); ++i) {
    left[static_cast<std::size_t>(placement.place_of_model_chunk(i).position)] -=
        basis.chunks[static_cast<std::size_t>(i)].forward_bytes;
  }
  return std::ranges::all_of(left, [](std::int64_t bytes) { return bytes >= 0; });
}

struct Built {
  plan::Plan plan;
  step::StepProgram program;
  memory::MemoryReport memory;
};

/// Finds an order that fits by its program's account: after each try, reduces the allowed memory by
/// the excess. nullopt where some position has no memory for one micro-batch, where a few tries do
/// not help, or where the order cannot take less than `useful_s`.
std::optional<Built> with_room(const plan::Job& job, plan::Plan plan, double useful_s) {
  schedule::PipelineSchedule& schedule = plan.schedule;
  for (int i = 0; i < kTries && holds_one(schedule.basis, plan); ++i) {
    if (!schedule::cache_auto_schedule_turns(schedule, plan.parallel.pipeline,
                                             plan::micro_batches_per_pipeline(job, plan), useful_s))
      break;
    step::StepProgram program = step::build_step_program(job, plan);
    memory::MemoryReport memory = memory::memory_report(job, program);
    if (memory.fits()) return Built{std::move(plan), std::move(program), std::move(memory)};
    for (std::size_t at = 0; at < memory.stages.size(); ++at) {
      const double over = memory.stages[at].peak_bytes - memory.usable_memory_bytes();
      if (over > 0) schedule.basis.room_bytes[at] -= std::llround(kOvershoot * over);
    }
  }
  return std::nullopt;
}

/// Calls `offer` with a plan for each placement that may take less than `best_s`: its order is
/// found by price, with memory for as many activations as fit, up to those of twice as many
/// micro-batches as 1F1B keeps. `offer` may change `best_s`.
template <class Offer>
void offer_orders(PlanPricer& pricer, const plan::Job& job, const plan::Plan& plan,
                  const double& best_s, Offer offer) {
  const std::int64_t count = plan::micro_batches_per_pipeline(job, plan);
  const std::int64_t most = std::min(2 * plan.parallel.pipeline, count);
  for (const auto& [placement, name] : schedule::kSearchableChunkPlacements) {
    if (placement != schedule::ModelChunkPlacementKind::kV && plan.schedule.chunks == 1) continue;
    if (plan.schedule.placement.value_or(placement) != placement) continue;
    plan::Plan order = plan;
    order.schedule.placement.reset();
    order.schedule.basis.placement = placement;
    order.schedule.basis = order_search_input_of_plan(pricer, order, most);
    if (schedule::lower_bound_s_over_all_orders(order.schedule, order.parallel.pipeline, count) >=
        best_s)
      continue;
    if (auto built = with_room(job, std::move(order), best_s)) offer(std::move(*built));
  }
}

/// Simulates candidates for the schedule of one plan and keeps the best.
class Settling {
 public:
  Settling(const plan::Job& job, const plan::Plan& plan) : job_(job), plan_(plan), cost_(job) {}

  /// Returns the best candidate. If the plan asks for a placement, only orders in it count, unless
  /// none fits.
  plan::Plan run() {
    PlanPricer pricer(job_, cost_);
    if (plan_.schedule.placement) {
      offer_found(pricer, plan_);
      if (fits()) return best_;
    }
    for (const auto& [plan, price] : named(pricer)) {
      if (price.lower_bound_s < best_s_) offer(plan);
    }
    for (std::int64_t chunks = most_auto_chunks(); chunks > 0; --chunks) {
      plan::Plan found = plan_;
      found.schedule = {.kind = schedule::PipelineScheduleKind::kAuto, .chunks = chunks};
      if (!plan::first_broken_rule(job_, found)) offer_found(pricer, found);
    }
    return fits() ? best_ : smallest_;
  }

 private:
  struct Priced {
    plan::Plan plan;
    PlanPrice price;
  };

  [[nodiscard]] bool fits() const { return best_s_ < std::numeric_limits<double>::infinity(); }

  void offer_found(PlanPricer& pricer, const plan::Plan& plan) {
    offer_orders(pricer, job_, plan, best_s_, [&](const Built& built) { offer(built); });
  }

  /// Returns the legal plans with a named schedule, sorted by price.
  std::vector<Priced> named(PlanPricer& pricer) const {
    std::vector<Priced> list;
    for (const auto& [kind, name] : schedule::kScheduleKindNames) {
      if (!schedule::is_fixed_order_kind(kind)) continue;
      for (std::int64_t chunks = 1; chunks <= most_auto_chunks(); ++chunks) {
        plan::Plan plan = plan_;
        plan.schedule = {.kind = kind, .chunks = chunks};
        if (plan::first_broken_rule(job_, plan)) continue;
        list.push_back({plan, pricer.played_price(plan)});
      }
    }
    std::ranges::stable_sort(list, {}, [](const Priced& one) { return one.price.seconds; });
    return list;
  }

  void offer(const plan::Plan& plan) {
    step::StepProgram program = step::build_step_program(job_, plan);
    memory::MemoryReport memory = memory::memory_report(job_, program);
    if (memory.peak_bytes < least_bytes_) {
      least_bytes_ = memory.peak_bytes;
      smallest_ = plan;
    }
    if (memory.fits()) offer(Built{plan, std::move(program), std::move(memory)});
  }

  void offer(const Built& built) {
    const auto layouts = cost::rank_group_network_layouts(job_.cluster, plan::RankGrid(built.plan));
    const double seconds =
        simulate_step_program(built.program, cost_, layouts, built.plan).step_time_s;
    if (seconds >= best_s_) return;
    best_s_ = seconds;
    best_ = built.plan;
  }

  const plan::Job& job_;
  const plan::Plan& plan_;
  cost::CostModel cost_;
  plan::Plan best_;
  double best_s_ = std::numeric_limits<double>::infinity();
  plan::Plan smallest_;
  double least_bytes_ = std::numeric_limits<double>::infinity();
};

/// Returns a note that says which schedule an `auto` schedule became.
std::string order_note(const schedule::PipelineSchedule& schedule,
                       std::optional<schedule::ModelChunkPlacementKind> asked) {
  if (asked) {
    const bool found =
        schedule.chunks > 1 && !schedule.basis.chunks.empty() && schedule.basis.placement == *asked;
    const std::string_view placement = name_of(schedule::kSearchableChunkPlacements, *asked);
    return found
               ? fmt::format("schedule auto: an order found with placement {}", placement)
               : fmt::format("schedule auto: no order found with placement {} fits, taken is {}/{}",
                             placement, name_of(schedule::kScheduleKindNames, schedule.kind),
                             schedule.chunks);
  }
  if (!schedule::traits_of(schedule.kind).found) {
    return fmt::format("schedule auto: {} with chunks {} is the best, no found order is faster",
                       name_of(schedule::kScheduleKindNames, schedule.kind), schedule.chunks);
  }
  return fmt::format(
      "schedule auto: an order found for what this plan's chunks ({}) take and keep is the best",
      schedule.chunks == 1 ? "one a position"
      : schedule.basis.placement == schedule::ModelChunkPlacementKind::kV
          ? "two a position, down and up again"
          : "two a position, around");
}

}  // namespace

schedule::OrderSearchBasis order_search_input_of_plan(PlanPricer& pricer, const plan::Plan& plan,
                                                      std::int64_t micro_batches) {
  const ModelChunkSecondsAndBytes parts = pricer.chunk_seconds_and_bytes_of_plan(plan);
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  schedule::OrderSearchBasis basis{.placement = plan.schedule.basis.placement,
                                   .chunks = {},
                                   .hop_ns = whole_nanoseconds(parts.seconds.hop_s),
                                   .room_bytes = {}};
  for (std::int64_t i = 0; i < placement.model_chunk_count(); ++i) {
    const auto [position, chunk] = placement.place_of_model_chunk(i);
    const auto at = static_cast<std::size_t>(position);
    const auto own = static_cast<std::size_t>(chunk);
    const schedule::ModelChunkWorkSeconds& part = parts.seconds.parts[at][own];
    const ModelChunkActivationBytes& bytes = parts.bytes[at][own];
    basis.chunks.push_back({.forward_ns = whole_nanoseconds(part.forward),
                            .data_ns = whole_nanoseconds(part.data),
                            .weight_ns = whole_nanoseconds(part.weight),
                            .backward_ns = whole_nanoseconds(part.backward),
                            .forward_bytes = std::llround(bytes.forward),
                            .weight_bytes = std::llround(bytes.weight)});
  }
  for (std::size_t i = 0; i < parts.bytes.size(); ++i) {
    double most = 0;
    for (const ModelChunkActivationBytes& bytes : parts.bytes[i])
      most += std::max(bytes.forward, bytes.weight);
    most *= static_cast<double>(micro_batches);
    basis.room_bytes.push_back(
        std::llround(std::floor(std::max(0.0, std::min(most, parts.room_bytes[i])))));
  }
  return basis;
}

std::vector<plan::Plan> plans_with_found_schedule_orders(PlanPricer& pricer, const plan::Job& job,
                                                         const plan::Plan& plan, double useful_s) {
  if (schedule::is_schedule_order_decided(plan.schedule)) return {plan};
  std::vector<plan::Plan> orders;
  double best_s = useful_s;
  offer_orders(pricer, job, plan, best_s, [&](Built built) {
    const schedule::PipelineSchedule& schedule = built.plan.schedule;
    best_s = std::min(best_s,
                      schedule::auto_schedule_step_seconds(schedule, schedule.known.found->turns));
    orders.push_back(std::move(built.plan));
  });
  return orders;
}

plan::PlannedJob resolve_schedule_order(plan::PlannedJob planned) {
  schedule::PipelineSchedule& schedule = planned.plan.schedule;
  if (!schedule::traits_of(schedule.kind).found) return planned;
  if (!schedule::is_schedule_order_decided(schedule)) {
    const std::optional<schedule::ModelChunkPlacementKind> asked = schedule.placement;
    planned.plan = Settling(planned.job, planned.plan).run();
    planned.job.notes.push_back(order_note(schedule, asked));
    return planned;
  }
  const std::int64_t count = plan::micro_batches_per_pipeline(planned.job, planned.plan);
  const bool known = schedule.known.found && schedule.known.found->micro_batches == count;
  if (!known) schedule::cache_auto_schedule_turns(schedule, planned.plan.parallel.pipeline, count);
  return planned;
}

}  // namespace stepwright::simulate

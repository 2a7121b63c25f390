#include "stepwright/tune/confirm.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/memory/memory.h"

namespace stepwright {
namespace {

/// Plans simulated at a time: few at first, since one good plan may end it.
constexpr std::size_t kFirstPlans = 2;
constexpr std::size_t kMostPlans = 8;
/// Operators simulated, after which no further round starts: about half a second on two cores.
constexpr std::int64_t kMostOperators = 8'000'000;

/// Operators that a step plays over all stages.
std::int64_t count_operators(const StepProgram& program) {
  std::int64_t count = 0;
  for (const Stage& stage : program.stages) {
    std::vector<std::int64_t> of_sequence;
    for (const Sequence& sequence : stage.sequences) {
      std::int64_t sum = 0;
      for (const Item& item : sequence.items) {
        sum += std::ssize(program.templates[static_cast<std::size_t>(item.which)].operators);
      }
      of_sequence.push_back(sum);
    }
    for (const Slot& slot : stage.schedule) {
      count += of_sequence[static_cast<std::size_t>(slot.sequence)];
    }
  }
  return count;
}

struct Outcome {
  std::optional<TunedPlan> plan;
  std::string unsupported;
};

Outcome try_plan(const Job& job, const CostModel& cost, const Candidate& candidate) {
  try {
    return {simulate_plan(job, cost, candidate.plan, candidate.price), {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return {std::nullopt, error.what()};
  }
}

double best_time(const std::vector<TunedPlan>& plans) {
  double best = std::numeric_limits<double>::infinity();
  for (const TunedPlan& plan : plans) best = std::min(best, plan.step_time_s);
  return best;
}

void take(Confirmed& out, Outcome&& outcome) {
  if (!outcome.plan) {
    ++out.unsupported[outcome.unsupported];
    return;
  }
  ++out.simulated;
  (outcome.plan->fits ? out.plans : out.too_large).push_back(std::move(*outcome.plan));
}

void sort_by_time(std::vector<TunedPlan>& plans) {
  std::vector<std::pair<std::string, TunedPlan>> named;
  for (TunedPlan& plan : plans) named.emplace_back(plan_text(plan.plan), std::move(plan));
  std::ranges::sort(named, [](const auto& a, const auto& b) {
    return std::tie(a.second.step_time_s, a.first) < std::tie(b.second.step_time_s, b.first);
  });
  plans.clear();
  for (auto& [text, plan] : named) plans.push_back(std::move(plan));
}

/// The best by price, then by lower bound; ties by text.
std::vector<const Candidate*> simulation_order(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> order;
  for (const Candidate& candidate : candidates) order.push_back(&candidate);
  std::ranges::stable_sort(order, [](const Candidate* a, const Candidate* b) {
    return std::tie(a->price.lower_bound_s, a->text) < std::tie(b->price.lower_bound_s, b->text);
  });
  const auto best = std::ranges::min_element(order, [](const Candidate* a, const Candidate* b) {
    return std::tie(a->price.seconds, a->text) < std::tie(b->price.seconds, b->text);
  });
  if (best != order.end()) std::rotate(order.begin(), best, best + 1);
  return order;
}

}  // namespace

TunedPlan simulate_plan(const Job& job, const CostModel& cost, const Plan& plan,
                        const Price& price) {
  const StepProgram program = build_program(job, plan);
  const MemoryReport memory = memory_report(job, program);
  const Simulation simulation =
      simulate(program, cost, group_layouts(job.cluster, Grid(plan)), plan);
  const auto critical = static_cast<std::size_t>(simulation.critical_stage);
  return {.plan = plan,
          .step_time_s = simulation.step_time_s,
          .price_s = price.seconds,
          .lower_bound_s = price.lower_bound_s,
          .upper_bound_s = price.upper_bound_s,
          .peak_memory_bytes = memory.peak_bytes,
          .fits = memory.fits(),
          .over_by_bytes = std::max(0.0, memory.peak_bytes - memory.capacity_bytes),
          .largest_kind = largest_kind(memory),
          .breakdown = simulation.stages[critical].breakdown,
          .operators = count_operators(program)};
}

Confirmed confirm(const Job& job, const CostModel& cost, const std::vector<Candidate>& candidates,
                  std::size_t most, const Running& running) {
  const std::vector<const Candidate*> order = simulation_order(candidates);
  const std::size_t last = std::min(most, order.size());
  Confirmed out;
  std::size_t next = 0;
  std::int64_t operators = 0;
  std::size_t round = kFirstPlans;
  while (next < last && operators < kMostOperators) {
    if (order[next]->price.lower_bound_s >= best_time(out.plans)) break;
    const std::size_t count = std::min(round, last - next);
    std::vector<Outcome> outcomes(count);
    parallel_for(running.threads, count,
                 [&](std::size_t i) { outcomes[i] = try_plan(job, cost, *order[next + i]); });
    for (Outcome& outcome : outcomes) {
      if (outcome.plan) operators += outcome.plan->operators;
      take(out, std::move(outcome));
    }
    next += count;
    running.tell({.simulating = true, .done = next, .most = last});
    round = std::min(2 * round, kMostPlans);
  }
  out.open_bound_s = next < order.size() ? order[next]->price.lower_bound_s
                                         : std::numeric_limits<double>::infinity();
  sort_by_time(out.plans);
  return out;
}

}  // namespace stepwright

#include "stepwright/tune/trial.h"

#include <algorithm>
#include <limits>

#include "stepwright/core/parallel.h"
#include "stepwright/memory/memory.h"

namespace stepwright {
namespace {

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

/// Plans that are accounted before it is asked whether enough of them fit.
constexpr std::size_t kAccountedAtOnce = 50;

TunedPlan accounted(const Plan& plan, const Price& price, const MemoryReport& memory) {
  return {.plan = plan,
          .price_s = price.seconds,
          .lower_bound_s = price.lower_bound_s,
          .upper_bound_s = price.upper_bound_s,
          .peak_memory_bytes = memory.peak_bytes,
          .fits = memory.fits(),
          .p_fits = memory.p_fits,
          .over_by_bytes = std::max(0.0, memory.over_by_bytes()),
          .largest_kind = largest_kind(memory)};
}

void play(const Job& job, const CostModel& cost, const StepProgram& program, TunedPlan& tuned) {
  const Simulation simulation =
      simulate(program, cost, group_layouts(job.cluster, Grid(tuned.plan)), tuned.plan);
  const auto critical = static_cast<std::size_t>(simulation.critical_stage);
  tuned.step_time_s = simulation.step_time_s;
  tuned.breakdown = simulation.stages[critical].breakdown;
  tuned.operators = count_operators(program);
}

}  // namespace

TunedPlan simulate_plan(const Job& job, const CostModel& cost, const Plan& plan,
                        const Price& price) {
  const StepProgram program = build_program(job, plan);
  TunedPlan tuned = accounted(plan, price, memory_report(job, program));
  play(job, cost, program, tuned);
  return tuned;
}

void Trial::run(std::span<const Candidate* const> candidates) {
  std::vector<const Candidate*> fresh;
  for (const Candidate* candidate : candidates) {
    if (known_.try_emplace(candidate->text).second) fresh.push_back(candidate);
  }
  std::vector<TunedPlan> tuned(fresh.size());
  parallel_for(running_.threads, fresh.size(), [&](std::size_t i) {
    const StepProgram program = build_program(job_, fresh[i]->plan);
    tuned[i] = accounted(fresh[i]->plan, fresh[i]->price, memory_report(job_, program));
    if (tuned[i].fits) play(job_, cost_, program, tuned[i]);
  });
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!tuned[i].fits) {
      too_large_.push_back(std::move(tuned[i]));
      continue;
    }
    ++simulated_;
    operators_ += tuned[i].operators;
    times_.insert(std::ranges::upper_bound(times_, tuned[i].step_time_s), tuned[i].step_time_s);
    known_[fresh[i]->text] = std::move(tuned[i]);
  }
}

void Trial::keep_fitting(std::vector<Candidate>& candidates, std::size_t most) {
  std::vector<Candidate> kept;
  for (std::size_t next = 0; next < candidates.size() && kept.size() < most;) {
    const std::size_t count = std::min(kAccountedAtOnce, candidates.size() - next);
    std::vector<TunedPlan> tuned(count);
    parallel_for(running_.threads, count, [&](std::size_t i) {
      const Candidate& one = candidates[next + i];
      const StepProgram program = build_program(job_, one.plan);
      tuned[i] = accounted(one.plan, one.price, memory_report(job_, program));
    });
    for (std::size_t i = 0; i < count; ++i) {
      Candidate& one = candidates[next + i];
      if (tuned[i].fits) {
        kept.push_back(std::move(one));
      } else if (known_.try_emplace(one.text).second) {
        too_large_.push_back(std::move(tuned[i]));
      }
    }
    next += count;
  }
  if (kept.size() > most) kept.resize(most);
  candidates = std::move(kept);
}

double Trial::best_s(std::size_t n) const {
  return n <= times_.size() ? times_[n - 1] : std::numeric_limits<double>::infinity();
}

std::vector<TunedPlan> Trial::ranked() const {
  std::vector<TunedPlan> plans;
  for (const auto& [text, plan] : known_) {
    if (plan.step_time_s > 0) plans.push_back(plan);
  }
  std::ranges::stable_sort(plans, {}, &TunedPlan::step_time_s);
  return plans;
}

}  // namespace stepwright

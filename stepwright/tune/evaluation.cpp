#include "stepwright/tune/evaluation.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "stepwright/core/parallel.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/step_time_interval.h"

namespace stepwright::tune {
namespace {

/// Plans are not searched for a saving of memory below this share.
constexpr double kNearlyLeast = 0.02;

/// Returns the number of operators that a step runs over all stages.
std::int64_t count_operators(const step::StepProgram& program) {
  std::int64_t count = 0;
  for (const step::PipelineStageProgram& stage : program.stages) {
    std::vector<std::int64_t> of_sequence;
    for (const step::TemplateSequence& sequence : stage.sequences) {
      std::int64_t sum = 0;
      for (const step::TemplateSequenceItem& item : sequence.items) {
        sum += std::ssize(program.templates[static_cast<std::size_t>(item.which)].operators);
      }
      of_sequence.push_back(sum);
    }
    for (const step::PipelineScheduleSlot& slot : stage.schedule) {
      count += of_sequence[static_cast<std::size_t>(slot.sequence)];
    }
  }
  return count;
}

TunedPlan accounted(const plan::Plan& plan, const simulate::PlanPrice& price,
                    const memory::MemoryReport& memory) {
  return {.plan = plan,
          .price_s = price.seconds,
          .lower_bound_s = price.lower_bound_s,
          .upper_bound_s = price.upper_bound_s,
          .waits_s = price.uneven.waits_s,
          .peak_memory_bytes = memory.peak_bytes,
          .fits = memory.fits(),
          .p_fits = memory.p_fits,
          .verdict = memory.memory_fit_verdict_of_job(),
          .over_by_bytes = std::max(0.0, memory.memory_shortage_bytes()),
          .largest_part = memory::largest_part_of_scarce_memory(memory)};
}

void play(const plan::Job& job, const cost::CostModel& cost, const step::StepProgram& program,
          TunedPlan& tuned) {
  simulate::Simulation simulation = simulate::simulate_step_program(
      program, cost, cost::rank_group_network_layouts(job.cluster, plan::RankGrid(tuned.plan)),
      tuned.plan);
  simulate::add_uneven_micro_batch_waits(simulation, tuned.waits_s);
  const auto critical = static_cast<std::size_t>(simulation.critical_stage);
  tuned.step_time_s = simulation.step_time_s;
  tuned.breakdown = simulation.stages[critical].breakdown;
  tuned.interval = cost.step_time_ratio_interval(
      simulate::step_share_spent_waiting(tuned.breakdown, tuned.step_time_s));
  tuned.operators = count_operators(program);
}

}  // namespace

TunedPlan simulate_plan(const plan::Job& job, const cost::CostModel& cost, const plan::Plan& plan,
                        const simulate::PlanPrice& price) {
  step::StepProgram program = step::build_step_program(job, plan);
  TunedPlan tuned = accounted(plan, price, memory::memory_report(job, program));
  if (job.documents)
    program = step::build_step_program(job, plan, step::RepresentativeMicroBatch::kMean);
  play(job, cost, program, tuned);
  return tuned;
}

void PlanEvaluator::simulate_candidates(std::span<const PlanCandidate* const> candidates) {
  std::vector<const PlanCandidate*> fresh;
  for (const PlanCandidate* candidate : candidates) {
    if (known_.try_emplace(candidate->plan).second) fresh.push_back(candidate);
  }
  std::vector<TunedPlan> tuned(fresh.size());
  parallel_for(running_.threads, fresh.size(), [&](std::size_t i) {
    const auto known = waiting_.find(fresh[i]->plan);
    PlanWithMemoryReport one =
        known == waiting_.end() ? account(*fresh[i]) : std::move(known->second);
    if (is_worth_simulating(one.tuned)) play(job_, cost_, one.program, one.tuned);
    tuned[i] = std::move(one.tuned);
  });
  for (const PlanCandidate* candidate : fresh) waiting_.erase(candidate->plan);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!is_worth_simulating(tuned[i])) {
      too_large_.push_back(std::move(tuned[i]));
      continue;
    }
    ++simulated_;
    operators_ += tuned[i].operators;
    times_.insert(std::ranges::upper_bound(times_, tuned[i].step_time_s), tuned[i].step_time_s);
    known_[fresh[i]->plan] = std::move(tuned[i]);
  }
}

bool PlanEvaluator::is_worth_simulating(const TunedPlan& tuned) const {
  if (tuned.fits || !tight_from_) return tuned.fits;
  return tuned.verdict == memory::MemoryFitVerdict::kTight && tuned.p_fits >= *tight_from_;
}

void PlanEvaluator::add_simulated_plan(const TunedPlan& simulated) {
  if (!known_.try_emplace(simulated.plan, simulated).second) return;
  times_.insert(std::ranges::upper_bound(times_, simulated.step_time_s), simulated.step_time_s);
}

bool PlanEvaluator::fits(const PlanCandidate& candidate) {
  if (const auto known = known_.find(candidate.plan); known != known_.end()) {
    return known->second.has_value();
  }
  if (waiting_.contains(candidate.plan)) return true;
  return keep(candidate, account(candidate));
}

std::vector<const PlanCandidate*> PlanEvaluator::candidates_fitting_memory(
    std::span<const PlanCandidate* const> candidates) {
  std::vector<const PlanCandidate*> fresh;
  for (const PlanCandidate* candidate : candidates) {
    if (!knows(*candidate) && !waiting_.contains(candidate->plan)) fresh.push_back(candidate);
  }
  std::vector<PlanWithMemoryReport> accounted(fresh.size());
  parallel_for(running_.threads, fresh.size(),
               [&](std::size_t i) { accounted[i] = account(*fresh[i]); });
  for (std::size_t i = 0; i < fresh.size(); ++i) keep(*fresh[i], std::move(accounted[i]));
  std::vector<const PlanCandidate*> fit;
  std::ranges::copy_if(candidates, std::back_inserter(fit),
                       [&](const PlanCandidate* candidate) { return fits(*candidate); });
  return fit;
}

/// Keeps a plan that fits until it runs, and marks one that does not as known. Returns whether it
/// fits.
bool PlanEvaluator::keep(const PlanCandidate& candidate, PlanWithMemoryReport accounted) {
  if (!is_worth_simulating(accounted.tuned)) {
    known_.try_emplace(candidate.plan);
    too_large_.push_back(std::move(accounted.tuned));
    return false;
  }
  waiting_.emplace(candidate.plan, std::move(accounted));
  return true;
}

PlanEvaluator::PlanWithMemoryReport PlanEvaluator::account(const PlanCandidate& candidate) const {
  step::StepProgram program = step::build_step_program(job_, candidate.plan);
  TunedPlan tuned =
      accounted(candidate.plan, candidate.price, memory::memory_report(job_, program));
  if (job_.documents)
    program = step::build_step_program(job_, candidate.plan, step::RepresentativeMicroBatch::kMean);
  return {std::move(program), std::move(tuned)};
}

TunedPlan PlanEvaluator::plan_exceeding_memory_least(
    std::span<const PlanCandidate> candidates) const {
  const auto excess = [](const TunedPlan& one) {
    return std::tuple(one.over_by_bytes, one.peak_memory_bytes);
  };
  std::vector<TunedPlan> found = too_large_;
  const auto least = [&]() -> const TunedPlan& {
    return *std::ranges::min_element(found, {}, excess);
  };
  const auto at_once = static_cast<std::size_t>(running_.threads);
  const double usable_memory_bytes = memory::usable_memory_bytes(job_);
  while (!candidates.empty()) {
    const double floor = candidates.front().price.memory_bytes;
    const auto device_bytes_needed_by_plan = [&] {
      return usable_memory_bytes + least().over_by_bytes;
    };
    if (!found.empty() && device_bytes_needed_by_plan() * (1 - kNearlyLeast) <= floor) break;
    const auto next = candidates.first(std::min(at_once, candidates.size()));
    candidates = candidates.subspan(next.size());
    std::vector<TunedPlan> tuned(next.size());
    parallel_for(running_.threads, next.size(),
                 [&](std::size_t i) { tuned[i] = std::move(account(next[i]).tuned); });
    std::ranges::move(tuned, std::back_inserter(found));
  }
  TunedPlan smallest = least();
  const auto size = job_.documents ? step::RepresentativeMicroBatch::kMean
                                   : step::RepresentativeMicroBatch::kLargest;
  play(job_, cost_, step::build_step_program(job_, smallest.plan, size), smallest);
  return smallest;
}

double PlanEvaluator::nth_best_step_s(std::size_t n) const {
  return n <= times_.size() ? times_[n - 1] : std::numeric_limits<double>::infinity();
}

std::vector<TunedPlan> PlanEvaluator::ranked_plans() const {
  std::vector<TunedPlan> plans;
  for (const auto& [key, plan] : known_) {
    if (plan) plans.push_back(*plan);
  }
  std::ranges::stable_sort(plans, {}, &TunedPlan::step_time_s);
  return plans;
}

}  // namespace stepwright::tune

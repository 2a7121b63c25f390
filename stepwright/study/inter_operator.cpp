#include "stepwright/study/inter_operator.h"

#include <algorithm>
#include <limits>

#include "stepwright/core/error.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/tune/evaluation.h"

namespace stepwright::study {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

std::vector<double> running_sum(const std::vector<double>& seconds) {
  std::vector<double> before(seconds.size() + 1);
  for (std::size_t i = 0; i < seconds.size(); ++i) before[i + 1] = before[i] + seconds[i];
  return before;
}

class InterOperatorSearch {
 public:
  InterOperatorSearch(const plan::Job& job, const cost::CostModel& cost,
                      const simulate::AvailablePlanMemory& room)
      : job_(job), cost_(cost), room_(room), pricer_(job, cost) {}

  std::optional<AlpaLikeSearchResult> run() {
    for (const std::int64_t stages : plan::legal_pipeline_degrees(job_)) {
      if (job_.cluster.devices() % stages == 0) try_stages(stages);
    }
    if (!found_) return std::nullopt;
    result_.plan = best_;
    result_.step_time_s = tune::simulate_plan(job_, cost_, best_, best_price_).step_time_s;
    return result_;
  }

 private:
  void try_stages(std::int64_t stages) {
    const std::int64_t mesh = job_.cluster.devices() / stages;
    for (const std::int64_t tensor : plan::legal_tensor_degrees(job_)) {
      if (tensor > job_.cluster.devices_per_node || mesh % tensor != 0) continue;
      for (const std::int64_t expert : plan::legal_expert_degrees(job_)) {
        plan::Plan plan;
        plan.parallel = {
            .tensor = tensor, .pipeline = stages, .expert = expert, .data = mesh / tensor};
        plan.sequence_parallel = tensor > 1;
        plan.accumulate = plan::default_accumulation_type(job_.precision);
        plan.overlap = plan::all_overlap_flags(true);
        for (const std::int64_t micro_batch :
             plan::legal_micro_batch_sizes(job_, plan.parallel.data)) {
          plan.micro_batch = micro_batch;
          try_memory(plan);
        }
      }
    }
  }

  /// Tries the plan with each way to trade time for memory on the same devices.
  void try_memory(plan::Plan plan) {
    for (const plan::RecomputeKind kind :
         {plan::RecomputeKind::kNone, plan::RecomputeKind::kSelective,
          plan::RecomputeKind::kFull}) {
      plan.recompute.kind = kind;
      if (plan::first_broken_rule(job_, plan)) continue;
      try {
        try_states(plan, pricer_.blocks(plan));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUnsupported) throw;
      }
    }
  }

  void try_states(plan::Plan plan, const simulate::ModelBlockCosts& blocks) {
    cut(plan, blocks);
    const simulate::PipelineCost pipeline = pricer_.pipeline_cost_of_plan(blocks, plan);
    for (const char* states : {"ddp", "zero1", "zero2", "zero3"}) {
      plan.sharding = *plan::sharding_named_by_word(states);
      const simulate::PlanPrice price = pricer_.finish(pipeline, plan);
      ++result_.plans_priced;
      if (!room_.fits_in_memory(price)) continue;
      if (found_ && price.seconds >= best_price_.seconds) continue;
      found_ = true;
      best_ = plan::canonical_plan(plan, job_);
      best_price_ = price;
    }
  }

  void cut(plan::Plan& plan, const simulate::ModelBlockCosts& blocks) {
    const std::size_t place =
        blocks.cost_index_of_recomputation(plan::parts_recomputed_in_layers(plan.recompute));
    const auto both = [](const simulate::BlockPairCost& pair) {
      return pair.forward.seconds + pair.backward.seconds;
    };
    std::vector<double> seconds;
    for (const std::size_t which : model::layer_order(job_.model).class_of) {
      seconds.push_back(both(blocks.layers[which].cost_at_place(place).cost));
    }
    plan.layers = cut_layers_into_stages(seconds, plan.parallel.pipeline, both(blocks.embedding),
                                         both(blocks.head));
    result_.stages_profiled += job_.model.layers * (job_.model.layers + 1) / 2;
  }

  const plan::Job& job_;
  const cost::CostModel& cost_;
  simulate::AvailablePlanMemory room_;
  simulate::PlanPricer pricer_;
  bool found_ = false;
  plan::Plan best_;
  simulate::PlanPrice best_price_;
  AlpaLikeSearchResult result_;
};

}  // namespace

std::vector<std::int64_t> cut_layers_into_stages(const std::vector<double>& seconds,
                                                 std::int64_t stages, double first_s,
                                                 double last_s) {
  const std::size_t layers = seconds.size();
  const auto count = static_cast<std::size_t>(stages);
  const std::vector<double> before = running_sum(seconds);
  const auto stage_s = [&](std::size_t begin, std::size_t end) {
    return before[end] - before[begin] + (begin == 0 ? first_s : 0) + (end == layers ? last_s : 0);
  };
  // slowest[s][k]: time of the slowest stage if the first k layers are cut into s stages; a second
  // table has where the last stage begins.
  std::vector slowest(count + 1, std::vector<double>(layers + 1, kImpossible));
  std::vector begin(count + 1, std::vector<std::size_t>(layers + 1, 0));
  slowest[0][0] = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    for (std::size_t k = s; k <= layers; ++k) {
      for (std::size_t j = s - 1; j < k; ++j) {
        const double time_s = std::max(slowest[s - 1][j], stage_s(j, k));
        if (time_s >= slowest[s][k]) continue;
        slowest[s][k] = time_s;
        begin[s][k] = j;
      }
    }
  }
  std::vector<std::int64_t> runs(count);
  for (std::size_t s = count, end = layers; s > 0; --s) {
    runs[s - 1] = static_cast<std::int64_t>(end - begin[s][end]);
    end = begin[s][end];
  }
  return runs;
}

std::optional<AlpaLikeSearchResult> search_plan_by_alpa_method(
    const plan::Job& job, const cost::CostModel& cost, const simulate::AvailablePlanMemory& room) {
  return InterOperatorSearch(job, cost, room).run();
}

}  // namespace stepwright::study

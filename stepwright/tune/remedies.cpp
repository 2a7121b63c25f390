#include "stepwright/tune/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "stepwright/core/format.h"
#include "stepwright/core/parallel.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/step/program.h"
#include "stepwright/tune/differences.h"
#include "stepwright/tune/fixed_cluster.h"

namespace stepwright::tune {
namespace {

/// How often the number of nodes is doubled, and how often the interval between the last two
/// numbers is halved.
constexpr int kDoublings = 6;
constexpr int kHalvings = 3;
/// Chunks of a chunked loss, where the framework allows any number.
constexpr std::int64_t kUsualLossChunks = 8;

using Changes = std::vector<plan::PlannedJob>;

/// Returns the job on `nodes` nodes, with a network that reaches all of them.
plan::Job on_nodes(const plan::Job& job, std::int64_t nodes) {
  return plan::plan_with_field({job, {}}, fmt::format("cluster.nodes={}", nodes)).job;
}

/// Lists the changes of a plan that each kind of remedy may make.
class Proposals {
 public:
  Proposals(const plan::PlannedJob& planned, const plan::TrainingFramework& trainer)
      : planned_(planned), trainer_(trainer) {}

  [[nodiscard]] Changes of(plan::MemoryRemedyKind kind) const {
    switch (kind) {
      case plan::MemoryRemedyKind::kLossChunks: return losses();
      case plan::MemoryRemedyKind::kRecompute: return recomputations();
      case plan::MemoryRemedyKind::kMicroBatch: return micro_batches();
      case plan::MemoryRemedyKind::kHostActivations: return host_activations();
      case plan::MemoryRemedyKind::kHostOptimizer: return host_optimizer();
      case plan::MemoryRemedyKind::kParametersOnHost: return host_parameters();
      case plan::MemoryRemedyKind::kOptimizerStates: return optimizers();
      case plan::MemoryRemedyKind::kSplit: return splits();
      case plan::MemoryRemedyKind::kNodes: break;
    }
    return nodes();
  }

 private:
  template <class Change>
  void add(Changes& changes, Change change) const {
    plan::PlannedJob changed = planned_;
    change(changed.job, changed.plan);
    changes.push_back(std::move(changed));
  }

  [[nodiscard]] Changes losses() const {
    Changes changes;
    for (const plan::TrainingFramework* framework : {&planned_.job.framework, &trainer_}) {
      for (const auto& [keeps, chunks] : plan::framework_defaults(*framework).losses) {
        add(changes, [keeps = keeps, chunks = chunks](plan::Job& job, const plan::Plan&) {
          job.kernels.loss_keeps = keeps;
          job.kernels.loss_chunks = chunks.value_or(kUsualLossChunks);
        });
      }
    }
    return changes;
  }

  [[nodiscard]] Changes recomputations() const {
    Changes changes;
    if (!planned_.job.space.recompute.empty()) return changes;
    for (const plan::RecomputeKind kind :
         {plan::RecomputeKind::kSelective, plan::RecomputeKind::kFull}) {
      add(changes, [&](const plan::Job&, plan::Plan& plan) { plan.recompute = {.kind = kind}; });
    }
    return changes;
  }

  [[nodiscard]] Changes micro_batches() const {
    Changes changes;
    if (!planned_.job.space.micro_batch.empty()) return changes;
    for (std::int64_t size = planned_.plan.micro_batch - 1; size >= 1; --size) {
      if (planned_.plan.micro_batch % size != 0) continue;
      add(changes, [&](const plan::Job&, plan::Plan& plan) { plan.micro_batch = size; });
    }
    return changes;
  }

  /// Returns changes that offload activations to the host: the inputs of recomputed layers, or
  /// every module that the framework can offload.
  [[nodiscard]] Changes host_activations() const {
    Changes changes;
    if (!planned_.job.space.offload.activations.empty()) return changes;
    add(changes, [](const plan::Job&, plan::Plan& plan) {
      plan.recompute = {.kind = plan::RecomputeKind::kFull};
      plan.offload.move_inputs();
    });
    add(changes, [](const plan::Job& job, plan::Plan& plan) {
      for (const auto& [module, name] : plan::kOffloadModuleNames) {
        if (module != plan::OffloadModule::kLayerInput) plan.offload.activations.add(module);
      }
      plan.offload.activations =
          plan::modules_existing_in_model(job.model, plan.offload.activations);
    });
    return changes;
  }

  [[nodiscard]] Changes host_optimizer() const {
    Changes changes;
    if (!planned_.job.space.offload.optimizer.empty()) return changes;
    for (const double share : {0.5, 1.0}) {
      if (planned_.plan.offload.optimizer >= share) continue;
      add(changes, [&](const plan::Job&, plan::Plan& plan) { plan.offload.optimizer = share; });
    }
    return changes;
  }

  /// Returns changes that offload parameters to the host, with the plan's sharding or with all
  /// states sharded.
  [[nodiscard]] Changes host_parameters() const {
    Changes changes;
    const plan::SearchedOffloadChoices& lists = planned_.job.space.offload;
    if (!lists.optimizer.empty() || !lists.parameters.empty()) return changes;
    for (const bool sharded : {false, true}) {
      add(changes, [&](const plan::Job&, plan::Plan& plan) {
        if (sharded) plan.sharding = sharded_states(3);
        plan.offload = {.optimizer = 1,
                        .masters = true,
                        .activations = plan.offload.activations,
                        .parameters = true};
      });
    }
    return changes;
  }

  [[nodiscard]] Changes optimizers() const {
    Changes changes;
    const plan::Optimizer own = planned_.job.optimizer;
    if (own != plan::Optimizer::kAdam && own != plan::Optimizer::kAdamW) return changes;
    for (const plan::Optimizer optimizer :
         {plan::Optimizer::kAdamNarrow, plan::Optimizer::kAdam8bit}) {
      add(changes, [&](plan::Job& job, const plan::Plan&) { job.optimizer = optimizer; });
    }
    return changes;
  }

  /// Returns a sharding of the optimizer states over all ranks; `states` 2 also shards gradients, 3
  /// also parameters.
  static plan::Sharding sharded_states(int states) {
    plan::Sharding sharding;
    sharding.optimizer = plan::StateShardingScope::kGlobal;
    if (states > 1) sharding.gradients = plan::StateShardingScope::kGlobal;
    if (states > 2) sharding.parameters = plan::StateShardingScope::kGlobal;
    return sharding;
  }

  /// Returns changes that shard more of the states, or cut the model into more parts on as many
  /// devices.
  [[nodiscard]] Changes splits() const {
    Changes changes;
    const plan::TunerSearchSpace& space = planned_.job.space;
    if (space.sharding.empty()) {
      for (int states = 1; states <= 3; ++states) {
        add(changes,
            [&](const plan::Job&, plan::Plan& plan) { plan.sharding = sharded_states(states); });
      }
    }
    for (const auto degree :
         {&plan::ParallelismDegrees::tensor, &plan::ParallelismDegrees::pipeline}) {
      const bool tensor = degree == &plan::ParallelismDegrees::tensor;
      if (!(tensor ? space.tensor : space.pipeline).empty()) continue;
      for (std::int64_t times = 2; planned_.plan.parallel.data % times == 0; times *= 2) {
        add(changes, [&](const plan::Job& job, plan::Plan& plan) {
          plan.parallel.*degree *= times;
          plan.parallel.data /= times;
          if (tensor) {
            const std::int64_t rows = job.length / plan.parallel.context;
            plan.sequence_parallel = rows % plan.parallel.tensor == 0;
          }
        });
      }
    }
    return changes;
  }

  /// Returns changes to more nodes with more replicas of the model, whose number divides the batch.
  [[nodiscard]] Changes nodes() const {
    Changes changes;
    for (int i = 1; i <= kDoublings; ++i) {
      add(changes, [&](plan::Job& job, plan::Plan& plan) {
        job = on_nodes(job, job.cluster.nodes << i);
        plan.parallel.data <<= i;
      });
    }
    return changes;
  }

  const plan::PlannedJob& planned_;
  const plan::TrainingFramework& trainer_;
};

/// How many helping settings a change is tried with (full recomputation, then smaller
/// micro-batches) where it is not enough alone.
constexpr int kAlone = 0;
constexpr int kMostHelp = 2;

void help(plan::PlannedJob& changed, int with) {
  const plan::TunerSearchSpace& space = changed.job.space;
  if (with > 0 && space.recompute.empty() && changed.plan.offload.activations.empty()) {
    changed.plan.recompute = {.kind = plan::RecomputeKind::kFull};
  }
  if (with > 1 && space.micro_batch.empty()) changed.plan.micro_batch = 1;
}

/// Returns the fields of the job that a change sets.
std::vector<std::string> job_fields(const plan::Job& before, const plan::Job& after) {
  std::vector<std::string> fields;
  const plan::FrameworkKernels& kernels = after.kernels;
  if (kernels.loss_keeps != before.kernels.loss_keeps) {
    fields.push_back(fmt::format("kernels.loss_keeps={}",
                                 name_of(plan::kLossSavedTensorsNames, kernels.loss_keeps)));
  }
  if (kernels.loss_chunks != before.kernels.loss_chunks) {
    fields.push_back(fmt::format("kernels.loss_chunks={}", kernels.loss_chunks));
  }
  if (kernels.attention != before.kernels.attention) {
    fields.push_back(fmt::format("kernels.attention={}",
                                 name_of(cluster::kAttentionKernelNames, kernels.attention)));
  }
  if (after.optimizer != before.optimizer) {
    fields.push_back(fmt::format("optimizer={}", name_of(plan::kOptimizerNames, after.optimizer)));
  }
  if (after.cluster.nodes != before.cluster.nodes) {
    fields.push_back(fmt::format("cluster.nodes={}", after.cluster.nodes));
  }
  return fields;
}

class RemedySeeker {
 public:
  RemedySeeker(const plan::PlannedJob& planned, const MemoryRemedySearchOptions& search)
      : planned_(planned), search_(search), proposals_(planned, search.trainer) {
    for (const plan::UnsupportedChoice& one : unsupported_choices(planned))
      known_.push_back(one.ability);
  }

  [[nodiscard]] std::vector<MemoryRemedy> run() const {
    std::vector<std::optional<MemoryRemedy>> found(std::size(plan::kRemedyKindNames));
    parallel_for(
        search_thread_count({.threads = search_.threads}), found.size(),
        [&](std::size_t i) { found[i] = with_proposals(plan::kRemedyKindNames[i].value); });
    std::vector<MemoryRemedy> list;
    for (std::size_t i = 0; i < found.size(); ++i) {
      take_faster(found[i], searched(plan::kRemedyKindNames[i].value));
      if (found[i]) list.push_back(*std::move(found[i]));
    }
    return list;
  }

 private:
  static std::vector<plan::UnsupportedChoice> unsupported_choices(const plan::PlannedJob& planned) {
    const plan::TrainingFramework& framework = planned.job.framework;
    if (framework.name.empty()) return {};
    return plan::choices_unsupported_by_framework(framework, planned.job, planned.plan);
  }

  /// True if the framework runs a legal plan, except abilities that the plan as it is lacks as
  /// well.
  [[nodiscard]] bool runs(const plan::PlannedJob& changed) const {
    return std::ranges::all_of(unsupported_choices(changed),
                               [&](const plan::UnsupportedChoice& one) {
                                 return std::ranges::find(known_, one.ability) != known_.end();
                               });
  }

  /// Keeps the remedy with fewer nodes, then with less step time.
  static void take_faster(std::optional<MemoryRemedy>& best, std::optional<MemoryRemedy> other) {
    const auto rank = [](const MemoryRemedy& remedy) {
      return std::pair(remedy.changed.job.cluster.nodes, remedy.step_time_s);
    };
    if (other && (!best || rank(*other) < rank(*best))) best = std::move(other);
  }

  [[nodiscard]] std::optional<MemoryRemedy> with_proposals(plan::MemoryRemedyKind kind) const {
    const Changes changes = proposals_.of(kind);
    std::optional<MemoryRemedy> best;
    for (int with = kAlone; with <= kMostHelp && !best; ++with) {
      for (plan::PlannedJob changed : changes) {
        const std::vector<std::string> own = fields(changed);
        help(changed, with);
        take_faster(best, remedy(kind, std::move(changed), own));
        // The list of node counts begins with the fewest.
        if (best && kind == plan::MemoryRemedyKind::kNodes) break;
      }
    }
    return best;
  }

  [[nodiscard]] std::vector<std::string> fields(const plan::PlannedJob& changed) const {
    std::vector<std::string> fields = job_fields(planned_.job, changed.job);
    for (std::string& field : differing_plan_fields(changed.job, planned_.plan, changed.plan)) {
      fields.push_back(std::move(field));
    }
    return fields;
  }

  /// Returns the change as a remedy; nullopt where it does not fit, is not legal, or the framework
  /// does not run it. `own`: the fields that define its kind.
  [[nodiscard]] std::optional<MemoryRemedy> remedy(plan::MemoryRemedyKind kind,
                                                   plan::PlannedJob changed,
                                                   const std::vector<std::string>& own) const {
    if (plan::find_plan_rejection(changed.job, changed.plan)) return std::nullopt;
    changed.plan = plan::canonical_plan(changed.plan, changed.job);
    std::vector<std::string> set = fields(changed);
    if (set.empty() || !runs(changed)) return std::nullopt;
    const step::StepProgram program = step::build_step_program(changed.job, changed.plan);
    if (!memory::memory_report(changed.job, program).fits()) return std::nullopt;
    const simulate::PlanPrediction prediction = simulate::predict_plan(changed);
    std::stable_partition(set.begin(), set.end(), [&](const std::string& field) {
      return std::ranges::find(own, field) != own.end();
    });
    return MemoryRemedy{.kind = kind,
                        .set = std::move(set),
                        .changed = std::move(changed),
                        .step_time_s = prediction.step_time_s(),
                        .peak_memory_bytes = prediction.memory.peak_bytes,
                        .p_fits = prediction.memory.p_fits};
  }

  /// Returns the best plan that a search finds with a change of a kind; nullopt where nothing is
  /// searched.
  [[nodiscard]] std::optional<MemoryRemedy> searched(plan::MemoryRemedyKind kind) const {
    if (search_.searched == nullptr) return std::nullopt;
    const TuneResult& result = *search_.searched;
    const bool fits = result.plans.front().fits;
    switch (kind) {
      case plan::MemoryRemedyKind::kSplit:
        return fits ? found(kind, result.job, result.plans.front()) : std::nullopt;
      case plan::MemoryRemedyKind::kHostOptimizer:
        return fits ? std::nullopt : on_the_hosts(kind, {0.5, 1}, false);
      case plan::MemoryRemedyKind::kParametersOnHost:
        return fits ? std::nullopt : on_the_hosts(kind, {1}, true);
      case plan::MemoryRemedyKind::kNodes: return fits ? std::nullopt : on_more_nodes();
      default: return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<MemoryRemedy> found(plan::MemoryRemedyKind kind, const plan::Job& job,
                                                  const TunedPlan& tuned) const {
    if (job.cluster.devices() < planned_.job.cluster.devices()) return std::nullopt;
    plan::PlannedJob changed{job, tuned.plan};
    std::vector<std::string> set = fields(changed);
    return MemoryRemedy{.kind = kind,
                        .set = std::move(set),
                        .changed = std::move(changed),
                        .step_time_s = tuned.step_time_s,
                        .peak_memory_bytes = tuned.peak_memory_bytes,
                        .p_fits = tuned.p_fits};
  }

  /// Returns the best plan of a changed job; nullopt where none is legal or none fits.
  [[nodiscard]] std::optional<MemoryRemedy> best_of(plan::MemoryRemedyKind kind,
                                                    const plan::Job& job) const {
    TuneOutcome outcome = tune_on_cluster(
        job, {.threads = search_.threads, .top = 1, .only_fitting = true, .only_best = true});
    const auto* result = std::get_if<TuneResult>(&outcome);
    if (result == nullptr) return std::nullopt;
    return found(kind, job, result->plans.front());
  }

  [[nodiscard]] std::optional<MemoryRemedy> on_the_hosts(plan::MemoryRemedyKind kind,
                                                         std::vector<double> shares,
                                                         bool parameters) const {
    plan::Job job = search_.searched->job;
    plan::SearchedOffloadChoices& lists = job.space.offload;
    if (!(lists == plan::SearchedOffloadChoices{})) return std::nullopt;
    lists.optimizer = std::move(shares);
    if (parameters) lists.parameters = {true};
    return best_of(kind, job);
  }

  [[nodiscard]] std::optional<MemoryRemedy> on_more_nodes() const {
    const plan::Job& job = search_.searched->job;
    std::int64_t low = job.cluster.nodes;
    std::int64_t high = low;
    const auto on = [&](std::int64_t nodes) {
      return best_of(plan::MemoryRemedyKind::kNodes, on_nodes(job, nodes));
    };
    std::optional<MemoryRemedy> best;
    for (int i = 0; i < kDoublings && !best; ++i) {
      low = high;
      high *= 2;
      best = on(high);
    }
    for (int i = 0; best && i < kHalvings && high - low > 1; ++i) {
      const std::int64_t middle = low + (high - low) / 2;
      if (auto fewer = on(middle)) {
        best = std::move(fewer);
        high = middle;
      } else {
        low = middle;
      }
    }
    return best;
  }

  const plan::PlannedJob& planned_;
  const MemoryRemedySearchOptions& search_;
  Proposals proposals_;
  std::vector<plan::FrameworkProperty>
      known_;  ///< Abilities that the framework lacks for the plan as it is.
};

}  // namespace

std::vector<MemoryRemedy> find_memory_remedies(const plan::PlannedJob& planned,
                                               const MemoryRemedySearchOptions& search) {
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  if (memory::memory_report(planned.job, program).fits()) return {};
  return RemedySeeker(planned, search).run();
}

std::string_view memory_remedy_name(plan::MemoryRemedyKind kind) {
  switch (kind) {
    case plan::MemoryRemedyKind::kLossChunks: return "the loss in chunks";
    case plan::MemoryRemedyKind::kRecompute: return "more recomputation";
    case plan::MemoryRemedyKind::kMicroBatch: return "a smaller micro-batch";
    case plan::MemoryRemedyKind::kHostActivations: return "activations on the hosts";
    case plan::MemoryRemedyKind::kHostOptimizer: return "the optimizer on the hosts";
    case plan::MemoryRemedyKind::kParametersOnHost: return "optimizer and parameters on the hosts";
    case plan::MemoryRemedyKind::kOptimizerStates: return "narrower optimizer states";
    case plan::MemoryRemedyKind::kSplit: return "another split";
    case plan::MemoryRemedyKind::kNodes: break;
  }
  return "more nodes";
}

std::string memory_remedies_text(const std::vector<MemoryRemedy>& remedies) {
  std::string text;
  for (const MemoryRemedy& remedy : remedies) {
    const bool nodes = remedy.kind == plan::MemoryRemedyKind::kNodes;
    text += fmt::format("{} {}, {} a step", text.empty() ? "It fits with" : "; or",
                        nodes ? count_with_noun(remedy.changed.job.cluster.nodes, "node")
                              : std::string(memory_remedy_name(remedy.kind)),
                        format_time(remedy.step_time_s));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace stepwright::tune

#include "stepwright/phases/pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/phases/resized.h"

namespace stepwright::phases {
namespace {

constexpr std::int64_t kMostSplits = 16;
/// Most searches for a plan that leaves room; each leaves free what the last one lacked.
constexpr int kMostSearches = 3;

/// Numbers of devices that may train if the others only generate: whole nodes, or devices of a
/// single node; evenly spaced if there are many.
std::vector<std::int64_t> training_pools(const cluster::Cluster& cluster) {
  const std::int64_t each = cluster.nodes == 1 ? 1 : cluster.devices_per_node;
  const std::int64_t units = cluster.devices() / each;
  const std::int64_t splits = std::min(units, kMostSplits);
  std::vector<std::int64_t> pools;
  for (std::int64_t i = 1; i < splits; ++i) pools.push_back(i * units / splits * each);
  return pools;
}

/// Returns the job with `bytes` less memory for plans.
plan::Job with_less_memory(plan::Job job, double bytes) {
  double& limit = job.objective.memory_limit_bytes;
  double& memory = limit > 0 ? limit : job.cluster.device.memory_bytes;
  memory -= bytes * memory::device_memory_capacity_bytes(job) / memory::usable_memory_bytes(job);
  return job;
}

/// Returns the best step of a job whose rollout states how many devices only generate: the fastest
/// that fits or, if none fits, the fastest that is tight. nullopt if none is.
std::optional<PhasedStep> best_step(const plan::Job& job, const cluster::Cluster& whole,
                                    std::int64_t stated_on, const Search& search) {
  plan::Job searched = job;
  std::optional<PhasedStep> tight;
  const auto keep_faster = [](std::optional<PhasedStep>& best, PhasedStep step) {
    if (!best || step.step_s < best->step_s) best = std::move(step);
  };
  for (int i = 0; i < kMostSearches; ++i) {
    const tune::TuneResult found = search(searched);
    if (found.plans.front().verdict == memory::MemoryFitVerdict::kDoesNotFit) return tight;
    std::optional<PhasedStep> best;
    double missing = 0;
    for (const tune::TunedPlan& tuned : found.plans) {
      plan::Job own = found.job;
      own.cluster.device = job.cluster.device;
      own.objective = job.objective;
      PhasedStep step = predict_phased_step(simulate::predict_plan({std::move(own), tuned.plan}),
                                            whole, stated_on);
      if (!step.fits()) {
        const double more = step.peak_bytes_above_policy_update();
        missing = missing == 0 ? more : std::min(missing, more);
        if (step.memory_fit_verdict_of_step() == memory::MemoryFitVerdict::kTight)
          keep_faster(tight, std::move(step));
      } else {
        keep_faster(best, std::move(step));
      }
    }
    if (best) return best;
    if (missing <= 0 || missing >= memory::usable_memory_bytes(job)) return tight;
    searched = with_less_memory(job, missing);
  }
  return tight;
}

class Splits {
 public:
  Splits(const plan::Job& job, const Search& search) : job_(job), search_(search) {}

  DevicePoolSplits run() {
    const auto& rollout = job_.method.rollout;
    if (rollout && rollout->devices > 0) {
      add(training_devices(), false);
    } else {
      add(all(), false);
      if (rollout) {
        for (const std::int64_t devices : training_pools(job_.cluster)) add(devices, true);
      }
    }
    if (found_.steps.empty()) {
      throw Error(
          ErrorKind::kRuntime,
          fmt::format(
              "no plan of the job fits in memory together with the other models and states of {}",
              name_of(plan::kMethodNames, job_.method.kind)));
    }
    // Tight splits come after all that fit.
    std::ranges::stable_sort(found_.steps, {}, [](const PhasedStep& step) {
      return std::pair(step.memory_fit_verdict_of_step(), step.step_s);
    });
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::int64_t all() const { return job_.cluster.devices(); }

  /// Number of training devices: all except those that only generate.
  [[nodiscard]] std::int64_t training_devices() const {
    const std::int64_t generating = job_.method.rollout->devices;
    if (generating >= all()) {
      fail_input(fmt::format(
          "objective.rollout.devices: {} of {} devices generate, and none is left to train",
          generating, all()));
    }
    const std::int64_t each = job_.cluster.devices_per_node;
    if (job_.cluster.nodes > 1 && generating % each != 0) {
      fail_input(fmt::format("objective.rollout.devices: {} devices do not fill whole nodes of {}",
                             generating, each));
    }
    return all() - generating;
  }

  /// Adds splits with the critic on the policy's devices (unless it has its own), and with the
  /// critic on half of the devices.
  void add(std::int64_t training, bool one_of_many) {
    add(training, 0, one_of_many);
    const std::int64_t each = job_.cluster.nodes == 1 ? 1 : job_.cluster.devices_per_node;
    const std::int64_t units = training / each;
    if (job_.method.critic.place == plan::SecondModelPlace::kSame && units % 2 == 0) {
      add(units / 2 * each, units / 2 * each, true);
    }
  }

  /// Adds one split. If there are others (`one_of_many`), a split without a legal plan is skipped.
  /// `critic`: devices that train only the critic; 0: it trains on the policy's devices.
  void add(std::int64_t training, std::int64_t critic, bool one_of_many) {
    plan::Job part = job_;
    plan::RolloutSettings* rollout = part.method.rollout ? &*part.method.rollout : nullptr;
    const std::int64_t generating = all() - training - critic;
    if (rollout != nullptr && generating > 0) {
      if (one_of_many && generating % rollout->tensor != 0) return;
      rollout->devices = generating;
    }
    if (critic > 0) {
      part.method.critic = {.place = plan::SecondModelPlace::kOther, .devices = critic};
    }
    part.cluster = cluster_with_device_count(job_.cluster, training);
    // `predict_phased_step` adds the critic's devices itself.
    const cluster::Cluster whole =
        critic > 0 ? cluster_with_device_count(job_.cluster, all() - critic) : job_.cluster;
    const std::int64_t stated_on = one_of_many || generating == 0 ? all() : generating;
    try {
      auto step = best_step(part, whole, stated_on, search_);
      if (step) found_.steps.push_back(std::move(*step));
    } catch (const Error& error) {
      if (!one_of_many || error.kind() != ErrorKind::kInput) throw;
    }
  }

  const plan::Job& job_;
  const Search& search_;
  DevicePoolSplits found_;
};

}  // namespace

DevicePoolSplits best_device_splits(const plan::Job& job, const Search& search) {
  return Splits(job, search).run();
}

}  // namespace stepwright::phases

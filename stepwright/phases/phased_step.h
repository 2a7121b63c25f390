#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/phases/weight_sync.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::phases {

/// The phases of a training step in reinforcement learning or preference optimisation, in order.
enum class StepPhaseKind : std::uint8_t {
  kGeneration,
  /// Forward pass of the policy before its updates, for the old log-probabilities.
  kOldLogProbabilities,
  kReference,  ///< Forward pass of the frozen reference policy.
  kValues,     ///< Forward pass of the critic, which estimates the value of each token.
  kUpdate,     ///< All updates of the policy in the step (forward, backward, optimizer).
  kCriticUpdate,
  kWeightSync,
  kSwitch  ///< Switching the same devices from generation to training and back.
};
inline constexpr Named<StepPhaseKind> kPhaseKindNames[] = {
    {StepPhaseKind::kGeneration, "generation"},
    {StepPhaseKind::kOldLogProbabilities, "old_log_probabilities"},
    {StepPhaseKind::kReference, "reference"},
    {StepPhaseKind::kValues, "values"},
    {StepPhaseKind::kUpdate, "update"},
    {StepPhaseKind::kCriticUpdate, "critic_update"},
    {StepPhaseKind::kWeightSync, "weight_sync"},
    {StepPhaseKind::kSwitch, "switch"}};

struct StepPhase {
  StepPhaseKind kind{};
  double seconds = 0;
  std::int64_t devices = 0;
  /// True if the phase runs on devices of its own, apart from those that train the policy.
  bool beside = false;
  /// Peak bytes of a device in this phase of the step (for generation, KV caches are not counted);
  /// 0: no more than in other phases.
  double peak_bytes = 0;
  /// Lower end of the range of `seconds`, up to `high_s`, if the phase's time is only assumed; 0:
  /// the time is predicted or stated.
  double low_s = 0;
  double high_s = 0;

  [[nodiscard]] bool assumed() const { return high_s > 0; }
};

/// A training step of reinforcement learning or preference optimisation: its phases, time and
/// memory.
struct PhasedStep {
  /// Prediction of one policy update; its memory includes the other models (reference, critic) on
  /// the devices.
  simulate::PlanPrediction update;
  std::vector<StepPhase> phases;
  PolicyWeightSync sync;  ///< Transfer of the updated weights to the devices that generate.
  double generated = 0;   ///< Number of tokens that a step of reinforcement learning generates.
  /// Seconds of all phases except generation, weight transfer and switching.
  double training_s = 0;
  double step_s = 0;
  /// Lower end, in seconds, of the interval up to `high_s` that contains the step's time `step_s`
  /// with a probability of 80 %.
  double low_s = 0;
  double high_s = 0;
  double peak_bytes = 0;     ///< Peak bytes of a device that trains, over all phases.
  std::int64_t devices = 0;  ///< Number of devices, training and generating together.
  std::vector<std::string> notes;

  [[nodiscard]] const plan::TrainingMethod& method() const { return update.planned.job.method; }
  /// True if every phase fits in the memory of its devices; for generation, only the weights count,
  /// not KV caches.
  [[nodiscard]] bool fits() const;
  /// Returns the probability that the phase with the largest peak fits in memory.
  [[nodiscard]] double probability_of_fitting() const;
  /// Returns whether the step fits in memory, with the probability that the job requests.
  [[nodiscard]] memory::MemoryFitVerdict memory_fit_verdict_of_step() const;
  /// Returns the seconds of one phase of the step; 0 if the step does not have this phase.
  [[nodiscard]] double seconds_of_phase(StepPhaseKind kind) const;
  /// Returns the number of tokens that the step trains on; tokens used by several updates count for
  /// each.
  [[nodiscard]] double trained_tokens_of_step() const;
  /// Returns the tokens trained per second, divided by the number of all devices, including those
  /// that only generate.
  [[nodiscard]] double tokens_per_s_per_device() const {
    return trained_tokens_of_step() / step_s / static_cast<double>(devices);
  }
  /// Returns by how many bytes per device another phase on the training devices exceeds a policy
  /// update's peak memory; 0: none does.
  [[nodiscard]] double peak_bytes_above_policy_update() const;
};

/// Predicts all phases of a step. Phases on the same devices follow each other; phases on other
/// devices overlap them, generation only if `staleness` is above 0. `whole`: cluster including
/// devices that only generate; `stated_on`: number of devices for which the job states a generation
/// time. Fails with `kInput` if no plan is legal on the devices that the job states for other
/// models.
PhasedStep predict_phased_step(simulate::PlanPrediction update, const cluster::Cluster& whole,
                               std::int64_t stated_on);

/// Predicts a step with all phases for a plan that is given without a search; devices that only
/// generate are added to its cluster.
PhasedStep predict_phased_step(const plan::PlannedJob& planned);

/// Returns the JSON document that `stepwright phases --json` prints (docs/formats.md, "Phases").
nlohmann::ordered_json phased_step_json(const PhasedStep& step);

}  // namespace stepwright::phases

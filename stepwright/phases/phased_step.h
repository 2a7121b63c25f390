#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/phases/weight_sync.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::phases {

/// The phases of a step of preference or reinforcement learning, in order.
enum class PhaseKind : std::uint8_t {
  kGeneration,
  kOldLogProbabilities,  ///< A forward of the policy before its updates.
  kReference,            ///< A forward of the frozen policy.
  kValues,               ///< A forward of the critic.
  kUpdate,               ///< All updates of the policy.
  kCriticUpdate,
  kWeightSync,
  kSwitch  ///< Switch from generation to training and back, on the same devices.
};
inline constexpr Named<PhaseKind> kPhaseKindNames[] = {
    {PhaseKind::kGeneration, "generation"},
    {PhaseKind::kOldLogProbabilities, "old_log_probabilities"},
    {PhaseKind::kReference, "reference"},
    {PhaseKind::kValues, "values"},
    {PhaseKind::kUpdate, "update"},
    {PhaseKind::kCriticUpdate, "critic_update"},
    {PhaseKind::kWeightSync, "weight_sync"},
    {PhaseKind::kSwitch, "switch"}};

struct StepPhase {
  PhaseKind kind{};
  double seconds = 0;
  std::int64_t devices = 0;
  /// True if the phase has devices of its own, besides those that train the policy.
  bool beside = false;
  /// Peak bytes of a device; for generation without its caches. 0: the same as in other phases.
  double peak_bytes = 0;
  /// Range of `seconds` if the phase's time is an assumption; 0: it is not.
  double low_s = 0;
  double high_s = 0;

  [[nodiscard]] bool assumed() const { return high_s > 0; }
};

/// A step of a plan with all phases of its training method.
struct PhasedStep {
  /// Prediction of one update; its memory includes the other models that stay on the devices.
  simulate::Prediction update;
  std::vector<StepPhase> phases;
  WeightSync sync;        ///< Transfer of updated weights to the generating devices.
  double generated = 0;   ///< Tokens that the step generates.
  double training_s = 0;  ///< Seconds of all phases except generation, weight sync and switch.
  double step_s = 0;
  /// Range of `step_s` with 80 % probability. Weight sync, switch and a stated generation time
  /// count as exact; an assumed generation time is at an end of its range.
  double low_s = 0;
  double high_s = 0;
  double peak_bytes = 0;     ///< Peak bytes of the training devices, over all phases.
  std::int64_t devices = 0;  ///< Number of all devices.
  std::vector<std::string> notes;

  [[nodiscard]] const plan::TrainingMethod& method() const { return update.planned.job.method; }
  /// True if every phase fits on its devices; for generation, only its weights count.
  [[nodiscard]] bool fits() const;
  /// Returns the probability that the phase with the largest peak fits.
  [[nodiscard]] double p_fits() const;
  /// Returns `fits` as a verdict, as `memory::MemoryReport::verdict` does.
  [[nodiscard]] memory::FitVerdict verdict() const;
  /// Returns the seconds of a phase; 0 if the step lacks it.
  [[nodiscard]] double seconds(PhaseKind kind) const;
  /// Tokens that the step trains on, counted once per update.
  [[nodiscard]] double tokens() const;
  /// Tokens per second per device, over all devices, also those that generate.
  [[nodiscard]] double tokens_per_s_per_device() const {
    return tokens() / step_s / static_cast<double>(devices);
  }
  /// Bytes by which the largest other phase on the same devices exceeds an update; 0: none does.
  [[nodiscard]] double bytes_beyond_update() const;
};

/// Returns the step of a legal plan. On the same devices, phases follow each other; phases on
/// devices of their own overlap them, and so does generation on other devices unless `staleness` is
/// 0. Fails with `kInput` if no plan is legal on the devices that the job states for second models.
/// `whole`: the cluster including generating devices; `stated_on`: as in `generation_s`.
PhasedStep phased_step(simulate::Prediction update, const cluster::Cluster& whole,
                       std::int64_t stated_on);

/// Returns the step of a plan given on its own: devices that only generate are added to its
/// cluster.
PhasedStep phased_step(const plan::PlannedJob& planned);

/// Writes the answer of `stepwright phases --json` (docs/formats.md, "Phases").
nlohmann::ordered_json phased_step_json(const PhasedStep& step);

}  // namespace stepwright::phases

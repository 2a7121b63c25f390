#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/phases/weight_sync.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::phases {

/// The parts of a step of preference or reinforcement learning, in their order.
enum class PhaseKind : std::uint8_t {
  kGeneration,
  kOldLogProbabilities,  ///< A forward of the policy before its updates.
  kReference,            ///< A forward of the frozen policy.
  kValues,               ///< A forward of the critic.
  kUpdate,               ///< All updates of the policy.
  kCriticUpdate,
  kWeightSync,
  kSwitch  ///< Change from generation to training and back, on the same devices.
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
  bool beside = false;  ///< True if it has devices of its own, beside those that train the policy.
  /// Peak of a device; for generation without its caches. 0: as the others.
  double peak_bytes = 0;
  /// The range of `seconds` where it is an assumption; 0: it is none.
  double low_s = 0;
  double high_s = 0;

  [[nodiscard]] bool assumed() const { return high_s > 0; }
};

/// A step of a plan with everything that its method asks for.
struct PhasedStep {
  /// Prediction of one update; its memory holds the models that stay beside it.
  simulate::Prediction update;
  std::vector<StepPhase> phases;
  WeightSync sync;        ///< Way of updated weights to the devices that generate.
  double generated = 0;   ///< Tokens that are generated.
  double training_s = 0;  ///< All but generation, the weights' way to it and the change to it.
  double step_s = 0;
  /// 80 %: weights' way and change count as exact, generation too where it is given; an assumed one
  /// is at an end of its range.
  double low_s = 0;
  double high_s = 0;
  double peak_bytes = 0;     ///< Peak of the devices that train, over the phases.
  std::int64_t devices = 0;  ///< Number of all devices.
  std::vector<std::string> notes;

  [[nodiscard]] const plan::TrainingMethod& method() const { return update.planned.job.method; }
  /// Every phase on its devices, of generation its weights.
  [[nodiscard]] bool fits() const;
  /// Probability that the largest phase fits.
  [[nodiscard]] double p_fits() const;
  /// Beside `fits`, as `memory::MemoryReport::verdict`.
  [[nodiscard]] memory::FitVerdict verdict() const;
  /// The seconds of a phase; 0 without it.
  [[nodiscard]] double seconds(PhaseKind kind) const;
  /// Tokens that a step trains on, once each.
  [[nodiscard]] double tokens() const;
  /// Tokens a second for each of all devices, those that generate too.
  [[nodiscard]] double tokens_per_s_per_device() const {
    return tokens() / step_s / static_cast<double>(devices);
  }
  /// Bytes by which the largest other phase on the same devices is above an update; 0: none is.
  [[nodiscard]] double bytes_beyond_update() const;
};

/// The step of a legal plan. On the same devices phases follow each other; devices of their own
/// work beside them, and those that generate too, unless `staleness` is 0. Fails with `kInput`
/// where nothing is legal on the devices that the job states for second models. `whole`: the
/// cluster with those that generate; `stated_on`: as in `generation_s`.
PhasedStep phased_step(simulate::Prediction update, const cluster::Cluster& whole,
                       std::int64_t stated_on);

/// Phases of a plan that stands for itself: devices that generate alone are beside its own.
PhasedStep phased_step(const plan::PlannedJob& planned);

/// The answer of `stepwright phases --json` (docs/formats.md, "Phases").
nlohmann::ordered_json phased_step_json(const PhasedStep& step);

}  // namespace stepwright::phases

#include "stepwright/phases/phased_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/memory/fit_probability.h"
#include "stepwright/phases/forward_pass.h"
#include "stepwright/phases/generation.h"
#include "stepwright/phases/generation_estimate.h"
#include "stepwright/phases/resized.h"
#include "stepwright/step/document_sizes.h"

namespace stepwright::phases {
namespace {

/// Bytes of the states of all models that stay on the device.
double resting_bytes(const step::RankModelStateBytes& states) {
  return static_cast<double>(states.parameters + states.gradients + states.optimizer +
                             states.others.bytes());
}

class Phases {
 public:
  Phases(PhasedStep& step, const cluster::Cluster& whole, std::int64_t stated_on)
      : step_(step),
        planned_(step.update.planned),
        method_(planned_.job.method),
        whole_(whole),
        stated_on_(stated_on) {}

  void run() {
    add_generation();
    if (needs_forward()) forward_ = predict_forward_passes(planned_, method_.updates);
    if (method_.old_log_probabilities) add_forward(StepPhaseKind::kOldLogProbabilities, {});
    if (method_.reference.place != plan::SecondModelPlace::kNone) {
      add_forward(StepPhaseKind::kReference, method_.reference);
    }
    if (method_.critic.place != plan::SecondModelPlace::kNone)
      add_forward(StepPhaseKind::kValues, method_.critic);
    add_update(StepPhaseKind::kUpdate, {});
    if (method_.critic.place != plan::SecondModelPlace::kNone) {
      add_update(StepPhaseKind::kCriticUpdate, method_.critic);
    }
    add_sync();
    add_up();
    add_notes();
  }

 private:
  [[nodiscard]] bool needs_forward() const {
    const auto here = [](const plan::SecondModel& model) {
      return model.place == plan::SecondModelPlace::kSame ||
             model.place == plan::SecondModelPlace::kHost;
    };
    return method_.old_log_probabilities || here(method_.reference) || here(method_.critic);
  }

  [[nodiscard]] std::int64_t devices() const { return planned_.job.cluster.devices(); }

  [[nodiscard]] const step::RankModelStateBytes& states(std::size_t position) const {
    return step_.update.program.stages[position].states;
  }

  [[nodiscard]] std::size_t positions() const { return step_.update.program.stages.size(); }

  /// Returns the peak bytes of a forward: the states of all resident models and the tensors of the
  /// forward. The forward's own parameters are already among the states, unless they come from the
  /// host.
  [[nodiscard]] double forward_peak(const plan::SecondModel& model) const {
    double most = 0;
    for (std::size_t i = 0; i < positions(); ++i) {
      const auto own = static_cast<double>(states(i).parameters);
      const double here = model.place == plan::SecondModelPlace::kHost ? 0 : own;
      most = std::max(most, forward_.peak_bytes[i] - here + resting_bytes(states(i)));
    }
    return most;
  }

  void add_generation() {
    if (!method_.rollout) return;
    const plan::RolloutSettings& rollout = *method_.rollout;
    const bool apart = rollout.devices > 0;
    const std::int64_t count = apart ? rollout.devices : devices();
    if (count % rollout.tensor != 0) {
      fail_input(
          fmt::format("objective.rollout.tensor: {} does not divide the {} devices that generate",
                      rollout.tensor, count));
    }
    step_.sync = predict_weight_sync(planned_, step_.update.program, whole_);
    step_.generated = generated_tokens_per_step(planned_.job);
    double resting = 0;
    for (std::size_t i = 0; i < positions() && !apart; ++i) {
      resting = std::max(resting, resting_bytes(states(i)));
    }
    StepPhase phase{.kind = StepPhaseKind::kGeneration,
                    .devices = count,
                    .beside = apart,
                    .peak_bytes = resting + step_.sync.held_bytes};
    if (is_generation_speed_stated(rollout)) {
      phase.seconds = generation_seconds_at_stated_speed(planned_.job, count, stated_on_);
    } else {
      const double room = step_.update.memory.usable_memory_bytes() - phase.peak_bytes;
      estimate_ = estimate_generation_time(planned_.job, count, room);
      phase.seconds = estimate_.seconds;
      phase.low_s = estimate_.low_s;
      phase.high_s = estimate_.high_s;
    }
    step_.phases.push_back(phase);
  }

  void add_forward(StepPhaseKind kind, const plan::SecondModel& model) {
    StepPhase phase{.kind = kind, .devices = devices()};
    if (model.place == plan::SecondModelPlace::kOther) {
      const plan::PlannedJob other = plan_with_device_count(planned_, model.devices, key_of(kind));
      const ForwardPassPrediction forward = predict_forward_passes(other, method_.updates);
      phase.seconds = forward.seconds + sequence_dispatch_s(planned_.job);
      phase.peak_bytes = *std::ranges::max_element(forward.peak_bytes);
      if (kind == StepPhaseKind::kValues)
        phase.peak_bytes = simulate::predict_plan(other).memory.peak_bytes;
      phase.devices = model.devices;
      phase.beside = true;
    } else {
      phase.seconds = forward_.seconds + sequence_dispatch_s(planned_.job);
      phase.peak_bytes = forward_peak(model);
    }
    step_.phases.push_back(phase);
  }

  void add_update(StepPhaseKind kind, const plan::SecondModel& model) {
    StepPhase phase{.kind = kind, .devices = devices()};
    double one_s = step_.update.step_time_s();
    phase.peak_bytes = step_.update.memory.peak_bytes;
    if (model.place == plan::SecondModelPlace::kOther) {
      const simulate::PlanPrediction other =
          simulate::predict_plan(plan_with_device_count(planned_, model.devices, key_of(kind)));
      one_s = other.step_time_s();
      phase.peak_bytes = other.memory.peak_bytes;
      phase.devices = model.devices;
      phase.beside = true;
    }
    phase.seconds =
        static_cast<double>(method_.updates) * one_s + sequence_dispatch_s(planned_.job);
    step_.phases.push_back(phase);
  }

  static const char* key_of(StepPhaseKind kind) {
    return kind == StepPhaseKind::kReference ? "objective.reference.devices"
                                             : "objective.critic.devices";
  }

  void add_sync() {
    if (!method_.rollout) return;
    step_.phases.push_back({.kind = StepPhaseKind::kWeightSync,
                            .seconds = step_.sync.seconds(),
                            .devices = whole_.devices()});
    const plan::RolloutSettings& rollout = *method_.rollout;
    if (rollout.devices > 0 || rollout.switch_s <= 0) return;
    step_.phases.push_back(
        {.kind = StepPhaseKind::kSwitch, .seconds = rollout.switch_s, .devices = devices()});
  }

  /// Returns the seconds of all forwards, then of all updates; of the phases on the policy's
  /// devices and those on other devices, the slower counts.
  [[nodiscard]] double training_s() const {
    const auto longest = [&](StepPhaseKind first, StepPhaseKind last) {
      double here = 0;
      double beside = 0;
      for (const StepPhase& phase : step_.phases) {
        if (phase.kind < first || phase.kind > last) continue;
        if (phase.beside) beside = std::max(beside, phase.seconds);
        if (!phase.beside) here += phase.seconds;
      }
      return std::max(here, beside);
    };
    return longest(StepPhaseKind::kOldLogProbabilities, StepPhaseKind::kValues) +
           longest(StepPhaseKind::kUpdate, StepPhaseKind::kCriticUpdate);
  }

  void add_up() {
    const double generation = step_.seconds_of_phase(StepPhaseKind::kGeneration);
    const double between = step_.seconds_of_phase(StepPhaseKind::kWeightSync) +
                           step_.seconds_of_phase(StepPhaseKind::kSwitch);
    const bool overlaps = method_.rollout && method_.rollout->devices > 0 && method_.staleness > 0;
    const auto step_of = [&](double training, double generating) {
      return between + (overlaps ? std::max(generating, training) : generating + training);
    };
    const bool assumed = estimate_.engines > 0;
    const simulate::PlanPrediction& update = step_.update;
    step_.training_s = training_s();
    step_.step_s = step_of(step_.training_s, generation);
    step_.low_s =
        step_of(step_.training_s * update.interval.low, assumed ? estimate_.low_s : generation);
    step_.high_s =
        step_of(step_.training_s * update.interval.high, assumed ? estimate_.high_s : generation);
    step_.devices = method_.rollout ? whole_.devices() : devices();
    for (const plan::SecondModel& model : {method_.reference, method_.critic}) {
      if (model.place == plan::SecondModelPlace::kOther) step_.devices += model.devices;
    }
    for (const StepPhase& phase : step_.phases) {
      const bool trains = !phase.beside && phase.kind != StepPhaseKind::kGeneration;
      if (trains) step_.peak_bytes = std::max(step_.peak_bytes, phase.peak_bytes);
    }
  }

  void add_notes() {
    std::vector<std::string>& notes = step_.notes;
    notes = step_.update.notes;
    if (method_.reference.place == plan::SecondModelPlace::kSame && planned_.job.model.adapters) {
      notes.emplace_back(
          "The reference is the base without its adapters: it needs no copy of the policy.");
    }
    if (method_.reference.place == plan::SecondModelPlace::kHost) {
      notes.emplace_back("The time excludes the copy of the reference model from host memory.");
    }
    if (method_.critic.place != plan::SecondModelPlace::kNone) {
      notes.emplace_back(
          "The critic is assumed to be a model like the policy, including the head.");
    }
    if (estimate_.engines > 0) {
      notes.emplace_back(fmt::format(
          "The generation is an assumption, {} to {}: {} of {}, {} at once on each, at {} to {} of "
          "the memory bandwidth. `rollout: {{tokens_per_s: N}}` or `{{seconds: N}}` of a run of "
          "yours replaces it.",
          format_time(estimate_.low_s), format_time(estimate_.high_s),
          count_with_noun(estimate_.engines, "engine"),
          count_with_noun(method_.rollout->tensor, "GPU"),
          count_with_noun(estimate_.at_once, "sequence"), format_percent(kMinInferencePeakShare),
          format_percent(kMaxInferencePeakShare)));
    } else if (method_.rollout) {
      notes.emplace_back(
          "The job states how fast sequences are generated; this speed is not predicted.");
    }
    if (method_.rollout && !method_.dispatch) {
      notes.emplace_back(
          "The time excludes the computation of rewards and the transfer of sequences between "
          "devices.");
    }
    if (method_.dispatch) {
      notes.emplace_back(
          fmt::format("Of each phase that trains or takes a forward {} are one process that hands "
                      "its sequences out; rewards are not in the time.",
                      format_time(sequence_dispatch_s(planned_.job))));
    }
    notes.insert(notes.end(), step_.update.basis.begin(), step_.update.basis.end());
  }

  PhasedStep& step_;
  const plan::PlannedJob& planned_;
  const plan::TrainingMethod& method_;
  const cluster::Cluster& whole_;
  std::int64_t stated_on_;
  ForwardPassPrediction forward_;  ///< Forward of the policy on its own devices.
  /// Estimate of generation; `engines` is 0 if its speed is given or the method has none.
  RolloutTimeEstimate estimate_;
};

}  // namespace

double PhasedStep::seconds_of_phase(StepPhaseKind kind) const {
  const auto found = std::ranges::find(phases, kind, &StepPhase::kind);
  return found == phases.end() ? 0 : found->seconds;
}

double PhasedStep::trained_tokens_of_step() const {
  return static_cast<double>(method().updates) *
         step::trained_data_tokens_per_step(update.planned.job);
}

bool PhasedStep::fits() const {
  const double usable = update.memory.usable_memory_bytes();
  const auto fits = [&](const StepPhase& phase) { return phase.peak_bytes <= usable; };
  return update.memory.fits_hosts() && std::ranges::all_of(phases, fits);
}

double PhasedStep::probability_of_fitting() const {
  double most = update.memory.peak_bytes;
  for (const StepPhase& phase : phases) most = std::max(most, phase.peak_bytes);
  const double needed = most + update.memory.uneven_bytes;
  return memory::memory_fit_probability(
      needed / update.memory.capacity_bytes,
      memory::memory_prediction_error_model(update.planned.job.framework));
}

memory::MemoryFitVerdict PhasedStep::memory_fit_verdict_of_step() const {
  if (fits()) return memory::MemoryFitVerdict::kFits;
  const double confidence = update.memory.confidence;
  if (!update.memory.fits_hosts() || confidence == 0) return memory::MemoryFitVerdict::kDoesNotFit;
  return std::max(memory::MemoryFitVerdict::kTight,
                  memory::memory_fit_verdict(probability_of_fitting(), confidence));
}

double PhasedStep::peak_bytes_above_policy_update() const {
  double most = update.memory.peak_bytes;
  for (const StepPhase& phase : phases) {
    if (!phase.beside) most = std::max(most, phase.peak_bytes);
  }
  return most - update.memory.peak_bytes;
}

PhasedStep predict_phased_step(simulate::PlanPrediction update, const cluster::Cluster& whole,
                               std::int64_t stated_on) {
  PhasedStep step{.update = std::move(update)};
  Phases(step, whole, stated_on).run();
  return step;
}

PhasedStep predict_phased_step(const plan::PlannedJob& planned) {
  const cluster::Cluster& own = planned.job.cluster;
  const auto& rollout = planned.job.method.rollout;
  const std::int64_t beside = rollout ? rollout->devices : 0;
  const cluster::Cluster whole =
      beside == 0 ? own : cluster_with_device_count(own, own.devices() + beside);
  return predict_phased_step(simulate::predict_plan(planned), whole,
                             beside == 0 ? own.devices() : beside);
}

}  // namespace stepwright::phases

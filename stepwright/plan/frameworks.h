#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// What one framework, in one release, runs; the newest release when none is stated.
class FrameworkLaw {
 public:
  static constexpr DegreeSet kDegreeSets = 32;  ///< All below.

  /// `framework` has a name of `kFrameworkNames`.
  explicit FrameworkLaw(const Framework& framework);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The words of an ability that it runs where these degrees are above 1.
  [[nodiscard]] const WordSet& allowed(Ability ability, DegreeSet degrees) const {
    return allowed_[static_cast<std::size_t>(ability)][degrees];
  }
  /// Whether it runs what a plan chooses there. The plan is as in `taken_words`.
  [[nodiscard]] bool runs(Ability ability, const Job& job, const Plan& plan) const;
  /// "megatron-lm runs schedule 1f1b, interleaved".
  [[nodiscard]] std::string sentence(Ability ability) const;

 private:
  std::string name_;
  std::array<std::array<WordSet, kDegreeSets>, kAbilities> allowed_;
};

/// Something of a plan or its job that a framework does not run.
struct NotRun {
  Ability ability{};
  std::string message;  ///< "schedule zb-h1: megatron-lm runs schedule 1f1b, interleaved".
};

/// All that a framework does not run of a legal plan and its job, in the order of `kAbilityNames`;
/// empty: it runs the plan as it is.
std::vector<NotRun> not_run(const Framework& framework, const Job& job, const Plan& plan);

/// The frameworks, in the order of `kFrameworkNames`, that run a legal plan as it is. Kernels of
/// attention do not count, since each framework brings its own.
std::vector<std::string_view> runs_on(const Job& job, const Plan& plan);

/// The plan that a framework runs and that is nearest to a legal one: choice after choice goes to
/// the nearest word that gives a legal plan, and what must follow follows. Nothing when the job
/// itself asks for what the framework does not run, or no plan so near is legal.
std::optional<Plan> nearest_run(const Framework& framework, const Job& job, const Plan& plan);

}  // namespace stepwright

#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

struct AbilityEntry;

/// The plans and jobs that one framework runs, in one release (the newest if none is stated).
class FrameworkLaw {
 public:
  /// Number of possible sets of the degrees of `DegreeSet`.
  static constexpr DegreeSet kDegreeSets = 32;

  /// `framework.name` must be one of `kFrameworkNames`.
  explicit FrameworkLaw(const Framework& framework);

  [[nodiscard]] const std::string& name() const { return framework_.name; }
  /// Words of an ability that the framework runs when these degrees are above 1.
  [[nodiscard]] const WordSet& allowed(Ability ability, DegreeSet degrees) const {
    return allowed_[static_cast<std::size_t>(ability)][degrees];
  }
  /// Words of an ability that the framework runs together with the other choices of a plan. The
  /// plan must be as for `taken_words`.
  [[nodiscard]] WordSet allowed(Ability ability, const Job& job, const Plan& plan) const;
  /// True if the framework runs a plan's choice for an ability, together with the plan's other
  /// choices.
  [[nodiscard]] bool runs(Ability ability, const Job& job, const Plan& plan) const;
  /// Returns at most `most` abilities for which the framework does not run the choice of a plan or
  /// its job, in their order; attention kernels are last, as each framework has its own.
  [[nodiscard]] std::vector<Ability> not_run(const Job& job, const Plan& plan,
                                             std::size_t most = kAbilities) const;
  /// True if the framework runs a canonical plan unchanged, buckets included; attention kernels are
  /// ignored, as each framework has its own.
  [[nodiscard]] bool runs(const Job& job, const Plan& plan) const;
  /// True if the framework runs a plan's choice for an ability, considering only the plan's
  /// degrees.
  [[nodiscard]] bool runs_alone(Ability ability, const Job& job, const Plan& plan) const;

  /// Lines of the framework's file that restrict one ability if another has certain words, one bit
  /// per line. `breaks`: lines that some choices of a plan violate if they apply; `holds`: lines
  /// that the choices make apply. A plan runs if no line is in both sets.
  struct AbilityCoupling {
    std::uint64_t breaks = 0;
    std::uint64_t holds = 0;
    [[nodiscard]] AbilityCoupling operator|(const AbilityCoupling& other) const {
      return {breaks | other.breaks, holds | other.holds};
    }
    [[nodiscard]] bool runs() const { return (breaks & holds) == 0; }
    auto operator<=>(const AbilityCoupling&) const = default;
  };
  [[nodiscard]] AbilityCoupling joint(std::span<const Ability> decided, const Job& job,
                                      const Plan& plan) const;
  /// Such lines for the collective algorithms of some schemes, if all schemes with messages must
  /// use one algorithm.
  [[nodiscard]] AbilityCoupling joint(std::span<collective::Algorithm Collectives::* const> schemes,
                                      const Plan& plan) const;
  /// For each line that joins an ability to another one, the words that it allows, without the
  /// lines by which overlap restricts itself.
  [[nodiscard]] std::vector<WordSet> coupled_words(Ability ability) const;
  /// Lines of `coupled_words`, as bits of `AbilityCoupling`, that do not allow a word of an
  /// ability.
  [[nodiscard]] std::uint64_t lines_without(Ability ability, std::size_t word) const;

  /// Returns a canonical plan in which buckets that the framework fixes replace the plan's.
  [[nodiscard]] Plan with_buckets(const Job& job, Plan plan) const;

  /// Describes the words of an ability that the framework runs: "megatron-lm runs schedule 1f1b,
  /// interleaved".
  [[nodiscard]] std::string sentence(Ability ability) const;

 private:
  [[nodiscard]] bool within(Ability ability, const Job& job, const Plan& plan,
                            const WordSet& words) const;

  Framework framework_;
  /// Lines that apply only together with words of other abilities.
  std::vector<const AbilityEntry*> joining_;
  std::array<std::array<WordSet, kDegreeSets>, kAbilities> allowed_;
};

/// A choice of a plan or its job that a framework does not run.
struct UnsupportedChoice {
  Ability ability{};
  /// Message about it: "schedule zb-h1: megatron-lm runs schedule 1f1b, interleaved".
  std::string message;
};

/// Returns all choices of a legal plan and its job that a framework does not run, in the order of
/// `kAbilityNames`; empty: it runs the plan unchanged.
std::vector<UnsupportedChoice> not_run(const Framework& framework, const Job& job,
                                       const Plan& plan);

/// Returns the frameworks that run a legal plan unchanged, in the order of `kFrameworkNames`.
/// Attention kernels are ignored, as each framework has its own.
std::vector<std::string_view> frameworks_running_plan(const Job& job, const Plan& plan);

/// Returns the plan nearest to a legal one that a framework runs: one choice after the other moves
/// to the nearest word that gives a legal plan, and dependent choices follow. nullopt if the
/// framework does not run the job itself, or no plan is legal there. If no plan near the given one
/// runs, other degrees of parallelism are tried, unless `near` is true.
std::optional<Plan> nearest_runnable_plan(const Framework& framework, const Job& job,
                                          const Plan& plan, bool near = false);

}  // namespace stepwright::plan

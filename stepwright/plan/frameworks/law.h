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

/// The law of one framework, in one release; the newest release when none is stated.
class FrameworkLaw {
 public:
  static constexpr DegreeSet kDegreeSets = 32;  ///< Number of all sets of the degrees below.

  /// `framework` has a name of `kFrameworkNames`.
  explicit FrameworkLaw(const Framework& framework);

  [[nodiscard]] const std::string& name() const { return framework_.name; }
  /// The words of an ability that it runs where these degrees are above 1.
  [[nodiscard]] const WordSet& allowed(Ability ability, DegreeSet degrees) const {
    return allowed_[static_cast<std::size_t>(ability)][degrees];
  }
  /// The words of an ability that it runs beside what else a plan has. The plan is as in
  /// `taken_words`.
  [[nodiscard]] WordSet allowed(Ability ability, const Job& job, const Plan& plan) const;
  /// Whether it runs what a plan chooses there, beside what else the plan has.
  [[nodiscard]] bool runs(Ability ability, const Job& job, const Plan& plan) const;
  /// The first `most` abilities of which it does not run all that a plan and its job take, in their
  /// order: kernels of attention are last, as each framework brings its own.
  [[nodiscard]] std::vector<Ability> not_run(const Job& job, const Plan& plan,
                                             std::size_t most = kAbilities) const;
  /// Whether it runs a canonical plan as it is, buckets included, with its own kernels of
  /// attention.
  [[nodiscard]] bool runs(const Job& job, const Plan& plan) const;
  /// Whether it runs what a plan chooses there, beside the plan's degrees alone.
  [[nodiscard]] bool runs_alone(Ability ability, const Job& job, const Plan& plan) const;

  /// Lines that join two abilities, one bit each: those that some choices of a plan break where
  /// they hold, and those that the choices make hold. A plan runs when no line that one of its
  /// choices breaks is made to hold by another.
  struct Joint {
    std::uint64_t breaks = 0;
    std::uint64_t holds = 0;
    [[nodiscard]] Joint operator|(const Joint& other) const {
      return {breaks | other.breaks, holds | other.holds};
    }
    [[nodiscard]] bool runs() const { return (breaks & holds) == 0; }
    auto operator<=>(const Joint&) const = default;
  };
  [[nodiscard]] Joint joint(std::span<const Ability> decided, const Job& job,
                            const Plan& plan) const;
  /// Lines for the algorithms of some schemes, where all schemes that send must take one algorithm.
  [[nodiscard]] Joint joint(std::span<collective::Algorithm Collectives::* const> schemes,
                            const Plan& plan) const;
  /// The words of an ability by each line that joins it to another, but for what overlap says of
  /// itself.
  [[nodiscard]] std::vector<WordSet> joined_words(Ability ability) const;
  /// Lines of `joined_words`, as bits of `Joint`, in which an ability lacks a word.
  [[nodiscard]] std::uint64_t lines_without(Ability ability, std::size_t word) const;

  /// A canonical plan with the buckets of the framework where a plan does not choose them.
  [[nodiscard]] Plan with_buckets(const Job& job, Plan plan) const;

  /// "megatron-lm runs schedule 1f1b, interleaved".
  [[nodiscard]] std::string sentence(Ability ability) const;

 private:
  [[nodiscard]] bool within(Ability ability, const Job& job, const Plan& plan,
                            const WordSet& words) const;

  Framework framework_;
  std::vector<const AbilityEntry*> joining_;  ///< Lines that hold beside words of other abilities.
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
/// itself asks for what the framework does not run, or no plan is legal there. Where nothing near
/// the plan runs, other degrees of parallelism are tried, unless only `near` ones are asked for.
std::optional<Plan> nearest_run(const Framework& framework, const Job& job, const Plan& plan,
                                bool near = false);

}  // namespace stepwright::plan

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

struct FrameworkPropertyLine;

/// The plans and jobs that one framework supports, in one release (the newest if none is stated).
class FrameworkSupport {
 public:
  /// Number of combinations of parallelism degrees above 1 (2^5).
  static constexpr DegreeSet kParallelismDegreeCombinations = 32;

  /// Reads what `framework` supports; its name must be one of `kFrameworkNames`.
  explicit FrameworkSupport(const TrainingFramework& framework);

  [[nodiscard]] const std::string& name() const { return framework_.name; }
  /// Returns the values of a property (schedule, sharding, ...) that the framework supports when
  /// these parallelism degrees are above 1, without regard to a plan's other choices.
  [[nodiscard]] const WordSet& supported_property_words(FrameworkProperty ability,
                                                        DegreeSet degrees) const {
    return allowed_[static_cast<std::size_t>(ability)][degrees];
  }
  /// Returns the values of a property (schedule, sharding, ...) that the framework supports
  /// together with a plan's other choices. The plan must be canonical.
  [[nodiscard]] WordSet supported_property_words(FrameworkProperty ability, const Job& job,
                                                 const Plan& plan) const;
  /// True if the framework supports a plan's value of one property (schedule, sharding, ...)
  /// together with its other choices.
  [[nodiscard]] bool supports_plan(FrameworkProperty ability, const Job& job,
                                   const Plan& plan) const;
  /// Returns the first `most` properties whose value in a plan or its job the framework does not
  /// support. Attention kernels come last, as each framework has its own.
  [[nodiscard]] std::vector<FrameworkProperty> choices_unsupported_by_framework(
      const Job& job, const Plan& plan, std::size_t most = kAbilities) const;
  /// True if the framework supports a canonical plan without any change, buckets included.
  /// Attention kernels are ignored, as each framework has its own.
  [[nodiscard]] bool supports_plan(const Job& job, const Plan& plan) const;
  /// True if the framework supports a plan's value of one property together with the plan's
  /// parallelism degrees; other choices are ignored.
  [[nodiscard]] bool supports_property_value_alone(FrameworkProperty ability, const Job& job,
                                                   const Plan& plan) const;

  /// Lines of a framework's file that restrict one property where another has certain values, as
  /// sets of bits, one for each line. `breaks`: lines whose restriction a plan violates; `holds`:
  /// lines whose condition it meets. The framework supports the plan if no line is in both.
  struct FrameworkPropertyCoupling {
    std::uint64_t breaks = 0;
    std::uint64_t holds = 0;
    [[nodiscard]] FrameworkPropertyCoupling operator|(
        const FrameworkPropertyCoupling& other) const {
      return {breaks | other.breaks, holds | other.holds};
    }
    [[nodiscard]] bool runs() const { return (breaks & holds) == 0; }
    auto operator<=>(const FrameworkPropertyCoupling&) const = default;
  };
  [[nodiscard]] FrameworkPropertyCoupling single_collective_algorithm_rule(
      std::span<const FrameworkProperty> decided, const Job& job, const Plan& plan) const;
  /// Returns lines that rule out plans in which `schemes` (tensor, data, ...) use different
  /// collective algorithms, if the framework wants one algorithm for all schemes with messages;
  /// else no lines.
  [[nodiscard]] FrameworkPropertyCoupling single_collective_algorithm_rule(
      std::span<collective::CollectiveAlgorithm CollectiveAlgorithmChoices::* const> schemes,
      const Plan& plan) const;
  /// Returns, for each line of a framework's file that restricts a property where another property
  /// has a certain value, the values that the line still allows. Leaves out lines on overlap that
  /// depend on overlap.
  [[nodiscard]] std::vector<WordSet> coupled_property_words(FrameworkProperty ability) const;
  /// Returns the conditional lines (bits of `FrameworkPropertyCoupling`) that forbid the value with
  /// index `word` of a property.
  [[nodiscard]] std::uint64_t coupling_lines_forbidding_value(FrameworkProperty ability,
                                                              std::size_t word) const;

  /// Returns a canonical plan with the bucket sizes that the framework fixes, if it offers no
  /// choice.
  [[nodiscard]] Plan with_framework_bucket_sizes(const Job& job, Plan plan) const;

  /// Returns a sentence with the values of a property that the framework supports: "megatron-lm
  /// runs schedule 1f1b, interleaved".
  [[nodiscard]] std::string supported_property_values_sentence(FrameworkProperty ability) const;

 private:
  [[nodiscard]] bool within(FrameworkProperty ability, const Job& job, const Plan& plan,
                            const WordSet& words) const;

  TrainingFramework framework_;
  /// Lines of the framework's file that restrict a property of plans (schedule, sharding, ...) only
  /// where other properties have certain values.
  std::vector<const FrameworkPropertyLine*> joining_;
  std::array<std::array<WordSet, kParallelismDegreeCombinations>, kAbilities> allowed_;
};

/// A choice of a plan or its job that a framework does not support.
struct UnsupportedChoice {
  FrameworkProperty ability{};
  /// Explanation for users: "schedule zb-h1: megatron-lm runs schedule 1f1b, interleaved".
  std::string message;
};

/// Returns all choices of a legal plan and its job that a framework does not support, in the order
/// of `kAbilityNames`; empty: it runs the plan unchanged.
std::vector<UnsupportedChoice> choices_unsupported_by_framework(const TrainingFramework& framework,
                                                                const Job& job, const Plan& plan);

/// Returns the frameworks that support a legal plan without any change, in the order of
/// `kFrameworkNames`. Attention kernels are ignored, as each framework has its own.
std::vector<std::string_view> frameworks_supporting_plan(const Job& job, const Plan& plan);

/// Returns the legal plan nearest to `plan` that a framework supports: each unsupported choice
/// moves to its nearest supported value, and dependent choices follow. Tries other parallelism
/// degrees if that fails, unless `near`. nullopt if the framework does not support the job, or no
/// such plan is legal.
std::optional<Plan> nearest_runnable_plan(const TrainingFramework& framework, const Job& job,
                                          const Plan& plan, bool near = false);

}  // namespace stepwright::plan

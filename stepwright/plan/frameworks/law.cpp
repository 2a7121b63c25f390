#include "stepwright/plan/frameworks/law.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/release.h"
#include "stepwright/plan/frameworks/table.h"

namespace stepwright::plan {
namespace {

/// Bits of `FrameworkPropertyCoupling` for lines; the higher bits are collective algorithms.
constexpr std::size_t kMostLines = 48;

constexpr std::uint64_t bit(std::size_t place) { return std::uint64_t{1} << place; }

/// Returns the lines that apply to a framework's release. A variant's line on an ability replaces
/// the framework's own line.
std::vector<const FrameworkPropertyLine*> lines_of(const TrainingFramework& framework) {
  std::vector<const FrameworkPropertyLine*> lines;
  std::bitset<kAbilities> varied;
  for (const FrameworkPropertyLine& line : framework_description(framework.name).runs) {
    const bool own = line.variant.empty() || line.variant == framework.variant;
    if (!own || !range_covers_release(line.releases, framework.version)) continue;
    lines.push_back(&line);
    if (!line.variant.empty()) varied.set(static_cast<std::size_t>(line.ability));
  }
  std::erase_if(lines, [&](const FrameworkPropertyLine* line) {
    return line->variant.empty() && varied[static_cast<std::size_t>(line->ability)];
  });
  return lines;
}

bool joins(const FrameworkPropertyLine& line) { return line.other != FrameworkProperty::kParallel; }

bool holds_of_job(const FrameworkPropertyLine& line, const Job& job, const Plan& plan) {
  return std::ranges::all_of(line.of_job, [&](const auto& one) { return one.holds(job, plan); });
}

bool counts_with(const FrameworkPropertyLine& line, DegreeSet degrees) {
  if ((line.without & WordSet(degrees)).any()) return false;
  return line.with.none() || (line.with & WordSet(degrees)).any();
}

/// Returns a framework's name with its variant, as "megatron-core (ms-swift)".
std::string whose(const TrainingFramework& framework) {
  if (framework.variant.empty()) return framework.name;
  return fmt::format("{} ({})", framework.name, framework.variant);
}

/// Describes the degrees that narrow what a framework runs, as " with pipeline"; empty: none.
std::string with_text(const FrameworkSupport& law, FrameworkProperty ability, DegreeSet degrees,
                      const WordSet& allowed) {
  if (allowed != law.supported_property_words(ability, degrees))
    return " together with the rest of the plan";
  const WordSet& here = law.supported_property_words(ability, degrees);
  std::string text;
  const std::vector<std::string>& names =
      framework_property_value_names(FrameworkProperty::kParallel);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const DegreeSet alone = DegreeSet{1} << i;
    if ((degrees & alone) == 0) continue;
    const bool narrows =
        law.supported_property_words(ability, alone) != law.supported_property_words(ability, 0);
    if (narrows) text += fmt::format("{}{}", text.empty() ? " with " : " and ", names[i]);
  }
  return here == law.supported_property_words(ability, 0) ? "" : text;
}

}  // namespace

FrameworkSupport::FrameworkSupport(const TrainingFramework& framework) : framework_(framework) {
  for (auto& of_degrees : allowed_) {
    for (WordSet& words : of_degrees) words.set();
  }
  for (const FrameworkPropertyLine* line : lines_of(framework)) {
    if (joins(*line)) {
      joining_.push_back(line);
      continue;
    }
    auto& of_degrees = allowed_[static_cast<std::size_t>(line->ability)];
    for (DegreeSet degrees = 0; degrees < kParallelismDegreeCombinations; ++degrees) {
      if (counts_with(*line, degrees)) of_degrees[degrees] &= line->words;
    }
  }
}

WordSet FrameworkSupport::supported_property_words(FrameworkProperty ability, const Job& job,
                                                   const Plan& plan) const {
  WordSet words = supported_property_words(ability, degrees_above_one(plan.parallel));
  for (const FrameworkPropertyLine* line : joining_) {
    const bool holds = line->ability == ability &&
                       (property_values_of_plan(line->other, job, plan) & line->with).any() &&
                       holds_of_job(*line, job, plan);
    if (holds) words &= line->words;
  }
  return words;
}

bool FrameworkSupport::supports_plan(FrameworkProperty ability, const Job& job,
                                     const Plan& plan) const {
  return within(ability, job, plan, supported_property_words(ability, job, plan));
}

std::vector<FrameworkProperty> FrameworkSupport::choices_unsupported_by_framework(
    const Job& job, const Plan& plan, std::size_t most) const {
  std::vector<FrameworkProperty> all;
  for (const auto& [ability, name] : kAbilityNames) {
    if (all.size() < most && !supports_plan(ability, job, plan)) all.push_back(ability);
  }
  return all;
}

// Attention is the last ability, so that any other ability that does not run is found before it.
static_assert(std::end(kAbilityNames)[-1].value == FrameworkProperty::kAttention);

bool FrameworkSupport::supports_plan(const Job& job, const Plan& plan) const {
  const std::vector<FrameworkProperty> first = choices_unsupported_by_framework(job, plan, 1);
  const bool all = first.empty() || first.front() == FrameworkProperty::kAttention;
  return all && with_framework_bucket_sizes(job, plan) == plan;
}

bool FrameworkSupport::supports_property_value_alone(FrameworkProperty ability, const Job& job,
                                                     const Plan& plan) const {
  return within(ability, job, plan,
                supported_property_words(ability, degrees_above_one(plan.parallel)));
}

FrameworkSupport::FrameworkPropertyCoupling FrameworkSupport::single_collective_algorithm_rule(
    std::span<const FrameworkProperty> decided, const Job& job, const Plan& plan) const {
  FrameworkPropertyCoupling joint;
  if (joining_.empty()) return joint;
  std::array<std::optional<WordSet>, kAbilities> taken;
  for (const FrameworkProperty ability : decided) {
    taken[static_cast<std::size_t>(ability)] = property_values_of_plan(ability, job, plan);
  }
  for (std::size_t i = 0; i < joining_.size(); ++i) {
    const FrameworkPropertyLine& line = *joining_[i];
    const auto& here = taken[static_cast<std::size_t>(line.ability)];
    const auto& other = taken[static_cast<std::size_t>(line.other)];
    const bool broken =
        here && (*here & ~line.words).any() && !within(line.ability, job, plan, line.words);
    if (broken) joint.breaks |= bit(i);
    const bool holds = other && (*other & line.with).any() && holds_of_job(line, job, plan);
    if (holds) joint.holds |= bit(i);
  }
  return joint;
}

FrameworkSupport::FrameworkPropertyCoupling FrameworkSupport::single_collective_algorithm_rule(
    std::span<collective::CollectiveAlgorithm CollectiveAlgorithmChoices::* const> schemes,
    const Plan& plan) const {
  FrameworkPropertyCoupling joint;
  if (supported_property_words(FrameworkProperty::kAlgorithmScope, 0).all()) return joint;
  const auto active = active_parallelism_schemes(plan);
  constexpr std::uint64_t kAll = (bit(std::size(collective::kCollectiveAlgorithmNames)) - 1)
                                 << kMostLines;
  for (const auto scheme : schemes) {
    if (std::ranges::find(active, scheme) == active.end()) continue;
    const auto algorithm = static_cast<std::size_t>(plan.collectives.*scheme);
    joint.holds |= bit(kMostLines + algorithm);
    joint.breaks |= kAll & ~bit(kMostLines + algorithm);
  }
  return joint;
}

std::vector<WordSet> FrameworkSupport::coupled_property_words(FrameworkProperty ability) const {
  std::vector<WordSet> all;
  for (const FrameworkPropertyLine* line : joining_) {
    if (line->ability == ability && line->other != FrameworkProperty::kExposed)
      all.push_back(line->words);
  }
  return all;
}

std::uint64_t FrameworkSupport::coupling_lines_forbidding_value(FrameworkProperty ability,
                                                                std::size_t word) const {
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < joining_.size(); ++i) {
    const FrameworkPropertyLine& line = *joining_[i];
    const bool lacks =
        line.ability == ability && line.other != FrameworkProperty::kExposed && !line.words[word];
    if (lacks) lines |= bit(i);
  }
  return lines;
}

Plan FrameworkSupport::with_framework_bucket_sizes(const Job& job, Plan plan) const {
  const BucketSizes own =
      fixed_bucket_sizes(framework_, job, plan, {plan.gradient_bucket, plan.parameter_bucket});
  plan.gradient_bucket = own.gradients;
  plan.parameter_bucket = own.parameters;
  return canonical_plan(plan, job);
}

bool FrameworkSupport::within(FrameworkProperty ability, const Job& job, const Plan& plan,
                              const WordSet& words) const {
  if ((property_values_of_plan(ability, job, plan) & ~words).none()) return true;
  if (ability != FrameworkProperty::kRankOrder) return false;
  // Another rank order may give this plan the same grid.
  const std::vector<std::string>& orders = framework_property_value_names(ability);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (!words[i]) continue;
    Plan other = plan;
    other.rank_order = parse_rank_order(orders[i]).value();
    if (canonical_plan(other, job).rank_order == plan.rank_order) return true;
  }
  return false;
}

std::string FrameworkSupport::supported_property_values_sentence(FrameworkProperty ability) const {
  return fmt::format("{} runs {} {}", whose(framework_), name_of(kAbilityNames, ability),
                     property_words_text(ability, supported_property_words(ability, 0)));
}

std::vector<UnsupportedChoice> choices_unsupported_by_framework(const TrainingFramework& framework,
                                                                const Job& job, const Plan& plan) {
  const FrameworkSupport law(framework);
  const Plan usual = canonical_plan(plan, job);
  const DegreeSet degrees = degrees_above_one(usual.parallel);
  std::vector<UnsupportedChoice> all;
  for (const FrameworkProperty ability : law.choices_unsupported_by_framework(job, usual)) {
    const WordSet allowed = law.supported_property_words(ability, job, usual);
    const WordSet refused = property_values_of_plan(ability, job, usual) & ~allowed;
    all.push_back(
        {ability, fmt::format("{} {}: {} supports only {}{}", name_of(kAbilityNames, ability),
                              property_words_text(ability, refused), whose(framework),
                              property_words_text(ability, allowed),
                              with_text(law, ability, degrees, allowed))});
  }
  const Plan bucketed = law.with_framework_bucket_sizes(job, usual);
  if (bucketed != usual) {
    all.push_back(
        {FrameworkProperty::kOverlap, fmt::format("buckets: {} has {}", whose(framework),
                                                  differing_choices_text(usual, bucketed))});
  }
  return all;
}

std::vector<std::string_view> frameworks_supporting_plan(const Job& job, const Plan& plan) {
  const Plan usual = canonical_plan(plan, job);
  std::vector<std::string_view> names;
  for (const std::string_view name : kFrameworkNames) {
    const bool own = name == job.framework.name;
    const FrameworkSupport law(own ? job.framework : TrainingFramework{.name = std::string(name)});
    if (law.supports_plan(job, usual)) names.push_back(name);
  }
  return names;
}

}  // namespace stepwright::plan

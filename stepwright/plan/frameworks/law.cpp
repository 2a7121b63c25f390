#include <fmt/format.h>

#include <algorithm>

#include "stepwright/plan/frameworks.h"
#include "stepwright/plan/frameworks/release.h"
#include "stepwright/plan/frameworks/table.h"

namespace stepwright {
namespace {

bool counts_with(const AbilityEntry& line, DegreeSet degrees) {
  return line.with == 0 || (line.with & degrees) != 0;
}

/// " with pipeline": the degrees because of which a framework does not run all that it could.
std::string with_text(const FrameworkLaw& law, Ability ability, DegreeSet degrees) {
  const WordSet& here = law.allowed(ability, degrees);
  std::string text;
  const std::vector<std::string>& names = ability_words(Ability::kParallel);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const DegreeSet alone = DegreeSet{1} << i;
    if ((degrees & alone) == 0) continue;
    const bool narrows = law.allowed(ability, alone) != law.allowed(ability, 0);
    if (narrows) text += fmt::format("{}{}", text.empty() ? " with " : " and ", names[i]);
  }
  return here == law.allowed(ability, 0) ? "" : text;
}

}  // namespace

FrameworkLaw::FrameworkLaw(const Framework& framework) : name_(framework.name) {
  for (auto& of_degrees : allowed_) {
    for (WordSet& words : of_degrees) words.set();
  }
  for (const AbilityEntry& line : framework_entry(framework.name).runs) {
    if (!speaks_of(line.releases, framework.version)) continue;
    auto& of_degrees = allowed_[static_cast<std::size_t>(line.ability)];
    for (DegreeSet degrees = 0; degrees < kDegreeSets; ++degrees) {
      if (counts_with(line, degrees)) of_degrees[degrees] &= line.words;
    }
  }
}

bool FrameworkLaw::runs(Ability ability, const Job& job, const Plan& plan) const {
  const WordSet& words = allowed(ability, degrees_above_one(plan.parallel));
  if ((taken_words(ability, job, plan) & ~words).none()) return true;
  if (ability != Ability::kRankOrder) return false;
  // Other orders lay the ranks of this plan alike.
  const std::vector<std::string>& orders = ability_words(ability);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (!words[i]) continue;
    Plan other = plan;
    other.rank_order = rank_order_of(orders[i]).value();
    if (canonical(other, job).rank_order == plan.rank_order) return true;
  }
  return false;
}

std::string FrameworkLaw::sentence(Ability ability) const {
  return fmt::format("{} runs {} {}", name_, name_of(kAbilityNames, ability),
                     words_text(ability, allowed(ability, 0)));
}

std::vector<NotRun> not_run(const Framework& framework, const Job& job, const Plan& plan) {
  const FrameworkLaw law(framework);
  const Plan usual = canonical(plan, job);
  const DegreeSet degrees = degrees_above_one(usual.parallel);
  std::vector<NotRun> all;
  for (const auto& [ability, name] : kAbilityNames) {
    if (law.runs(ability, job, usual)) continue;
    const WordSet& allowed = law.allowed(ability, degrees);
    const WordSet refused = taken_words(ability, job, usual) & ~allowed;
    all.push_back({ability, fmt::format("{} {}: {} runs {}{}", name, words_text(ability, refused),
                                        framework.name, words_text(ability, allowed),
                                        with_text(law, ability, degrees))});
  }
  return all;
}

std::vector<std::string_view> runs_on(const Job& job, const Plan& plan) {
  const Plan usual = canonical(plan, job);
  std::vector<std::string_view> names;
  for (const std::string_view name : kFrameworkNames) {
    const bool own = name == job.framework.name;
    const FrameworkLaw law(own ? job.framework : Framework{.name = std::string(name)});
    const auto runs = [&](const Named<Ability>& entry) {
      return entry.value == Ability::kAttention || law.runs(entry.value, job, usual);
    };
    if (std::ranges::all_of(kAbilityNames, runs)) names.push_back(name);
  }
  return names;
}

}  // namespace stepwright

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/frameworks/read_defaults.h"

namespace stepwright::plan {

/// A choice of a plan or a job among some words.
struct AbilityCondition {
  Ability ability{};
  WordSet words;
  bool operator==(const AbilityCondition&) const = default;

  [[nodiscard]] bool holds(const Job& job, const Plan& plan) const {
    return (taken_words(ability, job, plan) & words).any();
  }
};

/// One line of a framework's table: the words of an ability that it runs, and where that is
/// written. Lines of one ability that all hold for a plan narrow each other.
struct AbilityEntry {
  Ability ability{};
  WordSet words;
  /// Holds where a plan takes one of these words of another ability (of `parallel`: where one of
  /// these degrees is above 1); none: always.
  Ability other = Ability::kParallel;
  WordSet with;
  std::vector<AbilityCondition> of_job;  ///< Further conditions, all on the job.
  WordSet without;                       ///< Degrees that must all be 1.
  std::string variant;                   ///< Holds for this variant alone; empty: for all.
  Releases releases;
  std::string source;
};

/// How many elements a framework reduces and gathers at a time where that is no choice.
struct FrameworkBuckets {
  WordSet sharding;            ///< Strategies to which the buckets apply.
  std::int64_t gradients = 0;  ///< Elements of a gradient bucket; 0: each block is one bucket.
  std::int64_t of_rank = 0;  ///< Elements for each rank of data and context, where those are more.
  bool of_plan = false;      ///< True if the plan chooses the gradient buckets.
  bool parameters = false;   ///< True if parameters take the gradient buckets.
  std::string variant;       ///< Empty: of all variants.
  std::string source;
};

/// A fork of a framework, or a program built on it.
struct FrameworkVariant {
  std::string name;
  std::string about;  ///< Description of the variant, for people.
  /// The framework for which the name alone stands in a job; empty: this one.
  std::string word_of;
};

/// The entry of a framework, with what it runs and what it does where nothing is said
/// (`stepwright/plan/frameworks/NAME.yaml`).
struct FrameworkEntry {
  std::string name;     ///< A name of `kFrameworkNames`.
  std::string like;     ///< Framework on which it is built, as its entry is; empty: none.
  std::string about;    ///< Description in a person's words.
  std::string checked;  ///< Which releases were read.
  std::vector<AbilityEntry> runs;
  std::vector<FrameworkBuckets> buckets;
  std::vector<DefaultLine> defaults;       ///< Defaults; later lines override earlier ones.
  std::vector<FrameworkVariant> variants;  ///< Forks and programs that differ from it.
  std::vector<std::string> notes;          ///< Facts that the lines cannot say.
};

/// The entry of a name of `kFrameworkNames`.
const FrameworkEntry& framework_entry(std::string_view name);

/// Reads an entry; `like: NAME` in it starts from a built-in one but for its variants. Fails with
/// `kInput` on a line without words or source, and on words that are not known.
FrameworkEntry read_framework_entry(Node node);

}  // namespace stepwright::plan

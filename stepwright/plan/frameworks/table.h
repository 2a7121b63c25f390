#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/frameworks/read_defaults.h"

namespace stepwright::plan {

/// A condition: a plan or its job chooses one of some words of an ability.
struct AbilityCondition {
  Ability ability{};
  WordSet words;
  bool operator==(const AbilityCondition&) const = default;

  [[nodiscard]] bool holds(const Job& job, const Plan& plan) const {
    return (taken_words(ability, job, plan) & words).any();
  }
};

/// One line of a framework's table: the words of an ability that the framework runs, and the source
/// that says so. If several lines of one ability apply to a plan, only words in all of them run.
struct AbilityEntry {
  Ability ability{};
  WordSet words;
  /// The line applies only if a plan chooses one of the words `with` of the ability `other` (for
  /// `parallel`: if one of these degrees is above 1); empty: always.
  Ability other = Ability::kParallel;
  WordSet with;
  std::vector<AbilityCondition> of_job;  ///< Further conditions, all on choices of the job.
  WordSet without;                       ///< Degrees that must all be 1 for the line to apply.
  std::string variant;  ///< The only variant to which the line applies; empty: all variants.
  Releases releases;
  std::string source;
};

/// Elements that a framework reduces and gathers at a time, if it offers no choice.
struct FrameworkBuckets {
  WordSet sharding;            ///< Strategies to which the buckets apply.
  std::int64_t gradients = 0;  ///< Elements of a gradient bucket; 0: each block is one bucket.
  /// Elements of a gradient bucket per data x context rank, used if this gives more than
  /// `gradients`.
  std::int64_t of_rank = 0;
  bool of_plan = false;     ///< True if the plan chooses the gradient buckets.
  bool parameters = false;  ///< True if parameters are gathered in the gradient buckets.
  std::string variant;  ///< The framework's variant that this entry describes; empty: all variants.
  std::string source;
};

/// A fork of a framework, or a program built on it.
struct FrameworkVariant {
  std::string name;
  std::string about;  ///< Description of the variant in plain words.
  /// The framework that a job means if it uses only the variant's name; empty: this one.
  std::string word_of;
};

/// The entry of a framework: what it runs, and what it does by default
/// (`stepwright/plan/frameworks/NAME.yaml`).
struct FrameworkEntry {
  std::string name;  ///< A name of `kFrameworkNames`.
  std::string like;  ///< Framework whose entry this one extends, as it is built on it; empty: none.
  std::string about;    ///< Description of the framework in plain words.
  std::string checked;  ///< Releases whose sources were read for this entry.
  std::vector<AbilityEntry> runs;
  std::vector<FrameworkBuckets> buckets;
  std::vector<DefaultLine> defaults;  ///< Lines of `defaults:`; later lines override earlier ones.
  /// Forks of the framework, and programs built on it, that differ from it.
  std::vector<FrameworkVariant> variants;
  std::vector<std::string> notes;  ///< Facts about the framework that its lines cannot express.
};

/// Returns the entry of a framework of `kFrameworkNames`.
const FrameworkEntry& framework_entry(std::string_view name);

/// Reads a framework's entry; `like: NAME` starts from that built-in entry without its variants.
/// Fails with `kInput` on a line without words or source, and on unknown words.
FrameworkEntry read_framework_entry(Node node);

}  // namespace stepwright::plan

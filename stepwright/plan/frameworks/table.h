#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/frameworks/read_defaults.h"

namespace stepwright::plan {

/// A condition on a plan and its job, for a line of a framework's file: one of the values of this
/// property (schedule, sharding, ...) that the plan uses is in `words`.
struct FrameworkPropertyCondition {
  FrameworkProperty ability{};
  WordSet words;
  bool operator==(const FrameworkPropertyCondition&) const = default;

  [[nodiscard]] bool holds(const Job& job, const Plan& plan) const {
    return (property_values_of_plan(ability, job, plan) & words).any();
  }
};

/// One line of a framework's file: the values (`words`) of a property that it supports, and the
/// source that says so. If several lines for a property apply to a plan, only values in all of them
/// are supported.
struct FrameworkPropertyLine {
  FrameworkProperty ability{};
  WordSet words;
  /// Property on which a line of a framework's file depends: the line applies only if a plan has
  /// one of the values `with` of this property (for kParallel: one of these degrees above 1).
  /// `with` empty: always.
  FrameworkProperty other = FrameworkProperty::kParallel;
  WordSet with;
  std::vector<FrameworkPropertyCondition>
      of_job;  ///< Further conditions on the job, which must all hold.
  /// Parallelism degrees that must all be 1 for a line of a framework's file to apply.
  WordSet without;
  /// Name of the framework's only variant to which a line of its file applies; empty: all variants.
  std::string variant;
  ReleaseRange releases;
  std::string source;
};

/// Fixed bucket sizes of a framework that offers no choice: elements reduced or gathered at a time.
struct FixedFrameworkBuckets {
  /// Sharding strategies of model states for which the fixed bucket sizes apply.
  WordSet sharding;
  /// Size of a gradient bucket, in elements; 0: each transformer block is one bucket.
  std::int64_t gradients = 0;
  /// Elements of a gradient bucket for each data x context rank: a bucket has this number times the
  /// number of ranks, or `gradients` elements if that is more.
  std::int64_t of_rank = 0;
  /// True if plans choose the size of gradient buckets, which the framework then does not fix.
  bool of_plan = false;
  bool parameters = false;  ///< True if parameter buckets are equal to gradient buckets.
  /// Name of the framework's only variant that has these fixed bucket sizes; empty: all variants.
  std::string variant;
  std::string source;
};

/// A fork of a framework, or a program built on it, that differs from it.
struct FrameworkVariant {
  std::string name;
  std::string about;  ///< Description of the variant in plain words.
  /// Framework that jobs mean if they state only the variant's name; empty: the one that lists this
  /// variant.
  std::string word_of;
};

/// Everything known about one framework: what it supports and what it does by default (file
/// `stepwright/plan/frameworks/NAME.yaml`).
struct FrameworkDescription {
  std::string name;  ///< Name of the framework, one of `kFrameworkNames`.
  /// Framework on which this one is built and whose entry it extends; empty: none.
  std::string like;
  /// Framework whose kernels the host launches in the same way, by the same PyTorch code: its
  /// fitted host time counts if no run of this framework is fitted; empty: none.
  std::string launches_like;
  std::string about;    ///< Description of the framework in plain words.
  std::string checked;  ///< Releases of the framework whose source code was read for this entry.
  std::vector<FrameworkPropertyLine> runs;
  std::vector<FixedFrameworkBuckets> buckets;
  /// Default settings, line by line; later lines override earlier ones.
  std::vector<FrameworkDefaultLine> defaults;
  /// Forks of the framework, and programs built on it, that differ from it.
  std::vector<FrameworkVariant> variants;
  /// Facts about the framework, in words, that no other field can express.
  std::vector<std::string> notes;
};

/// Returns the entry of a framework; `name` must be one of `kFrameworkNames`.
const FrameworkDescription& framework_description(std::string_view name);

/// Reads a framework's file; the key `like: NAME` starts from that built-in entry, without its
/// variants. Fails with `kInput` on a line without words or source, and on unknown words.
FrameworkDescription read_framework_entry(DocumentNode node);

}  // namespace stepwright::plan

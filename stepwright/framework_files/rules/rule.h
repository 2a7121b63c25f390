#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/settled.h"
#include "stepwright/framework_files/rules/places.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

// A rule translates a few settings of a framework into a part of a plan or its job and back, by a
// reader function and a writer function next to each other. A setting whose value equals a plan
// field needs no function but a row of a table. Rules set typed values, so that no rule formats a
// value for another one to parse.
// A rule has no list of its keys: `Fields` records which settings a reader asks for, and a report
// lists those as read.

/// Facts that are known before rules read, and that no rule changes.
struct KnownFacts {
  const plan::Framework& framework;
  bool routed;  ///< True if layers of the model have experts.
};

/// Result of a rule: the parts that earlier rules settled, the rule's own part, and remarks.
struct RuleResult : PartialPlan {
  /// Settings that no plan expresses exactly, each with the effect that a prediction ignores.
  std::vector<std::pair<Node, std::string>> left_out{};
  std::vector<std::string> notes{};  ///< Notes about assumptions, in sentences for people.
};

/// The translation between settings of a framework and one part of a plan or its job.
struct Rule {
  /// Settings in `table` whose value equals a switch or count of a plan; they are read and written
  /// before the functions run.
  std::span<const std::string_view> rows{};
  std::string_view table = "";
  /// Reads settings; fails like `Fields`. Null: `rows` are enough.
  void (*read)(const Fields& fields, const KnownFacts& known, RuleResult& reading) = nullptr;
  /// Adds settings in the order of a file; `release` is the framework's release. Null: `rows` are
  /// enough.
  void (*write)(const plan::PlannedJob& planned, std::string_view release, Tree& fields) = nullptr;
};

/// Applies a rule and its rows to settings; `settled` has the results of earlier rules.
RuleResult read_rule(const Rule& rule, const Fields& fields, const KnownFacts& known,
                     PartialPlan settled);

/// Adds the settings that a rule and its rows write for a plan.
void write_rule(const Rule& rule, const plan::PlannedJob& planned, std::string_view release,
                Tree& fields);

}  // namespace stepwright::framework_files

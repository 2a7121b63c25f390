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

// A rule translates a few settings of a framework to a part of a plan or its job and back: its
// reader and its writer are functions that stand beside each other. A setting that says a value as
// it is needs no function but a row of a table. Rules set typed values, so that none formats a
// value for another to parse. A rule has no list of its keys: `Fields` notes which settings a
// reader asks for in a file, and a report lists those as read.

/// Facts that are known before rules read, and set by none.
struct Known {
  const plan::Framework& framework;
  bool routed;  ///< True if layers of the model have experts.
};

/// Result of a rule: the settled parts of rules before it, with its own part, and remarks.
struct Reading : Settled {
  /// Settings that no plan takes as they are, and what a prediction leaves out.
  std::vector<std::pair<Node, std::string>> left_out{};
  std::vector<std::string> notes{};  ///< Assumptions, in sentences for people.
};

/// A part of a plan or its job in a framework's settings.
struct Rule {
  /// Settings of `table` that say a switch or a count of a plan as it is, read first and written
  /// first.
  std::span<const std::string_view> rows{};
  std::string_view table = "";
  /// Fails as `Fields` do; null: rows say it all.
  void (*read)(const Fields& fields, const Known& known, Reading& reading) = nullptr;
  /// Adds settings in the order of a file; `release` is the framework's. Null: rows say it all.
  void (*write)(const plan::PlannedJob& planned, std::string_view release, Tree& fields) = nullptr;
};

/// Applies a rule and its rows to settings, and to the parts that are settled so far.
Reading read_rule(const Rule& rule, const Fields& fields, const Known& known, Settled settled);

/// Adds what a rule and its rows say of a plan.
void write_rule(const Rule& rule, const plan::PlannedJob& planned, std::string_view release,
                Tree& fields);

}  // namespace stepwright::framework_files

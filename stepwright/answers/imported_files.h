#pragma once

#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::answers {

/// The files of a framework that describe a job, and values that the user adds for what they lack.
struct ImportRequest {
  /// Files of one framework (launch script, configuration, ...) that describe a job; at least one.
  std::vector<UserFile> files;
  /// Name of the framework that the files belong to; empty: recognise it by their content.
  std::string source;
  /// Values that the user states for settings that the files lack (number of nodes, model, ...).
  framework_files::UserFacts given;
  /// True: fail if the files have a setting that may change predictions and that cannot be read.
  bool strict = false;
};

/// Fails with `kInput` if the request adds values to a plan file, which already contains all
/// values.
void reject_options_redundant_with_plan(const ImportRequest& request);

/// Reads the plan that a framework's files describe. A record of `stepwright capture` is replaced
/// by its commands and the files that they name. `as_it_is`: accept a plan that is not legal. Fails
/// with `kInput` for files that cannot be read, and if `strict` finds an unread setting.
framework_files::ImportedPlan import_framework_plan(const ImportRequest& request,
                                                    bool as_it_is = false);

}  // namespace stepwright::answers

#pragma once

#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::answers {

/// The files of a framework, and values given beside them.
struct ImportRequest {
  std::vector<UserFile> files;  ///< Files of the framework; at least one.
  std::string source;           ///< Framework of the files; empty: recognise it by their content.
  framework_files::UserFacts given;  ///< Values given for settings that the files lack.
  bool strict = false;  ///< True: fail if a setting that may change figures cannot be read.
};

/// Fails with `kInput` if values are given beside a plan, which already contains them all.
void reject_options_with_plan(const ImportRequest& request);

/// Reads the files of a framework. A record of `stepwright capture` is replaced by its commands and
/// the files that these name. `as_it_is`: accept a plan that is not legal. Fails as
/// `import_sources`, and if `strict` finds an unread setting.
framework_files::ImportedPlan import_files(const ImportRequest& request, bool as_it_is = false);

}  // namespace stepwright::answers

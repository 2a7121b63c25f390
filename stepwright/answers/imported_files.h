#pragma once

#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::answers {

/// The files of a framework, and what a person says beside them.
struct ImportRequest {
  std::vector<GivenFile> files;  ///< At least one file.
  std::string source;            ///< Framework of the files; empty: their content says it.
  framework_files::Given given;  ///< Values that the files do not say.
  bool strict = false;           ///< True if each setting that may matter must be read.
};

/// Fails with `kInput` where something is said beside a plan, which says all itself.
void refuse_beside_plan(const ImportRequest& request);

/// Reads the files of a framework; a record of `stepwright capture` stands for its commands and the
/// files that these name. With `as_it_is` a plan that is not legal is no failure. Fails as
/// `import_sources`, and where `strict` is not met.
framework_files::ImportedPlan import_files(const ImportRequest& request, bool as_it_is = false);

}  // namespace stepwright::answers

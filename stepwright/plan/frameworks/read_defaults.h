#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::plan {

/// A function that changes the default which one key of a framework's file states.
using DefaultSetting = std::function<void(FrameworkDefaults& defaults)>;

/// One line of `defaults:` in a framework's file, with the source that proves it.
struct FrameworkDefaultLine {
  std::string variant;  ///< The only variant to which the line applies; empty: all variants.
  ReleaseRange releases;
  std::vector<DefaultSetting> settings;
  /// Keys and values as the file has them, for messages.
  std::vector<std::pair<std::string, std::string>> said;
  std::string source;
};

/// Reads one line of `defaults:` in a framework's file. Fails with `kInput` on a line without
/// source or setting, and on unknown words.
FrameworkDefaultLine read_framework_default_rule(DocumentNode node);

/// Reads the source (file or URL) that proves a line of a framework's file; fails with `kInput` if
/// it is empty.
std::string read_source_of_framework_rule(DocumentNode line);

/// Reads the range of framework releases to which a line applies.
ReleaseRange read_release_range(DocumentNode line);

}  // namespace stepwright::plan

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::plan {

/// The change of one key of a line.
using DefaultSetting = std::function<void(FrameworkDefaults& defaults)>;

/// One line of a framework's `defaults:`, and where that is written.
struct DefaultLine {
  std::string variant;  ///< Holds for this variant alone; empty: for all.
  Releases releases;
  std::vector<DefaultSetting> settings;
  /// The keys and their values as they are written, for people.
  std::vector<std::pair<std::string, std::string>> said;
  std::string source;
};

/// Reads a line. Fails with `kInput` on a line without source or setting, and on unknown words.
DefaultLine read_default_line(Node node);

/// The source of a line; fails with `kInput` when it is empty.
std::string read_source(Node line);

/// The releases of which a line speaks.
Releases read_releases(Node line);

}  // namespace stepwright::plan

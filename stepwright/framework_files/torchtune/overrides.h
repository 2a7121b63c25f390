#pragma once

#include <string>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Returns a torchtune configuration with a command's overrides applied
/// (torchtune/config/_utils.py, _merge_yaml_and_cli_args): `NAME=VALUE` sets a value, list or, for
/// a section, its `_component_`; `~NAME` removes a setting. Fails with `kInput` for words that
/// torchtune refuses.
YamlJsonDocument with_torchtune_overrides(YamlJsonDocument document,
                                          const std::vector<std::string>& words);

}  // namespace stepwright::framework_files

#pragma once

#include <string>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// Returns a configuration with a command's words applied, as torchtune applies them
/// (torchtune/config/_utils.py, _merge_yaml_and_cli_args). `NAME=VALUE` sets a value, which can be
/// a list; a section that names a component is set by its own name (`optimizer=torch.optim.SGD`);
/// `~NAME` removes a setting. Fails with `kInput` for other words, for a list that is not valid
/// YAML, and if the parent of a name is not a section.
Document with_tune_words(Document document, const std::vector<std::string>& words);

}  // namespace stepwright::framework_files

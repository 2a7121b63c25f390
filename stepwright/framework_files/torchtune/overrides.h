#pragma once

#include <string>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::framework_files {

/// A configuration with the words of a command over it, as torchtune takes them
/// (torchtune/config/_utils.py, _merge_yaml_and_cli_args): `NAME=VALUE`, where a section that names
/// a component is set by its name alone (`optimizer=torch.optim.SGD`) and a value may be a list;
/// `~NAME` takes a setting out. Fails with `kInput` on other words, on a list that no YAML is, and
/// where what stands around a name is no section.
Document with_tune_words(Document document, const std::vector<std::string>& words);

}  // namespace stepwright::framework_files

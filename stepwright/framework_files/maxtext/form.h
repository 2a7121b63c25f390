#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The configuration of MaxText that files say, as one mapping: YAML files, later ones over earlier
/// ones; a script that starts MaxText's train with a file and words NAME=VALUE, which stand over
/// YAML files that are given behind it; or the lines "Config param NAME: VALUE" that it logs.
Document read_maxtext_form(std::span<const launch_scripts::SourceFile> files, const Given& given,
                           Draft& draft);

/// Whether a file is a script that starts MaxText.
bool is_maxtext_script(const launch_scripts::SourceFile& file);

/// Whether a word of a command is MaxText's program of training.
bool is_maxtext_program(std::string_view word);

}  // namespace stepwright::framework_files

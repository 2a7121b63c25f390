#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A configuration of MaxText for GPUs, over its base.yml: sizes of a model like Llama, and each
/// axis of its mesh inside nodes (ici) and across them (dcn).
std::string write_maxtext(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads such a configuration.
void read_maxtext(std::span<const launch_scripts::SourceFile> files, const Given& given,
                  Draft& draft);

/// Reads one whose words stand in a mapping, over the model that the draft has.
void read_maxtext_config(const Document& document, const Given& given, Draft& draft);

}  // namespace stepwright::framework_files

#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft.h"
#include "stepwright/framework_files/fields.h"

namespace stepwright {

/// A configuration of DeepSpeed. What its keys cannot say and the training code must do stands
/// under the key `stepwright`, which DeepSpeed passes over.
std::string write_deepspeed(const PlannedJob& planned, const std::vector<std::string>& header);

/// Reads such a configuration; "auto" is as good as nothing.
void read_deepspeed(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// The same of a configuration inside another file.
void read_deepspeed_fields(const Fields& fields, Draft& draft, const Given& given,
                           const std::string& file);

/// Whether a file is a configuration of DeepSpeed.
bool is_deepspeed(const SourceFile& file);

}  // namespace stepwright

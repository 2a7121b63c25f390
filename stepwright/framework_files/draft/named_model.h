#pragma once

#include <string>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Sets the model to the built-in one that a Hugging Face id or a folder names (also a fine-tuned
/// model of the same sizes), unless a model is known already; adds a note. Returns false if the id
/// is unknown, and stores it in `StatedModel::unknown_model`.
bool set_built_in_model(std::string_view id, const UserFacts& given, StatedModel& model_words,
                        ImportReport& report);

/// Returns the path that written files state for a model's config.json and weights: `./models/NAME`
/// for the built-in model NAME, which can be recognised when the file is read back, else `./model`.
std::string exported_model_folder(const plan::Job& job);

}  // namespace stepwright::framework_files

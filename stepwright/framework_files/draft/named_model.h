#pragma once

#include <string>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Takes the built-in model that a Hugging Face id or the folder of a model names, also if it was
/// trained further at the same sizes, unless the user gave a model; adds a note. Returns true if
/// there is a model afterwards; if not, `ModelWords::unknown_model` is the id.
bool take_named_model(std::string_view id, const UserFacts& given, ModelWords& model_words,
                      ImportReport& report);

/// Returns a folder name for a model's config.json and weights in written files: the name of the
/// built-in model, by which a reader recognises it, or `./model`.
std::string model_folder(const plan::Job& job);

}  // namespace stepwright::framework_files

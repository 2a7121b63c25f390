#pragma once

#include <string>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Takes the built-in model that an id of Hugging Face, or the folder of one, names, also where it
/// was trained further and kept its sizes, unless the person gave one; says so in a note. Whether
/// there is a model then; where not, `ModelWords::unknown_model` is the id.
bool take_named_model(std::string_view id, const Given& given, ModelWords& model_words,
                      ImportReport& report);

/// The folder of a model's config.json and weights, as files that name one say it: under the name
/// of the built-in model, which then names it when the file is read, or `./model`.
std::string model_folder(const plan::Job& job);

}  // namespace stepwright::framework_files

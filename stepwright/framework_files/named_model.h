#pragma once

#include <string_view>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Takes the built-in model that an id of Hugging Face, or the folder of one, names, unless the
/// person gave one; says so in a note. Whether there is a model then.
bool take_named_model(std::string_view id, const Given& given, Draft& draft);

}  // namespace stepwright

#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright {

/// What a model has that a plain Llama has not, by its word in the files of `plan/frameworks/`.
struct ModelWord {
  std::string_view name;
  bool (*has)(const Architecture& model);
};
std::span<const ModelWord> model_words();

}  // namespace stepwright

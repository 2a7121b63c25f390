#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/document.h"

namespace stepwright {

/// Reads a text as Python's yaml and json modules do: of a repeated key the last value counts, and
/// YAML numbers may hold underscores (`1_000_000`). `repeated`: receives repeated keys; null: they
/// are not reported. Fails with `kInput`, naming line and column, if the text is malformed.
YamlJsonDocument parse_like_python_yaml(std::string_view text, std::string name,
                                        std::vector<RepeatedKey>* repeated = nullptr);

/// Removes the underscores that Python allows between the digits of a number (`1_000`); returns any
/// other text unchanged. For words that argparse or Hydra would read.
std::string without_digit_underscores(std::string text);

}  // namespace stepwright

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/document.h"

namespace stepwright {

/// Reads a text as the yaml and json modules of Python do: where a key occurs twice, the last value
/// counts, and YAML numbers may hold underscores (`1_000_000`). `repeated`: receives the keys that
/// occur twice; null: they are not reported. Fails as `Document::parse`.
Document parse_like_python_yaml(std::string_view text, std::string name,
                                std::vector<RepeatedKey>* repeated = nullptr);

/// Removes the underscores that Python allows between the digits of a number (`1_000`), as argparse
/// and Hydra read words; returns any other text unchanged.
std::string number_as_python(std::string text);

}  // namespace stepwright

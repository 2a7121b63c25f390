#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/document.h"

namespace stepwright {

/// Reads a text as the yaml and json modules of Python do: of a key that stands twice the last
/// counts, and a number of YAML may hold underscores (`1_000_000`). `repeated`: gets the keys that
/// stand twice; null: nobody asks. Fails as `Document::parse`.
Document parse_as_python(std::string_view text, std::string name,
                         std::vector<RepeatedKey>* repeated = nullptr);

}  // namespace stepwright

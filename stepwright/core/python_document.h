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

/// The text of a number without the underscores that Python lets stand between its digits
/// (`1_000`), as words of argparse and of Hydra are read; any other text as it is.
std::string number_as_python(std::string text);

}  // namespace stepwright

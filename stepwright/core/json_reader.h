#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/tree.h"

namespace stepwright {

/// Reads one strict JSON value from a text: no comments, trailing commas or NaN. Fails with
/// `kInput` (`file:line:column`) on malformed text, too deep nesting or too many values.
/// `repeated`: receives keys that occur twice in a mapping, whose last value counts; null: such
/// keys are refused.
DocumentTree read_json(std::string_view text, const std::string& file,
                       std::vector<RepeatedKey>* repeated = nullptr);

}  // namespace stepwright

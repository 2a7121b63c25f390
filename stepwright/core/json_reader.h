#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/tree.h"

namespace stepwright {

/// Reads one JSON value, strictly: no comments, no trailing commas, no NaN. Fails with `kInput`
/// (`file:line:column`) on malformed text and on everything that `Assembler` refuses. `repeated`:
/// receives repeated keys; null: they are refused (`Assembler`).
Tree read_json(std::string_view text, const std::string& file,
               std::vector<RepeatedKey>* repeated = nullptr);

}  // namespace stepwright

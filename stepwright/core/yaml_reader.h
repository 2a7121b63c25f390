#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/tree.h"

namespace stepwright {

/// The most bytes of a YAML text. The scanner of yaml-cpp needs up to 250 times that memory, and
/// YAML is for files that people write.
inline constexpr std::size_t kLargestYaml = std::size_t{4} << 20U;

/// Reads one YAML document; aliases (*name) and merge keys (<<) are expanded. Empty text is null.
/// Fails with `kInput` (`file:line:column`) on malformed text, several documents, tags, control
/// characters, text that is not UTF-8, and everything that `Assembler` refuses. `repeated`:
/// receives repeated keys; null: they are refused (`Assembler`).
Tree read_yaml(std::string_view text, const std::string& file,
               std::vector<RepeatedKey>* repeated = nullptr);

}  // namespace stepwright

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/tree.h"

namespace stepwright {

/// Largest YAML text, in bytes. The scanner of yaml-cpp needs up to 250 times that memory, and YAML
/// is for files that people write.
inline constexpr std::size_t kMaxYamlTextBytes = std::size_t{4} << 20U;

/// Reads one YAML document from a text; aliases (`*name`) and merge keys (`<<`) are expanded, empty
/// text is null. Fails with `kInput` (`file:line:column`) on malformed text, several documents,
/// tags, control characters, too deep nesting or too many values. `repeated`: receives keys that
/// occur twice in a mapping, whose last value counts; null: such keys are refused.
DocumentTree read_yaml(std::string_view text, const std::string& file,
                       std::vector<RepeatedKey>* repeated = nullptr);

}  // namespace stepwright

#pragma once

#include <string_view>

namespace stepwright::framework_files {

/// What functions of Megatron-Bridge that recipes call do with a configuration, and the names that
/// they take from it, for recipes that are given without them. What changes no figure is left out.
extern const std::string_view kBridgeHelpers;

}  // namespace stepwright::framework_files

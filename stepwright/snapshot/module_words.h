#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright::snapshot {

/// Kinds of modules (attention, MLP, norm, ...) that can be recognised both in the names of a
/// plan's layer parts and in the call stacks of programs.
enum class StackModuleKind : std::uint8_t {
  kUnknown,
  kNorm,
  kAttention,
  kExperts,
  kMlp,
  kEmbedding,
  kHead,
  kOptimizer,
};

/// Returns the kind of module that the name of a layer part, function or file implies; `kUnknown`
/// if none.
StackModuleKind stack_module_kind_by_name(std::string_view text);

}  // namespace stepwright::snapshot

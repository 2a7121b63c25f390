#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright::snapshot {

/// A kind of module that occurs both in the parts of a plan's layers and in the frames of programs.
enum class Module : std::uint8_t {
  kUnknown,
  kNorm,
  kAttention,
  kExperts,
  kMlp,
  kEmbedding,
  kHead,
  kOptimizer,
};

/// Returns the module that the name of a part of a layer, a function or a file implies; `kUnknown`
/// where it implies none.
Module module_of(std::string_view text);

}  // namespace stepwright::snapshot

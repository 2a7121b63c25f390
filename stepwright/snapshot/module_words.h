#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright::snapshot {

/// A kind of module that both the parts of a plan's layers and the frames of programs name.
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

/// The module that a part of a layer, a function or a file names; `kUnknown` where it names none.
Module module_of(std::string_view text);

}  // namespace stepwright::snapshot

#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright {

/// The FNV-1a hash of an empty text.
inline constexpr std::uint64_t kFnvEmptyTextHash = 0xcbf29ce484222325;

/// Returns the 64-bit FNV-1a hash of a text, the same on every machine. `before`: hash of a
/// preceding text, so that both texts are hashed as one. IETF RFC 9923 (Fowler, Noll, Vo,
/// Eastlake).
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t before = kFnvEmptyTextHash) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return before;
}

}  // namespace stepwright

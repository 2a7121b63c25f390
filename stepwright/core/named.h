#pragma once

#include <span>
#include <string_view>

namespace stepwright {

/// One enumerator and the word for it in files, on the command line and in output. An enumeration
/// that files can name has a constant array of these pairs; reading and printing use the same
/// array.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};

/// Returns the word for an enumerator; empty if the table lacks it.
template <class Enum, std::size_t kCount>
constexpr std::string_view name_of(const Named<Enum> (&table)[kCount], Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

}  // namespace stepwright

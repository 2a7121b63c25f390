#pragma once

#include <span>
#include <string_view>

namespace stepwright {

/// One enumerator and the word that stands for it in files, on the command line and in output.
/// A closed enumeration is a constant array of these; reading and printing use the same array.
template <class Enum>
struct Named {
  Enum value;
  std::string_view name;
};

/// The word of an enumerator; empty when the table lacks it.
template <class Enum, std::size_t kCount>
constexpr std::string_view name_of(const Named<Enum> (&table)[kCount], Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

}  // namespace stepwright

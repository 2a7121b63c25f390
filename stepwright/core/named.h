#pragma once

#include <span>
#include <string_view>

namespace stepwright {

/// An enumerator and the word that stands for it in files, on the command line and in output. Each
/// enumeration that files can name has an array of these pairs, used for reading and printing.
template <class EnumNamedByWord>
struct Named {
  EnumNamedByWord value;
  std::string_view name;
};

/// Returns the word that stands for an enumerator; empty if the table has none.
template <class EnumNamedByWord, std::size_t kCount>
constexpr std::string_view name_of(const Named<EnumNamedByWord> (&table)[kCount],
                                   EnumNamedByWord value) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

}  // namespace stepwright

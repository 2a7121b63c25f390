#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/launch/shell_script.h"

namespace stepwright {

/// What follows a flag of Megatron-LM.
enum class Arity : std::uint8_t {
  kNone,  ///< Nothing: the flag sets its field to `value`.
  kOne,
  kMany,  ///< All words up to the next flag.
};

/// A flag of Megatron-LM's command line and the field of its configuration that it sets.
struct MegatronFlag {
  std::string_view flag;
  std::string_view field;
  Arity arity = Arity::kOne;
  std::string_view value = "";  ///< What a flag without words sets.
  std::string_view from = "";   ///< The release of Megatron-Core that brought it; empty: the first.
  std::string_view before = "";  ///< The release that no longer has it; empty: it is there.
};

/// Every flag that is written or read, in the order of writing. Of several for one field the first
/// that a release has is written, all are read.
std::span<const MegatronFlag> megatron_flags();

/// "--tensor-model-parallel-size 8", one text for each flag, in the order of the table. A field
/// that the release has no flag for is left out.
std::vector<std::string> flag_texts(const Tree& fields, std::string_view release);

/// Whether a word is a flag of the table or one that matters to no plan.
bool is_megatron_flag(std::string_view word);

/// The fields that words set, later ones over earlier ones. Fails with `kInput` on a flag without
/// its value, one given twice with different values, and a misspelt one; flags that are not known
/// are listed in a note.
Tree read_flags(std::span<const ShellWord> words, const std::string& name,
                std::vector<std::string>& notes);

}  // namespace stepwright

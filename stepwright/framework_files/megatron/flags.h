#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/syntax/shell_script.h"

namespace stepwright {

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

#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/import_report.h"
#include "stepwright/framework_files/syntax/shell_script.h"

namespace stepwright {

/// "--tensor-model-parallel-size 8", one text for each flag, in the order of the table. A field
/// that the release has no flag for is left out.
std::vector<std::string> flag_texts(const Tree& fields, std::string_view release);

/// Whether a word is a flag of the table or one that matters to no plan.
bool is_megatron_flag(std::string_view word);

/// The fields that words set, and the flag that said each.
struct MegatronArguments {
  Tree fields = Tree::mapping();
  std::map<std::string, std::string, std::less<>> flags;  ///< "--bf16", by field.
};

/// Reads the words of a command, later ones over earlier ones. Fails with `kInput` on a flag
/// without its value and on a field said twice with different values. Flags that set no field are
/// listed in the report.
MegatronArguments read_flags(std::span<const ShellWord> words, const std::string& name,
                             ImportReport& report);

}  // namespace stepwright

#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Returns the fields as arguments, "--tensor-model-parallel-size 8", one text each, in the table's
/// order. A field without an argument in the release is left out.
std::vector<std::string> flag_texts(const Tree& fields, std::string_view release);

/// The fields that a command's words set, and the argument that set each.
struct MegatronArguments {
  Tree fields = Tree::mapping();
  /// Argument that set each field, such as "--bf16".
  std::map<std::string, std::string, std::less<>> flags;
};

/// True if a user's setting `NAME=VALUE` names an argument of Megatron-LM.
bool is_megatron_setting(const std::string& setting);

/// Reads the words of a command as argparse does; `settings` override them (`vocab-size=50257`,
/// `sequence-parallel=false`). The last of repeated arguments counts; a unique prefix stands for
/// its argument. Arguments that set no field are listed in the report, and so are prefixes of
/// several arguments (Megatron itself accepts no abbreviations).
/// Fails with `kInput` for an argument without its values and, unless `last_counts`, for two
/// arguments that set one field differently.
MegatronArguments read_flags(Words words, const std::string& name,
                             std::span<const std::string> settings, bool last_counts,
                             ImportReport& report);

}  // namespace stepwright::framework_files

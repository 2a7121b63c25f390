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

/// "--tensor-model-parallel-size 8", one text for each flag, in the order of the table. A field
/// that the release has no flag for is left out.
std::vector<std::string> flag_texts(const Tree& fields, std::string_view release);

/// The fields that words set, and the flag that said each.
struct MegatronArguments {
  Tree fields = Tree::mapping();
  std::map<std::string, std::string, std::less<>> flags;  ///< Arguments such as "--bf16", by field.
};

/// Whether a setting `NAME=VALUE` that a person gives names an argument of Megatron-LM.
bool is_megatron_setting(const std::string& setting);

/// Reads the words of a command as argparse does, and `settings` in the place of what they say
/// (`vocab-size=50257`, `sequence-parallel=false`). Of an argument that is repeated the last
/// counts; a unique beginning stands for an argument. Fails with `kInput` on an argument without
/// its values and, unless `last_counts`, where two arguments say different values of one field.
/// What sets no field is listed in the report, as is the beginning of several arguments (Megatron
/// itself takes no abbreviation).
MegatronArguments read_flags(Words words, const std::string& name,
                             std::span<const std::string> settings, bool last_counts,
                             ImportReport& report);

}  // namespace stepwright::framework_files

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

/// Returns configuration fields as Megatron-LM's command-line arguments
/// ("--tensor-model-parallel-size 8"), one text each, model first. A field for which the release
/// has no argument is omitted.
std::vector<std::string> megatron_argument_texts(const DocumentTree& fields,
                                                 std::string_view release);

/// Fields of Megatron's configuration that the arguments of a command set, and which argument set
/// each.
struct MegatronArgumentFields {
  DocumentTree fields = DocumentTree::make_empty_mapping();
  /// For each field, the argument that set it: "precision" by "--bf16".
  std::map<std::string, std::string, std::less<>> flags;
};

/// True if the NAME of a user's setting `NAME=VALUE` is an argument of Megatron-LM, with dashes or
/// underscores.
bool is_megatron_argument_setting(const std::string& setting);

/// Reads the Megatron-LM arguments in a command; the user's `settings` (`vocab-size=50257`)
/// override them. Arguments that are unknown or set no field are reported. Fails with `kInput` for
/// missing values and, unless `last_counts`, for two arguments that set one field differently.
MegatronArgumentFields read_megatron_arguments(Words words, const std::string& name,
                                               std::span<const std::string> settings,
                                               bool last_counts, ImportReport& report);

}  // namespace stepwright::framework_files

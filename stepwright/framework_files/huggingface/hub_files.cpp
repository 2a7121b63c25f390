#include "stepwright/framework_files/huggingface/hub_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

bool is_model(const SourceFile& file) {
  if (file.text.find_first_not_of(" \t\r\n") == std::string::npos) return false;
  if (file.text[file.text.find_first_not_of(" \t\r\n")] != '{') return false;
  return file_contains_text(file, "\"model_type\"") &&
         (file_contains_text(file, "\"hidden_size\"") || file_contains_text(file, "\"n_embd\""));
}

/// True if a file can be the one that `fsdp_config` of TrainingArguments names: JSON with only its
/// keys; huggingface/transformers src/transformers/training_args.py: _process_fsdp_args.
bool is_fsdp_config(const SourceFile& file) {
  static constexpr std::string_view kKeys[] = {"layer_cls_to_wrap\"",     "min_num_params\"",
                                               "reshard_after_forward\"", "fsdp_version\"",
                                               "backward_prefetch\"",     "\"xla\""};
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || file.text[first] != '{') return false;
  return !file_contains_text(file, "output_dir\"") &&
         !file_contains_text(file, "per_device_train_batch_size\"") &&
         std::ranges::any_of(kKeys,
                             [&](std::string_view key) { return file_contains_text(file, key); });
}

}  // namespace

DocumentTree without_line_numbers(DocumentTree tree) {
  tree.line = tree.column = 0;
  for (DocumentTree& item : tree.items) item = without_line_numbers(std::move(item));
  return tree;
}

TransformersProgramFiles sort_transformers_files(std::span<const SourceFile* const> files) {
  TransformersProgramFiles sorted;
  const auto take = [](const SourceFile*& place, const SourceFile& file, std::string_view what) {
    if (place != nullptr) fail_input(fmt::format("{}: is a second {}", file.name, what));
    place = &file;
  };
  for (const SourceFile* one : files) {
    const SourceFile& file = *one;
    if (is_model(file)) {
      if (sorted.model) fail_input(file.name + ": is a second config.json of a model");
      sorted.model = parse_like_python_yaml(file.text, file.name);
    } else if (is_deepspeed(file)) {
      take(sorted.deepspeed, file, "configuration of DeepSpeed");
    } else if (file_matches_target_rules("accelerate", file)) {
      take(sorted.accelerate, file, "configuration of Accelerate");
    } else if (is_fsdp_config(file)) {
      take(sorted.fsdp, file, "file of fsdp_config");
    } else {
      sorted.programs.push_back(&file);
    }
  }
  if (!sorted.programs.empty()) sorted.program = sorted.programs.front();
  return sorted;
}

TransformersProgramFiles sort_transformers_files(Sources files) {
  std::vector<const SourceFile*> all;
  for (const SourceFile& file : files) all.push_back(&file);
  TransformersProgramFiles sorted = sort_transformers_files(all);
  sorted.name = files.front().name;
  if (sorted.programs.size() < 2) return sorted;
  fail_input(sorted.programs[1]->name + ": is a second file of the program");
}

YamlJsonDocument with_fsdp_file_contents(YamlJsonDocument said,
                                         const TransformersProgramFiles& files) {
  const auto path = said.root().is_mapping() ? said.root().find("fsdp_config") : std::nullopt;
  if (!path || !path->is_scalar()) return said;
  if (files.fsdp == nullptr) path->fail("names a file: also give this file");
  const YamlJsonDocument content = parse_like_python_yaml(files.fsdp->text, files.fsdp->name);
  if (!content.root().is_mapping()) content.root().fail("must be a mapping (key: value)");
  DocumentTree tree = said.root().copy_tree_with_file_positions();
  *tree.find("fsdp_config") = without_line_numbers(content.root().copy_tree_with_file_positions());
  return YamlJsonDocument::from_tree(std::move(tree), said.document_name());
}

void set_model_by_hub_id(DocumentNode id, const UserFacts& given, StatedModel& model_words,
                         ImportReport& report) {
  if (set_built_in_model(id.text(), given, model_words, report)) return;
  id.fail(
      fmt::format("no built-in model has the name {}: --model CONFIG.JSON says its sizes (or give "
                  "its config.json beside this file)",
                  one_line_printable_text(id.text())));
}

YamlJsonDocument program_settings_document(const TransformersProgramFiles& files,
                                           const UserFacts& given) {
  const SourceFile& program = *files.program;
  return with_fsdp_file_contents(
      with_user_settings(parse_like_python_yaml(program.text, program.name), given), files);
}

}  // namespace stepwright::framework_files

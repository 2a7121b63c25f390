#include "stepwright/framework_files/swift/megatron_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/megatron/flags.h"
#include "stepwright/framework_files/megatron/model.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/swift/trainer_words.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kSwiftWords = "swift/megatron_words";

/// Adds the words of an argument in Megatron-LM's spelling; no words for one that is off.
void add_swift_words(std::string name, const DocumentTree& value, std::vector<ShellWord>& words) {
  if (const auto theirs = meaning_of_program_setting_word(kSwiftWords, "renamed", name);
      !theirs.empty())
    name = theirs;
  const bool scalar = value.kind == DocumentTree::TreeValueKind::kScalar;
  const bool off =
      scalar && (value.text == "false" || value.text == "none" || value.text == "None");
  const bool has_no = name == "overlap_p2p_communication";
  if (off && !has_no) return;
  std::ranges::replace(name, '_', '-');
  words.push_back({.text = (off ? "--no-" : "--") + name, .line = value.line});
  if (off || (scalar && value.text == "true")) return;
  if (scalar) words.push_back({.text = value.text, .line = value.line});
  for (const DocumentTree& item : value.items)
    words.push_back({.text = item.text, .line = item.line});
}

/// Separates arguments into ms-swift's own, which are returned, and words of Megatron-LM.
DocumentTree own_fields(const DocumentTree& fields, std::vector<ShellWord>& words) {
  DocumentTree own = DocumentTree::make_empty_mapping();
  for (const auto& [name, value] : tree_members(fields)) {
    if (find_known_setting(known_program_settings("swift/megatron"), name) != nullptr) {
      own.set(name, value);
    } else {
      add_swift_words(name, value, words);
    }
  }
  return own;
}

/// Returns the model that the arguments name, by its name or by the folder of its weights, from
/// which the sizes follow.
const model::ModelArchitecture& swift_model(const FrameworkSettingsReader& own,
                                            const UserFacts& given, StatedModel& model_words,
                                            ImportReport& report, const std::string& file) {
  if (given.known_model) return *given.known_model;
  std::string named;
  for (const std::string_view key : {"model", "load", "mcore_model"}) {
    const auto id = own.find(key);
    if (!id || model_words.model) continue;
    named = id->text();
    std::string name = named;
    if (name.ends_with("-mcore")) name.erase(name.size() - 6);
    set_built_in_model(name, given, model_words, report);
  }
  if (!model_words.model) {
    if (named.empty()) fail_input(fmt::format("--model is required: {} names no model", file));
    fail_input(
        fmt::format("--model is required: {} names the model {}, which is not built in: give its "
                    "sizes with --model CONFIG.JSON",
                    file, one_line_printable_text(named)));
  }
  return *model_words.model;
}

/// Renames settings of a report to ms-swift's spelling, with underscores.
void name_by_underscores(ImportReport& report) {
  each_setting(report, [](auto& setting) {
    if (!setting.name.starts_with("--")) return;
    std::replace(setting.name.begin() + 2, setting.name.end(), '-', '_');
  });
}

/// Adds the type of weights, for which Megatron-LM has a flag.
void add_swift_precision(const FrameworkSettingsReader& own, const DocumentTree& said,
                         std::vector<ShellWord>& words, ImportReport& report) {
  const auto type = own.find("torch_dtype");
  const DocumentTree* half = said.find("fp16");
  if (half != nullptr && half->text == "true") return;
  if (type && type->text() == "float32") return;
  if (type && type->text() == "float16") return words.push_back({.text = "--fp16"});
  if (said.find("bf16") == nullptr) {
    words.push_back({.text = "--bf16"});
    if (!type)
      report.add_assumption("job.precision", "the type of the model's weights, taken to be bf16");
  }
  words.push_back({.text = "--accumulate-allreduce-grads-in-fp32"});
}

}  // namespace

PlanDraft read_swift_megatron_arguments(Words command, const std::string& name,
                                        const UserFacts& given, PlanDraft draft,
                                        ImportReport& report) {
  draft.framework = {.name = "megatron-core"};
  const DocumentTree said = command_arguments_as_mapping(command);
  std::vector<ShellWord> words;
  const YamlJsonDocument own_document = YamlJsonDocument::from_tree(own_fields(said, words), name);
  const FrameworkSettingsReader own(own_document.root());
  for (const auto& [key, value] : words_of_table_section(kSwiftWords, "usual")) {
    if (said.find(key) == nullptr) add_swift_words(std::string(key), DocumentTree(value), words);
  }
  add_swift_precision(own, said, words, report);
  const model::ModelArchitecture model = swift_model(own, given, draft, report, name);
  MegatronArgumentFields arguments = read_megatron_arguments(words, name, {}, true, report);
  add_megatron_model_fields(arguments.fields, model);
  const YamlJsonDocument document = YamlJsonDocument::from_tree(std::move(arguments.fields), name);
  const FrameworkSettingsReader fields(document.root());
  draft = read_megatron_fields(fields, std::move(draft), report, given, name);
  draft.model = model;
  report_read_and_unread_settings(fields, name, known_program_settings("megatron/settings"),
                                  report);
  // Settings without a line are sizes of the model or defaults.
  std::erase_if(report.read, [](const ImportedSetting& one) { return one.line == 0; });
  std::erase_if(report.not_read, [](const SettingNotInPlan& one) { return one.line == 0; });
  read_swift_adapters(own, "full", given, draft, report);
  if (draft.adapters) {
    // This variant's adapters keep and multiply the rows of their own rank.
    draft.framework.variant = "ms-swift";
    draft.tensor_input = plan::GatheredInputPolicy::kRegather;
  }
  read_swift_packing(own, given, draft.batch, report);
  read_swift_method(own, draft, draft.batch);
  if (draft.method.kind == plan::TrainingMethodKind::kDpo)
    double_preference_pair_batch(draft.plan, draft.batch, report);
  report_read_and_unread_settings(own, name, known_program_settings("swift/megatron"), report);
  for (auto& one : report.read) {
    const auto flag = arguments.flags.find(one.name);
    if (flag != arguments.flags.end()) one.name = flag->second;
  }
  name_by_underscores(report);
  return draft;
}

}  // namespace stepwright::framework_files

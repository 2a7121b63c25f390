#include "stepwright/framework_files/torchtitan/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/forms/toml.h"
#include "stepwright/launch_scripts/capture_advice.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kRoot = "Trainer.Config";
constexpr std::string_view kRegistry = "model_registry";
constexpr std::string_view kImport = "from torchtitan.models.";

/// Words before a configuration in a log: torchtitan/config/manager.py, torchtitan/train.py.
constexpr std::string_view kPrinted[] = {"Running with configs: {", "Running with args: {"};

/// Returns the part of a text from its first character, `{`, to the matching brace.
std::string_view braced(std::string_view text, const std::string& name) {
  std::int64_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\') ++i;
    if (quoted) continue;
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return text.substr(0, i + 1);
  }
  fail_input(fmt::format("{}: the configuration that it prints never ends", name));
}

/// Returns the model family whose registry a call names: "llama3_model_registry",
/// "qwen3.model_registry".
std::string_view family_of_call(std::string_view function) {
  function.remove_suffix(kRegistry.size());
  const std::size_t end = function.find_last_not_of("._");
  return end == std::string_view::npos ? "" : function.substr(0, end + 1);
}

/// Returns the single family from which a file imports a registry; empty: none, or several.
std::string_view imported_family(std::string_view text) {
  std::string_view family;
  for (std::size_t at = text.find(kImport); at != std::string_view::npos;
       at = text.find(kImport, at)) {
    at += kImport.size();
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::size_t end = line.find(" import ");
    const std::string_view names = end == std::string_view::npos ? "" : line.substr(end + 8);
    const std::size_t registry = names.find(kRegistry);
    if (registry == std::string_view::npos || names.find(" as ", registry) < names.size()) continue;
    const std::string_view module = line.substr(0, end);
    if (!family.empty() && family != module) return "";
    family = module;
  }
  return family;
}

/// Returns the family whose folder contains a registry:
/// torchtitan/models/FAMILY/config_registry.py. Empty for another file.
std::string_view family_of_folder(std::string_view name) {
  if (!name.ends_with("/config_registry.py")) return "";
  return last_path_part(name.substr(0, name.rfind('/')));
}

/// Returns the family of the flavors that a registry call in a file names; empty: unknown.
std::string_view family_in(std::string_view function, const SourceFile& file) {
  const std::string_view called = family_of_call(function);
  if (!called.empty()) return called;
  const std::string_view imported = imported_family(file.text);
  return imported.empty() ? family_of_folder(file.name) : imported;
}

/// Returns the result of a torchtitan function: a flavor for its registry
/// (torchtitan/models/*/__init__.py), one group of parameters for `default_adamw`
/// (torchtitan/components/optimizer/optimizer.py), its argument for the graph trainer
/// (torchtitan/experiments/graph_trainer/configs.py). nullopt for other functions.
std::optional<DocumentTree> known_call(const std::string& function, const DocumentTree& arguments,
                                       const SourceFile& file) {
  if (function.ends_with(kRegistry)) {
    DocumentTree call = arguments;
    call.set("()", DocumentTree::make_scalar(function, true));
    const std::string_view family = family_in(function, file);
    if (!family.empty())
      call.set(kTorchtitanModelFamilyKey, DocumentTree::make_scalar(std::string(family), true));
    return call;
  }
  if (function == "default_adamw") return DocumentTree::make_empty_mapping().set("name", "AdamW");
  const DocumentTree* unnamed = arguments.find("[]");
  if (function != "to_graph_trainer_config" || unnamed == nullptr) return std::nullopt;
  DocumentTree config = unnamed->items.front();
  if (config.kind == DocumentTree::TreeValueKind::kMapping)
    config.set("graph_trainer", DocumentTree::make_scalar("true", false));
  return config;
}

/// Fails for a configuration that does not train a language model by next-token prediction.
void check_kind(const launch_scripts::PythonConfig& config, const std::string& name) {
  const DocumentTree* call = config.tree.find("()");
  if (call != nullptr && call->text == "Controller.Config") {
    fail_unsupported(fmt::format(
        "{}: {} makes a Controller.Config, torchtitan's reinforcement learning: its trainer is "
        "read nowhere yet",
        name, one_line_printable_text(config.function)));
  }
  const DocumentTree* model = config.tree.find("model_spec");
  const DocumentTree* family = model == nullptr ? nullptr : model->find(kTorchtitanModelFamilyKey);
  if (family != nullptr && family->text == "flux") {
    fail_unsupported(fmt::format("{}: {} trains Flux, which is no language model", name,
                                 one_line_printable_text(config.function)));
  }
}

/// Fails for a configuration whose batch or degrees are not literals, or that changes the result of
/// a function in a missing file.
void check_sections(const launch_scripts::PythonConfig& config, const std::string& name) {
  for (const launch_scripts::UnknownPythonValue& one : config.unread) {
    const std::string what = one_line_printable_text(one.expression);
    if (one.name == "training" || one.name == "parallelism") {
      fail_input(fmt::format(
          "{}:{}: the value of {} is {}, and Stepwright executes no code: write the value out{}",
          name, one.line, one.name, what,
          launch_scripts::computed_configuration_advice(one.expression, one.line)));
    }
    const bool given_by_call = one.expression.find('(') != std::string::npos &&
                               !one.expression.starts_with(one.name + "(");
    const bool variable =
        one.name.find_first_of(". ") == std::string::npos && config.tree.find(one.name) == nullptr;
    if (!given_by_call || !variable) continue;
    fail_input(
        fmt::format("{}:{}: {} is {}, which stands in none of the files: give the file of "
                    "that function beside it",
                    name, one.line, one_line_printable_text(one.name), what));
  }
}

TorchtitanConfiguration read_functions(Sources files, const UserFacts& given) {
  std::vector<launch_scripts::PythonFileText> texts;
  for (const SourceFile& file : files) texts.push_back({file.text, file.name});
  const auto known = [files](const std::string& function, const DocumentTree& arguments,
                             const std::string& name) {
    const auto file = std::ranges::find(files, name, &SourceFile::name);
    return known_call(function, arguments, file == files.end() ? files.front() : *file);
  };
  launch_scripts::PythonConfig config =
      launch_scripts::read_python_config(texts, {.root = kRoot, .known = known}, given.function);
  const std::string& name = files.front().name;
  check_kind(config, name);
  check_sections(config, name);
  YamlJsonDocument document =
      with_user_settings(YamlJsonDocument::from_tree(config.tree, name), given);
  return {std::move(document), false, std::move(config)};
}

/// True if a file calls Trainer.Config; a comment, such as those above an exported TOML, does not
/// count.
bool calls_root(const SourceFile& file) {
  for (std::size_t at = file.text.find(kRoot); at != std::string::npos;
       at = file.text.find(kRoot, at + 1)) {
    const std::size_t end = file.text.rfind('\n', at);
    const std::size_t begin = end == std::string::npos ? 0 : end + 1;
    if (file.text[begin] != '#') return true;
  }
  return false;
}

/// Moves settings from keys of former releases to the present keys; a value at the present key has
/// precedence.
YamlJsonDocument with_present_places(YamlJsonDocument said) {
  if (!said.root().is_mapping()) return said;
  DocumentTree tree = said.root().copy_tree_with_file_positions();
  bool moved = false;
  for (const auto& [former, key] : words_of_table_section("torchtitan/words", "former_places")) {
    const std::string section = former.substr(0, former.find('.'));
    const std::string name = former.substr(section.size() + 1);
    const DocumentTree* from = tree.find(section);
    const bool mapping = from != nullptr && from->kind == DocumentTree::TreeValueKind::kMapping;
    if (!mapping || from->find(name) == nullptr) continue;
    const DocumentTree value = *from->find(name);
    *tree.find(section) = copy_without_key(*from, name);
    if (tree.find("parallelism") == nullptr)
      tree.set("parallelism", DocumentTree::make_empty_mapping());
    DocumentTree& present = *tree.find("parallelism");
    if (present.kind == DocumentTree::TreeValueKind::kMapping && present.find(key) == nullptr) {
      present.set(key, value);
    }
    moved = true;
  }
  // In former releases a pipeline had as many micro-batches as stages.
  DocumentTree* present = tree.find("parallelism");
  const DocumentTree* stages =
      present == nullptr ? nullptr : present->find("pipeline_parallel_degree");
  if (moved && stages != nullptr && present->find("num_pp_microbatches") == nullptr &&
      present->find("pipeline_parallel_microbatch_size") == nullptr) {
    present->set("num_pp_microbatches", DocumentTree(*stages));
  }
  return moved ? YamlJsonDocument::from_tree(std::move(tree), said.document_name())
               : std::move(said);
}

/// How the class of a section follows from a field that only this class has.
struct FieldOfClass {
  std::string_view section;
  std::string_view field;  ///< Field that identifies the class; empty: none is needed.
  std::string_view name;
};
// Classes in torchtitan/distributed/activation_checkpoint.py and torchtitan/components/loss.py of
// 0.3. The first row that fits counts.
constexpr FieldOfClass kFieldsOfClasses[] = {
    {"activation_checkpoint", "mode", ""},
    {"activation_checkpoint", "memory_budget", "MemoryBudgetAC.Config"},
    {"activation_checkpoint", "force_recompute_mm_shapes_by_fqns", "SelectiveAC.Config"},
    {"activation_checkpoint", "", "FullAC.Config"},
    {"loss", "num_chunks", "ChunkedCELoss.Config"}};

void name_class(DocumentTree& section, std::string_view path) {
  if (section.kind != DocumentTree::TreeValueKind::kMapping || section.items.empty()) return;
  if (section.find("()") != nullptr) return;
  for (const auto& [known, field, name] : kFieldsOfClasses) {
    if (known != path || (!field.empty() && section.find(field) == nullptr)) continue;
    if (!name.empty()) section.set("()", DocumentTree::make_scalar(std::string(name), true));
    return;
  }
}

/// Converts the JSON of a Trainer.Config (since 0.3) to what its Python function states: a flavor
/// in place of all parts of its model, and the classes of sections.
YamlJsonDocument as_function_says(const YamlJsonDocument& said) {
  DocumentTree tree = said.root().copy_tree_with_file_positions();
  const DocumentTree spec = *tree.find("model_spec");
  DocumentTree flavor = DocumentTree::make_empty_mapping();
  flavor.line = spec.line;
  flavor.column = spec.column;
  for (const auto& [from, to] : {std::pair("name", kTorchtitanModelFamilyKey),
                                 std::pair("flavor", std::string_view("flavor"))}) {
    if (const DocumentTree* value = spec.find(from)) flavor.set(to, *value);
  }
  *tree.find("model_spec") = std::move(flavor);
  for (const std::string_view section : {"activation_checkpoint", "loss"}) {
    if (DocumentTree* found = tree.find(section)) name_class(*found, section);
  }
  return YamlJsonDocument::from_tree(std::move(tree), said.document_name());
}

bool is_trainer_config(const YamlJsonDocument& said) {
  if (!said.root().is_mapping()) return false;
  const auto spec = said.root().find("model_spec");
  return spec && spec->is_mapping() && spec->find("name") && spec->find("flavor");
}

}  // namespace

TorchtitanConfiguration read_titan_configuration(Sources files, const UserFacts& given) {
  const SourceFile& file = files.front();
  if (file.name.ends_with(".py") || calls_root(file)) return read_functions(files, given);
  if (files.size() != 1) fail_input("torchtitan: one file is read, but registries of functions");
  std::string_view text = file.text;
  for (const std::string_view words : kPrinted) {
    const std::size_t at = text.find(words);
    if (at != std::string_view::npos) text = braced(text.substr(at + words.size() - 1), file.name);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  YamlJsonDocument document =
      json ? YamlJsonDocument::parse(text, file.name) : parse_toml(text, file.name);
  if (json && is_trainer_config(document)) {
    return {with_user_settings(as_function_says(document), given), false, {}};
  }
  return {with_present_places(with_user_settings(std::move(document), given)), true, {}};
}

}  // namespace stepwright::framework_files

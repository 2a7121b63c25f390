#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/bridge/script.h"
#include "stepwright/framework_files/bridge/workload.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/python_report.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/megatron/bridge_fields.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/launch_scripts/python/config.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kContainer = "ConfigContainer";
/// Call in performance scripts of older releases, which take degrees from a module of tables
/// instead of get_workload_base_config.
constexpr std::string_view kTables = "set_parallelism_and_batch_configs(";
constexpr std::string_view kWorkload = "get_workload_base_config(";
/// Key in a ConfigContainer's tree for the name of the function whose common settings it starts
/// from.
constexpr std::string_view kBase = "()";

/// Returns the settings of a function that recipes call for common settings; empty for any other
/// function.
std::span<const WordRow> common_of(std::string_view function) {
  return words_of_table_section("bridge/recipes", function);
}

/// Fails with `kInput` if the configuration comes from a recipe that no given file defines, because
/// that recipe's settings are needed.
void check_base(const launch_scripts::PythonConfig& config, const std::string& file) {
  if (config.tree.find(kBase) != nullptr) return;
  for (const std::string& full : config.elsewhere) {
    const std::size_t dot = full.rfind('.');
    const std::string function = full.substr(dot + 1);
    if (function.find("_config") == std::string::npos) continue;
    fail_input(fmt::format(
        "{}: its configuration comes from {}(), which is in none of the files: also give the file "
        "of {}",
        file, one_line_printable_text(function), one_line_printable_text(full.substr(0, dot))));
  }
}

/// Returns the device on which a recipe will run, from a built-in profile or a plan's cluster;
/// nullopt: unknown.
std::optional<cluster::DeviceModel> device_of(const UserFacts& given) {
  if (given.known_cluster) return given.known_cluster->device;
  const std::string name = given.cluster.substr(0, given.cluster.rfind(':'));
  const auto cluster = cluster::built_in_cluster(name, 1);
  return cluster ? std::optional(cluster->device) : std::nullopt;
}

/// Returns the result of a Megatron-Bridge function that recipes call; nullopt for other functions.
std::optional<DocumentTree> known_recipe(const std::string& function, const DocumentTree& arguments,
                                         const std::string& /*file*/) {
  if (!common_of(function).empty()) {
    DocumentTree container = DocumentTree::make_empty_mapping().set(kBase, function);
    const std::string_view adapters =
        meaning_of_program_setting_word("bridge/recipes", function, "peft");
    if (!adapters.empty())
      container.set("peft", DocumentTree::make_empty_mapping().set("()", adapters));
    return container;
  }
  if (!function.starts_with("AutoBridge.from_hf_"))
    return megatron_bridge_precision(function, arguments);
  DocumentTree model = arguments;
  model.set("()", DocumentTree::make_scalar(function, true));
  return model;
}

DocumentTree common_defaults(const YamlJsonDocument& document) {
  DocumentTree usual = DocumentTree::make_empty_mapping();
  const auto base = document.root().find(kBase);
  usual.set("use_distributed_optimizer", true).set("precision", "bf16");
  usual.set("grad_reduce_in_fp32", true);
  if (!base || !base->is_scalar()) return usual;
  for (const auto& [field, value] : common_of(base->text())) {
    if (field != "peft") usual.set(field, DocumentTree::make_scalar(value, false));
  }
  return usual;
}

/// Takes the precision that a word such as "bf16_with_mxfp8_mixed" means:
/// src/megatron/bridge/training/mixed_precision.py.
void take_precision_word(const FrameworkSettingsReader& root, DocumentTree& derived) {
  const auto word = root.node().find("mixed_precision");
  if (!word || !word->is_scalar()) return;
  const std::string text = root.word("mixed_precision", "");
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  derived.set("precision", text.starts_with("16") || text.starts_with("fp16") ? "fp16" : "bf16");
  if (has("fp8")) derived.set("fp8", "hybrid");
  if (has("mxfp8")) derived.set("fp8_recipe", "mxfp8");
  if (has("nvfp4")) derived.set("fp4", "e2m1");
  // This setting overrides the data-parallel wrapper's own.
  derived.set("grad_reduce_in_fp32", true);
}

/// Returns the layout "Ett|tt|ttL" for lists of layer names; an unknown name counts as no layer.
std::string layout_words(const DocumentTree& layout) {
  static constexpr std::pair<std::string_view, char> kNames[] = {
      {"embedding", 'E'}, {"decoder", 't'}, {"mtp", 'm'}, {"loss", 'L'}};
  std::string text;
  for (const DocumentTree& stage : layout.items) {
    if (&stage != &layout.items.front()) text += '|';
    for (const DocumentTree& name : stage.items) {
      for (const auto& [word, letter] : kNames) {
        if (name.text == word) text += letter;
      }
    }
  }
  return text;
}

/// Converts values to the words of Megatron's arguments.
void use_words_of_arguments(DocumentTree& said) {
  for (std::size_t i = 1; i < said.items.size(); i += 2) {
    DocumentTree& value = said.items[i];
    if (value.text == "torch.bfloat16") value.text = "bf16";
    if (value.text == "torch.float16") value.text = "fp16";
    if (value.text == "torch.float32") value.text = "fp32";
  }
  if (DocumentTree* backend = said.find("attention_backend")) {
    backend->text = std::string(launch_scripts::last_python_name(backend->text));
  }
  DocumentTree* layout = said.find("pipeline_model_parallel_layout");
  if (layout != nullptr && layout->kind == DocumentTree::TreeValueKind::kSequence) {
    DocumentTree words(layout_words(*layout));
    words.line = layout->line;
    *layout = std::move(words);
  }
  const auto on = [&](std::string_view flag) {
    const DocumentTree* value = said.find(flag);
    return value != nullptr && value->text == "true";
  };
  if (on("bf16") || on("fp16")) {
    DocumentTree word(on("fp16") ? "fp16" : "bf16");
    word.line = said.find(on("fp16") ? "fp16" : "bf16")->line;
    said.set("precision", word);
  }
}

/// Reads the precision's reduction type, stated or default, which overrides the wrapper's own
/// (src/megatron/bridge/training/mixed_precision.py: setup).
void take_precision_object(DocumentNode root, DocumentTree& said) {
  const auto precision = root.find("mixed_precision");
  if (!precision || !precision->is_mapping() || !precision->find("()")) return;
  const auto own = precision->find("grad_reduce_in_fp32");
  const bool wide = !own || own->is_null() || own->boolean();
  DocumentTree* reduced = said.find("grad_reduce_in_fp32");
  if (reduced != nullptr) reduced->text = wide ? "true" : "false";
}

/// Switches the distributed optimizer on if one of its two switches is on, as Megatron-Bridge does;
/// the optimizers of common recipes switch it on (src/megatron/bridge/training/config.py).
void share_optimizer(DocumentNode root, DocumentTree& said) {
  DocumentTree* own = said.find("use_distributed_optimizer");
  if (own == nullptr || own->text == "true") return;
  const auto optimizer = root.find("optimizer");
  const bool mapping = optimizer && optimizer->is_mapping();
  const auto shares = mapping ? optimizer->find("use_distributed_optimizer") : std::nullopt;
  const bool replaced = mapping && optimizer->find("()");
  const bool on = shares && !shares->is_null() ? shares->boolean() : root.find(kBase) && !replaced;
  if (on) own->text = "true";
}

/// Adds the tokenizer's settings, from which the padded vocabulary follows, for a model that states
/// no vocabulary (src/megatron/bridge/training/setup.py: _validate_and_set_vocab_size).
void take_tokenizer(DocumentNode root, const StatedModel& model_words, MegatronFieldSources& text) {
  const bool said = model_words.model || text.said.find("vocab_size") != nullptr;
  if (said) text.derived.set("pad_vocab_size", false);
  const auto tokenizer = root.find("tokenizer");
  if (said || !tokenizer || !tokenizer->is_mapping()) return;
  const auto take = [&](std::string_view name) {
    const auto value = tokenizer->find(name);
    if (value && value->is_scalar() && !value->is_null())
      text.derived.set(name, value->copy_tree());
  };
  take("tokenizer_type");
  if (text.derived.find("tokenizer_type") == nullptr) {
    // The tokenizer of the common fine-tuning recipes.
    text.derived.set("tokenizer_type", "HuggingFaceTokenizer");
  }
  take("tokenizer_model");
  take("vocab_size");
}

/// Sets the sequence length from the data set's settings if the model states none; Megatron-Bridge
/// requires them to be equal (src/megatron/bridge/training/config.py).
void take_data_length(DocumentNode root, MegatronFieldSources& text) {
  if (text.said.find("seq_length") != nullptr) return;
  const auto data = root.find("dataset");
  if (!data || !data->is_mapping()) return;
  for (const std::string_view name : {"seq_length", "sequence_length"}) {
    const auto value = data->find(name);
    if (value && value->is_scalar() && !value->is_null())
      text.said.set("seq_length", value->copy_tree());
  }
}

/// Adds the model sizes that the Megatron-Bridge class of the model has as defaults.
void add_provider_defaults(DocumentNode root, DocumentTree& usual) {
  const auto model = root.find("model");
  const auto type = model && model->is_mapping() ? model->find("()") : std::nullopt;
  if (!type || !type->is_scalar()) return;
  const std::string text = type->text();
  const std::string_view name = launch_scripts::last_python_name(text);
  const std::string_view defaults =
      meaning_of_program_setting_word("bridge/models", "defaults_of", name);
  for (const auto& [field, value] : words_of_table_section("bridge/models", defaults)) {
    usual.set(field, DocumentTree::make_scalar(value, false));
  }
}

/// Reports `tokenizer.vocab_size` as not read, because the plan uses the vocabulary of the built-in
/// model.
void list_tokens_of_class(const YamlJsonDocument& document, const std::string& name,
                          ImportReport& report) {
  const auto tokenizer = document.root().find("tokenizer");
  const auto tokens =
      tokenizer && tokenizer->is_mapping() ? tokenizer->find("vocab_size") : std::nullopt;
  if (!tokens || !tokens->is_number() || name.starts_with("Qwen")) return;
  report.not_read.push_back(
      {"tokenizer.vocab_size", tokens->text(), document.document_name(), tokens->source_line(),
       SettingImpact::kMaybe,
       fmt::format("that {} has no vocabulary of its own: the tokenizer's counts there", name)});
}

/// True if a model class of Megatron-Bridge is generic and has no sizes as defaults.
bool has_open_sizes(std::string_view type) {
  static constexpr std::string_view kOpen[] = {"GPTModelProvider", "MLAModelProvider",
                                               "MambaModelProvider", "HybridModelProvider"};
  return std::ranges::find(kOpen, type) != std::end(kOpen);
}

bool says_sizes(DocumentNode model) {
  static constexpr std::string_view kSizes[] = {"num_layers", "hybrid_layer_pattern",
                                                "hybrid_override_pattern"};
  return std::ranges::any_of(kSizes,
                             [&](std::string_view name) { return model.find(name).has_value(); });
}

void name_bridge_model(const YamlJsonDocument& document, const UserFacts& given,
                       StatedModel& model_words, ImportReport& report) {
  const auto model = document.root().find("model");
  if (!model || !model->is_mapping()) return;
  const auto unnamed = model->find("[]");
  if (unnamed && unnamed->size() > 0 && unnamed->at(0).is_scalar()) {
    set_built_in_model(unnamed->at(0).text(), given, model_words, report);
  }
  const auto call = model->find("()");
  if (!call || !call->is_scalar()) return;
  const std::string text = call->text();
  const std::string name(launch_scripts::last_python_name(text));
  const std::string_view known = meaning_of_program_setting_word("bridge/models", "models", name);
  if (!known.empty()) {
    set_built_in_model(fmt::format("hub/{}", known), given, model_words, report);
    list_tokens_of_class(document, name, report);
  } else if (!unnamed && !has_open_sizes(name)) {
    if (!says_sizes(*model)) model_words.unknown_model = one_line_printable_text(text);
    report.not_read.push_back({"model.()", one_line_printable_text(text), document.document_name(),
                               call->source_line(), SettingImpact::kYes,
                               "what this class has where the recipe is silent"});
  }
}

/// Reads adapters: src/megatron/bridge/peft/lora.py: LoRA; recipes/utils/finetune_utils.py:
/// default_peft_config.
PlanDraft read_bridge_adapters(const FrameworkSettingsReader& root, PlanDraft draft) {
  const FrameworkSettingsReader peft = root.nested_settings("peft");
  if (peft.word("()", "") != "LoRA") return draft;
  root.mark_setting_read("peft");
  draft.adapters = read_lora_adapter_settings(peft, "megatron/adapters", "bridge");
  if (peft.flag("sequence_parallel_input_regather", false)) {
    draft.tensor_input = plan::GatheredInputPolicy::kRegather;
  }
  return draft;
}

}  // namespace

namespace {

/// The Python files of a recipe, and the YAML files that override the container it returns.
struct RecipeFiles {
  std::vector<SourceFile> recipes, overrides;
};

RecipeFiles sorted_recipe_files(Sources files) {
  RecipeFiles sorted;
  for (const SourceFile& file : files) {
    const bool yaml = file.name.ends_with(".yaml") || file.name.ends_with(".yml");
    (yaml ? sorted.overrides : sorted.recipes).push_back(file);
  }
  return sorted;
}

/// A function of Megatron-Bridge's recipes that a program imports and calls.
struct ImportedRecipe {
  std::string program, module, function;
};

/// Returns the imported recipe with which a program starts; nullopt if the program makes a
/// container itself, or imports none or several recipes.
std::optional<ImportedRecipe> imported_recipe(const SourceFile& file) {
  constexpr std::string_view kFrom = "from megatron.bridge.recipes";
  if (file_contains_text(file, "ConfigContainer(") ||
      file_contains_text(file, "-> ConfigContainer"))
    return std::nullopt;
  std::optional<ImportedRecipe> found;
  for (std::size_t at = file.text.find(kFrom); at != std::string::npos;
       at = file.text.find(kFrom, at + kFrom.size())) {
    const std::string_view line =
        std::string_view(file.text).substr(at, file.text.find('\n', at) - at);
    const std::size_t import = line.find(" import ");
    if (import == std::string_view::npos) continue;
    const std::string_view name = line.substr(import + 8);
    const bool one = name.find_first_of(",( ") == std::string_view::npos;
    if (!one || !name.ends_with("_config")) continue;
    if (found) return std::nullopt;
    found = {.program = file.name,
             .module = std::string(line.substr(5, import - 5)),
             .function = std::string(name)};
  }
  return found;
}

/// Moves the file that defines a recipe to the front. Fails with `kInput` if no file does.
void bring_forward(const ImportedRecipe& recipe, std::vector<SourceFile>& files) {
  const auto own = std::ranges::find_if(files, [&](const SourceFile& file) {
    return file_contains_text(file, fmt::format("def {}(", recipe.function));
  });
  if (own == files.end()) {
    fail_input(
        fmt::format("{}: its configuration comes from {}(), which is in none of the files: also "
                    "give the file of {}, or the ConfigContainer.yaml that training writes",
                    recipe.program, one_line_printable_text(recipe.function),
                    one_line_printable_text(recipe.module)));
  }
  std::rotate(files.begin(), own, own + 1);
}

/// True if a mapping has a value at a path: "model.seq_length".
bool says_path(const DocumentTree& tree, std::string_view path) {
  const DocumentTree* at = &tree;
  while (at != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    at =
        at->kind == DocumentTree::TreeValueKind::kMapping ? at->find(path.substr(0, dot)) : nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at != nullptr;
}

/// Merges YAML overrides into a recipe's container, as the programs in examples/ do with
/// `--config-file`: src/megatron/bridge/training/utils/omegaconf_utils.py, apply_overrides.
void lay_overrides(Sources overrides, launch_scripts::PythonConfig& config) {
  for (const SourceFile& file : overrides) {
    const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
    if (!document.root().is_mapping()) document.root().fail("must be a mapping");
    DocumentTree over = copy_tree_with_file_positions(document.root());
    drop_line_numbers(over);
    merge_mappings(config.tree, over);
    std::erase_if(config.unread, [&](const launch_scripts::UnknownPythonValue& one) {
      return says_path(over, one.name);
    });
  }
}

/// Reads a script that starts a performance recipe; the recipe's files, or the container that it
/// writes, must be given.
PlanDraft read_started_bridge(Sources files, const UserFacts& given, PlanDraft draft,
                              ImportReport& report) {
  const MegatronBridgeRecipeRun run =
      read_megatron_bridge_script(files, given, draft.extent, draft.start, report);
  if (run.devices) {
    draft.extent.ranks = run.devices;
  } else if (draft.extent.nodes && draft.extent.devices_of_node) {
    draft.extent.ranks = *draft.extent.nodes * *draft.extent.devices_of_node;
  }
  if (draft.extent.ranks) draft.extent.nodes = draft.extent.devices_of_node = std::nullopt;
  if (run.files.front().name.ends_with(".py"))
    return read_bridge(run.files, run.given, std::move(draft), report);
  return read_nemo(run.files, run.given, std::move(draft), report);
}

}  // namespace

PlanDraft read_bridge(Sources files, const UserFacts& given, PlanDraft draft,
                      ImportReport& report) {
  if (is_shell_script(files.front()))
    return read_started_bridge(files, given, std::move(draft), report);
  RecipeFiles sorted = sorted_recipe_files(files);
  if (sorted.recipes.empty()) return read_nemo(files, given, std::move(draft), report);
  if (const auto made = imported_recipe(sorted.recipes.front()); made && given.function.empty()) {
    UserFacts chosen = given;
    chosen.function = made->function;
    bring_forward(*made, sorted.recipes);
    std::vector<SourceFile> all = sorted.recipes;
    all.insert(all.end(), sorted.overrides.begin(), sorted.overrides.end());
    return read_bridge(all, chosen, std::move(draft), report);
  }
  const SourceFile& file = sorted.recipes.front();
  std::vector<launch_scripts::PythonFileText> texts;
  for (const SourceFile& one : sorted.recipes) texts.push_back({one.text, one.name});
  const bool overrides = std::ranges::any_of(files, [](const SourceFile& one) {
    return file_contains_text(one, "def set_workload_base_configs(");
  });
  if (!overrides) texts.push_back({embedded_file_text("bridge/overrides"), "utils/overrides.py"});
  const std::optional<cluster::DeviceModel> device = device_of(given);
  const std::string dispatcher = device ? flex_dispatcher_python_source(*device) : "";
  if (!dispatcher.empty()) texts.push_back({dispatcher, "training/flex_dispatcher_backend.py"});
  texts.push_back({embedded_file_text("bridge/helpers"), "recipes/utils.py"});
  const auto chosen = [&](const std::string& function, const DocumentTree& arguments,
                          const PythonVariableLookup& value) {
    auto workload = megatron_bridge_workload(function, arguments, value);
    if (workload && !draft.extent.ranks)
      draft.extent.ranks = megatron_bridge_device_count(*workload);
    return workload;
  };
  launch_scripts::PythonConfig config =
      launch_scripts::read_python_config(texts,
                                         {.root = kContainer,
                                          .known = known_recipe,
                                          .chosen = chosen,
                                          .same = {"to_megatron_provider"},
                                          .themselves = {"squared_relu", "quick_gelu"}},
                                         given.function);
  check_base(config, file.name);
  lay_overrides(sorted.overrides, config);
  if (draft.extent.ranks && (given.devices || given.nodes)) {
    report.notes.push_back(
        fmt::format("The batch is that of the workload's {} devices; run_script.py scales it with "
                    "theirs: --batch says it.",
                    *draft.extent.ranks));
  }
  const YamlJsonDocument document =
      with_user_settings(YamlJsonDocument::from_tree(config.tree, file.name), given);
  const FrameworkSettingsReader root(document.root());
  name_bridge_model(document, given, draft, report);
  MegatronFieldSources text{
      .said = flat_megatron_settings(document.root(), megatron_field_paths("bridge/settings")),
      .usual = common_defaults(document),
      .program = "Megatron-Bridge's common recipe"};
  use_words_of_arguments(text.said);
  take_precision_object(document.root(), text.said);
  share_optimizer(document.root(), text.said);
  take_data_length(document.root(), text);
  take_tokenizer(document.root(), draft, text);
  add_provider_defaults(document.root(), text.usual);
  if (!draft.model) set_megatron_bridge_activation(root.nested_settings("model"), text.derived);
  take_precision_word(root, text.derived);
  if (text.derived.find("grad_reduce_in_fp32") != nullptr) {
    if (DocumentTree* own = text.said.find("grad_reduce_in_fp32")) own->text = "true";
  }
  draft = read_bridge_adapters(root, std::move(draft));
  draft = read_plan_from_megatron_fields(text, root, known_program_settings("bridge/settings"),
                                         given, std::move(draft), report, file.name);
  report_unread_python_values(config, document, known_program_settings("bridge/settings"), report,
                              known_program_settings("megatron/settings"));
  return draft;
}

}  // namespace stepwright::framework_files

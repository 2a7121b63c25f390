#include "stepwright/framework_files/huggingface/trainer_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/python/call.h"
#include "stepwright/launch_scripts/python/program.h"
#include "stepwright/launch_scripts/python/source.h"
#include "stepwright/launch_scripts/python/tree.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {
namespace {

using launch_scripts::PythonCall;
using launch_scripts::PythonObject;
using ObjectKind = PythonObject::Kind;

constexpr std::string_view kTable = "huggingface/trainer_program";
constexpr std::string_view kPlain = "plain";
/// Major compute capability of devices that have no bf16 products.
constexpr int kVolta = 7;

/// Calls in a program that decide how it trains.
enum class CallKind : std::uint8_t {
  kArguments,     ///< A call that makes the training arguments.
  kTrainer,       ///< A call that makes a trainer.
  kModel,         ///< A call that loads a model's weights.
  kDescribed,     ///< A call that loads a model's configuration.
  kAdapters,      ///< A call that makes a configuration of adapters (peft).
  kBeside,        ///< A call that adds adapters to a model (unsloth).
  kKbit,          ///< A call that prepares a quantised model for training.
  kCheckpointed,  ///< A call that turns recomputation on.
  kOther,         ///< A call that loads another object, such as a tokenizer.
};

/// Returns the kind of a call of `from_pretrained`, given its class.
CallKind loaded_kind(std::string_view path) {
  constexpr std::string_view kOthers[] = {"Tokenizer", "Processor", "FeatureExtractor",
                                          "GenerationConfig", "PeftModel"};
  const auto has = [&](std::string_view word) { return path.find(word) != path.npos; };
  if (std::ranges::any_of(kOthers, has)) return CallKind::kOther;
  return has("Config") ? CallKind::kDescribed : CallKind::kModel;
}

/// True if a name is that of a parser that fills classes of arguments: HfArgumentParser,
/// H4ArgumentParser, TrlParser. argparse's name has no letter before "ArgumentParser".
bool is_class_parser(std::string_view name) {
  return name != "ArgumentParser" &&
         (name.ends_with("ArgumentParser") || name.ends_with("TrlParser"));
}

/// True if a text calls a parser that fills classes of arguments.
bool calls_class_parser(std::string_view text) {
  constexpr std::string_view kEnd = "Parser(";
  for (std::size_t at = text.find(kEnd); at != text.npos; at = text.find(kEnd, at + 1)) {
    const std::size_t end = at + kEnd.size() - 1;
    std::size_t begin = end;
    while (begin > 0 && launch_scripts::is_python_name_char(text[begin - 1])) --begin;
    if (is_class_parser(text.substr(begin, end - begin))) return true;
  }
  return false;
}

/// Returns the text between the brackets after the first place of `head` ("class Own("); nullopt if
/// the text has no such place.
std::optional<std::string_view> bracketed_after(std::string_view text, std::string_view head) {
  const std::size_t at = text.find(head);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t open = at + head.size() - 1;
  const std::size_t close = launch_scripts::closing_python_bracket_position(text, open);
  return text.substr(open + 1, close - open - 1);
}

/// Returns the names of a function's parameters, "name: type = default".
std::vector<std::string> parameter_names(std::string_view parameters) {
  std::vector<std::string> names;
  for (const std::string_view part : launch_scripts::split_at_python_commas(parameters)) {
    names.emplace_back(trimmed(part.substr(0, part.find_first_of(":="))));
  }
  return names;
}

/// Interprets a program and records the calls that decide how it trains.
class TrainerCalls final : public launch_scripts::LiteralPythonHost {
 public:
  TrainerCalls(std::string_view text, const cluster::Cluster& cluster,
               launch_scripts::ArgparseOptions& options)
      : text_(text),
        options_(options),
        brain_floats_(cluster::device_generation_of(cluster.device).compute_capability != kVolta) {
    const std::string devices = fmt::to_string(cluster.devices());
    for (const auto& [name, value] : {std::pair<const char*, std::string>("RANK", "0"),
                                      {"LOCAL_RANK", "0"},
                                      {"WORLD_SIZE", devices}}) {
      environment_.body->set(name, PythonObject::string(value, 0));
    }
  }

  /// Returns the first call of a kind; null if there is none.
  [[nodiscard]] const PythonObject* first(CallKind kind) const {
    const auto found = calls_.find(kind);
    return found == calls_.end() ? nullptr : &found->second;
  }

  /// Returns the value that the program gives an environment variable; null if it gives none.
  [[nodiscard]] const PythonObject* environment_variable(std::string_view name) const {
    return environment_.body->find(name);
  }
  /// Objects of classes of the program that its parser fills from the command, other than those of
  /// training arguments.
  [[nodiscard]] const std::vector<PythonObject>& filled_objects() const { return others_; }
  void interpret(launch_scripts::PythonProgram& program) {
    program_ = &program;
    program.bind("__name__", PythonObject::string("__main__", 0));
    program.begin(0);
  }

  PythonObject value_of_undefined_name(const std::string& path, const std::string& full,
                                       std::uint32_t line) override {
    if (full == "os.environ") return environment_;
    return is_arguments_class(full) ? PythonObject::string(full, line)
                                    : LiteralPythonHost::value_of_undefined_name(path, full, line);
  }

  std::optional<PythonObject> result_of_undefined_call(const PythonCall& call) override {
    const std::string_view name = launch_scripts::last_python_name(call.full);
    if (!meaning_of_program_setting_word(kTable, "brain_floats", name).empty()) {
      return PythonObject::boolean(brain_floats_);
    }
    if (call.full == "os.getenv") return variable(call.given);
    if (name == "parse_args") return options_.parsed_arguments();
    if (name == "add_argument") options_.add(call.given);
    if (call.full == "fire.Fire") return called_by_fire(call.given);
    if (is_class_parser(name)) keep_classes(call.given);
    const std::string_view parses = meaning_of_program_setting_word(kTable, "parses", name);
    if (!parses.empty() && !classes_.empty()) return filled(parses == "one");
    if (const auto kind = kind_of(call, name)) return kept(*kind, call);
    return LiteralPythonHost::result_of_undefined_call(call);
  }

 private:
  static bool is_arguments_class(std::string_view full) {
    return !meaning_of_program_setting_word(kTable, "arguments",
                                            launch_scripts::last_python_name(full))
                .empty();
  }

  /// Returns the class of training arguments from which a class of the program derives, with its
  /// module ("trl.SFTConfig"); empty if there is none.
  std::string arguments_class(std::string path) {
    constexpr int kDeepestBase = 10;
    for (int depth = 0; depth < kDeepestBase; ++depth) {
      const auto bases = bracketed_after(text_, fmt::format("class {}(", path));
      const auto parts = launch_scripts::split_at_python_commas(bases.value_or(""));
      if (parts.empty()) break;
      path = std::string(parts.front());
    }
    const std::string full = program_->value(path, 0).text;
    return is_arguments_class(full) ? full : "";
  }

  void keep_classes(const launch_scripts::PythonArguments& given) {
    const PythonObject* said = given.find("dataclass_types", 0);
    if (said == nullptr) return;
    classes_ = said->is(ObjectKind::kList) ? said->body->items : std::vector<PythonObject>{*said};
  }

  /// Returns an object of each class of the parser, with defaults and the command's options.
  PythonObject filled(bool alone) {
    PythonObject all = PythonObject::list();
    for (const PythonObject& type : std::exchange(classes_, {})) {
      const bool earlier = first(CallKind::kArguments) != nullptr;
      const std::string base = arguments_class(type.text);
      PythonObject made = program_->call(type.text, {});
      if (made.is(ObjectKind::kRecord)) {
        options_.fill(made, !base.empty());
        PythonObject copy = launch_scripts::copy_python_value(made);
        copy.body->made_by = base;
        if (base.empty()) {
          others_.push_back(copy);
        } else if (!earlier) {
          calls_.insert_or_assign(CallKind::kArguments, copy);
        }
      }
      all.body->add(made);
    }
    return alone && all.body->items.size() == 1 ? all.body->items.front() : all;
  }

  /// Calls the function that `fire.Fire` is given, with the command's options:
  /// google/python-fire docs/guide.md.
  PythonObject called_by_fire(const launch_scripts::PythonArguments& given) {
    if (given.unnamed.empty()) return {};
    const std::string name = given.unnamed.front().text;
    const auto parameters = bracketed_after(text_, fmt::format("def {}(", name));
    if (!parameters) return {};
    return program_->call(name, options_.call_arguments(parameter_names(*parameters), given.line));
  }

  [[nodiscard]] PythonObject variable(const launch_scripts::PythonArguments& given) const {
    const PythonObject* name = given.find("key", 0);
    const PythonObject* usual = given.find("default", 1);
    if (const PythonObject* said =
            name == nullptr ? nullptr : environment_.body->find(name->text)) {
      return *said;
    }
    return usual == nullptr ? PythonObject{} : *usual;
  }

  static std::optional<CallKind> kind_of(const PythonCall& call, std::string_view name) {
    using enum CallKind;
    if (!meaning_of_program_setting_word(kTable, "arguments", name).empty()) return kArguments;
    if (!meaning_of_program_setting_word(kTable, "trainers", name).empty()) return kTrainer;
    if (name == "from_pretrained") return loaded_kind(call.full);
    if (name == "LoraConfig") return kAdapters;
    const bool words =
        std::ranges::any_of(call.given.named, [](const auto& one) { return one.first == "r"; });
    if (name == "get_peft_model" && words) return kBeside;
    if (name == "prepare_model_for_kbit_training") return kKbit;
    if (name == "gradient_checkpointing_enable") return kCheckpointed;
    return std::nullopt;
  }

  PythonObject kept(CallKind kind, const PythonCall& call) {
    PythonObject made = launch_scripts::python_object_of_call(call);
    made.body->made_by = call.full;
    calls_.try_emplace(kind, made);
    return made;
  }

  std::string_view text_;
  launch_scripts::ArgparseOptions& options_;
  launch_scripts::PythonProgram* program_ = nullptr;
  /// Variables that a launcher sets for rank 0, and those that the program sets.
  PythonObject environment_ = PythonObject::record();
  bool brain_floats_;
  std::vector<PythonObject> classes_;  ///< Classes of the parser that was made last.
  std::vector<PythonObject> others_;
  std::map<CallKind, PythonObject> calls_;
};

/// The training arguments that the recorded calls result in.
class Told {
 public:
  explicit Told(const std::string& file) : file_(file) {}

  /// Sets a value unless an earlier call has set it.
  void add(std::string_view name, DocumentTree value) {
    if (fields_.find(name) != nullptr) return;
    names_.emplace_back(name);
    fields_.set(name, std::move(value));
  }
  void add(std::string_view name, const PythonObject& value) {
    DocumentTree tree = launch_scripts::yaml_tree_of_python_value(value, file_);
    constexpr std::string_view kModule = "torch.";
    if (tree.kind == DocumentTree::TreeValueKind::kScalar && tree.text.starts_with(kModule)) {
      tree.text.erase(0, kModule.size());
    }
    add(name, std::move(tree));
  }
  /// Adds those named arguments of a call that a section of the table huggingface/trainer_program
  /// lists.
  void add_named(const PythonObject& call, std::string_view section) {
    for (const auto& [name, value] : call.body->members) {
      const std::string_view known = meaning_of_program_setting_word(kTable, section, name);
      if (!known.empty()) add(known, value);
    }
  }
  void add_all(const PythonObject& call) {
    for (const auto& [name, value] : call.body->members) {
      if (name != "quantization_config" && name != "model_init_kwargs") add(name, value);
    }
  }
  /// True if a value is set whose name fulfils a condition.
  template <class Condition>
  [[nodiscard]] bool any(const Condition& condition) const {
    return std::ranges::any_of(names_, condition);
  }
  DocumentTree finished_mapping() { return fields_.finished_mapping(); }

 private:
  const std::string& file_;
  TreeMappingBuilder fields_;
  std::vector<std::string> names_;
};

/// Returns an object among the arguments of a call; null if the argument is none.
PythonObject* record_below(const PythonObject& call, std::string_view name) {
  PythonObject* found = call.body->find(name);
  return found != nullptr && found->is(ObjectKind::kRecord) ? found : nullptr;
}

/// Adds the arguments with which a model is loaded.
void add_loaded(const PythonObject& call, Told& told) {
  if (!call.body->items.empty() && call.body->items.front().is(ObjectKind::kText)) {
    told.add("model_name_or_path", call.body->items.front());
  }
  told.add_named(call, "loaded");
  // A word as `device_map` places layers on the devices of one process, one device after the other:
  // huggingface/accelerate docs/source/concept_guides/big_model_inference.md.
  const PythonObject* map = call.body->find("device_map");
  if (map != nullptr && map->is(ObjectKind::kText)) told.add("device_map", *map);
  // `quantization_config` is a BitsAndBytesConfig: huggingface/transformers
  // src/transformers/utils/quantization_config.py.
  if (const PythonObject* narrow = record_below(call, "quantization_config")) {
    told.add_named(*narrow, "loaded");
  }
}

/// Adds adapters, with the defaults of `LoraConfig`: huggingface/peft
/// src/peft/tuners/lora/config.py.
void add_adapters(const PythonObject& call, Told& told) {
  constexpr int kRank = 8;
  told.add("use_peft", true);
  told.add_named(call, "adapters");
  told.add("lora_r", kRank);
  told.add("lora_alpha", kRank);
  told.add("lora_dropout", 0);
}

/// Adds adapters with the defaults of unsloth's `get_peft_model` (unslothai/unsloth
/// unsloth/models/llama.py). Unsloth's recomputation moves kept activations to the host.
void add_beside(const PythonObject& call, Told& told) {
  constexpr int kRank = 16;
  told.add("use_peft", true);
  told.add_named(call, "adapters");
  told.add("lora_alpha", kRank);
  told.add("lora_dropout", 0);
  told.add("lora_target_modules",
           DocumentTree::empty_flow_sequence(std::vector<std::string>{
               "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}));
  const PythonObject* recompute = call.body->find("use_gradient_checkpointing");
  const bool own = recompute == nullptr || recompute->text == "unsloth";
  if (!own && !recompute->truth) return;
  told.add("gradient_checkpointing", true);
  if (own)
    told.add("gradient_checkpointing_kwargs",
             DocumentTree::empty_flow_mapping().set("offload", true));
}

/// True if a call of `prepare_model_for_kbit_training` turns recomputation on: huggingface/peft
/// src/peft/utils/other.py.
bool recomputes_for_kbit(const PythonObject& call) {
  const PythonObject* said = call.body->find("use_gradient_checkpointing");
  return said == nullptr || said->truth;
}

std::string method_of(std::string_view section, const PythonObject& call) {
  const std::string_view method = meaning_of_program_setting_word(
      kTable, section, launch_scripts::last_python_name(call.body->made_by));
  return method == kPlain ? "" : std::string(method);
}

/// Returns the call that interpreting the program reached; if it reached none, the call that stands
/// in the text of a class that a section of the table lists; nullopt if no such call can be read.
/// If calls of several classes stand there, the first class of the section counts.
std::optional<PythonObject> reached_or_standing_call(const PythonObject* reached,
                                                     std::string_view section,
                                                     const SourceFile& file,
                                                     launch_scripts::PythonProgram& program) {
  if (reached != nullptr) return *reached;
  for (const auto& [name, method] : words_of_table_section(kTable, section)) {
    if (launch_scripts::find_python_call(file.text, name) == std::string_view::npos) continue;
    PythonObject made = launch_scripts::first_python_call_arguments(file.text, name, program);
    if (!made.is(ObjectKind::kRecord)) continue;
    made.body->made_by = name;
    return made;
  }
  return std::nullopt;
}

/// True if the text has calls of exactly one of the classes that a section of the table lists.
bool one_class_stands(std::string_view section, const SourceFile& file) {
  const auto classes = words_of_table_section(kTable, section);
  return std::ranges::count_if(classes, [&](const auto& named) {
           return launch_scripts::find_python_call(file.text, named.first) !=
                  std::string_view::npos;
         }) == 1;
}

/// Adds the first of the program's options whose name says the length of a sequence, unless another
/// argument says it.
void add_length_of_options(const launch_scripts::ArgparseOptions& options, Told& told) {
  const auto says_length = [](std::string_view name) {
    const KnownSetting* known =
        find_known_setting(known_program_settings("huggingface/arguments"), name);
    return known != nullptr && known->field == "job.batch.length";
  };
  if (told.any(says_length)) return;
  const PythonObject all = options.parsed_arguments();
  const auto length = std::ranges::find_if(all.body->members,
                                           [&](const auto& one) { return says_length(one.first); });
  if (length != all.body->members.end()) told.add(length->first, length->second);
}

/// Adds arguments that classes of the program's own state, as far as a Trainer's arguments or those
/// of known scripts have their names.
void add_of_own_classes(const std::vector<PythonObject>& objects, bool adapted, Told& told) {
  const auto known = known_program_settings("huggingface/arguments");
  for (const PythonObject& object : objects) {
    for (const auto& [name, value] : object.body->members) {
      const KnownSetting* one = find_known_setting(known, name);
      if (one == nullptr || one->field.empty() || value.open()) continue;
      if (!adapted && one->field.starts_with("job.adapters.")) continue;
      told.add(name, value);
    }
  }
}

/// Returns the length at which a tokenizer cuts (`max_length`), from the first call that states it,
/// for use if nothing else states the length: huggingface/transformers
/// src/transformers/tokenization_utils_base.py.
std::optional<PythonObject> cut_length(const SourceFile& file,
                                       const launch_scripts::ArgparseOptions& options,
                                       launch_scripts::PythonProgram& program) {
  const std::string_view text = file.text;
  const std::size_t call = launch_scripts::find_python_call(text, "tokenizer");
  if (call == std::string_view::npos) return std::nullopt;
  const std::size_t open = text.find('(', call);
  const std::size_t close = launch_scripts::closing_python_bracket_position(text, open);
  if (close == text.size()) return std::nullopt;
  for (std::string_view part :
       launch_scripts::split_at_python_commas(text.substr(open + 1, close - open - 1))) {
    const auto at = static_cast<std::size_t>(part.data() - text.data());
    part = trimmed(part);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (trimmed(part.substr(0, equals)) != "max_length") continue;
    const auto line = static_cast<std::uint32_t>(1 + std::ranges::count(text.substr(0, at), '\n'));
    const PythonObject length = program.evaluate_program_expression(part.substr(equals + 1), line);
    if (!length.open()) return length;
    // A function that has ended knew the name.
    const std::string_view name =
        launch_scripts::last_python_name(trimmed(part.substr(equals + 1)));
    const PythonObject all = options.parsed_arguments();
    const PythonObject* option = all.body->find(name);
    return option == nullptr ? length : *option;
  }
  return std::nullopt;
}

}  // namespace

bool is_trainer_program(const SourceFile& file) {
  if (!file.name.ends_with(".py") || tensor_library_beside_torch(file)) return false;
  if (makes_own_arguments(file)) return true;
  return calls_class_parser(file.text) &&
         std::ranges::any_of(words_of_table_section(kTable, "arguments"), [&](const WordRow& row) {
           return file_contains_text(file, row.first);
         });
}

bool makes_own_arguments(const SourceFile& file) {
  return std::ranges::any_of(words_of_table_section(kTable, "arguments"), [&](const WordRow& row) {
    return launch_scripts::find_python_call(file.text, row.first) != std::string_view::npos;
  });
}

const SourceFile* trainer_program_started_by_command(Words words, Sources files) {
  for (const ShellWord& word : words) {
    if (!word.text.ends_with(".py")) continue;
    const auto found = std::ranges::find_if(files, [&](const SourceFile& file) {
      return launch_scripts::last_path_part(file.name) == launch_scripts::last_path_part(word.text);
    });
    if (found != files.end() && is_trainer_program(*found)) return &*found;
  }
  return nullptr;
}

TrainerProgram read_trainer_program(const SourceFile& file, const cluster::Cluster& cluster,
                                    launch_scripts::ArgparseOptions& options) {
  using enum CallKind;
  TrainerCalls calls(file.text, cluster, options);
  const launch_scripts::PythonFileText texts[] = {{file.text, file.name}};
  launch_scripts::PythonProgram program(texts, calls);
  calls.interpret(program);
  const auto standing =
      reached_or_standing_call(calls.first(kArguments), "arguments", file, program);
  TrainerProgram told_by;
  told_by.has_arguments = standing.has_value();
  const PythonObject arguments = standing.value_or(PythonObject::record());
  told_by.method = method_of("arguments", arguments);
  // Classes of other modules can have a name of TRL's.
  const std::string& made_by = arguments.body->made_by;
  const bool elsewhere = made_by.find('.') != std::string::npos && !made_by.starts_with("trl.");
  told_by.trl_defaults = !told_by.method.empty() && !elsewhere;
  Told told(file.name);
  told.add_all(arguments);
  if (const PythonObject* words = record_below(arguments, "model_init_kwargs")) {
    told.add_named(*words, "loaded");
  }
  const PythonObject* reached = calls.first(kTrainer);
  // A program with several trainers decides by a branch that nobody took which one trains.
  const bool known = reached != nullptr || one_class_stands("trainers", file);
  if (const auto trainer =
          known ? reached_or_standing_call(reached, "trainers", file, program) : std::nullopt) {
    if (told_by.method.empty()) told_by.method = method_of("trainers", *trainer);
    told.add_named(*trainer, "given");
    const PythonObject* adapters = trainer->body->find("peft_config");
    const bool open = adapters != nullptr && (adapters->open() || adapters->is(ObjectKind::kText));
    if (open && calls.first(kAdapters) == nullptr) {
      DocumentTree unknown = launch_scripts::tree_of_unknown_python_value(adapters->text);
      unknown.line = adapters->line;
      told.add("peft_config", std::move(unknown));
    }
    const PythonObject* model = trainer->body->find("model");
    if (model != nullptr && model->is(ObjectKind::kText)) told.add("model_name_or_path", *model);
  }
  for (const CallKind kind : {kModel, kDescribed}) {
    if (const PythonObject* model = calls.first(kind)) add_loaded(*model, told);
  }
  if (const PythonObject* beside = calls.first(kBeside)) add_beside(*beside, told);
  if (const PythonObject* adapters = calls.first(kAdapters)) add_adapters(*adapters, told);
  const PythonObject* kbit = calls.first(kKbit);
  if (calls.first(kCheckpointed) != nullptr || (kbit != nullptr && recomputes_for_kbit(*kbit))) {
    told.add("gradient_checkpointing", true);
  }
  add_of_own_classes(calls.filled_objects(), calls.first(kAdapters) != nullptr, told);
  if (const auto length = cut_length(file, options, program)) told.add("max_length", *length);
  add_length_of_options(options, told);
  const PythonObject* visible = calls.environment_variable("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && visible->is(ObjectKind::kText)) {
    told_by.visible_devices = {.text = visible->text, .line = visible->line};
  }
  told_by.config.tree = told.finished_mapping();
  told_by.config.unread = launch_scripts::unknown_python_values(told_by.config.tree);
  return told_by;
}

}  // namespace stepwright::framework_files

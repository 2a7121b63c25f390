#include "stepwright/launch_scripts/python/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/python/library.h"
#include "stepwright/launch_scripts/python/program.h"
#include "stepwright/launch_scripts/python/script.h"
#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

/// Commands of one program, at most.
constexpr std::size_t kMostLaunches = 1'000;

std::string_view last_of_path(std::string_view path) {
  return path.substr(path.rfind('.') + 1);  // `npos` and one are the beginning.
}

PythonObject given_value(const std::string& text, std::uint32_t line) {
  if (text == "True" || text == "true") return PythonObject::boolean(true);
  if (text == "False" || text == "false") return PythonObject::boolean(false);
  const bool digits = !text.empty() && text.size() < 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? PythonObject::integer(std::stoll(text), line) : PythonObject::string(text, line);
}

/// What a program starts, as it is followed.
class Launches final : public PythonHost {
 public:
  /// `values`: of names, attributes, parameters and variables of the environment.
  explicit Launches(std::map<std::string, std::string, std::less<>> values)
      : values_(std::move(values)) {
    environment_.body->made_by = "environ";
  }

  [[nodiscard]] const PythonScript& script() const { return script_; }

  [[nodiscard]] bool cautious() const override { return false; }

  std::optional<PythonObject> told(std::string_view name, std::uint32_t line) override {
    const auto said = values_.find(name);
    return said == values_.end() ? std::nullopt : std::optional(given_value(said->second, line));
  }

  PythonObject named(const std::string& path, const std::string& full,
                     std::uint32_t line) override {
    if (full == "os.environ") return environment_;
    if (full == "sys.executable") return PythonObject::string("python", line);
    return PythonObject::unknown(full == "sys.argv" ? "argv" : path, line);
  }

  std::optional<PythonObject> called(const PythonCall& call) override {
    const auto& [written, path, given, file] = call;
    if (path.starts_with('.')) return method(path.substr(1), given);
    if (starts(path, given)) return PythonObject::unknown("result", given.line);
    if (path == "os.getenv" || path == "os.environ.get") return variable(given);
    if (path == "argparse.ArgumentParser" || path == "ArgumentParser") {
      PythonObject parser = PythonObject::record();
      parser.body->made_by = "argparse";
      return parser;
    }
    const std::string_view last = last_of_path(path);
    if (path == "dataclasses.field" || last == "Option" || last == "Argument") return option(given);
    // THUDM/slime slime/utils/external_utils/command_utils.py.
    if (last == "get_default_wandb_args") return PythonObject::string("", given.line);
    return std::nullopt;
  }

  std::optional<PythonObject> inherited(const std::string& full, std::uint32_t line) override {
    // THUDM/slime slime/utils/external_utils/command_utils.py.
    if (last_of_path(full) != "ExecuteTrainConfig") return std::nullopt;
    PythonObject fields = PythonObject::record();
    fields.body->set("num_nodes", PythonObject::integer(1, line));
    fields.body->set("extra_env_vars", PythonObject::string("", line));
    return fields;
  }

 private:
  /// A default of `field`, `typer.Option`.
  static PythonObject option(const PythonArguments& given) {
    const PythonObject* value = given.find("default", 0);
    return value != nullptr ? *value : PythonObject::unknown("value", given.line);
  }

  /// What is known of a variable of the environment.
  PythonObject variable(const PythonArguments& given) {
    const PythonObject* name = given.find("key", 0);
    if (name == nullptr || !name->is(ObjectKind::kText)) {
      return PythonObject::unknown("environment", given.line);
    }
    const auto said = values_.find(name->text.text);
    if (said != values_.end()) return PythonObject::string(said->second, given.line);
    return *python_object_method(environment_, "get", given);
  }

  bool starts(const std::string& path, const PythonArguments& given) {
    static constexpr std::string_view kRun[] = {"subprocess.run",
                                                "subprocess.call",
                                                "subprocess.Popen",
                                                "subprocess.check_call",
                                                "subprocess.check_output",
                                                "subprocess.getoutput",
                                                "os.system",
                                                "os.popen"};
    const std::string_view last = last_of_path(path);
    if (std::ranges::find(kRun, path) != std::end(kRun)) {
      const PythonObject* words = given.find("args", 0);
      if (words == nullptr) words = given.find("command", 0);
      if (words != nullptr) run(*words, given);
    } else if (last == "exec_command") {
      if (const PythonObject* text = given.find("cmd", 0)) run(*text, given);
    } else if (last == "execute_train") {
      train(given);
    } else if (path == "asyncio.create_subprocess_exec" || path.starts_with("os.execl")) {
      const std::size_t first = path.starts_with("os.") ? 1 : 0;
      if (given.unnamed.size() <= first) return false;
      PythonObject words = PythonObject::list();
      words.body->items.assign(given.unnamed.begin() + static_cast<std::ptrdiff_t>(first),
                               given.unnamed.end());
      run(words, given);
    } else if (path == "asyncio.create_subprocess_shell") {
      if (!given.unnamed.empty()) run(given.unnamed.front(), given);
    } else if (path.starts_with("os.execv") || path.starts_with("os.spawnv")) {
      const std::size_t at = path.starts_with("os.spawn") ? 2 : 1;
      if (given.unnamed.size() > at) run(given.unnamed[at], given);
    } else {
      return false;
    }
    return true;
  }

  void export_all(const PythonObject& environment, std::uint32_t line) {
    if (!environment.is(ObjectKind::kRecord)) return;
    for (const auto& [name, value] : environment.body->members) {
      const bool word = is_shell_name(name) && !value.is(ObjectKind::kUnknown);
      if (word && !python_str(value).open()) script_.variable(name, python_str(value), line);
    }
  }

  void run(const PythonObject& words, const PythonArguments& given) {
    if (script_.commands() >= kMostLaunches) return;
    export_all(environment_, given.line);
    for (const auto& [name, value] : given.named) {
      if (name == "env") export_all(value, given.line);
    }
    if (words.is(ObjectKind::kText)) return script_.command(words.text, given.line);
    if (!words.is(ObjectKind::kList) || words.body->items.empty()) return;
    const std::vector<PythonObject>& items = words.body->items;
    const std::string first = python_str(items.front()).text;
    const std::string_view shell = last_part(first);
    for (std::size_t i = 1; (shell == "bash" || shell == "sh") && i + 1 < items.size(); ++i) {
      const std::string option = python_str(items[i]).text;
      const bool text = option.starts_with('-') && !option.starts_with("--") &&
                        option.find('c') != std::string::npos;
      if (text) return script_.command(python_str(items[i + 1]), given.line);
    }
    script_.words(items, given.line);
  }

  /// What slime's `execute_train` starts, but for Ray around it.
  void train(const PythonArguments& given) {
    const PythonObject* arguments = given.find("train_args", 0);
    if (arguments == nullptr) return;
    const PythonObject* type = given.find("megatron_model_type", 2);
    const PythonObject* program = given.find("train_script", 3);
    const PythonObject* variables = given.find("extra_env_vars", 5);
    const bool model = type != nullptr && !type->is(ObjectKind::kNone);
    const std::uint32_t line = given.line;
    script_.variable("CUDA_DEVICE_MAX_CONNECTIONS", {"1", line}, line);
    export_all(environment_, line);
    if (variables != nullptr) export_all(*variables, line);
    PythonString text;
    if (model) {
      text.add({"source scripts/models/", line});
      text.add(python_str(*type));
      text.add({".sh && ", line});
    }
    text.add({"python3 ", line});
    text.add(program != nullptr ? python_str(*program) : PythonString("train.py", line));
    text.add({model ? " \"${MODEL_ARGS[@]}\" " : " ", line});
    text.add(python_str(*arguments));
    script_.command(text, line);
  }

  /// Methods of parsers of arguments.
  std::optional<PythonObject> method(const std::string& name, const PythonArguments& given) {
    const PythonObject& self = given.unnamed.front();
    if (!self.is(ObjectKind::kRecord)) return std::nullopt;
    if (self.body->made_by == "environ" && name == "get") {
      PythonArguments rest = given;
      rest.unnamed.erase(rest.unnamed.begin());
      const PythonObject* key = rest.find("key", 0);
      const bool said = key != nullptr && values_.contains(key->text.text);
      return said ? std::optional(variable(rest)) : std::nullopt;
    }
    if (self.body->made_by != "argparse") return std::nullopt;
    if (name == "add_argument_group" || name == "add_mutually_exclusive_group") return self;
    if (name == "add_argument") return add_argument(self, given);
    PythonObject space = python_copy(self);
    if (space.is(ObjectKind::kRecord)) space.body->made_by = "Namespace";
    if (name == "parse_args") return space;
    if (name != "parse_known_args") return std::nullopt;
    PythonObject both = PythonObject::list();
    PythonObject others = PythonObject::unknown("others", given.line);
    others.truth = true;
    both.body->items = {space, others};
    return both;
  }

  PythonObject add_argument(const PythonObject& parser, const PythonArguments& given) {
    std::string name;
    for (std::size_t i = 1; i < given.unnamed.size(); ++i) {
      const std::string said = python_str(given.unnamed[i]).text;
      if (name.empty() || said.starts_with("--")) name = said;
      if (name.starts_with("--")) break;
    }
    const bool positional = !name.starts_with('-');
    const PythonObject nothing;
    const auto word = [&](std::string_view key) {
      const PythonObject* value = given.find(key, ~std::size_t{0});
      return value != nullptr ? *value : nothing;
    };
    if (word("dest").is(ObjectKind::kText)) name = word("dest").text.text;
    name.erase(0, name.find_first_not_of('-'));
    std::ranges::replace(name, '-', '_');
    PythonObject value = word("default");
    const std::string action = python_str(word("action")).text;
    if (value.is(ObjectKind::kNone)) {
      if (action == "store_true") value = PythonObject::boolean(false);
      if (action == "store_false") value = PythonObject::boolean(true);
      const bool needed = positional || python_truth(word("required")).value_or(false);
      if (needed) value = PythonObject::unknown(name, given.line);
      if (value.is(ObjectKind::kNone))
        value.text = PythonString(python_hole_name(name), given.line);
    }
    parser.body->set(name, value);
    return nothing;
  }

  std::map<std::string, std::string, std::less<>> values_;
  PythonObject environment_ = PythonObject::record();  ///< Which the program may change.
  PythonScript script_;
};

/// Names that a person gives values, as far as a program has them.
std::map<std::string, std::string, std::less<>> values_for(const SourceFile& file,
                                                           std::span<const std::string> settings) {
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (equals == std::string::npos || !is_shell_name(name) || !holds(file, name)) continue;
    values[name] = setting.substr(equals + 1);
  }
  return values;
}

}  // namespace

std::optional<SourceFile> launched_script(const SourceFile& file,
                                          std::span<const std::string> settings,
                                          std::span<const SourceFile> others) {
  const bool may = holds(file, "subprocess") || holds(file, "os.system") ||
                   holds(file, "os.exec") || holds(file, "execute_train") ||
                   holds(file, "os.popen");
  const bool own = file.text.find_first_of("\x01\x02") != std::string::npos;
  if (!file.name.ends_with(".py") || !may || own) return std::nullopt;
  std::vector<PythonText> texts = {{file.text, file.name}};
  for (const SourceFile& one : others) {
    const bool other = one.name.ends_with(".py") && one.name != file.name;
    if (other) texts.push_back({one.text, one.name});
  }
  const auto values = values_for(file, settings);
  Launches launches(values);
  PythonProgram program(texts, launches);
  program.begin(0);
  program.follow_uncalled([&] { return launches.script().commands() > 0; });
  if (launches.script().commands() == 0) return std::nullopt;
  std::string names;
  for (const auto& [name, value] : values) names += name + " ";
  return SourceFile{file.name, launches.script().take(names)};
}

}  // namespace stepwright::launch_scripts

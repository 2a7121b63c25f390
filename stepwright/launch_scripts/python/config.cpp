#include "stepwright/launch_scripts/python/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/python/call.h"
#include "stepwright/launch_scripts/python/tree.h"

namespace stepwright::launch_scripts {
namespace {

constexpr std::size_t kMostUnread = 1000;
constexpr std::size_t kMostNamed = 40;

/// Interprets a configuration function with the knowledge about its framework.
class Recipe final : public LiteralPythonHost {
 public:
  Recipe(std::span<const PythonFileText> texts, const FrameworkPythonFacts& words)
      : words_(words), program_(texts, *this) {
    for (std::size_t file = 0; file < texts.size(); ++file) program_.begin(file);
    unread_.clear();
  }

  [[nodiscard]] PythonProgram& program() { return program_; }
  [[nodiscard]] std::vector<UnknownPythonValue> take_unread() { return std::move(unread_); }
  [[nodiscard]] std::vector<std::string> take_elsewhere() { return std::move(elsewhere_); }

  std::optional<PythonObject> host_call_result(const PythonCall& call) override {
    if (!words_.chosen) return std::nullopt;
    const auto value = [&](const std::string& name) -> std::optional<DocumentTree> {
      const auto found = program_.global_variable_value(name);
      return found ? std::optional(yaml_tree_of_python_value(*found, call.file)) : std::nullopt;
    };
    return object_of(
        words_.chosen(call.path, yaml_tree_of_python_value(call.given, call.file), value), call);
  }

  PythonObject value_of_undefined_name(const std::string& path, const std::string& full,
                                       std::uint32_t line) override {
    const bool itself = std::ranges::find(words_.themselves, path) != words_.themselves.end();
    return itself ? PythonObject::string(path, line)
                  : LiteralPythonHost::value_of_undefined_name(path, full, line);
  }

  std::optional<PythonObject> result_of_undefined_call(const PythonCall& call) override {
    if (call.path.starts_with('.')) {
      const bool same = std::ranges::find(words_.same, call.path.substr(1)) != words_.same.end();
      return same ? std::optional(call.given.unnamed.front()) : std::nullopt;
    }
    if (words_.known) {
      const DocumentTree given = yaml_tree_of_python_value(call.given, call.file);
      if (auto known = object_of(words_.known(call.path, given, call.file), call)) return known;
    }
    const bool imported = call.full != call.path;
    if (imported && elsewhere_.size() < kMostUnread) elsewhere_.push_back(call.full);
    return LiteralPythonHost::result_of_undefined_call(call);
  }

  void note_skipped_expression(std::string_view name, std::string_view expression,
                               std::uint32_t line) override {
    if (unread_.size() == kMostUnread) return;
    unread_.push_back({std::string(name), tree_of_unknown_python_value(expression).text, line});
  }

 private:
  static std::optional<PythonObject> object_of(const std::optional<DocumentTree>& tree,
                                               const PythonCall& call) {
    return tree ? std::optional(python_value_of_tree(*tree, call.given.line)) : std::nullopt;
  }

  const FrameworkPythonFacts& words_;
  std::vector<UnknownPythonValue> unread_;
  std::vector<std::string> elsewhere_;
  PythonProgram program_;
};

/// True if a function returns a configuration of class `root`.
bool makes_root(const PythonFunction& function, std::string_view root) {
  const std::string_view head = function.head.text;
  const std::size_t arrow = head.rfind("->");
  if (arrow != std::string_view::npos && head.substr(arrow).find(root) != std::string_view::npos) {
    return true;
  }
  return std::ranges::any_of(function.body, [&](const PythonStatement& line) {
    return find_python_call(line.text, root) != std::string_view::npos;
  });
}

std::string listed(const std::vector<std::string_view>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  const std::vector<std::string_view> first(names.begin(),
                                            names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "), shown < names.size() ? ", ..." : "");
}

/// Returns the function named `function` or, if that is empty, the only one that returns a
/// configuration.
std::optional<PythonFunction> chosen_function(PythonProgram& program, std::string_view function,
                                              std::string_view root) {
  std::vector<std::string_view> names;
  std::optional<PythonFunction> only;
  for (const PythonFunction& one : python_functions(program.lines())) {
    if (!function.empty() && one.name == function) return one;
    if (one.name.starts_with('_') || !makes_root(one, root)) continue;
    names.push_back(one.name);
    only = one;
  }
  if (!function.empty()) {
    fail_input(fmt::format("{}: has no function {}; those that make a {} are {}", program.file(),
                           one_line_printable_text(function), root, listed(names)));
  }
  if (names.size() > 1) {
    fail_input(fmt::format("{}: has {} functions that make a {}: --function picks one of {}",
                           program.file(), names.size(), root, listed(names)));
  }
  return only;
}

/// Returns the call to evaluate: "name(precision='fp8')" if the user gave one, else "name()".
std::string call_of(const PythonFunction& function, const std::string& asked) {
  const std::size_t open = asked.find('(');
  if (open == std::string::npos) return fmt::format("{}()", function.name);
  if (closing_python_bracket_position(asked, open) + 1 != asked.size()) {
    fail_input(fmt::format("--function {}: a call is NAME(PARAMETER=VALUE)",
                           one_line_printable_text(asked)));
  }
  return asked;
}

/// Collects the values that are not literals, with their keys.
void collect(const DocumentTree& tree, const std::string& path,
             std::vector<UnknownPythonValue>& unread) {
  if (unread.size() >= kMostUnread) return;
  if (is_unread(tree)) unread.push_back({path, tree.text, tree.line});
  const auto below = [&](std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  };
  if (tree.kind == DocumentTree::TreeValueKind::kMapping) {
    for (const auto& [key, value] : tree_members(tree)) {
      collect(value, below(key), unread);
    }
  } else {
    for (std::size_t i = 0; i < tree.items.size(); ++i) {
      collect(tree.items[i], below(fmt::to_string(i)), unread);
    }
  }
}

}  // namespace

std::vector<UnknownPythonValue> unknown_python_values(const DocumentTree& tree) {
  std::vector<UnknownPythonValue> unread;
  collect(tree, "", unread);
  return unread;
}

PythonConfig read_python_config(std::span<const PythonFileText> texts,
                                const FrameworkPythonFacts& words, const std::string& function) {
  Recipe recipe(texts, words);
  PythonProgram& program = recipe.program();
  const auto& [text, name] = texts.front();
  PythonConfig config;
  std::uint32_t line = 0;
  const std::string_view asked = std::string_view(function).substr(0, function.find('('));
  if (const auto found = chosen_function(program, asked, words.root)) {
    config.function = std::string(found->name);
    const std::string call = call_of(*found, function);
    config.tree = yaml_tree_of_python_value(program.evaluate_program_expression(call, 0), name);
    line = found->head.line;
  } else {
    config.tree =
        yaml_tree_of_python_value(first_python_call_arguments(text, words.root, program), name);
  }
  if (is_unread(config.tree)) {
    const std::uint32_t at = std::max(config.tree.line, line);
    fail_input(fmt::format("{}:{}: the result of {} cannot be determined: {}{}", name, at,
                           one_line_printable_text(config.function),
                           one_line_printable_text(config.tree.text),
                           computed_configuration_advice(config.tree.text, at)));
  }
  if (config.tree.kind != DocumentTree::TreeValueKind::kMapping) {
    fail_input(fmt::format("{}: {} returns no {}", name, one_line_printable_text(config.function),
                           words.root));
  }
  config.unread = recipe.take_unread();
  config.elsewhere = recipe.take_elsewhere();
  collect(config.tree, "", config.unread);
  return config;
}

}  // namespace stepwright::launch_scripts

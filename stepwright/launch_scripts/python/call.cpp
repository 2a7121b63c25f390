#include "stepwright/launch_scripts/python/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/python/tree.h"

namespace stepwright::launch_scripts {
namespace {

void check_read(const DocumentTree& tree, const std::string& name) {
  if (is_unread(tree)) {
    fail_input(fmt::format(
        "{}:{}: '{}' is not a literal, and Stepwright executes no code: write the value{}", name,
        tree.line, one_line_printable_text(tree.text),
        computed_configuration_advice(tree.text, tree.line)));
  }
  for (const DocumentTree& item : tree.items) check_read(item, name);
}

}  // namespace

PythonObject LiteralPythonHost::value_of_undefined_name(const std::string& path,
                                                        const std::string& /*full*/,
                                                        std::uint32_t line) {
  if (path.find('.') != std::string::npos) return PythonObject::string(path, line);
  PythonObject open = PythonObject::unknown(path, line);
  open.said = path;
  return open;
}

std::optional<PythonObject> LiteralPythonHost::result_of_undefined_call(const PythonCall& call) {
  const std::size_t own = call.path.find_first_not_of('_', call.path.rfind('.') + 1);
  const bool type = !call.path.starts_with('.') && own != std::string::npos &&
                    std::isupper(static_cast<unsigned char>(call.path[own])) != 0;
  return type ? std::optional(python_object_of_call(call)) : std::nullopt;
}

PythonObject python_object_of_call(const PythonCall& call) {
  PythonObject made = PythonObject::record();
  made.line = call.given.line;
  made.body->made_by = call.path;
  made.body->items = call.given.unnamed;
  for (const auto& [name, value] : call.given.named) {
    PythonObject* twice = made.body->find(name);
    if (twice == nullptr) made.body->members.emplace_back(name, value);
    if (twice != nullptr) *twice = value;
  }
  return made;
}

std::size_t find_python_call(std::string_view text, std::string_view function) {
  const std::string head = fmt::format("{}(", function);
  std::size_t at = text.find(head);
  // Skips matches in comments, at the end of longer names, and where the name is defined.
  while (at != std::string_view::npos) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const std::string_view before = text.substr(line, at - line);
    const bool commented = before.find('#') != std::string_view::npos;
    const bool within = at > 0 && (is_python_name_char(text[at - 1]) || text[at - 1] == '.');
    const bool defined = before.ends_with("class ") || before.ends_with("def ");
    if (!commented && !within && !defined) return at;
    at = text.find(head, at + 1);
  }
  return at;
}

PythonObject first_python_call_arguments(std::string_view text, std::string_view type,
                                         PythonProgram& program) {
  const std::string& name = program.file();
  const std::size_t at = find_python_call(text, type);
  if (at == std::string_view::npos) fail_input(fmt::format("{}: has no call of {}", name, type));
  const auto line = static_cast<std::uint32_t>(1 + std::ranges::count(text.substr(0, at), '\n'));
  const std::size_t close = closing_python_bracket_position(text, at);
  if (close == text.size()) {
    fail_input(fmt::format("{}:{}: the bracket of {} never closes", name, line, type));
  }
  PythonObject made = program.evaluate_program_expression(text.substr(at, close + 1 - at), line);
  if (made.is(PythonObject::Kind::kRecord)) made.body->made_by.clear();
  return made;
}

YamlJsonDocument read_python_call(std::string_view text, std::string_view function,
                                  const std::string& name) {
  LiteralPythonHost literals;
  const PythonFileText nothing[] = {{"", name}};
  PythonProgram program(nothing, literals);
  const DocumentTree given =
      yaml_tree_of_python_value(first_python_call_arguments(text, function, program), name);
  check_read(given, name);
  return YamlJsonDocument::from_tree(given, name);
}

}  // namespace stepwright::launch_scripts

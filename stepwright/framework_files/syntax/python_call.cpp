#include "stepwright/framework_files/syntax/python_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

void check_read(const Tree& tree, const std::string& name) {
  if (is_unread(tree)) {
    fail_input(fmt::format("{}:{}: '{}' is no literal, and nothing is executed: write the value",
                           name, tree.line, printable(tree.text)));
  }
  for (const Tree& item : tree.items) check_read(item, name);
}

}  // namespace

std::size_t find_python_call(std::string_view text, std::string_view function) {
  const std::string head = fmt::format("{}(", function);
  std::size_t at = text.find(head);
  // Not in a comment, not as the end of another name.
  while (at != std::string_view::npos) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const bool commented = text.substr(line, at - line).find('#') != std::string_view::npos;
    if (!commented && (at == 0 || !is_name_char(text[at - 1]))) return at;
    at = text.find(head, at + 1);
  }
  return at;
}

Document read_python_call(std::string_view text, std::string_view function, const std::string& name,
                          std::string_view data) {
  const std::size_t at = find_python_call(text, function);
  if (at == std::string_view::npos) {
    fail_input(fmt::format("{}: has no call of {}", name, function));
  }
  PythonScope scope;
  scope.call = [&](const std::string& called, const Tree& arguments) {
    if (called != data) return std::optional<Tree>();
    Tree call = arguments;
    call.set("()", Tree::scalar(called, true));
    return std::optional<Tree>(call);
  };
  const std::string_view before = text.substr(0, at);
  const auto line = static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n'));
  PythonReader reader(text.substr(at + function.size() + 1), line, name, scope);
  const Tree arguments = reader.arguments();
  check_read(arguments, name);
  return Document::from(arguments, name);
}

}  // namespace stepwright

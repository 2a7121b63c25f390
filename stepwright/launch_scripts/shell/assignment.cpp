#include "stepwright/launch_scripts/shell/assignment.h"

#include <utility>

namespace stepwright::launch_scripts {
namespace {

/// Reads the elements of an array, starting at its opening bracket.
void elements(ShellWordSplitter& words, ShellAssignment& one) {
  words.next();
  for (words.skip_blank_lines(); words.here() != ')'; words.skip_blank_lines()) {
    if (words.at_end()) words.fail(one.line, "'(' never closes");
    const std::size_t before = words.at();
    one.values.push_back(words.word());
    if (words.at() == before) words.fail_unexpected_character();
  }
  words.next();
}

}  // namespace

bool parse_shell_assignment(ShellWordSplitter& words, ShellNode& made) {
  std::size_t end = 0;
  while (is_shell_name_char(words.here(end))) ++end;
  ShellAssignment one{.line = words.line()};
  one.name = words.text().substr(words.at(), end);
  if (!is_shell_name(one.name)) return false;
  if (words.here(end) == '[') {
    const std::size_t close = words.text().find(']', words.at() + end);
    if (close == std::string_view::npos) return false;
    one.index = words.text().substr(words.at() + end + 1, close - words.at() - end - 1);
    end = close - words.at() + 1;
  }
  one.append = words.here(end) == '+' && words.here(end + 1) == '=';
  end += one.append ? 1 : 0;
  if (words.here(end) != '=') return false;
  words.skip(end + 1);
  one.array = words.here() == '(';
  if (one.array) {
    elements(words, one);
  } else {
    one.values.push_back(words.word());
  }
  made.assignments.push_back(std::move(one));
  return true;
}

}  // namespace stepwright::launch_scripts

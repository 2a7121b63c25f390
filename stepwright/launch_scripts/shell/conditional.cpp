#include "stepwright/launch_scripts/shell/conditional.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stepwright::launch_scripts {
namespace {

/// Reads a regular expression, which can contain every character but blanks.
UnexpandedShellWord expression(ShellWordSplitter& words) {
  UnexpandedShellWord term{.line = words.line()};
  while (!words.at_end() && !words.at_one_of(" \t\n")) {
    UnexpandedShellWord part = words.word();
    for (ShellWordPiece& piece : part.pieces) term.pieces.push_back(std::move(piece));
    if (!words.at_end() && words.at_one_of("()|&;<>")) {
      term.pieces.push_back({ShellWordPiece::Kind::kText, false, std::string(1, words.next())});
    }
  }
  return term;
}

}  // namespace

ShellNode parse_shell_test(ShellWordSplitter& words) {
  ShellNode made;
  made.kind = ShellNode::Kind::kTest;
  made.line = words.line();
  const std::size_t begin = words.at();
  words.skip(2);
  for (words.skip_blank_lines(); words.letters_at_current_position() != "]]";
       words.skip_blank_lines()) {
    if (words.at_end()) words.fail(made.line, "'[[' never closes");
    if (made.words.size() > 1 && made.words.back().unquoted_plain_text() == "=~") {
      made.words.push_back(expression(words));
      continue;
    }
    static constexpr std::array<std::string_view, 6> kTestSigns = {"&&", "||", "(", ")", "<", ">"};
    const auto* sign =
        std::ranges::find_if(kTestSigns, [&](std::string_view one) { return words.starts(one); });
    if (sign != kTestSigns.end()) {
      made.words.push_back(
          {{{ShellWordPiece::Kind::kText, false, std::string(*sign)}}, words.line()});
      words.skip(sign->size());
      continue;
    }
    const std::size_t before = words.at();
    made.words.push_back(words.word());
    if (words.at() == before) words.fail_unexpected_character();
  }
  words.skip(2);
  made.source = words.script_text_from_position(begin);
  return made;
}

}  // namespace stepwright::launch_scripts

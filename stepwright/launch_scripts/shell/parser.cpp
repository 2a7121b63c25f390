#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "stepwright/launch_scripts/shell/assignment.h"
#include "stepwright/launch_scripts/shell/conditional.h"
#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::launch_scripts {
namespace {

using NodeKind = ShellNode::Kind;
constexpr int kDeepestCommands = 60;
constexpr std::size_t kMostCommands = 50'000;

/// Parser of a script's commands, by the grammar of POSIX shells and bash.
class ShellParser {
 public:
  ShellParser(std::string_view text, const std::string& name, std::uint32_t line)
      : in_(text, name, line) {}

  ShellNode program() {
    ShellNode all = list({});
    if (!in_.at_end()) in_.fail_unexpected_character();
    return all;
  }

 private:
  using Ends = std::initializer_list<std::string_view>;

  /// Counts one level of nested commands while it exists.
  class Level {
   public:
    explicit Level(ShellParser& parser) : parser_(parser) {
      if (++parser.depth_ > kDeepestCommands) {
        parser.in_.fail(parser.in_.line(),
                        fmt::format("commands are nested more than {} deep", kDeepestCommands));
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ShellParser& parser_;
  };

  [[nodiscard]] ShellNode node(NodeKind kind) const {
    ShellNode made;
    made.kind = kind;
    made.line = in_.line();
    return made;
  }

  void expect(std::string_view word) {
    in_.skip_blank_lines();
    if (in_.letters_at_current_position() != word) in_.fail_unexpected_character();
    in_.skip(word.size());
  }

  /// Parses commands up to one of the keywords `ends`, `)` or `;;`, without reading it.
  ShellNode list(Ends ends) {
    const Level level(*this);
    ShellNode all = node(NodeKind::kList);
    while (true) {
      in_.skip_blank_lines();
      if (in_.at_end() || in_.here() == ')' || in_.starts(";;") || in_.starts(";&")) break;
      if (std::ranges::find(ends, in_.letters_at_current_position()) != ends.end()) break;
      all.children.push_back(and_or());
      in_.skip_blanks();
      if (in_.starts(";;") || in_.starts(";&")) break;
      if (in_.here() == ';' || in_.here() == '&') in_.next();
    }
    return all;
  }

  ShellNode and_or() {
    std::size_t begin = in_.at();
    ShellNode first = pipeline();
    in_.skip_blanks();
    if (!in_.starts("&&") && !in_.starts("||")) return first;
    ShellNode chain = node(NodeKind::kChain);
    chain.line = first.line;
    chain.children.push_back(std::move(first));
    for (bool both = in_.starts("&&"); both || in_.starts("||"); both = in_.starts("&&")) {
      chain.source += in_.script_text_from_position(begin);
      chain.joints.push_back({.needs_both = both, .source_end = chain.source.size()});
      chain.source += both ? " && " : " || ";
      in_.skip(2);
      in_.skip_blank_lines();
      begin = in_.at();
      chain.children.push_back(pipeline());
      in_.skip_blanks();
    }
    chain.source.resize(chain.joints.back().source_end);
    return chain;
  }

  ShellNode pipeline() {
    in_.skip_blanks();
    if (in_.letters_at_current_position() == "!") {
      const Level level(*this);
      in_.next();
      ShellNode turned = node(NodeKind::kNot);
      turned.children.push_back(pipeline());
      return turned;
    }
    if (in_.letters_at_current_position() == "time") {
      in_.skip(4);
      in_.skip_blanks();
      if (in_.letters_at_current_position() == "-p") in_.skip(2);
      in_.skip_blanks();
    }
    ShellNode first = command();
    in_.skip_blanks();
    if (in_.here() != '|' || in_.here(1) == '|') return first;
    ShellNode pipe = node(NodeKind::kPipe);
    pipe.children.push_back(std::move(first));
    while (in_.here() == '|' && in_.here(1) != '|') {
      in_.skip(in_.here(1) == '&' ? 2 : 1);
      in_.skip_blank_lines();
      pipe.children.push_back(command());
      in_.skip_blanks();
    }
    return pipe;
  }

  ShellNode command() {
    const Level level(*this);
    if (++commands_ > kMostCommands) {
      in_.fail(in_.line(), fmt::format("more than {} commands", kMostCommands));
    }
    const std::string_view word = in_.letters_at_current_position();
    if (in_.starts("((")) return arithmetic();
    if (in_.here() == '(') return redirected(subshell());
    if (word == "{") return redirected(group());
    if (word == "if") return redirected(condition());
    if (word == "while" || word == "until") return redirected(loop(word == "until"));
    if (word == "for" || word == "select") return redirected(for_each());
    if (word == "case") return redirected(choice());
    if (word == "[[") return redirected(parse_shell_test(in_));
    if (word == "function") {
      in_.skip(word.size());
      in_.skip_blanks();
      ShellNode made = node(NodeKind::kFunction);
      made.texts.emplace_back(in_.letters_at_current_position());
      in_.skip(in_.letters_at_current_position().size());
      in_.skip_blanks();
      if (in_.starts("()")) in_.skip(2);
      return with_body(std::move(made));
    }
    return simple();
  }

  ShellNode with_body(ShellNode made) {
    in_.skip_blank_lines();
    made.children.push_back(command());
    return made;
  }

  /// Reads the redirections after a command; only heredocs, input files and output files are kept.
  ShellNode redirected(ShellNode made) {
    in_.skip_blanks();
    while (redirection(made)) in_.skip_blanks();
    return made;
  }

  /// Reads one redirection if there is one at this position; false if not.
  bool redirection(ShellNode& made) {
    std::size_t digits = 0;
    while (std::isdigit(static_cast<unsigned char>(in_.here(digits))) != 0) ++digits;
    const char first = in_.here(digits);
    const bool both = digits == 0 && first == '&' && in_.here(1) == '>';
    if (first != '<' && first != '>' && !both) return false;
    if (!both && in_.here(digits + 1) == '(') return false;
    in_.skip(digits + (both ? 1 : 0));
    if (in_.starts("<<<")) {
      in_.skip(3);
      in_.skip_blanks();
      made.input = in_.word();
      return true;
    }
    if (in_.starts("<<")) {
      in_.skip(2);
      made.input = in_.read_heredoc();
      return true;
    }
    const bool in = digits == 0 && !both && first == '<';
    const bool out = in_.next() == '>' && digits == 0 && !both;
    const bool appends = in_.here() == '>';
    while (in_.here() == '>' || in_.here() == '&' || in_.here() == '|') in_.next();
    in_.skip_blanks();
    UnexpandedShellWord target = in_.word();
    if (in) {
      made.source_file = std::move(target);
    } else if (out) {
      made.output = std::move(target);
      made.appends = appends;
    }
    return true;
  }

  ShellNode arithmetic() {
    ShellNode made = node(NodeKind::kArithmetic);
    in_.skip(2);
    made.texts.push_back(in_.read_text_to_matching_bracket('(', ')'));
    if (in_.here() != ')') in_.fail_unexpected_character();
    in_.next();
    made.source = "((" + text_without_placeholders(made.texts.front()) + "))";
    return made;
  }

  ShellNode subshell() {
    ShellNode made = node(NodeKind::kSubshell);
    in_.next();
    made.children.push_back(list({}));
    if (in_.here() != ')') in_.fail_unexpected_character();
    in_.next();
    return made;
  }

  ShellNode group() {
    in_.next();
    ShellNode made = list({"}"});
    expect("}");
    return made;
  }

  /// Parses the condition and the branch after `if` or `elif`.
  ShellNode condition() {
    const Level level(*this);
    ShellNode made = node(NodeKind::kIf);
    in_.skip(in_.letters_at_current_position().size());
    in_.skip_blank_lines();
    const std::size_t begin = in_.at();
    made.children.push_back(list({"then"}));
    made.source = in_.script_text_from_position(begin);
    expect("then");
    made.children.push_back(list({"elif", "else", "fi"}));
    in_.skip_blank_lines();
    if (in_.letters_at_current_position() == "elif") {
      made.children.push_back(condition());
      return made;
    }
    if (in_.letters_at_current_position() == "else") {
      in_.skip(4);
      made.children.push_back(list({"fi"}));
    }
    expect("fi");
    return made;
  }

  ShellNode loop(bool until) {
    ShellNode made = node(NodeKind::kWhile);
    in_.skip(5);
    in_.skip_blank_lines();
    const std::size_t begin = in_.at();
    ShellNode head = list({"do"});
    made.source = in_.script_text_from_position(begin);
    if (until) {
      ShellNode turned = node(NodeKind::kNot);
      turned.children.push_back(std::move(head));
      head = std::move(turned);
    }
    made.children.push_back(std::move(head));
    made.children.push_back(body());
    return made;
  }

  ShellNode body() {
    expect("do");
    ShellNode made = list({"done"});
    expect("done");
    return made;
  }

  ShellNode for_each() {
    ShellNode made = node(NodeKind::kFor);
    in_.skip(in_.letters_at_current_position().size());
    in_.skip_blanks();
    if (in_.starts("((")) return count(std::move(made));
    made.words.push_back(in_.word());
    if (!is_shell_name(made.words.front().unquoted_plain_text())) in_.fail_unexpected_character();
    in_.skip_blank_lines();
    if (in_.letters_at_current_position() == "in") {
      in_.skip(2);
      rest_of_line(made);
    } else {
      made.words.push_back(parse_shell_word("\"$@\"", "", made.line));
    }
    in_.skip_blanks();
    if (in_.here() == ';') in_.next();
    made.children.push_back(body());
    return made;
  }

  void rest_of_line(ShellNode& made) {
    for (in_.skip_blanks(); !in_.at_end() && !in_.at_one_of("\n;&|)"); in_.skip_blanks()) {
      const std::size_t before = in_.at();
      made.words.push_back(in_.word());
      if (in_.at() == before) in_.fail_unexpected_character();
    }
  }

  ShellNode count(ShellNode made) {
    made.kind = NodeKind::kCount;
    in_.skip(2);
    const std::string inner = in_.read_text_to_matching_bracket('(', ')');
    if (in_.here() != ')') in_.fail_unexpected_character();
    in_.next();
    std::size_t begin = 0;
    while (made.texts.size() < 3 && begin <= inner.size()) {
      const std::size_t end = std::min(inner.find(';', begin), inner.size());
      made.texts.push_back(inner.substr(begin, end - begin));
      begin = end + 1;
    }
    made.texts.resize(3);
    in_.skip_blanks();
    if (in_.here() == ';') in_.next();
    made.children.push_back(body());
    return made;
  }

  ShellNode choice() {
    ShellNode made = node(NodeKind::kCase);
    const std::size_t begin = in_.at();
    in_.skip(4);
    in_.skip_blanks();
    made.words.push_back(in_.word());
    made.source = in_.script_text_from_position(begin);
    expect("in");
    for (in_.skip_blank_lines(); in_.letters_at_current_position() != "esac";
         in_.skip_blank_lines())
      branch(made);
    expect("esac");
    return made;
  }

  void branch(ShellNode& made) {
    if (in_.here() == '(') in_.next();
    std::vector<UnexpandedShellWord> patterns;
    while (true) {
      in_.skip_blanks();
      const std::size_t before = in_.at();
      patterns.push_back(in_.word());
      if (in_.at() == before) in_.fail_unexpected_character();
      in_.skip_blanks();
      if (in_.here() == ')') break;
      if (in_.here() != '|') in_.fail_unexpected_character();
      in_.next();
    }
    in_.next();
    made.patterns.push_back(std::move(patterns));
    made.children.push_back(list({"esac"}));
    if (in_.starts(";;") || in_.starts(";&")) in_.skip(in_.starts(";;&") ? 3 : 2);
  }

  static bool declares(std::string_view word) {
    static constexpr std::array<std::string_view, 5> kWords = {"export", "declare", "local",
                                                               "readonly", "typeset"};
    return std::ranges::find(kWords, word) != kWords.end();
  }

  ShellNode simple() {
    ShellNode made = node(NodeKind::kSimple);
    while (true) {
      in_.skip_blanks();
      const bool filled_in = in_.user_placeholder_length() > 0;
      if (!filled_in && redirection(made)) continue;
      const bool process = in_.starts("<(") || in_.starts(">(") || filled_in;
      if (in_.at_end() || (ShellWordSplitter::is_word_end_character(in_.here()) && !process)) break;
      const bool first = made.words.empty();
      if ((first || declares(made.words.front().unquoted_plain_text())) &&
          parse_shell_assignment(in_, made))
        continue;
      made.words.push_back(in_.word());
      in_.skip_blanks();
      if (first && made.words.size() == 1 && in_.here() == '(') {
        in_.next();
        in_.skip_blanks();
        if (in_.here() != ')' || made.words.front().unquoted_plain_text().empty())
          in_.fail_unexpected_character();
        in_.next();
        ShellNode function = node(NodeKind::kFunction);
        function.texts.emplace_back(made.words.front().unquoted_plain_text());
        return with_body(std::move(function));
      }
    }
    if (made.words.empty() && made.assignments.empty() && !made.input && !made.source_file &&
        !made.output) {
      in_.fail_unexpected_character();
    }
    return made;
  }

  ShellWordSplitter in_;
  int depth_ = 0;
  std::size_t commands_ = 0;
};

}  // namespace

ShellNode parse_shell_script(std::string_view text, const std::string& name,
                             std::uint32_t first_line) {
  return ShellParser(text, name, first_line).program();
}

}  // namespace stepwright::launch_scripts

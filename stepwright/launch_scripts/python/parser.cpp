#include "stepwright/launch_scripts/python/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/literal.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::launch_scripts {
namespace {

using PartKind = PythonNode::Kind;

constexpr int kDeepestExpression = 50;
constexpr std::size_t kMostChoices = 100;  ///< Most "if ... else" parts in one chain.

/// Recursive-descent parser of one expression, from the operator that binds loosest to the
/// tightest.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const PythonPosition& place)
      : text_(text), file_(place.file), first_line_(place.line), depth_(place.depth) {}

  PythonNode whole() {
    const Start start = begin();
    PythonNode node = item();
    skip();
    if (here() == ',') node = list(std::move(node), "");
    skip();
    const bool all = !bad_ && at_ >= text_.size();
    return all ? finished(start, std::move(node)) : unread(start, text_.size());
  }

 private:
  /// Counts one level of nesting while it exists.
  class Level {
   public:
    explicit Level(ExpressionParser& of) : of_(of) {
      if (++of_.depth_ > kDeepestExpression) {
        fail_input(fmt::format("{}:{}: brackets nest deeper than {} levels", of_.file_, of_.line(),
                               kDeepestExpression));
      }
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --of_.depth_; }

   private:
    ExpressionParser& of_;
  };
  struct Start {
    std::size_t at;
    std::uint32_t line;
  };

  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  std::uint32_t line() {
    if (at_ < counted_) counted_ = 0;
    if (counted_ == 0) counted_line_ = first_line_;
    const std::string_view passed = text_.substr(counted_, std::min(at_, text_.size()) - counted_);
    counted_line_ += static_cast<std::uint32_t>(std::ranges::count(passed, '\n'));
    counted_ = std::min(at_, text_.size());
    return counted_line_;
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\\' && rest().starts_with("\\\n")) {
        at_ += 2;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else {
        break;
      }
    }
  }
  bool take(std::string_view sign) {
    skip();
    if (sign.empty() || !rest().starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!starts_python_word(rest(), word)) return false;
    at_ += word.size();
    return true;
  }
  /// Reads the first of these signs that is at this position; empty: none is.
  std::string_view take_any(std::initializer_list<std::string_view> signs) {
    for (const std::string_view sign : signs) {
      if (take(sign)) return sign;
    }
    return "";
  }

  Start begin() {
    skip();
    return {at_, line()};
  }
  PythonNode finished(const Start& start, PythonNode node) {
    node.line = start.line;
    node.text = trimmed(text_.substr(start.at, std::min(at_, text_.size()) - start.at));
    return node;
  }
  /// Returns a node, or its only part if it has a single one.
  PythonNode made_of(const Start& start, PythonNode node) {
    if (node.parts.size() == 1) return std::move(node.parts.front());
    return finished(start, std::move(node));
  }
  /// Skips a part that is not interpreted.
  PythonNode unread(const Start& start, std::size_t end) {
    at_ = end;
    bad_ = false;
    return finished(start, {});
  }
  PythonNode bad() {
    bad_ = true;
    at_ = text_.size();
    return {};
  }

  /// True if an item, an argument or a key can end here.
  bool ends(std::string_view stops) {
    skip();
    return at_ >= text_.size() || std::string_view(")]}").find(here()) != std::string_view::npos ||
           stops.find(here()) != std::string_view::npos || starts_python_word(rest(), "for") ||
           starts_python_word(rest(), "async");
  }

  /// Parses a value up to one of these characters; `kUnread` if it is not an expression.
  PythonNode value(std::string_view stops) {
    const Level level(*this);
    const Start start = begin();
    PythonNode node = choice();
    if (!bad_ && ends(stops)) return finished(start, std::move(node));
    return unread(start, end_of_python_item(text_, start.at, stops));
  }

  static PythonNode around(PartKind kind, PythonNode part) {
    PythonNode node{.kind = kind};
    node.parts.push_back(std::move(part));
    return node;
  }

  /// Parses an item: a value, "*value", or "value for ...".
  PythonNode item() {
    if (take("*")) return around(PartKind::kSpread, value(","));
    const Start start = begin();
    PythonNode element = value(",");
    return clauses(start, std::move(element));
  }

  /// Parses "for a in b if c for d in e" after an element.
  PythonNode clauses(const Start& start, PythonNode element) {
    PythonNode made = around(PartKind::kComprehension, std::move(element));
    while (!bad_) {
      take_word("async");
      if (take_word("for")) {
        made.parts.push_back(loop());
      } else if (made.parts.size() > 1 && take_word("if")) {
        made.parts.push_back(around(PartKind::kFilter, joined(PartKind::kOr)));
      } else {
        break;
      }
    }
    return made_of(start, std::move(made));
  }

  /// Parses "a, b in c" after "for".
  PythonNode loop() {
    const Start start = begin();
    do {
      behind(begin(), atom());
    } while (take(","));
    PythonNode made{.kind = PartKind::kFor, .word = std::string(finished(start, {}).text)};
    if (!take_word("in")) return bad();
    made.parts.push_back(joined(PartKind::kOr));
    return made;
  }

  /// Parses "lambda: c" as the value that its call returns; skips "lambda a, b: c".
  PythonNode function() {
    const Start start = begin();
    const std::size_t colon = end_of_python_item(text_, at_, ":");
    if (colon < text_.size() && trimmed(text_.substr(at_, colon - at_)) == "lambda") {
      at_ = colon + 1;
      const Level level(*this);
      return finished(start, branch());
    }
    return unread(start, end_of_python_item(text_, std::min(colon + 1, text_.size()), ","));
  }

  /// Parses "a if b else c".
  PythonNode choice() {
    const Start start = begin();
    take_word("await");
    PythonNode made = around(PartKind::kChoice, branch());
    while (!bad_ && take_word("if")) {
      made.parts.push_back(joined(PartKind::kOr));
      if (!take_word("else") || made.parts.size() > kMostChoices) return bad();
      made.parts.push_back(branch());
    }
    return made_of(start, std::move(made));
  }
  PythonNode branch() {
    skip();
    return starts_python_word(rest(), "lambda") ? function() : joined(PartKind::kOr);
  }

  PythonNode joined(PartKind kind) {
    const std::string_view word = kind == PartKind::kOr ? "or" : "and";
    return operated(
        kind, [&] { return kind == PartKind::kOr ? joined(PartKind::kAnd) : negated(); },
        [&] { return take_word(word) ? word : std::string_view(); });
  }

  PythonNode negated() {
    const Start start = begin();
    if (!take_word("not")) return compared();
    const Level level(*this);
    return finished(start, around(PartKind::kNot, negated()));
  }

  /// Parses operands with an operator between each two.
  template <class Operand, class Sign>
  PythonNode operated(PartKind kind, const Operand& operand, const Sign& sign_here) {
    const Start start = begin();
    PythonNode made = around(kind, operand());
    for (std::string_view sign = sign_here(); !bad_ && !sign.empty(); sign = sign_here()) {
      made.parts.push_back(operand());
      made.parts.back().sign = sign;
    }
    return made_of(start, std::move(made));
  }

  std::string_view comparison_sign() {
    const std::string_view sign = take_any({"==", "!=", "<=", ">=", "<", ">"});
    if (!sign.empty()) return sign;
    if (take_word("in")) return "in";
    if (take_word("is")) return take_word("not") ? "is not" : "is";
    const std::size_t before = at_;
    if (take_word("not") && take_word("in")) return "not in";
    at_ = before;
    return "";
  }

  PythonNode compared() {
    return operated(
        PartKind::kComparison, [&] { return sum(); }, [&] { return comparison_sign(); });
  }
  PythonNode sum() {
    return operated(
        PartKind::kOperation, [&] { return product(); },
        [&] { return take_any({"+", "-", "|", "&", "^", "<<", ">>"}); });
  }
  PythonNode product() {
    return operated(
        PartKind::kOperation, [&] { return unary(); },
        [&] { return take_any({"*", "//", "/", "%", "@"}); });
  }

  PythonNode unary() {
    const Start start = begin();
    if (take("-") || take("+")) {
      const Level level(*this);
      if (text_[start.at] == '+') return unary();
      return finished(start, around(PartKind::kNegative, unary()));
    }
    PythonNode base = behind(start, atom());
    if (!take("**")) return base;
    const Level level(*this);
    PythonNode made = around(PartKind::kOperation, std::move(base));
    made.parts.push_back(unary());
    made.parts.back().sign = "**";
    return finished(start, std::move(made));
  }

  /// Parses the indices, attributes and calls after a value.
  PythonNode behind(const Start& start, PythonNode value) {
    PythonNode made = around(PartKind::kBehind, std::move(value));
    for (skip(); !bad_ && std::string_view(".[(").find(here()) < 3; skip()) {
      const Start place = begin();
      made.parts.push_back(finished(place, here() == '(' ? arguments() : member()));
    }
    return made_of(start, std::move(made));
  }

  PythonNode member() {
    if (take(".")) {
      PythonNode made{.kind = PartKind::kAttribute, .word = identifier()};
      return made.word.empty() ? bad() : made;
    }
    ++at_;
    PythonNode made{.kind = PartKind::kIndex};
    skip();
    made.parts.push_back(here() == ':' ? constant("None") : value(",:"));
    if (take("]")) return made;
    if (!take(":")) return bad();
    made.kind = PartKind::kSlice;
    skip();
    made.parts.push_back(here() == ']' ? constant("None") : value(",:"));
    return take("]") ? made : bad();
  }

  PythonNode arguments() {
    ++at_;
    PythonNode made{.kind = PartKind::kArguments};
    while (!bad_ && !take(")")) {
      made.parts.push_back(argument());
      skip();
      if (here() != ')' && !take(",")) bad();
    }
    return made;
  }

  PythonNode argument() {
    const Start start = begin();
    if (take("**")) return finished(start, around(PartKind::kSpreadMapping, value(",")));
    const std::string name = identifier();
    skip();
    const bool keyword = !name.empty() && here() == '=' && !rest().starts_with("==");
    const bool bound = !name.empty() && rest().starts_with(":=");
    if (!keyword && !bound) {
      at_ = start.at;
      return item();
    }
    at_ += bound ? 2 : 1;
    PythonNode made = around(bound ? PartKind::kBound : PartKind::kKeyword, value(","));
    made.word = name;
    return finished(start, std::move(made));
  }

  std::string identifier() {
    skip();
    const std::size_t begin = at_;
    while (is_python_name_char(here())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  PythonNode atom() {
    const Start start = begin();
    const char c = here();
    if (starts_python_string(rest())) return finished(start, string());
    if (c == '(') return grouped();
    if (c == '[' || c == '{') {
      ++at_;
      return finished(start, c == '[' ? opened() : braced());
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      PythonNode number = parse_python_number(rest());
      at_ += number.text.size();
      return finished(start, std::move(number));
    }
    return is_python_name_char(c) ? finished(start, named()) : bad();
  }

  static PythonNode constant(std::string_view word) {
    return {.kind = PartKind::kConstant, .word = std::string(word)};
  }

  PythonNode named() {
    std::string path = identifier();
    if (path == "None" || path == "True" || path == "False") return constant(path);
    for (skip(); here() == '.' && at_ + 1 < text_.size() && is_python_name_char(text_[at_ + 1]);
         skip()) {
      ++at_;
      path += "." + identifier();
    }
    return {.kind = PartKind::kName, .word = std::move(path)};
  }

  /// Parses an expression in brackets, or a tuple.
  PythonNode grouped() {
    const Start start = begin();
    ++at_;
    if (take(")")) return finished(start, {.kind = PartKind::kList});
    PythonNode first = argument();
    if (first.kind != PartKind::kSpread && take(")")) return first;
    return finished(start, list(std::move(first), ")"));
  }

  /// Parses a list, or a list comprehension, up to its bracket.
  PythonNode opened() {
    if (take("]")) return {.kind = PartKind::kList};
    PythonNode first = item();
    if (first.kind == PartKind::kComprehension) return take("]") ? first : bad();
    return list(std::move(first), "]");
  }

  /// Parses the rest of a list after its first item.
  PythonNode list(PythonNode first, std::string_view close) {
    PythonNode made = around(PartKind::kList, std::move(first));
    const auto closed = [&] { return close.empty() ? (skip(), at_ >= text_.size()) : take(close); };
    while (!bad_ && !closed()) {
      if (!take(",")) return bad();
      if (closed()) break;
      made.parts.push_back(item());
    }
    return made;
  }

  /// Parses a mapping or a set.
  PythonNode braced() {
    PythonNode made{.kind = PartKind::kMapping};
    while (!bad_ && !take("}")) {
      const Start start = begin();
      if (take("**")) {
        made.parts.push_back(around(PartKind::kSpreadMapping, value(",")));
      } else {
        const bool spread = take("*");
        PythonNode key = value(",:");
        const bool pair = !spread && take(":");
        PythonNode part{.kind = spread ? PartKind::kSpread : PartKind::kPair};
        if (pair || spread) part.parts.push_back(std::move(key));
        if (pair) part.parts.push_back(value(","));
        if (!pair) made.kind = PartKind::kList;
        made.parts.push_back(clauses(start, pair || spread ? std::move(part) : std::move(key)));
      }
      skip();
      if (here() != '}' && !take(",")) bad();
    }
    const bool one = made.parts.size() == 1;
    const bool loop = one && made.parts.front().kind == PartKind::kComprehension;
    return loop ? PythonNode(made.parts.front()) : made;
  }

  /// Parses string literals; adjacent ones form one text.
  PythonNode string() {
    PythonNode made{.kind = PartKind::kString};
    for (; starts_python_string(rest()); skip()) {
      const Level level(*this);
      const std::size_t end = parse_python_string(text_, at_, {line(), file_, depth_}, made);
      if (end > text_.size()) return bad();
      at_ = end;
    }
    return made;
  }

  std::string_view text_;
  const std::string& file_;
  std::uint32_t first_line_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::uint32_t counted_line_ = 0;
  int depth_;
  bool bad_ = false;
};

}  // namespace

PythonNode parse_python_expression(std::string_view text, const PythonPosition& place) {
  return ExpressionParser(text, place).whole();
}

}  // namespace stepwright::launch_scripts

#include "stepwright/framework_files/syntax/python_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/syntax/python_arithmetic.h"
#include "stepwright/framework_files/syntax/python_source.h"

namespace stepwright {
namespace {

constexpr int kDeepest = 50;
constexpr std::size_t kMostItems = 10'000;

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// The letters in front of a text in quotes that change nothing.
bool is_plain_prefix(std::string_view word) {
  return word == "r" || word == "R" || word == "u" || word == "b" || word == "rb";
}

}  // namespace

void PythonReader::fail(std::string_view what) const {
  fail_input(fmt::format("{}:{}: {}", name_, line_, what));
}

Tree PythonReader::place(Tree tree) const {
  tree.line = line_;
  tree.column = 1;
  return tree;
}

void PythonReader::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    }
    if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      ++at_;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c)) == 0) break;
    if (c == '\n') ++line_;
    ++at_;
  }
}

bool PythonReader::take(char c) {
  skip();
  if (here() != c) return false;
  ++at_;
  return true;
}

std::string PythonReader::word() {
  skip();
  std::string word;
  while (is_word_char(here())) word += text_[at_++];
  return word;
}

std::string_view PythonReader::pass_until(std::string_view stops) {
  const std::size_t begin = at_;
  std::int64_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_python_string(text_, at_);
      if (end > text_.size()) fail("a quote never closes");
      line_ += static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
      at_ = end;
      continue;
    }
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) break;
    if (c == '\n') ++line_;
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

bool PythonReader::at_end_of_value() const {
  return at_ >= text_.size() || std::string_view(",)]}:").find(here()) != std::string_view::npos;
}

Tree PythonReader::value() { return value_up_to(","); }

Tree PythonReader::value_up_to(std::string_view stops) {
  if (++depth_ > kDeepest) fail("brackets nest deeper than 50 levels");
  skip();
  const Place begin{at_, line_};
  std::optional<Tree> tree = sum();
  skip();
  if (!tree || !at_end_of_value() || (here() == ':' && stops.find(':') == std::string_view::npos)) {
    at_ = begin.at;
    line_ = begin.line;
    const Tree unread = place(Tree());
    const std::string_view text = python_trimmed(pass_until(stops));
    tree = scope_.decided ? scope_.decided(text, begin.line) : std::nullopt;
    if (!tree) tree = unread_value(text);
    tree->line = unread.line;
    tree->column = unread.column;
  }
  --depth_;
  return *tree;
}

std::optional<Tree> PythonReader::sum() {
  std::optional<Tree> left = product();
  for (skip(); left && (here() == '+' || here() == '-'); skip()) {
    const char op = text_[at_++];
    const auto right = product();
    const std::uint32_t line = left->line;
    left = right ? combined_python(op, *left, *right) : std::nullopt;
    if (left) left->line = line;
  }
  return left;
}

std::optional<Tree> PythonReader::product() {
  std::optional<Tree> left = term();
  for (skip(); left && (here() == '*' || here() == '/'); skip()) {
    const char op = text_[at_++];
    // Only whole quotients are numbers of a configuration.
    if (op == '/' && here() != '/') return std::nullopt;
    if (here() == op) {
      if (op == '*') return std::nullopt;
      ++at_;
    }
    const auto right = term();
    const std::uint32_t line = left->line;
    left = right ? combined_python(op, *left, *right) : std::nullopt;
    if (left) left->line = line;
  }
  return left;
}

std::optional<Tree> PythonReader::term() {
  std::optional<Tree> tree = atom();
  while (tree && passes_method(*tree)) {
  }
  // An index or a method of what a call gives: nobody knows.
  if (tree && (here() == '.' || here() == '[' || here() == '(')) return std::nullopt;
  return tree;
}

/// A method that gives what it is called of, or one of texts; anything else is left where it
/// stands.
bool PythonReader::passes_method(Tree& tree) {
  skip();
  const Place begin{at_, line_};
  if (here() != '.' || !scope_.gives_same) return false;
  ++at_;
  const std::string method = word();
  if (take('(')) {
    const Tree given = arguments();
    if (scope_.gives_same(method)) return true;
    if (auto result = python_method(tree, method, given)) {
      result->line = tree.line;
      tree = std::move(*result);
      return true;
    }
  }
  at_ = begin.at;
  line_ = begin.line;
  return false;
}

std::optional<Tree> PythonReader::atom() {
  skip();
  const char c = here();
  if (c == '"' || c == '\'') return string();
  if (c == '[') {
    ++at_;
    return list(']');
  }
  if (c == '(') return bracketed();
  if (c == '{') {
    ++at_;
    return mapping();
  }
  return named();
}

std::optional<Tree> PythonReader::named() {
  std::string word;
  if (here() == '-') word += text_[at_++];
  // An exponent's sign belongs to the number.
  while (is_word_char(here()) ||
         ((here() == '-' || here() == '+') && !word.empty() &&
          (word.back() == 'e' || word.back() == 'E') && is_number(word + "1"))) {
    word += text_[at_++];
  }
  if (word.empty()) return std::nullopt;
  if (word == "None") return place(Tree());
  if (word == "True" || word == "False") return place(Tree(word == "True"));
  if (is_plain_prefix(word) && (here() == '"' || here() == '\'')) return string();
  skip();
  if (here() == '(') return called(word);
  if (scope_.variable) {
    if (auto known = scope_.variable(word)) return place(*known);
  }
  // A name of another module is a word: nobody looks it up.
  const bool dotted = word.find('.') != std::string::npos;
  if (dotted && std::isalpha(static_cast<unsigned char>(word.front())) != 0) {
    return place(Tree::scalar(word, true));
  }
  std::erase(word, '_');
  if (!is_number(word)) return std::nullopt;
  return place(Tree::scalar(word, false));
}

std::optional<Tree> PythonReader::called(const std::string& name) {
  const Tree begin = place(Tree());
  ++at_;
  Tree call = arguments();
  if (scope_.call) {
    if (auto known = scope_.call(name, call)) {
      known->line = begin.line;
      return known;
    }
  }
  const std::size_t own = name.find_first_not_of('_', name.rfind('.') + 1);
  const char first = own == std::string::npos ? '_' : name[own];
  if (std::isupper(static_cast<unsigned char>(first)) == 0) return std::nullopt;
  call.set("()", Tree::scalar(name, true));
  call.line = begin.line;
  return call;
}

void PythonReader::end_of_item(char close) {
  skip();
  if (here() == close) return;
  if (at_ >= text_.size()) fail("a bracket never closes");
  if (!take(',')) fail("a comma is missing");
}

void PythonReader::spread(Tree& into) {
  const Tree more = value();
  const bool known = more.kind == Tree::Kind::kMapping && more.find("()") == nullptr;
  if (!known) {
    into.set("**", is_unread(more) ? more : unread_value("**"));
    return;
  }
  for (std::size_t i = 0; i + 1 < more.items.size(); i += 2) {
    into.set(more.items[i].text, more.items[i + 1]);
  }
}

void PythonReader::argument(Tree& call, Tree& unnamed) {
  if (text_.substr(at_).starts_with("**")) {
    at_ += 2;
    spread(call);
    return;
  }
  const Place begin{at_, line_};
  const std::string name = word();
  skip();
  const bool keyword = !name.empty() && here() == '=' && !text_.substr(at_).starts_with("==");
  if (!keyword) {
    at_ = begin.at;
    line_ = begin.line;
    unnamed.add(value());
    return;
  }
  ++at_;
  if (call.find(name) != nullptr) fail(fmt::format("'{}' is given twice", printable(name)));
  call.set(name, value());
}

Tree PythonReader::arguments() {
  Tree call = place(Tree::mapping());
  Tree unnamed = place(Tree::flow_sequence());
  if (++depth_ > kDeepest) fail("brackets nest deeper than 50 levels");
  while (!take(')')) {
    if (at_ >= text_.size()) fail("a bracket never closes");
    if (call.items.size() + unnamed.items.size() > kMostItems) {
      fail(fmt::format("a call has more than {} arguments", kMostItems));
    }
    argument(call, unnamed);
    end_of_item(')');
  }
  --depth_;
  if (!unnamed.items.empty()) call.set("[]", unnamed);
  return call;
}

std::optional<Tree> PythonReader::string() {
  const Tree begin = place(Tree());
  std::string text;
  for (skip(); here() == '"' || here() == '\''; skip()) {
    const std::size_t end = end_of_python_string(text_, at_);
    if (end > text_.size()) fail("a quote never closes");
    const std::string_view quoted = text_.substr(at_, end - at_);
    const bool triple = quoted.size() >= 6 && quoted.substr(0, 3) == quoted.substr(end - at_ - 3);
    const std::size_t width = triple ? 3 : 1;
    for (std::size_t i = width; i < quoted.size() - width; ++i) {
      if (quoted[i] == '\\' && i + 1 < quoted.size() - width) ++i;
      text += quoted[i];
    }
    line_ += static_cast<std::uint32_t>(std::ranges::count(quoted, '\n'));
    at_ = end;
  }
  Tree tree = Tree::scalar(text, true);
  tree.line = begin.line;
  tree.column = begin.column;
  return tree;
}

/// A tuple, or an expression in brackets.
std::optional<Tree> PythonReader::bracketed() {
  ++at_;
  Tree list = place(Tree::flow_sequence());
  while (!take(')')) {
    if (at_ >= text_.size()) fail("a bracket never closes");
    Tree item = value();
    const bool alone = list.items.empty() && take(')');
    if (alone && is_unread(item)) return std::nullopt;
    if (alone) return item;
    list.add(std::move(item));
    end_of_item(')');
  }
  return list;
}

Tree PythonReader::list(char close) {
  Tree list = place(Tree::flow_sequence());
  while (!take(close)) {
    if (at_ >= text_.size()) fail("a bracket never closes");
    list.add(value());
    end_of_item(close);
  }
  return list;
}

Tree PythonReader::mapping() {
  Tree mapping = place(Tree::mapping());
  while (!take('}')) {
    if (at_ >= text_.size()) fail("a bracket never closes");
    if (mapping.items.size() > kMostItems) fail("a mapping has more than 10,000 values");
    if (text_.substr(at_).starts_with("**")) {
      at_ += 2;
      spread(mapping);
    } else {
      const Tree key = value_up_to(",:");
      const bool pair = take(':');
      const Tree item = pair ? value() : Tree();
      // A set, or a key that is calculated, says nothing that anyone could ask for.
      if (pair && key.kind == Tree::Kind::kScalar) mapping.set(key.text, item);
    }
    end_of_item('}');
  }
  return mapping;
}

}  // namespace stepwright

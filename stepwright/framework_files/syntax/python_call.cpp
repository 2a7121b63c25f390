#include "stepwright/framework_files/syntax/python_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Reads literals of Python from a place in a text.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, std::size_t at, const std::string& name,
                std::string_view data)
      : text_(text), name_(name), data_(data), at_(at) {
    line_ += static_cast<std::uint32_t>(std::ranges::count(text.substr(0, at), '\n'));
  }

  /// The arguments of a call whose bracket was just passed.
  Tree arguments() {
    Tree call = place(Tree::mapping());
    Tree unnamed = place(Tree::flow_sequence());
    while (!take(')')) {
      const std::size_t before = at_;
      const std::string word = name_here();
      skip();
      if (!word.empty() && here() == '=') {
        ++at_;
        if (call.find(word) != nullptr) fail(fmt::format("'{}' is given twice", word));
        call.set(word, value());
      } else {
        at_ = before;
        unnamed.add(value());
      }
      end_of_item(')');
    }
    if (!unnamed.items.empty()) call.set("[]", unnamed);
    return call;
  }

 private:
  static constexpr int kDeepest = 50;

  [[noreturn]] void fail(std::string_view what) const {
    fail_input(fmt::format("{}:{}: {}", name_, line_, what));
  }

  Tree place(Tree tree) const {
    tree.line = line_;
    tree.column = 1;
    return tree;
  }

  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      if (std::isspace(static_cast<unsigned char>(c)) == 0) break;
      if (c == '\n') ++line_;
      ++at_;
    }
  }

  bool take(char c) {
    skip();
    if (at_ >= text_.size()) fail("a bracket never closes");
    if (text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// A comma, unless the bracket closes.
  void end_of_item(char close) {
    skip();
    if (here() == close) return;
    if (!take(',')) {
      fail("only literals and calls with keywords are read (numbers, texts, lists, mappings)");
    }
  }

  std::string name_here() {
    skip();
    std::string word;
    while (is_word_char(here())) word += text_[at_++];
    return word;
  }

  Tree value() {
    if (++depth_ > kDeepest) fail("brackets nest deeper than 50 levels");
    Tree tree = value_below();
    --depth_;
    return tree;
  }

  Tree value_below() {
    skip();
    const char c = here();
    if (c == '"' || c == '\'') return place(Tree::scalar(string(), true));
    if (c == '[' || c == '(') return list(c == '[' ? ']' : ')');
    if (c == '{') return mapping();
    std::string word;
    if (c == '-') {
      word += c;
      ++at_;
    }
    // An exponent's sign belongs to the number.
    while (is_word_char(here()) ||
           ((here() == '-' || here() == '+') && !word.empty() &&
            (word.back() == 'e' || word.back() == 'E') && is_number(word + "1"))) {
      word += text_[at_++];
    }
    if (word.empty()) fail(fmt::format("'{}' is no literal", printable(text_.substr(at_, 10))));
    return meaning(word);
  }

  Tree meaning(std::string word) {
    if (word == "None") return place(Tree());
    if (word == "True" || word == "False") return place(Tree(word == "True"));
    skip();
    if (here() == '(') {
      ++at_;
      Tree call = arguments();
      const char first = word[word.rfind('.') + 1];
      if (word != data_ && std::isupper(static_cast<unsigned char>(first)) == 0) {
        fail(fmt::format("{}() is a function, and nothing is executed: write out what it returns",
                         word));
      }
      call.set("()", Tree::scalar(word, true));
      return call;
    }
    // A name of another module is a word: nobody looks it up.
    const bool dotted = word.find('.') != std::string::npos;
    if (dotted && std::isalpha(static_cast<unsigned char>(word.front())) != 0) {
      return place(Tree::scalar(word, true));
    }
    std::erase(word, '_');
    if (!is_number(word)) {
      fail(fmt::format("'{}' is no literal, and nothing is executed: write the value", word));
    }
    return place(Tree::scalar(word, false));
  }

  std::string string() {
    const char quote = text_[at_++];
    std::string text;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_++];
    }
    if (here() != quote) fail("a quote never closes");
    ++at_;
    return text;
  }

  Tree list(char close) {
    ++at_;
    Tree list = place(Tree::flow_sequence());
    while (!take(close)) {
      list.add(value());
      end_of_item(close);
    }
    return list;
  }

  Tree mapping() {
    ++at_;
    Tree mapping = place(Tree::mapping());
    while (!take('}')) {
      const Tree key = value();
      if (key.kind != Tree::Kind::kScalar) fail("a key must be a text or a number");
      if (!take(':')) fail("a key needs ':' and a value");
      mapping.set(key.text, value());
      end_of_item('}');
    }
    return mapping;
  }

  std::string_view text_;
  const std::string& name_;
  std::string_view data_;
  std::size_t at_;
  std::uint32_t line_ = 1;
  int depth_ = 0;
};

}  // namespace

Document read_python_call(std::string_view text, std::string_view function, const std::string& name,
                          std::string_view data) {
  const std::string head = fmt::format("{}(", function);
  std::size_t at = text.find(head);
  // Not in a comment, not as the end of another name.
  while (at != std::string_view::npos) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const bool commented = text.substr(line, at - line).find('#') != std::string_view::npos;
    if (!commented && (at == 0 || !is_word_char(text[at - 1]))) break;
    at = text.find(head, at + 1);
  }
  if (at == std::string_view::npos) {
    fail_input(fmt::format("{}: has no call of {}", name, function));
  }
  return Document::from(LiteralReader(text, at + head.size(), name, data).arguments(), name);
}

}  // namespace stepwright

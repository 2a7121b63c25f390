#include "stepwright/core/json_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/assembler.h"

namespace stepwright {
namespace {

/// Walks over the tokens that the parser reports, because it reports neither where they are nor how
/// numbers are spelled.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {
    if (text.starts_with("\xEF\xBB\xBF")) at_ = line_start_ = 3;
  }

  /// Moves to the next token (values, keys and brackets are tokens) and returns its text.
  std::string_view take() {
    skip_between();
    begin_ = {line_, at_ - line_start_ + 1};
    const std::size_t start = at_;
    at_ = end_of_token();
    return text_.substr(start, at_ - start);
  }

  /// Where the token taken last begins.
  [[nodiscard]] Position begin() const { return begin_; }

 private:
  static bool is_between(char c) { return std::string_view(" \t\r\n,:").find(c) != kNowhere; }

  void skip_between() {
    for (; at_ < text_.size() && is_between(text_[at_]); ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_start_ = at_ + 1;
    }
  }

  [[nodiscard]] std::size_t end_of_token() const {
    if (at_ >= text_.size()) return text_.size();
    if (std::string_view("{}[]").find(text_[at_]) != kNowhere) return at_ + 1;
    if (text_[at_] == '"') return end_of_string();
    return std::min(text_.find_first_of("]},: \t\r\n", at_), text_.size());
  }

  [[nodiscard]] std::size_t end_of_string() const {
    std::size_t at = at_ + 1;
    while (at < text_.size() && text_[at] != '"') at += text_[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text_.size());
  }

  static constexpr std::size_t kNowhere = std::string_view::npos;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  Position begin_;
};

/// Turns the events of nlohmann's parser into a tree.
class SaxHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  SaxHandler(std::string_view text, const std::string& file)
      : text_(text), file_(file), cursor_(text), assembler_(file) {}

  bool null() override { return bare(); }
  bool boolean(bool /*value*/) override { return bare(); }
  bool number_integer(std::int64_t /*value*/) override { return bare(); }
  bool number_unsigned(std::uint64_t /*value*/) override { return bare(); }
  bool number_float(double /*value*/, const std::string& /*spelling*/) override { return bare(); }
  bool string(std::string& value) override { return quoted(value); }
  bool key(std::string& value) override { return quoted(value); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*members*/) override { return open(Tree::mapping()); }
  bool start_array(std::size_t /*elements*/) override { return open(Tree::sequence()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    const std::string_view message = error.what();  // [...] parse error at ...: what is wrong
    const std::size_t id = message.find("] ");
    std::string_view reason = id == std::string_view::npos ? message : message.substr(id + 2);
    if (reason.starts_with("parse error at")) reason.remove_prefix(reason.find(": ") + 2);
    fail_at(file_, position_of(text_, position == 0 ? 0 : position - 1),
            "malformed JSON: " + std::string(reason));
  }

  Tree take() { return assembler_.take(); }

 private:
  Tree placed(Tree tree) const {
    tree.line = static_cast<std::uint32_t>(cursor_.begin().line);
    tree.column = static_cast<std::uint32_t>(cursor_.begin().column);
    return tree;
  }

  bool bare() {
    std::string spelling(cursor_.take());
    assembler_.leaf(placed(Tree::scalar(std::move(spelling), false)));
    return true;
  }

  bool quoted(const std::string& value) {
    cursor_.take();
    assembler_.leaf(placed(Tree::scalar(value, true)));
    return true;
  }

  bool open(Tree container) {
    cursor_.take();
    assembler_.open(placed(std::move(container)));
    return true;
  }

  bool close() {
    cursor_.take();
    assembler_.close();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  Cursor cursor_;
  Assembler assembler_;
};

}  // namespace

Tree read_json(std::string_view text, const std::string& file) {
  // The parser takes a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fail_at(file, position_of(text, zero), "malformed JSON: a zero byte");
  }
  SaxHandler handler(text, file);
  nlohmann::json::sax_parse(text, &handler);
  return handler.take();
}

}  // namespace stepwright

#include "stepwright/core/json_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kShown = 40;  // Bytes of the text in a message.
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kValues =
    R"(a value is {...}, [...], "text", a number, true, false or null)";

/// A word for a value in another language, and what JSON writes instead.
struct OtherWord {
  std::string_view word;
  std::string_view advice;
};
constexpr OtherWord kOtherWords[] = {
    {"True", "write true"},
    {"False", "write false"},
    {"None", "write null"},
    {"NaN", "JSON has only finite numbers; write null for a missing one"},
    {"nan", "JSON has only finite numbers; write null for a missing one"},
    {"Infinity", "JSON has only finite numbers"},
    {"inf", "JSON has only finite numbers"},
    {"undefined", "write null"},
};

/// True if a character can be part of a word or of a number.
bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+.").find(c) != std::string_view::npos;
}

/// Parses a text and stops at its first fault.
class FaultFinder {
 public:
  explicit FaultFinder(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  JsonFault find() {
    skip_blanks();
    value();
    while (!found() && !open_.empty()) member_or_end();
    skip_blanks();
    if (!found() && at_ < text_.size()) {
      fail("text after the end of the document, which is one value" + shown());
    }
    return fault_;
  }

 private:
  [[nodiscard]] bool found() const { return !fault_.text.empty(); }
  void fail(std::string_view text) { fail_from(at_, text); }
  void fail_from(std::size_t offset, std::string_view text) {
    if (!found()) fault_ = {offset, fmt::format("malformed JSON: {}", text)};
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  [[nodiscard]] std::string_view word_here() const {
    std::size_t end = at_;
    while (end < text_.size() && is_word_character(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  /// Returns the end of a message: the text at the fault.
  [[nodiscard]] std::string shown() const {
    if (at_ == text_.size()) return "; the text ends here" + opened();
    const std::string_view rest = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
    const bool comment = rest.starts_with('/') || rest.starts_with('#');
    return fmt::format("; here stands {}{}", one_line_printable_text(rest, kShown),
                       comment ? " (JSON has no comments)" : "");
  }

  /// Describes the list or mapping that the text leaves open.
  [[nodiscard]] std::string opened() const {
    if (open_.empty()) return "";
    const std::size_t place = open_.back();
    return fmt::format(", inside of the {} that opens in line {}",
                       text_[place] == '{' ? "mapping" : "list",
                       text_position_at_offset(text_, place).line);
  }

  void open() {
    open_.push_back(at_++);
    if (open_.size() > kMaxDocumentNestingDepth) {
      fault_ = {open_.back(),
                fmt::format("nested deeper than {} levels", kMaxDocumentNestingDepth)};
      return;
    }
    skip_blanks();
    if (here() == close_of(open_.back())) return close();
    element();
  }

  void close() {
    ++at_;
    open_.pop_back();
  }

  [[nodiscard]] char close_of(std::size_t place) const { return text_[place] == '{' ? '}' : ']'; }

  /// Reads the comma or bracket that follows a value inside of a list or mapping.
  void member_or_end() {
    const bool mapping = text_[open_.back()] == '{';
    skip_blanks();
    if (here() == close_of(open_.back())) return close();
    if (here() != ',') {
      return fail(fmt::format("a comma or {} must follow a value of a {}{}", mapping ? "}" : "]",
                              mapping ? "mapping" : "list", shown()));
    }
    ++at_;
    skip_blanks();
    if (here() == close_of(open_.back())) {
      return fail(fmt::format("there is a comma before {}; remove it", here()));
    }
    element();
  }

  /// Reads an element of a list, or a key with its value.
  void element() {
    if (text_[open_.back()] == '[') return value();
    if (here() != '"') return fail("a key in double quotes must stand here" + shown());
    string();
    skip_blanks();
    if (!found() && here() != ':') return fail("a colon must follow a key" + shown());
    ++at_;
    skip_blanks();
    if (!found()) value();
  }

  void value() {
    const char first = here();
    if (first == '{' || first == '[') return open();
    if (first == '"') return string();
    if (first == '-' || (first >= '0' && first <= '9')) return number();
    for (const std::string_view literal : {"true", "false", "null"}) {
      if (word_here() == literal) {
        at_ += literal.size();
        return;
      }
    }
    fail_value();
  }

  void fail_value() {
    if (here() == '\'') return fail("JSON text needs double quotes, not single ones");
    const std::string_view word = word_here();
    for (const OtherWord& other : kOtherWords) {
      if (word == other.word)
        return fail(fmt::format("{} is not a value of JSON; {}", word, other.advice));
    }
    if (!word.empty()) {
      return fail(
          fmt::format("{} is not a value; {}", one_line_printable_text(word, kShown), kValues));
    }
    fail(fmt::format("a value must stand here{}; {}", shown(), kValues));
  }

  void digits() { at_ = std::min(text_.find_first_not_of(kDigits, at_), text_.size()); }

  void number() {
    const std::size_t begin = at_;
    const std::string_view word = word_here();
    if (here() == '-') ++at_;
    const std::size_t whole = at_;
    digits();
    bool good = at_ > whole && (text_[whole] != '0' || at_ == whole + 1);
    if (here() == '.') {
      const std::size_t fraction = ++at_;
      digits();
      good = good && at_ > fraction;
    }
    if (here() == 'e' || here() == 'E') {
      ++at_;
      if (here() == '+' || here() == '-') ++at_;
      const std::size_t exponent = at_;
      digits();
      good = good && at_ > exponent;
    }
    if (!good || at_ != begin + word.size()) {
      return fail_from(begin,
                       fmt::format("{} is not a number of JSON; write numbers as 8, -0.5 or 4e6",
                                   one_line_printable_text(word, kShown)));
    }
    if (std::isinf(std::strtod(std::string(word).c_str(), nullptr))) {
      fail_from(begin,
                fmt::format("{} is too large a number", one_line_printable_text(word, kShown)));
    }
  }

  void string() {
    const std::size_t begin = at_++;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '\n' || byte == '\r') {
        return fail_from(
            begin,
            R"(a quote opens text that no quote closes in this line; write \n for a line end)");
      }
      if (byte < 0x20) {
        return fail(fmt::format("a control character in text; write \\u{:04x}", byte));
      }
      if (byte == '\\' && !escape()) return;
    }
    if (at_ == text_.size()) return fail_from(begin, "a quote opens text that no quote closes");
    ++at_;
  }

  /// Moves to the last character of an escape; false if the text there is no escape.
  bool escape() {
    constexpr std::string_view kEscaped = "\"\\/bfnrt";
    const std::size_t begin = at_++;
    if (here() != 'u') {
      if (at_ < text_.size() && kEscaped.find(here()) != std::string_view::npos) return true;
      fail_from(
          begin,
          R"(an unknown escape in text; known are \" \\ \/ \b \f \n \r \t and \u with four digits)");
      return false;
    }
    const unsigned unit = code_unit(begin);
    if (found()) return false;
    if (unit < 0xD800 || unit > 0xDFFF) return true;
    if (unit < 0xDC00 && text_.substr(at_ + 1).starts_with("\\u")) {
      at_ += 2;
      const unsigned low = code_unit(begin);
      if (low >= 0xDC00 && low <= 0xDFFF) return true;
    }
    fail_from(begin, "half of a pair of escapes (\\ud800 to \\udfff), which is not a character");
    return false;
  }

  /// Moves from the `u` of an escape to its last digit and returns the number.
  unsigned code_unit(std::size_t begin) {
    unsigned unit = 0;
    constexpr std::size_t kDigitsOfUnit = 4;
    const std::string_view four = text_.substr(at_ + 1, kDigitsOfUnit);
    const char* const end = four.data() + four.size();
    constexpr int kHexadecimal = 16;
    const auto [read, error] = std::from_chars(four.data(), end, unit, kHexadecimal);
    if (four.size() < kDigitsOfUnit || error != std::errc() || read != end) {
      fail_from(begin, "four digits of hexadecimal must follow \\u");
    }
    at_ += kDigitsOfUnit;
    return unit;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;  ///< Offsets of the brackets that are open.
  JsonFault fault_;
};

}  // namespace

JsonFault find_json_fault(std::string_view text) { return FaultFinder(text).find(); }

void fail_at_json_fault(const std::string& file, std::string_view text,
                        std::string_view otherwise) {
  const JsonFault fault = find_json_fault(text);
  if (fault.text.empty())
    fail_at_text_position(file, {}, fmt::format("malformed JSON: {}", otherwise));
  fail_at_text_position(file, text_position_at_offset(text, fault.offset), fault.text);
}

}  // namespace stepwright

#include "stepwright/launch_scripts/python/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"
#include "stepwright/core/trimmed.h"

namespace stepwright::launch_scripts {
namespace {

constexpr std::size_t kMostStatements = 100'000;

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/// Splits a text into statements.
class Splitter {
 public:
  Splitter(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<PythonStatement> lines() {
    while (at_ < text_.size()) statement();
    return std::move(lines_);
  }

 private:
  /// Reads the indentation of a statement, in columns.
  std::uint32_t indentation() {
    std::uint32_t columns = 0;
    for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'); ++at_) {
      columns += text_[at_] == '\t' ? 8 : 1;
    }
    return columns;
  }

  void statement() {
    const bool first_of_line = at_ == 0 || text_[at_ - 1] != ';';
    const std::uint32_t columns = indentation();
    if (first_of_line) indent_ = columns;
    const std::size_t begin = at_;
    const std::uint32_t line = line_;
    std::size_t end = std::string_view::npos;
    std::int64_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        pass_string(line);
      } else if (c == '#') {
        if (depth == 0) end = std::min(end, at_);
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == '\\') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++line_;
        ++at_;
      } else if (opens(c)) {
        ++depth;
      } else if (closes(c)) {
        --depth;
      } else if (depth <= 0 && (c == '\n' || c == ';')) {
        break;
      } else if (c == '\n') {
        ++line_;
      }
    }
    if (depth > 0) fail_input(fmt::format("{}:{}: a bracket never closes", name_, line));
    at_ = std::min(at_, text_.size());
    add(text_.substr(begin, std::min(end, at_) - begin), line);
    if (at_ < text_.size() && text_[at_] == '\n') ++line_;
    ++at_;
  }

  void pass_string(std::uint32_t line) {
    const std::size_t end = end_of_python_string(text_, at_);
    if (end > text_.size()) fail_input(fmt::format("{}:{}: a quote never closes", name_, line));
    line_ += static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
    at_ = end - 1;
  }

  void add(std::string_view text, std::uint32_t line) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
      text.remove_suffix(1);
    }
    if (text.empty()) return;
    if (lines_.size() == kMostStatements) {
      fail_input(fmt::format("{}: has more than {} statements", name_, kMostStatements));
    }
    lines_.push_back({text, line, indent_});
  }

  std::string_view text_;
  const std::string& name_;
  std::vector<PythonStatement> lines_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t indent_ = 0;
};

/// Returns the first position outside of string literals and comments for which `holds` is true,
/// given the number of open brackets there (a closing bracket counts as outside of its pair); else
/// the length of the text.
template <class Holds>
std::size_t find_outside(std::string_view text, std::size_t at, const Holds& holds) {
  std::int64_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_python_string(text, at) - 1;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else {
      if (closes(c)) --depth;
      if (holds(at, depth)) return at;
      if (opens(c)) ++depth;
    }
  }
  return text.size();
}

}  // namespace

std::size_t end_of_python_string(std::string_view text, std::size_t at) {
  const std::string_view quotes = text.substr(at);
  const char quote = text[at];
  const bool triple = quotes.size() >= 3 && quotes[1] == quote && quotes[2] == quote;
  const std::size_t width = triple ? 3 : 1;
  for (std::size_t i = at + width; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (!triple && text[i] == '\n') {
      break;
    } else if (text[i] == quote && (!triple || text.substr(i, 3) == quotes.substr(0, 3))) {
      return i + width;
    }
  }
  return text.size() + 1;
}

std::size_t closing_python_bracket_position(std::string_view text, std::size_t at) {
  return find_outside(text, at, [&](std::size_t here, std::int64_t depth) {
    return depth == 0 && closes(text[here]);
  });
}

std::size_t find_python_operator(std::string_view text, std::string_view sign) {
  const std::size_t at = find_outside(text, 0, [&](std::size_t here, std::int64_t depth) {
    return depth == 0 && text.substr(here).starts_with(sign);
  });
  return at < text.size() ? at : std::string_view::npos;
}

std::size_t end_of_python_item(std::string_view text, std::size_t at, std::string_view stops) {
  return find_outside(text, at, [&](std::size_t here, std::int64_t depth) {
    return depth < 0 || (depth == 0 && stops.find(text[here]) != std::string_view::npos);
  });
}

bool starts_python_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  return text.size() == word.size() || !is_python_name_char(text[word.size()]);
}

bool is_python_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<PythonStatement> split_python_statements(std::string_view text,
                                                     const std::string& name) {
  return Splitter(text, name).lines();
}

std::vector<PythonFunction> python_functions(std::span<const PythonStatement> lines) {
  std::vector<PythonFunction> functions;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view head = lines[i].text;
    if (lines[i].indent > 0 || !head.starts_with("def ")) continue;
    std::size_t end = i + 1;
    while (end < lines.size() && lines[end].indent > 0) ++end;
    const std::size_t open = std::min(head.find('('), head.size());
    const std::string_view name = trimmed(head.substr(4, open - std::min<std::size_t>(open, 4)));
    functions.push_back({name, lines[i], lines.subspan(i + 1, end - i - 1)});
  }
  return functions;
}

}  // namespace stepwright::launch_scripts

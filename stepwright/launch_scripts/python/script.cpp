#include "stepwright/launch_scripts/python/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

/// Whether a shell takes a word as it stands, and as one.
bool is_safe_word(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:,=+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// A word in quotes, its holes as variables.
std::string quoted_word(const PythonString& word) {
  std::string made = "'";
  for (const char c : word.text) {
    if (c == kHoleBegin) {
      made += "'\"${";
    } else if (c == kHoleEnd) {
      made += "}\"'";
    } else if (c == '\'') {
      made += "'\\''";
    } else {
      made += c;
    }
  }
  return made + "'";
}

/// A text of a shell, its holes as variables.
std::string as_it_is(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == kHoleBegin) {
      made += "${";
    } else {
      made += c == kHoleEnd ? '}' : c;
    }
  }
  return made;
}

/// A piece of a shell's text: blanks, or what stands between blanks outside of quotes.
std::size_t end_of_piece(std::string_view text, std::size_t at) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  if (blank(text[at]) || text[at] == '\n') {
    while (at < text.size() && blank(text[at])) ++at;
    return at < text.size() && text[at] == '\n' ? at + 1 : at;
  }
  char quote = '\0';
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size() && quote != '\'') {
      ++at;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '{') {
      ++depth;
    } else if (c == ')' || c == '}') {
      --depth;
    } else if (depth <= 0 && (blank(c) || c == '\n')) {
      break;
    }
  }
  return at;
}

}  // namespace

std::string PythonScript::placed(const PythonString& word) {
  const std::uint32_t line = word.lines.empty() ? 0 : word.lines.front();
  if (!is_safe_word(word.text) || line == 0) return "";
  auto [name, added] = names_.try_emplace({line, word.text}, "");
  if (added) {
    name->second = fmt::format("_word_{}", names_.size());
    heads_[std::max<std::uint32_t>(line, 2)] += fmt::format("{}='{}'; ", name->second, word.text);
  }
  last_ = std::max(last_, line);
  return "$" + name->second;
}

void PythonScript::add(const std::string& text, std::uint32_t line) {
  last_ = std::max(last_, line);
  commands_.emplace_back(last_, text);
}

void PythonScript::variable(const std::string& name, const PythonString& value,
                            std::uint32_t line) {
  add(fmt::format("export {}={}", name, quoted_word(value)), line);
}

void PythonScript::words(const std::vector<PythonObject>& words, std::uint32_t line) {
  std::string text;
  for (const PythonObject& one : words) {
    const bool many = one.is(ObjectKind::kUnknown) && one.truth;
    const PythonString word = python_str(one);
    std::string said = text.empty() ? "" : placed(word);
    if (many) said = as_it_is(word.text);
    if (said.empty()) said = is_safe_word(word.text) ? word.text : quoted_word(word);
    text += (text.empty() ? "" : " ") + said;
  }
  if (text.empty()) return;
  ++count_;
  add(text, line);
}

void PythonScript::command(const PythonString& text, std::uint32_t line) {
  std::string made;
  bool arguments = false;
  bool documents = text.text.find("<<") != std::string::npos;
  for (std::size_t at = 0; at < text.text.size();) {
    const std::size_t end = std::max(end_of_piece(text.text, at), at + 1);
    const PythonString piece = text.part(at, end - at);
    at = end;
    const bool ends = piece.text.find_first_of(";&|\n") != std::string::npos;
    arguments = !ends && (arguments || piece.text.starts_with('-'));
    const std::string said = arguments && !documents ? placed(piece) : "";
    made += said.empty() ? as_it_is(piece.text) : said;
  }
  if (made.find_first_not_of(" \t\n") == std::string::npos) return;
  ++count_;
  add(made, line);
}

std::string PythonScript::take(const std::string& mentions) const {
  std::string script = "#!/bin/bash  # " + mentions + "\n";
  std::uint32_t line = 2;
  const auto go_to = [&](std::uint32_t place) {
    for (; line < place; ++line) script += '\n';
  };
  auto head = heads_.begin();
  const auto heads_up_to = [&](std::uint32_t place) {
    for (; head != heads_.end() && head->first <= place; ++head) {
      go_to(head->first);
      script += head->second;
    }
  };
  for (const auto& [place, text] : commands_) {
    heads_up_to(place);
    go_to(place);
    script += text;
    // One of several lines, or that ends with a sign that nothing may follow.
    const bool plain = text.find_first_of("\n&;|<#\\") == std::string::npos;
    script += plain ? "; " : "\n";
    line += static_cast<std::uint32_t>(std::ranges::count(text, '\n')) + (plain ? 0 : 1);
  }
  return script + "\n";
}

}  // namespace stepwright::launch_scripts

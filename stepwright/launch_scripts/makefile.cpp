#include "stepwright/launch_scripts/makefile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/trimmed.h"

namespace stepwright::launch_scripts {
namespace {

constexpr std::string_view kBlanks = " \t";
/// Variable that stands for the result of a function of Make or just, which is not evaluated.
constexpr std::string_view kUnknownCall = "${computed}";

/// Returns the position after the bracket that closes the one at `at`.
std::size_t end_of_brackets(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '(' ? ')' : '}';
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

class Recipes {
 public:
  explicit Recipes(bool just) : just_(just) {}

  void add_line(std::string_view line) {
    const bool goes_on = line.ends_with('\\');
    std::string out = std::exchange(closed_, "");
    if (continued_) {
      out += converted(line);
    } else {
      const std::string rest = statement(line);
      out += (out.empty() || rest.empty() ? "" : "; ") + rest;
    }
    if (!goes_on) {
      out += std::exchange(end_of_assignment_, "");
      // The bracket stands on the next line, because a comment can end this one.
      if (std::exchange(in_recipe_, false)) closed_ = ")";
    }
    continued_ = goes_on;
    text_ += out + "\n";
  }
  [[nodiscard]] std::string take() && { return text_ + closed_ + "\n"; }

 private:
  /// Returns a line that continues none as text of a shell.
  std::string statement(std::string_view line) {
    const bool indented = line.starts_with('\t') || (just_ && line.starts_with(' '));
    std::string_view text = trimmed(line);
    if (indented) {
      while (!text.empty() && std::string_view("@-+").find(text.front()) != std::string_view::npos)
        text.remove_prefix(1);
      if (text.empty() || text.front() == '#') return "";
      in_recipe_ = true;
      return "( " + converted(text);
    }
    if (text.empty() || text.front() == '#') return "";
    const std::size_t sign = text.find_first_of("=:");
    if (sign == std::string_view::npos) return "";
    const std::size_t equals = text.find('=', sign);
    const bool assigns =
        text[sign] == '=' || (equals != std::string_view::npos && equals - sign <= 2 &&
                              text.substr(sign, equals - sign).find(' ') == std::string_view::npos);
    return assigns ? assignment(text, sign, equals) : target(text, sign);
  }

  std::string assignment(std::string_view text, std::size_t sign, std::size_t equals) {
    std::string_view name = text.substr(0, sign);
    const char kind = name.empty() ? '=' : name.back();
    if (kind == '?' || kind == '+') name.remove_suffix(1);
    name = trimmed(name);
    const std::size_t blank = name.find_last_of(kBlanks);
    const bool exports = name.starts_with("export ");
    if (blank != std::string_view::npos) name.remove_prefix(blank + 1);
    if (!is_variable_name(name)) return "";
    std::string_view value = trimmed(text.substr(equals + 1));
    if (!just_) value = trimmed(value.substr(0, value.find(" #")));
    const std::string head = fmt::format("{}{}=", exports ? "export " : "", name);
    if (just_) {
      const bool quoted = value.starts_with('\'') || value.starts_with('"');
      return head + (quoted ? std::string(value) : std::string(kUnknownCall));
    }
    std::string inside;
    for (const char c : converted(value)) inside += c == '"' ? "\\\"" : std::string(1, c);
    end_of_assignment_ = kind == '?' ? "}\"" : "\"";
    if (kind == '?') return fmt::format("{}\"${{{}:-{}", head, name, inside);
    return fmt::format("{}\"{}{}", head, kind == '+' ? fmt::format("${{{}}} ", name) : "", inside);
  }

  /// Begins a target: "name: prerequisites", or "name parameter='x': dependencies" of a justfile.
  std::string target(std::string_view text, std::size_t colon) {
    target_ = trimmed(text.substr(0, colon));
    first_ = trimmed(text.substr(colon + 1));
    first_ = first_.substr(0, first_.find(' '));
    return "";
  }

  /// Returns a text with the variables of Make or just in the form of a shell.
  std::string converted(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view rest = text.substr(at);
      const bool marked = just_ ? rest.starts_with("{{") : rest.front() == '$' && rest.size() > 1;
      if (!marked) {
        out += text[at++];
        continue;
      }
      const bool bracket = just_ || rest[1] == '(' || rest[1] == '{';
      const std::size_t end = bracket ? end_of_brackets(rest, just_ ? 0 : 1) : 2;
      out += variable(rest.substr(0, end));
      at += end;
    }
    return out;
  }

  /// Returns "${NAME}" for "$(NAME)" or "{{NAME}}".
  std::string variable(std::string_view text) const {
    if (!just_ && text.size() == 2) {
      switch (text[1]) {
        case '$': return "$";
        case '@': return target_;
        case '<': return first_;
        case '*': return "${stem}";
        default: return fmt::format("${{{}}}", text[1]);
      }
    }
    const std::size_t edge = just_ ? 2 : 1;
    std::string_view inside = text.substr(2, text.size() - 2 - edge);
    inside = trimmed(inside);
    if (!just_ && inside.starts_with("shell "))
      return fmt::format("$({})", converted(inside.substr(6)));
    if (!is_variable_name(inside)) return std::string(kUnknownCall);
    return fmt::format("${{{}}}", inside);
  }

  bool just_;
  bool continued_ = false, in_recipe_ = false;
  std::string text_, closed_, end_of_assignment_;
  std::string target_, first_;  ///< Name of the target, and its first prerequisite.
};

}  // namespace

std::optional<SourceFile> makefile_script(const SourceFile& file) {
  const std::string_view name = last_path_part(file.name);
  const bool just = name == "justfile" || name == "Justfile" || name.ends_with(".just");
  const bool make = name == "Makefile" || name == "makefile" || name == "GNUmakefile" ||
                    name.starts_with("Makefile.") || name.ends_with(".mk");
  if (!just && !make) return std::nullopt;
  Recipes recipes(just);
  for (std::string_view text = file.text; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    recipes.add_line(line);
  }
  std::string script = std::move(recipes).take();
  // The first line says that a shell reads the file; what it holds moves to the second line.
  const std::size_t end = script.find('\n');
  const bool continued = end > 0 && script[end - 1] == '\\';
  if (end > 0 && !continued) script.replace(end, 1, ";");
  return SourceFile{file.name, (end > 0 ? "#!/bin/bash\n" : "#!/bin/bash") + script};
}

}  // namespace stepwright::launch_scripts

#include "stepwright/launch_scripts/shell/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::launch_scripts {
namespace {

using Lines = std::vector<std::string>;
using FilterWords = std::vector<std::string>;

Lines parts_of(std::string_view text, char mark) {
  Lines parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string text_of_lines(const Lines& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

/// Splits a line at blanks.
Lines fields_of_line(const std::string& line) {
  Lines fields = parts_of(line, ' ');
  std::erase(fields, "");
  return fields;
}

/// Returns the value of a one-letter option: `-n 3`, `-n3`; nullopt if it is absent.
std::optional<std::string> letter_option(const FilterWords& words, char letter) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-' || word[1] != letter) continue;
    if (word.size() > 2) return word.substr(2);
    if (i + 1 < words.size()) return words[i + 1];
  }
  return std::nullopt;
}

bool has_flag(const FilterWords& words, char letter) {
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return word.starts_with('-') && word.find(letter) != std::string::npos;
  });
}

std::optional<std::string> counted_text(const FilterWords& words, const std::string& text) {
  if (words.size() != 2) return std::nullopt;
  const Lines lines = parts_of(text, '\n');
  if (words[1] == "-l") return std::to_string(lines.size());
  if (words[1] != "-w") return std::nullopt;
  std::size_t count = 0;
  for (const std::string& line : lines) count += fields_of_line(line).size();
  return std::to_string(count);
}

/// Returns the first or last lines: `-n 3`, `-n3`, `-3`.
std::optional<std::string> lines_at_end(const FilterWords& words, Lines lines) {
  std::int64_t count = 10;
  if (words.size() > 1) {
    std::optional<std::string> said = letter_option(words, 'n');
    if (!said && words[1].starts_with('-')) said = words[1].substr(1);
    const auto number = said ? shell_integer(*said) : std::nullopt;
    if (!number || *number < 0) return std::nullopt;
    count = *number;
  }
  const std::size_t kept = std::min<std::size_t>(static_cast<std::size_t>(count), lines.size());
  if (words.front() == "head") {
    lines.resize(kept);
  } else {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kept));
  }
  return text_of_lines(lines);
}

/// Applies `cut -d X -f N` to each line.
std::optional<std::string> cut_text(const FilterWords& words, Lines lines) {
  const std::string mark = letter_option(words, 'd').value_or("\t");
  const auto number = shell_integer(letter_option(words, 'f').value_or(""));
  if (mark.size() != 1 || !number || *number < 1) return std::nullopt;
  for (std::string& line : lines) {
    const Lines fields = parts_of(line, mark.front());
    if (fields.size() < 2) continue;
    const auto place = static_cast<std::size_t>(*number);
    line = place <= fields.size() ? fields[place - 1] : "";
  }
  return text_of_lines(lines);
}

/// Returns the character of a one-character set of `tr`; nullopt if the set has others.
std::optional<char> one_character(const std::string& set) {
  if (set.size() == 1) return set.front();
  if (set == "\\n") return '\n';
  if (set == "[:space:]") return ' ';
  return std::nullopt;
}

std::optional<std::string> translated_text(const FilterWords& words, std::string text) {
  if (words.size() != 3) return std::nullopt;
  const bool erases = words[1] == "-d";
  const auto from = one_character(erases ? words[2] : words[1]);
  const auto to = erases ? from : one_character(words[2]);
  if (!from || !to) return std::nullopt;
  if (erases) {
    std::erase(text, *from);
  } else {
    std::ranges::replace(text, *from, *to);
  }
  return text;
}

/// Splits a line into awk's fields: at blanks, or at a separator.
Lines awk_fields(const std::string& line, std::string_view mark) {
  return mark.empty() ? fields_of_line(line) : parts_of(line, mark.front());
}

/// Evaluates `awk '{print $1}'`, `awk -F, '{print NF}'` and `awk 'END{print NR}'`.
std::optional<std::string> awk_text(const FilterWords& words, Lines lines) {
  std::string mark;
  std::size_t at = 1;
  if (words.size() > 2 && words[1].starts_with("-F")) {
    const bool apart = words[1].size() == 2;
    mark = apart ? words[2] : words[1].substr(2);
    at = apart ? 3 : 2;
    if (mark.size() != 1) return std::nullopt;
  }
  if (words.size() != at + 1) return std::nullopt;
  std::string program = words[at];
  std::erase(program, ' ');
  if (program == "END{printNR}") return std::to_string(lines.size());
  if (program == "{printNF}") {
    for (std::string& line : lines) line = std::to_string(awk_fields(line, mark).size());
    return text_of_lines(lines);
  }
  constexpr std::string_view kPrint = "{print$";
  if (!program.starts_with(kPrint) || !program.ends_with('}')) return std::nullopt;
  const auto number =
      shell_integer(program.substr(kPrint.size(), program.size() - kPrint.size() - 1));
  if (!number || *number < 1) return std::nullopt;
  for (std::string& line : lines) {
    const Lines fields = awk_fields(line, mark);
    const auto place = static_cast<std::size_t>(*number);
    line = place <= fields.size() ? fields[place - 1] : "";
  }
  return text_of_lines(lines);
}

/// Returns one line for each occurrence of a text in the lines.
Lines matches_of(const Lines& lines, const std::string& wanted) {
  Lines matches;
  for (const std::string& line : lines) {
    for (std::size_t at = line.find(wanted); at != std::string::npos;
         at = line.find(wanted, at + wanted.size())) {
      matches.push_back(wanted);
    }
  }
  return matches;
}

/// Evaluates `grep TEXT`, also with -c, -v and -o, for plain texts and `.`.
std::optional<std::string> matching_lines(const FilterWords& words, Lines lines) {
  std::string flags;
  std::size_t at = 1;
  for (; at < words.size() && words[at].starts_with('-'); ++at) flags += words[at].substr(1);
  if (words.size() != at + 1 || flags.find_first_not_of("cvoF") != std::string::npos) {
    return std::nullopt;
  }
  const std::string& wanted = words[at];
  const bool any = wanted == "." && flags.find('F') == std::string::npos;
  if (!any && (wanted.empty() || wanted.find_first_of("^$*[].\\\n") != std::string::npos)) {
    return std::nullopt;
  }
  const auto has = [&](char flag) { return flags.find(flag) != std::string::npos; };
  const auto matches = [&](const std::string& line) {
    return any ? !line.empty() : line.find(wanted) != std::string::npos;
  };
  if (has('o') && (any || has('v') || has('c'))) return std::nullopt;
  if (has('o')) return text_of_lines(matches_of(lines, wanted));
  std::erase_if(lines, [&](const std::string& line) { return matches(line) == has('v'); });
  return has('c') ? std::to_string(lines.size()) : text_of_lines(lines);
}

}  // namespace

std::optional<std::string> apply_shell_pipe_filter(const FilterWords& words,
                                                   const std::string& text) {
  if (words.empty()) return std::nullopt;
  const std::string& name = words.front();
  if (name == "cat" || name == "tee") return text;
  if (!is_fully_known_script_text(text)) return std::nullopt;
  Lines lines = parts_of(text, '\n');
  if (name == "wc") return counted_text(words, text);
  if (name == "head" || name == "tail") return lines_at_end(words, std::move(lines));
  if (name == "cut") return cut_text(words, std::move(lines));
  if (name == "tr") return translated_text(words, text);
  if (name == "awk") return awk_text(words, std::move(lines));
  if (name == "grep") return matching_lines(words, std::move(lines));
  if (name == "sort") {
    std::ranges::sort(lines);
    if (!has_flag(words, 'u')) return text_of_lines(lines);
  }
  if (name != "sort" && (name != "uniq" || words.size() > 1)) return std::nullopt;
  const auto repeated = std::ranges::unique(lines);
  lines.erase(repeated.begin(), repeated.end());
  return text_of_lines(lines);
}

}  // namespace stepwright::launch_scripts

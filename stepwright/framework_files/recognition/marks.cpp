#include "stepwright/framework_files/recognition/marks.h"

#include <algorithm>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<FileRecognitionRule::In> kFileKinds[] = {
    {FileRecognitionRule::In::kScripts, "scripts"}, {FileRecognitionRule::In::kFiles, "files"}};

/// Returns the texts of a list, or a single text as a list.
std::vector<std::string> texts_of(DocumentNode node) {
  if (node.is_scalar()) return {node.text()};
  return node.as_text_list();
}

bool holds_text(const SourceFile& file, std::string_view text) {
  const bool line = text.starts_with('\n');
  return file_contains_text(file, text) || (line && file.text.starts_with(text.substr(1)));
}

CommandWordCondition read_word_mark(DocumentNode node) {
  if (node.is_scalar()) return {.patterns = {node.text()}};
  node.allow_only_keys({"word", "base", "flag", "lacks", "next"});
  CommandWordCondition mark;
  if (const auto words = node.find("word")) {
    mark.patterns = texts_of(*words);
  } else if (const auto base = node.find("base")) {
    mark.of = CommandWordCondition::ComparedWordPart::kBase;
    mark.patterns = texts_of(*base);
  } else {
    mark.of = CommandWordCondition::ComparedWordPart::kFlag;
    mark.patterns = texts_of(node.get("flag"));
  }
  if (const auto lacks = node.find("lacks")) mark.lacks = texts_of(*lacks);
  if (const auto next = node.find("next")) mark.next = texts_of(*next);
  return mark;
}

std::vector<CommandWordCondition> read_alternatives(DocumentNode node) {
  if (!node.is_sequence()) return {read_word_mark(node)};
  std::vector<CommandWordCondition> marks;
  for (std::size_t i = 0; i < node.size(); ++i) marks.push_back(read_word_mark(node.at(i)));
  return marks;
}

bool matches_any(std::span<const std::string> patterns, std::string_view text) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return matches_wildcard_pattern(pattern, text);
  });
}

/// True if the first of some words fits a rule.
bool begins_with_mark(Words words, const CommandWordCondition& mark) {
  std::string_view text = words.front().text;
  text.remove_prefix(std::min(text.find_first_not_of('+'), text.size()));
  std::string_view part = text;
  if (mark.of == CommandWordCondition::ComparedWordPart::kBase) part = last_path_part(text);
  if (mark.of == CommandWordCondition::ComparedWordPart::kFlag)
    part = text.substr(0, text.find('='));
  if (!matches_any(mark.patterns, part) || matches_any(mark.lacks, text)) return false;
  return mark.next.empty() || (words.size() > 1 && matches_any(mark.next, words[1].text));
}

}  // namespace

bool matches_wildcard_pattern(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (;;) {
    const std::size_t end = pattern.find('*');
    if (end == std::string_view::npos) return text.ends_with(pattern);
    const std::size_t at = text.find(pattern.substr(0, end));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end);
    pattern.remove_prefix(end + 1);
  }
}

FileRecognitionRule read_file_recognition_rule(DocumentNode node) {
  node.allow_only_keys({"in", "part", "begins", "holds", "lacks"});
  FileRecognitionRule mark;
  if (const auto in = node.find("in")) mark.in = in->choice(kFileKinds);
  if (const auto part = node.find("part")) mark.part = part->text();
  if (const auto begins = node.find("begins")) mark.begins = begins->text();
  const DocumentNode holds = node.get("holds");
  if (holds.is_scalar()) mark.holds = {{holds.text()}};
  for (std::size_t i = 0; holds.is_sequence() && i < holds.size(); ++i) {
    mark.holds.push_back(texts_of(holds.at(i)));
  }
  if (const auto lacks = node.find("lacks")) mark.lacks = texts_of(*lacks);
  return mark;
}

bool has_mark(const SourceFile& file, const FileRecognitionRule& mark) {
  if (mark.in != FileRecognitionRule::In::kAny &&
      is_shell_script(file) != (mark.in == FileRecognitionRule::In::kScripts)) {
    return false;
  }
  const std::size_t first = std::min(file.text.find_first_not_of(" \t\r\n"), file.text.size());
  if (!std::string_view(file.text).substr(first).starts_with(mark.begins)) return false;
  const auto has = [&](const std::string& text) { return holds_text(file, text); };
  return std::ranges::all_of(
             mark.holds,
             [&](const std::vector<std::string>& any) { return std::ranges::any_of(any, has); }) &&
         std::ranges::none_of(mark.lacks, has);
}

CommandRecognitionRule read_command_recognition_rule(DocumentNode node) {
  CommandRecognitionRule mark;
  std::optional<DocumentNode> all;
  if (node.is_mapping() && (all = node.find("all"))) {
    node.allow_only_keys({"part", "all"});
    mark.part = node.get("part").text();
  }
  const DocumentNode words = all.value_or(node);
  if (!words.is_sequence()) mark.words.push_back({read_word_mark(words)});
  for (std::size_t i = 0; words.is_sequence() && i < words.size(); ++i) {
    mark.words.push_back(read_alternatives(words.at(i)));
  }
  return mark;
}

bool has_mark(Words words, const CommandRecognitionRule& mark) {
  const auto has = [&](const CommandWordCondition& one) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (begins_with_mark(words.subspan(i), one)) return true;
    }
    return false;
  };
  return std::ranges::all_of(mark.words, [&](const std::vector<CommandWordCondition>& any) {
    return std::ranges::any_of(any, has);
  });
}

}  // namespace stepwright::framework_files

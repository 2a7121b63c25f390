#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// True if a text matches a pattern, in which each `*` stands for any number of characters.
bool matches_wildcard_pattern(std::string_view pattern, std::string_view text);

/// A rule that recognises the files of one program by texts that they contain.
struct FileRecognitionRule {
  enum class In : std::uint8_t { kAny, kScripts, kFiles };

  /// Name by which code selects this rule for recognising files alone; empty: the rule is used only
  /// with all others.
  std::string part;
  /// Files to which the rule applies: all, shell scripts only, or all but shell scripts.
  In in = In::kAny;
  std::string begins;  ///< Text with which the file must begin, after blanks; empty: any.
  /// Texts that the file must contain: at least one from each inner list. A text that begins with a
  /// newline also matches at the start of the file.
  std::vector<std::vector<std::string>> holds;
  /// Texts that a file must not contain to be recognised as the program's.
  std::vector<std::string> lacks;
};

/// Reads a rule for recognising files from YAML: `{in, part, begins, holds, lacks}`; `holds` is one
/// text, or a list of texts and of lists of alternatives.
FileRecognitionRule read_file_recognition_rule(DocumentNode node);

bool has_mark(const SourceFile& file, const FileRecognitionRule& mark);

/// A condition on one word of a shell command that helps to recognise the started program. Hydra's
/// plus signs before a word are ignored.
struct CommandWordCondition {
  /// Part of the word that is compared: kWord: the whole word, kBase: its file name without
  /// folders, kFlag: the text before its equals sign.
  enum class ComparedWordPart : std::uint8_t { kWord, kBase, kFlag };

  ComparedWordPart of = ComparedWordPart::kWord;
  /// Patterns (`*`: any characters) of which the compared part of the word must match one.
  std::vector<std::string> patterns;
  /// Patterns (`*`: any characters) that the whole word of the command must not match.
  std::vector<std::string> lacks;
  /// Patterns of which the next word of the command must match one; empty: any next word, or none.
  std::vector<std::string> next;
};

/// A rule that recognises shell commands that start one training program.
struct CommandRecognitionRule {
  /// Name by which code selects this rule for recognising commands alone; empty: the rule is used
  /// only with all others.
  std::string part;
  /// Conditions on the command's words: for each inner list, some word must fulfil at least one of
  /// its conditions.
  std::vector<std::vector<CommandWordCondition>> words;
};

/// Reads a rule for recognising commands from YAML: one condition, a list of conditions that must
/// all hold, or `{part, all}`. A condition is a pattern, `{word | base | flag, lacks, next}`, or,
/// in a list, a list of alternatives.
CommandRecognitionRule read_command_recognition_rule(DocumentNode node);

bool has_mark(Words words, const CommandRecognitionRule& mark);

}  // namespace stepwright::framework_files

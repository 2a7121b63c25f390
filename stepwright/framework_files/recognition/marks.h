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
bool matches(std::string_view pattern, std::string_view text);

/// A rule that recognises a program's files by their contents.
struct FileMark {
  enum class In : std::uint8_t { kAny, kScripts, kFiles };

  std::string part;  ///< Name under which a reader asks for this mark; empty: no reader does.
  /// Whether the mark applies to shell scripts only, to other files only, or to all.
  In in = In::kAny;
  std::string begins;  ///< First characters of the file after blanks; empty: any.
  /// For each list, the file must contain one of its texts. A text that begins with a newline also
  /// matches at the start of the file.
  std::vector<std::vector<std::string>> holds;
  std::vector<std::string> lacks;  ///< The file must contain none of these texts.
};

/// Reads `{in, part, begins, holds, lacks}`; `holds` is one text, or a list of texts and of lists
/// of alternatives.
FileMark read_file_mark(Node node);

bool has_mark(const SourceFile& file, const FileMark& mark);

/// A rule for one word of a command that identifies its program. Leading plus signs, which belong
/// to Hydra, are ignored.
struct WordMark {
  /// Which part of the word is compared: the whole word, the last part of its path, or the part
  /// before its equals sign.
  enum class Of : std::uint8_t { kWord, kBase, kFlag };

  Of of = Of::kWord;
  std::vector<std::string> patterns;  ///< The compared part must match one of these patterns.
  std::vector<std::string> lacks;     ///< The whole word must match none of these patterns.
  /// The next word must match one of these; empty: any word, or none.
  std::vector<std::string> next;
};

/// A rule that recognises a command that starts a program.
struct StartMark {
  std::string part;  ///< Name under which a reader asks for this mark; empty: no reader does.
  /// For each list, the command must have a word that fits one of its rules.
  std::vector<std::vector<WordMark>> words;
};

/// Reads one condition, a list of conditions that must all hold, or `{part, all}`. A condition is a
/// pattern or `{word | base | flag, lacks, next}`; in a list it can also be a list of alternatives.
StartMark read_start_mark(Node node);

bool has_mark(Words words, const StartMark& mark);

}  // namespace stepwright::framework_files

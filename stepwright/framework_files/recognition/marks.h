#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// True if a text is as a pattern says, in which each `*` stands for any characters or none.
bool matches(std::string_view pattern, std::string_view text);

/// A way to tell the files of a program by what they hold.
struct FileMark {
  enum class In : std::uint8_t { kAny, kScripts, kFiles };

  std::string part;    ///< Name under which a reader asks for this mark; empty: none does.
  In in = In::kAny;    ///< Shell scripts alone, or all other files alone.
  std::string begins;  ///< First characters behind blanks; empty: any.
  /// A file holds one text of each list. A text that begins with a new line stands at the start of
  /// the file, too.
  std::vector<std::vector<std::string>> holds;
  std::vector<std::string> lacks;  ///< A file holds none of these texts.
};

/// Reads `{in, part, begins, holds, lacks}`; `holds` is one text or a list, whose elements are
/// texts or lists of alternatives.
FileMark read_file_mark(Node node);

bool has_mark(const SourceFile& file, const FileMark& mark);

/// A word of a command that tells its program. Plus signs in front of a word, which are Hydra's,
/// are passed over.
struct WordMark {
  /// The whole word, the last part of its path, or what stands before its equals sign.
  enum class Of : std::uint8_t { kWord, kBase, kFlag };

  Of of = Of::kWord;
  std::vector<std::string> patterns;  ///< It is as one of these says.
  std::vector<std::string> lacks;     ///< The whole word is as none of these says.
  std::vector<std::string> next;      ///< The word behind it is one of these; empty: any, or none.
};

/// A way to tell a command that starts a program.
struct StartMark {
  std::string part;  ///< Name under which a reader asks for this mark; empty: none does.
  std::vector<std::vector<WordMark>> words;  ///< The command has a word of each list.
};

/// Reads one condition, a list of conditions that all hold, or `{part, all}`. A condition is a
/// pattern, `{word | base | flag, lacks, next}`, or within a list a list of alternatives.
StartMark read_start_mark(Node node);

bool has_mark(Words words, const StartMark& mark);

}  // namespace stepwright::framework_files

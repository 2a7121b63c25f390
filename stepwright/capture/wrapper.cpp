#include "stepwright/capture/wrapper.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

/// Returns the folders of stand-ins in the form in which PATH begins with them.
std::string front_folders(const ScriptCaptureContext& context) {
  std::string front = (context.folder / "bin").string();
  if (context.is_file_writing_disabled()) {
    front += ":" + (context.folder / "writers").string();
  }
  return front;
}

bool is_launcher_by_path(const ScriptCaptureContext& context, const std::string& word) {
  if (word.find('/') == std::string::npos || word.starts_with(context.folder.string()))
    return false;
  const auto kind = find_stand_in_kind(launch_scripts::last_path_part(word));
  return kind && is_launching_program_kind(*kind);
}

/// Adds the capture's variables that programs started by `env -i` need.
void add_capture_variables(const ScriptCaptureContext& context, Words& words) {
  for (const auto& [name, value] : process_environment()) {
    if (name.starts_with("STEPWRIGHT_CAPTURE") || name == "BASH_ENV") {
      words.push_back(name + "=" + value);
    }
  }
  words.push_back("PATH=" + front_folders(context) + ":/usr/local/bin:/usr/bin:/bin");
}

Words env_words(const ScriptCaptureContext& context, const Words& words) {
  Words kept = {words.front()};
  bool options = true;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (options && (word == "-i" || word == "-" || word == "--ignore-environment")) {
      kept.emplace_back("-i");
      add_capture_variables(context, kept);
    } else if (options && word.starts_with("PATH=")) {
      kept.push_back("PATH=" + front_folders(context) + ":" + word.substr(5));
    } else {
      kept.push_back(word);
      const bool takes_value = word == "-u" || word == "-C" || word == "-S";
      if (options && takes_value && i + 1 < words.size()) kept.push_back(words[++i]);
      options = options && (word.starts_with('-') || word.find('=') != std::string::npos);
    }
  }
  return kept;
}

Words tail_words(const Words& words) {
  Words kept;
  for (const std::string& word : words) {
    const bool follows = word == "-f" || word == "-F" || word.starts_with("--follow") ||
                         word == "--retry" || word.starts_with("--pid=");
    if (!follows) kept.push_back(word);
  }
  return kept;
}

}  // namespace

Words rewrite_wrapper_command_for_capture(const ScriptCaptureContext& context, const Words& words) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  if (name == "tail") return tail_words(words);
  Words kept = name == "env" ? env_words(context, words) : words;
  for (std::size_t i = 1; i < kept.size(); ++i) {
    if (!is_launcher_by_path(context, kept[i])) continue;
    ::setenv(kReplacedProgramPathVariable, kept[i].c_str(), 1);
    kept[i] = (context.folder / "bin" / launch_scripts::last_path_part(kept[i])).string();
    break;
  }
  return kept;
}

}  // namespace stepwright::capture

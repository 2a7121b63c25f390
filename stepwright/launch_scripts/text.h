#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// A text that a person gave, and the name under which messages speak of it.
struct SourceFile {
  std::string name;
  std::string text;
};

/// Whether a file has these characters anywhere.
inline bool holds(const launch_scripts::SourceFile& file, std::string_view text) {
  return file.text.find(text) != std::string::npos;
}

/// Whether a file is a script of a shell, by its first line or its name.
inline bool is_shell_script(const launch_scripts::SourceFile& file) {
  const std::string_view text = file.text;
  if (text.starts_with("#!")) return text.substr(0, text.find('\n')).find("sh") != text.npos;
  for (const std::string_view end : {".sh", ".bash", ".slurm", ".sbatch", ".sub"}) {
    if (file.name.ends_with(end)) return true;
  }
  // What scripts source.
  return (file.name.ends_with(".conf") || file.name.ends_with(".env")) &&
         launch_scripts::holds(file, "export ");
}

}  // namespace stepwright::launch_scripts

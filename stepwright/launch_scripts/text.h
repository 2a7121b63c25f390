#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
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

/// The number that a text of digits is, perhaps behind a minus; nullopt for any other text.
inline std::optional<std::int64_t> number_in_digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "c" of "a/b/c"; a text without a slash as it is.
inline std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
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

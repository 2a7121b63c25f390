#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// A file that the user passed in: its text, and its name for messages.
struct SourceFile {
  std::string name;
  std::string text;
};

/// True if a file contains this text.
inline bool file_contains_text(const launch_scripts::SourceFile& file, std::string_view text) {
  return file.text.find(text) != std::string::npos;
}

/// Returns the integer that a text of digits stands for, with or without a minus; nullopt for any
/// other text.
inline std::optional<std::int64_t> integer_from_digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the last part of a path: "c" of "a/b/c"; the whole text if it has no slash.
inline std::string_view last_path_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// True if a text can be the name of a variable of a shell.
inline bool is_variable_name(std::string_view name) {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && (name.front() < '0' || name.front() > '9') &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

/// True if a file is a shell script, by its first line or its name.
inline bool is_shell_script(const launch_scripts::SourceFile& file) {
  const std::string_view text = file.text;
  if (text.starts_with("#!")) return text.substr(0, text.find('\n')).find("sh") != text.npos;
  for (const std::string_view end : {".sh", ".bash", ".slurm", ".sbatch", ".sub"}) {
    if (file.name.ends_with(end)) return true;
  }
  // Files that scripts source.
  return (file.name.ends_with(".conf") || file.name.ends_with(".env")) &&
         launch_scripts::file_contains_text(file, "export ");
}

}  // namespace stepwright::launch_scripts

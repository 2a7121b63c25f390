#include "stepwright/answers/job_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "stepwright/capture/record_sources.h"
#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/core/input_file.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/text.h"
#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/readers/format.h"

namespace stepwright::answers {
namespace {

/// Bytes of a file that are looked at.
constexpr std::size_t kMostLooked = std::size_t{64} << 10;
/// Share of lines that have the form of a configuration where a file is one: by its content alone,
/// and where it is named as one, whose values may go over several lines.
constexpr double kMostLines = 0.9;
constexpr double kHalfOfLines = 0.5;

bool ends_as(const GivenFile& file, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return file.name.ends_with(ending); });
}

/// The beginning of a file, unpacked; nullopt: it cannot be read, or only once.
std::optional<std::string> beginning_of(const GivenFile& file) {
  if (file.text) return file.text->substr(0, kMostLooked);
  try {
    if (!is_plain_file(file.name)) return std::nullopt;
    return std::string(
        logs::ByteSource(std::filesystem::path(file.name)).beginning().substr(0, kMostLooked));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Calls `take` with each line that is neither blank nor a comment, from its first word on.
template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line.front() != '#') take(line);
  }
}

bool is_name(std::string_view text) {
  constexpr std::string_view kNameBytes =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./\"'@";
  return !text.empty() && text.find_first_not_of(kNameBytes) == std::string_view::npos;
}

/// "name: value", "name:", "- item".
bool is_yaml_line(std::string_view line) {
  if (line.starts_with("- ") || line == "-" || line == "---") return true;
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && is_name(line.substr(0, colon)) &&
         (colon + 1 == line.size() || line[colon + 1] == ' ');
}

/// "[section]", "[[sections]]", "name = value", an element of a list that goes on.
bool is_toml_line(std::string_view line) {
  if (line.front() == '[' && line.back() == ']') {
    const std::string_view open = line.substr(0, line.find_last_not_of(']') + 1);
    return is_name(open.substr(std::min(open.find_first_not_of('['), open.size())));
  }
  const std::size_t equals = line.find(" = ");
  return (equals != std::string_view::npos && is_name(line.substr(0, equals))) || line == "]" ||
         line.front() == '"';
}

/// True if that share of lines is as `is_line` says, and there are some.
bool most_lines(std::string_view text, bool (*is_line)(std::string_view),
                double share = kMostLines) {
  std::int64_t all = 0;
  std::int64_t good = 0;
  each_line(text, [&](std::string_view line) {
    ++all;
    if (is_line(line)) ++good;
  });
  return good > 0 && static_cast<double>(good) >= share * static_cast<double>(all);
}

/// "import x", "from x import y".
bool is_import(std::string_view line) {
  return line.starts_with("import ") ||
         (line.starts_with("from ") && line.find(" import ") != std::string_view::npos);
}

/// True if a text begins as a program in Python does, and imports something.
bool is_python(std::string_view text) {
  std::string_view first;
  bool imports = false;
  each_line(text, [&](std::string_view line) {
    if (first.empty()) first = line;
    imports = imports || is_import(line);
  });
  constexpr std::string_view kBegins[] = {"def ", "class ", "@", "\"\"\"", "'''"};
  return imports && (is_import(first) || std::ranges::any_of(kBegins, [&](std::string_view begin) {
                       return first.starts_with(begin);
                     }));
}

bool has_framework_mark(const launch_scripts::SourceFile& file) {
  const std::vector<std::string> words = framework_files::import_words();
  return std::ranges::any_of(
      words, [&](const std::string& word) { return framework_files::is_file_of(word, file); });
}

/// True if a document of JSON has the form of a log that is read.
bool is_known_log(const launch_scripts::SourceFile& file) try {
  logs::ByteSource bytes(file.text, file.name);
  logs::recognise_log(bytes);
  return true;
} catch (const Error&) {
  return false;
}

/// True if a document of JSON is what a job left: a log, a document on each line, or the state of a
/// trainer with its history.
bool is_left_json(const launch_scripts::SourceFile& file) {
  constexpr std::string_view kLeftKeys[] = {"segments", "device_traces", "log_history", "loss"};
  if (file.text.find("\n{") != std::string::npos) return true;
  const logs::JsonOutline outline = logs::json_outline(file.text);
  const bool left = std::ranges::any_of(kLeftKeys, [&](std::string_view key) {
    return std::ranges::find(outline.keys, key) != outline.keys.end();
  });
  return left || outline.list || (is_known_log(file) && !has_framework_mark(file));
}

bool starts_job(const GivenFile& file, const std::string& text) {
  const launch_scripts::SourceFile source{file.name, text};
  if (launch_scripts::is_shell_script(source)) return true;
  if (text.starts_with("#SBATCH") || text.starts_with("#PBS")) return true;
  if (is_python(text)) return true;
  if (ends_as(file, {".toml"})) return most_lines(text, is_toml_line, kHalfOfLines);
  if (ends_as(file, {".yaml", ".yml"})) return most_lines(text, is_yaml_line, kHalfOfLines);
  return (most_lines(text, is_toml_line) || most_lines(text, is_yaml_line)) &&
         has_framework_mark(source);
}

}  // namespace

JobFile job_file_of(const GivenFile& file) {
  const std::optional<std::string> read = beginning_of(file);
  if (!read || read->starts_with('\x80') || !foreign_kind(*read, file.name).empty())
    return JobFile::kLeft;
  const std::string& text = *read;
  const GivenFile start{.name = file.name, .text = text, .folder = {}};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return JobFile::kLeft;
  const bool json = text[first] == '{';
  if (json && text.compare(first, 2, "{'") != 0) {
    if (capture::is_launch_record(text)) return JobFile::kLaunch;
    if (says_plan(start)) return JobFile::kPlan;
    if (says_job(start)) return JobFile::kJob;
    return is_left_json({file.name, text}) ? JobFile::kLeft : JobFile::kLaunch;
  }
  const std::string_view head(text);
  const auto says_first = [&](std::string_view kind) {
    const std::string word = "stepwright: " + std::string(kind) + "/";
    return head.starts_with(word) || head.find("\n" + word) != std::string_view::npos;
  };
  if (most_lines(text, is_yaml_line, kHalfOfLines)) {
    if (says_first("plan")) return JobFile::kPlan;
    if (says_first("job")) return JobFile::kJob;
  }
  return starts_job(file, text) ? JobFile::kLaunch : JobFile::kLeft;
}

}  // namespace stepwright::answers

#include "stepwright/framework_files/brought_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/plan/files.h"

namespace stepwright::framework_files {
namespace {

using launch_scripts::SourceFile;

/// Share of a text's lines that must have the form of a configuration: kMostLines if only the
/// contents say so; kHalfOfLines if the file name says so, since values can span several lines.
constexpr double kMostLines = 0.9;
constexpr double kHalfOfLines = 0.5;
/// Characters at the start of a JSON document that are searched for its kind.
constexpr std::size_t kHead = 200;

/// The kinds of Stepwright's own files, which their first line states: "stepwright: plan/2".
constexpr Named<UserFileKind> kStatedKinds[] = {{UserFileKind::kPlan, "plan"},
                                                {UserFileKind::kJob, "job"},
                                                {UserFileKind::kModel, "model"},
                                                {UserFileKind::kCluster, "cluster"},
                                                {UserFileKind::kRecord, "launch"}};

bool ends_as(const SourceFile& file, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return file.name.ends_with(ending); });
}

/// Calls `take` with each line that is neither blank nor a comment, without indentation.
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

/// True if a line has the form of YAML: "name: value", "name:", "- item".
bool is_yaml_line(std::string_view line) {
  if (line.starts_with("- ") || line == "-" || line == "---") return true;
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && is_name(line.substr(0, colon)) &&
         (colon + 1 == line.size() || line[colon + 1] == ' ');
}

/// True if a line has the form of TOML: "[section]", "[[sections]]", "name = value", or an element
/// of a list that continues.
bool is_toml_line(std::string_view line) {
  if (line.front() == '[' && line.back() == ']') {
    const std::string_view open = line.substr(0, line.find_last_not_of(']') + 1);
    return is_name(open.substr(std::min(open.find_first_not_of('['), open.size())));
  }
  const std::size_t equals = line.find(" = ");
  return (equals != std::string_view::npos && is_name(line.substr(0, equals))) || line == "]" ||
         line.front() == '"';
}

/// True if `is_line` holds for at least this share of a text's lines, and there are any.
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

/// True if a line imports a module of Python: "import x", "from x import y".
bool is_import(std::string_view line) {
  return line.starts_with("import ") ||
         (line.starts_with("from ") && line.find(" import ") != std::string_view::npos);
}

/// True if a text begins like a Python program and imports a module.
bool is_python_program(std::string_view text) {
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

/// Returns the parsed document of a text; nullopt if it does not parse, for example because it is
/// cut off or repeats a key.
std::optional<YamlJsonDocument> document_of(const SourceFile& file) try {
  return YamlJsonDocument::parse(file.text, file.name);
} catch (const Error&) {
  return std::nullopt;
}

/// Returns the kind that the first characters of a JSON text state; nullopt: none.
std::optional<UserFileKind> kind_in_head(std::string_view text) {
  const std::string_view head = text.substr(0, kHead);
  if (head.find("\"stepwright\"") == std::string_view::npos) return std::nullopt;
  for (const auto& [kind, name] : kStatedKinds) {
    if (head.find(fmt::format("\"{}/", name)) != std::string_view::npos) return kind;
  }
  return std::nullopt;
}

/// Returns the kind that a line of a YAML text states; nullopt: none.
std::optional<UserFileKind> kind_in_lines(std::string_view text) {
  if (!most_lines(text, is_yaml_line, kHalfOfLines)) return std::nullopt;
  for (const auto& [kind, name] : kStatedKinds) {
    const std::string words = fmt::format("stepwright: {}/", name);
    const bool first = text.starts_with(words);
    if (first || text.find("\n" + words) != std::string_view::npos) return kind;
  }
  return std::nullopt;
}

/// Returns the kind that a text states about itself; nullopt: none.
std::optional<UserFileKind> stated_kind(const SourceFile& file) {
  if (!is_json_document(file.text)) return kind_in_lines(file.text);
  const std::optional<YamlJsonDocument> document = document_of(file);
  if (!document) return kind_in_head(file.text);
  for (const auto& [kind, name] : kStatedKinds) {
    if (plan::is_stepwright_file_of_kind(*document, name)) return kind;
  }
  return std::nullopt;
}

/// True if a document is a model: a `config.json`, or the sizes of a model in a job's words. A
/// `config.json` must be JSON, because YAML configurations of frameworks can have a `model_type`,
/// too.
bool says_model(const SourceFile& file) {
  const std::optional<YamlJsonDocument> document = document_of(file);
  const bool json = is_json_document(file.text);
  if (!document) return json && launch_scripts::file_contains_text(file, "\"model_type\"");
  const DocumentNode root = document->root();
  if (!root.is_mapping()) return false;
  const bool config = json && (root.find("model_type") || root.find("text_config"));
  return config || (root.find("layers") && root.find("hidden") && root.find("heads"));
}

bool starts_job(const SourceFile& file) {
  const std::string_view text = file.text;
  if (text.starts_with("#SBATCH") || text.starts_with("#PBS") || is_python_program(text))
    return true;
  if (is_json_document(text)) return looks_like_framework_file(file);
  if (ends_as(file, {".toml"})) return most_lines(text, is_toml_line, kHalfOfLines);
  if (ends_as(file, {".yaml", ".yml"})) return most_lines(text, is_yaml_line, kHalfOfLines);
  return (most_lines(text, is_toml_line) || most_lines(text, is_yaml_line)) &&
         looks_like_framework_file(file);
}

}  // namespace

bool looks_like_framework_file(const SourceFile& file) {
  const std::vector<std::string> words = import_target_names();
  return std::ranges::any_of(
      words, [&](const std::string& word) { return file_matches_target_rules(word, file); });
}

bool is_json_document(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && text.compare(first, 2, "{'") != 0;
}

UserFileKind user_file_kind(const SourceFile& file) {
  if (launch_scripts::is_shell_script(file)) return UserFileKind::kLaunch;
  if (const auto stated = stated_kind(file)) return *stated;
  if (says_model(file)) return UserFileKind::kModel;
  return starts_job(file) ? UserFileKind::kLaunch : UserFileKind::kOther;
}

}  // namespace stepwright::framework_files

#include "stepwright/framework_files/recognition/target_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

std::string text_below(DocumentNode node, std::string_view key) {
  const auto value = node.find(key);
  return value ? value->text() : "";
}

bool flag_below(DocumentNode node, std::string_view key) {
  const auto value = node.find(key);
  return value && value->boolean();
}

FrameworkReadingEvidence read_evidence(DocumentNode node) {
  node.allow_only_keys({"judged", "by_source"});
  if (const auto judged = node.find("judged")) {
    judged->allow_only_keys({"test", "package"});
    return {.judged = true,
            .test = judged->get("test").text(),
            .package = judged->get("package").text()};
  }
  return {.repository = node.get("by_source").text()};
}

// Word for the newest release, in the list of endings.
constexpr std::string_view kNewest = "newest";

std::vector<plan::TrainingMethodKind> read_methods(DocumentNode node) {
  std::vector<plan::TrainingMethodKind> methods;
  for (std::size_t i = 0; i < node.size(); ++i) {
    methods.push_back(node.at(i).choice(plan::kMethodNames));
  }
  return methods;
}

LaunchTargetDescription read_target_data(DocumentNode node) {
  node.allow_only_keys({"word",         "framework",     "also",         "variant",
                        "about",        "reads",         "writes",       "checked",
                        "assumes",      "evidence",      "methods",      "method_elsewhere",
                        "order",        "unsure_starts", "file_decides", "sets_environment",
                        "python_files", "whole_program", "functions",    "endings",
                        "large_logs",   "marks",         "starts"});
  LaunchTargetDescription target{.word = node.get("word").text(),
                                 .framework = text_below(node, "framework"),
                                 .variant = text_below(node, "variant"),
                                 .about = node.get("about").text(),
                                 .reads = text_below(node, "reads"),
                                 .writes = text_below(node, "writes"),
                                 .checked = node.get("checked").text(),
                                 .assumes = text_below(node, "assumes"),
                                 .evidence = read_evidence(node.get("evidence")),
                                 .method_elsewhere = flag_below(node, "method_elsewhere"),
                                 .unsure_starts = flag_below(node, "unsure_starts"),
                                 .file_decides = flag_below(node, "file_decides"),
                                 .sets_environment = flag_below(node, "sets_environment"),
                                 .python_files = flag_below(node, "python_files"),
                                 .whole_program = flag_below(node, "whole_program"),
                                 .functions = flag_below(node, "functions"),
                                 .large_logs = text_below(node, "large_logs")};
  if (const auto endings = node.find("endings")) {
    for (const auto& [ending, release] : endings->mapping_members()) {
      target.endings.emplace_back(ending, release.text() == kNewest ? "" : release.text());
    }
  }
  const auto also = node.find("also");
  for (std::size_t i = 0; also && i < also->size(); ++i) target.also.push_back(also->at(i).text());
  if (const auto methods = node.find("methods")) target.methods = read_methods(*methods);
  if (const auto order = node.find("order")) target.order = static_cast<int>(order->integer(0, 9));
  const auto marks = node.find("marks");
  for (std::size_t i = 0; marks && i < marks->size(); ++i) {
    target.marks.push_back(read_file_recognition_rule(marks->at(i)));
  }
  const auto starts = node.find("starts");
  for (std::size_t i = 0; starts && i < starts->size(); ++i) {
    target.starts.push_back(read_command_recognition_rule(starts->at(i)));
  }
  return target;
}

YamlJsonDocument embedded_document(const EmbeddedFile& file) {
  return YamlJsonDocument::parse(file.text, fmt::format("{}.yaml", file.name));
}

std::vector<LaunchTargetDescription> read_targets() {
  std::vector<LaunchTargetDescription> targets;
  for (const EmbeddedFile& file : embedded_tables()) {
    if (!file.name.ends_with("/target")) continue;
    const YamlJsonDocument document = embedded_document(file);
    for (std::size_t i = 0; i < document.root().size(); ++i) {
      targets.push_back(read_target_data(document.root().at(i)));
    }
  }
  return targets;
}

/// Reads a list of `unread.yaml`, whose rows are `{mark, of}`.
std::vector<UnsupportedProgram> read_unread(std::string_view list) {
  const YamlJsonDocument document =
      embedded_document(*find_embedded_file(embedded_tables(), "recognition/unread"));
  std::vector<UnsupportedProgram> marks;
  const DocumentNode rows = document.root().get(list);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    marks.emplace_back(rows.at(i).get("mark").text(), rows.at(i).get("of").text());
  }
  return marks;
}

std::optional<std::string> owner_in(std::string_view list, std::string_view text) {
  for (const auto& [mark, owner] : read_unread(list)) {
    if (text.find(mark) != std::string_view::npos) return owner;
  }
  return std::nullopt;
}

/// True if a line of a Python program imports a module or a part of it: `from olmo_core.data import
/// DataMix`.
bool imports_module(std::string_view text, std::string_view module) {
  for (const std::string_view word : {"import ", "from "}) {
    const std::string start = fmt::format("\n{}{}", word, module);
    for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
      const std::size_t end = at + start.size();
      if (end == text.size() || std::string_view(". \r\n").find(text[end]) != text.npos)
        return true;
    }
  }
  return false;
}

/// Returns the framework of the first row of a list whose module a Python program imports.
std::optional<std::string> owner_of_import(std::string_view list, const SourceFile& file) {
  if (!file.name.ends_with(".py")) return std::nullopt;
  for (const auto& [module, name] : read_unread(list)) {
    // A mark that begins a line can be in the first one.
    if (imports_module("\n" + file.text, module)) return name;
  }
  return std::nullopt;
}

}  // namespace

std::span<const LaunchTargetDescription> launch_target_description() {
  static const std::vector<LaunchTargetDescription> kTargets = read_targets();
  return kTargets;
}

const LaunchTargetDescription& launch_target_description(std::string_view word) {
  const auto targets = launch_target_description();
  const auto found = std::ranges::find(targets, word, &LaunchTargetDescription::word);
  if (found == targets.end())
    fail_input(fmt::format("there is no target '{}'", one_line_printable_text(word)));
  return *found;
}

bool file_matches_target_rules(std::string_view target, const SourceFile& file,
                               std::string_view part) {
  return std::ranges::any_of(launch_target_description(target).marks,
                             [&](const FileRecognitionRule& mark) {
                               return (part.empty() || mark.part == part) && has_mark(file, mark);
                             });
}

bool command_matches_target_rules(std::string_view target, Words words, std::string_view part) {
  return std::ranges::any_of(launch_target_description(target).starts,
                             [&](const CommandRecognitionRule& mark) {
                               return (part.empty() || mark.part == part) && has_mark(words, mark);
                             });
}

std::function<bool(Words)> target_command_predicate(std::string_view target) {
  return [target](Words words) { return command_matches_target_rules(target, words); };
}

std::optional<std::string> unreadable_framework_of_program(std::string_view program) {
  return owner_in("programs", program);
}

std::optional<UnsupportedProgram> find_unsupported_program_word(Words words) {
  const std::vector<UnsupportedProgram> known = read_unread("commands");
  for (const ShellWord& word : words) {
    const std::string name = launch_scripts::path_base_name(word.text);
    const auto found = std::ranges::find(known, name, &UnsupportedProgram::first);
    if (found != known.end()) return *found;
  }
  return std::nullopt;
}

std::optional<std::string> unread_file(const SourceFile& file) {
  if (auto owner = owner_in("files", "\n" + file.text)) return owner;
  if (auto owner = owner_of_import("imports", file)) return owner;
  return tensor_library_beside_torch(file);
}

std::optional<std::string> tensor_library_beside_torch(const SourceFile& file) {
  return owner_of_import("libraries", file);
}

std::optional<std::string> hosting_service(const SourceFile& file) {
  if (!file.name.ends_with(".py")) return std::nullopt;
  return owner_in("services", "\n" + file.text);
}

}  // namespace stepwright::framework_files

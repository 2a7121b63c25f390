#include "stepwright/framework_files/changed_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/frameworks/file_words.h"

namespace stepwright::framework_files {
namespace {

/// Returns a line without its indentation and without the characters that join it to the next.
std::string_view bare(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  const std::size_t last = line.find_last_not_of(" \\,");
  if (first == std::string_view::npos || last == std::string_view::npos) return {};
  return line.substr(first, last + 1 - first);
}

/// Key of a JSON file with properties that the training code must provide; a person's own file need
/// not contain it.
constexpr std::string_view kForTrainingCode = "\"stepwright\": {";

std::vector<std::string> lines_of(const LaunchTarget& target, const plan::PlannedJob& planned) {
  const std::string text = target.write(planned, {});
  std::vector<std::string> lines;
  // Indentation of the key `stepwright` while lines of its mapping are skipped; nullopt outside of
  // the mapping.
  std::optional<std::size_t> for_code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = std::string_view(text).substr(at, end - at);
    const std::string_view line = bare(whole);
    at = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t indentation = whole.find_first_not_of(' ');
    if (for_code) {
      if (indentation == *for_code) for_code.reset();
      continue;
    }
    if (line == kForTrainingCode) {
      for_code = indentation;
    } else {
      lines.emplace_back(line);
    }
  }
  return lines;
}

/// Returns the setting's name in a line, the part before its value.
std::string_view first_word_of(std::string_view line) {
  return line.substr(0, line.find_first_of(" =:"));
}

/// Returns the elements of the first list that the second one lacks.
std::vector<std::string> beyond(const std::vector<std::string>& lines,
                                const std::vector<std::string>& others) {
  const std::set<std::string_view> known(others.begin(), others.end());
  std::vector<std::string> more;
  for (const std::string& line : lines) {
    if (!known.contains(line)) more.push_back(line);
  }
  return more;
}

/// Returns the target that writes files for a framework: the one named `word`, else that of the
/// framework's variant, else the framework's own. Null if there is none, or if the last one writes
/// a complete program of Stepwright, which no user has edited.
const LaunchTarget* writer_for(std::string_view word, const plan::TrainingFramework& framework) {
  const auto targets = launch_targets();
  const auto found = [&](std::string_view name) -> const LaunchTarget* {
    const auto target = std::ranges::find(targets, name, &LaunchTarget::word);
    const bool writes = target != targets.end() && target->write != nullptr &&
                        can_framework_run_target(*target, framework.name);
    return writes ? &*target : nullptr;
  };
  for (const std::string_view name : {word, std::string_view(framework.variant)}) {
    if (const LaunchTarget* target = found(name)) return target;
  }
  const LaunchTarget* own = found(plan::file_word_of_framework(framework.name));
  return own != nullptr && own->data->whole_program ? nullptr : own;
}

}  // namespace

std::vector<std::string> changed_launch_file_lines(std::string_view word,
                                                   const plan::PlannedJob& before,
                                                   const plan::PlannedJob& after) try {
  const LaunchTarget* target = writer_for(word, before.job.framework);
  if (target == nullptr) return {};
  const std::vector<std::string> old_lines = lines_of(*target, before);
  const std::vector<std::string> new_lines = lines_of(*target, after);
  std::vector<std::string> changed = beyond(new_lines, old_lines);
  std::set<std::string, std::less<>> replaced;
  for (const std::string& line : changed) replaced.emplace(first_word_of(line));
  for (const std::string& line : beyond(old_lines, new_lines)) {
    if (!replaced.contains(first_word_of(line))) changed.push_back(fmt::format("without {}", line));
  }
  return changed;
} catch (const Error&) {
  return {};
}

}  // namespace stepwright::framework_files

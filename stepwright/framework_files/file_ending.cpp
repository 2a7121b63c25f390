#include "stepwright/framework_files/file_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::framework_files {
namespace {

using Ending = std::pair<std::string, std::string>;

/// Returns the ending of a file name without its dot, in one spelling for each kind: "yaml" for
/// `.yml`, "sh" for `.sbatch`.
std::string ending_of(const std::filesystem::path& file) {
  static constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"yml", "yaml"}, {"bash", "sh"}, {"sbatch", "sh"}, {"slurm", "sh"}};
  const std::string extension = file.extension().string();
  const std::string ending = extension.empty() ? "" : extension.substr(1);
  for (const auto& [other, same] : kSame) {
    if (ending == other) return std::string(same);
  }
  return ending;
}

/// True if written files of some framework or launcher have this ending.
bool says_language(const std::string& ending) {
  return std::ranges::any_of(
      launch_target_description(), [&](const LaunchTargetDescription& target) {
        return std::ranges::find(target.endings, ending, &Ending::first) != target.endings.end();
      });
}

}  // namespace

std::string release_for_file_ending(std::string_view target, const std::filesystem::path& file) {
  const std::vector<Ending>& endings = launch_target_description(target).endings;
  const auto found = std::ranges::find(endings, ending_of(file), &Ending::first);
  return found == endings.end() ? "" : found->second;
}

std::string wrong_file_ending_text(std::string_view target, std::string_view release,
                                   const std::filesystem::path& file) {
  const std::vector<Ending>& endings = launch_target_description(target).endings;
  if (endings.empty() || !says_language(ending_of(file))) return "";
  const bool newest = plan::numbers_in_release_name(release).empty();
  const auto own = std::ranges::find_if(endings, [&](const Ending& one) {
    return one.second.empty() || (!newest && !plan::is_earlier_release(one.second, release));
  });
  if (own == endings.end()) return "";
  if (own->first == ending_of(file)) return "";
  return fmt::format("A file for {} ends in .{}, but {} does not.", target, own->first,
                     one_line_printable_text(file.string()));
}

}  // namespace stepwright::framework_files

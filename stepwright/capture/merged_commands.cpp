#include "stepwright/capture/merged_commands.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::string_view kRankOptions = "--node_rank --node-rank --machine_rank --machine-rank";
constexpr std::string_view kHostOptions = "-w --nodelist --host --hosts -H";
constexpr std::string_view kMasked = "*";

/// The words of a command with host and rank masked, and the host and rank.
struct Likeness {
  Words words;
  std::string host, rank;
};

/// Masks the value of an option, after `=` or in the next word. Returns the value; empty if the
/// word is none of the options.
std::string mask_value(Words& words, std::size_t& at, std::string_view options) {
  const std::size_t equals = words[at].find('=');
  if (!word_list_contains(options, words[at].substr(0, equals))) return "";
  std::string value;
  if (equals != std::string::npos) {
    value = words[at].substr(equals + 1);
    words[at] = words[at].substr(0, equals + 1) + std::string(kMasked);
  } else if (at + 1 < words.size()) {
    value = words[++at];
    words[at] = kMasked;
  }
  return value;
}

Likeness likeness_of(const CapturedLaunchCommand& command) {
  Likeness likeness;
  Words launcher = command.launcher, argv = command.argv;
  const bool by_srun =
      !launcher.empty() && launch_scripts::last_path_part(launcher.front()) == "srun";
  for (std::size_t i = 0; i < launcher.size() && by_srun; ++i) {
    if (std::string host = mask_value(launcher, i, kHostOptions); !host.empty())
      likeness.host = host;
  }
  const auto ssh = std::ranges::find(launcher, "ssh");
  if (ssh != launcher.end()) {
    likeness.host = launcher.back();
    launcher.back() = kMasked;
  }
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (std::string rank = mask_value(argv, i, kRankOptions); !rank.empty()) likeness.rank = rank;
  }
  likeness.words = std::move(launcher);
  likeness.words.emplace_back();
  likeness.words.insert(likeness.words.end(), argv.begin(), argv.end());
  likeness.words.push_back(command.folder);
  likeness.words.push_back(std::to_string(command.nodes.value_or(0)));
  likeness.words.push_back(std::to_string(command.devices_per_node.value_or(0)));
  if (likeness.host.empty() && likeness.rank.empty()) {
    for (const auto& [name, value] : command.environment) {
      likeness.words.push_back(name + "=" + value);
    }
  }
  return likeness;
}

bool is_first_rank(const Likeness& likeness, const CapturedLaunchCommand& command) {
  const auto rank = command.environment.find("NODE_RANK");
  if (!likeness.rank.empty()) return likeness.rank == "0";
  return rank != command.environment.end() && rank->second == "0";
}

struct Group {
  std::size_t place = 0;
  bool first_rank = false;
  std::set<std::string> hosts;
};

}  // namespace

std::vector<CapturedLaunchCommand> merge_launches_of_hosts(
    const std::vector<CapturedLaunchCommand>& commands) {
  std::vector<CapturedLaunchCommand> merged;
  std::map<Words, Group> groups;
  for (const CapturedLaunchCommand& command : commands) {
    const Likeness likeness = likeness_of(command);
    const auto [found, is_new] = groups.try_emplace(likeness.words);
    Group& group = found->second;
    if (is_new) {
      group.place = merged.size();
      merged.push_back(command);
      group.first_rank = is_first_rank(likeness, command);
    } else {
      CapturedLaunchCommand& kept = merged[group.place];
      const std::int64_t count = kept.count + 1;
      // A launch whose files have other texts is another job.
      const bool same_files = std::ranges::equal(
          kept.files, command.files,
          [](const auto& a, const auto& b) { return a.path == b.path && a.text == b.text; });
      if (!same_files) {
        merged.push_back(command);
        continue;
      }
      if (!group.first_rank && is_first_rank(likeness, command)) {
        kept = command;
        group.first_rank = true;
      }
      kept.count = count;
    }
    if (!likeness.host.empty() || !likeness.rank.empty()) {
      group.hosts.insert(likeness.host + "\n" + likeness.rank);
    }
    CapturedLaunchCommand& kept = merged[group.place];
    kept.hosts = std::max<std::int64_t>(1, static_cast<std::int64_t>(group.hosts.size()));
    if (kept.hosts > kept.nodes.value_or(1)) kept.nodes = kept.hosts;
  }
  return merged;
}

}  // namespace stepwright::capture

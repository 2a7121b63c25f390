#include "stepwright/capture/record_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "stepwright/capture/command_script.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"

namespace stepwright::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // The limit of any launch file.
constexpr std::size_t kShownWords = 12;

/// Endings of files that configure or start a job; weights and data are not read.
constexpr std::string_view kTextEndings[] = {".yaml", ".yml",  ".json", ".toml", ".py",
                                             ".sh",   ".conf", ".cfg",  ".env",  ".jsonnet"};

/// Returns the text of a file on this machine; nullopt if it is no text file, or is too large.
std::optional<std::string> text_on_disk(const fs::path& path) {
  const auto ends = [&](std::string_view ending) { return path.extension() == ending; };
  if (std::ranges::none_of(kTextEndings, ends)) return {};
  std::optional<std::string> text = read_regular_file(path, kMostBytes);
  const bool is_text = text && find_bad_utf8(*text) == std::string_view::npos;
  return is_text ? std::move(text) : std::nullopt;
}

std::string listed(std::span<const CapturedLaunchCommand> commands) {
  std::string text;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    Words words = commands[i].argv;
    if (words.size() > kShownWords) words.resize(kShownWords);
    text += fmt::format("\n  {}: {}", i + 1, quoted_for_shell(words));
  }
  return text;
}

std::span<const CapturedLaunchCommand> chosen(const ScriptCaptureResult& captured,
                                              std::optional<std::int64_t> command,
                                              const std::string& name) {
  const std::span<const CapturedLaunchCommand> all = captured.commands;
  if (all.empty()) fail_input(name + ": commands: is empty; the script started nothing");
  const auto count = static_cast<std::int64_t>(all.size());
  if (command && (*command < 1 || *command > count)) {
    fail_input(fmt::format("{}: has no command {}; it has 1 to {}:{}", name, *command, count,
                           listed(all)));
  }
  if (command) return all.subspan(static_cast<std::size_t>(*command - 1), 1);
  const auto extent = [](const CapturedLaunchCommand& one) {
    return std::pair(one.nodes, one.devices_per_node);
  };
  const auto other = [&](const CapturedLaunchCommand& one) {
    return extent(one) != extent(all.front());
  };
  if (std::ranges::any_of(all, other)) {
    fail_input(fmt::format(
        "{}: has commands on different numbers of nodes or devices; pick one with --command N:{}",
        name, listed(all)));
  }
  return all;
}

}  // namespace

bool is_capture_record(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  const std::string_view head = text.substr(begin, 100);
  return head.find("\"stepwright\"") != std::string_view::npos &&
         head.find("\"launch/") != std::string_view::npos;
}

std::vector<launch_scripts::SourceFile> capture_record_as_sources(
    const ScriptCaptureResult& captured, std::optional<std::int64_t> command,
    const std::string& name) {
  const std::span<const CapturedLaunchCommand> commands = chosen(captured, command, name);
  std::vector<launch_scripts::SourceFile> sources{
      {name + ".sh", captured_command_as_script(commands)}};
  std::set<std::string> seen;
  for (const CapturedLaunchCommand& one : commands) {
    for (const CapturedFile& file : one.files) {
      if (!seen.insert(file.path).second) continue;
      auto text = file.text ? file.text : text_on_disk(fs::path(one.folder) / file.path);
      if (text) sources.push_back({file.path, std::move(*text)});
    }
  }
  return sources;
}

}  // namespace stepwright::capture

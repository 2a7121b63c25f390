#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "golden.h"

namespace stepwright::cli {
namespace {

/// A call of the command in a document: arguments and exit code.
struct Call {
  std::string arguments;
  int code = 0;
};

/// Returns every line of a code block that calls the command, in the order of the text. "  # exit
/// code 1" at the end of a line gives an exit code other than 0.
std::vector<Call> commands_of(const std::string& text) {
  constexpr std::string_view kMark = "  # exit code ";
  std::vector<Call> commands;
  std::istringstream lines(text);
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (line.starts_with("$ ")) line.erase(0, 2);
    for (const std::string call : {"stepwright ", "build/release/stepwright "}) {
      if (!code || !line.starts_with(call)) continue;
      const std::size_t mark = line.find(kMark);
      const int said = mark == std::string::npos ? 0 : line[mark + kMark.size()] - '0';
      commands.push_back({line.substr(call.size(), mark - call.size()), said});
    }
  }
  return commands;
}

/// A command in a document, and the answer printed below it, up to the end of the code block.
struct Shown {
  std::string arguments;
  std::size_t begin = 0;
  std::size_t end = 0;
};

Shown first_answer(const std::string& text) {
  const std::string call = "\n$ stepwright ";
  const std::size_t start = text.find(call) + call.size();
  const std::size_t line_end = text.find('\n', start);
  return {.arguments = text.substr(start, line_end - start),
          .begin = line_end + 1,
          .end = text.find("```", line_end)};
}

/// A page of the documents, and the least number of commands in it.
struct Page {
  const char* path;
  std::size_t commands;
};
constexpr Page kPages[] = {{"README.md", 1},
                           {"docs/commands.md", 18},
                           {"docs/getting_started.md", 7},
                           {"docs/guides.md", 16},
                           {"docs/tune_megatron.md", 7},
                           {"docs/calibrate.md", 3},
                           {"docs/read_report.md", 3},
                           {"docs/extend.md", 7},
                           {"docs/agents.md", 12},
                           {"skills/stepwright/SKILL.md", 5},
                           {"docs/whole_runs.md", 3},
                           {"docs/phases.md", 2}};

TEST(Readme, CommandsOfEveryPageRun) {
  for (const Page& page : kPages) {
    const Workplace place;  // one folder for all: later commands read files that earlier ones wrote
    for (const char* folder : {"data", "tests"}) {
      std::filesystem::create_directory_symlink(std::filesystem::absolute(folder),
                                                place.path() / folder);
    }
    const std::vector<Call> commands = commands_of(content_of(page.path));
    EXPECT_GE(commands.size(), page.commands) << page.path;
    for (const auto& [arguments, code] : commands) {
      const Outcome outcome = place.run(arguments);
      EXPECT_EQ(outcome.code, code) << page.path << ": " << arguments << ": " << outcome.err;
    }
  }
}

/// Returns the beginning of a text, with as many lines as `as_long_as` has.
std::string beginning(const std::string& text, const std::string& as_long_as) {
  std::size_t end = 0;
  for (auto lines = std::ranges::count(as_long_as, '\n'); lines > 0 && end < text.size(); --lines) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(0, end);
}

TEST(Readme, ShowsTheBeginningOfARealAnswer) {
  const Workplace place;
  std::string text = content_of("README.md");
  const Shown shown = first_answer(text);
  ASSERT_NE(shown.end, std::string::npos);
  const std::string mark = "...\n";
  const std::string block = text.substr(shown.begin, shown.end - shown.begin);
  ASSERT_TRUE(block.ends_with(mark));
  const std::string written = block.substr(0, block.size() - mark.size());
  const std::string answer = beginning(place.run(shown.arguments).out, written);
  if (std::getenv("STEPWRIGHT_UPDATE_GOLDEN") != nullptr) {
    if (without_seconds(written) == without_seconds(answer)) return;
    std::ofstream("README.md", std::ios::binary)
        << text.replace(shown.begin, written.size(), answer);
    return;
  }
  EXPECT_EQ(without_seconds(written), without_seconds(answer));
}

/// Returns the lines of a table from its header on, each with the same margin.
std::string table_of(const std::string& text, const std::string& header,
                     const std::string& margin) {
  std::istringstream lines(text.substr(text.find("\n" + margin + header) + 1));
  std::string table;
  for (std::string line; std::getline(lines, line) && line.size() > margin.size();) {
    table += line.substr(margin.size()) + "\n";
  }
  return table;
}

/// Returns the text with a margin before each line.
std::string behind(const std::string& margin, const std::string& text) {
  std::string moved;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) moved += margin + line + "\n";
  return moved;
}

TEST(Readme, TheChangesOfTheMegatronPageAreReal) {
  const std::string path = "docs/tune_megatron.md";
  const std::string header = "#  set ";
  const std::string margin(4, ' ');
  std::string text = content_of(path);
  const Workplace place;
  std::string answer;
  for (const auto& [arguments, code] : commands_of(text)) {
    answer = place.run(arguments).out;
    if (arguments.find("--against") != std::string::npos) break;
  }
  const std::string written = table_of(text, header, margin);
  const std::string real = table_of(answer, header, "");
  if (std::getenv("STEPWRIGHT_UPDATE_GOLDEN") != nullptr && written != real) {
    const std::string old = behind(margin, written);
    text.replace(text.find(old), old.size(), behind(margin, real));
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(written, real);
}

}  // namespace
}  // namespace stepwright::cli

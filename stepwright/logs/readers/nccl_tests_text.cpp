#include "stepwright/logs/readers/nccl_tests_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"

namespace stepwright::logs {
namespace {

/// Words in program names, by operation; a word must precede those that it contains.
constexpr std::array<std::string_view, 5> kOperations = {"reduce_scatter", "all_gather",
                                                         "all_reduce", "sendrecv", "alltoall"};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// True for a line such as "#  Rank  0 Group  0 Pid  9 on  host device  0 [0x10] NVIDIA
/// A100-SXM4-80GB".
bool is_rank(const std::vector<std::string>& words) {
  return words.size() > 5 && words[0] == "#" && words[1] == "Rank" &&
         std::ranges::find(words, "device") != words.end();
}

/// Returns the operation. Fails with `kInput` if the heading lacks ranks or operation.
std::string checked(const NcclTestsHeading& heading, const std::string& name) {
  const std::string operation = heading.operation_named_by_heading().empty()
                                    ? nccl_tests_operation(name)
                                    : heading.operation_named_by_heading();
  if (operation.empty()) {
    fail_input(
        fmt::format("{}: names no operation; name the file after the program that printed "
                    "it (all_reduce_perf.txt)",
                    name));
  }
  const auto& hosts = heading.ranks_by_host();
  if (hosts.empty()) fail_input(fmt::format("{}: lists no ranks", name));
  for (const auto& [host, ranks] : hosts) {
    if (ranks == hosts.begin()->second) continue;
    fail_input(fmt::format("{}: {} ranks on {}, {} on {}; the same number on each is allowed", name,
                           ranks, host, hosts.begin()->second, hosts.begin()->first));
  }
  return operation;
}

}  // namespace

void NcclTestsHeading::read(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (is_rank(words)) {
    const auto device = std::ranges::find(words, "device");
    if (*(device - 2) == "on") ++ranks_[*(device - 1)];
  } else if (line.find("test starting") != std::string::npos ||
             line.find("_perf") != std::string::npos) {
    const std::string found = nccl_tests_operation(line);
    if (!found.empty()) operation_ = found;
  }
}

std::int64_t NcclTestsHeading::ranks() const {
  std::int64_t sum = 0;
  for (const auto& [host, ranks] : ranks_) sum += ranks;
  return sum;
}

std::vector<std::string> nccl_tests_row_cells(const std::string& line) {
  std::vector<std::string> words = words_of(line);
  if (words.empty() || !is_number(words[0])) return {};
  return words;
}

std::string nccl_tests_operation(std::string_view text) {
  for (const std::string_view operation : kOperations) {
    if (text.find(operation) != std::string_view::npos) return std::string(operation);
  }
  return {};
}

bool is_nccl_tests_text(std::string_view text) {
  return text.find("busbw") != std::string_view::npos &&
         text.find("# ") != std::string_view::npos && text.find("algbw") != std::string_view::npos;
}

CsvTable read_nccl_tests_text(std::string_view text, const std::string& name) {
  CsvTable table{.name = name,
                 .header = {"collective", "nodes", "gpus", "datatype", "size_bytes", "time_us"},
                 .rows = {}};
  NcclTestsHeading heading;
  std::string operation;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\r') != std::string::npos) {
      fail_input(fmt::format(
          "{}:{}: a carriage return (CR) inside of the line; lines end with LF or CR LF", name,
          number));
    }
    const std::vector<std::string> cells = nccl_tests_row_cells(line);
    if (cells.empty()) {
      heading.read(line);
      continue;
    }
    if (cells.size() < kTestColumns) {
      fail_input(
          fmt::format("{}:{}: {} columns; a row of nccl-tests has size, count, type, redop, "
                      "root, time, algbw, busbw",
                      name, number, cells.size()));
    }
    if (operation.empty()) operation = checked(heading, name);
    if (!heading.operation_named_by_heading().empty())
      operation = heading.operation_named_by_heading();
    table.rows.push_back(
        {number,
         {operation, std::to_string(heading.ranks_by_host().size()),
          std::to_string(heading.ranks()), cells[kTestType], cells[kTestSize], cells[kTestTime]}});
  }
  if (operation.empty()) fail_input(fmt::format("{}: has no rows", name));
  return table;
}

}  // namespace stepwright::logs

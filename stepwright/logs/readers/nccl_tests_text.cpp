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

/// Words of program names for the operations, the longest first.
constexpr std::array<std::string_view, 5> kOperations = {"reduce_scatter", "all_gather",
                                                         "all_reduce", "sendrecv", "alltoall"};

/// Columns of a row up to the out-of-place bandwidth.
enum RowColumn {
  kSize,
  kCount,
  kType,
  kOperator,
  kRoot,
  kTime,
  kAlgorithmRate,
  kBusRate,
  kRowColumns
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string operation_in(std::string_view text) {
  for (const std::string_view operation : kOperations) {
    if (text.find(operation) != std::string_view::npos) return std::string(operation);
  }
  return {};
}

/// "#  Rank  0 Group  0 Pid  9 on  host device  0 [0x10] NVIDIA A100-SXM4-80GB"
bool is_rank(const std::vector<std::string>& words) {
  return words.size() > 5 && words[0] == "#" && words[1] == "Rank" &&
         std::ranges::find(words, "device") != words.end();
}

/// The head of a text before its rows.
class Heading {
 public:
  void read(const std::string& line, const std::vector<std::string>& words) {
    if (is_rank(words)) {
      const auto device = std::ranges::find(words, "device");
      if (*(device - 2) == "on") ++ranks_[*(device - 1)];
    } else if (line.find("test starting") != std::string::npos ||
               line.find("_perf") != std::string::npos) {
      const std::string found = operation_in(line);
      if (!found.empty()) operation_ = found;
    }
  }

  /// Fails with `kInput` on what is missing.
  void check(const std::string& name) {
    if (operation_.empty()) operation_ = operation_in(name);
    if (operation_.empty()) {
      fail_input(
          fmt::format("{}: names no operation; name the file after the program that printed "
                      "it (all_reduce_perf.txt)",
                      name));
    }
    if (ranks_.empty()) fail_input(fmt::format("{}: lists no ranks", name));
    for (const auto& [host, ranks] : ranks_) {
      if (ranks == ranks_.begin()->second) continue;
      fail_input(fmt::format("{}: {} ranks on {}, {} on {}; the same number on each is allowed",
                             name, ranks, host, ranks_.begin()->second, ranks_.begin()->first));
    }
  }

  [[nodiscard]] std::string nodes() const { return std::to_string(ranks_.size()); }
  [[nodiscard]] std::string ranks() const {
    std::size_t sum = 0;
    for (const auto& [host, ranks] : ranks_) sum += ranks;
    return std::to_string(sum);
  }
  [[nodiscard]] const std::string& operation() const { return operation_; }

 private:
  std::map<std::string, std::size_t> ranks_;  ///< By host.
  std::string operation_;
};

}  // namespace

bool is_nccl_tests_text(std::string_view text) {
  return text.find("busbw") != std::string_view::npos &&
         text.find("# ") != std::string_view::npos && text.find("algbw") != std::string_view::npos;
}

CsvTable read_nccl_tests_text(std::string_view text, const std::string& name) {
  CsvTable table{.name = name,
                 .header = {"collective", "nodes", "gpus", "datatype", "size_bytes", "time_us"},
                 .rows = {}};
  Heading heading;
  bool checked = false;
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
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (!is_number(words[0])) {
      heading.read(line, words);
      continue;
    }
    if (words.size() < kRowColumns) {
      fail_input(
          fmt::format("{}:{}: {} columns; a row of nccl-tests has size, count, type, redop, "
                      "root, time, algbw, busbw",
                      name, number, words.size()));
    }
    if (!checked) heading.check(name);
    checked = true;
    table.rows.push_back({number,
                          {heading.operation(), heading.nodes(), heading.ranks(), words[kType],
                           words[kSize], words[kTime]}});
  }
  if (!checked) fail_input(fmt::format("{}: has no rows", name));
  return table;
}

}  // namespace stepwright::logs

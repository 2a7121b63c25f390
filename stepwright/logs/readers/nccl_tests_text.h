#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::logs {

/// The head of what nccl-tests prints, line by line: its program and the ranks by host
/// ("#  Rank  0 Group  0 Pid  9 on  host device  0 [0x10] NVIDIA A100-SXM4-80GB").
class NcclTestsHeading {
 public:
  void read(const std::string& line);

  /// "all_reduce"; empty: no line says it.
  [[nodiscard]] const std::string& operation() const { return operation_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& ranks_by_host() const { return ranks_; }
  [[nodiscard]] std::int64_t ranks() const;

 private:
  std::map<std::string, std::int64_t> ranks_;
  std::string operation_;
};

/// The cells of a row of nccl-tests up to the rate on the bus, out of place; empty: the line does
/// not begin with a number.
std::vector<std::string> nccl_tests_cells(const std::string& line);

/// Places of cells of a row.
enum NcclTestsColumn : std::uint8_t {
  kTestSize,
  kTestCount,
  kTestType,
  kTestOperator,
  kTestRoot,
  kTestTime,  ///< Time of a call in microseconds.
  kTestAlgorithmRate,
  kTestBusRate,
  kTestColumns
};

/// The operation in a name of nccl-tests ("all_reduce_perf"); empty: none.
std::string nccl_tests_operation(std::string_view text);

/// Whether a text is what nccl-tests prints.
bool is_nccl_tests_text(std::string_view text);

/// The rows of a text that nccl-tests printed as a table of the second schema of
/// `read_collective_samples`, with the text's own line numbers: out-of-place times, sizes as
/// printed (the whole buffer), nodes and GPUs from the list of ranks. `name` stands for the file in
/// messages; the operation is what the text says, else what the name says (`all_reduce_perf.txt`).
/// Fails with `kInput` when the text names
/// no ranks or no operation, when ranks differ between nodes, or when a row has too few columns.
CsvTable read_nccl_tests_text(std::string_view text, const std::string& name);

}  // namespace stepwright::logs

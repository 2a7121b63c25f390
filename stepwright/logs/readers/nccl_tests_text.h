#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::logs {

/// Reads the heading that nccl-tests prints, line by line: the program, and the ranks with their
/// hosts ("#  Rank  0 Group  0 Pid  9 on  host device  0 [0x10] NVIDIA A100-SXM4-80GB").
class NcclTestsHeading {
 public:
  void read(const std::string& line);

  /// Returns the operation that the heading names: "all_reduce"; empty: no line names it.
  [[nodiscard]] const std::string& operation_named_by_heading() const { return operation_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& ranks_by_host() const { return ranks_; }
  [[nodiscard]] std::int64_t ranks() const;

 private:
  std::map<std::string, std::int64_t> ranks_;
  std::string operation_;
};

/// Returns the cells of a row of nccl-tests, up to the out-of-place bus bandwidth; empty: the line
/// is no row, because it does not begin with a number.
std::vector<std::string> nccl_tests_row_cells(const std::string& line);

/// Indices of the cells in a row of nccl-tests.
enum NcclTestsColumn : std::uint8_t {
  kTestSize,
  kTestCount,
  kTestType,
  kTestOperator,
  kTestRoot,
  /// Column with the time of a call, in microseconds.
  kTestTime,
  kTestAlgorithmRate,
  kTestBusRate,
  kTestColumns
};

/// Returns the operation in a program name of nccl-tests: "all_reduce" for "all_reduce_perf";
/// empty: none.
std::string nccl_tests_operation(std::string_view text);

/// True if a text is output of nccl-tests.
bool is_nccl_tests_text(std::string_view text);

/// Converts the rows that nccl-tests printed into a table (`gpu, nodes, gpus, collective, ...`) for
/// `read_collective_samples`, keeping line numbers: out-of-place times, sizes as printed (whole
/// buffer), nodes and GPUs from the list of ranks. The operation is the one in the text, else the
/// one in `name` (`all_reduce_perf.txt`), which also names the file in messages. Fails with
/// `kInput` if ranks or operation are missing, if nodes have different numbers of ranks, or if a
/// row has too few columns.
CsvTable read_nccl_tests_text(std::string_view text, const std::string& name);

}  // namespace stepwright::logs

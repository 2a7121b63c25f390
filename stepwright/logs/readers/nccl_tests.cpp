#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/nccl_tests_text.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kMostTestBytes = std::size_t{64} << 20;

struct TestName {
  std::string_view name;
  LoggedOperation operation;
};
constexpr TestName kTestNames[] = {{"all_reduce", LoggedOperation::kAllReduce},
                                   {"all_gather", LoggedOperation::kAllGather},
                                   {"reduce_scatter", LoggedOperation::kReduceScatter},
                                   {"alltoall", LoggedOperation::kAllToAll},
                                   {"sendrecv", LoggedOperation::kSend}};

}  // namespace

void read_nccl_tests(FileByteReader& bytes, CommunicationLog& log) {
  const CsvTable table =
      read_nccl_tests_text(bytes.read_rest_of_source(kMostTestBytes), bytes.name());
  LogCallCollector writer(log, bytes.name(), LogFormat::kNcclTests);
  writer.source().note(
      "Each row is one call; its sizes are those of full buffers, its times those out of place.");
  for (const CsvRow& row : table.rows) {
    ++writer.source().lines;
    const auto line = static_cast<std::int64_t>(row.line);
    const auto* test = std::ranges::find(kTestNames, row.cells[0], &TestName::name);
    const auto ranks = parse_whole_number(row.cells[2]);
    const std::int64_t payload =
        buffer_bytes(parse_whole_number(row.cells[4]).value_or(kUnknown), 1);
    if (test == std::end(kTestNames) || !ranks || payload == kUnknown) {
      writer.source().count_unexplained_line(line, "a row without operation, ranks or size");
      continue;
    }
    if (*ranks > kMaxJobRanks) {
      writer.source().count_unexplained_line(line, "more ranks than a job has");
      continue;
    }
    double time_us = 0;
    const std::string& spelt = row.cells[5];
    const auto read = std::from_chars(spelt.data(), spelt.data() + spelt.size(), time_us);
    if (read.ec != std::errc() || read.ptr != spelt.data() + spelt.size()) {
      writer.source().count_unexplained_line(line, "a row whose time is no number");
      continue;
    }
    writer.add({.line = line,
                .payload_bytes = payload,
                .duration_s = time_us * 1e-6,
                .communicator = writer.communicator("all", *ranks),
                .operation = test->operation,
                .element_bytes = static_cast<std::uint8_t>(nccl_type_bytes(row.cells[3]))});
  }
}

}  // namespace stepwright::logs

#include <fmt/format.h>

#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/logs/ledger_file.h"
#include "stepwright/logs/planned_step.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kMostLedgerBytes = std::size_t{64} << 20;

class LedgerLogReader {
 public:
  LedgerLogReader(FileByteReader& bytes, CommunicationLog& log)
      : document_(
            YamlJsonDocument::parse(bytes.read_rest_of_source(kMostLedgerBytes), bytes.name())),
        writer_(log, bytes.name(), LogFormat::kLedger) {}

  void read() {
    const DocumentNode root = document_.root();
    LogFileReadResult& source = writer_.source();
    source.version = root.get("stepwright").text();
    source.world = root.get("ranks").integer(1, kMost);
    source.steps = root.get("steps").integer(0, kMost);
    const DocumentNode list = root.get("communicators");
    for (std::size_t i = 0; i < list.size(); ++i) communicator(list.at(i));
  }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 50;

  void communicator(const DocumentNode& node) {
    const std::int64_t rank = node.get("rank").integer(0, kMost);
    std::vector<std::int64_t> members;
    if (const auto list = node.find("members")) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        members.push_back(list->at(i).integer(0, kMost));
      }
    }
    const std::string group = node.get("group").text();
    std::string name = group + " of";
    for (const std::int64_t member : members) name += fmt::format(" {}", member);
    const std::int32_t id = writer_.communicator(name, std::ssize(members), members);
    const DocumentNode calls = node.get("calls");
    for (std::size_t i = 0; i < calls.size(); ++i) call(calls.at(i), rank, id);
  }

  void call(const DocumentNode& node, std::int64_t rank, std::int32_t communicator) {
    ++writer_.source().lines;
    for (const LoggedOperation operation :
         log_operations_of_operator_kind(node.get("operation").choice(step::kOperatorNames))) {
      writer_.add({.line = writer_.source().lines,
                   .rank = rank,
                   .payload_bytes = node.get("payload_bytes").integer(0, kMost),
                   .count = node.get("count").integer(1, 1'000'000'000),
                   .communicator = communicator,
                   .operation = operation});
    }
  }

  YamlJsonDocument document_;
  LogCallCollector writer_;
};

}  // namespace

void read_ledger_log(FileByteReader& bytes, CommunicationLog& log) {
  LedgerLogReader(bytes, log).read();
}

}  // namespace stepwright::logs

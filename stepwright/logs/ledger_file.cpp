#include "stepwright/logs/ledger_file.h"

#include "stepwright/core/document.h"

namespace stepwright::logs {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 50;

void read_call(DocumentNode node, std::vector<ProcessGroupCall>& list) {
  node.allow_only_keys({"operation", "scheme", "phase", "name", "payload_bytes", "count"});
  const ProcessGroupCall call{.operation = node.get("operation").choice(step::kOperatorNames),
                              .scheme = node.get("scheme").choice(step::kSchemeNames),
                              .phase = node.get("phase").choice(step::kPhaseNames),
                              .name = node.get("name").text(),
                              .payload_bytes = node.get("payload_bytes").integer(0, kMost)};
  list.insert(list.end(), static_cast<std::size_t>(node.get("count").integer(1, 1'000'000'000)),
              call);
}

void read_communicator(DocumentNode node, ExecutedMessageLedger& ledger) {
  node.allow_only_keys({"rank", "group", "channel", "members", "scheduled", "calls"});
  const CommunicatorKey key{.rank = node.get("rank").integer(0, ledger.ranks - 1),
                            .group = node.get("group").choice(plan::kGroupNames),
                            .channel = node.get("channel").text()};
  std::vector<ProcessGroupCall>& list = ledger.calls[key];
  const DocumentNode calls = node.get("calls");
  for (std::size_t i = 0; i < calls.size(); ++i) read_call(calls.at(i), list);
}

}  // namespace

ExecutedMessageLedger read_executed_ledger(const std::filesystem::path& path) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  const DocumentNode root = document.root();
  const DocumentNode version = root.get("stepwright");
  if (version.text() != "ledger/1") version.fail("this is no ledger/1 of `train --ledger`");
  root.allow_only_keys({"stepwright", "ranks", "steps", "scale", "communicators"});
  ExecutedMessageLedger ledger;
  ledger.ranks = root.get("ranks").integer(1, kMost);
  ledger.steps = root.get("steps").integer(0, kMost);
  if (const auto scale = root.find("scale")) static_cast<void>(scale->number(1, 1e12));
  const DocumentNode list = root.get("communicators");
  for (std::size_t i = 0; i < list.size(); ++i) read_communicator(list.at(i), ledger);
  return ledger;
}

}  // namespace stepwright::logs

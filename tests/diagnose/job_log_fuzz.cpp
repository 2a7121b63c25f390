#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/diagnose/diagnose.h"
#include "stepwright/diagnose/slow_messages.h"

/// Any text is read as logs of a job (divided at NULs) by every reader of lines, whatever the
/// file's real form. Its messages are compared with a cluster.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepwright;
  static const diagnose::MessageClusterAndPlan kNetwork{
      .cluster = *cluster::built_in_cluster("dgx-h100", 2), .plan = {}};
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> texts;
  while (!bytes.empty()) {
    const std::size_t end = bytes.substr(0, bytes.find('\0')).size();
    texts.push_back("a line\n" + std::string(bytes.substr(0, end)));
    bytes.remove_prefix(end == bytes.size() ? end : end + 1);
  }
  try {
    std::vector<logs::FileByteReader> files;
    for (const std::string& text : texts)
      files.emplace_back(std::string_view(text), "rank" + std::to_string(files.size()) + ".log");
    const diagnose::Diagnosis found = diagnose::diagnose_files(files);
    for (const diagnose::MeasuredMessages& measured : found.messages)
      diagnose::slow_message_findings(measured, kNetwork, found.findings);
  } catch (const Error&) {
    return 0;
  }
  return 0;
}

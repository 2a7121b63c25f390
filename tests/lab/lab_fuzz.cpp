// Any mapping is read as a lab or refused with an Error. An accepted lab has a valid cluster, and
// commands without empty words.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/lab/topology.h"

namespace {

using namespace stepwright;

void check_lab(const lab::EmulatedClusterSpec& spec) {
  if (lab::emulated_cluster_for_prediction(spec).devices() != spec.ranks()) std::abort();
  if (spec.nodes > 4 || spec.ranks_per_node > 4) return;
  for (const lab::CommandLine& command : lab::traffic_control_commands(spec, "L")) {
    for (const std::string& word : command) {
      if (word.empty()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "fuzz.yaml");
    check_lab(lab::read_emulated_cluster(document.root()));
  } catch (const Error&) {
    // A refusal is an answer.
  }
  return 0;
}

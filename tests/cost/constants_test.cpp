#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {
namespace {

using testing::HasSubstr;

std::string three(const OperationConstants& operation, double ProtocolConstants::* value) {
  const auto& protocols = operation.protocols;
  return fmt::format("{:.4g}, {:.4g}, {:.4g}", protocols[0].*value, protocols[1].*value,
                     protocols[2].*value);
}

std::vector<std::string> lines(const CollectiveConstants& constants) {
  std::vector<std::string> lines;
  for (const auto& [collective, name] : kCollectiveNames) {
    const OperationConstants& operation = constants.of(collective);
    lines.push_back(fmt::format(
        "{} inside a node: share {:.4g}, few ranks {:.4g}, switch {:.4g}; network: ring {:.4g}, "
        "tree {:.4g}, crowding {:.4g}; fill {:.4g}",
        name, operation.inside_share, operation.few_ranks, operation.switch_share,
        operation.network_share, operation.tree_share, operation.congestion, operation.fill));
    lines.push_back(
        fmt::format("{} by protocol: start {} us, hop {}, network hop {}, rate {}, "
                    "belief {}",
                    name, three(operation, &ProtocolConstants::start_us),
                    three(operation, &ProtocolConstants::hop),
                    three(operation, &ProtocolConstants::network_hop),
                    three(operation, &ProtocolConstants::rate),
                    three(operation, &ProtocolConstants::selection)));
  }
  return lines;
}

TEST(Constants, OfMessagesAreInTheDocument) {
  std::ostringstream text;
  text << std::ifstream("docs/models.md").rdbuf();
  const std::string document = text.str();
  for (const std::string& constant : lines(default_collectives())) {
    EXPECT_THAT(document, HasSubstr("- " + constant + "\n"));
  }
}

}  // namespace
}  // namespace stepwright::cost

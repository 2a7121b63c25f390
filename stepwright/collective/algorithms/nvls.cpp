#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/definition.h"

namespace stepwright::collective {

/// Each rank sends its buffer once to the switch, which adds; 1/m of the sum goes up once more for
/// the whole node, and between n nodes along a tree.
const CollectiveAlgorithmDefinition algorithms::kNvls = {
    .text = "reductions in the NVSwitch",
    .covers = {CollectiveOperation::kAllReduce},
    .lies =
        [](const GroupNodeLayout& form) {
          return form.inside_adds && form.members >= cluster::kMinNvlsRanksPerNode;
        },
    .group_requirement_text = "switches that sum data and at least 8 ranks on a node",
    .in_library = {CollectiveOperation::kAllReduce},
    .nccl = {"nvls", "nvls_tree", "allreduce:nvls;allgather:nvls;reducescatter:nvls"},
    .pattern = MessagePattern::kSwitches,
    .sent =
        [](double payload_bytes, double members, double nodes) {
          return payload_bytes * (members + 1 + 2 * (nodes - 1) / nodes) / members;
        }};

}  // namespace stepwright::collective

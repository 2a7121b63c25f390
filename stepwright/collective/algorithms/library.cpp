#include "stepwright/collective/definition.h"

namespace stepwright::collective {

const CollectiveAlgorithmDefinition algorithms::kLibrary = {
    .text = "what the machine's library would choose at that size",
    .covers = kAllOperations,
    .in_library = kAllOperations,
    .is_run_by_own_process_group = true,
    .pattern = MessagePattern::kRound};

}  // namespace stepwright::collective

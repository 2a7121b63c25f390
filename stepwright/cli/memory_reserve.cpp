#include "stepwright/cli/memory_reserve.h"

#include <CLI/CLI.hpp>

#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {

MemoryHeadroom::MemoryHeadroom(CLI::App& command) {
  CLI::Option* confidence =
      command
          .add_option("--memory-confidence", given_.confidence,
                      "Probability with which plans must fit in memory; 0.9 if the job states none")
          ->check(runtime::number_range_validator(
              {plan::kMinMemoryFitConfidence, plan::kMaxMemoryFitConfidence}))
          ->type_name("P");
  command
      .add_option("--memory-reserve", given_.share,
                  "In place of a probability: share of the device's memory that plans leave free")
      ->check(runtime::number_range_validator({0, answers::kMaxMemoryHeadroomShare}))
      ->type_name("SHARE")
      ->excludes(confidence);
}

}  // namespace stepwright::cli

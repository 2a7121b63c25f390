#include "stepwright/cost/clock_note.h"

#include <fmt/format.h>

#include "stepwright/cluster/generation.h"

namespace stepwright::cost {

std::string power_limit_sentence(const cluster::DeviceModel& device) {
  const double usual = cluster::device_generation_of(device).board_power_w;
  if (usual <= 0) return "";
  if (device.board_power_w > 0) {
    return fmt::format("Clocks under load are those of a board limited to {:.0f} W.",
                       device.board_power_w);
  }
  return fmt::format(
      "Clocks under load are assumed to be those of a board with a power limit of {:.0f} W; if "
      "nvidia-smi shows another limit, state it as cluster.board_power.",
      usual);
}

}  // namespace stepwright::cost

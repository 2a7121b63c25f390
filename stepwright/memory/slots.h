#pragma once

#include <functional>
#include <span>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Tensors alive around one slot of a schedule.
struct SlotTensors {
  KindBytes during{};  ///< At its largest moment.
  KindBytes after{};   ///< Saved by forwards whose backward is still to come.
};

/// Calls `take` with each slot of a stage and the tensors around it, in order. `footprints` is
/// parallel to `program.templates`, and of the same place (`footprints_of`).
void walk_slots(const step::StepProgram& program, const step::Stage& stage,
                std::span<const Footprint> footprints,
                const std::function<void(const step::Slot&, const SlotTensors&)>& take,
                MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory

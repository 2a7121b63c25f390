#pragma once

#include <functional>
#include <span>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes of tensors alive during and after one slot of a schedule.
struct SlotTensors {
  KindBytes during{};  ///< Bytes at the slot's peak.
  KindBytes after{};   ///< Bytes saved by forwards whose backward has not run yet.
};

/// Calls `take` with each slot of a stage and the tensors during and after it, in order.
/// `footprints` is parallel to `program.templates`, and for the same place (`footprints_of`).
void walk_slots(const step::StepProgram& program, const step::Stage& stage,
                std::span<const Footprint> footprints,
                const std::function<void(const step::Slot&, const SlotTensors&)>& take,
                MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory

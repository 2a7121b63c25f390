#pragma once

#include <functional>
#include <string_view>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::snapshot {

/// Writes the predicted allocations of a step in the format of `torch.cuda.memory._dump_snapshot`,
/// for PyTorch's viewer (https://pytorch.org/memory_viz): device N is pipeline stage N. Memory that
/// is held between steps exists before the first event. A block's call stack shows its tensor and
/// layer. `sink` receives the bytes in order.
void write_predicted_snapshot(const plan::Job& job, const step::StepProgram& program,
                              const std::function<void(std::string_view bytes)>& sink);

}  // namespace stepwright::snapshot

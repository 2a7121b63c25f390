#pragma once

#include <functional>
#include <string_view>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::snapshot {

/// Writes a step of a plan in the format of `torch.cuda.memory._dump_snapshot`, so that PyTorch's
/// viewer shows it (https://pytorch.org/memory_viz): device N is pipeline position N. Model states
/// and memory that the framework holds between steps exist before the first event. The frames of a
/// block are its tensor (with the part of the layer that makes it as the file) and its layer.
/// Events have no times. `sink` receives the bytes in order.
void write_snapshot(const plan::Job& job, const step::StepProgram& program,
                    const std::function<void(std::string_view bytes)>& sink);

}  // namespace stepwright::snapshot

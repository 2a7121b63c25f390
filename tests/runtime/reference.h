#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {

/// Trains a job in one process with PyTorch's autograd and optimizers, on whole batches. It shares
/// only the order of samples with the executor.
Trained train_reference(const plan::Job& job, const Values& initial,
                        const runtime::TrainOptions& options);

}  // namespace stepwright::testing

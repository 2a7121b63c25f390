#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {

/// Trains a job by autograd of PyTorch in one process, on whole batches, with PyTorch's optimizers:
/// nothing of the executor but the order of samples.
Trained train_reference(const plan::Job& job, const Values& initial,
                        const runtime::TrainOptions& options);

}  // namespace stepwright::testing

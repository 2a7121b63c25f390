#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

// Sizes of sequences that contain packed documents. Sequences of a job without documents have the
// job's sequence length.

/// Tokens of each sequence of a micro-batch, padding included, rounded up to what the plan's
/// context and tensor parallelism can divide.
std::int64_t sequence_length(const plan::Job& job, const plan::Plan& plan, MicroBatchSize size);

/// True if sequences differ in length, so that a micro-batch is padded to its longest sequence.
bool has_unequal_lengths(const plan::Job& job);

/// Documents of one sequence with masks of their own, as attention sees them; empty if each
/// sequence is one document of the full length. Context parallelism cuts each document into two
/// pieces for every rank, so each document is padded to a multiple of 2 x context (Megatron-Core
/// and Transformer Engine, `thd` layout) and fewer documents fit.
packing::LengthHistogram masked_documents(const plan::Job& job, const plan::Plan& plan,
                                          MicroBatchSize size);

/// Mean documents of one sequence, with their lengths before padding.
packing::LengthHistogram own_documents(const plan::Job& job, const plan::Plan& plan);

/// Tokens of a step: `slots` counts all token positions, padding included; `of_documents` only
/// tokens of documents.
struct StepTokens {
  double slots = 0;
  double of_documents = 0;
};
StepTokens step_tokens(const plan::Job& job, const plan::Plan& plan);
/// Tokens of data that a step trains on, independent of the plan: tokens of documents, if the job
/// has any.
double data_tokens(const plan::Job& job);

}  // namespace stepwright::step

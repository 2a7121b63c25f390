#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

// Sizes of sequences that contain packed documents. Sequences of a job without documents have the
// job's sequence length.

/// Returns the tokens of each sequence of a micro-batch, padding included, rounded up to a number
/// that the plan's context and tensor parallelism can divide.
std::int64_t padded_sequence_tokens(const plan::Job& job, const plan::Plan& plan,
                                    RepresentativeMicroBatch size);

/// True if sequences differ in length, so that a micro-batch is padded to its longest sequence or
/// not at all.
bool has_unequal_lengths(const plan::Job& job);

/// Returns the mean number of documents of each length in one sequence, if attention masks separate
/// documents; empty if each sequence is one document of the full length. Context parallelism cuts
/// each document into two pieces for every rank, so each document is padded to a multiple of 2 x
/// context (Megatron-Core and Transformer Engine, `thd` layout) and fewer documents fit.
packing::LengthHistogram mean_masked_documents_by_length(const plan::Job& job,
                                                         const plan::Plan& plan,
                                                         RepresentativeMicroBatch size);

/// Returns the mean number of documents of each length in one sequence; lengths are in tokens
/// before padding.
packing::LengthHistogram mean_documents_by_length(const plan::Job& job, const plan::Plan& plan);

/// Tokens of a training step over all ranks: `slots` counts all token positions, padding included;
/// `of_documents` counts only tokens of documents.
struct StepTokens {
  double slots = 0;
  double of_documents = 0;
};
StepTokens step_tokens(const plan::Job& job, const plan::Plan& plan);
/// Returns the tokens of data that a step trains on, independent of the plan: without padding if
/// the job describes its documents.
double trained_data_tokens_per_step(const plan::Job& job);

}  // namespace stepwright::step

#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

// What a job's documents make of the sequences of a plan. Jobs without documents have sequences of
// their length.

/// Tokens of each sequence of a micro-batch, padding included, in the multiples that the plan cuts.
std::int64_t sequence_length(const plan::Job& job, const plan::Plan& plan, MicroBatchSize size);

/// Whether micro-batches have as many tokens as their longest sequence.
bool has_unequal_lengths(const plan::Job& job);

/// The documents of one sequence that have masks of their own, as attention sees them: none where
/// each sequence is one document as long as itself. Context parallelism cuts each document into two
/// pieces for every rank, so that each is filled up to a multiple of that (Megatron-Core and
/// Transformer Engine, `thd` layout) and fewer find room.
packing::LengthHistogram masked_documents(const plan::Job& job, const plan::Plan& plan,
                                          MicroBatchSize size);

/// The documents of one sequence, in the mean, with their own lengths.
packing::LengthHistogram own_documents(const plan::Job& job, const plan::Plan& plan);

/// Tokens of a step: slots, padding included, and those of documents.
struct StepTokens {
  double slots = 0;
  double of_documents = 0;
};
StepTokens step_tokens(const plan::Job& job, const plan::Plan& plan);
/// Tokens of the data that a step trains on, whatever the plan: of documents, where there are some.
double data_tokens(const plan::Job& job);

}  // namespace stepwright::step

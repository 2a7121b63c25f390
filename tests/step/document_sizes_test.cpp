#include "stepwright/step/document_sizes.h"

#include <gtest/gtest.h>

#include "jobs.h"
#include "stepwright/step/attention_core.h"
#include "stepwright/step/work.h"

namespace stepwright::step {
namespace {

plan::Job with_documents(packing::LengthHistogram lengths, const packing::Packing& packing,
                         std::int64_t length = 1024) {
  plan::Job job = job_of("llama-3-8b", 1, 64, length);
  job.documents = plan::PackedDocumentBatch{.lengths = lengths, .packing = packing};
  job.documents->packs = packing::packed_sequence_statistics(lengths, packing, length);
  return job;
}

double attention_flops(const plan::Job& job, const plan::Plan& plan) {
  double sum = 0;
  for (const OperatorTemplate& piece :
       build_step_program(job, plan, RepresentativeMicroBatch::kMean).templates) {
    for (const Operator& op : piece.operators) {
      if (op.kind == OperatorKind::kAttention) sum += operator_flops(op);
    }
  }
  return sum;
}

TEST(DocumentSizes, AttentionGoesByTheSquaresOfPackedDocuments) {
  const plan::Job packed = with_documents({{256, 1}}, {.kind = packing::PackingKind::kGreedy});
  plan::Job whole = packed;
  whole.documents.reset();
  const plan::Plan plan = plan_of(packed, 1, 1);
  // Four documents of 256 in 1,024.
  EXPECT_NEAR(attention_flops(packed, plan) / attention_flops(whole, plan),
              4.0 * 256 * 257 / (1024.0 * 1025), 1e-12);
  const StepTokens tokens = step_tokens(packed, plan);
  EXPECT_EQ(tokens.slots, 64 * 1024);
  EXPECT_NEAR(tokens.of_documents, 64 * 1024, 1e-6);
}

TEST(DocumentSizes, PaddedSequencesComputeTheirPadding) {
  const plan::Job padded = with_documents({{256, 1}}, {.kind = packing::PackingKind::kNone});
  plan::Job whole = padded;
  whole.documents.reset();
  const plan::Plan plan = plan_of(padded, 1, 1);
  EXPECT_EQ(attention_flops(padded, plan), attention_flops(whole, plan));
  EXPECT_NEAR(step_tokens(padded, plan).of_documents, 64 * 256, 1e-6);
}

TEST(DocumentSizes, ToTheLongestTimesGoByTheMeanAndMemoryByTheLargest) {
  const plan::Job job = with_documents(
      {{100, 1}, {300, 1}},
      {.kind = packing::PackingKind::kNone, .pad_to = packing::PaddingTarget::kLongest});
  plan::Plan plan = plan_of(job, 1, 1);
  plan.micro_batch = 2;
  // The longest of two is 300 in three of four cases: 250, to within what was drawn.
  EXPECT_NEAR(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kMean), 250, 1);
  EXPECT_EQ(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kLargest), 1024);
  EXPECT_LE(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kLeast), 200);
  plan.parallel.tensor = 8;
  plan.parallel.context = 2;
  EXPECT_EQ(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kMean), 256);
  EXPECT_EQ(make_setting(job, plan).length, 1024);
  EXPECT_EQ(make_setting(job, plan, RepresentativeMicroBatch::kMean).tokens, 2 * 128);
}

TEST(DocumentSizes, WithoutPaddingMicroBatchesHaveTheTokensOfTheirDocuments) {
  const plan::Job job = with_documents(
      {{100, 1}, {300, 1}},
      {.kind = packing::PackingKind::kNone, .pad_to = packing::PaddingTarget::kNone});
  plan::Plan plan = plan_of(job, 1, 1);
  EXPECT_NEAR(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kMean), 200, 1);
  EXPECT_NEAR(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kLargest), 500, 1)
      << "three deviations";
  plan.micro_batch = 25;
  EXPECT_NEAR(padded_sequence_tokens(job, plan, RepresentativeMicroBatch::kLargest), 260, 1);
  EXPECT_NEAR(step_tokens(job, plan).slots, 64 * 200, 64);
  const packing::LengthHistogram documents =
      mean_masked_documents_by_length(job, plan, RepresentativeMicroBatch::kMean);
  EXPECT_NEAR(packing::total_document_count(documents), 1, 1e-9);
}

TEST(DocumentSizes, ContextParallelismFillsUpDocuments) {
  const plan::Job job = with_documents({{90, 1}}, {.kind = packing::PackingKind::kGreedy});
  const plan::Plan plan = plan_of(job, 1, 1, 8);
  // Eleven documents of 90 in 1,024; of 96, to multiples of 16, 15 / 16 as many.
  const packing::LengthHistogram documents =
      mean_masked_documents_by_length(job, plan, RepresentativeMicroBatch::kMean);
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].length, 96);
  EXPECT_NEAR(documents[0].count, 11 * 90.0 / 96, 1e-9);
  EXPECT_NEAR(step_tokens(job, plan).of_documents, 64 * 11 * 90 * 90.0 / 96, 1e-6);
  EXPECT_NEAR(mean_documents_by_length(job, plan)[0].count, documents[0].count, 1e-12);
}

TEST(DocumentSizes, FloorsAreBelowEveryPlansWork) {
  for (const packing::PackingKind kind :
       {packing::PackingKind::kGreedy, packing::PackingKind::kFirstFit}) {
    for (const double sigma : {0.3, 1.2}) {
      const plan::Job job =
          with_documents(packing::lognormal_length_histogram(120, sigma),
                         {.kind = kind, .too_long = packing::LongDocumentPolicy::kDrop});
      for (const std::int64_t context : {1, 2, 4, 8}) {
        const plan::Plan plan = plan_of(job, 1, 1, context);
        for (const auto& [layer, count] : job.model.layer_counts_by_class()) {
          const StepBuildSettings floor = make_setting(job, plan, RepresentativeMicroBatch::kLeast);
          const StepBuildSettings mean = make_setting(job, plan, RepresentativeMicroBatch::kMean);
          EXPECT_LE(mean_sequence_query_key_pairs(floor, layer),
                    mean_sequence_query_key_pairs(mean, layer))
              << context;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::step

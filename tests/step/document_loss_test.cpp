#include "stepwright/step/document_loss.h"

#include <gtest/gtest.h>

#include "jobs.h"
#include "stepwright/step/forwards.h"
#include "stepwright/step/work.h"

namespace stepwright::step {
namespace {

constexpr double kLogits = 4096.0 * 128256;  // Of a sequence, on a rank alone.

/// Returns a job with sequences of 4,096 tokens that consist of documents of one length.
plan::Job job_of_documents(std::int64_t length) {
  plan::Job job = job_of("llama-3-8b", 1, 64, 4096);
  const packing::LengthHistogram lengths = {{length, 1}};
  const packing::Packing packing{.kind = packing::PackingKind::kGreedy};
  job.documents = plan::PackedDocumentBatch{.lengths = lengths, .packing = packing};
  job.documents->packs = packing::packed_sequence_statistics(lengths, packing, job.length);
  job.kernels.document_loss = true;
  return job;
}

/// Returns the operator in a template that computes the loss of all documents.
Operator loss_in(const StepProgram& program, std::string_view name) {
  for (const OperatorTemplate& piece : program.templates) {
    if (piece.name != name) continue;
    for (const Operator& op : piece.operators) {
      if (op.purpose == OperatorPurpose::kDocumentLoss) return op;
    }
  }
  return {};
}

Operator loss_of(const plan::Job& job, std::string_view name) {
  return loss_in(build_step_program(job, plan_of(job, 1, 1), RepresentativeMicroBatch::kMean),
                 name);
}

// Logits in fp32 move 12 times in the forward, whatever the documents; in the backward 6 times, and
// whole for each document once, for each but the first three times more.
TEST(DocumentLoss, MovesWholeGradientsForEachDocument) {
  const double one = 4 * kLogits;
  for (const std::int64_t length : {4096, 1024, 512}) {
    const double documents = 4096.0 / static_cast<double>(length);
    const plan::Job job = job_of_documents(length);
    EXPECT_NEAR(device_memory_traffic_bytes(loss_of(job, "head.forward")), 12 * one, 1e-6 * one);
    EXPECT_NEAR(device_memory_traffic_bytes(loss_of(job, "head.backward")),
                (6 + 4 * documents - 3) * one, 1e-6 * one);
  }
}

// Of four documents 39 kernels each: 11 that cut, 19 of the log-probability, 9 of the likelihood. A
// policy has 99.
TEST(DocumentLoss, IssuesItsKernelsForEachDocument) {
  plan::Job job = job_of_documents(1024);
  EXPECT_EQ(loss_of(job, "head.forward").shape.inner, 4 * 39);
  EXPECT_EQ(loss_of(job, "head.backward").shape.inner, 4 * 30);
  job.method.kind = plan::TrainingMethodKind::kGrpo;
  EXPECT_EQ(loss_of(job, "head.forward").shape.inner, 4 * 99);
  EXPECT_EQ(loss_of(job, "head.backward").shape.inner, 4 * 51);
  plan::Plan plan = plan_of(job, 1, 1);
  plan.micro_batch = 2;
  EXPECT_EQ(loss_in(build_step_program(job, plan, RepresentativeMicroBatch::kMean), "head.forward")
                .shape.inner,
            2 * 4 * 99);
}

// Log-probabilities alone are taken of a whole pack, then cut.
TEST(DocumentLoss, WithoutAnUpdateIsTakenOnce) {
  const plan::Job job = job_of_documents(1024);
  const StepProgram forwards =
      forward_only_program(job, plan_of(job, 1, 1), RepresentativeMicroBatch::kMean);
  EXPECT_EQ(loss_in(forwards, "head.forward").shape.inner, 19 + 4 * 7);
  EXPECT_EQ(device_memory_traffic_bytes(loss_in(forwards, "head.forward")),
            device_memory_traffic_bytes(loss_of(job, "head.forward")));
}

TEST(DocumentLoss, SharesScoresOverTheVocabularyThreeTimesForEachDocument) {
  const plan::Job job = job_of_documents(1024);
  const plan::Plan plan = plan_of(job, 8, 1);
  std::int64_t messages = 0;
  double elements = 0;
  for (const OperatorTemplate& piece :
       build_step_program(job, plan, RepresentativeMicroBatch::kMean).templates) {
    if (piece.name != "head.forward") continue;
    for (const Operator& op : piece.operators) {
      if (op.kind != OperatorKind::kAllReduce) continue;
      messages += op.repeats;
      elements += static_cast<double>(op.repeats * op.payload_elements);
    }
  }
  EXPECT_EQ(messages, 3 * 4);
  EXPECT_EQ(elements, 3 * 4096);
}

}  // namespace
}  // namespace stepwright::step

#include "stepwright/step/document_loss.h"

#include <algorithm>
#include <cmath>

#include "stepwright/packing/length_histogram.h"
#include "stepwright/step/cross_entropy.h"

namespace stepwright::step {
namespace {

// Kernels and host copies for each document, counted in the sources: those that cut a document
// out are two bounds, an end of six tensors and the slice of the logits.
constexpr double kCuts = 11;
// Kernels of DistributedLogprob.forward: masks of the target, log-softmax.
constexpr double kScores = 19;
// Kernels of the policy loss: ratios, clips, divergence, six means, seven metrics.
constexpr double kPolicy = 69;
constexpr double kLikelihood = 9;
// Kernels of the backward of the scores, with the zeros, copy and sum of a slice.
constexpr double kScoresBackward = 23;
constexpr double kPolicyBackward = 28;
constexpr double kLikelihoodBackward = 7;
// Kernels if only log-probabilities are computed: bounds and copies.
constexpr double kUnpacked = 7;

// Number of times that logits in fp32 are read or written. Forward: the maximum, x - max, exp, the
// sum, minus its logarithm, a copy, exp in place. Backward: the negative softmax times the
// gradient, and its copy into zeros.
constexpr double kForwardMoves = 12;
constexpr double kBackwardMoves = 6;

double documents_of(const StepBuildSettings& s) {
  const double each = s.documents.empty() ? 1 : packing::total_document_count(s.documents);
  return static_cast<double>(s.batch) * each;
}

std::int64_t messages_of(const StepBuildSettings& s) {
  return s.trains ? std::max<std::int64_t>(1, std::llround(documents_of(s))) : 1;
}

/// Returns an operator of `moves` reads and writes of the logits: a pass is two moves.
Operator passes(const ModelBlockBuildContext& e, Phase phase, double moves, double kernels) {
  Operator op =
      operator_passing_over_logits(e, phase, "loss.documents", OperatorPurpose::kDocumentLoss);
  op.shape.rows = std::llround(moves / 2 * static_cast<double>(op.shape.rows));
  op.shape.inner = std::llround(kernels);
  return op;
}

double forward_kernels(const StepBuildSettings& s) {
  if (!s.trains) return kScores + kUnpacked * documents_of(s);
  return (kCuts + kScores + (s.policy_loss ? kPolicy : kLikelihood)) * documents_of(s);
}

double backward_kernels(const StepBuildSettings& s) {
  return (kScoresBackward + (s.policy_loss ? kPolicyBackward : kLikelihoodBackward)) *
         documents_of(s);
}

}  // namespace

void append_per_document_loss(ModelBlockBuildContext& e, TensorId logits) {
  const auto wide = [&](std::string_view name) {
    return logits_tensor(e, name, e.s.exact, loss_vocabulary_width(e.s));
  };
  const TensorId exact = wide("logits");
  e.out.add(operator_passing_over_logits(e, e.forward, "loss.cast"), {logits}, {exact});
  // The log-softmax is copied even if the sequence is a single document.
  const TensorId copy = wide("log_probabilities");
  const TensorId softmax = wide("softmax");
  const TensorId scores = create_loss_statistics_tensor(e, "scores", 3);
  e.out.add(passes(e, e.forward, kForwardMoves, forward_kernels(e.s)), {exact},
            {copy, softmax, scores});
  all_reduce_loss_statistics(e, scores, "loss.documents", false, 3 * messages_of(e.s));
  e.kept.set(KeptTensorRole::kLogits, softmax);
}

TensorId append_per_document_loss_gradient(ModelBlockBuildContext& e) {
  constexpr Phase kPhase = Phase::kDataGradient;
  const auto wide = [&](std::string_view name) {
    return logits_tensor(e, name, e.s.exact, loss_vocabulary_width(e.s));
  };
  const double documents = documents_of(e.s);
  // Zeros for each document, and a sum of two tensors for each document after the first.
  const double whole = documents + 3 * std::max(0.0, documents - 1);
  const TensorId sum = wide("gradient");
  const TensorId next = wide("gradient");
  e.out.add(passes(e, kPhase, kBackwardMoves + whole, backward_kernels(e.s)),
            {e.kept.get(KeptTensorRole::kLogits)}, {sum, next});
  const TensorId gradient = logits_tensor(e, "gradient", e.s.storage, loss_vocabulary_width(e.s));
  e.out.add(operator_passing_over_logits(e, kPhase, "loss.cast"), {sum}, {gradient});
  return gradient;
}

}  // namespace stepwright::step

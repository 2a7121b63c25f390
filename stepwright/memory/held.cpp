#include "stepwright/memory/held.h"

#include <algorithm>
#include <map>
#include <utility>

#include "stepwright/cluster/generation.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::memory {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr int kHopper = 9;  // major compute capability of Hopper

/// cuBLAS handles: one for the forward's thread and one for autograd's.
constexpr int kBlasHandles = 2;

/// Streams of grouped products, each with a workspace (NVIDIA/TransformerEngine
/// transformer_engine/common/util/multi_stream.cpp).
constexpr int kGroupedStreams = 4;

/// Streams of products that overlap tensor-parallel messages, each with a workspace of its own
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py, _NUM_MAX_UB_STREAMS).
constexpr int kOverlappedStreams = 3;

/// Tokens, labels and positions have 8 bytes each, the loss mask 4 (NVIDIA/Megatron-LM
/// megatron/training/utils/common_utils.py, get_batch_on_this_tp_rank).
constexpr double kBatchBytesPerToken = 28;

/// Calls `take` with each template of a stage and each operator in it.
template <class Take>
void for_each_operator(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                       const Take& take) {
  for (const step::TemplateSequence& sequence : stage.sequences) {
    for (const step::TemplateSequenceItem& item : sequence.items) {
      const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const step::Operator& op : piece.operators) take(piece, op);
    }
  }
}

double written_bytes(const step::OperatorTemplate& piece, const step::Operator& op) {
  double bytes = 0;
  for (const step::TensorId id : piece.writes(op)) {
    bytes = std::max(bytes, static_cast<double>(piece.tensors[id].bytes()));
  }
  return bytes;
}

/// True for a message of a dispatcher that gathers the rows of all ranks of the expert group.
bool gathers_rows(const plan::Job& job, const step::Operator& op) {
  return op.scheme == step::ParallelismScheme::kExpert && op.phase == step::Phase::kForward &&
         job.dispatcher == plan::TokenDispatcher::kAllGather;
}

/// Facts of a stage that are found from its operators.
struct StageFacts {
  bool routes = false;     ///< True if the stage has experts.
  bool in_pieces = false;  ///< True if products overlap with messages of tensor parallelism.
  double scores = 0;       ///< Bytes of scores of unfused attention.
  /// Bytes of the gathered input of the head or of the experts' gathered rows, whichever is larger.
  double gathered = 0;
  double stage_input = 0;
  double batch = 0;
  double wide_gradients = 0;
  bool sums_whole = false;  ///< True if gradients are all-reduced, not reduce-scattered.
};

/// Returns the index after the last token that a loss operator works on, which is the number of
/// tokens for the last chunk.
double tokens_until(const step::Operator& op) {
  const std::int64_t last = op.rows.first + op.rows.count;
  return static_cast<double>(op.rows.count > 0 ? last : op.shape.rows);
}

StageFacts facts_of(const plan::Job& job, const step::StepProgram& program,
                    const step::PipelineStageProgram& stage) {
  StageFacts facts;
  for_each_operator(
      program, stage, [&](const step::OperatorTemplate& piece, const step::Operator& op) {
        const auto rows = static_cast<double>(op.shape.rows);
        if (op.in_pieces && op.scheme == step::ParallelismScheme::kTensor) facts.in_pieces = true;
        if (op.purpose == step::OperatorPurpose::kReduceGradients) {
          facts.sums_whole |= op.kind == step::OperatorKind::kAllReduce;
        }
        switch (op.kind) {
          case step::OperatorKind::kScores:
            if (op.phase == step::Phase::kForward) facts.scores = written_bytes(piece, op);
            break;
          case step::OperatorKind::kGroupedLinear: facts.routes = true; break;
          case step::OperatorKind::kAllGather:
            if (op.part == step::LayerPart::kHead || gathers_rows(job, op)) {
              facts.gathered = std::max(facts.gathered, written_bytes(piece, op));
            }
            break;
          case step::OperatorKind::kReceive: facts.stage_input = written_bytes(piece, op); break;
          case step::OperatorKind::kLossLocal:
            facts.batch =
                std::max(facts.batch, tokens_until(op) *
                                          (kBatchBytesPerToken + static_cast<double>(job.length)));
            break;
          case step::OperatorKind::kNormSquare:
            if (bytes_of_elements(op.dtype, 1) < bytes_of_elements(DType::kFp32, 1)) {
              facts.wide_gradients = rows * static_cast<double>(bytes_of_elements(DType::kFp32, 1));
            }
            break;
          default: break;
        }
      });
  return facts;
}

}  // namespace

double blas_workspace_bytes(const cluster::DeviceModel& device, bool deterministic) {
  const bool large =
      deterministic || cluster::device_generation_of(device).compute_capability == kHopper;
  return large ? 8 * 4096 * kKiB : 2 * 4096 * kKiB + 8 * 16 * kKiB;
}

double transformer_engine_workspace_bytes(const cluster::DeviceModel& device) {
  return cluster::device_generation_of(device).compute_capability >= kHopper ? 32 * kMiB : 4 * kMiB;
}

namespace {

/// The bytes that a chunk receives of one micro-batch in a direction.
using Received = std::map<std::pair<std::int32_t, schedule::Direction>, double>;

Received received_bytes(const step::StepProgram& program, const step::PipelineStageProgram& stage) {
  Received received;
  for (const step::TemplateSequence& sequence : stage.sequences) {
    double bytes = 0;
    for (const step::TemplateSequenceItem& item : sequence.items) {
      const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const step::Operator& op : piece.operators) {
        if (op.kind == step::OperatorKind::kReceive) bytes += written_bytes(piece, op);
      }
    }
    received[{sequence.chunk, sequence.direction}] = bytes;
  }
  return received;
}

/// Bytes of the gradients of received inputs, for chunks with a split backward.
double input_gradients(const Received& received) {
  double all = 0;
  for (const auto& [which, bytes] : received) {
    const auto& [chunk, direction] = which;
    const bool cut = received.contains({chunk, schedule::Direction::kDataGradient});
    if (cut && direction == schedule::Direction::kForward) all += bytes;
  }
  return all;
}

}  // namespace

FrameworkHeldBytes framework_held_bytes(const plan::Job& job, const step::StepProgram& program,
                                        const step::PipelineStageProgram& stage) {
  const plan::WordSet& words = plan::framework_defaults(job.framework).holds;
  const auto holds = [&](plan::AllocatorMemoryKind what) {
    return words[static_cast<std::size_t>(what)];
  };
  const cluster::DeviceModel& device = job.cluster.device;
  const StageFacts facts = facts_of(job, program, stage);
  const bool engine = job.kernels.transformer_engine;
  FrameworkHeldBytes held;
  if (holds(plan::AllocatorMemoryKind::kBlasWorkspaces)) {
    held.always += kBlasHandles * blas_workspace_bytes(device, job.kernels.deterministic);
  }
  if (holds(plan::AllocatorMemoryKind::kEngineWorkspaces)) {
    const int products =
        (engine || facts.routes ? 1 : 0) + (engine && facts.in_pieces ? kOverlappedStreams : 0);
    const int grouped = facts.routes && engine && job.kernels.grouped_experts ? kGroupedStreams : 0;
    held.always += (products + grouped) * transformer_engine_workspace_bytes(device);
  }
  if (holds(plan::AllocatorMemoryKind::kProductBuffer)) {
    held.always += std::max(engine ? 0 : facts.scores, facts.gathered);
  }
  if (holds(plan::AllocatorMemoryKind::kReceiveBuffers)) {
    const Received received = received_bytes(program, stage);
    double each = holds(plan::AllocatorMemoryKind::kInputGradients) ? input_gradients(received) : 0;
    for (const auto& [which, bytes] : received) each += bytes;
    held.always += static_cast<double>(program.micro_batches) * each;
  }
  if (holds(plan::AllocatorMemoryKind::kReducerBuckets) && facts.sums_whole) {
    held.always += static_cast<double>(stage.states.gradients);
  }
  if (holds(plan::AllocatorMemoryKind::kStageInputs)) held.stage_input = facts.stage_input;
  if (holds(plan::AllocatorMemoryKind::kWideGradients)) held.between_steps = facts.wide_gradients;
  held.fresh_gradients = holds(plan::AllocatorMemoryKind::kFreshGradients);
  held.whole_first_stage = holds(plan::AllocatorMemoryKind::kWholeFirstStage);
  if (holds(plan::AllocatorMemoryKind::kBatch)) held.in_passes = facts.batch;
  return held;
}

}  // namespace stepwright::memory

#include "stepwright/memory/held.h"

#include <algorithm>
#include <map>
#include <utility>

#include "stepwright/cluster/generation.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr int kHopper = 9;  // compute capability

/// The thread of the forward, and that of autograd.
constexpr int kBlasHandles = 2;

/// Streams of grouped products, each with a workspace (NVIDIA/TransformerEngine
/// transformer_engine/common/util/multi_stream.cpp).
constexpr int kGroupedStreams = 4;

/// Streams of products beside the messages of tensor parallelism, whose workspaces are of their own
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py, _NUM_MAX_UB_STREAMS).
constexpr int kOverlappedStreams = 3;

/// Tokens, labels and positions are of 8 bytes, the mask of the loss of 4 (NVIDIA/Megatron-LM
/// megatron/training/utils/common_utils.py, get_batch_on_this_tp_rank).
constexpr double kBatchBytesPerToken = 28;

/// Calls `take` with each template of a stage and each operator in it.
template <class Take>
void for_each_operator(const StepProgram& program, const Stage& stage, const Take& take) {
  for (const Sequence& sequence : stage.sequences) {
    for (const Item& item : sequence.items) {
      const Template& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const Operator& op : piece.operators) take(piece, op);
    }
  }
}

double written_bytes(const Template& piece, const Operator& op) {
  double bytes = 0;
  for (const TensorId id : piece.writes(op)) {
    bytes = std::max(bytes, static_cast<double>(piece.tensors[id].bytes()));
  }
  return bytes;
}

/// The rows of all ranks that share experts, where a dispatcher gathers them.
bool gathers_rows(const Job& job, const Operator& op) {
  return op.scheme == Scheme::kExpert && op.phase == Phase::kForward &&
         job.dispatcher == Dispatcher::kAllGather;
}

/// What its operators say of a stage.
struct StageFacts {
  bool routes = false;     ///< It has experts.
  bool in_pieces = false;  ///< Its products overlap with messages of tensor parallelism.
  double scores = 0;       ///< Of unfused attention.
  double gathered = 0;     ///< The input of the head, or the rows of experts; the larger.
  double stage_input = 0;
  double batch = 0;
  double wide_gradients = 0;
};

/// Tokens of a loss up to the last one that an operator works on: of its last chunk all.
double tokens_until(const Operator& op) {
  const std::int64_t last = op.rows.first + op.rows.count;
  return static_cast<double>(op.rows.count > 0 ? last : op.shape.rows);
}

StageFacts facts_of(const Job& job, const StepProgram& program, const Stage& stage) {
  StageFacts facts;
  for_each_operator(program, stage, [&](const Template& piece, const Operator& op) {
    const auto rows = static_cast<double>(op.shape.rows);
    if (op.in_pieces && op.scheme == Scheme::kTensor) facts.in_pieces = true;
    switch (op.kind) {
      case OperatorKind::kScores:
        if (op.phase == Phase::kForward) facts.scores = written_bytes(piece, op);
        break;
      case OperatorKind::kGroupedLinear: facts.routes = true; break;
      case OperatorKind::kAllGather:
        if (op.part == LayerPart::kHead || gathers_rows(job, op)) {
          facts.gathered = std::max(facts.gathered, written_bytes(piece, op));
        }
        break;
      case OperatorKind::kReceive: facts.stage_input = written_bytes(piece, op); break;
      case OperatorKind::kLossLocal:
        facts.batch = std::max(facts.batch, tokens_until(op) * (kBatchBytesPerToken +
                                                                static_cast<double>(job.length)));
        break;
      case OperatorKind::kNormSquare:
        if (size_bytes(op.dtype, 1) < size_bytes(DType::kFp32, 1)) {
          facts.wide_gradients = rows * static_cast<double>(size_bytes(DType::kFp32, 1));
        }
        break;
      default: break;
    }
  });
  return facts;
}

}  // namespace

double blas_workspace_bytes(const Device& device, bool deterministic) {
  const bool large = deterministic || generation_of(device).compute_capability == kHopper;
  return large ? 8 * 4096 * kKiB : 2 * 4096 * kKiB + 8 * 16 * kKiB;
}

double engine_workspace_bytes(const Device& device) {
  return generation_of(device).compute_capability >= kHopper ? 32 * kMiB : 4 * kMiB;
}

namespace {

/// The bytes that a chunk receives of one micro-batch in a direction.
using Received = std::map<std::pair<std::int32_t, Direction>, double>;

Received received_bytes(const StepProgram& program, const Stage& stage) {
  Received received;
  for (const Sequence& sequence : stage.sequences) {
    double bytes = 0;
    for (const Item& item : sequence.items) {
      const Template& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const Operator& op : piece.operators) {
        if (op.kind == OperatorKind::kReceive) bytes += written_bytes(piece, op);
      }
    }
    received[{sequence.chunk, sequence.direction}] = bytes;
  }
  return received;
}

/// The gradients of what chunks receive whose backward is cut.
double input_gradients(const Received& received) {
  double all = 0;
  for (const auto& [which, bytes] : received) {
    const auto& [chunk, direction] = which;
    const bool cut = received.contains({chunk, Direction::kDataGradient});
    if (cut && direction == Direction::kForward) all += bytes;
  }
  return all;
}

}  // namespace

HeldBytes held_bytes(const Job& job, const StepProgram& program, const Stage& stage) {
  const WordSet words = framework_defaults(job.framework).holds;
  const auto holds = [&](HeldMemory what) { return words[static_cast<std::size_t>(what)]; };
  const Device& device = job.cluster.device;
  const StageFacts facts = facts_of(job, program, stage);
  const bool engine = job.kernels.transformer_engine;
  HeldBytes held;
  if (holds(HeldMemory::kBlasWorkspaces)) {
    held.always += kBlasHandles * blas_workspace_bytes(device, job.kernels.deterministic);
  }
  if (holds(HeldMemory::kEngineWorkspaces)) {
    const int products =
        (engine || facts.routes ? 1 : 0) + (engine && facts.in_pieces ? kOverlappedStreams : 0);
    const int grouped = facts.routes && engine && job.kernels.grouped_experts ? kGroupedStreams : 0;
    held.always += (products + grouped) * engine_workspace_bytes(device);
  }
  if (holds(HeldMemory::kProductBuffer)) {
    held.always += std::max(engine ? 0 : facts.scores, facts.gathered);
  }
  if (holds(HeldMemory::kReceiveBuffers)) {
    const Received received = received_bytes(program, stage);
    double each = holds(HeldMemory::kInputGradients) ? input_gradients(received) : 0;
    for (const auto& [which, bytes] : received) each += bytes;
    held.always += static_cast<double>(program.micro_batches) * each;
  }
  if (holds(HeldMemory::kStageInputs)) held.stage_input = facts.stage_input;
  if (holds(HeldMemory::kWideGradients)) held.between_steps = facts.wide_gradients;
  held.fresh_gradients = holds(HeldMemory::kFreshGradients);
  held.whole_first_stage = holds(HeldMemory::kWholeFirstStage);
  if (holds(HeldMemory::kBatch)) held.in_passes = facts.batch;
  return held;
}

}  // namespace stepwright

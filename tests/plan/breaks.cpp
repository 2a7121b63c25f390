#include "tests/plan/breaks.h"

#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

void interleave(Plan& plan, std::int64_t chunks) {
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = chunks};
}

std::vector<Break> grid_breaks() {
  return {
      {PlanLegalityRule::kPositive, false, [](Job&, Plan& plan) { plan.micro_batch = 0; },
       "micro_batch is 0, and sizes are at least 1; nearest legal: micro_batch 1"},
      {PlanLegalityRule::kPositive, false, [](Job&, Plan& plan) { plan.parallel.data = -2; },
       "parallel.data is -2, and sizes are at least 1; nearest legal: data 2"},
      {PlanLegalityRule::kWorldSize, false, [](Job&, Plan& plan) { plan.parallel.data = 3; },
       "the product of tensor 2, context 2, data 3 and pipeline 2 must be 16, the number of "
       "devices; nearest legal: data 2"},
      {PlanLegalityRule::kWorldSize, false, [](Job&, Plan& plan) { plan.parallel.pipeline = 3; },
       "the product of tensor 2, context 2, data 2 and pipeline 3 must be 16, the number of "
       "devices; nearest legal: "
       "pipeline 2, or pipeline 4 with data 1"},
      {PlanLegalityRule::kRankOrder, true,
       [](Job&, Plan& plan) {
         plan.parallel.expert = 2;
         plan.rank_order = *parse_rank_order("tp-cp-ep-pp-dp");
       },
       "under tp-cp-ep-pp-dp the pipeline has stride 4 on the dense and 2 on the expert side; "
       "nearest legal: rank_order tp-cp-ep-dp-pp"},
      {PlanLegalityRule::kRankOrder, false,
       [](Job&, Plan& plan) { plan.rank_order.axes[0] = ParallelismAxis::kPipeline; },
       "pp-cp-ep-dp-pp does not name each axis once; nearest legal: rank_order tp-cp-ep-dp-pp"}};
}

std::vector<Break> tensor_breaks() {
  return {{PlanLegalityRule::kTensorDividesHeads, false,
           [](Job& job, Plan& plan) {
             job.model.heads = job.model.kv_heads = 40;
             job.model.ffn = 320;
             plan.parallel = {.tensor = 16};
           },
           "40 heads are not a multiple of tensor 16; nearest legal: tensor 8 with data 2"},
          {PlanLegalityRule::kTensorDividesHeads, false,
           [](Job&, Plan& plan) { plan.parallel = {.tensor = 8, .data = 2}; },
           "4 kv_heads are not a multiple of tensor 8; nearest legal: tensor 4 with data 4"},
          {PlanLegalityRule::kTensorDividesFfn, false,
           [](Job& job, Plan& plan) {
             job.model.ffn = 102;
             plan.parallel = {.tensor = 4, .data = 4};
           },
           "ffn 102 is not a multiple of tensor 4; nearest legal: tensor 2 with data 8"},
          {PlanLegalityRule::kTensorDividesFfn, true,
           [](Job& job, Plan&) { job.model.experts->shared_ffn = 33; },
           "shared_ffn 33 is not a multiple of tensor 2; nearest legal: tensor 1 with data 4, "
           "sequence_parallel false"},
          {PlanLegalityRule::kSequenceParallelNeedsTensor, false,
           [](Job&, Plan& plan) {
             plan.parallel = {.data = 16};
             plan.sequence_parallel = true;
           },
           "sequence_parallel splits tokens over the tensor ranks, but tensor is 1; nearest legal: "
           "sequence_parallel false"}};
}

std::vector<Break> context_breaks() {
  return {
      {PlanLegalityRule::kContextDividesLength, false, [](Job& job, Plan&) { job.length = 62; },
       "length 62 is not a multiple of 2 x context 2; nearest legal: context 1 with data 4"},
      {PlanLegalityRule::kUlyssesDividesHeads, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.tensor = 2, .context = 4, .data = 2};
         plan.context_kind = ContextKind::kUlysses;
       },
       "4 kv_heads / tensor 2 are not a multiple of context 4 (ulysses); nearest legal: context 2 "
       "with data 4"},
      {PlanLegalityRule::kLengthDividesTensor, false,
       [](Job& job, Plan& plan) {
         job.length = 4;
         plan.parallel = {.tensor = 4, .context = 2, .data = 2};
         plan.sequence_parallel = true;
       },
       "length 4 / context 2 is not a multiple of tensor 4 (sequence_parallel); nearest legal: "
       "sequence_parallel false"},
      {PlanLegalityRule::kLengthWithinPositions, false,
       [](Job& job, Plan&) {
         job.model.position = model::PositionEncoding::kLearned;
         job.length = 128;
       },
       "length 128 is beyond the 64 learned positions of small; nearest legal: batch.length 64"}};
}

std::vector<Break> coverage_breaks() {
  return {
      {PlanLegalityRule::kUnfusedContext, false,
       [](Job& job, Plan&) { job.kernels.attention = cluster::AttentionKernel::kUnfused; },
       "kernels.attention is unfused and context_kind ring: scores of a part of the keys are not "
       "supported yet; nearest legal: context_kind ulysses"},
      {PlanLegalityRule::kFrozenStep, false,
       [](Job& job, Plan&) { job.model.frozen = {.embedding = true, .layers = 1}; },
       "splits layers that have no backward, which is not supported yet; nearest legal: pipeline "
       "1"},
      {PlanLegalityRule::kMultiTokenStep, false,
       [](Job& job, Plan&) {
         job.model.multi_token_layers = 1;
         job.model.count_multi_token = true;
         job.model.position = model::PositionEncoding::kNone;
         job.model.embedding_norm = true;
       },
       "model.count_multi_token with position none and a norm of the embedding: multi-token layers "
       "that add more to embedded tokens are not supported yet; nearest legal: "
       "model.count_multi_token false"},
      {PlanLegalityRule::kDeferredHead, false,
       [](Job& job, Plan& plan) {
         job.kernels.loss_chunks = 8;
         plan.overlap.defer_embedding_gradient = true;
       },
       "overlap.defer_embedding_gradient is true with kernels.loss_chunks 8, kernels.loss_keeps "
       "logits and 0 multi-token layers; nearest legal: overlap.defer_embedding_gradient false"}};
}

std::vector<Break> expert_breaks() {
  return {
      {PlanLegalityRule::kExpertNeedsExperts, false,
       [](Job&, Plan& plan) { plan.parallel.expert = 2; },
       "expert is 2 and expert_tensor 1, but small has no experts; nearest legal: expert 1"},
      {PlanLegalityRule::kExpertDividesExperts, true,
       [](Job&, Plan& plan) { plan.parallel.expert = 3; },
       "8 experts are not a multiple of expert 3; nearest legal: expert 2, or expert 4"},
      {PlanLegalityRule::kExpertTensorDividesFfn, true,
       [](Job& job, Plan& plan) {
         job.model.experts->ffn = 50;
         plan.parallel.expert = 1;
         plan.parallel.expert_tensor = 4;
       },
       "expert ffn 50 is not a multiple of expert_tensor 4; nearest legal: expert_tensor 2"},
      {PlanLegalityRule::kExpertGridDivides, true,
       [](Job&, Plan& plan) { plan.parallel.expert_tensor = 4; },
       "expert 4 x expert_tensor 4 do not divide tensor 2 x context 2 x data 2 = 8; nearest legal: "
       "expert 2"},
      {PlanLegalityRule::kExpertNeedsSequenceParallel, true,
       [](Job&, Plan& plan) { plan.sequence_parallel = false; },
       "expert 4 and expert_tensor 1 with tensor 2 need sequence_parallel: without it the tensor "
       "ranks route the same tokens; nearest legal: sequence_parallel true"}};
}

std::vector<Break> layer_breaks() {
  return {
      {PlanLegalityRule::kStagesWithinLayers, false, [](Job&, Plan& plan) { interleave(plan, 5); },
       "pipeline 2 x chunks 5 are more than the 8 layers; nearest legal: chunks 4"},
      {PlanLegalityRule::kLayerSplit, false, [](Job&, Plan& plan) { plan.layers = {4, 5}; },
       "layers [4, 5] do not split 8 layers into 2 chunks (pipeline 2 x chunks 1) that "
       "leave no position without any part of the model; nearest legal: layers even"},
      {PlanLegalityRule::kLayerSplit, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.pipeline = 4, .data = 4};
         plan.layers = {4, 0, 4, 0};
       },
       "layers [4, 0, 4, 0] do not split 8 layers into 4 chunks (pipeline 4 x chunks 1) that leave "
       "no position without any part of the model; nearest legal: layers even"},
      {PlanLegalityRule::kChunksNeedInterleaving, false,
       [](Job&, Plan& plan) { plan.schedule.chunks = 2; },
       "2 chunks need the interleaved schedule, but the schedule is 1f1b; nearest legal: chunks 1, "
       "or "
       "schedule interleaved"},
      {PlanLegalityRule::kChunksNeedInterleaving, false,
       [](Job&, Plan& plan) { plan.schedule = {schedule::PipelineScheduleKind::kFolded, 3}; },
       "the schedule folded has 2 chunks, but chunks is 3; nearest legal: chunks 2, or schedule "
       "interleaved"},
      {PlanLegalityRule::kInterleavingNeedsChunks, false,
       [](Job&, Plan& plan) { interleave(plan, 1); },
       "the schedule interleaved has at least 2 chunks, but chunks is 1; nearest legal: schedule "
       "1f1b, or chunks 2"},
      {PlanLegalityRule::kInterleavingNeedsChunks, false,
       [](Job&, Plan& plan) { plan.schedule = {schedule::PipelineScheduleKind::kZeroBubbleV, 1}; },
       "the schedule zb-v has 2 chunks, but chunks is 1; nearest legal: schedule 1f1b, or chunks "
       "2"},
      {PlanLegalityRule::kScheduleNeedsPipeline, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.data = 16};
         interleave(plan, 2);
       },
       "the schedule interleaved needs a pipeline, but pipeline is 1; nearest legal: schedule 1f1b "
       "with chunks 1"},
      {PlanLegalityRule::kStrandsNeedPairs, false,
       [](Job&, Plan& plan) { plan.schedule.strands = 2; },
       "strands is 2, but the schedule 1f1b runs no forward at the same time as a backward (the "
       "schedules folded, dualpipev, "
       "paired and stp do); nearest legal: strands 1, or schedule folded with chunks 2"},
      {PlanLegalityRule::kScheduleNeedsPipeline, false,
       [](Job&, Plan& plan) {
         plan.parallel = {.data = 16};
         plan.schedule = {schedule::PipelineScheduleKind::kZeroBubbleH1, 1};
       },
       "the schedule zb-h1 needs a pipeline, but pipeline is 1; nearest legal: schedule 1f1b"}};
}

std::vector<Break> batch_breaks() {
  return {
      {PlanLegalityRule::kBatchDivides, false, [](Job&, Plan& plan) { plan.micro_batch = 3; },
       "the batch of 32 sequences cannot be shared by 2 data-parallel replicas in micro-batches of "
       "3; nearest batches: 30 and 36; nearest legal: micro_batch 2, "
       "or micro_batch 4"},
      {PlanLegalityRule::kBatchDivides, false, [](Job& job, Plan&) { job.sequences = 7; },
       "the batch of 7 sequences cannot be shared by 2 data-parallel replicas; nearest batches: 6 "
       "and 8; nearest legal: pipeline 4 with "
       "data 1"},
      {PlanLegalityRule::kInterleavingNeedsGroups, false,
       [](Job&, Plan& plan) {
         plan.micro_batch = 16;
         interleave(plan, 2);
       },
       "1 micro-batches do not come in groups of 1 of which each, the last one too, has pipeline 2 "
       "or more (interleaved); nearest legal: micro_batch 8"},
      {PlanLegalityRule::kInterleavingNeedsGroups, false,
       [](Job& job, Plan& plan) {
         job.sequences = 10;
         interleave(plan, 2);
         plan.schedule.group = 4;
       },
       "5 micro-batches do not come in groups of 4 of which each, the last one too, has pipeline 2 "
       "or more (interleaved); nearest legal: schedule.group 3"},
      {PlanLegalityRule::kDualPipeEnds, false,
       [](Job& job, Plan& plan) {
         job.sequences = 30;
         plan.schedule = {schedule::PipelineScheduleKind::kDualPipe, 2};
       },
       "the schedule dualpipe needs an even number of positions and of micro-batches; pipeline is "
       "2, micro-batches are 15; nearest legal: schedule 1f1b with chunks 1"},
      {PlanLegalityRule::kDualPipeMicroBatches, false,
       [](Job&, Plan& plan) {
         plan.micro_batch = 8;
         plan.schedule = {schedule::PipelineScheduleKind::kDualPipeV, 2};
       },
       "the schedule dualpipev needs at least 4 micro-batches with pipeline 2; they are 2; nearest "
       "legal: micro_batch 4"},
      {PlanLegalityRule::kDualPipeMicroBatches, false,
       [](Job&, Plan& plan) {
         plan.micro_batch = 4;
         plan.schedule = {schedule::PipelineScheduleKind::kStp, 2};
       },
       "the schedule stp needs at least 6 micro-batches with pipeline 2; they are 4; nearest "
       "legal: micro_batch 2"},
      {PlanLegalityRule::kVocabularyStep, false,
       [](Job& job, Plan& plan) {
         job.kernels.gathered_logits = true;
         plan.schedule = {schedule::PipelineScheduleKind::kSpreadVocabulary, 1};
       },
       "the schedule 1f1b-vocab with kernels.gathered_logits is not supported yet; nearest "
       "legal: schedule 1f1b"},
      {PlanLegalityRule::kVocabularyStep, false,
       [](Job& job, Plan& plan) {
         job.kernels.loss_chunks = 4;
         plan.schedule = {schedule::PipelineScheduleKind::kVocabularyOne, 1};
       },
       "the schedule vocab-1 with kernels.loss_chunks is not supported yet; nearest legal: "
       "schedule 1f1b"},
      {PlanLegalityRule::kStrandsNeedMicroBatches, false,
       [](Job&, Plan& plan) {
         plan.micro_batch = 16;
         plan.schedule = {
             .kind = schedule::PipelineScheduleKind::kFolded, .chunks = 2, .strands = 2};
       },
       "strands is 2 and needs 2 micro-batches, but a step has 1; nearest legal: micro_batch 8"},
      {PlanLegalityRule::kStepPasses, false,
       [](Job& job, Plan& plan) {
         job.sequences = std::int64_t{1} << 19;
         plan.micro_batch = 1;
       },
       "micro-batches 262144 x pipeline 2 x chunks 1 are more than 262144 passes of a step, which "
       "are simulated one by one; nearest legal: micro_batch 2"}};
}

std::vector<Break> sharding_breaks() {
  return {
      {PlanLegalityRule::kShardingStrategy, false,
       [](Job&, Plan& plan) { plan.sharding.parameters = StateShardingScope::kGlobal; },
       "sharding GNN splits the optimizer states less finely than parameters or gradients; nearest "
       "legal: sharding GNG, or sharding NNN"},
      {PlanLegalityRule::kShardingGroup, false,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_named_by_word("IIG");
         plan.sharding.group = 3;
       },
       "group 3 does not cut context 2 x data 2 into equal runs of ranks; nearest legal: "
       "sharding_group 2, or sharding_group 4"},
      {PlanLegalityRule::kShardingGroup, false, [](Job&, Plan& plan) { plan.sharding.group = 2; },
       "group 2 has no effect in NNN, which splits nothing inside groups; nearest legal: "
       "sharding_group 1"},
      {PlanLegalityRule::kShardingGroup, false,
       [](Job& job, Plan& plan) {
         job.cluster = small_cluster(3, 8);
         plan.parallel = {.tensor = 2, .context = 4, .data = 3};
         plan.rank_order = *parse_rank_order("cp-tp-ep-dp-pp");
         job.sequences = 24;
         plan.sharding = *sharding_named_by_word("III");
         plan.sharding.group = 6;
       },
       "group 6 does not cut context 4 x data 3 into equal runs of ranks; nearest legal: "
       "sharding_group 4, or sharding_group 12"}};
}

std::vector<Break> collective_breaks() {
  return {
      {PlanLegalityRule::kTensorCollectives, false,
       [](Job&, Plan& plan) { plan.collectives.tensor = collective::CollectiveAlgorithm::kNvls; },
       "nvls needs switches that sum data and at least 8 ranks on a node; tensor has 2 ranks on 1 "
       "node, "
       "and no switch of small adds; nearest legal: collectives.tensor library"},
      {PlanLegalityRule::kContextCollectives, false,
       [](Job&, Plan& plan) {
         plan.collectives.context = collective::CollectiveAlgorithm::kDirect;
       },
       "direct carries out none of the collectives that context parallelism has here; nearest "
       "legal: collectives.context library"},
      {PlanLegalityRule::kExpertCollectives, true,
       [](Job&, Plan& plan) { plan.collectives.expert = collective::CollectiveAlgorithm::kTree; },
       "tree carries out none of the collectives that expert parallelism has here; nearest legal: "
       "collectives.expert library"},
      {PlanLegalityRule::kDataCollectives, false,
       [](Job&, Plan& plan) { plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel; },
       "two-level needs several ranks on each of several nodes, as many on each; data-context has "
       "4 ranks on 1 node; nearest legal: collectives.data library"},
      {PlanLegalityRule::kDataCollectives, false,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_named_by_word("GGG");
         plan.collectives.data = collective::CollectiveAlgorithm::kTree;
       },
       "tree carries out none of the collectives that data parallelism has here; nearest legal: "
       "collectives.data library"}};
}

std::vector<Break> state_breaks() {
  return {
      {PlanLegalityRule::kExpertShardingGroup, true,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_named_by_word("III");
         plan.sharding.expert_group = 4;
       },
       "expert_group 4 does not divide the 2 ranks that hold the same experts; nearest legal: "
       "expert_group 2"},
      {PlanLegalityRule::kExpertShardingGroup, true,
       [](Job&, Plan& plan) { plan.sharding.expert_group = 2; },
       "expert_group 2 has no effect in NNN, which splits nothing inside groups; nearest legal: "
       "expert_group 1"},
      {PlanLegalityRule::kExpertShardingGroup, false,
       [](Job&, Plan& plan) {
         plan.sharding = *sharding_named_by_word("III");
         plan.sharding.expert_group = 2;
       },
       "expert_group is 2, but small has no experts; nearest legal: expert_group 1"},
      {PlanLegalityRule::kRecomputeEvery, false,
       [](Job&, Plan& plan) { plan.recompute = {.kind = RecomputeKind::kEvery, .every = 0}; },
       "recompute every 0 layers; it is at least 1; nearest legal: recompute every 1"},
      {PlanLegalityRule::kRecomputeModules, false,
       [](Job&, Plan& plan) {
         plan.recompute = {.kind = RecomputeKind::kModules,
                           .modules = {RecomputeModule::kNorm, RecomputeModule::kMoe,
                                       RecomputeModule::kLatentUp}};
       },
       "small has no moe, mla_up_proj to recompute; nearest legal: recompute norm"},
      {PlanLegalityRule::kRecomputeStages, false,
       [](Job&, Plan& plan) {
         plan.recompute.stages = {{.position = 0, .kind = RecomputeKind::kFull},
                                  {.position = plan.parallel.pipeline}};
       },
       "recompute names stage 2, but the pipeline has stages 0 to 1; nearest legal: recompute "
       "none, full "
       "on stage 0"},
      {PlanLegalityRule::kPrecision, false, [](Job& job, Plan&) { job.precision = DType::kFp8; },
       "toy has no rate for fp8; nearest legal: precision fp32 or bf16"},
      {PlanLegalityRule::kAccumulate, false,
       [](Job&, Plan& plan) { plan.accumulate = DType::kFp16; },
       "gradients stored as bf16 are not accumulated in fp16; nearest legal: accumulate fp32"}};
}

/// Gives a job a host of a terabyte for each node, with a link to it.
void give_host(Job& job) {
  job.cluster.host = {.memory_bytes = 1e12, .memory_bandwidth_bytes_per_s = 1e11};
  job.cluster.device.host_link_bytes_per_s = 1e10;
}

std::vector<Break> offload_breaks() {
  return {{PlanLegalityRule::kOffloadShare, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             plan.offload.optimizer = 1.5;
           },
           "offload.optimizer is 1.5; nearest legal: offload.optimizer 1.0"},
          {PlanLegalityRule::kOffloadShare, false,
           [](Job&, Plan& plan) { plan.offload.optimizer = -0.5; },
           "offload.optimizer is -0.5; nearest legal: offload.optimizer 0.0"},
          {PlanLegalityRule::kOffloadModules, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             plan.offload.activations = {OffloadModule::kQkv, OffloadModule::kMoeActivation};
           },
           "has no moe_act; nearest legal: offload.activations [\"qkv_linear\"]"},
          {PlanLegalityRule::kOffloadUpdate, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             job.optimizer = Optimizer::kMuon;
             plan.offload.optimizer = 0.5;
             plan.offload.activations = {OffloadModule::kQkv};  // They stay.
           },
           "offload.optimizer 0.5 with optimizer muon, while hosts update adam, adamw, adam_bf16, "
           "sgd; nearest legal: offload.optimizer 0.0"},
          {PlanLegalityRule::kOffloadParameters, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             plan.offload.optimizer = 1;
             plan.offload.parameters = true;
           },
           "offload.parameters with NNN and 100% of the optimizer on the host; nearest legal: "
           "sharding GGG, or offload.parameters false"},
          {PlanLegalityRule::kOffloadParameters, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             plan.sharding = {StateShardingScope::kGlobal, StateShardingScope::kGlobal,
                              StateShardingScope::kGlobal};
             plan.offload.optimizer = 0.5;
             plan.offload.parameters = true;
           },
           "offload.parameters with GGG and 50% of the optimizer on the host; nearest legal: "
           "offload.optimizer 1.0, or offload.parameters false"},
          {PlanLegalityRule::kOffloadHost, false,
           [](Job& job, Plan& plan) {
             job.cluster.name = "toys";
             plan.offload.activations = {OffloadModule::kQkv};
           },
           "offload on toys, which does not state cluster.device.host_link; nearest legal: "
           "offload.activations []"},
          {PlanLegalityRule::kHostMemory, false,
           [](Job& job, Plan& plan) {
             give_host(job);
             job.cluster.host.memory_bytes = 1;
             plan.offload.optimizer = 1;
             plan.offload.activations = {OffloadModule::kQkv};
           },
           "; nearest legal: offload.optimizer 0.0"}};
}

}  // namespace

Plan legal_plan() {
  Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .context = 2, .data = 2};
  return plan;
}

Plan legal_expert_plan() {
  Plan plan = legal_plan();
  plan.parallel.expert = 4;
  plan.sequence_parallel = true;
  return plan;
}

std::vector<Break> all_breaks() {
  std::vector<Break> breaks;
  for (const auto& some : {grid_breaks(), tensor_breaks(), context_breaks(), expert_breaks(),
                           coverage_breaks(), layer_breaks(), batch_breaks(), sharding_breaks(),
                           collective_breaks(), state_breaks(), offload_breaks()}) {
    breaks.insert(breaks.end(), some.begin(), some.end());
  }
  return breaks;
}

}  // namespace stepwright::plan

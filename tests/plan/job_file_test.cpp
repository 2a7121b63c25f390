#include <gmock/gmock.h>

#include "stepwright/model/parameters.h"
#include "stepwright/plan/files.h"
#include "tests/plan/refusal.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kStart = R"(stepwright: job/1
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 2}
)";
constexpr std::string_view kBatch = "batch: {sequences: 512, length: 8192}\n";

Job read_job_text(const std::string& text) {
  return read_job(YamlJsonDocument::parse(text, "job.yaml"), {});
}

/// Returns a job with additional lines.
Job job_with(const std::string& lines) {
  return read_job_text(std::string(kStart) + std::string(kBatch) + lines);
}

std::string job_refused(const std::string& lines, ErrorKind kind = ErrorKind::kInput) {
  return refusal_of(kind, [&] { job_with(lines); });
}

TEST(JobFile, ReadsTheLeastThereCanBe) {
  const Job job = job_with("");
  EXPECT_EQ(job.model_name, "llama-3-8b");
  EXPECT_EQ(job.model.layers, 32);
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.sequences, 512);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(job.framework.name, "");
  EXPECT_EQ(job.objective.kind, TunerObjectiveKind::kStepTime);
  EXPECT_EQ(job.space, TunerSearchSpace{});
  EXPECT_THAT(job.notes, IsEmpty());
}

TEST(JobFile, ReadsAdapters) {
  const Job job = job_with(
      "adapters: {rank: 16, alpha: 32, targets: [qkv, projection, up], dropout: 0.1, base: nf4}\n");
  const model::LoraAdapters& adapters = job.model.adapters.value();
  EXPECT_EQ(adapters.rank, 16);
  EXPECT_EQ(adapters.scale(), 2);
  EXPECT_EQ(adapters.dropout, 0.1);
  EXPECT_EQ(adapters.base, DType::kNf4);
  EXPECT_FALSE(adapters.joined);
  EXPECT_EQ(adapters.targets.count(), 5);
  EXPECT_FALSE(adapters.has(model::LoraTargetProduct::kGate));
  EXPECT_EQ(job_with("adapters: {rank: 4}").model.adapters->targets.count(), 7);
  EXPECT_TRUE(job_with("framework: nemo\nadapters: {rank: 4}").model.adapters->joined);
}

/// rank x (hidden + width) for q, k, v, projection, gate, up and fc2 of each layer: Llama-3-8B has
/// hidden 4096, k and v of 1024, an MLP of 14336.
TEST(JobFile, CountsWhatIsTrainedByHand) {
  const std::int64_t each = 2 * 4096 + 2 * (4096 + 1024) + 2 * 4096 + 3 * (4096 + 14336);
  EXPECT_EQ(model::count_trained_parameters(job_with("adapters: {rank: 8}").model), 32 * 8 * each);
  const std::int64_t joined = (4096 + 6144) + 2 * 4096 + (4096 + 2 * 14336) + (14336 + 4096);
  EXPECT_EQ(model::count_trained_parameters(job_with("adapters: {rank: 8, joined: true}").model),
            32 * 8 * joined);
  const model::ModelArchitecture whole = job_with("").model;
  const model::ModelArchitecture part = job_with("frozen: [embedding, layers 0-15]").model;
  const std::int64_t layer = 4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336 + 2 * 4096;
  EXPECT_EQ(model::count_parameters(whole) - model::count_trained_parameters(part),
            128256 * 4096 + 16 * layer);
  EXPECT_EQ(part.layer_class(15).gradients, model::LayerGradientFlow::kAbove);
  EXPECT_EQ(part.layer_class(16).gradients, model::LayerGradientFlow::kEnds);
  EXPECT_EQ(part.layer_class(17).gradients, model::LayerGradientFlow::kThrough);
}

TEST(JobFile, WritesAdaptersThatReadBack) {
  for (const std::string lines :
       {"adapters: {rank: 16, targets: [q, v], dropout: 0.05, base: fp8}\n",
        "framework: nemo\nadapters: {rank: 16, alpha: 4, targets: [qkv, fc2]}\n",
        "precision: fp64\nadapters: {rank: 2, targets: all}\n", "frozen: [embedding, layers 3-7]\n",
        "frozen: [layers 0]\n"}) {
    const Job job = job_with(lines);
    for (const bool expanded : {false, true}) {
      const std::string text = plan_yaml({job, Plan()}, expanded);
      EXPECT_EQ(read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {}).job.model, job.model)
          << text;
    }
  }
}

TEST(JobFile, RefusesAdaptersThatCannotBe) {
  const auto refused = [](const std::string& adapters) {
    return job_refused("adapters: " + adapters + "\n");
  };
  EXPECT_THAT(refused("{rank: 0}"), HasSubstr("adapters.rank"));
  EXPECT_THAT(refused("{rank: 1025}"), HasSubstr("1024"));
  EXPECT_THAT(refused("{rank: 4097, targets: [q, projection]}"), HasSubstr("4096"));
  EXPECT_THAT(refused("{targets: [qkv]}"), HasSubstr("rank"));
  EXPECT_THAT(refused("{rank: 8, targets: [gates]}"), HasSubstr("gate"));
  EXPECT_THAT(refused("{rank: 8, targets: []}"), HasSubstr("without one nothing would be trained"));
  EXPECT_THAT(refused("{rank: 8, alpha: 0}"), HasSubstr("adapters.alpha"));
  EXPECT_THAT(refused("{rank: 8, dropout: 1}"), HasSubstr("would drop everything"));
  EXPECT_THAT(refused("{rank: 8, base: int8}"), HasSubstr("nf4"));
  EXPECT_THAT(refused("{rank: 8, joined: true, targets: [q]}"), HasSubstr("all of qkv"));
  EXPECT_THAT(refused("{rank: 8, kind: dora}"), HasSubstr("kind"));
  EXPECT_THAT(job_refused("framework: megatron-core\nadapters: {rank: 8, base: nf4}\n"),
              HasSubstr("megatron-core has no base of nf4"));
  EXPECT_THAT(job_refused("framework: torchtune\nadapters: {rank: 8, base: fp8}\n"),
              HasSubstr("torchtune has no base of fp8"));
  EXPECT_THAT(job_refused("precision: fp64\nadapters: {rank: 8, base: nf4}\n"),
              HasSubstr("narrow base"));
  EXPECT_THAT(job_refused("adapters: {rank: 8}\nfrozen: [layers 0-31]\n"),
              HasSubstr("adapters have no place"));
  EXPECT_THAT(job_refused("frozen: [layers 4-32]\n"), HasSubstr("from 0 to 31"));
  EXPECT_THAT(job_refused("frozen: [encoder]\n"), HasSubstr("no encoder"));
  EXPECT_THAT(job_refused("frozen: [embeddings]\n"), HasSubstr("embedding"));
}

constexpr std::string_view kSeeing = R"(stepwright: job/2
model: {name: seeing, layers: 2, hidden: 64, heads: 4, kv_heads: 4, ffn: 128, vocab: 512, positions: 4096,
  encoder: {name: tower, parameters: 100000, projector: 4096, patches: 64, tokens: 16, flops: 1e7, layers: 2, hidden: 32, heads: 4, ffn: 64}}
cluster: {profile: dgx-h100, nodes: 1}
)";

TEST(JobFile, SaysHowManyImagesASequenceHas) {
  const auto encoder = [](const std::string& images) {
    const Job job =
        read_job_text(std::string(kSeeing) + "batch: {sequences: 8, length: 1024" + images + "}\n");
    return job.model.encoder.value();
  };
  EXPECT_EQ(encoder("").images, 1);
  EXPECT_EQ(encoder(", images: 2.5").images, 2.5);
  EXPECT_FALSE(encoder(", images: 0").is_encoder_in_training_step());
  EXPECT_EQ(encoder(", images: {count: 3, patches: 128}").images, 3);
  EXPECT_EQ(encoder(", images: {patches: 128}").tokens, 32);
  EXPECT_GT(encoder(", images: {patches: 128}").flops, 2e7);
}

TEST(JobFile, RefusesImagesThatCannotBe) {
  const auto refused = [](const std::string& images) {
    return refusal_of(ErrorKind::kInput, [&] {
      read_job_text(std::string(kSeeing) + "batch: {sequences: 8, length: 1024, images: " + images +
                    "}\n");
    });
  };
  EXPECT_THAT(refused("-1"), HasSubstr("batch.images"));
  EXPECT_THAT(refused("many"), HasSubstr("batch.images"));
  EXPECT_THAT(refused("{count: 1, size: 8}"), HasSubstr("size"));
  EXPECT_THAT(refused("{patches: 0}"), HasSubstr("patches"));
  EXPECT_THAT(refused("65"), HasSubstr("1040 tokens of a sequence of 1024"));
  EXPECT_THAT(refusal_of(ErrorKind::kInput,
                         [&] {
                           read_job_text(
                               "stepwright: job/2\nmodel: llama-3-8b\n"
                               "cluster: {profile: dgx-h100, nodes: 1}\n"
                               "batch: {sequences: 8, length: 1024, images: 1}\n");
                         }),
              HasSubstr("no encoder of images"));
}

TEST(JobFile, RefusesTargetsThatTheModelLacks) {
  const auto refused = [](const std::string& model, const std::string& targets) {
    return refusal_of(ErrorKind::kInput, [&] {
      read_job_text("stepwright: job/2\nmodel: " + model +
                    "\ncluster: {profile: dgx-h100, nodes: 1}\n" + std::string(kBatch) +
                    "adapters: {rank: 8, targets: [" + targets + "]}\n");
    });
  };
  EXPECT_THAT(refused("gpt3-175b", "gate"), HasSubstr("the model has no gate to adapt"));
  EXPECT_THAT(refused("deepseek-v3", "qkv"),
              HasSubstr("the model has no qkv to adapt; it has fc1, "));
}

TEST(JobFile, ReadsEveryKey) {
  const Job job = job_with(R"(
precision: fp16
optimizer: adamw
framework: {name: megatron-core, version: 0.10}
kernels: {attention: flash3, fused_norm: false, fused_cross_entropy: true, cuda_graphs: true}
dropout: 0.1
routing: learned
dispatcher: allgather
imbalance: 1.25
packed: false
objective: {kind: smallest_cluster, memory_limit: 70e9, target_step_time: 5}
)");
  EXPECT_EQ(job.precision, DType::kFp16);
  EXPECT_EQ(job.optimizer, Optimizer::kAdamW);
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(job.framework.version, "0.10");
  EXPECT_EQ(job.kernels.attention, cluster::AttentionKernel::kFlash3);
  EXPECT_FALSE(job.kernels.fused_norm);
  EXPECT_EQ(job.kernels.cross_entropy, CrossEntropyKernel::kCompiled);
  EXPECT_TRUE(job.kernels.cuda_graphs.step);
  EXPECT_EQ(job_with("kernels: {cuda_graphs: [moe_router, attn]}\n").kernels.cuda_graphs,
            (CudaGraphScope{.attention = true, .router = true}));
  EXPECT_EQ(job_with("kernels: {cuda_graphs: []}\n").kernels.cuda_graphs, CudaGraphScope{});
  EXPECT_EQ(job.model.dropout, 0.1);
  EXPECT_EQ(job.routing, Routing::kLearned);
  EXPECT_EQ(job.dispatcher, TokenDispatcher::kAllGather);
  EXPECT_EQ(job.imbalance, 1.25);
  EXPECT_EQ(job.objective.kind, TunerObjectiveKind::kSmallestCluster);
  EXPECT_EQ(job.objective.memory_limit_bytes, 70e9);
  EXPECT_EQ(job.objective.target_step_time_s, 5);
}

constexpr std::string_view kSearch = R"(
search:
  tensor: [1, 2, 4]
  pipeline: 2
  context: 1
  expert: 1
  expert_tensor: 1
  data: [8, 16]
  micro_batch: [1, 2]
  schedule: [1f1b, interleaved]
  chunks: [1, 2, 4]
  sharding: [zero1, IIG]
  sharding_group: [2, node]
  expert_group: node
  recompute: [none, {every: 2}]
  sequence_parallel: [true, false]
  tensor_input: [keep, regather]
  context_kind: ring
  accumulate: [fp32, bf16]
  gradient_bucket: 10e6
  parameter_bucket: [10e6, 20e6]
  overlap: [true, {tensor: true}]
  collectives: [{data: ring}, {data: two-level}, {data: ho-ring}]
  rank_order: tp-cp-ep-pp-dp
  layers: [even, [15, 17]]
)";

TEST(JobFile, NamesAVariantOfAFramework) {
  const Job job = job_with("framework: {name: megatron-core, variant: bridge}\n");
  EXPECT_EQ(job.framework.variant, "bridge");
  EXPECT_THAT(job_refused("framework: {name: megatron-core, variant: bride}\n"),
              HasSubstr("must be one of ms-swift, nemo-rl, bridge, verl, slime; it is 'bride'"));
  EXPECT_THAT(job_refused("framework: {name: maxtext, variant: bridge}\n"),
              HasSubstr("maxtext has no variants"));
  EXPECT_EQ(job_with("framework: megatron\n").framework.name, "megatron-core");
  const TrainingFramework swift = job_with("framework: ms-swift\n").framework;
  EXPECT_EQ(swift.name, "megatron-core");
  EXPECT_EQ(swift.variant, "ms-swift");
}

TEST(JobFile, ReadsTheSearch) {
  const Job job = job_with(std::string(kSearch));
  const TunerSearchSpace& space = job.space;
  EXPECT_THAT(space.tensor, ElementsAre(1, 2, 4));
  EXPECT_THAT(space.pipeline, ElementsAre(2));
  EXPECT_THAT(space.data, ElementsAre(8, 16));
  EXPECT_THAT(space.schedule, ElementsAre(schedule::PipelineScheduleKind::kOneForwardOneBackward,
                                          schedule::PipelineScheduleKind::kInterleaved));
  EXPECT_THAT(space.sharding,
              ElementsAre(*sharding_named_by_word("NNG"), *sharding_named_by_word("IIG")));
  EXPECT_THAT(space.sharding_group, ElementsAre(2, kNodeSizedShardingGroup));
  EXPECT_THAT(space.expert_group, ElementsAre(kNodeSizedShardingGroup));
  EXPECT_THAT(space.recompute,
              ElementsAre(ActivationRecomputation{},
                          ActivationRecomputation{.kind = RecomputeKind::kEvery, .every = 2}));
  EXPECT_THAT(space.sequence_parallel, ElementsAre(true, false));
  EXPECT_THAT(space.accumulate, ElementsAre(DType::kFp32, DType::kBf16));
  EXPECT_THAT(space.gradient_bucket, ElementsAre(10'000'000));
  EXPECT_EQ(space.overlap.size(), 2);
  EXPECT_TRUE(space.overlap[0].expert);
  EXPECT_FALSE(space.overlap[1].expert);
  EXPECT_THAT(space.collectives.data, ElementsAre(collective::CollectiveAlgorithm::kLibrary,
                                                  collective::CollectiveAlgorithm::kTwoLevel,
                                                  collective::CollectiveAlgorithm::kHoRing));
  EXPECT_EQ(rank_order_text(space.rank_order.front()), "tp-cp-ep-pp-dp");
  EXPECT_THAT(space.layers, ElementsAre(IsEmpty(), ElementsAre(15, 17)));
}

/// Reads algorithms in the words of file version 2, which are unchanged.
SearchedCollectiveAlgorithms algorithms_of(const std::string& line) {
  std::string text = std::string(kStart) + std::string(kBatch) + line + "\n";
  text.replace(text.find("job/1"), 5, "job/2");
  return read_job_text(text).space.collectives;
}

TEST(JobFile, ListsAlgorithmsByScheme) {
  using enum collective::CollectiveAlgorithm;
  const auto lists = algorithms_of(
      "search: {collectives: {data: [library, tree, ho-ring], expert: direct, tensor: [nvls]}}");
  EXPECT_THAT(lists.data, ElementsAre(kLibrary, kTree, kHoRing));
  EXPECT_THAT(lists.expert, ElementsAre(kDirect));
  EXPECT_THAT(lists.tensor, ElementsAre(kNvls));
  EXPECT_THAT(lists.context, IsEmpty());
  EXPECT_EQ(algorithms_of("collectives: {data: ring}").data, std::vector{kRing});
  EXPECT_EQ(algorithms_of("collectives: [{data: ring}, {data: tree}]").data,
            (std::vector{kRing, kTree}));
}

TEST(JobFile, RefusesAlgorithmsThatItCannotList) {
  EXPECT_THAT(job_refused("search: {collectives: {data: [tree, tree]}}\n"),
              HasSubstr("is listed twice"));
  EXPECT_THAT(job_refused("search: {collectives: {data: [tre]}}\n"),
              HasSubstr("did you mean 'tree'?"));
  EXPECT_THAT(job_refused("search: {collectives: {tensors: ring}}\n"),
              HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(job_refused("search: {collectives: {pipeline: tree}}\n"),
              HasSubstr("collectives.pipeline: must be library"));
  EXPECT_THAT(job_refused("search: {collectives: {data: tree}}\ncollectives: {data: tree}\n"),
              HasSubstr("given elsewhere too"));
  EXPECT_THAT(job_refused("collectives: [{tensor: tree}]\n"), HasSubstr("tensor"));
}

TEST(JobFile, KeysOfAPlanFixDimensions) {
  const Job job = job_with(R"(
parallel: {tensor: 4, data: [2, 4]}
schedule: {kind: [1f1b, interleaved], chunks: 2, strands: 1}
sharding: {states: [IIG, GGG], group: node}
buckets: {gradients: 1e6}
micro_batch: 2
recompute: {every: 4}
layers: [10, 22]
)");
  const TunerSearchSpace& space = job.space;
  EXPECT_THAT(space.tensor, ElementsAre(4));
  EXPECT_THAT(space.data, ElementsAre(2, 4));
  EXPECT_THAT(space.pipeline, IsEmpty());
  EXPECT_EQ(space.schedule.size(), 2);
  EXPECT_THAT(space.chunks, ElementsAre(2));
  EXPECT_EQ(space.sharding.size(), 2);
  EXPECT_THAT(space.sharding_group, ElementsAre(kNodeSizedShardingGroup));
  EXPECT_THAT(space.gradient_bucket, ElementsAre(1'000'000));
  EXPECT_THAT(space.micro_batch, ElementsAre(2));
  EXPECT_THAT(space.recompute,
              ElementsAre(ActivationRecomputation{.kind = RecomputeKind::kEvery, .every = 4}));
  EXPECT_THAT(space.layers, ElementsAre(ElementsAre(10, 22)));
  EXPECT_THAT(job_with("sharding: hsdp\n").space.sharding,
              ElementsAre(*sharding_named_by_word("III")));
}

TEST(JobFile, RefusesADimensionGivenTwice) {
  EXPECT_THAT(job_refused("parallel: {tensor: 4}\nsearch: {tensor: [1, 2]}\n"),
              HasSubstr("parallel.tensor: fixes or lists a dimension that is given elsewhere too"));
  EXPECT_THAT(job_refused("search: {tensor: [1, 2, 1]}\n"),
              HasSubstr("search.tensor.2: is listed twice"));
  EXPECT_THAT(job_refused("search: {tensor: []}\n"), HasSubstr("search.tensor: lists no value"));
}

TEST(JobFile, AnAliasThatIsOnlyNearestLeavesANote) {
  const Job job = job_with("search: {sharding: [hpz]}\n");
  EXPECT_THAT(job.space.sharding, ElementsAre(*sharding_named_by_word("IGG")));
  EXPECT_THAT(job.notes, ElementsAre(HasSubstr("hpz is read as IGG")));
}

TEST(JobFile, AFrameworkBringsItsKernels) {
  EXPECT_EQ(job_with("framework: megatron-core\n").kernels.attention,
            cluster::AttentionKernel::kCudnn);
  EXPECT_FALSE(job_with("framework: accelerate\n").kernels.fused_norm);
  const auto gathers = [](const std::string& framework) {
    return job_with("framework: " + framework + "\nkernels: {gathered_heads: true}\n").notes;
  };
  EXPECT_THAT(gathers("deepspeed"), testing::Contains(testing::HasSubstr("does not gather heads")));
  EXPECT_THAT(gathers("megatron-core"),
              testing::Not(testing::Contains(testing::HasSubstr("gather heads"))));
  const Job job = job_with("framework: megatron-core\nkernels: {attention: flash2}\n");
  EXPECT_EQ(job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

TEST(JobFile, NamesUnknownKeysAndWords) {
  EXPECT_THAT(job_refused("precison: bf16\n"),
              HasSubstr("unknown key 'precison'; did you mean 'precision'?"));
  EXPECT_THAT(job_refused("search: {tensr: 4}\n"), HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(job_refused("precision: bf61\n"), HasSubstr("did you mean 'bf16'?"));
  EXPECT_THAT(job_refused("precision: int8\n"),
              HasSubstr("must be one of fp64, fp32, fp16, bf16, fp8, mxfp8, nvfp4; it is 'int8'"));
  EXPECT_THAT(job_refused("conditions: nowhere.yaml\n"), HasSubstr("there is no file"));
  EXPECT_THAT(job_refused("framework: megatrom\n"),
              HasSubstr("must be one of stepwright, megatron-core"));
  EXPECT_THAT(job_refused("framework: nanotrn\n"), HasSubstr("did you mean 'nanotron'?"));
  EXPECT_THAT(job_refused("search: {sharding: zero4}\n"), HasSubstr("did you mean 'zero1'?"));
  EXPECT_THAT(job_refused("search: {sharding: GNN}\n"), HasSubstr("GNN is not a strategy"));
  EXPECT_THAT(job_refused("search: {rank_order: tp-dp}\n"),
              HasSubstr("must name tp, cp, ep, dp and pp"));
}

std::string with_batch(const std::string& batch) {
  std::string text(kStart);
  return text.append("batch: {").append(batch).append("}\n");
}

TEST(JobFile, RefusesNumbersOutOfRange) {
  for (const std::string value : {"0", "-4", "1.5", ".nan", "9223372036854775808", "1e30", "many",
                                  "\"4\"", "[4]", "{}", "true", ""}) {
    const auto read_value = [&] { read_job_text(with_batch("length: 128, sequences: " + value)); };
    EXPECT_THAT(refusal_of(ErrorKind::kInput, read_value),
                HasSubstr("batch.sequences: must be an integer from 1 to 1099511627776"))
        << value;
  }
  EXPECT_THAT(job_refused("search: {tensor: 0}\n"), HasSubstr("search.tensor"));
  EXPECT_THAT(job_refused("search: {tensor: 2e9}\n"), HasSubstr("from 1 to 1048576"));
  EXPECT_THAT(job_refused("imbalance: 0.5\n"), HasSubstr("imbalance: must be a number from 1"));
  EXPECT_THAT(job_refused("dropout: 1\n"), HasSubstr("dropout: must be below 1"));
}

TEST(JobFile, RefusesBatchesThatNoIntegerCounts) {
  const auto read_batch = [] { read_job_text(with_batch("sequences: 1e12, length: 1e12")); };
  EXPECT_THAT(refusal_of(ErrorKind::kInput, read_batch), HasSubstr("more than 2^60 elements"));
}

TEST(JobFile, NamesWhatIsMissing) {
  const auto missing = [](const std::string& text) {
    return refusal_of(ErrorKind::kInput, [&] { read_job_text(text); });
  };
  EXPECT_THAT(missing(std::string(kStart)), HasSubstr("the key 'batch' is missing"));
  EXPECT_THAT(missing("stepwright: job/1\n"),
              HasSubstr("the keys model, cluster, batch are missing"));
  EXPECT_THAT(missing("model: llama-3-8b\n"), HasSubstr("the key 'stepwright' is missing"));
  EXPECT_THAT(missing("stepwright: plan/1\n"),
              HasSubstr("stepwright: must be job/2 or job/1; it is 'plan/1'"));
  EXPECT_THAT(missing(""), HasSubstr("must be a mapping"));
}

TEST(JobFile, TargetsBelongToTheSmallestCluster) {
  EXPECT_THAT(job_refused("objective: smallest_cluster\n"),
              HasSubstr("smallest_cluster needs either target_step_time"));
  EXPECT_THAT(job_refused("objective: {kind: step_time, target_step_time: 3}\n"),
              HasSubstr("targets belong to smallest_cluster"));
  EXPECT_THAT(job_refused("objective: {memory_limit: 0}\n"), HasSubstr("must be above 0"));
  EXPECT_EQ(job_with("objective: {memory_limit: 60e9}\n").objective.memory_limit_bytes, 60e9);
}

TEST(JobFile, WhatTheSchemaKnowsAndNothingCoversIsUnsupported) {
  for (const std::string line :
       {"search: {schedule: dualpipe}", "search: {schedule: [1f1b, dualpipe]}"}) {
    EXPECT_THAT(job_refused(line + "\n", ErrorKind::kUnsupported), HasSubstr("not supported"))
        << line;
  }
  EXPECT_THAT(job_refused("packed: true\n", ErrorKind::kUnsupported),
              HasSubstr("state batch.lengths"));
}

TEST(JobFile, ReadsWhatMayBeLeftToTheHost) {
  EXPECT_EQ(job_with("offload: none\n").space, TunerSearchSpace{});
  const Job job =
      job_with("optimizer: muon\nmuon: blockwise\nsearch: {offload: {optimizer: [0, 0.5, 1]}}\n");
  EXPECT_EQ(job.space.offload.optimizer, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(job.optimizer, Optimizer::kMuon);
  EXPECT_EQ(job.muon, MuonTensorSplit::kBlockwise);
  for (const std::string line :
       {"offload: {optimizer: 1.5}", "offload: {optimizer: -0.1}", "offload: {optimizer: cpu}",
        "search: {offload: {optimizer: 2}}"}) {
    EXPECT_THAT(job_refused(line + "\n"), HasSubstr("from 0 to 1")) << line;
  }
  EXPECT_EQ(job_with("offload: {activations: [qkv_linear, moe_act]}\n").space.offload.activations,
            (std::vector<OffloadModuleSet>{{OffloadModule::kQkv, OffloadModule::kMoeActivation}}));
  EXPECT_THAT(job_refused("offload: {activations: [mlp]}\n"),
              HasSubstr("must be one of attn_norm"));
  EXPECT_THAT(job_refused("offload: true\n"), HasSubstr("as in {optimizer: 0.5}"));
  EXPECT_THAT(job_refused("offload: {states: 1}\n"), HasSubstr("states"));
  EXPECT_THAT(job_refused("muon: split\n"), HasSubstr("duplicated"));
}

}  // namespace
}  // namespace stepwright::plan

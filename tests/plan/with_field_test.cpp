#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "tests/plan/refusal.h"

namespace stepwright::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlannedJob planned() {
  return read_plan(YamlJsonDocument::parse(R"(stepwright: plan/1
job:
  model: llama-3-70b
  cluster: {profile: dgx-a100-80g, nodes: 8}
  batch: {sequences: 512, length: 4096}
parallel: {tensor: 4, pipeline: 2, data: 8}
layers: [40, 40]
)",
                                           "plan.yaml"),
                   {});
}

PlannedJob with(const std::string& assignment) { return plan_with_field(planned(), assignment); }

std::string field_refused(const std::string& assignment, ErrorKind kind = ErrorKind::kInput) {
  return refusal_of(kind, [&] { with(assignment); });
}

TEST(WithField, SetsFieldsOfThePlan) {
  EXPECT_EQ(with("micro_batch=4").plan.micro_batch, 4);
  EXPECT_EQ(with("micro_batch = 4").plan.micro_batch, 4);
  EXPECT_EQ(with("parallel.tensor=2x").plan.parallel.tensor, 8);
  EXPECT_EQ(with("buckets.gradients=0.5x").plan.gradient_bucket, 20'000'000);
  EXPECT_EQ(with("sharding.states=GGG").plan.sharding, *sharding_named_by_word("GGG"));
  EXPECT_THAT(with("layers.1=39").plan.layers, ElementsAre(40, 39));
  EXPECT_EQ(with("schedule.strands=1").plan, planned().plan);
}

TEST(WithField, ReplacesListsAndMappings) {
  EXPECT_THAT(with("layers=[30, 50]").plan.layers, ElementsAre(30, 50));
  EXPECT_TRUE(with("layers=even").plan.layers.empty());
  EXPECT_EQ(with("sharding=zero3").plan.sharding, *sharding_named_by_word("GGG"));
  EXPECT_EQ(with("recompute={every: 2}").plan.recompute,
            (ActivationRecomputation{.kind = RecomputeKind::kEvery, .every = 2}));
  EXPECT_EQ(with("overlap=true").plan.overlap.tensor, true);
  EXPECT_EQ(with("schedule={kind: gpipe}").plan.schedule.kind,
            schedule::PipelineScheduleKind::kGpipe);
}

TEST(WithField, SetsFieldsOfTheJobWithOrWithoutItsName) {
  EXPECT_EQ(with("job.batch.length=8192").job.length, 8192);
  EXPECT_EQ(with("batch.length=2x").job.length, 8192);
  EXPECT_EQ(with("precision=fp16").job.precision, DType::kFp16);
  EXPECT_EQ(with("dropout=0.1").job.model.dropout, 0.1);
  EXPECT_EQ(with("framework.name=nemo").job.framework.name, "nemo");
  EXPECT_EQ(with("framework=nemo").job.framework.name, "nemo");
  EXPECT_EQ(with("framework={name: nemo, version: 25.04}").job.framework.version, "25.04");
  EXPECT_EQ(with("objective.memory_limit=60e9").job.objective.memory_limit_bytes, 60e9);
}

TEST(WithField, ReachesIntoModelAndCluster) {
  EXPECT_EQ(with("model.layers=40").job.model.layers, 40);
  EXPECT_EQ(with("model=llama-3-8b").job.model_name, "llama-3-8b");
  const cluster::Cluster before = planned().job.cluster;
  EXPECT_EQ(with("cluster.nic=2x").job.cluster.nic_bytes_per_s, 2 * before.nic_bytes_per_s);
  EXPECT_EQ(with("cluster.device.memory=1.5x").job.cluster.device.memory_bytes,
            1.5 * before.device.memory_bytes);
  EXPECT_EQ(with("cluster.nodes=16").job.cluster.devices(), 128);
  EXPECT_EQ(with("cluster={profile: dgx-h100, nodes: 2}").job.cluster.devices(), 16);
}

TEST(WithField, AProfileIsAnotherClusterOfAsManyNodes) {
  EXPECT_EQ(with("cluster.profile=dgx-h200").job.cluster, cluster::built_in_cluster("dgx-h200", 8));
  EXPECT_EQ(with("job.cluster.profile = dgx-b200").job.cluster,
            cluster::built_in_cluster("dgx-b200", 8));
  EXPECT_THAT(field_refused("cluster.profile=dgx-h201"), HasSubstr("did you mean 'dgx-h200'?"));
  field_refused("cluster.profile=");
  field_refused("cluster.profile=[dgx-h200]");
}

nlohmann::ordered_json kernels(const PlannedJob& plan) { return plan_json(plan)["job"]["kernels"]; }

nlohmann::ordered_json default_kernels_of(PlannedJob plan) {
  plan.job.kernels = default_kernels(plan.job.framework, plan.job.cluster.device);
  return kernels(plan);
}

TEST(WithField, KernelsFollowAnotherFrameworkAndDevice) {
  const PlannedJob torchtitan = with("framework=torchtitan");
  EXPECT_EQ(kernels(torchtitan), default_kernels_of(torchtitan));
  EXPECT_NE(kernels(torchtitan), kernels(planned()));
  EXPECT_EQ(kernels(plan_with_field(torchtitan, "framework=megatron-core")),
            kernels(with("framework=megatron-core")));
  EXPECT_EQ(kernels(plan_with_field(torchtitan, "framework.version=0.1")),
            kernels(with("framework={name: torchtitan, version: '0.1'}")));
  const PlannedJob on_h100 =
      plan_with_field(with("framework=megatron-core"), "cluster.profile=dgx-h100");
  EXPECT_EQ(kernels(on_h100), default_kernels_of(on_h100));
  EXPECT_NE(on_h100.job.kernels.attention, planned().job.kernels.attention);
}

TEST(WithField, AClusterInFullBringsItsKernels) {
  const PlannedJob plan = with("framework=megatron-core");
  EXPECT_EQ(kernels(plan_with_field(plan, "cluster={profile: dgx-h100, nodes: 8}")),
            kernels(plan_with_field(plan, "cluster.profile=dgx-h100")));
}

TEST(WithFields, AFrameworkAfterKernelsWouldUndoThem) {
  const std::vector<std::string> late = {"kernels.attention=flash2", "framework=megatron-core"};
  EXPECT_THAT(refusal_of(ErrorKind::kInput, [&] { plan_with_fields(planned(), late); }),
              HasSubstr("replaces what --set kernels.attention=flash2 has set"));
  const std::vector<std::string> first = {"framework=megatron-core", "kernels.attention=flash2"};
  EXPECT_EQ(plan_with_fields(planned(), first).job.kernels.attention,
            cluster::AttentionKernel::kFlash2);
}

TEST(WithField, DeterministicRunsTakeTheirAttention) {
  const PlannedJob plan =
      plan_with_field(with("framework=megatron-core"), "cluster.profile=dgx-b200");
  const PlannedJob same = plan_with_field(plan, "kernels.deterministic=true");
  EXPECT_EQ(same.job.kernels.attention, plan.job.kernels.attention);  // the plan file states it
  const PlannedJob read = read_plan(YamlJsonDocument::parse(R"(stepwright: plan/2
job:
  model: llama-3-70b
  cluster: {profile: dgx-b200, nodes: 8}
  batch: {sequences: 512, length: 4096}
  framework: megatron-core
  kernels: {deterministic: true}
parallel: {tensor: 4, pipeline: 2, data: 8}
)",
                                                            "plan.yaml"),
                                    {});
  EXPECT_EQ(read.job.kernels.attention,
            default_attention_kernel(read.job.framework, read.job.cluster.device, true));
  EXPECT_NE(read.job.kernels.attention, plan.job.kernels.attention);
}

TEST(WithField, RepeatsNoNote) {
  const PlannedJob noted =
      plan_with_field(with("framework=torchtitan"), "kernels.gathered_heads=true");
  ASSERT_FALSE(noted.job.notes.empty());
  EXPECT_EQ(plan_with_field(noted, "batch.sequences=1024").job.notes, noted.job.notes);
}

TEST(WithField, StatedKernelsStayUnderAnotherFramework) {
  const PlannedJob stated = with("kernels.loss_chunks=4");
  EXPECT_EQ(plan_with_field(stated, "framework=torchtitan").job.kernels.loss_chunks, 4);
  EXPECT_EQ(plan_with_field(stated, "cluster.profile=dgx-h100").job.kernels.loss_chunks, 4);
}

TEST(WithField, DevicesTakeThePlaceOfNodes) {
  EXPECT_EQ(with("cluster.devices=16").job.cluster.nodes, 2);
  EXPECT_EQ(with("cluster.devices=4").job.cluster.devices(), 4);
  EXPECT_THAT(field_refused("cluster.devices=12"), HasSubstr("do not fill nodes of 8"));
}

TEST(WithField, ReachesIntoListsOfMappings) {
  const cluster::Cluster before = planned().job.cluster;
  EXPECT_EQ(with("cluster.levels.0.latency=2x").job.cluster.levels[0].latency_s,
            2 * before.levels[0].latency_s);
  EXPECT_THAT(field_refused("cluster.levels.9.latency=2x"), HasSubstr("to multiply"));
}

/// Every field of a job and a cluster, with a valid value, except fields whose value is a file.
constexpr const char* kWhatPlansDependOn[] = {
    "muon=blockwise",
    "host_threads=8",
    "kernels.masters=none",
    "kernels.plain_loss=true",
    "kernels.document_loss=true",
    "kernels.loss_chunks=8",
    "kernels.loss_keeps=rows",
    "kernels.blocking_launches=true",
    "kernels.fused_qkv=false",
    "model=llama-3-8b",
    "model.layers=78",
    "model.norm_epsilon=1e-6",
    "dropout=0.1",
    "cluster={profile: dgx-h100, nodes: 2}",
    "cluster.profile=dgx-h100",
    "cluster.name=other",
    "cluster.device=h200-sxm",
    "cluster.device.name=other",
    "cluster.device.generation=H100",
    "cluster.device.memory=40e9",
    "cluster.device.memory_bandwidth=0.5x",
    "cluster.device.peak.bf16=1e15",
    "cluster.nodes=4",
    "cluster.devices=16",
    "cluster.nics_per_node=4",
    "cluster.nic=100e9",
    "cluster.nic_of_device=[0, 0, 0, 0, 0, 0, 0, 0]",
    "cluster.levels=[{name: bus, size: 8, bandwidth: 1e9}]",
    "cluster.levels.0.mesh=true",
    "cluster.levels.0.links=other",
    "cluster.network=[{name: leaf, nodes: 4}, {name: spine, oversubscription: 2}]",
    "batch={sequences: 64, length: 64}",
    "batch.sequences=64",
    "batch.length=64",
    "precision=fp16",
    "optimizer=sgd",
    "framework={name: nemo, version: 2.0}",
    "framework={name: nemo, version: 25.04}",
    "kernels={attention: flash3}",
    "kernels.attention=unfused",
    "kernels.fused_norm=false",
    "kernels.fused_softmax=false",
    "kernels.cross_entropy=native",
    "kernels.cuda_graphs=true",
    "kernels.cuda_graphs=[attn, mlp]",
    "kernels.gathered_logits=true",
    "kernels.scattered_pipeline=true",
    "kernels.gathered_heads=true",
    "adapters={rank: 8}",
    "frozen=[embedding]",
    "objective.memory_limit=60e9",
    "objective.memory_reserve=0.1"};

TEST(WithField, WhatItAcceptsChangesThePlanFile) {
  const std::string before = plan_yaml(planned(), true);
  for (const char* assignment : kWhatPlansDependOn) {
    EXPECT_NE(plan_yaml(with(assignment), true), before) << assignment;
  }
}

TEST(WithField, RefusesWhatWouldChangeNothing) {
  for (const char* assignment : {"search={tensor: [2, 4]}",
                                 "search.tensor=4",
                                 "objective=tokens_per_s",
                                 "objective.kind=tokens_per_s",
                                 "objective.target_step_time=1",
                                 "cluster.source=nobody",
                                 "cluster.fit=nothing",
                                 "cluster.device.source=nobody",
                                 "cluster.levels.0.source=nobody",
                                 "cluster.network.0.source=nobody",
                                 "model.base=llama-3-8b",
                                 "routing=learned",
                                 "dispatcher=allgather",
                                 "imbalance=2",
                                 "capacity_factor=2",
                                 "job.micro_batch=2",
                                 "job.parallel.tensor=2",
                                 "job.stepwright=job/1",
                                 "run.restart=10min",
                                 "run={repair: 1d}"}) {
    EXPECT_THAT(field_refused(assignment), HasSubstr("has no effect")) << assignment;
  }
  EXPECT_THAT(field_refused("imbalance=2"), HasSubstr("llama-3-70b has no experts"));
}

/// Expects every field of the schema to be tested above, or here.
TEST(WithField, EveryFieldOfAJobIsTried) {
  for (const std::string_view key : kJobFileOnlyKeys) {
    const auto tries = [&](const char* assignment) {
      return std::string_view(assignment).starts_with(key);
    };
    static constexpr std::string_view kElsewhere[] = {
        "search",     "routing",  "dispatcher", "imbalance",       "packed",
        "conditions", "measured", "run",        "capacity_factor", "pad_to_capacity"};
    EXPECT_TRUE(std::ranges::any_of(kWhatPlansDependOn, tries) ||
                std::ranges::find(kElsewhere, key) != std::end(kElsewhere))
        << key;
  }
  field_refused("packed=true", ErrorKind::kUnsupported);
  field_refused("batch.packed=true", ErrorKind::kUnsupported);
  EXPECT_THAT(field_refused("conditions=nowhere.yaml"), HasSubstr("there is no file"));
  EXPECT_THAT(field_refused("measured=nowhere.json"), HasSubstr("there is no file"));
}

TEST(WithField, OfExpertsIsTakenWhereThereAreSome) {
  const PlannedJob routed = with("model=mixtral-8x7b");
  EXPECT_EQ(plan_with_field(routed, "imbalance=2").job.imbalance, 2);
  EXPECT_EQ(plan_with_field(routed, "routing=learned").job.routing, Routing::kLearned);
  EXPECT_EQ(plan_with_field(routed, "dispatcher=allgather").job.dispatcher,
            TokenDispatcher::kAllGather);
}

std::string list_refused(const std::vector<std::string>& assignments) {
  return refusal_of(ErrorKind::kInput, [&] { plan_with_fields(planned(), assignments); });
}

TEST(WithFields, AreAppliedInOrder) {
  const std::vector<std::string> list = {"cluster.profile=dgx-h200", "cluster.nic=2x",
                                         "cluster.nic=2x", "micro_batch=2"};
  const PlannedJob changed = plan_with_fields(planned(), list);
  EXPECT_EQ(changed.job.cluster.nic_bytes_per_s,
            4 * cluster::built_in_cluster("dgx-h200", 8)->nic_bytes_per_s);
  EXPECT_EQ(changed.plan.micro_batch, 2);
  const std::vector<std::string> nodes = {"cluster.nodes=4", "cluster.profile=dgx-h200"};
  EXPECT_EQ(plan_with_fields(planned(), nodes).job.cluster,
            cluster::built_in_cluster("dgx-h200", 4));
}

TEST(WithFields, RefusesOneThatUndoesAnEarlier) {
  for (const std::vector<std::string>& list :
       {std::vector<std::string>{"cluster.nic=2x", "cluster.profile=dgx-h200"},
        {"cluster.nic=2x", "cluster={profile: dgx-h200, nodes: 8}"},
        {"cluster.nodes=4", "cluster.devices=8"},
        {"dropout=0.1", "model=llama-3-8b"},
        {"sharding.states=GGG", "sharding=zero1"},
        {"micro_batch=2", "micro_batch=4"}}) {
    EXPECT_THAT(list_refused(list), HasSubstr("replaces what --set " + list.front()));
  }
}

TEST(WithField, KeepsEverythingElse) {
  const PlannedJob changed = with("micro_batch=2");
  PlannedJob expected = planned();
  expected.plan.micro_batch = 2;
  EXPECT_EQ(plan_yaml(changed), plan_yaml(expected));
}

TEST(WithField, CanBeRepeated) {
  const PlannedJob changed = plan_with_field(with("cluster.nic=2x"), "cluster.nic=2x");
  EXPECT_EQ(changed.job.cluster.nic_bytes_per_s, 4 * planned().job.cluster.nic_bytes_per_s);
}

TEST(WithField, NamesTheNearestKnownField) {
  EXPECT_THAT(field_refused("micro_bach=2"),
              HasSubstr("--set micro_bach=2: unknown field 'micro_bach'; did you mean "
                        "'micro_batch'?"));
  EXPECT_THAT(field_refused("tensor=4"),
              HasSubstr("unknown field 'tensor'; did you mean 'parallel.tensor' or "));
  EXPECT_THAT(field_refused("pp=4"), HasSubstr("did you mean 'parallel.pipeline'?"));
  EXPECT_THAT(field_refused("nodes=4"), HasSubstr("did you mean 'cluster.nodes'?"));
  EXPECT_THAT(field_refused("length=4096"), HasSubstr("did you mean 'batch.length'?"));
  EXPECT_THAT(field_refused("parallel.tensr=2"), HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(field_refused("job.batch.lenght=2"), HasSubstr("did you mean 'length'?"));
  EXPECT_THAT(field_refused("cluster.nics=2"), HasSubstr("unknown key 'nics'"));
  EXPECT_THAT(
      field_refused("cluster.nics=2x"),
      HasSubstr(
          "there is no 'job.cluster.nics' to multiply; did you mean 'nics_per_node' or 'nic'?"));
  EXPECT_THAT(field_refused("stepwright=plan/1"), HasSubstr("unknown field 'stepwright'"));
}

TEST(WithField, RefusesWhatIsMalformed) {
  for (const std::string assignment :
       {"", "=", "=2", "micro_batch", "micro_batch=", "micro_batch=zero", "micro_batch=0",
        "micro_batch=[1]", "parallel=4", "parallel=2x", "layers=2x", "layers.5=1",
        "micro_batch.deep=1", "recompute={every: }", "overlap={tensor: [}", ".=1",
        "micro_batch=nan"}) {
    EXPECT_THAT(field_refused(assignment), HasSubstr("--set")) << assignment;
  }
  EXPECT_THAT(field_refused("micro_batch=0"),
              HasSubstr("--set micro_batch=0: micro_batch: must be an integer from 1"));
}

TEST(WithField, WhatIsKnownButNotCoveredIsUnsupported) {
  field_refused("schedule.kind=dualpipe", ErrorKind::kUnsupported);
  field_refused("offload={parameters: nvme}", ErrorKind::kInput);
}

}  // namespace
}  // namespace stepwright::plan

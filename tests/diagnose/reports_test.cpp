// Lines quoted in public reports, each with the cause that its thread agreed on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

/// A published report: its file in data/reports, its source, and words of the cause that its thread
/// agreed on, which the diagnosis must contain.
struct Report {
  std::string name;
  std::string source;
  std::string cause;
};

const std::vector<Report>& reports() {
  static const std::vector<Report> kReports = {
      {"shared_memory", "https://github.com/NVIDIA/nccl/issues/342",
       "/dev/shm of the container is too small"},
      {"shared_memory_kubernetes", "https://github.com/pytorch/ci-infra/pull/490",
       "/dev/shm of the container is too small"},
      {"tokenizing", "https://github.com/hiyouga/LlamaFactory/issues/2424", "still prepares data"},
      {"rdma_gid", "https://github.com/pytorch/pytorch/issues/81628", "NCCL_IB_GID_INDEX"},
      {"rdma_status", "https://github.com/NVIDIA/nccl/issues/1170",
       "adapters cannot reach each other"},
      {"locked_memory", "https://github.com/NVIDIA/nccl-tests/issues/206",
       "limit of locked memory"},
      {"same_device", "https://github.com/NVIDIA/Megatron-LM/issues/661",
       "default device instead of their own"},
      {"environment", "https://github.com/NVIDIA/nccl/issues/969", "different NCCL_* variables"},
      {"save_on_main", "https://github.com/declare-lab/nora/issues/8",
       "branch that rank 0 alone takes"},
      {"load_on_first_device", "https://github.com/lopuhin/transformer-lm/issues/21",
       "all ranks load it onto device 0"},
      {"other_processes", "https://github.com/huggingface/trl/issues/5207",
       "Other processes hold memory"},
      {"predictions", "https://github.com/huggingface/transformers/issues/17089",
       "keeps the predictions"},
      {"log_probabilities", "https://github.com/THUDM/slime/issues/1951", "logits of all tokens"},
      {"fragments", "https://github.com/pytorch/pytorch/issues/152135",
       "pieces that are too small"},
      {"ecc", "https://github.com/vllm-project/vllm/issues/5222",
       "device, its memory or its link is damaged"},
      {"workers_shared_memory", "https://github.com/fastai/docker-containers/issues/21",
       "/dev/shm is too small"},
      {"token_ids", "https://github.com/huggingface/transformers/issues/1848",
       "a tokenizer has more tokens than the model"},
      {"killed_saving", "https://github.com/PKU-YuanGroup/Open-Sora-Plan/issues/512",
       "host has no memory left"},
      {"slow_first_rank", "https://github.com/bytedance/HLLM/issues/20", "still prepares data"},
      {"wrong_address", "https://github.com/hpcaitech/Open-Sora/issues/667",
       "a name that resolves to the wrong address"},
      {"link_local", "https://github.com/NVIDIA/nccl/issues/975", "a link-local fe80 address"},
      {"different_operations", "https://github.com/NVIDIA/nccl/issues/1409",
       "Ranks take different branches"},
      {"dummy_steps", "https://github.com/modelscope/ms-swift/pull/8102",
       "different numbers of batches"},
      {"closed_terminal", "https://github.com/JingyunLiang/VRT/issues/47",
       "terminal that was closed"},
      {"nccl_out_of_memory", "https://github.com/NVIDIA/nccl/issues/1235",
       "allocator holds all of the device"},
      {"nodes_with_faults", "https://github.com/NVIDIA/nccl/issues/2076",
       "network between the two broke off"},
      {"state_of_a_full_device", "https://github.com/stochasticai/xTuring/issues/140",
       "needs more than the device has"},
      {"large_batch", "https://github.com/JamesQFreeman/LoRA-ViT/issues/6",
       "needs more than the device has"},
      {"peer_access", "https://github.com/ray-project/ray_lightning/issues/24",
       "see different devices"},
      {"loopback", "https://github.com/horovod/horovod/issues/584", "NCCL_SOCKET_IFNAME"},
      {"predictions_on_one_rank", "https://github.com/jpata/particleflow/issues/390",
       "evaluation runs on one rank"},
      {"rdma_not_enabled", "https://github.com/hiyouga/LlamaFactory/issues/6111",
       "adapter of InfiniBand"},
      {"peermem_renamed", "https://github.com/NVIDIA/nccl/issues/1676", "nvidia_peermem"},
      {"return_code_9", "https://github.com/CASIA-LMC-Lab/AnomalyGPT/issues/43",
       "host has no memory left"},
      {"killed_at_checkpoint", "https://github.com/LambdaLabsML/examples/issues/41",
       "host has no memory left"},
      {"unequal_iterable", "https://github.com/pytorch/pytorch/issues/141069",
       "different numbers of batches"},
      {"reduce_of_loss", "https://github.com/pytorch/pytorch/issues/77030",
       "Ranks take different branches"},
      {"save_state_on_main", "https://github.com/huggingface/accelerate/issues/2000",
       "is called by rank 0 alone"},
      {"preparing_test_set", "https://github.com/IGNF/myria3d/issues/123", "still prepares data"},
      {"tokenizing_barrier", "https://github.com/NVIDIA/nccl/issues/865", "still prepares data"},
      {"line_offsets", "https://github.com/huggingface/accelerate/issues/314",
       "still prepares data"},
      {"shared_memory_loader", "https://github.com/codalab/codalab-worksheets/issues/3742",
       "/dev/shm is too small"},
      {"unused_parameters", "https://github.com/pytorch/pytorch/issues/68862",
       "Some parameters have no part in the loss"},
      {"slow_disk", "https://github.com/pytorch/pytorch/issues/680", "Data comes late"},
  };
  return kReports;
}

/// Returns the first two causes in an answer, with the sentences of their findings.
std::vector<std::string> first_causes(const Diagnosis& diagnosis) {
  std::vector<std::string> named;
  std::size_t causes = 0;
  for (const FaultFinding& finding : diagnosis.findings) {
    if (causes >= 2) break;
    named.push_back(finding.what);
    for (const std::string& cause : finding.causes) {
      if (causes++ < 2) named.push_back(cause);
    }
  }
  return named;
}

class PublicReport : public ::testing::TestWithParam<Report> {};

/// Prints the name of a report when a test fails.
void PrintTo(const Report& report, std::ostream* out) { *out << report.name; }

TEST_P(PublicReport, CauseIsAmongTheFirstTwo) {
  const Report& report = GetParam();
  std::vector<logs::FileByteReader> files;
  files.emplace_back(
      std::filesystem::path(fmt::format("tests/diagnose/data/reports/{}.log", report.name)));
  const Diagnosis found = diagnose_files(files);
  ASSERT_FALSE(found.findings.empty()) << report.source;
  EXPECT_THAT(first_causes(found), ::testing::Contains(::testing::HasSubstr(report.cause)))
      << report.source;
  EXPECT_FALSE(found.findings.front().evidence.empty());
}

/// A single line without a traceback does not show that an evaluation requested the memory
/// (https://github.com/MAGICS-LAB/DNABERT_2/issues/78); the diagnosis must not invent this.
TEST(UntoldReport, AnEvaluationThatNoLineNames) {
  std::vector<logs::FileByteReader> files;
  files.emplace_back(std::filesystem::path("tests/diagnose/data/reports/evaluation_alone.log"));
  const Diagnosis found = diagnose_files(files);
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kOutOfMemory);
  EXPECT_THAT(first_causes(found),
              ::testing::Not(::testing::Contains(::testing::HasSubstr("evaluation"))));
}

INSTANTIATE_TEST_SUITE_P(Reports, PublicReport, ::testing::ValuesIn(reports()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace stepwright::diagnose

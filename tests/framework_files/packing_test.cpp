#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

const std::string kAxolotlRun =
    "base_model: meta-llama/Meta-Llama-3-8B\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\n"
    "sequence_len: 4096\nbf16: true\n";
const std::string kLlamaFactoryRun =
    "model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct\nstage: sft\ncutoff_len: 4096\n"
    "finetuning_type: full\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n"
    "bf16: true\n";
const std::string kTorchtuneRun =
    "model: {_component_: torchtune.models.llama3.llama3_8b}\ntokenizer: {max_seq_len: 8192}\n"
    "batch_size: 1\ngradient_accumulation_steps: 8\noptimizer: {_component_: torch.optim.AdamW}\n";
const std::string kSwiftRun =
    "model: meta-llama/Meta-Llama-3-8B-Instruct\ntuner_type: full\nmax_length: 4096\n"
    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 4\ntorch_dtype: bfloat16\n";
const std::string kNemoRlRun =
    "policy:\n  model_name: meta-llama/Meta-Llama-3-8B\n  train_global_batch_size: 512\n"
    "  train_micro_batch_size: 1\n  max_total_sequence_length: 4096\n  precision: bfloat16\n"
    "  megatron_cfg: {enabled: true, tensor_model_parallel_size: 2}\n"
    "  sequence_packing: {enabled: true}\ncluster: {num_nodes: 2, gpus_per_node: 8}\n";

/// Returns facts with documents of 1,024 tokens each.
UserFacts with_lengths(const std::string& more = "") {
  UserFacts given;
  given.batch = "{lengths: {histogram: [[1024, 1]]}" + more + "}";
  given.model = "llama-3-8b";
  return with_named_model_loaded(given);
}

UserFacts without_lengths() {
  UserFacts given;
  given.model = "llama-3-8b";
  return with_named_model_loaded(given);
}

struct PackingProgram {
  const char* target;
  std::string text;
  const char* flag;
  packing::Packing packing;
};

const PackingProgram kPackingPrograms[] = {
    {"axolotl",
     kAxolotlRun + "sample_packing: true\n",
     "sample_packing",
     {.kind = packing::PackingKind::kFirstFit,
      .order = packing::PackingOrder::kAsTheyCome,
      .group = 100000,
      .too_long = packing::LongDocumentPolicy::kDrop}},
    {"axolotl",
     kAxolotlRun +
         "sample_packing: true\nsample_packing_group_size: 5000\npad_to_sequence_len: false\n"
         "excess_length_strategy: truncate\n",
     "sample_packing",
     {.kind = packing::PackingKind::kFirstFit,
      .order = packing::PackingOrder::kAsTheyCome,
      .group = 5000,
      .pad_to = packing::PaddingTarget::kLongest,
      .too_long = packing::LongDocumentPolicy::kTruncate}},
    {"axolotl",
     kAxolotlRun + "sample_packing: true\nsample_packing_sequentially: true\n",
     "sample_packing",
     {.kind = packing::PackingKind::kGreedy, .too_long = packing::LongDocumentPolicy::kDrop}},
    {"llama-factory",
     kLlamaFactoryRun + "neat_packing: true\n",
     "neat_packing",
     {.kind = packing::PackingKind::kFirstFit,
      .group = 1000,
      .too_long = packing::LongDocumentPolicy::kTruncate}},
    {"llama-factory",
     kLlamaFactoryRun + "packing: true\npreprocessing_batch_size: 400\n",
     "packing",
     {.kind = packing::PackingKind::kFirstFit,
      .group = 400,
      .masks = false,
      .too_long = packing::LongDocumentPolicy::kTruncate}},
    {"torchtune",
     kTorchtuneRun + "dataset: {packed: True}\n",
     "dataset.packed",
     {.kind = packing::PackingKind::kGreedy, .too_long = packing::LongDocumentPolicy::kTruncate}},
    {"torchtune",
     kTorchtuneRun + "dataset: {packed: True, split_across_pack: True}\n",
     "dataset.packed",
     {.kind = packing::PackingKind::kGreedy, .too_long = packing::LongDocumentPolicy::kSplit}},
    {"ms-swift",
     kSwiftRun + "packing: true\n",
     "packing",
     {.kind = packing::PackingKind::kFirstFit,
      .pad_to = packing::PaddingTarget::kNone,
      .too_long = packing::LongDocumentPolicy::kDrop}},
    {"ms-swift",
     kSwiftRun + "packing: true\npacking_strategy: sequential\ntruncation_strategy: split\n",
     "packing",
     {.kind = packing::PackingKind::kGreedy,
      .pad_to = packing::PaddingTarget::kNone,
      .too_long = packing::LongDocumentPolicy::kSplit}},
    {"ms-swift",
     kSwiftRun + "padding_free: true\n",
     "padding_free",
     {.pad_to = packing::PaddingTarget::kNone, .too_long = packing::LongDocumentPolicy::kDrop}},
    {"nemo-rl",
     kNemoRlRun,
     "policy.sequence_packing.enabled",
     {.kind = packing::PackingKind::kFirstFit,
      .group = 512,
      .pad_to = packing::PaddingTarget::kNone,
      .too_long = packing::LongDocumentPolicy::kDrop}},
};

TEST(PackingOfFiles, IsTakenWhereLengthsAreGiven) {
  for (const PackingProgram& program : kPackingPrograms) {
    const ImportedPlan read =
        import_text(program.target, "train.yaml", program.text, with_lengths());
    const plan::Job& job = read.planned.job;
    ASSERT_TRUE(job.documents) << program.flag;
    EXPECT_EQ(job.documents->packing, program.packing) << program.flag;
    EXPECT_THAT(read.report.read, takes(program.flag, "job.batch.packing"));
  }
}

TEST(PackingOfFiles, OfDocumentsThatAreJoinedAndCutIsThatOfFullSequences) {
  std::string pretraining = kLlamaFactoryRun;
  pretraining.replace(pretraining.find("sft"), 3, "pt");
  const ImportedPlan read = import_text("llama-factory", "train.yaml", pretraining, with_lengths());
  EXPECT_FALSE(read.planned.job.documents);
  EXPECT_THAT(read.planned.job.notes,
              ::testing::Contains(::testing::HasSubstr("joins documents and cuts them")));
}

TEST(PackingOfFiles, IsNotReadWithoutLengths) {
  for (const PackingProgram& program : kPackingPrograms) {
    const ImportedPlan read =
        import_text(program.target, "train.yaml", program.text, without_lengths());
    EXPECT_FALSE(read.planned.job.documents) << program.flag;
    EXPECT_THAT(read.report.not_read, lists(program.flag, SettingImpact::kYes));
  }
}

TEST(PackingOfFiles, CountsSequencesWhereTheProgramCountsDocuments) {
  // Four documents fill a sequence: 512 of them are 128 sequences.
  const ImportedPlan read = import_text("nemo-rl", "train.yaml", kNemoRlRun, with_lengths());
  EXPECT_EQ(read.planned.job.sequences, 128);
  const ImportedPlan packed =
      import_text("axolotl", "train.yaml", kAxolotlRun + "sample_packing: true\n", with_lengths());
  EXPECT_EQ(packed.planned.job.sequences, 64);
}

TEST(PackingOfFiles, FillsUpToTheLongestWithoutIt) {
  const ImportedPlan read = import_text("axolotl", "train.yaml", kAxolotlRun, with_lengths());
  EXPECT_EQ(read.planned.job.documents->packing.kind, packing::PackingKind::kNone);
  EXPECT_EQ(read.planned.job.documents->packing.pad_to, packing::PaddingTarget::kLongest);
}

TEST(PackingOfFiles, IsThatOfThePersonFirst) {
  const ImportedPlan read =
      import_text("axolotl", "train.yaml", kAxolotlRun + "sample_packing: true\n",
                  with_lengths(", packing: {kind: greedy}"));
  EXPECT_EQ(read.planned.job.documents->packing.kind, packing::PackingKind::kGreedy);
}

TEST(PackingOfFiles, NeedsLengthsThatCanBe) {
  UserFacts given = without_lengths();
  for (const char* batch : {"{packing: greedy}", "{lengths: {histogram: []}}",
                            "{lengths: {histogram: [[0, 1]]}}", "{lenghts: {}}"}) {
    given.batch = batch;
    EXPECT_THROW(import_text("axolotl", "train.yaml", kAxolotlRun, given), Error) << batch;
  }
}

}  // namespace
}  // namespace stepwright::framework_files

#include "stepwright/plan/document_batch.h"

#include <gmock/gmock.h>

#include <fstream>

#include "stepwright/packing/length_file.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/notes.h"
#include "tests/folder.h"
#include "tests/plan/refusal.h"

namespace stepwright::plan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job job_of(const std::string& batch, const std::filesystem::path& directory = {}) {
  return read_job(YamlJsonDocument::parse("stepwright: job/2\nmodel: llama-3-8b\n"
                                          "cluster: {profile: dgx-h100, nodes: 1}\nbatch: {" +
                                              batch + "}\n",
                                          "job.yaml"),
                  directory);
}

std::string refused(const std::string& batch) {
  return refusal_of(ErrorKind::kInput, [&] { job_of(batch); });
}

TEST(PackedDocumentBatch, IsNotThereWhereNoLengthsAreNamed) {
  EXPECT_FALSE(job_of("sequences: 8, length: 4096").documents.has_value());
}

TEST(PackedDocumentBatch, TokensAreSequencesOfTheLength) {
  EXPECT_EQ(job_of("tokens: 32768, length: 4096").sequences, 8);
  EXPECT_THAT(refused("tokens: 5000, length: 4096"), HasSubstr("multiple of the length 4096"));
  EXPECT_THAT(refused("tokens: 4096, sequences: 1, length: 4096"),
              HasSubstr("both state the size"));
}

TEST(PackedDocumentBatch, ReadsAHistogramAndPacksIt) {
  const Job job =
      job_of("sequences: 8, length: 1000, lengths: {histogram: [[300, 1]]}, packing: greedy");
  ASSERT_TRUE(job.documents.has_value());
  EXPECT_EQ(job.documents->packing.kind, packing::PackingKind::kGreedy);
  EXPECT_EQ(job.documents->packs.documents, (packing::LengthHistogram{{300, 3}}));
}

TEST(PackedDocumentBatch, ReadsAFileBesideTheJob) {
  const Folder folder;
  std::ofstream(folder / "lengths.yaml")
      << packing::length_histogram_text({{128, 3}, {512, 1}}, "");
  const Job job = job_of(
      "sequences: 8, length: 1024, lengths: {file: lengths.yaml}, "
      "packing: {kind: first-fit, pad_to: length}",
      folder.path());
  EXPECT_EQ(job.documents->lengths, (packing::LengthHistogram{{128, 3}, {512, 1}}));
  EXPECT_EQ(job.documents->file, (folder / "lengths.yaml").string());
}

TEST(PackedDocumentBatch, IsWrittenAndReadBack) {
  const Job job = job_of(
      "sequences: 8, length: 4096, lengths: {lognormal: {median: 700, sigma: 0.9}}, packing: "
      "{kind: first-fit, pad_to: longest, too_long: split, balance: cost, seed: 3}");
  const std::string text = plan_yaml({job, Plan{}});
  const PlannedJob read = read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {});
  EXPECT_EQ(read.job.documents, job.documents);
  EXPECT_EQ(plan_yaml(read), text);
}

TEST(PackedDocumentBatch, ASetFieldPacksAgain) {
  const PlannedJob planned{job_of("sequences: 8, length: 1000, lengths: {histogram: [[300, 1]]}, "
                                  "packing: greedy"),
                           Plan{}};
  const PlannedJob longer = plan_with_field(planned, "batch.length=2000");
  EXPECT_EQ(longer.job.documents->packs.documents, (packing::LengthHistogram{{300, 6}}));
  EXPECT_EQ(plan_with_field(planned, "batch.packing.kind=none").job.documents->packs.documents,
            (packing::LengthHistogram{{300, 1}}));
}

TEST(PackedDocumentBatch, WhatOnlyFirstFitReadsIsNotedBesideOthers) {
  const auto notes = [](const std::string& kind) {
    return plan_notes({job_of("sequences: 8, length: 1000, lengths: {histogram: [[300, 1]]}, "
                              "packing: {order: arrival, group: 10, kind: " +
                              kind + "}"),
                       Plan{}});
  };
  EXPECT_THAT(notes("greedy"),
              ElementsAre(AllOf(HasSubstr("packing.order has no effect"), HasSubstr("is greedy")),
                          HasSubstr("packing.group has no effect")));
  EXPECT_THAT(notes("first-fit"), IsEmpty());
}

TEST(PackedDocumentBatch, RefusesWhatCannotBe) {
  EXPECT_THAT(refused("sequences: 8, length: 1024, packing: greedy"), HasSubstr("batch.lengths"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {histogram: []}"),
              HasSubstr("batch.lengths.histogram"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {histogram: [[5, -1]]}"),
              HasSubstr("batch.lengths.histogram.0.1"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {file: no.yaml}"),
              HasSubstr("there is no file"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {lognormal: {median: 9, sigma: 0}}"),
              HasSubstr("must be above 0"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {}"), HasSubstr("one of file"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {histogram: [[5, 1]]}, packing: best"),
              HasSubstr("greedy"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {histogram: [[2000, 1], [5, 3]]}"),
              HasSubstr("packing.too_long"));
  EXPECT_THAT(refused("sequences: 8, length: 1024, lengths: {histogram: [[2000, 1]]}, "
                      "packing: {kind: greedy, too_long: drop}"),
              HasSubstr("every document is longer"));
}

}  // namespace
}  // namespace stepwright::plan

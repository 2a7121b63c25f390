#include "stepwright/step/vocabulary_passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

struct Cut {
  std::string name;
  ModelBlockTemplatePair pair;
};

/// Returns embeddings and heads at the ends of the model and between them, for both schedules.
std::vector<Cut> cuts() {
  std::vector<Cut> all;
  for (const char* model : {"llama-3-8b", "gpt2"}) {
    const plan::Job job = job_of(model, 1, 8, 1024);
    for (const schedule::PipelineScheduleKind kind :
         {schedule::PipelineScheduleKind::kVocabularyOne,
          schedule::PipelineScheduleKind::kVocabularyTwo}) {
      for (const std::int64_t tensor : {1, 2}) {
        plan::Plan plan;
        plan.parallel = {.tensor = tensor, .pipeline = 4};
        plan.sequence_parallel = tensor > 1;
        plan.schedule = {.kind = kind};
        const StepBuildSettings setting = make_setting(job, plan);
        for (const bool at_end : {false, true}) {
          const std::string name = std::string(model) + (at_end ? " at an end" : "");
          all.push_back({name, build_embedding_templates(setting, false, at_end)});
          all.push_back({name, build_head_templates(setting, false, at_end)});
        }
      }
    }
  }
  return all;
}

bool posts_something(const OperatorTemplate& piece) {
  for (const Operator& op : piece.operators) {
    if (op.stream == DeviceStream::kVocabulary) return true;
  }
  return false;
}

TEST(VocabularyPasses, EachTakesUpWhatTheOneBeforeItLeft) {
  for (const Cut& cut : cuts()) {
    const std::vector<VocabularyPass> passes = split_vocabulary_passes(cut.pair);
    const OperatorTemplate* before = nullptr;
    for (const VocabularyPass& pass : passes) {
      ASSERT_EQ(pass.piece.restored.size(), before == nullptr ? 0 : before->saved.size());
      for (std::size_t i = 0; i < pass.piece.restored.size(); ++i) {
        const TemplateTensor& left = before->tensors[static_cast<std::size_t>(before->saved[i])];
        const TemplateTensor& taken =
            pass.piece.tensors[static_cast<std::size_t>(pass.piece.restored[i])];
        EXPECT_EQ(left.name, taken.name) << cut.name;
        EXPECT_EQ(left.bytes(), taken.bytes()) << cut.name;
      }
      before = &pass.piece;
    }
    EXPECT_TRUE(before->saved.empty()) << cut.name;
  }
}

TEST(VocabularyPasses, HaveAllOperatorsInTheirOrder) {
  for (const Cut& cut : cuts()) {
    std::vector<Operator> whole = cut.pair.forward.operators;
    whole.insert(whole.end(), cut.pair.backward.operators.begin(),
                 cut.pair.backward.operators.end());
    std::size_t next = 0;
    for (const VocabularyPass& pass : split_vocabulary_passes(cut.pair)) {
      for (const Operator& op : pass.piece.operators) {
        ASSERT_LT(next, whole.size());
        EXPECT_EQ(op.name, whole[next].name) << cut.name;
        EXPECT_EQ(op.kind, whole[next].kind) << cut.name;
        EXPECT_EQ(op.reads.count, whole[next].reads.count) << cut.name << ' ' << op.name;
        ++next;
      }
    }
    EXPECT_EQ(next, whole.size());
  }
}

// Each position posts the messages that positions exchange at the slot that the schedule gives.
TEST(VocabularyPasses, PostWhatTheScheduleSays) {
  for (const Cut& cut : cuts()) {
    for (const VocabularyPass& pass : split_vocabulary_passes(cut.pair)) {
      EXPECT_EQ(posts_something(pass.piece), schedule::sends_all_position_message(pass.direction))
          << cut.name << ' ' << name_of(schedule::kDirectionNames, pass.direction);
    }
  }
}

}  // namespace
}  // namespace stepwright::step

#include "stepwright/plan/choices/codes.h"

#include <gmock/gmock.h>

#include "random_plans.h"
#include "stepwright/core/error.h"

namespace stepwright::plan {
namespace {

using ::testing::HasSubstr;

/// Returns the marks of a code, joined with the code's spaces.
std::string joined(const std::string& code) {
  std::string text;
  for (const PlanCodeMark& mark : explain_plan_code(code)) {
    if (code.substr(text.size()).starts_with(' ')) text += ' ';
    text += mark.code;
  }
  return text;
}

std::string refusal(const std::string& code) {
  try {
    static_cast<void>(explain_plan_code(code));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

std::string meaning(const std::string& code) {
  std::string text;
  for (const PlanCodeMark& mark : explain_plan_code(code)) {
    text += (text.empty() ? "" : " ") + mark.means;
  }
  return text;
}

TEST(PlanCode, IsShort) {
  Plan plan;
  plan.parallel = {.tensor = 8, .pipeline = 4, .context = 2, .expert = 4, .data = 128};
  plan.sequence_parallel = true;
  plan.tensor_input = GatheredInputPolicy::kKeep;
  plan.context_kind = ContextKind::kUlysses;
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kDualPipeV, .chunks = 2, .strands = 2};
  plan.layers = {1, 1, 1, 1, 1, 1, 1, 3};
  plan.sharding = *sharding_named_by_word("IIG");
  plan.sharding.group = 64;
  plan.sharding.expert_group = 8;
  plan.recompute.kind = RecomputeKind::kFull;
  plan.overlap.tensor = plan.overlap.expert = true;
  plan.overlap.pipeline = false;
  EXPECT_EQ(short_plan_code(plan),
            "tp8+sp:keep cp2:ulysses ep4 pp4x2:dualpipev+2:uneven dp128 mb1 IIG/64/8 "
            "recompute:full exposed:pp");
  EXPECT_EQ(short_plan_code(Plan()), "dp1 mb1 ddp");
  Plan routed;
  routed.parallel.expert = routed.parallel.data = 8;
  EXPECT_EQ(short_plan_code(routed), "ep8 dp8 mb1 ddp exposed:ep");
  routed.overlap.shared_experts = true;
  EXPECT_EQ(short_plan_code(routed), "ep8 dp8 mb1 ddp exposed:ep-rest");
  Plan deferring;
  deferring.parallel.pipeline = 2;
  deferring.overlap.defer_embedding_gradient = true;
  EXPECT_EQ(short_plan_code(deferring), "pp2 dp1 mb1 ddp head:drain");
}

TEST(PlanCode, OfEveryLegalPlanIsExplainedWordForWord) {
  Dice dice(20);
  for (int i = 0; i < 3000; ++i) {
    const Job job = random_good_job(dice);
    const std::string code = short_plan_code(random_legal_plan(dice, job));
    EXPECT_EQ(joined(code), code);
  }
}

TEST(PlanCode, IsExplainedInSentences) {
  EXPECT_EQ(meaning("pp4x20"),
            "The layers are cut over 4 positions of a pipeline. "
            "Each position has 20 chunks of layers.");
  EXPECT_EQ(meaning("zero1"),
            "Of what data-parallel GPUs would hold alike, these are split: "
            "optimizer states over all.");
  EXPECT_EQ(meaning("IIG/64/8"),
            "Of what data-parallel GPUs would hold alike, these are split: parameters in groups, "
            "gradients in groups, optimizer states over all. GPUs that hold one copy together are "
            "groups of 64. For experts these are groups of 8.");
  EXPECT_EQ(meaning("exposed:tp,pp"),
            "These messages do not run beside computation: those of tensor parallelism, "
            "the pipeline.");
  EXPECT_THAT(meaning("pp4:zb-h1"), HasSubstr("The positions work by zb-h1: "));
  EXPECT_EQ(meaning("head:drain"),
            "The head's weight gradients are computed after the last backward of its position, "
            "while the pipeline drains.");
  EXPECT_EQ(meaning("recompute:norm + mlp every 2, full on stages 0-1"),
            "Computed again in the backward: norm + mlp every 2, full on stages 0-1.");
}

TEST(PlanCode, WordsEndWhereAFlagStands) {
  EXPECT_EQ(joined("dp1 mb1 ddp recompute:norm + mlp offload:100% parameters:host head:drain"),
            "dp1 mb1 ddp recompute:norm + mlp offload:100% parameters:host head:drain");
}

TEST(PlanCode, IsExplainedInPartsWithOrWithoutTheirPlus) {
  EXPECT_EQ(meaning("sp:keep"), meaning("+sp:keep"));
  EXPECT_EQ(meaning("x20"), "Each position has 20 chunks of layers.");
}

TEST(PlanCode, RefusesUnknownWordsAndSaysWhatThereMayBe) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("tp8 fast"), HasSubstr("unknown part \"fast\"; allowed here: tpN, +sp, "));
  EXPECT_THAT(refusal("tpx"), HasSubstr("unknown part \"tpx\"; allowed here: tpN"));
  EXPECT_THAT(refusal("tp8 recompute:full 1.27 s"),
              HasSubstr("unknown part \"recompute:full 1.27 s\""));
  EXPECT_THAT(refusal("tp0x"), HasSubstr("tp0 stands the unknown part \"x\"; allowed here: +sp"));
  EXPECT_THAT(refusal("tp99999999999999999999"), HasSubstr("allowed here: tpN"));
  EXPECT_THAT(refusal("cp2:rings"), HasSubstr(":KIND (ring, all-gather, ulysses)"));
  EXPECT_THAT(refusal("dp2x2"),
              HasSubstr("dp2 stands the unknown part \"x2\"; allowed here: nothing"));
  EXPECT_THAT(refusal("exposed:tp,fast"), HasSubstr("exposed:KINDS (grad, param, tp, "));
  EXPECT_THAT(refusal("recompute:norm + all"), HasSubstr("recompute:WHAT (selective, full, "));
  EXPECT_THAT(refusal("recompute:full on stages 0-1-2, full"), HasSubstr("recompute:WHAT"));
  EXPECT_THAT(refusal("NNX"), HasSubstr("NIG (three letters of N, I and G"));
  EXPECT_THAT(refusal("tp8 dp2 tp8"), HasSubstr("states parallel.tensor twice"));
}

TEST(PlanCode, HasALegendOfItsMarksAlone) {
  EXPECT_EQ(legend_of_plan_codes({}), "");
  Plan plan;
  plan.parallel.tensor = 2;
  const std::string legend = legend_of_plan_codes({plan});
  EXPECT_THAT(legend, HasSubstr("Codes: tpN tensor parallel; dpN data parallel; "));
  EXPECT_EQ(legend.find("pipeline"), std::string::npos) << legend;
  for (std::size_t at = 0; at < legend.size();) {
    const std::size_t end = legend.find('\n', at);
    EXPECT_LE(end - at, 100U) << legend;
    at = end + 1;
  }
}

}  // namespace
}  // namespace stepwright::plan

#include "stepwright/validate/rows/words.h"

#include <gtest/gtest.h>

namespace stepwright {
namespace {

TEST(Words, FindsWordsInAnyCase) {
  const Words words("Attention kernel=Flash_Attention2 + RMS kernel");
  EXPECT_TRUE(words.has("flash_attention2"));
  EXPECT_TRUE(words.has("torch", "rms kernel"));
  EXPECT_FALSE(words.has("torch"));
}

TEST(Words, ReadsFlags) {
  const Words words("ub_tp_comm_overlap=true; overlap_p2p_comm=false;FP8_DPA=1");
  EXPECT_EQ(words.flag("ub_tp_comm_overlap"), true);
  EXPECT_EQ(words.flag("overlap_p2p_comm"), false);
  EXPECT_EQ(words.flag("fp8_dpa"), true);
  EXPECT_EQ(words.flag("overlap_grad_sync"), std::nullopt);
}

TEST(Words, ReadsNumbersBesideWords) {
  const Words words("256 routed experts, top-8, moe_ffn 2048, first 3 layers dense");
  EXPECT_EQ(words.number_before("routed experts"), 256);
  EXPECT_EQ(words.number_after("top-"), 8);
  EXPECT_EQ(words.number_after("moe_ffn"), 2048);
  EXPECT_EQ(words.number_after("first"), 3);
  EXPECT_EQ(words.number_after("head_dim"), std::nullopt);
}

}  // namespace
}  // namespace stepwright

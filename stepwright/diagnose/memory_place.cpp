#include "stepwright/diagnose/memory_place.h"

#include <algorithm>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// Names in frames of PyTorch, transformers, DeepSpeed, Megatron-LM, FSDP and verl.
struct PlaceWord {
  std::string_view reason;
  std::string_view word;
};
constexpr PlaceWord kPlaceWords[] = {{"oom.evaluation", "nested_concat"},
                                     {"oom.evaluation", "evaluation_loop"},
                                     {"oom.evaluation", "prediction_step"},
                                     {"oom.evaluation", "prediction_loop"},
                                     {"oom.evaluation", "pad_across_processes"},
                                     {"oom.evaluation", "gather_for_metrics"},
                                     {"oom.evaluation", "validation_step"},
                                     {"oom.evaluation", ":evaluate"},
                                     {"oom.evaluation", ":validate"},
                                     {"oom.loading", "serialization.py"},
                                     {"oom.loading", "load_state_dict"},
                                     {"oom.loading", "load_checkpoint"},
                                     {"oom.loading", "torch.load("},
                                     {"oom.optimizer", "_init_group"},
                                     {"oom.optimizer", "initialize_optimizer_states"},
                                     {"oom.optimizer", "_multi_tensor_adam"},
                                     {"oom.optimizer", "adam"},
                                     {"oom.optimizer", "optimizer.step"},
                                     {"oom.optimizer", "optimizer.py:step"},
                                     {"oom.logits", "cross_entropy"},
                                     {"oom.logits", "lm_head"},
                                     {"oom.logits", "logits"},
                                     {"oom.logits", "log_softmax"},
                                     {"oom.logits", "log_prob"},
                                     {"oom.logits", "logprobs"},
                                     {"oom.attention", "eager_attention"},
                                     {"oom.attention", "attn_weights"},
                                     {"oom.attention", "attention_scores"},
                                     {"oom.attention", "torch.matmul(query"},
                                     {"oom.attention", "softmax("},
                                     {"oom.gather", "all_gather"},
                                     {"oom.gather", "unshard"},
                                     {"oom.gather", "fetch_sub_module"},
                                     {"oom.gather", "full_state_dict"},
                                     {"oom.generation", ":generate"},
                                     {"oom.generation", "DynamicCache"},
                                     {"oom.generation", "past_key_value"},
                                     {"oom.model", "from_pretrained"},
                                     {"oom.model", ":convert"},
                                     {"oom.model", "model.to("},
                                     {"oom.model", "module.py:cuda"},
                                     {"oom.model", "module.py:to"},
                                     {"oom.backward", "backward"}};

/// The reason of one frame; empty: none.
std::string_view place_of_frame(std::string_view frame) {
  for (const PlaceWord& word : kPlaceWords) {
    if (holds(frame, word.word)) return word.reason;
  }
  return {};
}

}  // namespace

std::vector<std::string_view> memory_places(std::span<const std::string> stack) {
  std::vector<std::string_view> places;
  for (std::size_t i = stack.size(); i-- > 0;) {
    const std::string_view place = place_of_frame(stack[i]);
    if (!place.empty() && std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

}  // namespace stepwright::diagnose

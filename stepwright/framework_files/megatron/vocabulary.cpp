#include "stepwright/framework_files/megatron/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::framework_files {
namespace {

/// Megatron pads the vocabulary to a multiple of this number times the tensor degree.
constexpr std::int64_t kVocabularyMultiple = 128;
/// First release whose NullTokenizer counts the end-of-document token in its size; before, it is an
/// additional token (NVIDIA/Megatron-LM pull request 4057 of April 2026).
constexpr std::string_view kCountsTheLastToken = "0.18";

/// Returns "meta-llama/Meta-Llama-3.1-8B" as "meta-llama-meta-llama-3-1-8b".
std::string dashed_name(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '.' || c == '_' || c == '/') c = '-';
  }
  return text;
}

/// Returns the vocabulary size of a Hugging Face name or a folder named after one; empty: unknown.
std::string_view tokens_of_model(const std::string& name) {
  const std::string text = dashed_name(name);
  for (const auto& [part, tokens] : words_of_table_section("megatron/words", "tokenizer_models")) {
    if (text.find(part) != std::string::npos) return tokens;
  }
  return {};
}

/// True if a file can be the tokenizer of Llama 2, which Meta calls tokenizer.model:
/// Llama2Tokenizer of megatron/training/tokenizer/tokenizer.py takes the size from any file that it
/// is given.
bool may_be_of_llama(const std::string& path) {
  const std::string_view file = launch_scripts::last_path_part(path);
  return path.empty() || path.find('$') != std::string::npos || file == "tokenizer.model" ||
         dashed_name(path).find("llama") != std::string::npos;
}

/// True if a file can be the vocabulary of GPT-2, released as gpt2-vocab.json or vocab.json:
/// GPT2BPETokenizer takes the size from any file that it is given.
bool may_be_of_gpt2(const std::string& path) {
  const std::string name = dashed_name(path);
  return path.empty() || path.find('$') != std::string::npos || path == "vocab.json" ||
         name.find("gpt2") != std::string::npos || name.find("gpt-2") != std::string::npos;
}

std::optional<std::int64_t> tokenizer_tokens(const FrameworkSettingsReader& fields,
                                             const StartedTrainingProgram& start,
                                             ImportReport& report) {
  std::string type = fields.word("tokenizer_type", "");
  std::string whose = type;
  if (type.empty() &&
      (start.program.ends_with("pretrain_gpt.py") || start.program.ends_with("pretrain_gpt2.py"))) {
    type = "GPT2BPETokenizer";
    whose = fmt::format("GPT2BPETokenizer, the default of {},",
                        launch_scripts::path_base_name(start.program));
  }
  const std::string model = fields.word("tokenizer_model", "");
  std::string_view tokens;
  if (type == "HuggingFaceTokenizer" || type == "SFTTokenizer" ||
      type == "SentencePieceTokenizer" || type == "GPTSentencePieceTokenizer" ||
      type == "Llama2Tokenizer") {
    tokens = tokens_of_model(model);
    if (!tokens.empty()) whose = model;
  }
  if (tokens.empty() && type == "Llama2Tokenizer" && !may_be_of_llama(model)) return std::nullopt;
  if (type == "GPT2BPETokenizer" && !may_be_of_gpt2(fields.word("vocab_file", ""))) {
    return std::nullopt;
  }
  if (tokens.empty())
    tokens = meaning_of_program_setting_word("megatron/words", "tokenizer_types", type);
  if (tokens.empty()) return std::nullopt;
  report.add_assumption("job.model", fmt::format("the vocabulary of {} has {} tokens",
                                                 one_line_printable_text(whose), tokens));
  report.notes.push_back(
      fmt::format("The vocabulary of {} has {} tokens.", one_line_printable_text(whose), tokens));
  return read_integer(tokens).value;
}

/// Returns the largest power of two, up to Megatron's own, that divides the vocabulary.
std::int64_t multiple_of(std::int64_t tokens) {
  std::int64_t multiple = 1;
  while (multiple < kVocabularyMultiple && tokens % (2 * multiple) == 0) multiple *= 2;
  return multiple;
}

}  // namespace

void add_megatron_null_tokenizer(DocumentTree& fields, const plan::PlannedJob& planned) {
  const std::int64_t tokens = planned.job.model.vocabulary;
  const std::int64_t tensor = planned.plan.parallel.tensor;
  const std::string& release = planned.job.framework.version;
  fields.set("tokenizer_type", "NullTokenizer");
  fields.set("make_vocab_size_divisible_by",
             multiple_of(model::padded_vocabulary(tokens, tensor) / tensor));
  if (plan::numbers_in_release_name(release).empty() ||
      plan::is_earlier_release(release, kCountsTheLastToken)) {
    fields.set("vocab_size", tokens - 1);
  } else {
    fields.set("vocab_size", tokens).set("null_tokenizer_eod_id", tokens - 1);
  }
}

std::optional<std::int64_t> read_vocabulary_size(const FrameworkSettingsReader& fields,
                                                 const StartedTrainingProgram& start,
                                                 ImportReport& report) {
  if (const auto size = fields.size("vocab_size")) {
    const bool null = fields.word("tokenizer_type", "") == "NullTokenizer";
    const bool counted = fields.has("null_tokenizer_eod_id");
    return *size + (null && !counted ? 1 : 0);
  }
  const auto padded = fields.size("padded_vocab_size");
  if (!padded) return tokenizer_tokens(fields, start, report);
  report.notes.push_back(
      fmt::format("The vocabulary is assumed to be the padded one, {} tokens.", *padded));
  return padded;
}

namespace {

/// True if a model equals a built-in one except for a larger vocabulary than its tokenizer has,
/// since released weights can be padded.
bool is_padded_built_in(model::ModelArchitecture model, std::int64_t vocabulary) {
  model.vocabulary = vocabulary;
  return std::ranges::any_of(model::built_in_model_names(), [&](std::string_view name) {
    return huggingface::differences_between_models(model, model::built_in_model(name).value())
        .empty();
  });
}

}  // namespace

void note_vocabulary_padding(const FrameworkSettingsReader& fields, const plan::Plan& plan,
                             StatedModel& model_words, ImportReport& report) {
  if (!fields.flag("pad_vocab_size", true) || fields.has("padded_vocab_size")) return;
  const std::int64_t tensor = plan.parallel.tensor;
  const std::int64_t multiple =
      fields.integer("make_vocab_size_divisible_by", kVocabularyMultiple) * tensor;
  if (!model_words.model ||
      model::padded_vocabulary(model_words.model->vocabulary, tensor) % multiple == 0)
    return;
  const std::int64_t tokens = model_words.model->vocabulary;
  const std::int64_t padded = (tokens + multiple - 1) / multiple * multiple;
  if (is_padded_built_in(*model_words.model, padded)) {
    model_words.model->vocabulary = padded;
    return;
  }
  report.notes.push_back(fmt::format(
      "The vocabulary is assumed to have {} tokens; Megatron pads it to a multiple of {}.",
      model::padded_vocabulary(model_words.model->vocabulary, tensor), multiple));
}

}  // namespace stepwright::framework_files

#include "stepwright/framework_files/draft/user_batch.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "stepwright/core/count.h"
#include "stepwright/core/divide_up.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files/document_batch.h"

namespace stepwright::framework_files {
namespace {

[[noreturn]] void fail_batch(const std::string& text) {
  fail_input(fmt::format("--batch: '{}' must be SEQUENCES or SEQUENCESxLENGTH, as 512 or 512x8192",
                         one_line_printable_text(text)));
}

UserBatch read_batch_mapping(const std::string& text) {
  YamlJsonDocument document = parse_option_document("batch", text);
  const DocumentNode node = document.root().get("batch");
  node.allow_only_keys({"sequences", "length", "lengths", "packing"});
  UserBatch batch;
  if (const auto given = node.find("sequences")) {
    batch.sequences = read_batch_or_sequence_size(*given, 1, plan::kMaxPlanFileCount);
  }
  if (const auto given = node.find("length")) {
    batch.length = read_batch_or_sequence_size(*given, 1, plan::kMaxPlanFileCount);
  }
  if (node.find("lengths") || node.find("packing")) batch.documents = std::move(document);
  return batch;
}

/// Returns a count in digits, or with a suffix such as `4k`; nullopt if the text is no count.
std::optional<std::int64_t> typed_count(std::string_view word) {
  const bool letter = !word.empty() && std::string_view("kKM").find(word.back()) != word.npos;
  if (!letter) return launch_scripts::integer_from_digits(word);
  const IntegerParseResult read = read_batch_or_sequence_size(word);
  if (read.status != IntegerParseResult::IntegerParseStatus::kGood) return std::nullopt;
  return read.value;
}

/// Returns the number of sequences into which a step's documents are packed, rounded up to whole
/// micro-batches of all ranks.
std::int64_t packed_sequences_of(const plan::Job& job, const plan::Plan& plan) {
  const double each = packing::total_document_count(job.documents->packs.documents);
  const std::int64_t pass = plan.parallel.data * plan.micro_batch;
  const auto needed =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(job.sequences) / each));
  return ceil_divide(needed, pass) * pass;
}

}  // namespace

YamlJsonDocument parse_option_document(std::string_view key, const std::string& value) {
  return YamlJsonDocument::parse(fmt::format("{}: {}", key, value), fmt::format("--{}", key));
}

UserBatch read_batch_option(const std::string& text) {
  if (text.empty()) return {};
  if (text.front() == '{') return read_batch_mapping(text);
  const std::size_t cross = text.find_first_of("x,");
  UserBatch batch;
  batch.sequences = typed_count(std::string_view(text).substr(0, cross));
  if (cross != std::string::npos)
    batch.length = typed_count(std::string_view(text).substr(cross + 1));
  const bool whole = batch.sequences && (cross == std::string::npos || batch.length);
  if (!whole) fail_batch(text);
  for (const auto& value : {batch.sequences, batch.length}) {
    if (value && (*value < 1 || *value > plan::kMaxPlanFileCount)) fail_batch(text);
  }
  return batch;
}

bool packs_documents(const FrameworkSettingsReader& fields, std::string_view flag,
                     const UserFacts& given) {
  return read_batch_option(given.batch).documents && is_setting_true(fields, flag);
}

bool is_setting_true(const FrameworkSettingsReader& fields, std::string_view flag) {
  const auto said = fields.node().find(flag);
  return said && !said->is_null() && said->boolean();
}

void report_max_example_length_as_unread(const FrameworkSettingsReader& fields,
                                         std::string_view key, const UserFacts& given,
                                         const StatedStepBatch& job_batch, ImportReport& report) {
  if (!job_batch.length || read_batch_option(given.batch).documents) return;
  const auto said = fields.node().find(key);
  const bool there = said && said->is_scalar() && !said->is_null();
  report.add_assumption(
      "job.batch.length",
      fmt::format("the length to which {} cuts examples, which may be shorter", key));
  report.add_unmodelled_setting(
      {.name = std::string(key),
       .value = there ? said->text() : std::to_string(*job_batch.length),
       .file = fields.node().file(),
       .line = there ? said->source_line() : 0},
      "how long examples are: each is counted as long as this, and a micro-batch is "
      "padded to its longest: --batch '{lengths: ...}' says it");
}

void set_user_document_packing(const FrameworkSettingsReader& fields, std::string_view flag,
                               const StatedDocumentPacking& words, const UserFacts& given,
                               StatedStepBatch& batch) {
  if (packs_documents(fields, flag, given)) {
    batch.packing = words;
    if (packing::Packing& own = batch.packing->packing;
        own.kind != packing::PackingKind::kFirstFit) {
      own.order = {};
      own.group = 0;
    }
    fields.mark_setting_read(flag);
  } else if (read_batch_option(given.batch).documents && !batch.packing) {
    batch.packing = StatedDocumentPacking{.packing = {.pad_to = packing::PaddingTarget::kLongest,
                                                      .too_long = words.packing.too_long}};
  }
}

void apply_user_document_lengths(const UserBatch& batch, plan::Job& job, const plan::Plan& plan,
                                 const StatedStepBatch& job_batch, ImportReport& report) {
  if (!batch.documents) return;
  const bool own_packing = batch.documents->root().get("batch").find("packing").has_value();
  if (job_batch.packing && job_batch.packing->joined && !own_packing) {
    report.notes.emplace_back(
        "The framework joins documents and cuts them: every sequence is full, and attention "
        "ignores the ends of documents.");
    return;
  }
  const packing::Packing unsaid =
      job_batch.packing ? job_batch.packing->packing : packing::Packing{};
  job.documents = plan::read_document_batch(batch.documents->root().get("batch"), job.length,
                                            std::filesystem::current_path(), unsaid);
  report.add_assumption("job.batch.lengths", "given by --batch");
  if (!job_batch.packing || !job_batch.packing->batch_of_documents) return;
  const std::int64_t documents = job.sequences;
  job.sequences = packed_sequences_of(job, plan);
  report.add_assumption("job.batch.sequences",
                        fmt::format("{} documents packed into sequences of {} tokens",
                                    format_count(documents), format_count(job.length)));
}

}  // namespace stepwright::framework_files
